"""The library's own tests inside Pyodide, the Python of the reader's page: those that need nothing but `lib`."""

import ast
import re
import subprocess
import sys

import pytest

FACES = ("lib/cli.py", "lib/fit", "lib/fit_command.py", "lib/plots")  # need packages on import; a page has none
CORE = ("units", "compute", "flops", "mfu", "scaling", "architecture", "whatif")
OUTSIDE = {"subprocess", "socket", "signal"}  # a test that starts a process or a server
KNOWN = {*sys.stdlib_module_names, "lib", "pytest", "hypothesis"} - OUTSIDE
LEAST = 300  # tests: fewer means that something has slipped out of the selection


@pytest.fixture(scope="session")
def packages(root):
    folder = root / ".venv/pyodide"
    fetched = subprocess.run([sys.executable, root / ".ci/pyodide.py", folder], timeout=300, check=False)
    assert fetched.returncode == 0, "the packages for Pyodide are missing: make setup"
    return folder


def test_the_library_passes_its_own_tests_in_pyodide(root, node, packages):
    tests = [path.relative_to(root).as_posix() for path in sorted(root.glob("tests/test_*.py")) if needs_only_lib(path)]
    assert {f"tests/test_{name}.py" for name in CORE} <= set(tests)
    command = [node, root / "tests/pyodide/run.mjs", packages, "-c", "/dev/null", "--rootdir=/repository"]
    options = ["--import-mode=importlib", "--doctest-modules", "--noconftest", "-q", "-p", "no:cacheprovider"]
    ignored = [f"--ignore={face}" for face in FACES]
    done = subprocess.run(
        [*command, *options, *ignored, "lib", *tests], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= LEAST


def needs_only_lib(path):
    """True if a test module imports nothing at its top that Pyodide has not, and none of lib's faces."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names += [
        f"{node.module}.{alias.name}" for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    faces = tuple(face.removesuffix(".py").replace("/", ".") for face in FACES)
    return all(name.split(".")[0] in KNOWN and not name.startswith(faces) for name in names)

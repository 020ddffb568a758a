"""The library's own tests inside Pyodide, the Python of the reader's page: those that need nothing but `lib`."""

import ast
import re
import subprocess
import sys

import pytest

CORE = ("units", "compute", "flops", "mfu", "scaling", "architecture", "whatif")
OUTSIDE = {"subprocess", "socket", "signal"}  # a test that starts a process or a server
KNOWN = {*sys.stdlib_module_names, "lib", "tests", "pytest", "hypothesis"} - OUTSIDE
# Claims about chance and searches against a slow oracle: half a minute of arithmetic that CPython has checked.
LONG = {
    "tests/test_held_out.py": ("test_the_law_beats_a_constant_and_size_alone_whichever_families_are_missing",),
    "tests/test_shapes.py": ("test_no_shape_within_the_tolerance_is_overlooked",),
    "tests/test_logs_forecast.py": ("test_the_interval_of_the_final_loss_holds_it",),
    "tests/test_logs_finish.py": (
        "test_the_interval_of_the_finish_holds_it",
        "test_at_no_rate_of_restarts_is_an_end_missed_more_often_than_2_5_times_of_100",
    ),
}
# Replaces parts of the Python that also runs pytest, which ends Pyodide; pages are tried in test_pages_exercises.py.
PATCHES = ("tests/test_exercises_page.py",)
# Plugins that look at each test; in CPython they do, where a warning or an exception that nobody sees is an error.
SPARED = ("warnings", "unraisableexception", "threadexception", "faulthandler", "logging", "cacheprovider")
SPARED += ("setuponly", "setupplan", "subtests", "unittest")
LEAST = 300  # tests: fewer means that something has slipped out of the selection


@pytest.fixture(scope="session")
def packages(root):
    folder = root / ".venv/pyodide"
    fetched = subprocess.run([sys.executable, root / ".ci/pyodide.py", folder], timeout=300, check=False)
    assert fetched.returncode == 0, "the packages for Pyodide are missing: make setup"
    return folder


def test_the_library_passes_its_own_tests_in_pyodide(root, node, packages):
    heavy = {path.relative_to(root).as_posix() for path in [*heavy_modules(root), *bound_to_the_repository(root)]}
    helpers = {path.relative_to(root).as_posix() for path in root.glob("tests/*") if path.stem[:5] != "test_"}
    left_out = {*heavy, *helpers, *PATCHES}
    assert all((root / f"tests/test_{name}.py").exists() for name in CORE)
    assert not {f"tests/test_{name}.py" for name in CORE} & left_out
    command = [node, root / "tests/pyodide/run.mjs", packages, ":".join(sorted(left_out))]
    options = ["-c", "/dev/null", "--rootdir=/repository", "--noconftest", "-q", "--showlocals"]
    options += ["--import-mode=importlib", "--doctest-modules", "--capture=sys"]
    options += [f"-pno:{plugin}" for plugin in SPARED]
    assert all(f"def {name}(" in (root / path).read_text() for path, names in LONG.items() for name in names)
    options += [f"--deselect={path}::{name}" for path, names in LONG.items() for name in names]
    command += [*options, "lib", "tests"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= LEAST


def heavy_modules(root):
    """Modules of `lib` and of its tests that import, at their top or by another module, what Pyodide has not."""
    paths = {name_of(path, root): path for path in [*root.glob("lib/**/*.py"), *root.glob("tests/*.py")]}
    imports = {name: imported(path) | packages_of(name) for name, path in paths.items()}
    heavy = {name for name, found in imports.items() if any(one.split(".")[0] not in KNOWN for one in found)}
    while more := {name for name, found in imports.items() if name not in heavy and found & heavy}:
        heavy |= more
    return [paths[name] for name in heavy]


def bound_to_the_repository(root):
    """Test modules that take a fixture of conftest.py, or a helper that stands beside the tests."""
    shared = {
        node.name
        for node in ast.parse((root / "tests/conftest.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    tests = root.glob("tests/test_*.py")
    return [path for path in tests if shared & arguments(path) or "tests" in imported(path)]


def arguments(path):
    """The names of all functions' arguments in a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {arg.arg for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for arg in node.args.args}


def name_of(path, root):
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def imported(path):
    """The dotted names that a module imports at its top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names += [
        f"{node.module}.{alias.name}" for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return {part for name in names for part in (name, *packages_of(name))}


def packages_of(name):
    """What is imported before a module: the packages that it lies in."""
    return {name[:end] for end, letter in enumerate(name) if letter == "."}

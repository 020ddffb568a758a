"""Planning arithmetic needs the standard library alone: the same files answer in the reader's browser.

Each test starts a Python that cannot see installed packages at all, so nothing can be imported that is not there.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FACES = {"lib.cli", "lib.fit", "lib.plots"}  # may need packages on import, the others not
FACES |= {f"lib.pilot.{name}" for name in ("checkpoint", "lower", "mesh", "model", "shards", "step")}  # need JAX
FACES |= {
    f"lib.pilot.{name}" for name in ("one_batch", "one_device", "one_node", "programs", "rung", "unit")
}  # and so do the rungs
FACES |= {"lib.pilot.small_train"}

_JAX = r"(?m)^\s*(import|from) (jax|optax|orbax)\b"


def _modules():
    files = (path.relative_to(ROOT) for path in sorted((ROOT / "lib").rglob("*.py")))
    names = (".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files)
    return [name for name in names if not any(f"{name}.".startswith(f"{face}.") for face in FACES)]


def _bare_python(code):
    # -S leaves out site-packages, -I the environment and the current folder.
    head = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", head + code], capture_output=True, text=True, timeout=60, check=False
    )


def test_there_is_something_to_import():
    assert {"lib", "lib.check", "lib.architecture", "lib.architecture.shapes", "lib.compute", "lib.whatif.page"} <= set(
        _modules()
    )


def test_every_module_imports_with_the_standard_library_alone():
    ran = _bare_python(f"import importlib\nfor name in {_modules()!r}: importlib.import_module(name)")
    assert ran.returncode == 0, ran.stderr


def test_every_what_if_answers_with_the_standard_library_alone():
    ran = _bare_python(
        "from lib.whatif.catalogue import WHAT_IFS, answer\n"
        "assert len(WHAT_IFS) >= 3, list(WHAT_IFS)\n"
        "for name in WHAT_IFS: assert answer(name, {}).rows, name\n"
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("package", ["numpy", "scipy", "matplotlib", "ipywidgets", "click", "jax", "optax"])
def test_the_boundary_would_be_seen_to_break(package):
    ran = _bare_python(f"import {package}")
    assert ran.returncode != 0
    assert f"No module named '{package}'" in ran.stderr


def test_the_pilot_alone_imports_jax_and_only_where_it_says():
    outside = [path for path in sorted((ROOT / "lib").rglob("*.py")) if re.search(_JAX, path.read_text())]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in outside}
    assert names == {face for face in FACES if face.startswith("lib.pilot.")} - {"lib.pilot.lower"}

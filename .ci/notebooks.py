"""Runs every chapter from a clean kernel, as the notebook that a reader would download.

A chapter that fails is run once more and named: kernels stall now and then, and a chapter that is really broken
fails twice.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120  # for one chapter, ten times what it may take at most
NBMAKE = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "--rootdir=.", "--nbmake", "--durations=0"]
CACHE = ["-o", "cache_dir=_build/pytest-chapters"]  # the library's tests may run at the same time
LIMITS = [f"--nbmake-timeout={SECONDS}", f"--timeout={SECONDS + 15}"]
SOME_FAILED = 1  # pytest's exit code


def convert(folder):
    """Write the chapters as .ipynb files."""
    for chapter in sorted((ROOT / "notebooks").glob("*.md")):
        jupytext.write(jupytext.read(chapter), folder / f"{chapter.stem}.ipynb")


def run(folder, *more):
    return subprocess.call([*NBMAKE, *CACHE, *LIMITS, *more, str(folder)], cwd=ROOT)


def main():
    with tempfile.TemporaryDirectory(prefix="chapters-") as name:  # nbmake passes over whatever lies below a _build
        convert(Path(name))
        code = run(name)
        if code == SOME_FAILED:
            print("==> RETRY: the chapters named above failed and are run once more", flush=True)
            code = run(name, "--last-failed")
            print(f"==> RETRY: {'failed again' if code else 'passed the second time'}", flush=True)
        return code


if __name__ == "__main__":
    sys.exit(main())

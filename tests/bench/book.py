"""Times of the build, the chapters and the tests. Each function gives (what, value, target, unit) as it is measured."""

import shutil
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import jupytext
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent.parent
LINKED = (".venv", "book/live/node_modules")  # what is installed stays where it is


def builds():
    """The book from clean, and after one prose change, in a copy of the repository."""
    with copy() as folder:
        yield "book from clean, chapters executed", timed([".ci/book"], folder), 60, "s"
        chapter = min((folder / "notebooks").glob("*.md"))
        chapter.write_text(chapter.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
        yield "book after one prose change", timed([".ci/book"], folder), 15, "s"
        yield "book when nothing changed", timed([".ci/book"], folder), None, "s"


def chapters():
    """Each chapter from a clean kernel."""
    times = {path.stem: run(path) for path in sorted((ROOT / "notebooks").glob("*.md"))}
    for name, seconds in times.items():
        yield f"chapter {name}", seconds, 12, "s"
    yield "chapters, median", statistics.median(times.values()), 5, "s"


def tests():
    """All checks in an installed environment."""
    yield "make test, installed", timed(["make", "test"], ROOT), 240, "s"


def run(path):
    notebook = jupytext.read(path)
    start = time.monotonic()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    return time.monotonic() - start


def timed(command, folder, limit=1200):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return time.monotonic() - start


@contextmanager
def copy():
    """The files of the repository in a folder of their own, without anything built."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "handbook"
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
        for file in filter(lambda file: (ROOT / file).is_file(), files.splitlines()):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)
        for place in LINKED:
            (folder / place).symlink_to(ROOT / place)
        yield folder

"""Runs the pages with cells, by nbmake and in a process each, and keeps what they gave for the book.

One run serves both: nbmake says whether a chapter works, and the book shows what came out. A page whose cells, `lib`
and packages have not changed since is not run again, except with --all. A page that fails is run once more and named:
kernels stall now and then, and a page that is really broken fails twice.
"""

import argparse
import io
import os
import sys
import tempfile
import time
from contextlib import nullcontext, redirect_stdout
from multiprocessing import connection
from pathlib import Path

import kernels
import nbformat
import pytest
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 120  # for one page, ten times what it may take at most
PLUGINS = ["--disable-plugin-autoload", "-p", "nbmake.pytest_plugin", "-p", "pytest_timeout"]
NBMAKE = [*PLUGINS, "-c", "pyproject.toml", "--rootdir=.", "--nbmake", "--overwrite", "-q"]
CACHE = ["-o", "cache_dir=_build/pytest-chapters"]  # the tests of the library may run at the same time
LIMITS = [f"--nbmake-timeout={SECONDS}", f"--timeout={SECONDS + 15}"]
WITH_WIDGETS = "import os\nos.environ['HANDBOOK_BUILD'] = ''"


def read_pages():
    """The pages with cells as the book's own reader gives them, by name."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    syntax = MdParserConfig(enable_extensions=set(config["parse"]["myst_enable_extensions"]))
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*/*.md"))}
    return {
        path.relative_to(ROOT).with_suffix("").as_posix(): read_myst_markdown_notebook(text, syntax, path=path)
        for path, text in texts.items()
        if is_myst_markdown_notebook(text)
    }


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def as_run(notebook):
    """What is run of a page: its cells, then those with a what-if once more, now for a reader's live kernel."""
    run = nbformat.v4.new_notebook(cells=code(notebook), metadata=notebook.metadata)
    shown = [cell for cell in code(notebook) if "what_if(" in cell.source]
    sources = [WITH_WIDGETS, *(cell.source for cell in shown)] if shown else []
    run.cells += [nbformat.v4.new_code_cell(source) for source in sources]
    return run


def nbmake(path):
    """nbmake's exit code for one notebook, and what it printed."""
    os.environ["HANDBOOK_BUILD"] = "1"  # the kernel inherits it: a what-if writes what a page shows
    said = io.StringIO()
    with redirect_stdout(said):
        return int(pytest.main([*NBMAKE, *CACHE, *LIMITS, str(path)])), said.getvalue()


def try_twice(name, notebook):
    """The notebook with its outputs, or None when it failed twice; and a report.

    The second kernel is started as a reader's is; the first also where a system's libraries do not outlive a fork.
    """
    first = kernels.forked() if sys.platform == "linux" else nullcontext()
    with tempfile.TemporaryDirectory(prefix="chapter-") as folder:  # nbmake passes over whatever lies below a _build
        path, report = Path(folder) / f"{Path(name).name}.ipynb", ""
        for kernel, verdict in ((first, "failed and is run once more"), (nullcontext(), "failed again")):
            start = time.monotonic()
            nbformat.write(as_run(notebook), path)
            with kernel:
                failed, said = nbmake(path)
            if not failed:
                return nbformat.read(path, 4), f"{report}    {name}: {time.monotonic() - start:.1f} s"
            report += f"{said}\n==> {name}\n==> RETRY: the page {verdict}\n"
        return None, report


def try_all(pages, jobs):
    """What `try_twice` gives for each page, as they are done: (name, notebook or None, report)."""
    waiting, running = list(pages.items()), {}
    if waiting:
        kernels.preload()
    while waiting or running:
        while waiting and len(running) < jobs:
            name, page = waiting.pop(0)
            line, its_end = kernels.FORK.Pipe()
            kernels.FORK.Process(target=lambda: its_end.send(try_twice(name, page))).start()  # noqa: B023
            its_end.close()
            running[line] = name
        for line in connection.wait(running):
            yield running.pop(line), *line.recv()


def keep(cache, name, notebook, ran):
    """Put the outputs where the book looks for them."""
    for count, (cell, done) in enumerate(zip(code(notebook), code(ran), strict=False), start=1):
        cell.outputs, cell.execution_count = done.outputs, count
    notebook.metadata["language_info"] = ran.metadata["language_info"]
    cache.cache_notebook_bundle(CacheBundleIn(notebook, str(ROOT / f"{name}.md")), overwrite=True)


def kept_results():
    """The folder of the results of this `lib`, as the book's extension names it; the oldest folders go."""
    sys.path.append(str(ROOT / "book/_ext"))
    import book_fresh  # it stands beside the book's other extensions

    folder = book_fresh.kept_results(ROOT)
    book_fresh.drop_oldest(ROOT)
    return folder


def is_kept(cache, notebook):
    try:
        return bool(cache.match_cache_notebook(notebook))
    except KeyError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run also what has not changed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    options = parser.parse_args()
    os.chdir(ROOT)
    cache = get_cache(kept_results())
    pages = {name: page for name, page in read_pages().items() if options.all or not is_kept(cache, page)}
    broken = []
    for name, ran, report in try_all(pages, options.jobs):
        print(report, flush=True)
        if ran:
            keep(cache, name, pages[name], ran)
        else:
            broken.append(name)
    if broken:
        print(f"==> pages that do not run: {', '.join(sorted(broken))}", flush=True)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())

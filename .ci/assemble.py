"""Builds the book: Sphinx reads the pages without cells while the chapters run and the live page is bundled.

A warning fails the build. Pages that did not change are kept. After a failure every page is read anew, for Sphinx says
nothing more of a page that failed and is unchanged; chapters that ran keep their results.
"""

import gc
import inspect
import logging
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from jupyter_book.config import get_final_config
from myst_nb.core.read import is_myst_markdown_notebook
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.ext.autodoc import type_comment
from sphinx.pycode.parser import Parser
from sphinx.search.en import SearchEnglish
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "_build"


class Part:
    """What another process makes for the book at the same time."""

    def __init__(self, name, *command):
        self.name, self.process = name, subprocess.Popen(command)

    def awaited(self):
        """Wait until it is there; without it there is no book."""
        if self.process.wait():
            raise SphinxError(f"{self.name}: failed, see above")


class Reading:
    """The order in which Sphinx reads pages: those with cells come last, when the chapters have run."""

    def __init__(self, parts):
        self.parts, self.names = parts, []

    def settle(self, app, env, names):
        """Connected to "env-before-read-docs": sorts the names in place."""
        names.sort(key=lambda name: (is_myst_markdown_notebook(Path(env.doc2path(name)).read_text("utf-8")), name))
        self.names = list(names)

    def begin(self, app, name, source):
        """Connected to "source-read", once a page."""
        print(f"    [{self.names.index(name) + 1:>3} of {len(self.names)}] {name}", flush=True)
        if is_myst_markdown_notebook(source[0]):
            self.end()

    def end(self, *_):
        """Connected to "env-updated", also when no page is read: pages are written next, and name the live page."""
        for part in self.parts:
            part.awaited()


def spare():
    """Leave out what Sphinx does for nobody here, or again on every page."""
    logging.getLogger("sphinx").setLevel(logging.INFO)
    Parser.parse_definition = lambda parser: None  # where in a file a definition stands: for pages of source code
    SearchEnglish.stem = cache(SearchEnglish.stem)
    inspect.getsource = cache(inspect.getsource)  # of each function, asked for its defaults twice
    type_comment.get_type_comment = lambda *_: None  # types of Python 2


def build(reading):
    """The exit code of Sphinx, configured as Jupyter Book does it."""
    asked = {"nitpicky": True, "external_toc_path": f"{ROOT / '_toc.yml'}", "latex_individualpages": False}
    config, _ = get_final_config(user_yaml=ROOT / "_config.yml", sourcedir=ROOT, cli_config=asked)
    places = (ROOT, None, BUILT / "html", BUILT / ".doctrees")
    with patch_docutils(), docutils_namespace():
        app = Sphinx(*places, "html", config, status=None, warningiserror=True, keep_going=True)
        app.connect("env-before-read-docs", reading.settle)
        app.connect("source-read", reading.begin)
        app.connect("env-updated", reading.end)
        spare()
        app.build()
    return app.statuscode


def main(node, *options):
    os.chdir(ROOT)
    gc.disable()  # a book is a million objects that stay: looking through them for garbage took a quarter of the time
    unfinished = BUILT / ".unfinished"
    if unfinished.exists():
        shutil.rmtree(BUILT / ".doctrees", ignore_errors=True)
    unfinished.touch()
    print("==> book: chapters and pages that changed", flush=True)
    parts = [Part("live page", node, "book/live/build.mjs", "--out", "_build/live")]
    if "--checked" not in options:  # all chapters have just run
        parts.append(Part("chapters", sys.executable, ".ci/notebooks.py"))
    failed = True
    try:
        failed = build(Reading(parts))
    except SphinxError as error:
        print(error, file=sys.stderr)
    finally:
        for part in parts:  # none is left behind
            part.process.wait()
    if failed:
        print("the book was not built: see above", file=sys.stderr)
        return 1
    unfinished.unlink()
    print("==> book: _build/html/index.html", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

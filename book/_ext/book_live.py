"""What-ifs and exercises: pages that contain one load the live runtime; every page, the ticks in its contents."""

import json
import os
import shutil
from pathlib import Path

from sphinx.util.fileutil import copy_asset

RUNTIME = "_build/live"  # made by book/live/build.mjs before the book
MARKS = ('class="what-if"', 'class="exercise"')  # of the sections that lib.whatif.html and lib.exercises.html write


def load_runtime(app, pagename, templatename, context, doctree):
    """Put the runtime's script and style into the head of a page that needs them.

    Their names carry a hash of `lib` and of the scripts: a browser must not mix an old `lib` with new pages.
    """
    manifest = Path(app.srcdir) / RUNTIME / "manifest.json"
    if not manifest.exists():
        return
    names = json.loads(manifest.read_text(encoding="utf-8"))
    alive = any(mark in context.get("body", "") for mark in MARKS)
    where = {part: context["pathto"](f"_static/live/{names[part]}", 1) for part in ("style", "script", "progress")}
    tags = [f'<script type="module" src="{where[part]}"></script>' for part in ("script", "progress")[not alive :]]
    style = [f'<link rel="stylesheet" href="{where["style"]}" />'] if alive else []
    context["metatags"] = "\n".join([context.get("metatags", ""), *style, *tags, ""])


def copy_runtime(app, error):
    """Put the runtime beside the pages, in place of an older one: its files have other names."""
    source, target = Path(app.srcdir) / RUNTIME, Path(app.outdir) / "_static/live"
    if error is None and app.builder.format == "html" and source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        copy_asset(source, target)


def setup(app):
    os.environ["HANDBOOK_BUILD"] = "1"  # the cells' kernels inherit it: a what-if then writes HTML, and no widget
    app.connect("html-page-context", load_runtime)
    app.connect("build-finished", copy_runtime)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

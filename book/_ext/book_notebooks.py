"""Each chapter can be downloaded as an .ipynb file: made from its text, so that none is kept in the repository."""

from pathlib import Path

import jupytext

CHAPTERS = "notebooks/"


def offer(app, pagename, templatename, context, doctree):
    """Let the theme's download button name the notebook."""
    if pagename.startswith(CHAPTERS):
        context["ipynb_source"] = f"{pagename}.ipynb"


def write(app, error):
    """Write the notebooks of the chapters that changed beside the pages' sources."""
    if error or app.builder.format != "html":
        return
    for name in (name for name in app.env.found_docs if name.startswith(CHAPTERS)):
        source = Path(app.env.doc2path(name))
        target = Path(app.outdir) / "_sources" / f"{name}.ipynb"
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            jupytext.write(jupytext.read(source), target)


def setup(app):
    app.connect("html-page-context", offer, priority=100)  # before the theme makes its buttons
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

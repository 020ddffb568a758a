"""A chapter run in this process: what it glues into its sentences, and the sentences."""

import sys
from types import SimpleNamespace

import jupytext
import pytest


def glued(root, path):
    """What a chapter glues, by running its cells as the book does; and its text."""
    found, space = {}, {}
    notebook = jupytext.read(root / path)
    with pytest.MonkeyPatch.context() as patch:
        glue = SimpleNamespace(glue=lambda name, value, display: found.__setitem__(name, value))
        patch.setitem(sys.modules, "myst_nb", glue)
        patch.setenv("HANDBOOK_BUILD", "1")
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(cell.source, space)
    return found, "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")

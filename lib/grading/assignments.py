"""Assignments: master notebooks as text (MyST Markdown), with what each asks for."""

import re
from dataclasses import dataclass
from pathlib import Path

import lib
from lib import check
from lib.exercises import QUESTIONS
from lib.whole_files import read_text

MASTERS = Path(lib.__file__).parent.parent / "notebooks/exercises"
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)
_OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.M | re.S)
_HEADER = re.compile(r"\A---\n.*?^---\n", re.M | re.S)


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A master notebook.

    Args:
        name: of its file, without the ending.
        text: of it.
    """

    name: str
    text: str

    def __post_init__(self):
        check.text(name=self.name, text=self.text)

    @property
    def cells(self):
        """Pairs of "markdown" or "code" and the text, in order; the header and options of cells are left out."""
        body, at, cells = _HEADER.sub("", self.text.replace("\r\n", "\n")), 0, []
        for cell in _CELL.finditer(body):
            cells += [("markdown", body[at : cell.start()].strip()), ("code", _OPTIONS.sub("", cell[1]).strip("\n"))]
            at = cell.end()
        cells.append(("markdown", body[at:].strip()))
        return [(kind, text) for kind, text in cells if text and text != "+++"]

    @property
    def questions(self):
        """The questions that it asks: those whose function or value its cells define, in order."""
        code = "\n".join(text for kind, text in self.cells if kind == "code")
        names = ["".join(pair) for pair in re.findall(r"^(?:def (\w+)\(|(\w+) *=[^=])", code, re.M)]
        return tuple(QUESTIONS[name] for name in dict.fromkeys(names) if name in QUESTIONS)


def assignments(folder=None):
    """All master notebooks of a folder, by name.

    Args:
        folder: its path; None for the handbook's own.

    Raises:
        ValueError: if there is none.
    """
    folder = MASTERS if folder is None else Path(folder)
    paths = sorted(folder.glob("*.md"))
    if not paths:
        raise ValueError(f"{folder}: no master notebooks (.md)")
    return {path.stem: Assignment(name=path.stem, text=read_text(f"{path}")) for path in paths}


def assignment(name, folder=None):
    """A master notebook by its name, whatever its case, hyphens and underscores.

    Args:
        name: such as "chips_to_flops".
        folder: where it is; None for the handbook's own.

    Raises:
        ValueError: for an unknown name, and for a notebook that asks for nothing.
    """
    found = check.lookup(assignments(folder), assignment=name)
    if not found.questions:
        raise ValueError(f"assignment = {name!r}: it defines no function or value that is a question's")
    return found

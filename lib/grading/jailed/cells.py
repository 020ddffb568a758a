"""A submission's cells as single statements, read before anything runs: one bad statement costs what it defines."""

import ast
import re
from collections import namedtuple

PYTHON_MAGICS = ("time", "timeit", "capture", "prun")  # what follows these in a cell is Python
MOST_PIECES = 500  # that a cell which does not parse is cut into
Part = namedtuple("Part", "cell statement names fault")
Part.__doc__ = "The number of its cell, the statement or None, the names that it binds, the fault or None."


def parts(cells):
    """Every statement of the cells, in order; a cell that is no Python is one part, with its fault.

    Args:
        cells: texts.

    >>> [sorted(part.names) for part in parts(["a = 1\\ndef f(): pass", "def g(:"])]
    [['a'], ['f'], ['g']]
    """
    return [part for number, text in enumerate(cells, 1) for part in _parts(number, text)]


def _parts(number, text, whole=True):
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        pieces = re.split(r"^(?=(?:async |def |class |@))", text, flags=re.M) if whole else []
        if 1 < len(pieces) <= MOST_PIECES:  # a whole file may be one cell: a fault costs the function that it is in
            return [part for piece in pieces for part in _parts(number, piece, whole=False)]
        words = f"{getattr(error, 'msg', None) or error}"[:200] or "too much for Python to read"
        fault = {"how": "syntax", "cell": number, "text": words}
        return [Part(number, None, _seem_bound(text), fault)]
    return [Part(number, statement, _bound(statement), None) for statement in tree.body]


def tree_of(text):
    """A cell's syntax; lines that are no Python (magics, shell lines, help) are taken out where they are in the way.

    Args:
        text: of a cell.

    Raises:
        SyntaxError: if what is left is no Python either.

    >>> len(tree_of("%matplotlib inline\\n!pip install this\\nx = 1").body)
    3
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first = text.lstrip().split("\n", 1)[0].strip()
    if first.startswith("%%"):
        if first[2:].split(" ")[0] not in PYTHON_MAGICS:
            return ast.Module([], [])
        text = text.replace("%%", "# ", 1)
    try:
        return ast.parse(text)
    except SyntaxError as error:
        plain = "\n".join(_plain(line) for line in text.split("\n"))
        if plain == text:
            raise error
        return ast.parse(plain)


def _plain(line):
    words = line.strip()
    if words.startswith(("%", "!", "?")) or (words.endswith("?") and "#" not in words):
        return line[: len(line) - len(line.lstrip())] + "pass"
    return re.sub(r"^([ \t]*\w[\w, ]*=[ \t]*)[!%].*", r"\1None", line)


def _seem_bound(text):
    found = re.findall(r"^[ \t]*(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*=", text, re.M)
    return {name for pair in found for name in pair if name}


def _bound(statement):
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names

"""What students get: a notebook without solutions and hidden checks, a checker that needs Python alone, how to start.

The checker carries inputs, with what is right and what typical mistakes give, computed beforehand: no formula is in it.
A value that is asked for has one right answer, so nothing of it is handed out.
"""

import inspect
import json
import os
import re
from pathlib import Path

from lib import check
from lib.exercises import Assignment, case, cases, trying, verdict
from lib.exercises.masters import master
from lib.whole_files import write_text

CHECKER = "checker.py"
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n)?(.*?)^```$", re.M | re.S)
_HEADER = re.compile(r"\A---\n.*?^---\n", re.M | re.S)
_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION$", re.M | re.S)
_HIDDEN = "### BEGIN HIDDEN TESTS"
_IMPORTS = re.compile(r"^from lib\.[^\n]*\n", re.M)
_README = """# {title}

1. Install: `python -m pip install -r requirements.txt` (JupyterLab; VS Code and other notebooks do as well).
2. Open `{name}.ipynb`, write each answer, run the cell with `check` below it.
3. Hand in `{name}.ipynb`, or a Python file with the same functions.

`checker.py` must lie beside the notebook; in Colab, upload it by the folder icon on the left.
It needs Python 3.10 or newer, no package and no network.
What it shows is practice: grading calls your functions with other inputs, in a fresh Python without the handbook's
`lib`, and without packages such as NumPy.

{n_questions} questions, {points} points, about {minutes} minutes.
"""
_CHECKER = '''"""Checks answers on your own machine: `from checker import check`.

It needs Python 3.10 or newer, and no package. It holds inputs and the values that belong to them; grading draws others.
"""

import json
'''
_CHECK = '''

def check(name, answer):
    """The verdicts on an answer, case by case, as a table: of a function (without brackets), or of a value."""
    if name not in QUESTIONS:
        raise ValueError(f"{name!r}: one of {', '.join(QUESTIONS)}")
    asked = QUESTIONS[name]
    if asked["kind"] == "value":
        fault = form_fault(asked["form"], answer)
        words = fault[1] if fault else f"{shown(answer)} is noted. Whether it is right is told when it is graded."
        return refusal(asked["title"], name, "noted", words)
    return try_answer(asked["title"], [Case.of(plain) for plain in asked["cases"]], answer)
'''


def release(assignment, folder):
    """Write a student's folder.

    Args:
        assignment: an `Assignment`.
        folder: where to; it must not exist, or be empty.

    Returns:
        The paths of the files.

    Raises:
        ValueError: if there is something in the folder; nothing is changed.
    """
    check.instance(Assignment, assignment=assignment)
    return fill(folder, files(assignment))


def fill(folder, texts):
    """Write files into a new folder.

    Args:
        folder: where to; it must not exist, or be empty.
        texts: name -> text; a name may lie in a folder of its own.

    Returns:
        The paths of the files.

    Raises:
        TypeError: for a folder that is no text.
        ValueError: if there is something in the folder; nothing is changed.
    """
    check.text(folder=folder)
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise ValueError(f"{folder}: not empty: give a new folder, so that nothing is written over")
    return [_written(Path(folder) / name, text) for name, text in texts.items()]


def _written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(f"{path}", text)
    return f"{path}"


def files(assignment):
    """The files of a student's folder, by name.

    Args:
        assignment: an `Assignment`.

    >>> from lib.exercises import assignment
    >>> list(files(assignment("start")))
    ['start.ipynb', 'checker.py', 'requirements.txt', 'README.md']
    """
    check.instance(Assignment, assignment=assignment)
    about = {name: getattr(assignment, name) for name in ("title", "name", "points", "minutes")}
    return {
        f"{assignment.name}.ipynb": notebook(student_cells(master(assignment))),
        CHECKER: checker(assignment.questions),
        "requirements.txt": "jupyterlab>=4\n",
        "README.md": _README.format(**about, n_questions=len(assignment.questions)),
    }


def master_cells(text):
    """Pairs of "markdown" or "code" and the text of a master notebook's cells, in order.

    Args:
        text: MyST Markdown.

    >>> master_cells("# Title\\n\\n```{code-cell} ipython3\\nx = 1\\n```\\n")
    [('markdown', '# Title'), ('code', 'x = 1')]
    """
    check.text(text=text)
    body, at, cells = _HEADER.sub("", text), 0, []
    for cell in _CELL.finditer(body):
        cells += [*_prose(body[at : cell.start()]), ("code", cell[1].rstrip("\n"))]
        at = cell.end()
    return [*cells, *_prose(body[at:])]


def _prose(text):
    return [("markdown", part.strip()) for part in re.split(r"^\+\+\+.*$", text, flags=re.M) if part.strip()]


def student_cells(text):
    """The cells that students get: solutions taken out, cells with hidden checks left out.

    Args:
        text: of a master notebook.

    >>> student_cells("```{code-cell} ipython3\\n### BEGIN SOLUTION\\nx = 1\\n### END SOLUTION\\n```\\n")
    [('code', 'x = None  # your answer')]
    """
    cells = [(kind, cell) for kind, cell in master_cells(text) if _HIDDEN not in cell]
    return [(kind, _SOLUTION.sub(_stub, cell).replace("from lib.exercises", "from checker")) for kind, cell in cells]


def _stub(solution):
    indent, lines = solution[1], solution[2]
    if indent:
        return f"{indent}raise NotImplementedError  # your answer"
    names = dict.fromkeys(re.findall(r"^(\w+) *=", lines, re.M))
    return "\n".join(f"{name} = None  # your answer" for name in names)


def notebook(cells):
    """A notebook as text.

    Args:
        cells: pairs of "markdown" or "code" and the text; a third part is the cell's metadata.
    """
    made = []
    for number, (kind, text, *more) in enumerate(cells):
        code = {"execution_count": None, "outputs": []} if kind == "code" else {}
        about = {"id": f"cell-{number}", "metadata": more[0] if more else {}}
        made.append({"cell_type": kind, **about, **code, "source": text.splitlines(keepends=True)})
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def checker(questions):
    """The text of a module that checks answers: what judges them is `lib.exercises`' own, without its questions.

    Args:
        questions: of `Question`.
    """
    parts = [_IMPORTS.sub("", inspect.getsource(module)).strip() for module in (case, verdict, trying)]
    told = json.dumps({question.name: _told(question) for question in questions}, indent=1, ensure_ascii=False)
    data = f"QUESTIONS = json.loads(r'''\n{told}\n''')"
    return "\n\n\n".join([_CHECKER.rstrip(), *parts, data, _CHECK.strip()]) + "\n"


def _told(question):
    about = {"title": question.title, "kind": question.kind}
    if question.kind == "value":
        return about | {"form": _form(cases(question)[0].expected)}
    return about | {"cases": [case.plain for case in cases(question)] if question.visible else []}


def _form(value):
    """Of what kind an answer is, without the answer."""
    if isinstance(value, list):
        return [_form(part) for part in value]
    if isinstance(value, dict):
        return {key: _form(part) for key, part in value.items()}
    return "text" if isinstance(value, str) else type(value)(1)

"""Master notebooks: the assignments as Jupytext text, with solution and test regions in nbgrader's form.

Text and solutions are those of the questions, so the files in `notebooks/exercises` are written from them:
`python -m lib.exercises.masters notebooks/exercises`. A test compares.
"""

import json
import sys
from pathlib import Path

from lib import check
from lib.exercises.assignments import ASSIGNMENTS, Assignment
from lib.exercises.draws import cases

_HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""
_INTRO = """# {title}

{intro}
Expected time: {minutes} minutes; {points} points.

Write each answer where it is asked for, and run the cell with `check` below it.
It says case by case what is right, and what a mistake looks like.
Plain Python is enough.
Importing from `lib` what is asked for is no solution."""
_SCHEMA = 3


def master(assignment):
    """The master notebook of an assignment.

    Args:
        assignment: an `Assignment`.

    Returns:
        MyST Markdown, as Jupytext reads it.

    Raises:
        TypeError: for something else.

    >>> from lib.exercises.assignments import assignment
    >>> print(master(assignment("start")).splitlines()[10])
    <BLANKLINE>
    """
    return "\n".join([_HEADER, *(_as_text(*cell) for cell in cells_of(assignment))]).rstrip() + "\n"


def cells_of(assignment):
    """The cells of an assignment's master notebook, in order.

    Args:
        assignment: an `Assignment`.

    Returns:
        A list of (kind, source, marks): "markdown" or "code", the text, and what nbgrader keeps beside it; None for
        nothing.

    Raises:
        TypeError: for something else.

    >>> from lib.exercises.assignments import assignment
    >>> kind, source, marks = cells_of(assignment("start"))[1]
    >>> kind, source, marks["grade_id"]
    ('code', 'from lib.exercises import check', 'setup')
    """
    check.instance(Assignment, assignment=assignment)
    intro = _INTRO.format(**{name: getattr(assignment, name) for name in ("title", "intro", "minutes", "points")})
    cells = [("markdown", intro, _marks("intro", locked=True))]
    cells.append(("code", "from lib.exercises import check", _marks("setup", locked=True)))
    for number, asked in enumerate(assignment.questions, start=1):
        cells += _asked(number, asked)
    return cells


def write(folder):
    """Write all master notebooks.

    Args:
        folder: a path; it must exist.
    """
    for name, assignment in ASSIGNMENTS.items():
        (Path(folder) / f"{name}.md").write_text(master(assignment), encoding="utf-8")


def _asked(number, asked):
    inputs = cases(asked)[0].inputs
    yield "markdown", _text(number, asked, inputs), _marks(f"{asked.anchor}-text", locked=True)
    yield "code", _solution(asked, inputs), _marks(asked.anchor, solution=True)
    yield "code", f'check("{asked.name}", {asked.name})', None
    yield "code", _test(asked), _marks(f"{asked.anchor}-test", locked=True, grade=True, points=asked.points)


def _text(number, asked, inputs):
    points = f"{asked.points} point{'s' if asked.points > 1 else ''}"
    lines = [f"## {number}. {asked.title}", "", f"*{points}, {asked.minutes} minutes, {asked.difficulty}.*", ""]
    lines += [asked.prompt_for(inputs).replace(". ", ".\n"), "", *_asked_for(asked)]
    lines += ["", "<details><summary>Hint</summary>", "", asked.hint, "", "</details>"]
    return "\n".join(lines)


def _asked_for(asked):
    unit = f" ({asked.unit})" if asked.unit else ""
    if asked.kind == "value":
        return [f"Set `{asked.name}`{unit}."]
    allowed = ["Here `lib` may be used."] if asked.allows_lib else []
    return [f"Complete `{asked.signature}`{unit}.", *allowed]


def _solution(asked, inputs):
    if asked.kind == "value":
        return f"### BEGIN SOLUTION\n{asked.solution_source(inputs)}\n### END SOLUTION"
    return f"{asked.head}\n    ### BEGIN SOLUTION\n{asked.body}\n    ### END SOLUTION"


def _test(asked):
    visible = f'check("{asked.name}", {asked.name}).require()' if asked.visible else f"assert {asked.name} is not None"
    lines = [
        "from lib.exercises import check as graded",
        f'graded("{asked.name}", {asked.name}, hidden=True).require()',
    ]
    return "\n".join([visible, "### BEGIN HIDDEN TESTS", *lines, "### END HIDDEN TESTS"])


def _marks(grade_id, *, locked=False, solution=False, grade=False, points=None):
    marks = {"grade": grade, "grade_id": grade_id, "locked": locked}
    marks |= {} if points is None else {"points": points}
    return marks | {"schema_version": _SCHEMA, "solution": solution, "task": False}


def _as_text(kind, source, marks):
    if kind == "markdown":
        return f"+++ {json.dumps({'nbgrader': marks})}\n\n{source}\n"
    rows = (f"  {key}: {json.dumps(value)}" for key, value in (marks or {}).items())
    head = "\n".join(["---", "nbgrader:", *rows, "---\n"]) if marks else ""
    return f"```{{code-cell}} ipython3\n{head}{source}\n```\n"


if __name__ == "__main__":
    write(sys.argv[1])

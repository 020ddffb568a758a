"""A source tree for nbgrader: its own commands hand the assignment out, collect it and grade it.

Less is held apart there: nbgrader runs a submission and the checks in one kernel. `LOST` says so, first of all.
"""

from lib import check
from lib.exercises import Assignment
from lib.exercises.masters import cells_of
from lib.grading.release import CHECKER, checker, fill, notebook

LOST = (
    "No jail: nbgrader runs each submission as you, with your files and your network, in one process with the checks "
    "and the right answers; `handbook course grade` keeps them apart."
)
_README = """{lost}

So grade only what you would run yourself, on a machine or in a container that holds nothing else.

1. In this folder, with the handbook and nbgrader 0.9 installed: `nbgrader generate_assignment {name}`.
   Students get `release/{name}/`: the notebook without solutions and hidden tests, and the checker, which needs Python
   alone.
2. Put what they hand in under `submitted/STUDENT/{name}/`.
3. Set `HANDBOOK_SEED` to a text that nobody else knows: the hidden inputs are drawn from it, the same for everybody.
   Without it they differ from run to run.
4. `nbgrader autograde {name}`.

nbgrader stops at a submission with a duplicated test cell, and its feedback shows the source of hidden tests: here that
is a call, without inputs or values.
"""
_CONFIG = """# {lost}
c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "training-run-handbook"
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError  # your answer"}}
"""


def export(assignment, folder):
    """Write the source tree of an assignment.

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


def files(assignment):
    """The files of the tree, by name.

    Args:
        assignment: an `Assignment`.

    >>> from lib.exercises import assignment
    >>> list(files(assignment("start")))
    ['README.md', 'nbgrader_config.py', 'source/start/start.ipynb', 'source/start/checker.py']
    """
    check.instance(Assignment, assignment=assignment)
    source = f"source/{assignment.name}"
    return {
        "README.md": _README.format(lost=LOST, name=assignment.name),
        "nbgrader_config.py": _CONFIG.format(lost=LOST),
        f"{source}/{assignment.name}.ipynb": notebook(map(_cell, cells_of(assignment))),
        f"{source}/{CHECKER}": checker(assignment.questions),
    }


def _cell(cell):
    """Students' own checks come from the checker beside the notebook; hidden ones from the handbook, where graded."""
    kind, source, marks = cell
    if marks and marks["grade_id"] == "setup":
        source = source.replace("from lib.exercises", "from checker")
    return kind, source, {"nbgrader": marks} if marks else {}

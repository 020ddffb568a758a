"""What `run_autograder` starts in Gradescope's container: grade the one submission, write results.json.

Source: Gradescope's autograder specification, gradescope-autograders.readthedocs.io/en/latest/specs/, "Output format".
"""

import json
from pathlib import Path

from lib import check
from lib.exercises import assignment, question
from lib.grading.conversation import Conversation, JailError
from lib.grading.grader import judged, record, run, tasks, unreadable
from lib.grading.jail import Jail, another_user, is_root
from lib.grading.record import QuestionResult, Record
from lib.grading.submissions import UnreadableError, one_submission, read
from lib.whole_files import read_text, write_text

AT_FAULT = "The autograder did not work, which is no fault of your submission: tell your instructor."
PROBE = """
import os

def _forks():
    try:
        number = os.fork()
    except OSError:
        return False
    if number == 0:
        os._exit(0)
    return True

def _imports():
    try:
        import decimal
    except ImportError:
        return False
    return True

def faults(private, others):
    found = {
        "it is root": 0 in (os.getuid(), os.geteuid()),
        "it reads the right answers": os.access(private, os.R_OK) or os.access(private, os.X_OK),
        "it may write " + " and ".join(others): any(os.access(path, os.W_OK) for path in others),
        "it does not find Python's standard library": not _imports(),
        "it starts processes": _forks(),
    }
    return [words for words, is_so in found.items() if is_so]
"""


def main(root):
    """Grade what lies in a container, and write results/results.json there, whatever happens.

    Args:
        root: the folder that is /autograder in a container.

    Raises:
        JailError: if submissions cannot be run as somebody else. Gradescope shows what is raised to instructors alone.
    """
    check.text(root=root)
    told = {"score": 0, "output": AT_FAULT}
    try:
        told = as_results(_graded(Path(root)))
    finally:
        write_text(f"{Path(root) / 'results/results.json'}", json.dumps(told, indent=1) + "\n", replace=True)


def as_results(made):
    """A record in the form that Gradescope reads.

    Args:
        made: a `Record`. All of it may be shown to its student.
    """
    check.instance(Record, made=made)
    tests = [_test(number, one) for number, one in enumerate(made.questions, start=1)]
    return {"output": made.sentence, "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}


def _test(number, result):
    check.instance(QuestionResult, result=result)
    wrong = [f"{'hidden' if one.hidden else 'visible'} case: {one.sentence}" for one in result.cases]
    lines = [result.sentence, *(line for line, one in zip(wrong, result.cases, strict=True) if one.outcome != "right")]
    has_passed = result.outcome == "passed"
    return {
        "number": f"{number}",
        "name": f"{result.title} ({result.name})",
        "score": result.points,
        "max_score": result.max_points,
        "status": "passed" if has_passed else "failed",
        "output": "\n".join(lines if has_passed else [*lines, f"Hint: {question(result.name).hint}"]),
        "output_format": "text",  # a submission's words are in it: nothing of them is read as HTML
        "visibility": "visible",
    }


def _graded(root):
    course = json.loads(read_text(f"{root / 'private/course.json'}"))
    jail = another_user()
    refuse_faults(jail, root)
    asked = assignment(course["assignment"])
    submission = one_submission(f"{root / 'submission'}", _student(root))
    wanted = tasks(asked.questions, course["secret"], submission.student)
    about = {"grading": "gradescope", "assignment": asked.name}
    try:
        source = read(submission, asked.names)
    except UnreadableError as error:
        return unreadable(submission, f"{error}", wanted=wanted, **about)
    answers = run(source.cells, source.main, [task.errand for task in wanted], jail)
    results = [judged(task, *pair) for task, pair in zip(wanted, answers, strict=True)]
    return record(submission, source, results=results, **about)


def _student(root):
    """Whose hidden inputs are drawn: the members' numbers, as Gradescope writes them beside the submission."""
    path = root / "submission_metadata.json"
    users = json.loads(read_text(f"{path}"))["users"] if path.exists() else []
    return ",".join(sorted(f"{user['id']}" for user in users)) or "anybody"


def refuse_faults(jail, root):
    """Refuse to grade where a submission would not be somebody else.

    Args:
        jail: a `Jail`.
        root: the path of the folder that is /autograder in a container.

    Raises:
        JailError: that says what is wrong.
    """
    check.instance(Jail, jail=jail)
    if not is_root():
        raise JailError("run_autograder must be root, as it is in Gradescope's container: root can become another user")
    if (root / "source/private").exists():
        raise JailError("setup.sh has not run: the right answers still lie in source/private")
    others = [f"{folder}" for folder in (root, root / "results", root / "source")]
    with Conversation(jail, [PROBE]) as inside:
        inside.load("faults")
        answer = inside.call([f"{root / 'private'}", others])
    if answer.get("value") != []:
        raise JailError(f"a submission would not be held: {'; '.join(answer.get('value', ['no answer']))}")

"""One question graded anew, after it was mended, with the list of the scores that change."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from lib import check
from lib.grading import results
from lib.grading.batch import Course, through
from lib.grading.grader import tasks
from lib.grading.record import ABOUT, Record
from lib.grading.submissions import UnreadableError, read
from lib.whole_files import read_text, refuse_depth, write_text


@dataclass(frozen=True, kw_only=True)
class Change:
    """What grading anew changed for one student.

    Args:
        student: as the record has it.
        before, after: `QuestionResult` of the question.
    """

    student: str
    before: object
    after: object

    @property
    def plain(self):
        """The change as a dict."""
        old, new = self.before, self.after
        points = {"before": old.points, "after": new.points}
        return {"student": self.student, **points, "was": old.outcome, "is": new.outcome}


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """What grading one question anew gives; nothing is written before `write`.

    Args:
        records: of `Record`, with the new result of the question.
        changes: of `Change`, where points or outcome differ.
        left: (student, why) of records that stay as they are.
    """

    records: tuple
    changes: tuple
    left: tuple

    def __post_init__(self):
        for record in self.records:
            check.instance(Record, records=record)
        check.instance(tuple, changes=self.changes, left=self.left)


def regrade(found, folder, course, name, executor=None, ahead=8):
    """Grade one question anew, of submissions that have a record and have not changed since.

    Args:
        found: of `Submission`.
        folder: of the results.
        course: a `Course`, with the secret that the folder was graded with.
        name: of the question.
        executor: any `concurrent.futures.Executor`; None for one worker in this process.
        ahead: how many submissions are sent out at a time.

    Returns:
        A `Regraded`.

    Raises:
        ValueError: for results of another assignment or secret, or if other questions changed as well.
        JailError: if a jail does not start.
    """
    check.instance(Course, course=course)
    check.choice([question.name for question in course.questions], question=name)
    _refuse_others(folder, course, name)
    before, todo, left = results.read_all(folder), [], []
    for submission in found:
        item = _item(submission, before.get(submission.student), course, name)
        (left if isinstance(item[1], str) else todo).append(item)
    left += [(student, "not among the submissions") for student in before.keys() - {one.student for one in found}]
    made = []
    marks = {"grading": course.grading, "assignment": course.assignment}
    if executor is None:
        with ThreadPoolExecutor(1) as one:
            through(one, todo, course, ahead, made.append, marks)
    else:
        through(executor, todo, course, ahead, made.append, marks)
    records = [_merged(before[one.student], one) for one in sorted(made, key=lambda one: one.student)]
    changes = [_change(before[one.student], one, name) for one in records]
    return Regraded(records=tuple(records), changes=tuple(filter(None, changes)), left=tuple(sorted(left)))


def write(folder, course, regraded):
    """Write what was graded anew, and say in the folder that it was.

    Args:
        folder: of the results.
        course: a `Course`.
        regraded: a `Regraded`.
    """
    check.instance(Regraded, regraded=regraded)
    for record in regraded.records:
        results.write(folder, record)
    write_text(f"{Path(folder) / ABOUT}", json.dumps(course.about, indent=1) + "\n", replace=True)


def _refuse_others(folder, course, name):
    path = Path(folder) / ABOUT
    if not path.exists():
        raise ValueError(f"{folder}: no results folder: there is no {ABOUT} in it; handbook course grade makes one")
    text = read_text(f"{path}")
    try:
        refuse_depth(text)
        found = json.loads(text)
        assignment, marks = found["assignment"], dict(found.get("questions", {}))
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path}: damaged; the records beside it are as they were") from None
    if assignment != course.assignment:
        raise ValueError(f"{folder}: results of another assignment, {assignment!r}; nothing was changed")
    if not marks:
        raise ValueError(f"{folder}: graded before questions had marks of their own: grade into another folder")
    others = [other for other, mark in course.marks.items() if other != name and marks.get(other) != mark]
    if others:
        why = "another secret, or these changed as well"
        raise ValueError(f"{folder}: {why}: {check.listed(others)}: grade into another folder; nothing was changed")


def _item(submission, record, course, name):
    """What is to be run; or (student, why not)."""
    if record is None:
        return submission.student, "no record yet: handbook course grade makes one"
    try:
        source = read(submission, [question.name for question in course.questions])
    except UnreadableError:
        return submission.student, "cannot be read"
    if source.sha256 != record.sha256:
        return submission.student, "changed since it was graded: handbook course grade grades it whole"
    wanted = tasks(course.questions, course.secret, submission.student)
    return submission, source, [task for task in wanted if task.question.name == name]


def _merged(before, made):
    (new,) = made.questions
    questions = tuple(new if one.name == new.name else one for one in before.questions)
    return replace(before, questions=questions, grading=made.grading)


def _change(before, after, name):
    old, new = ({one.name: one for one in record.questions}.get(name) for record in (before, after))
    if old is None or (old.points, old.max_points, old.outcome) == (new.points, new.max_points, new.outcome):
        return None
    return Change(student=before.student, before=old, after=new)

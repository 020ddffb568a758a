"""Grades a class: any executor runs the jails, one process compares and writes, and what is done is not done again."""

import hashlib
import hmac
import json
import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lib import check
from lib.grading import results
from lib.grading.conversation import SECONDS, JailError
from lib.grading.grader import judged, record, run, tasks, unreadable
from lib.grading.record import ABOUT, FORMAT
from lib.grading.submissions import UnreadableError, read
from lib.whole_files import read_text, refuse_depth, write_text

SHORTEST_SECRET = 16  # characters; what is shorter could be tried out
TRIES = 3  # of an executor whose worker is killed; then the grader's own process does it


def refuse_short(secret):
    """Refuse a secret that could be found by trying.

    Args:
        secret: text.

    Raises:
        ValueError: for one that is too short.
    """
    check.text(secret=secret)
    if len(secret) < SHORTEST_SECRET:
        raise ValueError(f"secret: at least {SHORTEST_SECRET} characters, so that nobody finds it by trying")


@dataclass(frozen=True, kw_only=True)
class Course:
    """What a class is graded with.

    Args:
        assignment: its name.
        questions: of `Question`.
        secret: text that nobody else knows, of at least `SHORTEST_SECRET` characters.
        jail: the name of one.
        seconds: for one statement, and for one call.
    """

    assignment: str
    questions: tuple
    secret: str = field(repr=False)
    jail: str
    seconds: float = SECONDS

    def __post_init__(self):
        check.fields(self, text="assignment secret jail", positive="seconds")
        check.instance(tuple, questions=self.questions)
        refuse_short(self.secret)

    @property
    def grading(self):
        """The mark of questions and secret: records that carry another one were graded differently."""
        return self._mark([self.assignment, list(_asked(self.questions, self.secret).values())])

    @property
    def marks(self):
        """The same of each question by itself: which of them changed since a class was graded."""
        return {name: self._mark(plain) for name, plain in _asked(self.questions, self.secret).items()}

    def _mark(self, plain):
        message = json.dumps(plain, sort_keys=True).encode()
        return hmac.digest(self.secret.encode(), message, hashlib.sha256).hex()[:16]

    @property
    def about(self):
        """What a results folder says of itself."""
        about = {"format": FORMAT, "assignment": self.assignment, "grading": self.grading}
        return about | {"questions": self.marks}


@cache
def _asked(questions, secret):
    """Name of a question -> its cases as plain data, where no student is named."""
    return {task.question.name: [case.plain for case in task.cases] for task in tasks(questions, secret)}


def prepare(folder, course):
    """Make the results folder, or see that it is one of the same assignment, questions and secret.

    Args:
        folder: its path.
        course: a `Course`.

    Raises:
        ValueError: if it holds something else; nothing in it is changed.
    """
    check.instance(Course, course=course)
    about = course.about
    path = Path(folder) / ABOUT
    if path.exists():
        _same(path, about)
        return
    if os.path.isdir(folder) and os.listdir(folder):
        raise ValueError(f"{folder}: neither empty nor a results folder: there is no {ABOUT} in it")
    os.makedirs(folder, exist_ok=True)
    write_text(f"{path}", json.dumps(about, indent=1) + "\n")


def _same(path, about):
    text = read_text(f"{path}")
    refuse_depth(text)
    try:
        found = json.loads(text)
    except ValueError:
        raise ValueError(f"{path}: damaged; the records beside it are as they were") from None
    words = {"format": "format", "assignment": "assignment", "grading": "secret, or version of the questions"}
    for key, word in words.items():
        if not isinstance(found, dict) or found.get(key) != about[key]:
            raise ValueError(f"{path.parent}: results of another {word}: give another folder; nothing was changed")
    results.read_all(path.parent)  # a damaged one is better known before than half-way


def grade(found, folder, course, executor=None, ahead=8, on_record=lambda record, is_new: None):
    """Grade submissions into a results folder; those that it has, unchanged, stay as they are.

    Args:
        found: of `Submission`.
        folder: of the results, as `prepare` left it.
        course: a `Course`.
        executor: any `concurrent.futures.Executor`; None for one worker in this process.
        ahead: how many submissions are sent out at a time: some for each worker.
        on_record: called with each `Record`, and with whether it is new.

    Returns:
        The records by student.

    Raises:
        JailError: if a jail does not start. What was graded is kept.
    """
    check.instance(Course, course=course)
    check.integer(ahead=ahead)
    marks = {"grading": course.grading, "assignment": course.assignment}
    done = {}

    def keep(made, is_new=True):
        if is_new:
            results.write(folder, made)
        done[made.student] = made
        on_record(made, is_new)

    todo = _todo(found, folder, course, marks, keep)
    if executor is None:
        with ThreadPoolExecutor(1) as one:
            through(one, todo, course, ahead, keep, marks)
    else:
        through(executor, todo, course, ahead, keep, marks)
    return done


def _todo(found, folder, course, marks, keep):
    """(submission, its source, what is asked of it) for each that must be run; the others are kept at once."""
    names = [question.name for question in course.questions]
    for submission in found:
        before = results.read(folder, submission.student)
        wanted = tasks(course.questions, course.secret, submission.student)
        try:
            source = read(submission, names)
        except UnreadableError as error:
            made = unreadable(submission, f"{error}", wanted=wanted, **marks)
            keep(made, made != before)
            continue
        if before and (before.sha256, before.file, before.grading) == (source.sha256, source.file, marks["grading"]):
            keep(before, False)
        else:
            yield submission, source, wanted


def through(executor, todo, course, ahead, keep, marks):
    """Send submissions out, a few ahead of the workers; whatever comes back is compared and kept here.

    Args:
        executor: any `concurrent.futures.Executor`.
        todo: of (`Submission`, its `Source`, each `Task` that is asked of it).
        course: a `Course`.
        ahead: how many submissions are sent out at a time.
        keep: called with each `Record`.
        marks: dict of "grading" and "assignment", for the records.
    """
    waiting, todo = {}, iter(todo)
    try:
        while True:
            while len(waiting) < ahead and (item := next(todo, None)):
                waiting[_sent(executor, item, course)] = (item, 1)
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                item, tries = waiting.pop(future)
                answers = _received(future, item, course, tries)
                if answers is None:
                    waiting[_sent(executor, item, course)] = (item, tries + 1)
                    continue
                submission, source, wanted = item
                results = [judged(task, *pair) for task, pair in zip(wanted, answers, strict=True)]
                keep(record(submission, source, results=results, **marks))
    finally:
        for future in waiting:
            future.cancel()


def _sent(executor, item, course):
    _, source, wanted = item
    errands = [task.errand for task in wanted]
    try:
        return executor.submit(run, source.cells, source.main, errands, course.jail, course.seconds)
    except RuntimeError as error:  # a pool that lost a process takes nothing more
        lost = Future()
        lost.set_exception(error)
        return lost


def _received(future, item, course, tries):
    """What a worker sent; None if it was lost and is to be sent again."""
    try:
        return future.result()
    except JailError:
        raise
    except Exception:  # a worker was killed, or its connection is gone: each executor has its own word for it
        if tries < TRIES:
            return None
    _, source, wanted = item
    return run(source.cells, source.main, [task.errand for task in wanted], course.jail, course.seconds)

"""Grades one submission: what is asked goes into the jail, what comes out is compared here, by whom alone knows."""

import builtins
import time
from dataclasses import dataclass, field
from functools import cache

from lib import check, exercises
from lib.check import did_you_mean
from lib.exercises import Question
from lib.grading import jail as jails
from lib.grading.conversation import SECONDS, Conversation
from lib.grading.jailed.values import frozen
from lib.grading.record import CaseResult, QuestionResult, Record

ALL_CALLS = 3  # all calls of a question together may take so many times what one may
ENDS = {"timeout": "timeout", "flood": "crash", "crash": "crash", "exit": "crash", "gone": "not run", "forged": "crash"}
SENTENCES = {
    "timeout": "It did not come to an end in time. Does a loop never end?",
    "memory": "It took more memory than there is.",
    "crash": "It ended Python, or wrote without end.",
    "not run": "Not run, because of the case before it.",
    "odd": "It returned what cannot be compared with a right answer.",
}
# Types whose names tell nothing that a submission could have put into them.
KNOWN = {f"numpy.{kind}{bits}" for kind in ("int", "uint", "float", "complex") for bits in (8, 16, 32, 64, 128)}
KNOWN |= {"numpy.ndarray", "numpy.bool_", "numpy.bool", "numpy.str_", "pandas.core.series.Series"}
KNOWN |= {"pandas.core.frame.DataFrame", "decimal.Decimal", "fractions.Fraction"}
KNOWN |= {name for name, kind in vars(builtins).items() if isinstance(kind, type)} | {
    "function",
    "generator",
    "coroutine",
}
ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is asked of one student, with what is expected. It stays with the grader.

    Args:
        question: a `Question`.
        cases: of `Case`, visible ones first.
    """

    question: Question
    cases: tuple = field(repr=False)

    def __post_init__(self):
        check.instance(Question, question=self.question)
        check.instance(tuple, cases=self.cases)

    @property
    def errand(self):
        """What the jail is told: names and inputs, as plain data, and nothing else."""
        question = self.question
        calls = [[frozen(value) for value in case.inputs.values()] for case in self.cases]
        return {"name": question.name, "value": question.kind == "value", "lib": question.allows_lib, "calls": calls}


def tasks(questions, secret, student=None):
    """What is asked of a student: the cases that everybody can see, then hidden ones of a secret.

    A value is asked with the numbers that were handed out: its one case counts as hidden, as its answer is not told.

    Args:
        questions: a list of `Question`.
        secret: text that nobody else knows.
        student: text, for hidden cases of their own; None for the same for everybody.

    Returns:
        A list of `Task`.
    """
    check.text(secret=secret)
    return [Task(question=question, cases=tuple(_cases(question, secret, student))) for question in questions]


def _cases(question, secret, student):
    if question.kind == "value":
        return _for_all(question, False)
    shown = _for_all(question, True) if question.visible else ()
    return [*shown, *exercises.cases(question, "hidden", student=student, secret=secret, visible=False)]


@cache
def _for_all(question, visible):
    """The cases that depend on no student, drawn once for a class."""
    return tuple(exercises.cases(question, visible=visible))


def run(cells, main, errands, jail, seconds=SECONDS):
    """Run a submission in a jail: the only part of grading that may happen on another machine.

    Args:
        cells: texts.
        main: whether they run as `__main__`.
        errands: of tasks.
        jail: a `Jail`, or the name of one.
        seconds: for one statement, and for one call.

    Returns:
        A list of pairs for the errands in their order, plain data: what became of the name, and the answers.

    Raises:
        JailError: if the jail does not start.
    """
    found = {}
    chosen = jail if isinstance(jail, jails.Jail) else jails.jail(jail)
    for with_lib in (False, True):
        wanted = [errand for errand in errands if errand["lib"] is with_lib]
        if wanted:
            with Conversation(chosen, list(cells), main=main, seconds=seconds, with_lib=with_lib) as inside:
                found |= _answers(inside, wanted)
    return [found[errand["name"]] for errand in errands]


def _answers(inside, errands):
    survey = inside.survey([errand["name"] for errand in errands])
    return {errand["name"]: (_about(survey, errand["name"]), _called(inside, survey, errand)) for errand in errands}


def _about(survey, name):
    if "ended" in survey:
        return {"how": survey["ended"]}
    others = {"names": survey["names"], "absent": survey["absent"]}
    return {"kind": survey["kinds"].get(name), "fault": survey["faults"].get(name), **others}


def _called(inside, survey, errand):
    """The answers to the calls of an errand, until one comes to no end: a question has its time, not each case."""
    if "ended" in survey or errand["name"] not in survey["kinds"]:
        return []
    loaded = inside.load(errand["name"])
    if not loaded.get("found"):
        return [loaded if "ended" in loaded else {"ended": "crash"}]
    answers, until = [], time.monotonic() + ALL_CALLS * inside.seconds
    for arguments in errand["calls"]:
        if time.monotonic() > until:
            return [*answers, {"ended": "timeout"}]
        answers.append(inside.read() if errand["value"] else inside.call(arguments))
        if "ended" in answers[-1] or answers[-1].get("raised") == "MemoryError":  # slow, and no better the next time
            break
    return answers


def judged(task, about, answers):
    """The result of one question.

    Args:
        task: a `Task`.
        about, answers: as `run` gives them.

    Returns:
        A `QuestionResult`.
    """
    check.instance(Task, task=task)
    if not answers:
        return _result(task, *_absent(task.question, about))
    if task.question.kind != "value" and about["kind"] != "function":
        words = f"`{task.question.name}` is no function: {_type(about['kind'])}."
        return _result(task, "missing function", words)
    answers = [*answers, *[{"ended": "gone"}] * (len(task.cases) - len(answers))]
    cases = tuple(_case(task.question, *pair, about) for pair in zip(task.cases, answers, strict=True))
    return _result(task, *_overall(cases), cases)


def _result(task, outcome, sentence, cases=()):
    question = task.question
    points = question.points if outcome == "passed" else 0
    words = {"name": question.name, "title": question.title, "outcome": outcome, "sentence": sentence}
    return QuestionResult(**words, points=points, max_points=question.points, cases=cases)


def _case(question, case, answer, about):
    if "value" in answer:
        try:
            verdict = exercises.judge(question, case, answer["value"])
        except (ArithmeticError, ValueError, TypeError, RecursionError):  # plain, and yet beyond comparing
            return CaseResult(hidden=not case.visible, outcome="wrong value", sentence=SENTENCES["odd"])
        outcome = "right" if verdict.ok else verdict.outcome
        return CaseResult(hidden=not case.visible, outcome=outcome, sentence=verdict.sentence, slip=verdict.slip)
    outcome, sentence = _unanswered(answer, about)
    return CaseResult(hidden=not case.visible, outcome=outcome, sentence=sentence)


def _unanswered(answer, about):
    if "ended" in answer:
        outcome = ENDS[answer["ended"]]
        return outcome, SENTENCES[outcome]
    if answer.get("raised") == "MemoryError":
        return "memory", SENTENCES["memory"]
    if answer.get("raised") == "NotImplementedError":
        return "raised", "Not written yet: it raised NotImplementedError."
    if "raised" in answer:
        error = answer["raised"] if answer["raised"] in ERRORS else "an error of its own"
        return "raised", f"It raised {error}.{_without(about)}"
    return "wrong type", f"It returned {_type(answer['unfit'])}: plain numbers, text, lists and tuples are expected."


def _type(name):
    """A type's name, where it is one of the known ones."""
    return f"a value of type {name}" if name in KNOWN else "a value of a type of its own"


def _overall(cases):
    """(outcome, sentence) of a question from its cases: the first that is not right tells."""
    wrong = [case for case in cases if case.outcome != "right"]
    if not wrong:
        return "passed", "All cases are right." if len(cases) > 1 else "Right."
    outcome = wrong[0].outcome if wrong[0].outcome in ("raised", "timeout", "memory", "crash") else "failed"
    return outcome, wrong[0].sentence


def _absent(question, about):
    """(outcome, sentence) for a name that is not there when the cells have run."""
    if about.get("how"):
        outcome = ENDS[about["how"]] if about["how"] != "gone" else "crash"
        return outcome, f"While its cells ran: {SENTENCES[outcome]}"
    fault = about["fault"] or {}
    where = f"Cell {fault['cell']}" if "cell" in fault else "A cell"
    where += f", line {fault['line']}" if "line" in fault else ""
    if fault.get("how") == "syntax":
        return "syntax error", f"{where}: {fault.get('text', 'no Python')}."
    if fault.get("how") == "raised":
        return _raised_before(question, fault, where)
    if fault:
        outcome = ENDS[fault["how"]]
        return outcome, f"{where}: {SENTENCES[outcome]}"
    kind = "value" if question.kind == "value" else "function"
    near = did_you_mean(question.name, about["names"])
    return f"missing {kind}", f"There is no {kind} `{question.name}`{near or '.'}{_without(about)}"


def _raised_before(question, fault, where):
    if fault.get("type") == "MemoryError":
        return "memory", f"{where}: {SENTENCES['memory']}"
    kind = "value" if question.kind == "value" else "function"
    if (fault.get("type"), fault.get("text")) == ("ModuleNotFoundError", "No module named 'lib'"):
        words = "the handbook's library is not there when answers are graded; importing is no solution"
        return f"missing {kind}", f"`{question.name}` is not defined. {where}: {words}."
    words = f"{where} raised {fault.get('type')}: {fault.get('text')}"
    return f"missing {kind}", f"`{question.name}` is not defined. {words}"


def _without(about):
    """A word about modules that were imported and are not there."""
    absent = sorted({name for name in about.get("absent", ()) if name.isidentifier()})
    if not absent:
        return ""
    are = "is" if len(absent) == 1 else "are"
    return f" {', '.join(absent[:3])} {are} not there when answers are graded: the standard library is."


def record(submission, source, grading, assignment, results):
    """The record of a submission that could be read.

    Args:
        submission: a `Submission`.
        source: its `Source`.
        grading: the mark of questions and secret.
        assignment: its name.
        results: of `QuestionResult`.
    """
    about = {"assignment": assignment, "student": submission.student, "grading": grading}
    return Record(**about, file=source.file, sha256=source.sha256, outcome="graded", questions=tuple(results))


def unreadable(submission, sentence, grading, assignment, wanted):
    """The record of a submission that could not be read: no points, and why.

    Args:
        submission: a `Submission`.
        sentence: why.
        grading: the mark of questions and secret.
        assignment: its name.
        wanted: of `Task`.
    """
    about = {"assignment": assignment, "student": submission.student, "grading": grading}
    results = tuple(_result(task, "unreadable", sentence) for task in wanted)
    return Record(**about, file="", sha256="", outcome="unreadable", sentence=sentence, questions=results)

"""Questions and their checks: one definition serves the page, the notebook, the released folder and the grader.

A `Question` says what is asked and holds no seed; `cases` draws what it is asked of; `judge` says what an answer is.
"""

import os
import secrets

from lib import check as _check
from lib.exercises.assignments import ASSIGNMENTS, Assignment, assignment
from lib.exercises.case import Case, Ruling, Verdict, Wrong
from lib.exercises.catalogue import QUESTIONS
from lib.exercises.draws import cases
from lib.exercises.html import Exercises, exercises
from lib.exercises.own_work import borrowed
from lib.exercises.questions import Question, Slip
from lib.exercises.trying import Report, put_back, refusal, replaced, try_answer
from lib.exercises.verdict import judge_case

__all__ = [
    "ASSIGNMENTS",
    "QUESTIONS",
    "Assignment",
    "Case",
    "Exercises",
    "Question",
    "Report",
    "Ruling",
    "Slip",
    "Verdict",
    "Wrong",
]
__all__ += ["Slip", "Verdict", "Wrong", "assignment", "cases", "check", "exercises", "judge", "question"]


def question(name):
    """A question by its name, whatever its case, spaces, hyphens and underscores.

    Args:
        name: such as "training_days".

    Raises:
        TypeError, ValueError: for what is no name of a question; the nearest is offered.

    >>> question("training-days").parameters
    ('n_params', 'n_tokens', 'n_gpus', 'peak_flops', 'mfu')
    """
    return _check.lookup(QUESTIONS, question=name)


def judge(question, case, returned):
    """The verdict on what was returned for a case of a question.

    Args:
        question: a `Question`.
        case: a `Case` of it.
        returned: anything; of exact built-in types alone the inside is looked at.

    Returns:
        A `Verdict`.

    Raises:
        TypeError: if question or case is none.
        ValueError: if the case belongs to another question.

    >>> asked = question("train_flops")
    >>> case = cases(asked)[0]
    >>> judge(asked, case, 6.0).sentence
    '6 FLOP is right.'
    """
    _check.instance(Question, question=question)
    _check.instance(Case, case=case)
    if case.question != question.name:
        raise ValueError(f"case = {case.question!r}: a case of {question.name!r}")
    return judge_case(case, returned)


def check(name, answer, *, seed=0, student=None, hidden=False):
    """In a notebook: the verdicts on an answer, case by case, as a table.

    Args:
        name: of the question.
        answer: the function that was written (its name, without brackets), or the value.
        seed: another one draws other cases.
        student: text, where every student has numbers of their own.
        hidden: True draws cases that nobody has seen, from the seed in the environment variable HANDBOOK_SEED or
            else from one made on the spot, and tells neither inputs nor values.

    Returns:
        A `Report`, which shows itself as the last value of a cell.

    Raises:
        TypeError, ValueError: for an unknown name. Whatever the answer does is a verdict.

    >>> from lib.compute import train_flops
    >>> check("train_flops", train_flops)
    Compute of a run: 0 of 1 right.
      not yet  your answer: lib.compute.train_flops is the library's: importing or calling it is no solution.
    """
    changed = put_back()  # before anything is drawn: an earlier cell may have replaced them
    asked = question(name)
    _check.boolean(hidden=hidden)
    if changed:
        return refusal(asked.title, asked.name, "builtins", replaced(changed))
    drawn = cases(asked, _unseen() if hidden else seed, student=student, visible=False if hidden else None)
    return borrowed(asked, answer) or try_answer(asked.title, drawn, answer)


def _unseen():
    return os.environ.get("HANDBOOK_SEED") or secrets.token_hex(16)

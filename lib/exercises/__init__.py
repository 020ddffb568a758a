"""Questions and their checks: one definition serves the page, the notebook, the released folder and the grader.

A `Question` says what is asked and holds no seed; `cases` draws what it is asked of; `judge` says what an answer is.
"""

from lib import check as _check
from lib.exercises.catalogue import QUESTIONS
from lib.exercises.draws import cases
from lib.exercises.question import Question, Slip
from lib.exercises.verdict import Case, Ruling, Verdict, Wrong, judge_case

__all__ = ["QUESTIONS", "Case", "Question", "Ruling", "Slip", "Verdict", "Wrong", "cases", "judge", "question"]


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

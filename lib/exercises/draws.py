"""Cases of a question, drawn by a keyed hash: the same key gives the same numbers, on every machine."""

import hmac
import json
import random

from lib import check
from lib.exercises.case import Case, Wrong
from lib.exercises.questions import Question
from lib.exercises.verdict import APART, judge_case, matches

TRIES = 20  # draws until every typical mistake is told apart at least once; mostly the first does


def cases(question, seed=0, *, student=None, secret=None, visible=None):
    """The cases on which an answer is judged: edges first, then what is drawn.

    A value is asked with numbers that the student sees, so its case does not depend on the seed: on student and secret
    alone.

    Args:
        question: a `Question`.
        seed: text or a whole number. The page and the notebook take 0; the grader one that nobody else knows.
        student: text that names a student, for numbers of their own; None for the same for everybody.
        secret: text, the key of the hash; None where nothing is to be kept secret.
        visible: whether verdicts may tell inputs and expected values; None for what the question says.

    Returns:
        A list of `Case`.

    Raises:
        TypeError: for something else.
        ValueError: for a question whose typical mistakes cannot be told apart.

    >>> from lib.exercises import question
    >>> [case.expected for case in cases(question("train_flops"))][:1]
    [6.0]
    """
    check.instance(Question, question=question)
    if type(seed) is not int:
        check.text(seed=seed)
    visible = question.visible if visible is None else visible
    check.boolean(visible=visible)
    for name, value in {"student": student, "secret": secret}.items():
        if value is not None:
            check.text(**{name: value})
    rng = _generator(question.name, None if question.kind == "value" else seed, student, secret)
    for _ in range(TRIES):
        drawn = [_case(question, inputs, visible) for inputs in question.inputs(rng)]
        if not _missed(question, drawn):
            return drawn
    raise ValueError(
        f"question = {question.name!r}: never told apart from others: {', '.join(_missed(question, drawn))}"
    )


def _generator(name, seed, student, secret):
    message = json.dumps([name, seed, student]).encode()
    return random.Random(int.from_bytes(hmac.digest((secret or "").encode(), message, "sha256"), "big"))


def _missed(question, drawn):
    """Names of the typical mistakes that no case of a row would recognise."""
    found = {wrong.slip for case in drawn for wrong in case.wrongs}
    return [slip.name for slip in question.slips if slip.name not in found]


def _case(question, inputs, visible):
    expected = None if question.expected is None else _plain(question.expected(**inputs))
    rulings = () if question.rulings is None else tuple(question.rulings(**inputs))
    case = Case(
        question=question.name,
        kind=question.kind,
        inputs=inputs,
        expected=expected,
        tolerance=question.tolerance,
        unit=question.unit,
        visible=visible,
        rulings=rulings,
    )
    values = {slip.name: _plain(slip.gives(**inputs)) for slip in question.slips}
    told = [slip for slip in question.slips if _tells(case, slip.name, values)]
    wrongs = (Wrong(slip=slip.name, value=values[slip.name], sentence=slip.sentence) for slip in told)
    return Case(**vars(case) | {"wrongs": tuple(wrongs)})


def _tells(case, name, values):
    """Whether a mistake shows in this case: not where it gives the right value, or what another mistake gives."""
    value = values[name]
    if value is None or judge_case(case, value).ok:
        return False
    rivals = [case.expected, *(other for key, other in values.items() if key != name)]
    wide = APART * case.tolerance
    return not any(matches(rival, value, wide) or matches(value, rival, wide) for rival in rivals if rival is not None)


def _plain(value):
    """A value with lists for tuples, as JSON has it."""
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value

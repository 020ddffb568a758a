"""Whether a returned value is right, and what a wrong one suggests: plain data in, a sentence out.

Imports the standard library and `case` alone, and knows no question: `course release` hands it to students as it is,
beside the cases. Only exact built-in types are looked into: an object that claims to equal everything gets no hearing.
"""

import math

from lib.exercises.case import Verdict

APART = 3.0  # tolerances that lie at least between two values which a verdict tells apart
_KEPT = {"nothing": "nothing was returned.", "not finite": "what was returned is no finite number."}
_KEPT |= {"wrong type": "what was returned is not of the kind asked for."}  # of faults, where nothing may be told
_KINDS = {bool: "a truth value", str: "text", list: "a list", tuple: "a tuple", dict: "a dict"}


def judge_case(case, returned):
    """The verdict on what was returned for a case.

    Args:
        case: a `Case`.
        returned: anything at all.

    >>> from lib.exercises.case import Case, Wrong
    >>> half = Wrong(slip="half", value=32, sentence="No.")
    >>> case = Case(question="n_gpus", kind="value", inputs={}, expected=64.0, wrongs=(half,))
    >>> judge_case(case, 64).ok, judge_case(case, 32).sentence, judge_case(case, None).outcome
    (True, '32 where 64 was expected. No.', 'not written')
    """
    if returned is None and case.kind == "value":
        return Verdict(ok=False, outcome="not written", sentence="No answer yet: it is still None.")
    likeness = case.expected if not case.rulings else _likeness(case.rulings)
    fault = form_fault(likeness, returned)
    if fault:
        return Verdict(ok=False, outcome=fault[0], sentence=fault[1] if _may_tell(case) else _unseen(_KEPT[fault[0]]))
    for wrong in case.wrongs:
        if matches(wrong.value, returned, case.tolerance):
            sentence = f"{_told(case, returned)}{wrong.sentence}"
            return Verdict(ok=False, outcome="slip", slip=wrong.slip, sentence=sentence)
    return _decided(case, returned) if case.rulings else _compared(case, returned)


def matches(expected, given, tolerance):
    """Whether a plain value is the expected one, numbers within a relative tolerance.

    >>> matches([1.0, "a"], (1, "A "), 1e-6), matches(1.0, True, 1e-6)
    (True, False)
    """
    if _is_number(expected):
        return _is_number(given) and _close(expected, given, tolerance)
    if type(expected) is str:
        return type(given) is str and given.strip().casefold() == expected.strip().casefold()
    if type(expected) is dict:
        return (
            type(given) is dict
            and all(type(key) is str for key in given)
            and set(given) == set(expected)
            and all(matches(expected[key], given.get(key), tolerance) for key in expected)
        )
    if type(expected) in (list, tuple):
        return (
            type(given) in (list, tuple)
            and len(given) == len(expected)
            and all(matches(e, g, tolerance) for e, g in zip(expected, given, strict=True))
        )
    return type(given) is type(expected) and given == expected


def form_fault(expected, given):
    """(outcome, sentence) where a value has not the form of the expected one, else None.

    >>> form_fault(1.0, "12")
    ('wrong type', "'12' is text: a number has no quotes.")
    """
    if given is None:
        return "nothing", "None: nothing was returned. Is the `return` missing?"
    if _is_number(expected):
        return _number_fault(given)
    if type(expected) in (list, tuple):
        return _row_fault(expected, given)
    if type(given) is not type(expected):
        return "wrong type", f"{_as_kind(given)}: {_KINDS[type(expected)]} was asked for."
    if type(expected) is dict:
        return _dict_fault(expected, given)
    return None


def shown(value, depth=2):
    """A value as a sentence shows it: short, and of foreign objects the type alone.

    >>> shown(1.2e20), shown([1, 2.5]), shown("a"), shown(print)
    ('1.2e+20', '[1, 2.5]', "'a'", 'an object of type builtin_function_or_method')
    """
    if type(value) is int:
        return str(value) if abs(value) < 10**15 else _large(value)
    if type(value) is float:
        return f"{value:.6g}"
    if type(value) in (bool, type(None)):
        return str(value)
    if type(value) is str:
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if type(value) in (list, tuple):
        parts = [shown(part, depth - 1) for part in value[:4]] if depth else ["..."]
        return f"[{', '.join(parts)}{', ...' if len(value) > 4 and depth else ''}]"
    if type(value) is dict:
        pairs = [f"{shown(key, 0)}: {shown(value[key], depth - 1)}" for key in list(value)[:4]] if depth else ["..."]
        return f"{{{', '.join(pairs)}{', ...' if len(value) > 4 and depth else ''}}}"
    return f"an object of type {type_name(value)}"


def _is_number(value):
    return type(value) in (int, float)


def _close(expected, given, tolerance):
    try:
        given = float(given)
    except OverflowError:
        return False
    return abs(given - expected) <= tolerance * (abs(expected) or 1.0)


def _number_fault(given):
    if type(given) is str:
        return "wrong type", f"{_as_kind(given)}: a number has no quotes."
    if not _is_number(given):
        cure = "; `float(...)` makes a plain number of NumPy's" if _of_type("__module__", given) == "numpy" else ""
        return "wrong type", f"{_as_kind(given)}: a plain number was asked for{cure}."
    try:
        finite = math.isfinite(given)
    except OverflowError:
        finite = False
    return (
        None if finite else ("not finite", f"{shown(given)} is no finite number. What was divided by, or multiplied?")
    )


def _row_fault(expected, given):
    if type(given) not in (list, tuple):
        return "wrong type", f"{_as_kind(given)}: {len(expected)} values were asked for, in a tuple."
    if len(given) != len(expected):
        return "wrong type", f"{len(given)} values were returned: {len(expected)} were asked for, in a tuple."
    for place, (one, other) in enumerate(zip(expected, given, strict=True), start=1):
        fault = form_fault(one, other)
        if fault:
            return fault[0], f"Value {place} of {len(expected)}: {fault[1]}"
    return None


def _dict_fault(expected, given):
    missing = [key for key in expected if key not in given]
    if missing:
        return "wrong type", f"The key {shown(missing[0])} is missing; asked for: {', '.join(expected)}."
    faults = ((key, form_fault(value, given[key])) for key, value in expected.items())
    return next(((fault[0], f"Under {shown(key)}: {fault[1]}") for key, fault in faults if fault), None)


def _may_tell(case):
    """Whether what was given may be told: on hidden inputs it may be one of them. A value is the student's own."""
    return case.visible or case.kind == "value"


def _unseen(words):
    return f"On inputs that are not shown: {words}"


def _told(case, returned):
    """What was given and expected, where both may be told."""
    if not case.visible:
        return f"{shown(returned)}{_unit(case)} is not right. " if _may_tell(case) else ""
    if case.rulings:
        return f"{shown(returned)}: "
    return f"{shown(returned)} where {shown(case.expected)}{_unit(case)} was expected. "


def _compared(case, returned):
    if matches(case.expected, returned, case.tolerance):
        right = f"{shown(returned)}{_unit(case)} is right."
        sentence = right if _may_tell(case) else _unseen("right.")
        return Verdict(ok=True, outcome="right", sentence=sentence)
    sentence = _told(case, returned) + _distance(case, returned)
    return Verdict(ok=False, outcome="wrong value", sentence=sentence if _may_tell(case) else _unseen(sentence))


def _distance(case, returned):
    """How a wrong value differs from the right one, in words."""
    if type(case.expected) in (list, tuple):
        pairs = enumerate(zip(case.expected, returned, strict=True), start=1)
        wrong = [str(place) for place, (one, other) in pairs if not matches(one, other, case.tolerance)]
        return f"Wrong of the {len(case.expected)} values: number {' and '.join(wrong)}."
    if not _is_number(case.expected):
        return "None of the usual slips gives that: go through the question once more."
    given, expected = float(returned), float(case.expected)
    if given == 0 or expected == 0 or (given > 0) != (expected > 0):
        return "Check the sign, and whether something became zero."
    ratio = given / expected
    if not case.visible:
        return f"The value is too {'large' if ratio > 1 else 'small'}."
    words = f"{ratio:.4g} times what it should be" if ratio > 1 else f"{1 / ratio:.4g} times smaller than it should be"
    return f"It is {words}: which factor is that?"


def _decided(case, returned):
    for ruling in sorted(case.rulings, key=lambda ruling: not ruling.ok):
        if _covers(ruling, returned, case.tolerance):
            margin = f" {ruling.margin}" if case.visible and ruling.margin else ""
            outcome = "right" if ruling.ok else "refused"
            return Verdict(ok=ruling.ok, outcome=outcome, sentence=f"{_told(case, returned)}{ruling.sentence}{margin}")
    known = [ruling.answer for ruling in case.rulings if ruling.answer is not None]
    words = f"one of {', '.join(known)}" if known and case.visible else "one of the choices given"
    return Verdict(ok=False, outcome="wrong value", sentence=f"{_told(case, returned)}the answer must be {words}.")


def _covers(ruling, returned, tolerance):
    if ruling.answer is not None:
        return matches(ruling.answer, returned, tolerance)
    slack = tolerance if ruling.ok else 0.0
    above = ruling.low is None or returned >= ruling.low - slack * abs(ruling.low)
    return above and (ruling.high is None or returned <= ruling.high + slack * abs(ruling.high))


def _likeness(rulings):
    return "" if rulings[0].answer is not None else 1.0


def _as_kind(value):
    """A value and what it is, as the head of a sentence."""
    kind = "a number" if _is_number(value) else _KINDS.get(type(value))
    return f"{shown(value)} is {kind}" if kind else f"{shown(value)} was returned"


def type_name(value):
    """The name of a value's type, at most 40 characters of it.

    >>> type_name(1.0)
    'float'
    """
    return _of_type("__name__", value)[:40]


def _of_type(name, value):
    """A class's name or module from `type` itself: the class may have a metaclass that answers something else."""
    found = type.__dict__[name].__get__(type(value))
    return found if type(found) is str else "unknown"


def _unit(case):
    return f" {case.unit}" if case.unit else ""


def _large(value):
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return f"an integer of {value.bit_length()} bits"

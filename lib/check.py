"""Refusals at the door: one wording for all, `name = value: what is allowed; the likely slip`.

`TypeError` for the wrong kind, `ValueError` for the rest. Each rule also answers for arrays: `wrong` gives the mask
of entries that a scalar would be refused for, so that a search can drop them before it calls a formula.
"""

import dataclasses
import math
import sys
from collections.abc import Callable
from functools import cache
from numbers import Integral, Real

# Passed on, so that a module imports one door only.
from lib.names import choice as choice
from lib.names import did_you_mean as did_you_mean
from lib.names import figure as figure
from lib.names import instance as instance
from lib.names import listed as listed
from lib.names import lookup as lookup
from lib.names import plain_name as plain_name
from lib.names import several as several
from lib.names import short as short
from lib.names import text as text

EXACT = 2**53  # beyond it a float is no longer a count


def is_array(value):
    """True for an array (of NumPy, say), False for a plain number.

    >>> is_array(2.0)
    False
    """
    return hasattr(value, "__array_namespace__") and getattr(value, "ndim", 0) > 0


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a number must be: the words for it, and the test for a float or a float array."""

    allowed: str
    holds: Callable
    slip: Callable = lambda value: ""


def _percentage(value):
    return f"{value:g}% is written {value / 100:g}" if 1 < value <= 100 else ""


def _is_whole(value):
    # Not value % 1 for arrays: NumPy warns of the infinities that the rule is there to find.
    return value.__array_namespace__().floor(value) == value if is_array(value) else value % 1 == 0


POSITIVE = Rule("a finite number above 0", lambda v: (v > 0) & (v < math.inf))
NON_NEGATIVE = Rule("a finite number, 0 or more", lambda v: (v >= 0) & (v < math.inf))
FINITE = Rule("a finite number", lambda v: (v > -math.inf) & (v < math.inf))
FRACTION = Rule("a fraction above 0, at most 1", lambda v: (v > 0) & (v <= 1), _percentage)
SHARE = Rule("a fraction from 0 to 1", lambda v: (v >= 0) & (v <= 1), _percentage)
NUMBER = Rule("a number, not NaN", lambda v: v == v)
EXPONENT = Rule("a finite number, at most 709.78", lambda v: (v > -math.inf) & (v <= math.log(sys.float_info.max)))
WHOLE = Rule("a whole number, 1 or more", lambda v: (v >= 1) & (v < math.inf) & _is_whole(v))
COUNT = Rule("a whole number, 0 or more", lambda v: (v >= 0) & (v < math.inf) & _is_whole(v))


def positive(**values):
    """Refuse what is not a finite number above 0.

    Raises:
        TypeError: for a value that is no number (booleans, text, None, integer arrays).
        ValueError: for a number that breaks the rule.

    >>> positive(n_params=1e9)
    >>> positive(n_params=-1)
    Traceback (most recent call last):
    ...
    ValueError: n_params = -1: a finite number above 0
    """
    for value in values.values():
        if type(value) is not float or not 0.0 < value < math.inf:  # hardly ever: a move asks this two hundred times
            return _all(POSITIVE, values)


def non_negative(**values):
    """Refuse what is not a finite number of at least 0.

    >>> non_negative(price_usd=0)
    """
    _all(NON_NEGATIVE, values)


def finite(**values):
    """Refuse NaN, the infinities and what is no number.

    >>> finite(margin=-0.5)
    """
    _all(FINITE, values)


def number(**values):
    """Refuse NaN and what is no number; the infinities pass.

    >>> number(ceiling=math.inf)
    """
    _all(NUMBER, values)


def exponent(**values):
    """Refuse what e cannot be raised to.

    >>> exponent(log_loss=0.7)
    """
    _all(EXPONENT, values)


def fraction(**values):
    """Refuse what is not above 0 and at most 1; a percentage is called one.

    >>> fraction(mfu=45)
    Traceback (most recent call last):
    ...
    ValueError: mfu = 45: a fraction above 0, at most 1; 45% is written 0.45
    """
    _all(FRACTION, values)


def share(**values):
    """Refuse what is not from 0 to 1, both ends allowed.

    >>> share(weight=0.0)
    """
    _all(SHARE, values)


def whole(**values):
    """Refuse what is not a whole number of at least 1 (8 and 8.0 are).

    >>> whole(n_gpus=7.5)
    Traceback (most recent call last):
    ...
    ValueError: n_gpus = 7.5: a whole number, 1 or more
    """
    _all(WHOLE, values)


def count(**values):
    """Refuse what is not a whole number of at least 0.

    >>> count(n_kept=0)
    """
    _all(COUNT, values)


def scalar(**values):
    """Refuse what is not one number: dataclasses hold scalars only, however many a formula takes.

    >>> scalar(mfu=0.4)
    """
    for name, value in values.items():
        if type(value) is float:
            continue
        if is_array(value):
            raise TypeError(f"{name} (array of {value.dtype}): one number")
        _kind("one number", name, value)


def fields(record, **kinds):
    """Refuse fields of a dataclass that are not of their kind, and make floats of NumPy's plain ones.

    None passes where it is the field's default.

    Args:
        record: an instance, in its `__post_init__`.
        kinds: a function of this module -> the fields, in one text: positive="days mfu". Numbers must be scalars.

    >>> from lib.hardware import Cluster
    >>> fields(Cluster(accelerator="h100", n_gpus=8), integer="n_gpus")
    """
    for kind, names in kinds.items():
        usual, holds = _USUAL[kind]
        for name in names.split():
            value = getattr(record, name)
            if type(value) is usual and holds(value):  # nearly all values
                continue
            if value is None and name in _may_be_none(type(record)):
                continue
            if kind in _RULED:
                scalar(**{name: value})
            _KINDS[kind](**{name: value})
            # NumPy's is a float too, and would print its type wherever the record goes.
            if isinstance(value, float):
                object.__setattr__(record, name, float(value))


@cache
def _may_be_none(record_type):
    return {field.name for field in dataclasses.fields(record_type) if field.default is None}


def integer(**values):
    """Refuse what is not of Python's integer type, from 1 to 2^53: the sizes that a shape is built from.

    >>> integer(n_layers=32.0)
    Traceback (most recent call last):
    ...
    TypeError: n_layers = 32.0 (float): a whole number, 1 or more
    """
    _integers(WHOLE, 1, values)


def natural(**values):
    """Refuse what is not of an integer type, from 0 to 2^53: sizes of parts that may be absent.

    >>> natural(learned_positions=0)
    """
    _integers(COUNT, 0, values)


def at_most(limit, **values):
    """Refuse a number above a limit, for work that grows with it.

    >>> at_most(10_000, n_starts=10**9)
    Traceback (most recent call last):
    ...
    ValueError: n_starts = 1000000000: at most 10,000
    """
    for name, value in values.items():
        if value > limit:
            raise ValueError(f"{name} = {figure(value)}: at most {limit:,}")


def boolean(**values):
    """Refuse what is not True or False.

    >>> boolean(tied=1)
    Traceback (most recent call last):
    ...
    TypeError: tied = 1 (int): True or False
    """
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): True or False")


def condition(**values):
    """Refuse what is no truth value and no array of them: what a comparison gives.

    >>> condition(fits=3 > 2)
    """
    for name, value in values.items():
        if not isinstance(value, bool) and getattr(getattr(value, "dtype", None), "kind", "") != "b":
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): True, False or an array of them")


def nearest_divisors(number, wanted):
    """The divisors of a whole number next below and above a wanted one, in words, for the end of a message.

    >>> nearest_divisors(32, 5), nearest_divisors(32, 40)
    ('4 or 8', '32')
    """
    integer(number=number, wanted=wanted)
    steps = 10_000  # either way: a mistyped size must not start a search without end
    below = (d for d in range(min(wanted, number), max(0, wanted - steps), -1) if number % d == 0)
    above = (d for d in range(wanted + 1, min(number, wanted + steps) + 1) if number % d == 0)
    found = [next(below, 1), next(above, None)]
    return " or ".join(str(d) for d in found if d)


def wrong(rule, values):
    """The mask of entries that break a rule, for an array; True or False for a number.

    Args:
        rule: POSITIVE, FRACTION, ... of this module.
        values: a number, or an array of 64-bit floats.

    Raises:
        TypeError: for what is neither.

    >>> wrong(POSITIVE, -1.0)
    True
    """
    if is_array(values):
        _floats(rule, "values", values)
        return ~rule.holds(values)
    try:
        _scalar(rule, "values", values)
    except ValueError:
        return True
    return False


def result(**values):
    """Pass on a computed number as a plain float (an array as it is); refuse one too large for a float.

    >>> result(compute_flops=6 * 2)
    12.0
    >>> result(compute_flops=1e200 * 1e200)
    Traceback (most recent call last):
    ...
    ValueError: compute_flops = inf: a finite number; the inputs are too large or too small
    """
    return _result(FINITE, values)


def positive_result(**values):
    """The same for what is computed of positive numbers: 0 only where it is too small for a float, and refused too.

    >>> positive_result(days=1e-200 * 1e-200)
    Traceback (most recent call last):
    ...
    ValueError: days = 0: a finite number above 0; the inputs are too large or too small
    """
    (value,) = values.values()
    return value if type(value) is float and 0.0 < value < math.inf else _result(POSITIVE, values)


_RULED = {f.__name__: f for f in (positive, non_negative, finite, fraction, share, whole, count)}
_KINDS = _RULED | {f.__name__: f for f in (integer, natural, boolean, text)}
_RULES = (POSITIVE, NON_NEGATIVE, FINITE, FRACTION, SHARE, WHOLE, COUNT)  # in the order of _RULED
# The type that nearly all values of a kind have, and whether one of it passes.
_USUAL = {kind: (float, rule.holds) for kind, rule in zip(_RULED, _RULES, strict=True)} | {
    "integer": (int, lambda v: 1 <= v <= EXACT),
    "natural": (int, lambda v: 0 <= v <= EXACT),
    "boolean": (bool, lambda v: True),
    "text": (str, lambda v: True),
}


def _result(rule, values):
    ((name, value),) = values.items()
    if type(value) is float and rule.holds(value):
        return value
    slip = "the inputs are too large or too small"
    if is_array(value):
        if not bool(rule.holds(value).all()):
            raise ValueError(f"{name}: {rule.allowed}, in every entry; {slip}")
        return value
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not rule.holds(number):
        raise ValueError(f"{name} = {figure(number)}: {rule.allowed}; {slip}")
    return number


def _all(rule, values):
    for name, value in values.items():
        if type(value) is float and rule.holds(value):
            continue  # nearly all values, in a third of the time: a what-if checks a thousand of them a move
        if is_array(value):
            _array(rule, name, value)
        else:
            _scalar(rule, name, value)


def _integers(rule, least, values):
    for name, value in values.items():
        if type(value) is int and least <= value <= EXACT:
            continue  # nearly all values, in a tenth of the time
        if not isinstance(value, int):
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): {rule.allowed}{_kind_slip(value)}")
        _scalar(rule, name, value)
        if value > EXACT:
            raise ValueError(
                f"{name} = {figure(value)}: {rule.allowed}, at most {EXACT:,}, which a float holds exactly"
            )


def _scalar(rule, name, value):
    _kind(rule.allowed, name, value)
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} = {figure(value)}: {rule.allowed}") from None
    if not rule.holds(number):
        slip = rule.slip(number)
        raise ValueError(f"{name} = {figure(value)}: {rule.allowed}" + (f"; {slip}" if slip else ""))


def _kind(allowed, name, value):
    # NumPy's float64 is a float; its integers and short floats are not taken, for their products overflow.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): {allowed}{_kind_slip(value)}")


def _kind_slip(value):
    if isinstance(value, int | float) or not isinstance(value, Real):
        return ""
    kind = "int" if isinstance(value, Integral) else "float"
    return f"; write {kind}({value})" + (", which does not overflow in a product" if hasattr(value, "dtype") else "")


def _floats(rule, name, values):
    # An integer array overflows in silence at 6 * N * D, a short float soon; both are refused rather than trusted.
    if getattr(values.dtype, "kind", "") != "f" or values.dtype.itemsize < 8:
        raise TypeError(f"{name} (array of {values.dtype}): an array of 64-bit floats, each {rule.allowed}")
    # A matrix multiplies in another way, a masked array hides entries from every rule.
    if any(base.__name__ == "ndarray" for base in type(values).__mro__[1:]):
        raise TypeError(f"{name} ({type(values).__name__}): a plain array, as numpy.asarray makes it")


def _array(rule, name, values):
    _floats(rule, name, values)
    if values.size == 0:
        raise ValueError(f"{name} (empty array): at least one entry, each {rule.allowed}")
    mask = ~rule.holds(values)
    if bool(mask.any()):
        first = tuple(int(i[0]) for i in mask.nonzero())
        where = first[0] if len(first) == 1 else first
        raise ValueError(f"{name}[{where}] = {figure(values[first])}: {rule.allowed} ({int(mask.sum())} wrong in all)")

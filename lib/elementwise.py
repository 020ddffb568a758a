"""A few functions that take floats and arrays alike, so that one formula serves a plan and a search.

Arrays bring their own library (`__array_namespace__`, the array API standard): nothing is imported here.
"""

import math

from lib import check
from lib.check import is_array

__all__ = ["ceil", "every", "exp", "floor", "is_array", "log", "maximum", "minimum", "power", "where"]


def maximum(a, b):
    """The larger of two, element by element; an infinity is a bound like any other.

    >>> maximum(2.0, 3.0)
    3.0
    """
    check.number(a=a, b=b)
    arrays = _namespace(a, b)
    return arrays.maximum(a, b) if arrays else float(max(a, b))


def minimum(a, b):
    """The smaller of two, element by element.

    >>> minimum(2.0, 3.0)
    2.0
    """
    check.number(a=a, b=b)
    arrays = _namespace(a, b)
    return arrays.minimum(a, b) if arrays else float(min(a, b))


def where(condition, if_true, if_false):
    """One of two values, element by element.

    Both are computed before one is taken, so neither may be NaN where it is not wanted.

    >>> where(3 > 2, 1.0, 0.0)
    1.0
    """
    check.condition(condition=condition)
    check.number(if_true=if_true, if_false=if_false)
    arrays = _namespace(condition, if_true, if_false)
    if arrays:
        return arrays.where(condition, if_true, if_false)
    return float(if_true if condition else if_false)


def ceil(value):
    """The next whole number up, as a float.

    >>> ceil(2.1)
    3.0
    """
    check.finite(value=value)
    return value.__array_namespace__().ceil(value) if is_array(value) else float(math.ceil(value))


def floor(value):
    """The next whole number down, as a float.

    >>> floor(2.9)
    2.0
    """
    check.finite(value=value)
    return value.__array_namespace__().floor(value) if is_array(value) else float(math.floor(value))


def log(value):
    """Natural logarithm of what is above 0.

    >>> log(1.0)
    0.0
    """
    check.positive(value=value)
    return value.__array_namespace__().log(value) if is_array(value) else math.log(value)


def exp(value):
    """Exponential, of at most 709.78: e to more is too large for a float.

    >>> exp(0.0)
    1.0
    """
    check.exponent(value=value)
    return value.__array_namespace__().exp(value) if is_array(value) else math.exp(value)


def power(base, exponent):
    """A power of 0 or more; infinite where a float cannot hold it, as an array's is: `check.result` refuses both.

    Python's own `**` raises OverflowError there, and ZeroDivisionError for 0 to a negative power.

    >>> power(4.0, 0.5), power(1e-200, -2.0)
    (2.0, inf)
    """
    if not (type(base) is type(exponent) is float and base >= 0.0 and math.isfinite(exponent)):  # hardly ever
        check.number(base=base)
        check.finite(exponent=exponent)
        if not every(base >= 0):
            raise ValueError(f"base = {check.short(base)}: 0 or more; powers of less are complex")
    try:
        return base**exponent if _namespace(base, exponent) else float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def every(condition):
    """True if a condition holds for a number, or for every entry of an array.

    >>> every(3 > 2)
    True
    """
    check.condition(condition=condition)
    return bool(condition.all()) if is_array(condition) else bool(condition)


def _namespace(*values):
    return next((v.__array_namespace__() for v in values if is_array(v)), None)

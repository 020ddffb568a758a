"""A few functions that take floats and arrays alike, so that one formula serves a plan and a search.

Arrays bring their own library (`__array_namespace__`, the array API standard): nothing is imported here.
"""

import math


def is_array(value):
    """True for an array (of NumPy, say), False for a plain number.

    >>> is_array(2.0)
    False
    """
    return hasattr(value, "__array_namespace__") and getattr(value, "ndim", 0) > 0


def _namespace(*values):
    return next((v.__array_namespace__() for v in values if is_array(v)), None)


def maximum(a, b):
    """The larger of two, element by element.

    >>> maximum(2.0, 3.0)
    3.0
    """
    arrays = _namespace(a, b)
    return arrays.maximum(a, b) if arrays else max(a, b)


def minimum(a, b):
    """The smaller of two, element by element.

    >>> minimum(2.0, 3.0)
    2.0
    """
    arrays = _namespace(a, b)
    return arrays.minimum(a, b) if arrays else min(a, b)


def where(condition, if_true, if_false):
    """One of two values, element by element.

    >>> where(3 > 2, 1.0, 0.0)
    1.0
    """
    arrays = _namespace(condition, if_true, if_false)
    if arrays:
        return arrays.where(condition, if_true, if_false)
    return if_true if condition else if_false


def ceil(value):
    """The next whole number up, as a float.

    >>> ceil(2.1)
    3.0
    """
    return value.__array_namespace__().ceil(value) if is_array(value) else float(math.ceil(value))


def floor(value):
    """The next whole number down, as a float.

    >>> floor(2.9)
    2.0
    """
    return value.__array_namespace__().floor(value) if is_array(value) else float(math.floor(value))


def log(value):
    """Natural logarithm.

    >>> log(1.0)
    0.0
    """
    return value.__array_namespace__().log(value) if is_array(value) else math.log(value)


def exp(value):
    """Exponential.

    >>> exp(0.0)
    1.0
    """
    return value.__array_namespace__().exp(value) if is_array(value) else math.exp(value)


def every(condition):
    """True if a condition holds for a number, or for every entry of an array.

    >>> every(3 > 2)
    True
    """
    return bool(condition.all()) if is_array(condition) else bool(condition)

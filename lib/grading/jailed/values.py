"""Values as JSON, both ways: exact built-in types alone, for what looks like a number may be anything."""

LONGEST = 100_000  # bytes of one answer
DEEPEST = 20  # lists within lists
DIGITS = 400  # of a whole number: more than the largest float has
MOST_ITEMS = 5_000  # in one list, text or dictionary


class UnfitError(Exception):
    """A value that is not told: its type."""


def frozen(value, depth=0):
    """The value in JSON's terms: tuples, dictionaries and what is no finite number are marked as what they are.

    Args:
        value: of None, bool, int, float, str, list, tuple and dict, exactly; of at most `MOST_ITEMS` items and
            `DIGITS` digits.
        depth: in how many lists it stands.

    Raises:
        UnfitError: for anything else; it names the type.

    >>> frozen((1, 2.5, float("inf")))
    {'tuple': [1, 2.5, {'float': 'inf'}]}
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int and value.bit_length() < DIGITS * 3.3:
        return value
    if kind is float:
        return value if value - value == 0 else {"float": repr(value)}
    if kind in (str, list, tuple, dict) and depth < DEEPEST and len(value) <= MOST_ITEMS:
        return value if kind is str else _container(kind, value, depth + 1)
    raise UnfitError(type_name(value))


def _container(kind, value, depth):
    if kind is dict:
        return {"dict": [[frozen(key, depth), frozen(item, depth)] for key, item in value.items()]}
    items = [frozen(item, depth) for item in value]
    return items if kind is list else {"tuple": items}


def thawed(value, depth=0):
    """The value that `frozen` made this of, and nothing that it cannot have made.

    Args:
        value: as JSON was read.
        depth: in how many lists it stands.

    Raises:
        UnfitError: for what `frozen` never makes, and for more than it lets pass.

    >>> thawed({"tuple": [1, 2.5, {"float": "inf"}]})
    (1, 2.5, inf)
    """
    if depth > DEEPEST or (type(value) in (str, list) and len(value) > MOST_ITEMS):
        raise UnfitError("too much")
    if type(value) is int and value.bit_length() >= DIGITS * 3.3:
        raise UnfitError("int")
    if type(value) is list:
        return [thawed(item, depth + 1) for item in value]
    if type(value) is dict:
        return _marked(value, depth + 1)
    return value


def _marked(value, depth):
    (mark, inner), *others = value.items() or [(None, None)]
    if others:
        raise UnfitError("dict")
    if mark == "float" and inner in ("nan", "inf", "-inf"):
        return float(inner)
    if mark == "tuple" and type(inner) is list:
        return tuple(thawed(inner, depth))
    if mark == "dict" and type(inner) is list:
        return _dictionary(inner, depth)
    raise UnfitError("dict")


def _dictionary(pairs, depth):
    try:
        return {thawed(key, depth): thawed(item, depth) for key, item in pairs}
    except (TypeError, ValueError):  # a key that cannot be one, a pair that is none
        raise UnfitError("dict") from None


def type_name(value):
    """The name of a value's type, without `builtins.`; at most 80 characters.

    Args:
        value: anything.

    >>> type_name(1.5)
    'float'
    """
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")[:80]

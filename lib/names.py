"""Words at the door: text, choices and names, matched without regard to spelling, with near ones offered.

`check` passes these on, so that a module imports one door only.
"""

import re
from collections.abc import Collection, Mapping

_LEFT_OUT = str.maketrans("", "", " ,-_\u2011\u2013")  # in the comparison of names
_EXPONENT = re.compile(r"e\+?(-?)0*")  # as Python writes it: 1e+07
SHOWN = 12  # names of a long table that a refusal lists where it can offer a near one


def text(**values):
    """Refuse what is no text.

    >>> text(name=8)
    Traceback (most recent call last):
    ...
    TypeError: name = 8 (int): text
    """
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): text")


def instance(kind, **values):
    """Refuse what is not of a class.

    >>> instance(dict, table="positive")
    Traceback (most recent call last):
    ...
    TypeError: table = 'positive' (str): a dict
    """
    for name, value in values.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): {_article(kind.__name__)}")


def several(**values):
    """Refuse what is no row of at least one entry: a text is one name, not several.

    >>> several(names=["llama-3-8b"])
    >>> several(names="llama-3-8b")
    Traceback (most recent call last):
    ...
    TypeError: names = 'llama-3-8b' (str): a list or tuple of at least one entry
    """
    for name, value in values.items():
        one = isinstance(value, str | bytes | Mapping) or hasattr(value, "dtype")
        if one or not isinstance(value, Collection) or not value:
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): a list or tuple of at least one entry")


def _article(noun):
    return f"{'an' if noun[0] in 'AEIO' else 'a'} {noun}"


def choice(allowed, **values):
    """Refuse what is not one of the allowed words; the nearest one is offered.

    >>> choice(("none", "causal", "full"), attention="casual")
    Traceback (most recent call last):
    ...
    ValueError: attention = 'casual': one of none, causal, full; did you mean 'causal'?
    """
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} = {short(value)} ({type(value).__name__}): one of {listed(allowed)}")
        if value not in allowed:
            raise ValueError(f"{name} = {short(value)}: one of {listed(allowed)}{did_you_mean(value, allowed)}")


def lookup(table, **name):
    """The entry of a table that a name means, whatever its case, spaces, hyphens and underscores.

    Args:
        table: a mapping from names to entries; several names may mean one entry.
        name: one keyword, the argument's name and the text that was given.

    Raises:
        TypeError: if the name is no text.
        ValueError: if no entry has it; the nearest ones are offered.

    >>> lookup({"A100 80GB": 312e12}, accelerator="a100-80gb")
    312000000000000.0
    """
    ((argument, text),) = name.items()
    if not isinstance(text, str):
        raise TypeError(f"{argument} = {short(text)} ({type(text).__name__}): a name, such as {next(iter(table))!r}")
    if text in table:
        return table[text]
    known = {plain_name(key): entry for key, entry in table.items()}
    try:
        return known[plain_name(text)]
    except KeyError:
        near = did_you_mean(text, table)
        shown = list(table)[: SHOWN if near else None]
        rest = f" and {len(table) - len(shown)} more" if len(table) > len(shown) else ""
        raise ValueError(f"{argument} = {short(text)}: one of {listed(shown)}{rest}{near}") from None


def plain_name(text):
    """A name without regard to case, spaces, hyphens, underscores and commas.

    >>> plain_name("H100_SXM 80-GB"), plain_name("Hoffmann 2022, rounded")
    ('h100sxm80gb', 'hoffmann2022rounded')
    """
    return text.lower().translate(_LEFT_OUT)


def did_you_mean(word, allowed):
    """The end of a message that offers the nearest allowed word, or nothing.

    >>> did_you_mean("h10", ("H100", "A100"))
    "; did you mean 'H100'?"
    """
    from difflib import get_close_matches  # costs a tenth of the start-up, and only a refusal needs it

    known = {plain_name(str(a)): a for a in reversed(tuple(allowed))}
    near = get_close_matches(plain_name(str(word)), list(known), n=1)
    return f"; did you mean {known[near[0]]!r}?" if near else ""


def listed(names):
    """Names in a row; set apart by semicolons where one of them holds a comma.

    >>> listed(("causal", "full")), listed(("Hoffmann 2022", "Hoffmann 2022, rounded"))
    ('causal, full', 'Hoffmann 2022; Hoffmann 2022, rounded')
    """
    names = [str(name) for name in names]
    return ("; " if any("," in name for name in names) else ", ").join(names)


def short(value):
    """A value as a message shows it: what Python prints, on one line, cut at 60 characters.

    >>> short("h100")
    "'h100'"
    """
    try:
        text = " ".join(repr(value).splitlines())  # an array's takes several
    except ValueError:  # Python prints no integer of more than some thousand digits
        text = "(an integer too long to print)"
    return text if len(text) <= 60 else text[:57] + "..."


def figure(value):
    """A number as a message or a field shows it: with every digit that it has, and none that it has not.

    >>> figure(45.0), figure(0.45), figure(1e15), figure(1e-05), figure(10**400)
    ('45', '0.45', '1e15', '1e-5', 'an integer of 1329 bits')
    """
    try:
        number = float(value)
    except OverflowError:
        return f"an integer of {value.bit_length()} bits"
    texts = (repr(number).removesuffix(".0"), f"{number:.12g}")
    text = min((text for text in texts if float(text) == number), key=len, default=repr(number))
    return _EXPONENT.sub(r"e\1", text)

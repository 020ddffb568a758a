"""Words at the door: text, choices and names, matched without regard to spelling, with near ones offered.

`check` passes these on, so that a module imports one door only.
"""

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
            raise TypeError(f"{name} = {value!r} ({type(value).__name__}): one of {', '.join(map(str, allowed))}")
        if value not in allowed:
            raise ValueError(f"{name} = {value!r}: one of {', '.join(map(str, allowed))}{did_you_mean(value, allowed)}")


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
    known = {plain_name(key): entry for key, entry in table.items()}
    try:
        return known[plain_name(text)]
    except KeyError:
        near = did_you_mean(text, table)
        shown = list(table)[: SHOWN if near else None]
        rest = f" and {len(table) - len(shown)} more" if len(table) > len(shown) else ""
        raise ValueError(f"{argument} = {short(text)}: one of {', '.join(shown)}{rest}{near}") from None


def plain_name(text):
    """A name without regard to case, spaces, hyphens, underscores and commas.

    >>> plain_name("H100_SXM 80-GB"), plain_name("Hoffmann 2022, rounded")
    ('h100sxm80gb', 'hoffmann2022rounded')
    """
    return "".join(c for c in text.lower() if c not in " ,-_\u2011\u2013")


def did_you_mean(word, allowed):
    """The end of a message that offers the nearest allowed word, or nothing.

    >>> did_you_mean("h10", ("H100", "A100"))
    "; did you mean 'H100'?"
    """
    from difflib import get_close_matches  # costs a tenth of the start-up, and only a refusal needs it

    known = {plain_name(str(a)): a for a in reversed(tuple(allowed))}
    near = get_close_matches(plain_name(str(word)), list(known), n=1)
    return f"; did you mean {known[near[0]]!r}?" if near else ""


def short(value):
    """A value as a message shows it: what Python prints, cut at 60 characters.

    >>> short("h100")
    "'h100'"
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

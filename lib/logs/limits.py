"""Limits by which a log is judged, from `lib/data/log_limits.toml`, each with its source."""

from types import MappingProxyType

from lib import check, facts

_FIGURES = {"steps": "steps", "ratio": "", "deviations": "standard deviations", "nats": "nats per token"}
_FIGURES |= {"entries": "lines", "share": "", "batches": "batches", "level": ""}
LIMITS = MappingProxyType(facts.load("log_limits", _FIGURES))


def log_limit(name, field):
    """A limit of `lib/data/log_limits.toml`.

    Args:
        name: of the row.
        field: "steps", "ratio", ...: what it is in.

    Raises:
        ValueError: if there is none.

    >>> log_limit("stall", "ratio")
    2
    """
    row = check.lookup(LIMITS, name=name)
    check.choice(tuple(row.facts), field=field)
    return row[field]

"""Limits and tolerances that a run is held against, from `lib/data/thresholds.toml`, each with its source."""

from types import MappingProxyType

from lib import check, facts

_FIGURES = {"share": "", "gpu_hours": "GPU-hours", "hours": "hours", "nats": "nats per token", "steps": "steps"}
_FIGURES |= {"runs": "runs", "decades": "decades of compute", "gpus": "GPUs"}
THRESHOLDS = MappingProxyType(facts.load("thresholds", _FIGURES, {"accelerators": str}))


def limit(name, field):
    """A limit or tolerance of `lib/data/thresholds.toml`.

    Args:
        name: of the row.
        field: "share", "nats", ...: what it is in.

    Returns:
        A `lib.facts.Fact`: value, unit, source.

    Raises:
        ValueError: if there is none.

    >>> limit("memory", "share").value
    0.1
    """
    row = check.lookup(THRESHOLDS, name=name)
    check.choice(tuple(row.facts), field=field)
    return row.facts[field]

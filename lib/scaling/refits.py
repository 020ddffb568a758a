"""Fits by others' data that differ in a few points only, so that a chapter can say how far those move the law."""

from types import MappingProxyType

from lib import check, facts
from lib.scaling import ScalingLaw
from lib.scaling.evidence import Origin

_CONSTANTS = {"E": "nats/token", "A": "nats/token", "B": "nats/token", "alpha": "", "beta": ""}
_ENTRIES = facts.load("refits", _CONSTANTS | {"n_runs": "runs", "objective_sum": ""}, labels=("remark",))


def _law(entry):
    origin = Origin(
        source=entry.facts["E"].source,
        n_counts="all parameters, as read from a figure",
        tokenizer="SentencePiece, 32,000 entries (MassiveText)",
        corpus="MassiveText, less than one pass",
        n_runs=float(entry["n_runs"]),
        remark=entry["remark"],
    )
    constants = {name: float(entry[name]) for name in _CONSTANTS}
    return ScalingLaw(name=f"Chinchilla's {entry.name}", origin=origin, **constants)


REFITS = MappingProxyType({name: _law(entry) for name, entry in _ENTRIES.items()})


def refit(name):
    """The law fitted to "240 points" or "245 points" of Chinchilla's figure.

    Raises:
        ValueError: for another name; the nearest is offered.

    Source: lib/data/refits.toml.

    >>> round(refit("240 points").beta, 3), round(refit("245 points").beta, 3)
    (0.367, 0.453)
    """
    return check.lookup(dict(REFITS), refit=name)

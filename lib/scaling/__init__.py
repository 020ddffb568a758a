"""Published scaling laws of the parametric form, as data: `law("Besiroglu 2024")`.

    L(N, D) = E + A / N^alpha + B / D^beta          loss in nats per token

Laws that give the best size or the best tokens alone, without a loss, are those of `lib.scaling.budget_laws`.
"""

from lib import check, facts
from lib.scaling.evidence import FIGURES, LABELS, WORDS, read_origin
from lib.scaling.parametric import ScalingLaw

__all__ = ["FACTS", "LAWS", "ScalingLaw", "law"]

_CONSTANTS = {"E": "nats/token", "A": "nats/token", "B": "nats/token", "alpha": "", "beta": ""}
_REPEATED = {"R_D_star": "", "R_N_star": ""}


def _law(entry):
    origin = read_origin(entry, entry.facts["E"].source)
    return ScalingLaw(name=entry.name, origin=origin, **{name: float(entry[name]) for name in _CONSTANTS})


FACTS = facts.load("laws", _CONSTANTS | _REPEATED | FIGURES, WORDS, LABELS)
LAWS = {name: _law(entry) for name, entry in FACTS.items()}
NAMES = LAWS | {alias: LAWS[name] for name, entry in FACTS.items() for alias in entry.get("aliases", ())}


def law(name):
    """A published law by its name, whatever its case, spaces, hyphens and underscores.

    Args:
        name: such as "Besiroglu 2024", "hoffmann", "chinchilla".

    Raises:
        ValueError: if no law has it; the nearest name is offered.

    >>> law("besiroglu").beta
    0.3658
    """
    return check.lookup(NAMES, law=name)

"""E, what no model gets below on some text, taken from a named law with its error: small runs cannot tell it."""

from dataclasses import dataclass

import numpy as np

from lib import check
from lib.scaling import FACTS, LAWS, law
from lib.scaling.certainty import SPREADS


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What no model gets below on some text: E, with its standard error.

    Args:
        value: nats per token, > 0.
        error: standard error, nats per token, 0 or more; 0 for text whose entropy is known.
        source: whose word it is, and of which text.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> Floor(value=1.25, error=0.0, source="entropy of the generated text").value
    1.25
    """

    value: float
    error: float
    source: str

    def __post_init__(self):
        check.fields(self, positive="value", non_negative="error", text="source")


def law_floor(name):
    """E of a named law, with its standard error, or else with the spread over laws of the same text.

    Args:
        name: of the law, such as "Besiroglu 2024".

    Returns:
        A `Floor`.

    Raises:
        ValueError: for an unknown law, and for one of which nobody knows how sure its E is.

    Source: the law's own; lib/data/spreads.toml for the error of Besiroglu's.

    >>> found = law_floor("besiroglu")
    >>> f"{found.value:.4f}, standard error {found.error:.4f}"
    '1.8172, standard error 0.0254'
    """
    found = law(name)
    error, whose = _error_of(found)
    return Floor(value=found.E, error=error, source=f"{found.name} ({found.origin.corpus}); {whose}")


def _error_of(found):
    if found in SPREADS:
        return SPREADS[found]["E", "E"] ** 0.5, "standard error of our bootstrap"
    if found.origin.errors is not None:
        return found.origin.errors.E, "standard error as printed"
    others = {LAWS[name].E for name, row in FACTS.items() if row.get("corpus") == found.origin.corpus}
    if len(others) < 2:
        raise ValueError(
            f"law = {found.name!r}: how sure its E is, nobody has published, and no other law is of its text, "
            f"{found.origin.corpus}"
        )
    return float(np.std(list(others), ddof=1)), f"spread of E over {len(others)} laws of that text"

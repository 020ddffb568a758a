"""Why Kaplan's law and Hoffmann's differ: the experiment of Porian et al., step by step.

They repeated Kaplan's runs and put right what had been left out, one thing after the other. With each step the exponent
of the best size fell, from Kaplan's to Hoffmann's.
"""

from dataclasses import dataclass

from lib import check, facts


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What the best size grows with, after one more thing was put right: N* proportional to C^exponent.

    >>> [step.exponent for step in CORRECTIONS]
    [0.835, 0.706, 0.602, 0.571, 0.497]
    """

    name: str
    explanation: str
    exponent: float
    interval: tuple[float, float]  # 95%
    n_params: float  # N* at 5.88e23 FLOP, the compute of Chinchilla by 6 N D
    source: str

    def __post_init__(self):
        check.fields(self, text="name explanation source", fraction="exponent", positive="n_params")
        check.instance(tuple, interval=self.interval)
        for place, end in enumerate(self.interval):
            check.fraction(**{f"interval[{place}]": end})


def _correction(entry):
    return Correction(
        name=entry.name,
        explanation=entry["explanation"],
        exponent=float(entry["exponent"]),
        interval=(float(entry["exponent_low"]), float(entry["exponent_high"])),
        n_params=float(entry["size"]),
        source=entry.facts["exponent"].source,
    )


_FIGURES = {"exponent": "", "exponent_low": "", "exponent_high": "", "size": "parameters"}
_ENTRIES = facts.load("corrections", _FIGURES, labels=("explanation",))
CORRECTIONS = tuple(_correction(entry) for entry in _ENTRIES.values())

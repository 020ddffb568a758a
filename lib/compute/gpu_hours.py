"""Published accelerator-hours: runs whose size, tokens and hours are known, to hold a plan's arithmetic against.

Hours are as published. Whether restarts and failed attempts are in them is seldom said, so the utilization that they
imply is of the time held: MFU times goodput, as far as the hours are complete.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lib import check, facts
from lib.compute import GOODPUT, calendar_days, model_flops_utilization, train_flops, training_days
from lib.hardware import accelerator
from lib.units import HOURS_PER_DAY, SECONDS_PER_HOUR


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that somebody made and described.

    Args:
        name: of the model.
        accelerator: its name, as `lib.hardware` knows it.
        n_params: parameters as published, > 0.
        n_tokens: tokens trained on, > 0.
        gpu_hours: hours of accelerators, > 0.
        dtype: of the matrix products, which gives the peak.
        sources: field -> where it was read.

    Raises:
        TypeError, ValueError: for a figure that is no positive, finite number, or a name that nobody has.

    >>> run("llama-13b").gpu_hours
    135168.0
    """

    name: str
    accelerator: str
    n_params: float
    n_tokens: float
    gpu_hours: float
    dtype: str = "bf16"
    sources: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self):
        check.fields(self, positive="n_params n_tokens gpu_hours", text="name")
        accelerator(self.accelerator).peak_flops(self.dtype)

    @property
    def peak_flops(self):
        """Dense peak of one device, FLOP/s."""
        return accelerator(self.accelerator).peak_flops(self.dtype)

    @property
    def compute_flops(self):
        """6N D  [FLOP].

        >>> f"{run('llama-13b').compute_flops:.3g}"
        '7.8e+22'
        """
        return train_flops(self.n_params, self.n_tokens)

    @property
    def utilization(self):
        """6N D over peak FLOPs of the hours held: MFU times goodput, attention left out.

        >>> round(run("llama-13b").utilization, 3), round(run("llama-2-13b").utilization, 3)
        (0.514, 0.377)
        """
        speed = self.n_tokens / (self.gpu_hours * SECONDS_PER_HOUR)
        return model_flops_utilization(self.n_params, speed, 1, self.peak_flops)

    def planned_gpu_hours(self, mfu, goodput=GOODPUT):
        """The hours that a plan would have asked for: 6N D / (peak mfu goodput)  [h].

        Args:
            mfu: by 6N, above 0, at most 1; float or array.
            goodput: share of the time held that makes progress, above 0, at most 1; float or array.

        >>> round(run("llama-13b").planned_gpu_hours(0.45, 1.0))
        154321
        """
        days = training_days(self.n_params, self.n_tokens, 1, self.peak_flops, mfu)
        return HOURS_PER_DAY * calendar_days(days, goodput)


_FIGURES = {"n_params": "parameters", "n_tokens": "tokens", "gpu_hours": "hours"}


def _run(entry):
    numbers = {name: float(entry[name]) for name in _FIGURES}
    return Run(name=entry.name, accelerator=entry["accelerator"], sources=entry.sources, **numbers)


RUNS = MappingProxyType(
    {name: _run(entry) for name, entry in facts.load("gpu_hours", _FIGURES, {"accelerator": str}).items()}
)


def run(name):
    """A published run by the name of its model, whatever its case, spaces, hyphens and underscores.

    Raises:
        TypeError: if the name is no text.
        ValueError: if none has it; the nearest name is offered.

    >>> run("llama 2 13b").n_tokens
    2000000000000.0
    """
    return check.lookup(RUNS, run=name)

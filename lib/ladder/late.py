"""What it costs to find a fault at full scale, beside the rungs that would have shown it."""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.description.expectations import Expectations
from lib.description.run import RunDescription
from lib.ladder.rungs import rungs
from lib.units import HOURS_PER_DAY


@dataclass(frozen=True, kw_only=True)
class LateFault:
    """A fault that nobody looked for below full scale: what was trained with it is thrown away.

        lost = GPU-hours of the tokens that were trained with it + GPUs * hours that they wait for the repair

    A fault that spoils nothing, such as a slow network, costs less: there only the waiting and the slowness are paid.

    Args:
        run: a `RunDescription`.
        rung: the lowest rung that would have shown the fault, 1 to 6.
        unnoticed_tokens: tokens trained with the fault, 0 or more, at most those of the run.
        stopped_hours: hours for which the cluster is held and idle, until the fault is found and mended; 0 or more.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> late = LateFault(run=parse(text), rung=4, unnoticed_tokens=1e11, stopped_hours=24.0)
    >>> f"{late.gpu_hours:,.0f} GPU-hours late, {late.ladder_gpu_hours:g} on the ladder; even at {late.break_even:.2%}"
    '5,294 GPU-hours late, 9 on the ladder; even at 0.17%'
    """

    run: RunDescription
    rung: int
    unnoticed_tokens: float
    stopped_hours: float

    def __post_init__(self):
        check.instance(RunDescription, run=self.run)
        check.fields(self, integer="rung", non_negative="unnoticed_tokens stopped_hours")
        if self.rung > 6:
            raise ValueError(f"rung = {self.rung}: 1 to 6, the rungs below the full run")
        if self.unnoticed_tokens > self.run.n_tokens:
            most = f"at most the {self.run.n_tokens:,.6g} tokens of the run"
            raise ValueError(f"unnoticed_tokens = {check.figure(self.unnoticed_tokens)}: {most}")

    @cached_property
    def expected(self):
        """What the run itself takes, as `Expectations`."""
        return Expectations(run=self.run)

    @cached_property
    def rungs(self):
        """The rungs up to the one that shows the fault."""
        return rungs(self.run)[: self.rung]

    @property
    def again_gpu_hours(self):
        """GPU-hours of the calendar for the tokens that are trained again."""
        return self.unnoticed_tokens / self.run.n_tokens * self.expected.gpu_hours

    @property
    def hours_until_noticed(self):
        """Calendar hours in which those tokens are trained for the first time."""
        return self.again_gpu_hours / self.run.cluster.n_gpus

    @property
    def stopped_gpu_hours(self):
        """GPU-hours for which the cluster waits."""
        return check.result(stopped_gpu_hours=self.run.cluster.n_gpus * self.stopped_hours)

    @property
    def gpu_hours(self):
        """All that finding it late costs."""
        return self.again_gpu_hours + self.stopped_gpu_hours

    @property
    def days(self):
        """By how many calendar days the run ends later."""
        return self.gpu_hours / self.run.cluster.n_gpus / HOURS_PER_DAY

    @property
    def ladder_gpu_hours(self):
        """GPU-hours of the ladder up to the rung that shows the fault."""
        return math.fsum(rung.gpu_hours for rung in self.rungs)

    @property
    def break_even(self):
        """How likely such a fault must be for the climb to pay; above 1 it never does, infinite where late is free."""
        return self.ladder_gpu_hours / self.gpu_hours if self.gpu_hours else math.inf

    @property
    def even_hours(self):
        """Hours at full scale that take as many GPU-hours as the climb."""
        return self.ladder_gpu_hours / self.run.cluster.n_gpus

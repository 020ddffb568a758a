"""What a log shows: one value that holds its order, its pace and its stability, with everything that is not sound."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median

from lib import check
from lib.logs.entries import Log, Problem
from lib.logs.limits import log_limit
from lib.logs.order import course
from lib.logs.pace import pace
from lib.logs.stability import gradient_trend, nan_lines, spikes

_LAST = 100  # lines, at most a tenth of the log, whose mean is the loss at the end


@dataclass(frozen=True, kw_only=True)
class Report:
    """A log, analysed.

    Args:
        log: a `Log`.
        step_tokens_per_gpu: tokens of one step on one GPU, > 0, where the plan says it; None otherwise.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> from lib.logs.entries import Entry
    >>> lines = tuple(Entry(line=i, step=i, loss=5.0, seconds=2.0) for i in range(1, 31))
    >>> Report(log=Log(entries=lines)).pace.step_seconds
    2.0
    """

    log: Log
    step_tokens_per_gpu: float | None = None

    def __post_init__(self):
        check.instance(Log, log=self.log)
        check.fields(self, positive="step_tokens_per_gpu")

    @cached_property
    def course(self):
        """The log in order, a `Course`."""
        return course(self.log)

    @cached_property
    def kept(self):
        """Entries with rising steps."""
        return self.course.kept

    @cached_property
    def pace(self):
        """How fast it went, a `Pace`."""
        return pace(self.log, self.course, self.step_tokens_per_gpu)

    @cached_property
    def spikes(self):
        """A tuple of `Spike`."""
        return spikes(self.kept)

    @cached_property
    def nan_lines(self):
        """Entries whose loss is no number."""
        return nan_lines(self.kept)

    @cached_property
    def gradient_trend(self):
        """A `Trend`; None where the log is too short or tells no gradient norm."""
        return gradient_trend(self.kept)

    @cached_property
    def missing(self):
        """Problems of lines without a loss, in a log whose other lines have one."""
        without = [entry for entry in self.kept if entry.loss is None]
        if 2 * len(without) >= len(self.kept):
            return ()
        return tuple(Problem(entry.line, f"step {entry.step:,} without a loss") for entry in without)

    @cached_property
    def problems(self):
        """All that is not sound in the log, by line; losses that are no number stand in `nan_lines`."""
        return tuple(sorted((*self.log.problems, *self.course.problems, *self.missing)))

    @property
    def last_loss(self):
        """Mean loss of the last lines: a hundred, or a tenth of a short log; None without losses."""
        told = [e.loss for e in self.kept if e.loss is not None and math.isfinite(e.loss)]
        return fmean(told[-min(_LAST, max(1, len(told) // 10)) :]) if told else None

    @cached_property
    def step_tokens(self):
        """Tokens of one step as the log tells them; None where it does not."""
        return _rise([(e.step, e.tokens) for e in self.kept if e.tokens is not None])

    @cached_property
    def step_samples(self):
        """Sequences of one step as the log tells them; None where it does not."""
        return _rise([(e.step, e.samples) for e in self.kept if e.samples is not None])

    @cached_property
    def told_speed(self):
        """(tokens/s, of what) as the log itself says: "one GPU" or "the cluster"; None where it does not."""
        for name, of in (("tokens_per_second_per_gpu", "one GPU"), ("tokens_per_second", "the cluster")):
            told = [v for e in self.kept if (v := getattr(e, name)) is not None and 0 < v < math.inf]
            if told:
                return median(told[min(len(told) - 1, self._warm_lines) :]), of
        return None

    @property
    def _warm_lines(self):
        settled = self.kept[0].step + log_limit("warm-up", "steps")
        return sum(entry.step < settled for entry in self.kept[: log_limit("warm-up", "steps")])

    @cached_property
    def resumed_loss_difference(self):
        """Largest difference of a loss between the two times that a step was done; None where none was done twice."""
        pairs = [(a.loss, b.loss) for a, b in self.course.repeated if None not in (a.loss, b.loss)]
        apart = [abs(a - b) for a, b in pairs]
        return None if not apart else math.nan if any(map(math.isnan, apart)) else max(apart)

    @property
    def hours_lost_to_a_failure(self):
        """Of the costliest restart: steps done again, and the time until the run went on; None where not told."""
        step, interval = self.pace.step_seconds, self.course.interval
        told = [r for r in self.course.restarts if r.seconds is not None]
        if step is None or not told:
            return None
        return max(max(0.0, r.seconds - interval * step) + r.lost_steps * step for r in told) / 3600


def _rise(told):
    """What a count that goes on and on gains a step, as usual."""
    rises = [(t - s) / (b - a) for (a, s), (b, t) in pairwise(told) if b > a]
    rises = [rise for rise in rises if 0 < rise < math.inf]
    return median(rises) if rises else None

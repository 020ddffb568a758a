"""Stability of a logged run: losses that are no number, spikes over the trend, and where the gradient norm goes."""

import math
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass
from statistics import NormalDist, median
from typing import NamedTuple

from lib import check
from lib.logs.limits import log_limit

_OF_STEPS = 0.9539  # median of |difference| of two normal numbers, in their standard deviation: 0.6745 x sqrt(2)

_LINES_OF_SPREAD = log_limit("spread of the loss", "entries")
_LINES, _NATS = log_limit("spike", "entries"), log_limit("spike", "nats")
_DEVIATIONS, _NEAR = log_limit("spike", "deviations"), log_limit("recovered", "deviations")
_BACK = log_limit("recovered", "entries")


class Spike(NamedTuple):
    """A loss above its trend."""

    line: int
    step: int
    loss: float  # the highest of it
    trend: float  # before it
    until: int | None  # the step where it was back; None while it is not


@dataclass(frozen=True, kw_only=True)
class Trend:
    """Where the gradient norm goes.

    Args:
        ratio: end over beginning, by the slope, > 0.
        known: whether the slope is more than chance.

    Raises:
        TypeError, ValueError: for a value of the wrong kind.

    >>> Trend(ratio=2.0, known=True).words
    'rising'
    """

    ratio: float
    known: bool

    def __post_init__(self):
        check.fields(self, positive="ratio", boolean="known")

    @property
    def words(self):
        """ "rising", "falling", or "steady"."""
        much = log_limit("gradient trend", "ratio")
        if not self.known or 1 / much < self.ratio < much:
            return "steady"
        return "rising" if self.ratio > 1 else "falling"


class _Window:
    """The last so many numbers, and their median in no time."""

    def __init__(self, length):
        self.length, self.order, self.sorted = length, deque(), []

    def add(self, value):
        """One more; the oldest goes."""
        if len(self.order) == self.length:
            del self.sorted[bisect_left(self.sorted, self.order.popleft())]
        self.order.append(value)
        insort(self.sorted, value)

    @property
    def median(self):
        """The middle one."""
        return self.sorted[len(self.sorted) // 2]


class _Watch:
    """Goes through losses; while a spike lasts, trend and spread stay as they were before it."""

    def __init__(self):
        self.losses, self.moves = _Window(_LINES), _Window(_LINES_OF_SPREAD)
        self.before, self.open, self.limit, self.back = None, None, 0.0, 0

    def take(self, entry, loss):
        """The next loss; gives a spike that has ended."""
        if self.open is not None:
            return self._during(entry, loss)
        spread = self.moves.median / _OF_STEPS if self.moves.order else math.inf
        known = len(self.losses.order) >= _LINES // 2
        if known and loss > self.losses.median + max(_DEVIATIONS * spread, _NATS):
            trend = self.losses.median
            self.open, self.limit, self.back = (
                Spike(entry.line, entry.step, loss, trend, None),
                trend + _NEAR * spread,
                0,
            )
            return None
        if self.before is not None:
            self.moves.add(abs(loss - self.before))
        self.losses.add(loss)
        self.before = loss
        return None

    def _during(self, entry, loss):
        self.open = self.open._replace(loss=max(loss, self.open.loss))
        self.back = self.back + 1 if loss <= self.limit else 0
        if self.back < _BACK:
            return None
        ended, self.open, self.before = self.open._replace(until=entry.step), None, None
        return ended


def spikes(kept):
    """Spikes of the loss over its own trend.

    The trend is the median of the lines before; the spread comes from the differences of neighbours, which a trend does
    not widen. Losses that are no number are left to `nan_lines`.

    Args:
        kept: entries with rising steps.

    Returns:
        A tuple of `Spike`; `until` is None for one that is open at the end.

    Source: a choice of the handbook; limits in lib/data/log_limits.toml.
    """
    check.instance(tuple, kept=kept)
    watch = _Watch()
    told = ((entry, entry.loss) for entry in kept if entry.loss is not None and math.isfinite(entry.loss))
    ended = tuple(spike for entry, loss in told if (spike := watch.take(entry, loss)) is not None)
    return ended if watch.open is None else (*ended, watch.open)


def nan_lines(kept):
    """Entries whose loss is no finite number, or that count steps without one.

    Args:
        kept: entries.
    """
    check.instance(tuple, kept=kept)
    return tuple(
        e
        for e in kept
        if (e.loss is not None and not math.isfinite(e.loss)) or (e.nan_steps is not None and e.nan_steps > 0)
    )


def gradient_trend(kept):
    """Where the gradient norm goes, from the log's second quarter on; None where fewer lines than batches tell it.

    Slope: the median over all pairs of blocks of the difference of their log medians over that of their places.
    Known: Kendall's S over its standard deviation, sqrt(n (n-1) (2n+5) / 18), beyond the normal quantile.

    Args:
        kept: entries with rising steps.

    Source: Theil 1950; Sen 1968, JASA 63(324):1379-1389; Kendall 1938, Biometrika 30(1/2):81-93.
    """
    check.instance(tuple, kept=kept)
    told = [e.grad_norm for e in kept if e.grad_norm is not None and 0 < e.grad_norm < math.inf]
    told, n = told[len(told) // 4 :], log_limit("gradient trend", "batches")
    if len(told) < n:
        return None
    blocks = [math.log(median(told[i * len(told) // n : (i + 1) * len(told) // n])) for i in range(n)]
    pairs = [(blocks[j] - blocks[i], j - i) for i in range(n) for j in range(i + 1, n)]
    slope = median(rise / run for rise, run in pairs)
    score = sum((rise > 0) - (rise < 0) for rise, _ in pairs) / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    beyond = NormalDist().inv_cdf(1 - log_limit("gradient trend", "level") / 2)
    return Trend(ratio=math.exp(min(700.0, max(-700.0, slope * (n - 1)))), known=abs(score) > beyond)

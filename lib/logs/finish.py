"""When a logged run ends: its pace goes on, and restarts come at every rate that the log leaves likely."""

import math
import random
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean, stdev

from lib import check
from lib.logs.interruptions import Interruptions
from lib.logs.limits import log_limit
from lib.logs.outlook import LEVEL, Outlook
from lib.logs.pace import stretches
from lib.logs.report import Report
from lib.units import SECONDS_PER_HOUR, show

_DRAWS, _SEED = 2000, 20261130


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How a log got on: while it ran, and what its restarts cost.

    Args:
        rates: steps per second in batches of equal time, restarts left out; at least two.
        up_seconds: the time that those are of, > 0; steps that were done again are in it.
        longest: of that time, the longest stretch from line to line, s: a pause that each end cuts in or out.
        costs: of each restart, s: until the run went on, and for the steps that were done again.
        again_seconds: of `up_seconds`, for steps that were done again, 0 or more.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> usual = Interruptions(between_seconds=1e6, least_between_seconds=3e5, cost_seconds=600.0)
    >>> Progress(rates=(0.1, 0.1), up_seconds=1e6).seconds_for(360, usual)
    (3600.0, 3600.0, 3600.0)
    """

    rates: tuple[float, ...]
    up_seconds: float
    longest: float = 0.0
    costs: tuple[float, ...] = ()
    again_seconds: float = 0.0

    def __post_init__(self):
        check.instance(tuple, rates=self.rates, costs=self.costs)
        check.fields(self, positive="up_seconds", non_negative="longest again_seconds")
        if self.again_seconds >= self.up_seconds:
            raise ValueError(f"again_seconds = {self.again_seconds:g}: below up_seconds = {self.up_seconds:g}")
        if len(self.rates) < 2 or fmean(self.rates) <= 0:
            raise ValueError(f"rates = {check.short(self.rates)}: at least two, with a mean above 0")

    @property
    def _dependence(self):
        """How much neighbours that are alike widen the error of a mean: sqrt((1 + r) / (1 - r)), r up to 0.9."""
        mean = fmean(self.rates)
        away = [rate - mean for rate in self.rates]
        squares = math.fsum(one * one for one in away)
        alike = math.fsum(a * b for a, b in pairwise(away)) / squares if squares > 0 else 0.0
        r = min(0.9, max(0.0, alike))
        return math.sqrt((1 + r) / (1 - r))

    def rates_of_restarts(self, usual):
        """For the lower end, the best value and the upper end: (shape, seconds, costs), rates being Gamma(shape) / s.

        With k restarts seen in the time t that the run was up, the log alone speaks:

            lower end: Gamma(k) / t; to the costs seen comes one of nothing
            best: Gamma(k + 1/2) / t, and the costs seen
            upper end: Gamma(k + 1) / t; to the costs seen comes one a mean above the highest

        With none seen it tells no cost, and of the rate an upper end that a short log leaves anywhere. So there the
        lower end is no restart, each costs what the plan lets it, and t is longer: for the best value by half of the
        plan's time between two, for the upper end by the worst published time between two. What that does not hold are
        clusters many times worse than the worst published one, and restarts dearer than the plan prices them.

        Args:
            usual: `Interruptions` of such a cluster.

        Raises:
            TypeError: for something else.

        Source: Garwood 1936, Biometrika 28:437-442: the ends are exact limits of a Poisson mean; Jeffreys' prior,
            Gamma(k + 1/2); Hill 1968, JASA 63:677-691: once in k + 1 times the next value lies beyond all k seen; a
            mean beyond is what an exponential distribution, which has no memory, goes on for.

        >>> usual = Interruptions(between_seconds=9e4, least_between_seconds=3e4, cost_seconds=9e3)
        >>> Progress(rates=(0.1, 0.1), up_seconds=1e4).rates_of_restarts(usual)[2]
        (1, 40000.0, (9000.0,))
        >>> Progress(rates=(0.1, 0.1), up_seconds=1e4, costs=(600.0,)).rates_of_restarts(usual)[2]
        (2, 10000.0, (600.0, 1200.0))
        """
        check.instance(Interruptions, usual=usual)
        k, up, costs = len(self.costs), self.up_seconds, self.costs
        if not k:
            price = (usual.cost_seconds,)
            return (
                (0, up, ()),
                (0.5, up + usual.between_seconds / 2, price),
                (1, up + usual.least_between_seconds, price),
            )
        beyond = max(costs) + fmean(costs)
        return (k, up, (*costs, 0.0)), (k + 0.5, up, costs), (k + 1, up, (*costs, beyond))

    def seconds_for(self, steps, usual):
        """What so many more steps take, as (low, best, high): the ends hold it 95 times of 100.

        Time that gets on is steps over a rate from Student's distribution of the mean of the batches to come. A Poisson
        number of restarts comes on top, at `rates_of_restarts`; each adds steps to be done again, in which more may
        come. Costs are drawn from those given, each with a weight that is drawn as well: few tell their mean badly.

        Args:
            steps: at least 1.
            usual: `Interruptions` of such a cluster.

        Returns:
            Three times, s, infinite where the run would never end; the same for the same log.

        Raises:
            TypeError, ValueError: for a value of the wrong kind or out of range.

        Source: Hahn and Meeker 1991, Statistical Intervals, section 4.7, the mean of a future sample; Rubin 1981,
            Annals of Statistics 9(1):130-134, weights of what was seen; Blackwell and MacQueen 1973, Annals of
            Statistics 1(2):353-355, those weights as an urn.
        """
        check.positive(steps=steps)
        check.instance(Interruptions, usual=usual)
        draw = random.Random(_SEED)
        took = self._up_seconds(draw, steps)
        few, likely, many = (self._with_restarts(draw, took, *rate) for rate in self.rates_of_restarts(usual))
        best = _quantile(likely, 0.5)
        return min(best, _quantile(few, (1 - LEVEL) / 2)), best, max(best, _quantile(many, (1 + LEVEL) / 2))

    def _up_seconds(self, draw, steps):
        """Times in which so many more steps get on."""
        n, mean = len(self.rates), fmean(self.rates)
        up, edge = steps / mean, self.longest / self.up_seconds
        off = stdev(self.rates) * self._dependence * math.sqrt(1 / n + self.up_seconds / n / up)
        made = []
        for _ in range(_DRAWS):
            heavy = math.sqrt((n - 1) / (2 * draw.gammavariate((n - 1) / 2, 1.0)))  # Student's: normal over root chi^2
            rate = mean + off * heavy * draw.gauss(0.0, 1.0)
            cut = 1 + 2 * edge * (draw.random() + draw.random() - 1)
            made.append(up * cut * (mean / rate if rate > 0 else math.inf))
        return made

    def _with_restarts(self, draw, took, shape, seconds, costs):
        """Times in which a run gets on, with restarts on top."""
        if not shape:
            return took
        again = self.again_seconds / max(1, len(self.costs))
        counts = (_restarts(draw, draw.gammavariate(shape, 1.0) / seconds, up, again) for up in took)
        return [up + _sum_of(draw, costs, count) for up, count in zip(took, counts, strict=True)]


def _restarts(draw, rate, seconds, again):
    """How many in so much time; each adds what is done again, in which more may come, perhaps without end."""
    if seconds == math.inf or rate * again >= 1:
        return math.inf
    count = 0
    while (more := _poisson(draw, rate * seconds)) > 0:
        count, seconds = count + more, more * again
    return count


def _poisson(draw, mean):
    if mean > 50:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    count, left, share = 0, math.exp(-mean), draw.random
    while (left := left / share()) < 1:
        count += 1
    return count


def _sum_of(draw, costs, count):
    """Of many costs the mean, of few each one: a hundred draws say as much as a thousand."""
    if count in (0, math.inf):
        return float(count)
    k, few, share = len(costs), min(count, 100), draw.random
    urn = [*costs]  # what is drawn goes back with its like: as by weights of Rubin's Bayesian bootstrap
    for size in range(k, k + few):
        urn.append(urn[int(size * share())])
    return count / few * math.fsum(urn[k:])


def _quantile(draws, share):
    return sorted(draws)[min(len(draws) - 1, int(share * len(draws)))]


def progress(report):
    """How a log got on; None where it is too short, or its times of day do not rise.

    Args:
        report: a `Report`.
    """
    check.instance(Report, report=report)
    made = stretches(report.course)
    if not report.course.clocked or len(made) + 1 < log_limit("finish date", "entries"):
        return None
    if any(stretch.wall is None for stretch in made):
        return None
    n, ups = log_limit("finish date", "batches"), [stretch for stretch in made if not stretch.restart]
    times = list(accumulate((stretch.wall for stretch in ups), initial=0.0))
    steps = list(accumulate((float(stretch.steps) for stretch in ups), initial=0.0))
    if times[-1] <= 0:
        return None
    marks = [_at(times, steps, times[-1] * place / n) for place in range(n + 1)]
    step = times[-1] / steps[-1]
    again = report.course.lost_steps * step
    lost = {restart.line: restart.lost_steps for restart in report.course.restarts}
    return Progress(
        rates=tuple((b - a) * n / times[-1] for a, b in pairwise(marks)),
        up_seconds=times[-1],
        longest=max(stretch.wall for stretch in ups),
        costs=tuple(max(0.0, s.wall - s.steps * step) + lost[s.line] * step for s in made if s.restart),
        again_seconds=again if again < times[-1] else 0.0,
    )


def _at(times, steps, time):
    """Steps that were done by a time, on a line between the lines of the log."""
    place = min(len(times) - 1, max(1, bisect_right(times, time)))
    length = times[place] - times[place - 1]
    part = (time - times[place - 1]) / length if length > 0 else 1.0
    return steps[place - 1] + (steps[place] - steps[place - 1]) * min(1.0, part)


def finish_seconds(report, total_steps, usual):
    """Seconds from the last line to the end of the run.

    Method of batch means: steps per second in 20 batches of equal time while the run was up, whose error a likeness of
    neighbours widens; restarts, with the steps that they cost, come beside them at every rate that the log leaves
    likely (`Progress.rates_of_restarts`). Best is the median of 2,000 seeded draws.

    Args:
        report: a `Report`.
        total_steps: of the whole run, a whole number of at least 1.
        usual: `Interruptions` of such a cluster, as `usual_interruptions` gives them.

    Returns:
        An `Outlook`, in seconds.

    Raises:
        TypeError, ValueError: for something else.

    Source: Schmeiser 1982, Operations Research 30(3):556-568, batch means; `Progress` for the rest.
    """
    check.instance(Report, report=report)
    check.integer(total_steps=total_steps)
    check.instance(Interruptions, usual=usual)
    left = total_steps - report.kept[-1].step
    if left <= 0:
        return Outlook(best=0.0, low=0.0, high=0.0, covers="the run is done")
    found, fewest = progress(report), log_limit("finish date", "entries")
    if found is None:
        short = len(report.course.walk) < fewest
        return Outlook(reason=f"at least {fewest} lines are needed" if short else "times of day that rise are needed")
    low, best, high = found.seconds_for(left, usual)
    if high == math.inf:
        return Outlook(
            reason="a run that never ends lies inside the interval: pace varies too much, or restarts undo the work"
        )
    return Outlook(best=best, low=low, high=high, covers=_covers(found, usual, report.course.wall_seconds))


def _covers(found, usual, wall_seconds):
    k, costs = len(found.costs), found.rates_of_restarts(usual)[2][2]
    leaves = f"the {k} seen leave likely, one more for" if k else "none in that time leaves likely, each for"
    hours = f"{wall_seconds / SECONDS_PER_HOUR:.3g} hours of log"
    return f"speed and pauses as in {hours}; restarts at any rate that {leaves} {show(max(costs), 's')}"

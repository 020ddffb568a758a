"""Where a logged run is going: when it ends, and at which loss, each with an interval that says what it covers."""

import math
import random
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import NormalDist, fmean, stdev

from lib import check
from lib.logs.limits import log_limit
from lib.logs.pace import stretches
from lib.logs.report import Report

LEVEL = 0.95
_DRAWS, _SEED = 2000, 20261130
_POINTS = 50
_FEW = 3  # restarts: in simulated runs whose restarts cost unevenly, one seen held the finish 7 times of 10, more 9
_NO_LOSS = 1e6  # nats: beyond it a number is a slip of the log, and its square would overflow
_EXPONENTS = tuple(0.05 * 1.09**k for k in range(41))  # 0.05 to 1.6: tokens' exponents of published laws and beyond


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """A number that is not known yet, with its interval.

    Args:
        best: the likeliest; None where it is not decidable.
        low, high: ends of the interval of 95 %.
        covers: what the interval holds, and what it does not.
        reason: why it is not decidable; "" where it is.

    Raises:
        TypeError, ValueError: for a value of the wrong kind; ends that do not hold the number.

    >>> Outlook(reason="three lines: at least 40").decided
    False
    """

    best: float | None = None
    low: float | None = None
    high: float | None = None
    covers: str = ""
    reason: str = ""

    def __post_init__(self):
        check.fields(self, finite="best low high", text="covers reason")
        if self.best is not None and not self.low <= self.best <= self.high:
            raise ValueError(f"low = {self.low:g}: at most best = {self.best:g}, and that at most high = {self.high:g}")

    @property
    def decided(self):
        """Whether there is a number."""
        return self.best is not None


def student(level, degrees):
    """How many standard errors hold so much of Student's distribution, to either side.

    Args:
        level: from 0 to 1, ends left out.
        degrees: of freedom, at least 3: the expansion is off by 0.02 at 3, by less than 0.001 from 10 on.

    Source: Abramowitz and Stegun 1964, equation 26.7.5.

    >>> round(student(0.95, 19), 3)
    2.093
    """
    check.fraction(level=level)
    check.positive(degrees=degrees)
    if level == 1:
        raise ValueError("level = 1: below 1, for nothing holds all of it")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / degrees + second / degrees**2 + third / degrees**3


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

    >>> Progress(rates=(0.1, 0.1), up_seconds=1000.0).seconds_for(360)[0]
    3600.0
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

    def seconds_for(self, steps):
        """What so many more steps take, in draws that are sorted: the same for the same log.

        Each draw takes a rate from Student's distribution of the mean of the batches to come, a number of restarts from
        a Poisson distribution whose rate comes from its Jeffreys posterior, and the cost of each from those seen, each
        with a weight that is drawn as well: few costs tell their mean badly. The rate is one for time that got on: time
        for steps done again, in which a run may fail too, is part of the costs.

        Args:
            steps: at least 1.
        """
        check.positive(steps=steps)
        draw, n, mean = random.Random(_SEED), len(self.rates), fmean(self.rates)
        up = steps / mean
        off = stdev(self.rates) * self._dependence * math.sqrt(1 / n + self.up_seconds / n / up)
        edge, got_on = self.longest / self.up_seconds, self.up_seconds - self.again_seconds
        made = []
        for _ in range(_DRAWS):
            heavy = math.sqrt((n - 1) / (2 * draw.gammavariate((n - 1) / 2, 1.0)))  # Student's: normal over root chi^2
            rate = mean + off * heavy * draw.gauss(0.0, 1.0)
            took = up * (1 + 2 * edge * (draw.random() + draw.random() - 1)) * (mean / rate if rate > 0 else math.inf)
            if self.costs and took < math.inf:
                often = draw.gammavariate(len(self.costs) + 0.5, 1.0) * took / got_on
                took += _sum_of(draw, self.costs, _poisson(draw, often))
            made.append(took)
        return tuple(sorted(made))


def _poisson(draw, mean):
    if mean > 50:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    count, left = 0, math.exp(-mean)
    while (left := left / draw.random()) < 1:
        count += 1
    return count


def _sum_of(draw, costs, count):
    """Of many costs the mean, of few each one: a hundred draws say as much as a thousand."""
    few, weights = min(count, 100), [draw.expovariate(1.0) for _ in costs]  # Rubin's Bayesian bootstrap
    return count / few * math.fsum(draw.choices(costs, weights, k=few)) if few else 0.0


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


def finish_seconds(report, total_steps):
    """Seconds from the last line to the end of the run.

    Method of batch means: steps per second in 20 batches of equal time while the run was up, whose error a likeness of
    neighbours widens; restarts, with the steps that they cost, are drawn beside them (`Progress.seconds_for`). Best is
    the median of 2,000 seeded draws, the interval their middle 95 %.

    Args:
        report: a `Report`.
        total_steps: of the whole run, a whole number of at least 1.

    Returns:
        An `Outlook`, in seconds.

    Raises:
        TypeError, ValueError: for something else.

    Source: Schmeiser 1982, Operations Research 30(3):556-568, batch means; Hahn and Meeker 1991, Statistical Intervals,
        section 4.7, the mean of a future sample; Jeffreys' prior for a Poisson rate, Gamma(k + 1/2); Rubin 1981, Annals
        of Statistics 9(1):130-134, weights of what was seen.
    """
    check.instance(Report, report=report)
    check.integer(total_steps=total_steps)
    left = total_steps - report.kept[-1].step
    if left <= 0:
        return Outlook(best=0.0, low=0.0, high=0.0, covers="the run is done")
    found, fewest = progress(report), log_limit("finish date", "entries")
    if found is None:
        short = len(report.course.walk) < fewest
        return Outlook(reason=f"at least {fewest} lines are needed" if short else "times of day that rise are needed")
    low, best, high = quantiles(found.seconds_for(left))
    if high == math.inf:
        return Outlook(reason="pace varies too much: a run that never ends lies inside the interval")
    few = (
        f"restarts as often and as costly as the {len(found.costs)} seen"
        if found.costs
        else "no restarts, for none was seen"
    )
    few += "; so few tell neither" if 0 < len(found.costs) < _FEW else ""
    hours = report.course.wall_seconds / 3600
    return Outlook(best=best, low=low, high=high, covers=f"speed and pauses as in {hours:.3g} hours of log; {few}")


def quantiles(draws):
    """Ends and middle of the 95 % in the middle.

    Args:
        draws: sorted.
    """
    check.instance(tuple, draws=draws)
    return tuple(draws[min(len(draws) - 1, int(p * len(draws)))] for p in ((1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2))


def final_loss(report, total_steps, exponent, warmup_steps=0.0):
    """The loss at the last step: L = E' + B' D^-beta through the last part of the log, level and slope fitted.

    Lines outside spikes are put together into 20 blocks, which are taken for independent. For each exponent that the
    blocks do not refuse (its residual sum of squares within an F-test of 95 % of the least) the line through them gives
    an interval for the mean of one more block, at the end of the run; the answer is their union. The best value is that
    of the law's exponent if it is among them, or else of the one that fits best.

    Args:
        report: a `Report`.
        total_steps: of the whole run, a whole number of at least 1.
        exponent: of the tokens in the run's law, > 0.
        warmup_steps: of the learning rate, 0 or more: lines before their end are left out.

    Returns:
        An `Outlook`, in nats per token.

    Raises:
        TypeError, ValueError: for something else.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 2, for the form; Draper and Smith 1998, Applied Regression
        Analysis, sections 3.1 and 24.2, for intervals of a line and of an exponent by its sum of squares.
    """
    check.instance(Report, report=report)
    check.integer(total_steps=total_steps)
    check.positive(exponent=exponent)
    check.non_negative(warmup_steps=warmup_steps)
    reason, told = _fitted_lines(_calm_losses(report), total_steps, warmup_steps)
    if reason:
        return Outlook(reason=reason)
    if told[-1][0] >= total_steps:
        last = report.last_loss
        return Outlook(best=last, low=last, high=last, covers="the run is done")
    lines = {power: _Line(told, power, float(total_steps)) for power in (*_EXPONENTS, exponent)}
    least = min(line.squares for line in lines.values())
    n = log_limit("final loss", "batches")
    allowed = least * (1 + student(LEVEL, n - 3) ** 2 / (n - 3)) + 1e-18
    held = {power: line for power, line in lines.items() if line.squares <= allowed}
    chosen = held.get(exponent) or min(held.values(), key=lambda line: line.squares)
    covers = (
        "noise, level, slope and exponent of L = E' + B' D^-beta, if the loss goes on that way; what a falling "
        "learning rate still takes off the loss is not in it"
    )
    low = min(line.at_end - line.off for line in held.values())
    high = max(line.at_end + line.off for line in held.values())
    if low <= 0:
        return Outlook(reason="the log does not hold the slope: a loss of nothing lies inside the interval")
    return Outlook(best=chosen.at_end, low=low, high=high, covers=covers)


def _calm_losses(report):
    """(step, loss) of the lines outside spikes that are over: the run went on from them as if they had not been."""
    spikes = {spike.step: spike.until for spike in report.spikes if spike.until is not None}
    told, until = [], 0
    for entry in report.kept:
        until = spikes.get(entry.step, until)
        if entry.step >= max(1, until) and entry.loss is not None and abs(entry.loss) < _NO_LOSS:
            told.append((float(entry.step), entry.loss))
    return told


def _fitted_lines(told, total_steps, warmup_steps):
    """What speaks against a forecast, and the lines that it is made of: the last ten times of tokens after warm-up."""
    fewest, share, reach = (log_limit("final loss", name) for name in ("entries", "share", "ratio"))
    if not told or told[-1][0] < share * total_steps:
        done = told[-1][0] / total_steps if told else 0.0
        return f"{done:.1%} of the steps are done: at least {share:.0%}", ()
    end = told[-1][0]
    kept = [(step, loss) for step, loss in told if step > max(warmup_steps, end / 10)]
    if len(kept) < fewest:
        return f"{len(kept)} lines with a loss in the last ten times of tokens, after warm-up: at least {fewest}", ()
    if end < reach * kept[0][0]:
        return f"the log begins at step {kept[0][0]:,.0f}: at most a quarter of its last, {end:,.0f}", ()
    return "", kept


class _Line:
    """A straight line through blocks of loss over D^-power, and what it gives at the end."""

    def __init__(self, told, power, end):
        n = log_limit("final loss", "batches")
        blocks = [told[len(told) * i // n : len(told) * (i + 1) // n] for i in range(n)]
        some = [block[:: max(1, len(block) // _POINTS)] for block in blocks]  # a mean over a smooth curve needs no more
        x = [fmean((step / end) ** -power for step, _ in block) for block in some]
        y = [fmean(loss for _, loss in block) for block in blocks]
        mean_x, mean_y = fmean(x), fmean(y)
        width = math.fsum((v - mean_x) ** 2 for v in x)
        slope = math.fsum((v - mean_x) * (w - mean_y) for v, w in zip(x, y, strict=True)) / width
        self.squares = math.fsum((w - mean_y - slope * (v - mean_x)) ** 2 for v, w in zip(x, y, strict=True))
        self.at_end = mean_y + slope * (1.0 - mean_x)
        error = math.sqrt(self.squares / (n - 2) * (1 + 1 / n + (1.0 - mean_x) ** 2 / width))
        self.off = student(LEVEL, n - 2) * error

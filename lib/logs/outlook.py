"""Where a logged run is going: a number with an interval that says what it covers, and the final loss as one."""

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean

from lib import check
from lib.logs.limits import log_limit
from lib.logs.report import Report

LEVEL = 0.95
_POINTS = 50
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
    n = log_limit("final loss", "batches")
    shares, losses = _blocks(told, float(total_steps), n)
    lines = {power: _Line(shares, losses, power) for power in (*_EXPONENTS, exponent)}
    least = min(line.squares for line in lines.values())
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


def _blocks(told, end, n):
    """For each of n blocks of lines: some of its steps as shares of the end, and its mean loss."""
    blocks = [told[len(told) * i // n : len(told) * (i + 1) // n] for i in range(n)]
    some = [block[:: max(1, len(block) // _POINTS)] for block in blocks]  # a mean over a smooth curve needs no more
    losses = [fmean([loss for _, loss in block]) for block in blocks]
    return [[step / end for step, _ in block] for block in some], losses


class _Line:
    """A straight line through blocks of loss over D^-power, and what it gives at the end."""

    def __init__(self, shares, y, power):
        n, x = len(y), [fmean([share**-power for share in block]) for block in shares]  # of lists: at twice the speed
        mean_x, mean_y = fmean(x), fmean(y)
        width = math.fsum((v - mean_x) ** 2 for v in x)
        slope = math.fsum((v - mean_x) * (w - mean_y) for v, w in zip(x, y, strict=True)) / width
        self.squares = math.fsum((w - mean_y - slope * (v - mean_x)) ** 2 for v, w in zip(x, y, strict=True))
        self.at_end = mean_y + slope * (1.0 - mean_x)
        error = math.sqrt(self.squares / (n - 2) * (1 + 1 / n + (1.0 - mean_x) ** 2 / width))
        self.off = student(LEVEL, n - 2) * error

"""Learning-rate schedules: the rate at each step of a run, and how far a schedule carries the weights in all.

Every schedule climbs in a straight line from 0 to its peak during the warm-up. Step 0 is before the first update.
"""

import math
from dataclasses import dataclass

from lib import check
from lib.elementwise import is_array, minimum, where

KINDS = ("cosine", "linear", "warmup-stable-decay", "warmup-stable-decay, 1-sqrt")
COSINE, LINEAR, WSD, WSD_SQRT = KINDS


def warmup(step, warmup_steps):
    """The part of the peak that the warm-up has reached: step / warmup_steps, at most 1.

    Args:
        step: updates made, 0 or more; float or array.
        warmup_steps: length of the warm-up, 0 or more; float or array.

    Raises:
        TypeError, ValueError: if a number is negative or not finite.

    Source: Goyal et al. 2017, arXiv:1706.02677, section 2.2, for a gradual warm-up.

    >>> warmup(500.0, 2000.0)
    0.25
    """
    check.non_negative(step=step, warmup_steps=warmup_steps)
    none = warmup_steps == 0
    return check.result(warmup=minimum(step + none, warmup_steps + none) / (warmup_steps + none))


def cosine_lr(step, peak_lr, min_lr, total_steps, warmup_steps):
    """Half a cosine from peak to end: min_lr + (peak_lr - min_lr) (1 + cos(pi p)) / 2, p the part after warm-up.

    Args:
        step: updates made, 0 or more; float or array. Beyond total_steps the rate stays at min_lr.
        peak_lr: largest rate, > 0.
        min_lr: rate at the end, 0 or more.
        total_steps: length of the run, > 0.
        warmup_steps: of these, 0 or more, fewer than total_steps.

    Returns:
        The learning rate, as a float or an array.

    Raises:
        TypeError, ValueError: for a number out of range.

    Source: Loshchilov and Hutter 2016, arXiv:1608.03983, equation 5, without restarts.

    >>> f"{cosine_lr(50_000.0, 3e-4, 3e-5, 100_000.0, 0.0):.3e}"
    '1.650e-04'
    """
    part = _part(step, peak_lr, min_lr, total_steps, warmup_steps)
    cos = part.__array_namespace__().cos(math.pi * part) if is_array(part) else math.cos(math.pi * part)
    return check.result(lr=warmup(step, warmup_steps) * (min_lr + (peak_lr - min_lr) * (1 + cos) / 2))


def linear_lr(step, peak_lr, min_lr, total_steps, warmup_steps):
    """A straight line from the peak to the end: peak_lr - (peak_lr - min_lr) p, p the part after warm-up.

    Args:
        step, peak_lr, min_lr, total_steps, warmup_steps: as in `cosine_lr`.

    Raises:
        TypeError, ValueError: for a number out of range.

    Source: Bergsma et al. 2025, arXiv:2502.15938, which finds a line to 0 better than a cosine to a tenth.

    >>> f"{linear_lr(50_000.0, 3e-4, 0.0, 100_000.0, 0.0):.3e}"
    '1.500e-04'
    """
    part = _part(step, peak_lr, min_lr, total_steps, warmup_steps)
    return check.result(lr=warmup(step, warmup_steps) * (peak_lr - (peak_lr - min_lr) * part))


def wsd_lr(step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps):
    """Warm-up, then the peak, then a straight line to the end over the last decay_steps.

    The line may start at any step: the run need not know its length before.

    Args:
        step, peak_lr, min_lr, total_steps, warmup_steps: as in `cosine_lr`.
        decay_steps: length of the decay, > 0, at most what the warm-up leaves.

    Raises:
        TypeError, ValueError: for a number out of range.

    Source: Hu et al. 2024, arXiv:2404.06395, section 4, for the three phases (MiniCPM itself halves the rate again and
        again at the end); Hägele et al. 2024, arXiv:2405.18392, section 3, for the straight line.

    >>> [f"{wsd_lr(step, 2e-4, 0.0, 1000.0, 10.0, 200.0):.1e}" for step in (5.0, 500.0, 900.0, 1000.0)]
    ['1.0e-04', '2.0e-04', '1.0e-04', '0.0e+00']
    """
    part = _decayed(step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps)
    return check.result(lr=warmup(step, warmup_steps) * (peak_lr - (peak_lr - min_lr) * part))


def wsd_sqrt_lr(step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps):
    """As `wsd_lr`, with a decay that begins steeply: peak_lr - (peak_lr - min_lr) sqrt(p), p the part of the decay.

    Args:
        step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps: as in `wsd_lr`.

    Raises:
        TypeError, ValueError: for a number out of range.

    Source: Hägele et al. 2024, arXiv:2405.18392, section 3 (1-sqrt); used by Apertus, arXiv:2509.14233, section 2.3.

    >>> f"{wsd_sqrt_lr(850.0, 2e-4, 0.0, 1000.0, 10.0, 200.0):.1e}"
    '1.0e-04'
    """
    part = _decayed(step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps)
    return check.result(lr=warmup(step, warmup_steps) * (peak_lr - (peak_lr - min_lr) * part**0.5))


def _refuse(step, peak_lr, min_lr, total_steps, warmup_steps):
    check.positive(peak_lr=peak_lr, total_steps=total_steps)
    check.non_negative(step=step, min_lr=min_lr, warmup_steps=warmup_steps)
    check.scalar(peak_lr=peak_lr, min_lr=min_lr, total_steps=total_steps, warmup_steps=warmup_steps)
    if min_lr > peak_lr:
        raise ValueError(f"min_lr = {min_lr:g}: at most the peak, {peak_lr:g}")
    if warmup_steps >= total_steps:
        raise ValueError(f"warmup_steps = {warmup_steps:g}: fewer than the {total_steps:g} of the run")


def _part(step, peak_lr, min_lr, total_steps, warmup_steps):
    """How much of the time after the warm-up has passed: 0 until its end, 1 from total_steps on."""
    _refuse(step, peak_lr, min_lr, total_steps, warmup_steps)
    return _clipped((step - warmup_steps) / (total_steps - warmup_steps))


def _decayed(step, peak_lr, min_lr, total_steps, warmup_steps, decay_steps):
    _refuse(step, peak_lr, min_lr, total_steps, warmup_steps)
    check.scalar(decay_steps=decay_steps)
    check.positive(decay_steps=decay_steps)
    left = total_steps - warmup_steps
    if decay_steps > left:
        raise ValueError(f"decay_steps = {decay_steps:g}: at most {left:g}, what the warm-up leaves")
    return _clipped(1 - (total_steps - step) / decay_steps)  # from the end, which must come out as 1 and no less


def _clipped(part):
    return minimum(where(part > 0, part, 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A schedule with its lengths, which gives the rate at any step.

    Args:
        kind: one of `KINDS`.
        peak_lr: largest rate, > 0.
        min_lr: rate at the end, 0 or more, at most the peak.
        total_steps: length of the run, > 0.
        warmup_steps: of these, 0 or more, fewer than total_steps.
        decay_steps: of a warmup-stable-decay schedule, > 0, at most what the warm-up leaves; the others do not ask.

    Raises:
        TypeError, ValueError: for a number out of range; for a kind that is not known.

    >>> usual = Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=100_000.0, warmup_steps=1000.0)
    >>> f"{usual.at(1000.0):.1e}, {usual.at(100_000.0):.1e}, {usual.mean_share:.3f}"
    '3.0e-04, 3.0e-05, 0.549'
    """

    kind: str
    peak_lr: float
    min_lr: float
    total_steps: float
    warmup_steps: float = 0.0
    decay_steps: float | None = None

    def __post_init__(self):
        check.choice(KINDS, kind=self.kind)
        check.fields(self, positive="peak_lr total_steps decay_steps", non_negative="min_lr warmup_steps")
        _refuse(0.0, self.peak_lr, self.min_lr, self.total_steps, self.warmup_steps)
        if self.stable and self.decay_steps is None:
            raise ValueError("decay_steps = None: how many steps the decay takes")
        self.at(0.0)

    @property
    def stable(self):
        """True if the rate stays at the peak for most of the run."""
        return self.kind in (WSD, WSD_SQRT)

    def at(self, step):
        """The learning rate after some steps.

        Args:
            step: updates made, 0 or more; float or array.
        """
        common = (self.peak_lr, self.min_lr, self.total_steps, self.warmup_steps)
        if self.stable:
            return (wsd_lr if self.kind == WSD else wsd_sqrt_lr)(step, *common, self.decay_steps)
        return (cosine_lr if self.kind == COSINE else linear_lr)(step, *common)

    @property
    def mean_share(self):
        """The mean rate over the run as a part of the peak: what the area under the schedule is of a full rectangle.

        The weights move by about the sum of the rates, so two schedules of one mean carry them about equally far.
        """
        low = self.min_lr / self.peak_lr
        warm = self.warmup_steps / self.total_steps
        if not self.stable:
            return warm / 2 + (1 - warm) * (1 + low) / 2
        decay = self.decay_steps / self.total_steps
        lost = decay * (1 - low) * (1 / 2 if self.kind == WSD else 2 / 3)
        return 1 - warm / 2 - lost

    def peak_of_equal_mean(self, other):
        """The peak at which this schedule would have the mean rate of another one.

        Args:
            other: a `Schedule`.

        >>> cosine = Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=1e5)
        >>> stable = Schedule(kind="warmup-stable-decay", peak_lr=3e-4, min_lr=0.0, total_steps=1e5, decay_steps=2e4)
        >>> f"{stable.peak_of_equal_mean(cosine):.2e}"
        '1.83e-04'
        """
        check.instance(Schedule, other=other)
        return check.positive_result(peak_lr=other.peak_lr * other.mean_share / self.mean_share)

"""Speed of a logged run: the usual step, what pauses and restarts took, and what share of the time made progress."""

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from lib import check
from lib.logs.entries import CHECKPOINT, EVALUATION, Log
from lib.logs.limits import log_limit
from lib.logs.order import Course

_PAUSES = (CHECKPOINT, EVALUATION)
_FEWEST = 3  # steps of which a median is taken


class Stretch(NamedTuple):
    """From one line of a log to the next."""

    line: int  # of the later one
    step: int  # at its end
    steps: int
    seconds: float | None  # of a step, as told or by the clock
    wall: float | None  # on the clock, in all
    restart: bool
    warm_up: bool
    checkpoints: tuple[float | None, ...]  # seconds that each is said to have taken
    evaluations: tuple[float | None, ...]


class Stall(NamedTuple):
    """A stretch that took longer than usual, with no checkpoint, evaluation or restart in it."""

    line: int
    step: int
    seconds: float  # more than usual


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast a run went, and where its time went. Shares are None where the log does not show them.

    Args:
        step_seconds: of the usual step, > 0: the median after warm-up; None without times.
        slow_step_seconds: of the slowest in a hundred.
        n_steps_timed: steps that these are of.
        wall_seconds: from first to last line; None without times of day.
        kept_steps: steps in that time that were kept.
        lost_seconds: for steps that were done again.
        restart_seconds: from the last line before a restart to the first after it, less what its steps take.
        checkpoint_seconds, evaluation_seconds: that they held the job; None where the log tells of none.
        stalls: a tuple of `Stall`.
        data_wait_share: of the step, spent on waiting for data.
        straggler_share: of the step, lost to the slowest rank.
        slowest_rank: the one that was it most often; None.

    Raises:
        TypeError, ValueError: for a value of the wrong kind.

    >>> Pace(step_seconds=2.0, wall_seconds=1000.0, kept_steps=450).goodput
    0.9
    """

    step_seconds: float | None = None
    slow_step_seconds: float | None = None
    n_steps_timed: int = 0
    wall_seconds: float | None = None
    kept_steps: int = 0
    lost_seconds: float = 0.0
    restart_seconds: float = 0.0
    checkpoint_seconds: float | None = None
    evaluation_seconds: float | None = None
    stalls: tuple[Stall, ...] = ()
    data_wait_share: float | None = None
    straggler_share: float | None = None
    slowest_rank: int | None = None

    def __post_init__(self):
        check.fields(self, positive="step_seconds slow_step_seconds wall_seconds", natural="n_steps_timed kept_steps")
        check.fields(self, non_negative="lost_seconds restart_seconds checkpoint_seconds evaluation_seconds")
        check.fields(self, finite="data_wait_share straggler_share")
        check.instance(tuple, stalls=self.stalls)

    @property
    def goodput(self):
        """Share of the time that made progress: kept steps at the usual pace; None without times of day."""
        if None in (self.wall_seconds, self.step_seconds):
            return None
        return min(1.0, self.kept_steps * self.step_seconds / self.wall_seconds)

    @property
    def shown_seconds(self):
        """The time that shares are of: on the clock, or else of the steps and pauses that the log tells of."""
        if self.wall_seconds is not None or self.step_seconds is None:
            return self.wall_seconds
        pauses = (self.checkpoint_seconds or 0.0) + (self.evaluation_seconds or 0.0)
        return self.kept_steps * self.step_seconds + self.lost_seconds + pauses

    def share(self, seconds):
        """So many seconds as a share of the time shown; None where either is not told.

        Args:
            seconds: 0 or more, or None.
        """
        return None if seconds is None or not self.shown_seconds else min(1.0, seconds / self.shown_seconds)

    @property
    def stall_seconds(self):
        """Of all stalls."""
        return math.fsum(stall.seconds for stall in self.stalls)

    @property
    def uneven_seconds(self):
        """What is left of the time: steps that were slower than usual, not enough to be called stalls."""
        if self.goodput is None:
            return None
        told = (self.lost_seconds, self.restart_seconds, self.stall_seconds)
        pauses = (self.checkpoint_seconds or 0.0, self.evaluation_seconds or 0.0)
        return max(0.0, self.wall_seconds - self.kept_steps * self.step_seconds - math.fsum((*told, *pauses)))


def stretches(found, step_tokens=None):
    """From line to line of a log that is in order.

    Args:
        found: a `Course`.
        step_tokens: tokens of one step on one GPU, > 0, for a log that tells a speed and no time; None if unknown.
    """
    check.instance(Course, found=found)
    marks = {kind: [event for event in found.events if event.kind == kind] for kind in (CHECKPOINT, EVALUATION)}
    lines = {kind: [event.line for event in events] for kind, events in marks.items()}
    restarts, since, warm_up = set(found.restart_at), found.walk[0].step, log_limit("warm-up", "steps")
    made = []
    for place in range(1, len(found.walk)):
        a, b = found.walk[place - 1], found.walk[place]
        restart = place in restarts
        if restart:
            since = b.step
        paused = {}
        for kind, at in lines.items():
            paused[kind] = tuple(e.seconds for e in marks[kind][bisect_right(at, a.line) : bisect_right(at, b.line)])
        steps = found.interval if restart else b.step - a.step
        wall = None if None in (a.time, b.time) or b.time < a.time else b.time - a.time
        made.append(
            Stretch(
                line=b.line,
                step=b.step,
                steps=steps,
                seconds=_seconds(b, steps, None if restart else wall, step_tokens),
                wall=wall,
                restart=restart,
                warm_up=b.step - since < warm_up and steps < warm_up,
                checkpoints=paused[CHECKPOINT],
                evaluations=paused[EVALUATION],
            )
        )
    return tuple(made)


def _seconds(entry, steps, wall, step_tokens):
    """Of a step: as told, by the clock, or by the speed that is told."""
    told = entry.seconds
    if told is None and wall is not None:
        told = wall / steps
    if told is None and step_tokens is not None and (entry.tokens_per_second_per_gpu or 0) > 0:
        told = step_tokens / entry.tokens_per_second_per_gpu
    return told if told is not None and 0 < told < math.inf else None


def pace(log, found, step_tokens=None):
    """How fast a logged run went, and where its time went.

    The usual step is the median after warm-up, of stretches without restart, checkpoint or evaluation; so one that is
    slow now and then does not move it. All other time is what it is more than that.

    Args:
        log: a `Log`.
        found: its `Course`.
        step_tokens: as in `stretches`.

    Raises:
        TypeError: for something else.

    Source: a choice of the handbook; limits in lib/data/log_limits.toml.
    """
    check.instance(Log, log=log)
    made = stretches(found, step_tokens)
    plain = [s for s in made if s.seconds and not (s.restart or s.warm_up or s.checkpoints or s.evaluations)]
    if len(plain) < _FEWEST:
        plain = [s for s in made if s.seconds and not s.restart]
    if not plain:
        return Pace(kept_steps=found.kept[-1].step - found.kept[0].step, **_told_pauses(found))
    usual = median(s.seconds for s in plain)
    ordered = sorted(s.seconds for s in plain)
    share, rank = _stragglers(log)
    return Pace(
        step_seconds=usual,
        slow_step_seconds=ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)))],
        n_steps_timed=sum(s.steps for s in plain),
        wall_seconds=found.wall_seconds,
        kept_steps=found.kept[-1].step - found.kept[0].step,
        lost_seconds=found.lost_steps * usual,
        restart_seconds=math.fsum(_more(s, usual) for s in made if s.restart),
        **(_pauses(made, usual) if found.clocked else _told_pauses(found)),
        stalls=tuple(_stalls(made, usual)),
        data_wait_share=_data_wait(found, usual),
        straggler_share=share,
        slowest_rank=rank,
    )


def _more(stretch, usual):
    """Seconds that a stretch took more than its steps do; 0 without a clock."""
    return 0.0 if stretch.wall is None else max(0.0, stretch.wall - stretch.steps * usual)


def _told_pauses(found):
    """Seconds of checkpoints and evaluations as the log tells them, where it has no clock."""
    told = {kind: [e.seconds for e in found.events if e.kind == kind and e.seconds is not None] for kind in _PAUSES}
    return {f"{kind}_seconds": math.fsum(seconds) if seconds else None for kind, seconds in told.items()}


def _pauses(made, usual):
    """Seconds of checkpoints and evaluations by the clock."""
    found = {}
    for kind, other in (_PAUSES, _PAUSES[::-1]):
        with_some = [s for s in made if getattr(s, f"{kind}s") and not s.restart]
        took = [_pause(s, getattr(s, f"{kind}s"), getattr(s, f"{other}s"), usual) for s in with_some]
        known = [seconds for seconds in took if seconds is not None]
        found[f"{kind}_seconds"] = max(0.0, math.fsum(known)) if known else None
    return found


def _pause(stretch, own, others, usual):
    told = math.fsum(s for s in own if s is not None) if any(s is not None for s in own) else None
    if stretch.wall is None:
        return told
    if told is not None and others:
        return told  # both in one stretch: its own word
    more, of_others = stretch.wall - stretch.steps * usual, math.fsum(s for s in others if s is not None)
    if others and not of_others:
        return more * len(own) / (len(own) + len(others))
    return more - of_others


def _stalls(made, usual):
    longest = log_limit("stall", "ratio")
    for s in made:
        calm = not (s.restart or s.warm_up or s.checkpoints or s.evaluations)
        took = s.wall if s.wall is not None else (s.seconds or 0.0) * s.steps
        if calm and took > longest * s.steps * usual:
            yield Stall(s.line, s.step, took - s.steps * usual)


def _data_wait(found, usual):
    waits = [e for e in found.kept[1:] if e.data_seconds is not None and 0 <= e.data_seconds < math.inf]
    told = [(e.data_seconds, e.seconds if e.seconds and 0 < e.seconds < math.inf else usual) for e in waits]
    return math.fsum(wait for wait, _ in told) / math.fsum(step for _, step in told) if told else None


def _stragglers(log):
    """Share of the step that the slowest rank cost, over the median rank; and which rank it mostly was."""
    if len(log.ranks) < 2:
        return None, None
    by_step = defaultdict(dict)
    for entry in log.entries:
        if entry.rank is not None and entry.seconds is not None and entry.seconds > 0:
            by_step[entry.step][entry.rank] = entry.seconds
    shares, slowest = [], defaultdict(int)
    for seconds in by_step.values():
        if len(seconds) > 1:
            worst = max(seconds, key=seconds.get)
            slowest[worst] += 1
            shares.append(1 - median(seconds.values()) / seconds[worst])
    return (math.fsum(shares) / len(shares), max(slowest, key=slowest.get)) if shares else (None, None)

"""The order of a log: restarts, steps done twice, gaps, and lines out of place; what is sound of it."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import median_low
from typing import NamedTuple

from lib import check
from lib.logs.entries import START, Entry, Log, Problem
from lib.units import show

_REGULAR = 3  # equal distances in a row: another interval of logging, and no gap
_MOST_GAPS = 1000
_CLOCK_SECONDS = 1.0  # by which clocks are corrected, or lines of one moment change places


class Restart(NamedTuple):
    """A place where the run was started again."""

    line: int
    before: int  # the last step that was told
    after: int  # the first step that is told of the new start
    lost_steps: int  # that were done and had to be done again
    seconds: float | None  # on the clock, between the two lines; None without times of day


@dataclass(frozen=True, kw_only=True)
class Course:
    """A log in order.

    Args:
        kept: a tuple of `Entry` with rising steps: the last attempt of each.
        walk: a tuple of `Entry` as they were written, without lines out of place.
        restart_at: places in `walk` that begin a new start, besides the first.
        restarts: a tuple of `Restart`.
        repeated: (first, second) `Entry` of steps that were done twice.
        interval: steps from one line to the next, as usual.
        problems: a tuple of `Problem`.
        events: a tuple of `Event`.

    Raises:
        TypeError: for something else.
    """

    kept: tuple[Entry, ...]
    walk: tuple[Entry, ...]
    restart_at: tuple[int, ...] = ()
    restarts: tuple[Restart, ...] = ()
    repeated: tuple[tuple[Entry, Entry], ...] = ()
    interval: int = 1
    problems: tuple[Problem, ...] = ()
    events: tuple = ()

    def __post_init__(self):
        names = "kept walk restart_at restarts repeated problems events"
        check.instance(tuple, **{name: getattr(self, name) for name in names.split()})
        check.integer(interval=self.interval)

    @property
    def lost_steps(self):
        """Steps that were done twice or more."""
        return sum(restart.lost_steps for restart in self.restarts)

    @property
    def clocked(self):
        """Whether first and last line tell the time of day, and it rises."""
        first, last = self.walk[0].time, self.walk[-1].time
        return None not in (first, last) and last > first

    @property
    def wall_seconds(self):
        """Time from the first line to the last; None without times of day."""
        return self.walk[-1].time - self.walk[0].time if self.clocked else None


def leading(log):
    """Entries of the rank that tells of most losses, the lowest of several; all where no rank is told.

    Args:
        log: a `Log`.
    """
    check.instance(Log, log=log)
    told = Counter(entry.rank for entry in log.entries if entry.loss is not None)
    if len(told) < 2 and len(log.ranks) < 2:
        return log.entries
    told = told or Counter(entry.rank for entry in log.entries)
    most = max(told.values())
    rank = min((rank for rank, n in told.items() if n == most), key=lambda rank: -1 if rank is None else rank)
    return tuple(entry for entry in log.entries if entry.rank == rank)


def course(log):
    """A log in order.

    A step that comes again begins a new start if those after it come again too; if it comes alone it is out of place.
    Of a step that was done twice the later attempt counts, for it is what the run went on from.

    Args:
        log: a `Log`.

    Raises:
        TypeError: for something else.

    Source: a choice of the handbook.

    >>> from lib.logs.entries import Log
    >>> steps = (1, 2, 3, 4, 3, 4, 5)
    >>> found = course(Log(entries=tuple(Entry(line=i + 1, step=s, loss=2.0) for i, s in enumerate(steps))))
    >>> found.lost_steps, [entry.line for entry in found.kept]
    (2, [1, 2, 5, 6, 7])
    """
    entries, problems = _oldest_first(leading(log))
    rises = [b.step - a.step for a, b in pairwise(entries) if b.step > a.step]
    interval = median_low(rises) if rises else 1
    walker = _Walker(interval, sorted(event.line for event in log.events if event.kind == START))
    for place, entry in enumerate(entries):
        walker.take(entry, entries[place + 1] if place + 1 < len(entries) else None)
    problems += (*walker.problems, *_gaps(walker.kept, interval))
    return Course(
        kept=tuple(walker.kept),
        walk=tuple(walker.walk),
        restart_at=tuple(walker.restart_at),
        restarts=tuple(walker.restarts),
        repeated=tuple(walker.repeated),
        interval=interval,
        problems=tuple(sorted(problems)),
        events=log.events,
    )


def _oldest_first(entries):
    """Entries of a log that was written, or sorted, from its end turned round, and the problem that it is."""
    falls = [b for a, b in pairwise(entries) if b.step < a.step]
    if len(falls) < _REGULAR or 3 * len(falls) < 2 * len(entries):  # crash after crash: every other line
        return entries, ()
    return entries[::-1], (Problem(falls[0].line, "steps fall from line to line: read from the end"),)


class _Walker:
    """Goes through entries in the order of the file."""

    def __init__(self, interval, starts):
        self.interval, self.starts = interval, starts
        self.kept, self.walk, self.restart_at = [], [], []
        self.restarts, self.repeated, self.problems = [], [], []

    def take(self, entry, following):
        """The next entry, with the one after it."""
        last = self.walk[-1] if self.walk else None
        if last is None:
            self._append(entry)
            return
        started = self._started(last.line, entry.line)
        if started or entry.step <= last.step:
            if not started and self._alone(last, entry, following):
                self._misplaced(last, entry)
                return
            self._restart(last, entry)
        if None not in (entry.time, last.time) and last.time - entry.time > _CLOCK_SECONDS:
            back = show(last.time - entry.time, "s")
            self.problems.append(Problem(entry.line, f"the time of day goes back by {back}"))
        self._append(entry)

    def _started(self, after, until):
        place = bisect_left(self.starts, after + 1)
        return place < len(self.starts) and self.starts[place] <= until

    def _alone(self, last, entry, following):
        """Whether the log goes on as if this line were not there."""
        if None not in (entry.time, last.time) and entry.time - last.time > self._soon(entry, last):
            return False
        return following is None or following.step > last.step

    def _soon(self, entry, last):
        """Seconds within which a line belongs to the one before: the same step is told twice at once."""
        before = self.walk[-2].time if len(self.walk) > 1 and entry.step == last.step else None
        return 0.0 if before is None else max(0.0, 0.5 * (last.time - before))

    def _misplaced(self, last, entry):
        place = bisect_left(self.kept, entry.step, key=attrgetter("step"))
        if place < len(self.kept) and self.kept[place].step == entry.step:
            self.problems.append(
                Problem(entry.line, f"step {entry.step:,} again, as in line {self.kept[place].line:,}")
            )
        else:
            self.problems.append(Problem(entry.line, f"step {entry.step:,} stands after step {last.step:,}"))
            self.kept.insert(place, entry)

    def _restart(self, last, entry):
        seconds = None if None in (entry.time, last.time) else entry.time - last.time
        lost = max(0, last.step - entry.step + self.interval) if entry.step <= last.step else 0
        self.restarts.append(Restart(entry.line, last.step, entry.step, lost, seconds))
        self.restart_at.append(len(self.walk))
        place = bisect_left(self.kept, entry.step, key=attrgetter("step"))
        self._again = {old.step: old for old in self.kept[place:]}
        del self.kept[place:]

    def _append(self, entry):
        old = getattr(self, "_again", {}).pop(entry.step, None)
        if old is not None:
            self.repeated.append((old, entry))
        self.kept.append(entry)
        self.walk.append(entry)


def _gaps(kept, interval):
    """Steps that are missing between lines: a distance longer than usual that is no interval of its own."""
    rises = [(b.step - a.step, a, b) for a, b in pairwise(kept)]
    found = []
    for rise, run in groupby(rises, key=lambda one: one[0]):
        lines = list(run)
        if rise <= interval or len(lines) >= _REGULAR:
            continue
        for _, a, b in lines[: _MOST_GAPS - len(found)]:
            found.append(Problem(b.line, f"no line for the steps from {a.step:,} to {b.step:,}"))
    return found

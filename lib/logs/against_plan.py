"""A logged run against its plan: what was measured of each assumption, which has broken, and the run forecast again."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from statistics import fmean, median, stdev

from lib import check
from lib.compute.mfu import reported
from lib.description import Expectations, RunDescription
from lib.logs.finish import finish_seconds, progress
from lib.logs.interruptions import usual_interruptions
from lib.logs.limits import log_limit
from lib.logs.outlook import LEVEL, final_loss, student
from lib.logs.pace import stretches
from lib.logs.report import Report
from lib.scaling import law

HELD, BROKEN, UNDECIDED = "holds", "broken", "undecided"
_SAME_BATCH = 0.01  # as a share: what rounding of a printed count may cost
_FEW = 3  # restarts: fewer are told beside those that were to be expected


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One thing that the plan took for granted, beside what the log shows.

    Args:
        name: "utilization", "goodput", "loss law", "stability".
        planned: in words.
        measured: in words, with its interval where there is one.
        verdict: "holds", "broken" or "undecided".
        why: what decides, or what is lacking.

    Raises:
        TypeError, ValueError: for a value of the wrong kind.

    >>> Assumption(name="goodput", planned="0.9", measured="0.8", verdict="broken").verdict
    'broken'
    """

    name: str
    planned: str
    measured: str
    verdict: str
    why: str = ""

    def __post_init__(self):
        check.fields(self, text="name planned measured why")
        check.choice((HELD, BROKEN, UNDECIDED), verdict=self.verdict)


@dataclass(frozen=True, kw_only=True)
class AgainstPlan:
    """A log beside the description of its run.

    Args:
        report: a `Report`.
        run: a `RunDescription`.
        n_gpus: that the log is of, a whole number of at least 1; None for those of the described cluster.
        batch_tokens: of a step of the log, a whole number of at least 1; None for what it tells, or else the run's.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
        ValueError: for a log of another run: its steps hold other tokens than the described ones, or it goes on after
            the described end; for a log of fewer GPUs that does not tell the tokens of a step.
    """

    report: Report
    run: RunDescription
    n_gpus: int | None = None
    batch_tokens: int | None = None

    def __post_init__(self):
        check.instance(Report, report=self.report)
        check.instance(RunDescription, run=self.run)
        check.fields(self, integer="n_gpus batch_tokens")
        if self.whole_cluster:
            self._refuse_other()
        elif self.told_tokens is None:
            raise ValueError("batch_tokens = None: tokens of a step, which the log of fewer GPUs does not tell")

    @property
    def whole_cluster(self):
        """Whether the log is of all described GPUs."""
        return self.n_gpus in (None, self.run.cluster.n_gpus)

    @property
    def told_tokens(self):
        """Tokens of one step as it was said, or as the log tells them; None where neither does."""
        samples = self.report.step_samples
        told = self.report.step_tokens if samples is None else samples * self.run.layout.seq_len
        return told if self.batch_tokens is None else float(self.batch_tokens)

    @property
    def step_tokens_per_gpu(self):
        """Tokens of one step on one GPU."""
        tokens = self.run.batch_tokens if self.whole_cluster else self.told_tokens
        return tokens / (self.n_gpus or self.run.cluster.n_gpus)

    def _refuse_other(self):
        run, told = self.run, self.told_tokens
        if told is not None and abs(told / run.batch_tokens - 1) > _SAME_BATCH:
            raise ValueError(
                f"batch_tokens = {run.batch_tokens:,} in the description: {told:,.0f} in the log; it is of another run"
            )
        if self.report.kept[-1].step > run.steps + self.report.course.interval:
            raise ValueError(
                f"steps = {run.steps:,} in the description: the log goes on to step {self.report.kept[-1].step:,}; it "
                f"is of another run"
            )

    @cached_property
    def expected(self):
        """The `Expectations` of the run."""
        return Expectations(run=self.run)

    @property
    def done(self):
        """Whether the last step is in the log, or nearer to its last line than lines are to each other."""
        return self.report.kept[-1].step + self.report.course.interval > self.run.steps

    @cached_property
    def tokens_per_second_per_gpu(self):
        """Speed of one GPU at the usual step, or as the log says it; None where it does not show it."""
        step, told = self.report.pace.step_seconds, self.report.told_speed
        if step is not None:
            return self.step_tokens_per_gpu / step
        if told is None:
            return None
        return told[0] if told[1] == "one GPU" else told[0] / (self.n_gpus or self.run.cluster.n_gpus)

    @cached_property
    def mfu(self):
        """Utilization as the run's own convention counts it; None where the log shows no speed.

        Raises:
            ValueError: for a speed that no such cluster can have.
        """
        run, speed = self.run, self.tokens_per_second_per_gpu
        if speed is None:
            return None
        counted = self.expected.counted(run.convention_name)
        try:
            return reported(speed, counted.measure, counted, run.shape, float(run.layout.seq_len))
        except ValueError as error:
            raise ValueError(
                f"{speed:,.6g} tokens/s of one GPU, as the log has it, are not of this cluster: {error}"
            ) from None

    @cached_property
    def mfu_interval(self):
        """Ends of 95 % for the utilization, from medians of blocks of steps; None where there are too few."""
        n = log_limit("finish date", "batches")
        made = stretches(self.report.course, self.report.step_tokens_per_gpu)
        timed = [s.seconds for s in made if s.seconds and not (s.restart or s.warm_up)]
        if len(timed) < 2 * n or self.mfu is None:
            return None
        blocks = [median(timed[len(timed) * i // n : len(timed) * (i + 1) // n]) for i in range(n)]
        off = student(LEVEL, n - 1) * stdev(blocks) / math.sqrt(n)
        usual, slow, fast = median(timed), fmean(blocks) + off, fmean(blocks) - off
        return self.mfu * usual / slow, min(1.0, self.mfu * usual / fast) if fast > 0 else 1.0

    @cached_property
    def goodput_interval(self):
        """Ends of 95 % for the goodput of as many steps more; None where the log is too short or has no clock."""
        found, step, steps = self.progress, self.report.pace.step_seconds, self.report.pace.kept_steps
        if found is None or step is None or not steps:
            return None
        low, _, high = found.seconds_for(steps, self.interruptions)
        return steps * step / high, min(1.0, steps * step / low)

    @cached_property
    def progress(self):
        """How the log got on, a `Progress`; None where it is too short or has no clock."""
        return progress(self.report)

    @cached_property
    def interruptions(self):
        """What plan and published runs say of those of the log's GPUs, before it is read."""
        return usual_interruptions(self.expected, self.n_gpus)

    @cached_property
    def finish(self):
        """Seconds from the last line to the end, an `Outlook`."""
        return finish_seconds(self.report, self.run.steps, self.interruptions)

    @cached_property
    def planned_seconds_left(self):
        """The same at the measured speed and the goodput of the plan; None without a speed."""
        if self.tokens_per_second_per_gpu is None:
            return None
        left = max(0, self.run.steps - self.report.kept[-1].step) * self.run.batch_tokens
        return left / (self.tokens_per_second_per_gpu * self.run.cluster.n_gpus * self.run.goodput)

    def date(self, seconds):
        """The day and time so many seconds after the last line, as the log's own clock has it; "" without one.

        Args:
            seconds: 0 or more.
        """
        check.scalar(seconds=seconds)
        check.non_negative(seconds=seconds)
        last = self.report.course.walk[-1].time
        if last is None or last + seconds > 2e11:
            return ""
        return datetime.fromtimestamp(last + seconds, UTC).strftime("%Y-%m-%d %H:%M")

    @cached_property
    def loss(self):
        """The final loss, an `Outlook`."""
        found = law(self.run.law_name)
        return final_loss(self.report, self.run.steps, found.beta, self.run.schedule.warmup_steps)

    @property
    def rate_left(self):
        """(learning rate now, at the end): what still has to fall, by the described schedule."""
        schedule = self.run.schedule
        now = min(float(self.report.kept[-1].step), schedule.total_steps)
        return schedule.at(now), schedule.at(schedule.total_steps)

    @cached_property
    def failures(self):
        """(restarts seen, interruptions that the plan's rate makes of the log's time); None without a clock."""
        wall = self.report.course.wall_seconds
        if wall is None:
            return None
        return len(self.report.course.restarts), wall / self.interruptions.between_seconds

    @property
    def assumptions(self):
        """A tuple of `Assumption`."""
        return (self._of_mfu(), self._of_goodput(), self._of_loss(), self._of_stability())

    @property
    def broken(self):
        """Names of those that have broken."""
        return tuple(one.name for one in self.assumptions if one.verdict == BROKEN)

    def _of_mfu(self):
        speed = self.expected.tokens_per_second_per_gpu
        least = speed.range[0] / speed.value * self.run.mfu
        planned = f"{self.run.mfu:.3g}, at least {least:.3g}, counted as {self.run.convention_name}"
        why = "" if self.mfu is not None else "the log tells no time of a step and no speed"
        return _judged("utilization", planned, self.mfu, self.mfu_interval, least, why)

    def _of_goodput(self):
        value, why = self.report.pace.goodput, ""
        if value is None:
            why = "the log tells no times of day"
        elif self.failures and self.failures[0] < _FEW:
            seen, usual = self.failures
            why = f"restarts in the log: {seen}, and {usual:.2g} at Llama 3's rate; so few tell a rate badly"
        return _judged("goodput", f"at least {self.run.goodput:g}", value, self.goodput_interval, self.run.goodput, why)

    def _of_loss(self):
        ends, found = self.expected.loss.range, self.loss
        planned = f"{self.expected.loss.value:.3f}" + (f", {ends[0]:.3f} to {ends[1]:.3f}" if ends else "")
        named = {"name": "loss law", "planned": f"{planned} by {self.run.law_name}"}
        if not found.decided:
            return Assumption(**named, measured="not decidable", verdict=UNDECIDED, why=found.reason)
        interval = "" if self.done else f", {found.low:.3f} to {found.high:.3f}, forecast"
        named["measured"] = f"{found.best:.3f}{interval}"
        if ends is None:
            return Assumption(**named, verdict=UNDECIDED, why="nobody has published the law's error")
        now, end = self.rate_left
        if found.high <= ends[1]:
            low = found.high < ends[0]
            return Assumption(
                **named, verdict=HELD, why="below the law's own range: other text or tokenizer?" if low else ""
            )
        if found.low <= ends[1]:
            return Assumption(**named, verdict=UNDECIDED, why="the intervals overlap")
        if now > 1.5 * end:
            why = (
                f"the learning rate still falls from {now:.2g} to {end:.2g}: nobody knows how far that lowers the loss"
            )
            return Assumption(**named, verdict=UNDECIDED, why=why)
        return Assumption(**named, verdict=BROKEN, why="all of the interval lies above the law's range")

    def _of_stability(self):
        nans, still = len(self.report.nan_lines), sum(spike.until is None for spike in self.report.spikes)
        losses = any(entry.loss is not None for entry in self.report.kept)
        measured = f"{nans} and {still}" if losses else "no loss in the log"
        verdict = BROKEN if nans or still else HELD if losses else UNDECIDED
        return Assumption(
            name="stability", planned="no loss that is no number, no open spike", measured=measured, verdict=verdict
        )


def _judged(name, planned, value, ends, least, why):
    """Broken if all of the interval lies below, held if none of it does."""
    if value is None:
        return Assumption(name=name, planned=planned, measured="not shown", verdict=UNDECIDED, why=why)
    if ends is None:
        short = why or "too few lines for an interval"
        return Assumption(name=name, planned=planned, measured=f"{value:.3g}", verdict=UNDECIDED, why=short)
    low, high = min(ends[0], value), max(ends[1], value)
    verdict = BROKEN if high < least else HELD if low >= least else UNDECIDED
    more = why or ("" if verdict != UNDECIDED else "the interval holds the threshold")
    return Assumption(
        name=name, planned=planned, measured=f"{value:.3g}, {low:.3g} to {high:.3g}", verdict=verdict, why=more
    )

"""What to expect of a run that is described: FLOPs, days, speed, memory, loss, cost, each with its tolerance."""

from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.compute import calendar_days, train_flops_exact
from lib.compute.mfu import CONVENTIONS, convention, tokens_per_second_per_gpu
from lib.description.limits import limit
from lib.description.run import RunDescription
from lib.memory import fit, ledger
from lib.scaling import law
from lib.scaling.allocations import Allocation
from lib.scaling.certainty import SPREADS
from lib.scaling.certainty import loss as loss_with_error
from lib.units import HOURS_PER_DAY, SECONDS_PER_DAY, show_number

STANDARD_ERRORS = 1.96  # to either side: 95 %


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """A number that a run is expected to show, with how far it may be off.

    Args:
        label: what it is.
        value: how much, > 0.
        unit: of value and tolerance.
        tolerance: to either side, 0 or more; None where nobody has published one, and nothing can be decided.
        source: where the number comes from.
        tolerance_source: where the tolerance comes from.
        formula: with the numbers put in.

    Raises:
        TypeError, ValueError: for a value or a tolerance out of range.

    >>> Expectation(label="loss", value=2.0, unit="nats per token", tolerance=0.05).range
    (1.95, 2.05)
    """

    label: str
    value: float
    unit: str = ""
    tolerance: float | None = None
    source: str = ""
    tolerance_source: str = ""
    formula: str = ""

    def __post_init__(self):
        check.fields(self, text="label unit source tolerance_source formula")
        check.fields(self, positive="value", non_negative="tolerance")

    @property
    def range(self):
        """Lowest and highest value that is still as expected; None without a tolerance."""
        return None if self.tolerance is None else (max(0.0, self.value - self.tolerance), self.value + self.tolerance)

    @property
    def range_width(self):
        """From the lowest to the highest value that is still as expected; None without a tolerance."""
        return None if self.range is None else self.range[1] - self.range[0]


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """What follows from a run description.

    Args:
        run: a `RunDescription`.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> expected = Expectations(run=parse(text))
    >>> f"{expected.days.value:.1f} days, {expected.tokens_per_second.value:,.0f} tokens/s"
    '22.0 days, 525,691 tokens/s'
    """

    run: RunDescription

    def __post_init__(self):
        check.instance(RunDescription, run=self.run)

    @cached_property
    def flops(self):
        """Training compute by 6 N D; the exact count of the shape stands beside it as `exact_flops`."""
        run = self.run
        return Expectation(
            label="training compute, 6 N D",
            value=run.compute_flops,
            unit="FLOP",
            tolerance=0.0,
            source="Kaplan et al. 2020, arXiv:2001.08361, section 2.1",
            tolerance_source="arithmetic",
            formula=f"6 x {run.shape.n_params_active:,} x {show_number(run.n_tokens)}",
        )

    @cached_property
    def exact_flops(self):
        """The same counted product by product, with causal attention and without the input table  [FLOP]."""
        return float(train_flops_exact(self.run.shape, self.run.n_tokens, self.run.layout.seq_len, "causal"))

    def counted(self, name):
        """The convention of a name, over the peak of the run's accelerator and data type.

        Args:
            name: as in `speed_if_counted`.
        """
        run = self.run
        peak = f"{run.cluster.accelerator.name}, {run.dtype}"
        return convention(name).dividing_by(run.cluster.peak_flops(run.dtype), peak)

    def speed_if_counted(self, name):
        """Tokens/s of one GPU if the assumed utilization was reported under a convention.

        Args:
            name: of the convention, such as "6N" or "Megatron-LM".
        """
        run, counted = self.run, self.counted(name)
        return tokens_per_second_per_gpu(run.mfu, counted.measure, counted, run.shape, float(run.layout.seq_len))

    def days_if_counted(self, name):
        """Compute days if the assumed utilization was reported under a convention.

        Args:
            name: as in `speed_if_counted`.
        """
        return self.run.n_tokens / (self.speed_if_counted(name) * self.run.cluster.n_gpus) / SECONDS_PER_DAY

    @property
    def other_conventions(self):
        """Names of the conventions that count the same kind of utilization as the run's own."""
        measure = self.counted(self.run.convention_name).measure
        return tuple(n for n, c in CONVENTIONS.items() if c.measure == measure and n != self.run.convention_name)

    @cached_property
    def tokens_per_second_per_gpu(self):
        """Speed of one GPU."""
        run, tolerance = self.run, limit("speed", "share")
        value = self.speed_if_counted(run.convention_name)
        return Expectation(
            label="speed of one GPU",
            value=value,
            unit="tokens/s",
            tolerance=value * tolerance.value,
            source=f"the run description: utilization {run.mfu:g}, counted as {run.convention_name}",
            tolerance_source=tolerance.source,
            formula=f"{run.mfu:g} x {show_number(run.cluster.peak_flops(run.dtype))} / "
            f"{show_number(self.counted(run.convention_name).flops_per_token(run.shape, float(run.layout.seq_len)))}",
        )

    @cached_property
    def tokens_per_second(self):
        """Speed of the cluster."""
        one, n_gpus = self.tokens_per_second_per_gpu, self.run.cluster.n_gpus
        return Expectation(
            label="speed of the cluster",
            value=one.value * n_gpus,
            unit="tokens/s",
            tolerance=one.tolerance * n_gpus,
            source=one.source,
            tolerance_source=one.tolerance_source,
            formula=f"{show_number(one.value)} x {n_gpus:,}",
        )

    @cached_property
    def days(self):
        """Days in which the job makes progress."""
        speed = self.tokens_per_second
        value = self.run.n_tokens / speed.value / SECONDS_PER_DAY
        return Expectation(
            label="compute days",
            value=value,
            unit="days",
            tolerance=value * limit("speed", "share").value,
            source=speed.source,
            tolerance_source=speed.tolerance_source,
            formula=f"{show_number(self.run.n_tokens)} / {show_number(speed.value)} / 86,400",
        )

    @cached_property
    def calendar_days(self):
        """Days on the calendar, at the described goodput."""
        days, goodput = self.days, self.run.goodput
        return Expectation(
            label="calendar days",
            value=calendar_days(days.value, goodput),
            unit="days",
            tolerance=calendar_days(days.tolerance, goodput),
            source=f"the run description: goodput {goodput:g}",
            tolerance_source=days.tolerance_source,
            formula=f"{show_number(days.value)} / {goodput:g}",
        )

    @property
    def gpu_hours(self):
        """GPU-hours for which the cluster is held: what is paid."""
        return self.run.cluster.n_gpus * self.calendar_days.value * HOURS_PER_DAY

    @property
    def cost_usd(self):
        """What the run costs, USD; None where the description has no price."""
        return self.cost_of(self.gpu_hours)

    def cost_of(self, gpu_hours):
        """What so many GPU-hours cost, USD; None where the description has no price.

        Args:
            gpu_hours: 0 or more.
        """
        check.scalar(gpu_hours=gpu_hours)
        check.non_negative(gpu_hours=gpu_hours)
        price = self.run.price_usd_per_gpu_hour
        return None if price is None else check.result(cost_usd=gpu_hours * price)

    @cached_property
    def ledger(self):
        """Every byte on every GPU, a `lib.memory.Ledger`."""
        return ledger(self.run.shape, self.run.layout, self.run.profile)

    @cached_property
    def memory(self):
        """Memory of the heaviest GPU at its peak, as the framework's allocator reserves it."""
        value, tolerance = self.ledger.bytes("reserved"), limit("memory", "share")
        heaviest = self.ledger.heaviest
        return Expectation(
            label="memory of the heaviest GPU",
            value=value,
            unit="bytes",
            tolerance=value * tolerance.value,
            source=f"lib.memory.ledger, {self.run.profile.name}, stage {heaviest.stage.index}, {heaviest.peak.event}",
            tolerance_source=tolerance.source,
        )

    @cached_property
    def fit(self):
        """The ledger beside the accelerator, a `lib.memory.Fit`; None where nobody read the driver's total."""
        chip = self.run.cluster.accelerator
        return None if chip.memory_bytes is None else fit(self.ledger, chip)

    @cached_property
    def loss(self):
        """Final training loss by the described law, with the law's own error."""
        run = self.run
        counted, n_params = law(run.law_name), float(run.shape.n_params_active)
        error, error_source = _error(counted, Allocation(n_params=n_params, n_tokens=run.n_tokens))
        return Expectation(
            label="final loss",
            value=counted.loss(n_params, run.n_tokens),
            unit="nats per token",
            tolerance=None if error is None else STANDARD_ERRORS * error,
            source=f"{counted.name}, {counted.source}; {self.reach}",
            tolerance_source=error_source,
            formula=f"L({show_number(n_params)}, {show_number(run.n_tokens)})",
        )

    @property
    def reach(self):
        """How far the law is stretched by this run, in words."""
        shape = self.run.shape
        n_experts = shape.moe.n_experts if shape.moe else 1
        return law(self.run.law_name).label(float(shape.n_params_active), self.run.n_tokens, n_experts)

    @property
    def rows(self):
        """The expectations that have a tolerance, in the order in which a plan asks for them."""
        speed = (self.tokens_per_second, self.tokens_per_second_per_gpu)
        return (self.flops, self.days, self.calendar_days, *speed, self.memory, self.loss)


def _error(counted, run):
    """A law's standard error for a run, in nats, and whose word that is; None where nobody has given one."""
    if counted in SPREADS:
        return loss_with_error(counted, run).error, f"{STANDARD_ERRORS} standard errors of all constants together"
    printed = counted.origin.errors if counted.origin else None
    if printed is None:
        return None, "no error of this law was published: its loss decides nothing"
    return printed.E, f"{STANDARD_ERRORS} standard errors of E alone, as printed"

"""What each rung of the ladder measures, and from where to where it may lie, for one described run."""

import math
from dataclasses import dataclass

from lib import check
from lib.description.expectations import Expectations
from lib.description.limits import limit
from lib.units import show

EXACT = "by definition: anything else is a fault"
_PLAN = "the run description"
RATE = ("GPU-hours between interruptions", "gpu_hours")
_ANY_SHARDING = ("data_parallel", "fsdp", "tensor", "sequence")


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """One measured quantity of a rung, and from where to where it may lie.

    Args:
        name: the quantity's name in evidence.
        label: what it is, in words.
        unit: of the quantity; "" for a pure number.
        at_least, at_most: the ends, both allowed; None for no end. With neither, nothing can be decided.
        source: where the ends come from.
        on_target: True if only a measurement on the plan's own accelerator tells anything.
        undecided: of a limit on the evidence and not on the run: what a value outside makes of it, in words; such a
            value decides nothing. "" where a value outside fails.

    Raises:
        TypeError, ValueError: for an end that is no finite number, or ends in the wrong order.

    >>> Threshold(name="nan_losses", label="losses that are no number", at_most=0.0).text
    'exactly 0'
    """

    name: str
    label: str
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    source: str = ""
    on_target: bool = False
    undecided: str = ""

    def __post_init__(self):
        check.fields(self, text="name label unit source undecided", finite="at_least at_most", boolean="on_target")
        if None not in (self.at_least, self.at_most) and self.at_least > self.at_most:
            raise ValueError(f"at_least = {self.at_least:g}: at most at_most = {self.at_most:g}")

    @property
    def decides(self):
        """False where there is no end: nobody has published what the quantity may be."""
        return self.at_least is not None or self.at_most is not None

    @property
    def text(self):
        """The threshold in words, without its label."""
        if not self.decides:
            return "not decidable"
        if self.at_most == 0 and self.at_least in (None, 0):
            return "exactly 0"
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return ", ".join(f"{word} {show(end, self.unit)}" for word, end in ends if end is not None)

    def margin(self, value):
        """How far a measured value lies inside its nearest end, in its unit; below 0 outside, by so much.

        Args:
            value: as measured; minus infinity is the margin of what is no finite number.

        >>> Threshold(name="mfu", label="utilization", at_least=0.4).margin(0.38)
        -0.02
        """
        check.scalar(value=value)
        if not math.isfinite(value):
            return -math.inf
        ends = [value - self.at_least] if self.at_least is not None else []
        ends += [self.at_most - value] if self.at_most is not None else []
        return float(f"{min(ends, default=-math.inf):.12g}")


def _none(name, label, unit="", **more):
    return Threshold(name=name, label=label, unit=unit, at_least=0.0, at_most=0.0, source=EXACT, **more)


def _within(name, label, row, field, **more):
    """At most so much, in either direction measured as an amount."""
    found = limit(row, field)
    return Threshold(name=name, label=label, unit=found.unit, at_most=float(found.value), source=found.source, **more)


def _around_one(name, label, row, **more):
    found = limit(row, "share")
    ends = {"at_least": 1 - found.value, "at_most": 1 + found.value}
    return Threshold(name=name, label=label, source=found.source, **ends, **more)


def _unit(expected):
    """Rung 1: the model does what its description says."""
    yield _none("parameter_difference", "parameters too many or too few", "parameters")
    yield _none("shape_differences", "tensors of another shape", "tensors")
    yield _none("mask_leak", "what a later token changes in the past")
    yield _within("initial_loss_error", "loss at the start from ln(vocabulary)", "loss at the start", "nats")
    yield _within("gradient_error", "gradients from finite differences", "gradient", "share")
    yield _within("padding_error", "loss with padding from that without", "padding", "share")
    if expected.run.shape.tied:
        yield _none("tied_difference", "tied tables apart after a step")
    yield _none("serialisation_difference", "numbers that a file changed")


def _one_batch(expected):
    """Rung 2: it can learn."""
    yield _within("one_batch_loss", "loss on the one batch", "one batch", "nats")
    yield _within("one_batch_steps", "steps that it took", "one batch", "steps")


def _one_device(expected):
    """Rung 3: it costs what the arithmetic says."""
    yield _none("flops_difference", "FLOPs compiled from those counted", "FLOP")
    yield _none("decoded_differences", "sample tokens that decode wrongly", "tokens")
    yield Threshold(name="batches_inspected", label="sample batches a person looked at", at_least=1.0, source=EXACT)
    peak = "no machine beats its own matrix products"
    yield Threshold(
        name="mfu_of_measured_peak", label="utilization of the machine's own peak", at_most=1.0, source=peak
    )
    yield from _sound_log()
    yield _around_one("memory_over_ledger", "memory over the ledger's", "memory", on_target=True)
    yield _speed(expected)


def _one_node(expected):
    """Rung 4: it computes the same on many devices, and after a restart."""
    for name in _ANY_SHARDING:
        label = f"step, {name.replace('_', '-')} sharding, apart"
        yield _within(f"{name}_difference", label, "sharded step", "share")
    yield _around_one("state_bytes_over_ledger", "states on a device over the ledger's", "states on a device")
    yield _none("resumed_loss_difference", "losses after a resume, apart", "nats per token")
    yield _none("resumed_data_difference", "tokens after a resume, not the next ones", "tokens")


def _few_nodes(expected):
    """Rung 5: the network, the storage and the people are ready for failures."""
    yield from _sound_log()
    yield _speed(expected)
    yield from _bus(expected)
    kept = limit("scaling", "share")
    ends = {"at_least": float(kept.value), "source": kept.source, "on_target": True}
    yield Threshold(name="scaling_efficiency", label="speed of a GPU over that in one node", **ends)
    yield _within("straggler_share", "step time lost to the slowest rank", "stragglers", "share", on_target=True)
    yield _within(
        "data_wait_share", "step time spent on waiting for data", "starved data loader", "share", on_target=True
    )
    yield from _stalls(expected)
    yield _lost_to_a_failure(expected)
    yield _none("resumed_loss_difference", "losses after a killed node, apart", "nats per token", on_target=True)
    yield _spare_nodes(expected)


def _short_run(expected):
    """Rung 6: slopes, stability, evaluations and operations at full scale."""
    yield from _sound_log()
    yield _speed(expected)
    yield from _memory(expected)
    yield from _goodput(expected)
    yield _none("open_spikes", "loss spikes that stayed off the trend", on_target=True)
    for name, label, field in (
        ("small_runs", "small runs behind the forecast", "runs"),
        ("small_run_decades", "decades of compute that they span", "decades"),
    ):
        found = limit("small runs", field)
        yield Threshold(name=name, label=label, unit=found.unit, at_least=float(found.value), source=found.source)
    low, high = expected.loss.range or (None, None)
    forecast = {"unit": "nats per token", "source": f"{expected.loss.source}; {expected.loss.tolerance_source}"}
    yield Threshold(name="forecast_loss_low", label="lower end of the forecast loss", at_most=high, **forecast)
    yield Threshold(name="forecast_loss_high", label="upper end of the forecast loss", at_least=low, **forecast)
    yield _forecast_width(expected.loss)


def _forecast_width(loss):
    """A wide forecast overlaps any law. No wider than the law's range, it misses a loss off by twice the tolerance."""
    return Threshold(
        name="forecast_loss_width",
        label="width of the forecast loss",
        unit="nats per token",
        at_most=loss.range_width,
        source=f"a choice of the handbook: as wide as the range that the run expects, and no wider, for otherwise the "
        f"small runs tell less than the law did before them; {loss.tolerance_source}",
        undecided="forecast too wide",
    )


def _full_run(expected):
    """Rung 7: what was planned was done."""
    run, loss = expected.run, expected.loss
    ends = {"at_least": float(run.steps * run.batch_tokens), "source": f"{_PLAN}: its whole steps", "on_target": True}
    yield Threshold(name="tokens", label="tokens trained", unit="tokens", **ends)
    most = expected.calendar_days
    ends = {"at_most": most.range[1], "source": f"{most.source}; {most.tolerance_source}", "on_target": True}
    yield Threshold(name="calendar_days", label="days on the calendar", unit="days", **ends)
    yield from _sound_log()
    yield _speed(expected)
    yield from _goodput(expected)
    yield from _memory(expected)
    yield _none("open_spikes", "loss spikes that stayed off the trend", on_target=True)
    most = loss.range[1] if loss.range else None
    ends = {"at_most": most, "source": f"{loss.source}; {loss.tolerance_source}", "on_target": True}
    yield Threshold(name="final_loss", label="final loss", unit="nats per token", **ends)


def _speed(expected):
    speed = expected.tokens_per_second_per_gpu
    share = speed.range[0] / speed.value * expected.run.mfu
    label = f"utilization, counted as {expected.run.convention_name}"
    source = f"{speed.source}; {speed.tolerance_source}"
    return Threshold(name="mfu", label=label, at_least=share, at_most=1.0, source=source, on_target=True)


def _memory(expected):
    memory, room = expected.memory, expected.fit
    ends = {"at_most": memory.range[1], "source": f"{memory.source}; {memory.tolerance_source}", "on_target": True}
    yield Threshold(name="reserved_bytes", label="memory the allocator reserved", unit="bytes", **ends)
    if room is not None:
        ends = {"at_most": room.usable_bytes, "source": "the driver's total less the headroom", "on_target": True}
        yield Threshold(name="driver_bytes", label="memory that the driver reports", unit="bytes", **ends)


def _goodput(expected):
    goodput = {"at_least": expected.run.goodput, "source": _PLAN, "on_target": True}
    yield Threshold(name="goodput", label="share of the time that made progress", **goodput)
    yield from _stalls(expected)


def _stalls(expected):
    """Each pause alone may take what the goodput leaves; together they are held by the goodput itself."""
    left = {"at_most": 1 - expected.run.goodput, "source": f"{_PLAN}: 1 less goodput", "on_target": True}
    for name, label in (("checkpoint", "checkpoints"), ("evaluation", "evaluations")):
        yield Threshold(name=f"{name}_stall_share", label=f"time that {label} held the job", **left)


def _bus(expected):
    """What an all-reduce in a node carries, beside the links of a GPU; nothing where they do not join all of a node."""
    chip, least = expected.run.cluster.accelerator, limit("bus bandwidth", "share")
    if chip.name not in limit("bus bandwidth", "accelerators").value.split(", ") or expected.run.cluster.n_gpus < 2:
        return
    source = f"{least.source}; {chip.sources['link_bytes_per_second']}"
    ends = {"at_least": least.value * chip.link_bytes_per_second / 1e9, "source": source, "on_target": True}
    label = "bus bandwidth of an all-reduce in a node"
    yield Threshold(name="bus_gb_per_second", label=label, unit="GB/s", **ends)


def _sound_log():
    """Of every rung that a log speaks for: what else it says is not to be trusted without."""
    yield _none("log_problems", "lines of the log that are not sound", on_target=True)
    yield _none("nan_losses", "losses that are no number", on_target=True)


def hours_between_interruptions(expected):
    """Mean time between unexpected interruptions of the whole job, at the rate of Llama 3's cluster  [hours].

    Args:
        expected: the `Expectations` of a run.

    Source: Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.4.
    """
    check.instance(Expectations, expected=expected)
    return limit(*RATE).value / expected.run.cluster.n_gpus


def _lost_to_a_failure(expected):
    """What the goodput allows a failure to cost: work since the last checkpoint, and the way back."""
    rate = limit(*RATE)
    hours = hours_between_interruptions(expected) * (1 - expected.run.goodput)
    source = f"{_PLAN}: 1 less goodput, of the hours between interruptions at the rate of {rate.source}"
    label = "lost to a killed node, in all"
    ends = {"at_most": hours, "source": source, "on_target": True}
    return Threshold(name="hours_lost_to_a_failure", label=label, unit="hours", **ends)


def _spare_nodes(expected):
    """As many as break, at that rate, while one is being repaired; at least one."""
    repair, rate = limit("repair", "hours"), limit(*RATE)
    nodes = max(1, math.ceil(repair.value / hours_between_interruptions(expected)))
    ends = {"at_least": float(nodes), "source": f"{rate.source}; {repair.source}", "on_target": True}
    return Threshold(name="spare_nodes", label="spare nodes", unit="nodes", **ends)


_OF_RUNGS = (_unit, _one_batch, _one_device, _one_node, _few_nodes, _short_run, _full_run)


def thresholds(number, expected):
    """The thresholds of a rung.

    Args:
        number: of the rung, 1 to 7.
        expected: the `Expectations` of a run.

    Returns:
        A tuple of `Threshold`.

    Raises:
        TypeError, ValueError: for what is no rung, no expectations.

    Source: each threshold names its own.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> [one.text for one in thresholds(2, Expectations(run=parse(text)))]
    ['at most 0.0500 nats per token', 'at most 300 steps']
    """
    check.integer(number=number)
    check.at_most(len(_OF_RUNGS), number=number)
    check.instance(Expectations, expected=expected)
    return tuple(_OF_RUNGS[number - 1](expected))

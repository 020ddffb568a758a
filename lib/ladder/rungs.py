"""The seven rungs: what each is for, what it costs, what a failure means for the plan."""

from dataclasses import dataclass
from functools import lru_cache

from lib import check
from lib.description.expectations import Expectations
from lib.description.limits import limit
from lib.description.run import RunDescription
from lib.ladder.thresholds import Threshold, thresholds

_TEXTS = (
    (
        "unit",
        "shapes, mask, loss and files of a small model are what the description says",
        "The code trains another model than the one that was planned: stop, nothing above can be trusted.",
    ),
    (
        "one batch",
        "a small model learns one batch by heart at its scaled learning rate",
        "Loss, gradient or learning rate is wrong: check the recipe before any GPU is paid for.",
    ),
    (
        "one device",
        "FLOPs, speed and memory of one device are those of the arithmetic, and the text is what it should be",
        "The assumed utilization or the ledger is wrong: days, cost and layout of the plan move with them.",
    ),
    (
        "one node",
        "sharding changes no number, and a resumed run is the same run",
        "Results would depend on the layout or on failures: the plan's layout and checkpoints cannot be used yet.",
    ),
    (
        "few nodes",
        "network, storage and people stand a failure",
        "Days and cost grow by what is lost to the network, stragglers or restarts: plan again with what was measured.",
    ),
    (
        "short scaled run",
        "speed, memory, stability and the slope of the loss at full scale are as planned",
        "The target or the deadline is missed at full scale: change size, tokens, cluster or recipe before the run.",
    ),
    (
        "full run",
        "what was planned is done",
        "The run is behind its plan: forecast again, and decide whether to go on.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One step of the ladder, for one described run.

    Args:
        number: 1 to 7.
        name: "unit", "one batch", ...
        purpose: what is true when it is passed.
        failure: what it means for the plan when it is not.
        thresholds: a tuple of `Threshold`.
        gpu_hours: what it takes, 0 or more: 0 where a reader's own machine does.
        cost_usd: the same in money, 0 or more; None where the description has no price.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    number: int
    name: str
    purpose: str
    failure: str
    thresholds: tuple[Threshold, ...]
    gpu_hours: float
    cost_usd: float | None = None

    def __post_init__(self):
        check.fields(self, integer="number", text="name purpose failure", non_negative="gpu_hours cost_usd")
        check.instance(tuple, thresholds=self.thresholds)


def rungs(run):
    """The seven rungs for a described run.

    Args:
        run: a `RunDescription`.

    Returns:
        A tuple of `Rung`, the lowest first.

    Raises:
        TypeError: for something else.

    Source: seed document 004, pilot ladder, for the rungs; each threshold names its own.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> [rung.name for rung in rungs(parse(text))][-2:]
    ['short scaled run', 'full run']
    """
    check.instance(RunDescription, run=run)
    return _rungs(run)


@lru_cache(maxsize=8)  # a review of evidence, a ladder and its costs ask for those of the same run
def _rungs(run):
    expected = Expectations(run=run)
    return tuple(_rung(number, expected) for number in range(1, 1 + len(_TEXTS)))


def _rung(number, expected):
    name, purpose, failure = _TEXTS[number - 1]
    gpu_hours = _gpu_hours(name, expected)
    return Rung(
        number=number,
        name=name,
        purpose=purpose,
        failure=failure,
        thresholds=thresholds(number, expected),
        gpu_hours=gpu_hours,
        cost_usd=expected.cost_of(gpu_hours),
    )


def _gpu_hours(name, expected):
    """What a rung takes; the first two run on any machine in minutes."""
    if name in ("unit", "one batch"):
        return 0.0
    if name == "full run":
        return expected.gpu_hours
    if name == "short scaled run":
        return limit("rehearsal", "share").value * expected.gpu_hours
    layout = expected.run.layout
    copy = layout.tensor * layout.pipeline * layout.context if name == "few nodes" else 1
    gpus, hours = limit(name, "gpus").value, limit(name, "hours").value
    return float(min(max(gpus, copy), expected.run.cluster.n_gpus) * hours)

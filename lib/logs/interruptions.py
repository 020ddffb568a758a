"""What a plan and published runs say of a cluster's interruptions, before a log of it is read."""

from dataclasses import dataclass

from lib import check
from lib.description import Expectations
from lib.description.limits import limit
from lib.ladder.published import CALENDARS
from lib.ladder.thresholds import RATE, hours_between_interruptions
from lib.units import SECONDS_PER_HOUR


@dataclass(frozen=True, kw_only=True)
class Interruptions:
    """What is known of a cluster's interruptions before its log is read.

    Args:
        between_seconds: from one to the next as the plan counts them, s, > 0.
        least_between_seconds: the same at the worst rate that was published, s, > 0.
        cost_seconds: what one takes where none was seen, s, 0 or more.
        source: of the three.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> Interruptions(between_seconds=9e4, least_between_seconds=3e4, cost_seconds=9e3).cost_seconds
    9000.0
    """

    between_seconds: float
    least_between_seconds: float
    cost_seconds: float
    source: str = ""

    def __post_init__(self):
        check.fields(self, positive="between_seconds least_between_seconds", non_negative="cost_seconds", text="source")


def usual_interruptions(expected, n_gpus=None):
    """What a plan and published runs say of a cluster's interruptions.

        between = GPU-hours between interruptions / GPUs, at Llama 3's rate and at the worst published one
        cost = min((1 - goodput) * between, the most that one took in a published run)

    A plan with a goodput of 1 prices no interruption; there the second stands alone.

    Args:
        expected: the `Expectations` of a run.
        n_gpus: of the log, a whole number of at least 1; None for those of the described cluster.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    Source: lib/data/thresholds.toml for the rate, lib/data/calendars.toml for the worst rate and the highest cost.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 2048'
    >>> found = usual_interruptions(Expectations(run=parse(text)))
    >>> f"{found.between_seconds / 3600:.1f} {found.least_between_seconds / 3600:.1f} {found.cost_seconds / 3600:.2f}"
    '24.7 7.5 2.47'
    """
    check.instance(Expectations, expected=expected)
    if n_gpus is not None:
        check.integer(n_gpus=n_gpus)
    planned, runs = hours_between_interruptions(expected), CALENDARS.values()
    gpus = n_gpus or expected.run.cluster.n_gpus
    worst = min(runs, key=lambda run: run.gpu_hours_between)
    dearest = max(runs, key=lambda run: run.hours_lost)
    allowed = planned * (1 - expected.run.goodput) or dearest.hours_lost
    return Interruptions(
        between_seconds=planned * expected.run.cluster.n_gpus / gpus * SECONDS_PER_HOUR,
        least_between_seconds=worst.gpu_hours_between / gpus * SECONDS_PER_HOUR,
        cost_seconds=min(allowed, dearest.hours_lost) * SECONDS_PER_HOUR,
        source=f"rate: {limit(*RATE).source}; the worst: {worst.source}; the highest cost: {dearest.source}",
    )

"""The what-if "go-or-wait": whether an item of the readiness review is worth a late start."""

from lib import check
from lib.readiness.waiting import break_even, days_lost
from lib.units import HOURS_PER_DAY, show
from lib.whatif import controls
from lib.whatif.model import Axis, Chart, Number, Reference, Row, Series, View, WhatIf

_POINTS = 41
_BLOOM = "bigscience-workshop/bigscience, train/tr11-176B-ml/chronicles.md, 2022-03-11 to 2022-03-24"


def go_or_wait_view(
    fault_probability=0.1, wait_days=2.0, lost_days=13.0, found_share=0.9, n_gpus=384, price_usd_per_gpu_hour=2.0
):
    """Start now, or wait until an item is verified?"""
    check.positive(price_usd_per_gpu_hour=price_usd_per_gpu_hour)
    check.integer(n_gpus=n_gpus)
    edge = break_even(wait_days, lost_days, found_share)
    going, waiting = days_lost(fault_probability, wait_days, lost_days, found_share)
    ways = (("going at once", going, _GOING), ("waiting first", waiting, _WAITING))
    numbers = {"p": fault_probability, "wait": wait_days, "lost": lost_days, "found": found_share}
    shown = {name: show(value) for name, value in numbers.items()}
    rows = [_rows(name, days, sum_.format(**shown), n_gpus, price_usd_per_gpu_hour) for name, days, sum_ in ways]
    return View(
        title=_title(going, waiting, edge, fault_probability),
        rows=(*(row for group in rows for row in group), _edge_row(edge, shown)),
        chart=_chart(fault_probability, wait_days, lost_days, found_share),
        notes=_NOTES,
    )


_GOING, _WAITING = "{p} x {lost}", "{wait} + (1 - {found}) x {p} x {lost}"
_NOTES = (
    "Mending the fault takes as long on either way and is left out. A fault that is never noticed costs the model, and "
    "no sum of days holds that.",
    f"The 13 days that it starts from passed at BLOOM, on 384 GPUs, before a bug was seen that let copies of the same "
    f"weights drift apart ({_BLOOM}).",
)


def _title(going, waiting, edge, probability):
    word = "Wait" if waiting < going else "Go"
    if edge > 1:
        return f"{word}: waiting would not pay even if the fault were certain."
    return (
        f"{word}: going at once loses {show(going, 'days')} on average, waiting {show(waiting, 'days')}. Waiting pays "
        f"from a probability of {show(edge, '%')}; yours is {show(probability, '%')}."
    )


def _rows(name, days, formula, n_gpus, price):
    group, hours = f"Lost on average by {name}", days * n_gpus * HOURS_PER_DAY
    held = f"{n_gpus:,} x 24 h x {show(days, 'days')}"
    yield Row(label="days", value=days, unit="days", group=group, formula=formula)
    yield Row(label="GPU-hours", value=hours, unit="GPU-hours", group=group, formula=held)
    paid = f"{show(hours, 'GPU-hours')} x {show(price, 'USD')}"
    yield Row(label="cost", value=hours * price, unit="USD", group=group, formula=paid)


def _edge_row(edge, shown):
    return Row(
        label="waiting pays from a probability of",
        value=edge,
        unit="%",
        group="The decision",
        formula="{wait} / ({found} x {lost})".format(**shown),
        convention="days alone: a GPU that waits costs as much as one that trains in vain",
        sources=("lib.readiness.waiting: where both ways lose the same on average, found x probability x lost = wait",),
    )


def _chart(probability, wait_days, lost_days, found_share):
    at = tuple(step / (_POINTS - 1) for step in range(_POINTS))
    lines = zip(*(days_lost(p, wait_days, lost_days, found_share) for p in at), strict=True)
    series = [Series(label=label, x=at, y=y) for label, y in zip(("go", "wait"), lines, strict=True)]
    return Chart(
        title="Going costs what the fault costs; waiting costs about the same whatever comes.",
        alt=(
            f"Days lost on average against the probability of a fault, two lines. Going rises from 0 to "
            f"{lost_days:.4g} days; waiting from {wait_days:.4g} to {series[1].y[-1]:.4g}. A mark at {probability:.3g}."
        ),
        x=Axis(label="probability of the fault (fraction)"),
        y=Axis(label="lost on average (days)"),
        series=tuple(series),
        references=(Reference(label="yours", value=probability),),
    )


_PRICE = Number(
    name="price_usd_per_gpu_hour",
    label="price of a GPU-hour",
    start=2.0,
    low=0.5,
    high=10.0,
    unit="USD",
    aliases=("price", "usd", "cost"),
    more=True,
)
_CONTROLS = (
    Number(
        name="fault_probability",
        label="probability of the fault",
        start=0.1,
        low=0.0,
        high=1.0,
        aliases=("probability", "p", "fault", "chance"),
        help="that what the item would show is broken",
    ),
    Number(
        name="wait_days",
        label="days of waiting",
        start=2.0,
        low=0.1,
        high=30.0,
        unit="days",
        scale="log",
        aliases=("wait", "delay"),
        help="while the cluster is held and stands still",
    ),
    Number(
        name="lost_days",
        label="days lost to the fault",
        start=13.0,
        low=0.1,
        high=60.0,
        unit="days",
        scale="log",
        aliases=("lost", "days_lost"),
        help="trained before anybody notices; BLOOM noticed after 13",
    ),
    Number(
        name="found_share",
        label="chance that the check finds it",
        start=0.9,
        low=0.05,
        high=1.0,
        aliases=("found", "recall", "caught"),
    ),
    controls.n_gpus(384),
    _PRICE,
)

WHAT_IFS = (
    WhatIf(
        name="go-or-wait",
        title="Go, or wait for the evidence?",
        question="How sure must you be that all is well before you go? And does the size of the cluster matter?",
        view=go_or_wait_view,
        controls=_CONTROLS,
    ),
)

"""The what-if "ladder-cost": what the ladder costs, beside finding the same fault at full scale."""

import math

from lib.description.limits import limit
from lib.ladder import rungs
from lib.ladder.late import LateFault
from lib.units import HOURS_PER_DAY, show, show_number, show_roughly
from lib.whatif.ladder import NAMES, POINTS, described, run_controls
from lib.whatif.model import Axis, Chart, Check, Choice, Number, Reference, Row, Series, View, WhatIf

# Fault -> the lowest rung whose threshold shows it. All of them spoil what is trained: a slow network does not.
FAULTS = {
    "a mask that shows the future": 1,
    "tied tables that came apart": 1,
    "a learning rate 100 times too high": 2,
    "text cut by another tokenizer": 3,
    "gradients not averaged over GPUs": 4,
    "one seed on all tensor ranks": 4,
    "a resume that forgets its data": 4,
    "checkpoints that cannot be read": 5,
    "a loss off its planned slope": 6,
}
_SMOL = (
    "Hugging Face, The Smol Training Playbook, October 2025, the training marathon: SmolLM3, 384 H100s, trained anew "
    "after 1T of 11T tokens (as two readers retell it; the page itself was not opened)"
)


def cost_view(fault, unnoticed_tokens, stopped_hours, **asked):
    """What does the ladder cost, beside finding the same fault at full scale?"""
    run = described(**asked)
    given = {"unnoticed_tokens": unnoticed_tokens, "stopped_hours": stopped_hours}
    late = LateFault(run=run, rung=FAULTS[fault], **given)
    return View(
        title=_cost_title(late),
        rows=(*_ladder_rows(late), *_late_rows(late), *_even_rows(late)),
        chart=_cost_chart(late),
        checks=(_cost_check(late),),
        notes=(
            "What was trained with the fault is thrown away. One that only slows the run down costs less than that.",
            f"A published case: {_SMOL}.",
        ),
    )


def _cost_title(late):
    found = f"rung {late.rung}, {NAMES[late.rung - 1]}"
    climb, lost = show(late.ladder_gpu_hours, "GPU-hours"), show(late.gpu_hours, "GPU-hours")
    if not late.ladder_gpu_hours:
        return f"Rung {late.rung} shows it in minutes on any machine; found at full scale it costs {lost}."
    if late.break_even == math.inf:
        return f"The ladder shows it at {found}, for {climb}; noticed at once, it would cost nothing."
    return (
        f"The ladder shows it at {found}, for {climb}; found at full scale it costs {lost}, "
        f"{show_roughly(late.days, 'days')} of the calendar. The climb pays if such a fault is likelier than "
        f"{show(late.break_even, '%')}."
    )


def _ladder_rows(late):
    for rung in rungs(late.run)[:6]:
        group = "The ladder" if rung.number <= late.rung else "Rungs above, which this fault does not need"
        sources = () if rung.number < 3 else (_rung_source(rung.name),)
        formula = _rung_formula(late, rung)
        label = f"{rung.number}. {rung.name}"
        yield Row(label=label, value=rung.gpu_hours, unit="GPU-hours", group=group, formula=formula, sources=sources)


def _rung_source(name):
    """Assumption or source of what a rung takes."""
    return limit("rehearsal", "share").source if name == "short scaled run" else limit(name, "hours").source


def _rung_formula(late, rung):
    if rung.number < 3:
        return "minutes on the reader's own machine: 0"
    if rung.name == "short scaled run":
        return f"{limit('rehearsal', 'share').value:g} x {show_number(late.expected.gpu_hours)}"
    hours = limit(rung.name, "hours").value
    return f"{show(rung.gpu_hours / hours, 'GPUs')} x {show_number(hours)} h"


def _late_rows(late):
    group, run, again = "Found at full scale", late.run, late.again_gpu_hours
    held, whole = f"{run.cluster.n_gpus:,}", late.expected.gpu_hours
    shared = {"unit": "GPU-hours", "group": group}
    yield Row(
        label="trained again",
        value=again,
        formula=f"{show_number(late.unnoticed_tokens)} / {show_number(run.n_tokens)} x {show_number(whole)}",
        assumed=(f"{show(late.unnoticed_tokens, 'tokens')} until somebody notices", f"MFU {run.mfu:g}"),
        sources=(_SMOL,),
        **shared,
    )
    days = {"value": late.hours_until_noticed / HOURS_PER_DAY, "unit": "days", "group": group}
    yield Row(label="time until it is noticed", formula=f"{show_number(again)} / {held} / 24", **days)
    yield Row(
        label="waiting for the repair",
        value=late.stopped_gpu_hours,
        formula=f"{held} x {show_number(late.stopped_hours)} h",
        assumed=("the cluster is held while people search",),
        **shared,
    )
    yield Row(
        label="in all",
        value=late.gpu_hours,
        formula=f"{show_number(again)} + {show_number(late.stopped_gpu_hours)}",
        **shared,
    )
    days |= {"value": late.days, "formula": f"{show_number(late.gpu_hours)} / {held} / 24"}
    yield Row(label="the run ends later by", **days)
    if run.price_usd_per_gpu_hour:
        price = (f"{show_number(run.price_usd_per_gpu_hour)} USD a GPU-hour",)
        money = {"value": late.expected.cost_of(late.gpu_hours), "unit": "USD", "group": group}
        paid = f"{show_number(late.gpu_hours)} x {show_number(run.price_usd_per_gpu_hour)}"
        yield Row(label="in money", formula=paid, assumed=price, **money)


def _even_rows(late):
    group, climb = "Side by side", late.ladder_gpu_hours
    yield Row(label=f"climbing to rung {late.rung}", value=climb, unit="GPU-hours", group=group, formula="the sum")
    same = f"{show_number(climb)} / {late.run.cluster.n_gpus:,}"
    held = {"label": "the whole cluster for as much", "value": late.even_hours, "unit": "hours"}
    yield Row(**held, group=group, formula=same)
    if late.break_even < math.inf:
        share = f"{show_number(climb)} / {show_number(late.gpu_hours)}"
        meant = "climbing costs as much as such a fault costs on average, at this likelihood a run"
        yield Row(
            label="the climb pays above", value=late.break_even, unit="%", group=group, formula=share, convention=meant
        )


def _cost_check(late):
    passed = late.ladder_gpu_hours < late.gpu_hours
    if not late.ladder_gpu_hours:
        margin = "it takes no GPU of the plan"
    elif passed:
        margin = f"finding it late costs {show(late.gpu_hours / late.ladder_gpu_hours)} times as much"
    else:
        margin = f"finding it late costs {show(late.gpu_hours / late.ladder_gpu_hours, '%')} of it"
    return Check(label="the climb costs less than one such fault", passed=passed, margin=margin)


def _cost_chart(late):
    run = late.run
    low, high = run.n_tokens / 1e4, run.n_tokens
    tokens = tuple(low * (high / low) ** (k / (POINTS - 1)) for k in range(POINTS))
    whole, stopped = late.expected.gpu_hours, late.stopped_gpu_hours
    costs = tuple(one / run.n_tokens * whole + stopped for one in tokens)
    series = [Series(label="found at full scale", x=tokens, y=costs)]
    if late.unnoticed_tokens:
        series.append(Series(label="as asked", x=(late.unnoticed_tokens,), y=(late.gpu_hours,), kind="points"))
    climb = late.ladder_gpu_hours
    marks = (Reference(label=f"ladder to rung {late.rung}", value=climb, axis="y"),) if climb else ()
    return Chart(
        title="The longer a fault goes unnoticed, the more is trained again.",
        alt="GPU-hours that a fault costs over the tokens that were trained with it, both on log axes: a line that "
        "rises with the tokens, and far below it a level line, the ladder up to the rung that shows the fault.",
        x=Axis(label="trained until it is noticed (tokens)", scale="log"),
        y=Axis(label="cost (GPU-hours)", scale="log"),
        series=tuple(series),
        references=marks,
    )


_ASKED, _FOLDED = run_controls("SmolLM3 3B", 11e12, 192, 0.3, 2, 1)

WHAT_IFS = (
    WhatIf(
        name="ladder-cost",
        title="The ladder, or the same fault at full scale",
        question="How likely must a fault be, before climbing the ladder is cheaper than hoping?",
        view=cost_view,
        controls=(
            *_ASKED,
            Choice(
                name="fault",
                label="fault",
                start="one seed on all tensor ranks",
                options=tuple(FAULTS),
                aliases=("bug", "rung"),
                help="each is shown by its rung",
            ),
            Number(
                name="unnoticed_tokens",
                label="tokens until it is noticed",
                start=1e12,
                low=0,
                high=1e14,
                unit="tokens",
                aliases=("unnoticed", "wasted_tokens"),
                help="they are trained again",
            ),
            *_FOLDED,
            Number(
                name="stopped_hours",
                label="hours until it is mended",
                start=24,
                low=0,
                high=500,
                unit="hours",
                aliases=("downtime", "hours"),
                help="an assumption: the cluster is held and waits",
                more=True,
            ),
            Number(
                name="price",
                label="price of a GPU-hour",
                start=2.0,
                low=0.0,
                high=20.0,
                unit="USD",
                aliases=("price_usd_per_gpu_hour", "cost"),
                help="an assumption; 0 leaves money out",
                more=True,
            ),
        ),
    ),
)

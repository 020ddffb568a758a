"""The what-if "ladder-thresholds": what each rung must show before a chosen run may begin."""

import math
from dataclasses import replace

from lib import architecture
from lib.description import Expectations, RunDescription
from lib.description.defaults import full_layout, full_schedule
from lib.hardware import Cluster
from lib.ladder import evaluate
from lib.ladder.thresholds import hours_between_interruptions
from lib.scaling import LAWS
from lib.units import show, show_roughly
from lib.whatif import controls
from lib.whatif.model import Axis, Chart, Check, Choice, Number, Reference, Series, View, WhatIf
from lib.whatif.run_card import expected_rows, rung_rows

ALL = "all seven"
NAMES = ("unit", "one batch", "one device", "one node", "few nodes", "short scaled run", "full run")
_CLUSTERS = (8.0, 131_072.0)  # GPUs at the ends of the chart
_TRAINED_IN = ("bf16", "fp16", "fp32")  # the first that the device has
POINTS = 29  # of a line


def described(model, n_tokens, data, accelerator, mfu, goodput, tensor, pipeline, price=0.0):
    """A run with the handbook's recipe, ZeRO 1 and full recomputation, from what a what-if asks for.

    Args:
        model: a released model's name.
        n_tokens: training tokens, > 0.
        data: copies of the model that read different text.
        accelerator: a name of the table.
        mfu: utilization by 6 N D, above 0, at most 1.
        goodput: share of the calendar that makes progress.
        tensor, pipeline: parallel degrees of one copy.
        price: USD for a GPU-hour; 0 for none.
    """
    shape, cut = architecture.model(model), {"data": data, "tensor": int(tensor), "pipeline": int(pipeline)}
    layout = full_layout(cut | {"zero_stage": 1, "recompute": "full"}, shape, n_tokens, math.prod(cut.values()))
    cluster = Cluster(accelerator=accelerator, n_gpus=layout.n_gpus)
    return RunDescription(
        shape=shape,
        n_tokens=n_tokens,
        cluster=cluster,
        layout=layout,
        schedule=full_schedule({}, shape, n_tokens, layout),
        mfu=mfu,
        dtype=next(dtype for dtype in _TRAINED_IN if dtype in cluster.accelerator.peaks),
        goodput=goodput,
        price_usd_per_gpu_hour=price or None,
    )


def thresholds_view(rung, law, **asked):
    """What must each rung show before this run may begin?"""
    run = replace(described(**asked), law_name=law)
    climb, expected = evaluate(run), Expectations(run=run)
    chosen = [verdict for verdict in climb.verdicts if rung in (ALL, verdict.rung.name)]
    rows = (row for verdict in chosen for row in rung_rows(verdict))
    room = expected.fit
    checks = () if room is None else (Check(label="fits the GPU's memory", passed=room.fits, margin=room.text),)
    return View(
        title=_thresholds_title(expected),
        rows=(*rows, *expected_rows(expected)),
        chart=_failure_chart(expected),
        checks=checks,
        notes=("A rung that nobody has measured is not passed, and none is passed above one that is not.",),
    )


def _thresholds_title(expected):
    hours = hours_between_interruptions(expected)
    days, loss = expected.calendar_days.range[1], expected.loss.range
    final = f"a loss of at most {show(loss[1], 'nats per token')}" if loss else "a loss that no law decides"
    held = show(expected.run.cluster.n_gpus, "GPUs")
    return (
        f"With {held} something breaks every {show_roughly(hours, 'hours')}, and may cost "
        f"{show_roughly(hours * (1 - expected.run.goodput), 'hours')}; the run must end within "
        f"{show_roughly(days, 'days')}, at {final}."
    )


def _failure_chart(expected):
    hours, n_gpus = hours_between_interruptions(expected), expected.run.cluster.n_gpus
    low, high = _CLUSTERS
    sizes = tuple(low * (high / low) ** (k / (POINTS - 1)) for k in range(POINTS))
    between = tuple(hours * n_gpus / size for size in sizes)
    left = 1 - expected.run.goodput
    lines = [Series(label="between interruptions", x=sizes, y=between)]
    if left > 0:
        lines.append(Series(label="a failure may cost", x=sizes, y=tuple(left * one for one in between)))
    return Chart(
        title="Ten times the GPUs leave a tenth of the time for a restart.",
        alt="Hours between interruptions, and hours that one may cost, over the number of GPUs, both on log axes: two "
        "parallel lines that fall by ten where the cluster grows by ten. This cluster is marked.",
        x=Axis(label="cluster (GPUs)", scale="log"),
        y=Axis(label="time (hours)", scale="log"),
        series=tuple(lines),
        references=(Reference(label="this cluster", value=float(n_gpus)),),
    )


def _tokens(start):
    names = ("tokens", "d", "training_tokens")
    number = {"low": 1e9, "high": 1e14, "unit": "tokens", "scale": "log", "aliases": names}
    return Number(name="n_tokens", label="training tokens", start=start, **number)


def _share(name, label, start, help, aliases=()):
    return Number(name=name, label=label, start=start, low=0.05, high=1.0, help=help, more=True, aliases=aliases)


def _degree(name, label, start, options, alias):
    listed = tuple(str(option) for option in options)
    return Choice(name=name, label=label, start=str(start), options=listed, aliases=(alias,), more=True)


def _copies(start):
    """Every number of copies can be trained, which is not so of every number of GPUs."""
    names, help = ("copies", "dp", "n_gpus", "gpus"), "GPUs are copies x tensor x pipeline"
    number = {"low": 1, "high": 4096, "scale": "log", "whole": True, "aliases": names, "help": help}
    return Number(name="data", label="copies of the model", start=start, **number)


def run_controls(model, n_tokens, data, mfu, tensor, pipeline):
    """The controls of a run, by which `described` makes it: those that are asked for, and those that are folded.

    Args:
        model: where each control starts, and so on.
        n_tokens, data, mfu, tensor, pipeline: likewise.
    """
    asked = (controls.model(model), _tokens(n_tokens), _copies(data))
    folded = (
        replace(controls.accelerator("H100 SXM"), more=True),
        _share("mfu", "assumed MFU", mfu, "6 N D over the dense peak", ("utilization",)),
        _share("goodput", "goodput", 0.9, "share of the calendar that makes progress"),
        _degree("tensor", "tensor parallel", tensor, (1, 2, 4, 8, 16), "tp"),
        _degree("pipeline", "pipeline stages", pipeline, (1, 2, 4, 8, 16), "pp"),
    )
    return asked, folded


_ASKED, _FOLDED = run_controls("Llama 3 70B", 5e12, 64, 0.4, 8, 4)

WHAT_IFS = (
    WhatIf(
        name="ladder-thresholds",
        title="What each rung must show",
        question="How small a share of a day may one failure cost, and what must every rung below have shown?",
        view=thresholds_view,
        controls=(
            *_ASKED,
            Choice(name="rung", label="rung", start=ALL, options=(ALL, *NAMES), aliases=("step",)),
            *_FOLDED,
            Choice(
                name="law",
                label="law of the loss",
                start="Besiroglu 2024",
                options=tuple(LAWS),
                aliases=("scaling_law", "law_name"),
                more=True,
            ),
        ),
    ),
)

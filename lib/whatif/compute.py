"""The what-ifs "days-and-mfu" and "mfu-conventions": how long a run takes, and what a utilization means.

The second has its view in `lib.whatif.conventions`.
"""

from dataclasses import replace
from math import log

from lib import architecture, check
from lib.compute import GOODPUT, calendar_days, train_flops, training_days
from lib.compute.mfu import convention, days_ratio
from lib.hardware import accelerator
from lib.units import HOURS_PER_DAY, SECONDS_PER_DAY, show, show_number, show_roughly
from lib.whatif import controls
from lib.whatif.conventions import CONTROLS, conventions_view
from lib.whatif.model import Axis, Chart, Check, Number, Reference, Row, Series, View, WhatIf
from lib.whatif.unfold import active_notes, flops_per_token

ANY_SIZE = "any size"
_LLAMA_8B = 8_030_261_248
_OTHERS = ("Megatron-Bridge", "Megatron-LM", "PaLM", "Kaplan")  # what else an MFU may have counted
_IN_TIME = ("6N", "Megatron-Bridge", "Megatron-LM")
_LINES = {"6N": "6N", "Megatron-Bridge": "causal half of attention", "Megatron-LM": "full attention"}
_PALM_B = "Chowdhery et al. 2022, arXiv:2204.02311, appendix B"
_LLAMA_GOODPUT = "Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.4: more than 90% effective training time"
_MFU_POINTS = tuple(k / 100 for k in range(15, 76, 3))


def days_view(
    model=ANY_SIZE,
    n_params=_LLAMA_8B,
    n_tokens=15e12,
    n_gpus=1024,
    accelerator="H100 SXM",
    dtype="bf16",
    mfu=0.40,
    days=25.0,
    goodput=GOODPUT,
    seq_len=8192,
):
    """How long does a run take, and what if the MFU was counted otherwise?"""
    check.positive(days=days)
    check.whole(seq_len=seq_len)
    shape, n_params = _shape(model, n_params)
    chip, peak = _peak(accelerator, dtype)
    compute_days = training_days(n_params, n_tokens, n_gpus, peak, mfu)
    held = calendar_days(compute_days, goodput)
    times = {name: days_ratio(convention(name), shape, seq_len) for name in ("6N", *_OTHERS)}
    run = {"n_params": n_params, "n_tokens": n_tokens, "n_gpus": n_gpus, "mfu": mfu, "goodput": goodput}
    return View(
        title=(
            f"{show(held, 'calendar days')} ({show(compute_days, 'compute days')}) if the MFU of {show(mfu)} counts "
            f"6N, {show_number(held * times['Megatron-LM'])} if it counts matrices and full attention."
        ),
        rows=(
            *_budget_rows(run, chip, dtype, peak),
            *_time_rows(run, n_gpus * peak * mfu, compute_days, held),
            *(_counted_row(name, times[name], compute_days, goodput, shape, seq_len) for name in _OTHERS),
        ),
        checks=tuple(_in_time(name, held * times[name], days) for name in _IN_TIME),
        chart=_days_chart(run, held, times, days),
        notes=_shape_notes(model, shape, n_params),
    )


def _shape(name, n_params):
    """The shape whose FLOPs are counted, and N: of the model that is named, or of the one that is nearest in size."""
    check.positive(n_params=n_params)
    if name == ANY_SIZE:
        dense = (m for m in architecture.MODELS.values() if not m.moe)
        return min(dense, key=lambda m: abs(log(m.n_params / n_params))), n_params
    shape = check.lookup(architecture.MODELS, model=name)
    if n_params not in (_LLAMA_8B, shape.n_params_active):
        raise ValueError(
            f"n_params = {check.figure(n_params)}: {shape.name} has {shape.n_params_active:,}; "
            f"a free size needs model='{ANY_SIZE}'"
        )
    return shape, float(shape.n_params_active)


def _peak(name, dtype):
    chip = accelerator(name)
    return chip, chip.peak_flops(dtype)


def _shape_notes(model, shape, n_params):
    if model != ANY_SIZE or shape.n_params == n_params:
        return active_notes(shape)
    return (f"The other counts depend on the shape: here that of {shape.name}, the released model nearest in size.",)


def _budget_rows(run, chip, dtype, peak):
    group = "What is needed, what the cluster gives"
    n_params, n_tokens, n_gpus, mfu = (run[name] for name in ("n_params", "n_tokens", "n_gpus", "mfu"))
    return (
        Row(
            label="training compute, 6ND",
            value=train_flops(n_params, n_tokens),
            unit="FLOP",
            group=group,
            formula=f"6 x {show_number(n_params)} x {show_number(n_tokens)}",
            sources=("Kaplan et al. 2020, arXiv:2001.08361, section 2.1; Hoffmann et al. 2022, section 3.3",),
            convention="6 FLOPs a parameter and token; attention and recomputation left out",
        ),
        Row(
            label="peak of the cluster",
            value=n_gpus * peak,
            unit="FLOP/s",
            group=group,
            formula=f"{n_gpus:,} x {show_number(peak)}",
            sources=(chip.sources.get(f"peak_{dtype}", ""),),
            convention=f"dense {dtype} peak of {chip.name}, without sparsity",
        ),
        Row(
            label="of it useful",
            value=n_gpus * peak * mfu,
            unit="FLOP/s",
            group=group,
            formula=f"{show_number(n_gpus * peak)} x {show(mfu)}",
            assumed=(f"MFU {show(mfu)}: assumed until it is measured on this cluster",),
            sources=(_PALM_B,),
            convention="MFU counted as 6N a token over the dense peak",
        ),
    )


def _time_rows(run, useful, compute_days, held):
    common = {"group": "How long it takes by 6ND", "assumed": (f"MFU {show(run['mfu'])} by 6N",)}
    needed, n_tokens = train_flops(run["n_params"], run["n_tokens"]), run["n_tokens"]
    computing = Row(
        label="compute days",
        value=compute_days,
        unit="days",
        formula=f"{show_number(needed)} / {show_number(useful)} / 86,400",
        convention="compute days: the job makes progress all the time",
        **common,
    )
    speed = Row(
        label="speed while it computes",
        value=n_tokens / (compute_days * SECONDS_PER_DAY),
        unit="tokens/s",
        formula=f"{show_number(n_tokens)} / ({show_number(compute_days)} x 86,400)",
        convention="whole cluster; this number is free of conventions: measure it",
        **common,
    )
    return computing, *_held_rows(run, compute_days, held, common), speed


def _held_rows(run, compute_days, held, common):
    n_gpus, goodput = run["n_gpus"], run["goodput"]
    lost = f"goodput {show(goodput)}: share of the time held that makes progress"
    common = common | {"assumed": (*common["assumed"], lost), "sources": (_LLAMA_GOODPUT,)}
    return (
        Row(
            label="calendar days",
            value=held,
            unit="days",
            formula=f"{show_number(compute_days)} / {show(goodput)}",
            convention="calendar days: failures, restarts and lost work included",
            **common,
        ),
        Row(
            label="GPU-hours",
            value=n_gpus * held * HOURS_PER_DAY,
            unit="GPU-hours",
            formula=f"{n_gpus:,} x {show_number(held)} x 24",
            convention="calendar hours: what is held is paid, also while it restarts",
            **common,
        ),
    )


def _counted_row(name, times, compute_days, goodput, shape, seq_len):
    counted = convention(name)
    parts = flops_per_token(counted, shape, seq_len)
    return Row(
        label=f"{name}",
        value=compute_days * times / goodput,
        unit=f"calendar days ({show(compute_days * times, 'compute days')}, {times:,.2f} times 6ND)",
        group="If that MFU was counted as others count",
        formula=(
            f"({parts}) / (6 x {show_number(shape.n_params_active)}) = {show(times)}; "
            f"{show_number(compute_days)} x {show(times)} / {show(goodput)}"
        ),
        assumed=(f"shape of {shape.name}: {shape.text}", f"sequences of {seq_len:,.0f} tokens"),
        sources=(counted.source,),
        convention=f"{counted.words}; used by {counted.used_by}",
    )


def _in_time(name, held, days):
    left = days - held
    margin = f"{show_roughly(abs(left), 'days')} {'to spare' if left >= 0 else 'too long'}"
    return Check(label=f"done in {show(days, 'days')}, MFU counting {_LINES[name]}", passed=left >= 0, margin=margin)


def _days_chart(run, held, times, days):
    mfu = run["mfu"]
    points = tuple(sorted({*_MFU_POINTS, mfu}))
    lines = tuple(
        Series(label=_LINES[name], x=points, y=tuple(held * times[name] * mfu / x for x in points)) for name in _IN_TIME
    )
    return Chart(
        title=f"An MFU of {show(mfu)} with full attention is one of {show_roughly(mfu / times['Megatron-LM'])} by 6N.",
        alt=f"Calendar days against MFU: three falling curves, full attention {times['Megatron-LM']:,.2f} times 6N.",
        x=Axis(label="MFU (fraction of peak)"),
        y=Axis(label="calendar time (days)", scale="log"),
        series=lines,
        references=(Reference(label="your MFU", value=mfu), Reference(label="deadline", value=days, axis="y")),
    )


_CONTROLS = (
    Number(
        name="n_params",
        label="parameters",
        start=_LLAMA_8B,
        low=1e8,
        high=2e12,
        unit="parameters",
        scale="log",
        aliases=("params", "parameters", "size", "n"),
    ),
    Number(
        name="n_tokens",
        label="training tokens",
        start=15e12,
        low=1e9,
        high=1e14,
        unit="tokens",
        scale="log",
        aliases=("tokens", "d"),
    ),
    controls.n_gpus(1024),
    controls.accelerator("H100 SXM"),
    Number(
        name="mfu",
        label="MFU, counted as 6N",
        start=0.40,
        low=0.05,
        high=0.75,
        aliases=("utilization", "utilisation"),
        help="assumed until measured",
    ),
    Number(
        name="days",
        label="deadline in calendar days",
        start=25,
        low=1,
        high=200,
        unit="days",
        scale="log",
        aliases=("deadline", "time"),
    ),
    replace(
        controls.model(ANY_SIZE, ANY_SIZE, help="a released model in place of the parameters above"),
        synonyms=(*architecture.SYNONYMS.items(), ("by n_params", ANY_SIZE)),
        more=True,
    ),
    controls.dtype("bf16"),
    Number(
        name="goodput",
        label="goodput",
        start=GOODPUT,
        low=0.5,
        high=1.0,
        aliases=("availability", "uptime"),
        help="share of the time held that makes progress; assumed",
        more=True,
    ),
    replace(controls.SEQ_LEN, more=True),
)

WHAT_IFS = (
    WhatIf(
        name="days-and-mfu",
        title="Days and MFU",
        question="The plan keeps its deadline by 6ND. Does it still if the MFU that you heard of counted attention?",
        view=days_view,
        controls=_CONTROLS,
    ),
    WhatIf(
        name="mfu-conventions",
        title="One speed, many utilizations",
        question="Two vendors report 800 and 744 TFLOP/s for one model. Which of them is faster?",
        view=conventions_view,
        controls=CONTROLS,
    ),
)

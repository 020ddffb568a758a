"""The view of "mfu-conventions": one reported figure, called by every other convention."""

from dataclasses import replace

from lib import check
from lib.architecture import MODELS
from lib.compute.mfu import CONVENTIONS, TERA, UNITS, MfuConvention, days_ratio, reported, tokens_per_second_per_gpu
from lib.hardware import accelerator as find_accelerator
from lib.units import show, show_number
from lib.whatif import controls
from lib.whatif.model import Axis, Chart, Choice, Number, Reference, Row, Series, View
from lib.whatif.unfold import active_notes, flops_per_token

_DRAWN = ("PaLM", "Megatron-LM", "Megatron-Bridge", "6N")
_LENGTHS = tuple(1024.0 * 2**k for k in range(8))


def conventions_view(
    figure=800.0,
    unit="TFLOP/s per GPU",
    convention="Megatron-LM",
    model="Llama 3 8B",
    seq_len=8192,
    accelerator="H100 SXM",
    dtype="fp8",
    n_gpus=8,
):
    """What is a reported figure under every other convention? `convention` is a name, or an `MfuConvention`."""
    shape = check.lookup(MODELS, model=model)
    chip = find_accelerator(accelerator)
    peak = chip.peak_flops(dtype)
    check.whole(n_gpus=n_gpus)
    own, every = _conventions(convention, peak, f"{chip.name}, dense {dtype}")
    speed = tokens_per_second_per_gpu(figure, unit, own, shape, seq_len, n_gpus)
    counted = {name: c.flops_per_token(shape, seq_len) for name, c in every.items()}
    parts = {name: flops_per_token(c, shape, seq_len) for name, c in every.items()}
    bridge, shown = every["Megatron-Bridge"], show(figure, "%" if unit in ("MFU", "HFU") else unit)
    counted_by = "" if unit.startswith("tokens") else f" by {own.name}"  # tokens are tokens, whoever counts FLOPs
    causal = reported(speed, "TFLOP/s per GPU", bridge, shape, seq_len)
    return View(
        title=(
            f"{shown}{counted_by} are {show(speed, 'tokens/s per GPU')} on {shape.name} at "
            f"{seq_len:,.0f} tokens, or {show_number(causal)} TFLOP/s by {bridge.name}."
        ),
        rows=(
            *_speed_rows(figure, unit, own, speed, parts[own.name], n_gpus, peak),
            *(_flops_row(c, speed, counted[name], parts[name]) for name, c in every.items()),
            *(_share_row(c, speed, counted[name], parts[name], peak) for name, c in every.items()),
        ),
        chart=_lengths_chart(shape, seq_len),
        notes=(*active_notes(shape), *_looks_like_a_share(figure, unit), *_above_peak(every, speed, counted, peak)),
    )


def _conventions(own, peak, words):
    """The convention of the figure and all others, over one peak; `own` may be one that nobody has named."""
    if not isinstance(own, MfuConvention):
        own = check.lookup(CONVENTIONS, convention=own)
    named = {own.name or "as reported": replace(own, name=own.name or "as reported")} | dict(CONVENTIONS)
    every = {name: counted.dividing_by(peak, words) for name, counted in named.items()}
    return every[own.name or "as reported"], every


def _speed_rows(figure, unit, own, speed, parts, n_gpus, peak):
    common = {"group": "The speed behind it, free of conventions", "sources": (own.source,)}
    made = {
        "TFLOP/s per GPU": f"{show_number(figure)} x 1e12 / ({parts})",
        "tokens/s per GPU": "as reported",
        "tokens/s": f"{show_number(figure)} / {n_gpus:,}",
    }.get(unit, f"{show_number(figure)} x {show_number(peak)} / ({parts})")
    one = Row(label="one GPU", value=speed, unit="tokens/s per GPU", formula=made, convention=own.words, **common)
    if n_gpus == 1:
        return (one,)
    by = f"{show_number(speed)} x {n_gpus:,}"
    return one, Row(label=f"{n_gpus:,} GPUs", value=speed * n_gpus, unit="tokens/s", formula=by, **common)


def _flops_row(counted, speed, flops, parts):
    return Row(
        label=counted.name,
        value=speed * flops / TERA,
        unit="TFLOP/s per GPU",
        group="As TFLOP/s per GPU",
        formula=f"{show_number(speed)} x ({parts}) / 1e12",
        sources=(counted.source,),
        convention=counted.words + (f"; used by {counted.used_by}" if counted.used_by else ""),
    )


def _share_row(counted, speed, flops, parts, peak):
    return Row(
        label=f"{counted.measure}, {counted.name}",
        value=speed * flops / peak,
        unit="%",
        group="As a share of the peak",
        formula=f"{show_number(speed)} x ({parts}) / {show_number(peak)}",
        sources=(counted.source,),
        convention=counted.words,
    )


def _looks_like_a_share(figure, unit):
    if figure > 1 or not unit.startswith("TFLOP/s"):
        return ()
    return (f"{show(figure, unit)} is next to nothing: if the figure is a share of the peak, its unit is MFU or HFU.",)


def _above_peak(every, speed, counted, peak):
    beyond = [name for name in every if speed * counted[name] > peak]
    if not beyond:
        return ("Compare tokens per second. Compare utilizations only within one convention and one peak.",)
    return (f"Above the peak, hence not what this run does: {', '.join(beyond)}. Is the data type the run's own?",)


def _lengths_chart(shape, seq_len):
    lengths = tuple(sorted({*_LENGTHS, float(seq_len)}))
    ratios = {name: tuple(days_ratio(CONVENTIONS[name], shape, s) for s in lengths) for name in _DRAWN}
    return Chart(
        title="The longer the sequence, the less two figures of different conventions have to do with each other.",
        alt=f"FLOPs a token over 6N for {shape.name} against sequence length; with full attention the curve turns up.",
        x=Axis(label="sequence length (tokens)", scale="log"),
        y=Axis(label="FLOPs a token (multiples of 6N)", scale="log"),
        series=tuple(Series(label=name, x=lengths, y=ratios[name]) for name in ratios),
        references=(Reference(label="your sequences", value=float(seq_len)),),
    )


_UNIT_SYNONYMS = tuple((word, "TFLOP/s per GPU") for word in ("tflops", "tflop/s", "tflops per gpu", "tflop/s/gpu"))
_UNIT_SYNONYMS += (("tokens/s/gpu", "tokens/s per GPU"), ("tokens per second", "tokens/s"))

CONTROLS = (
    Number(
        name="figure",
        label="reported figure",
        start=800,
        low=0.01,
        high=1e7,
        scale="log",
        aliases=("value", "reported"),
        help="a utilization as a fraction or with a % sign",
        unit_of="unit",
    ),
    Choice(name="unit", label="its unit", start="TFLOP/s per GPU", options=tuple(UNITS), synonyms=_UNIT_SYNONYMS),
    Choice(
        name="convention",
        label="counted as",
        start="Megatron-LM",
        options=tuple(CONVENTIONS),
        aliases=("counts", "counted_as"),
        help="whose table it stands in",
    ),
    controls.model("Llama 3 8B"),
    controls.SEQ_LEN,
    replace(controls.accelerator("H100 SXM"), more=True, help="its peak makes a share of a speed"),
    controls.dtype("fp8"),
    replace(controls.n_gpus(8, help="matters for the speed of the whole cluster only"), more=True),
)

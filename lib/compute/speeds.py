"""Published speeds, each with the figure that its publisher made of it, so that the count behind it can be checked."""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check, facts
from lib.architecture import Transformer, model
from lib.compute.mfu import UNITS, MfuConvention, convention, reported
from lib.hardware import accelerator

_SIZES = dict.fromkeys(("d_model", "head_dim", "d_ff"), "dimensions")
_SIZES |= {"n_layers": "layers", "n_heads": "heads", "n_kv_heads": "heads", "vocab_size": "rows"}
_UNITS = {"mfu": "MFU", "hfu": "HFU", "tflops": "TFLOP/s per GPU"}
_FIGURES = {"seq_len": "tokens", "n_gpus": "devices", "mfu": "", "hfu": "", "tflops_per_gpu": "TFLOP/s", **_SIZES}
_FIGURES |= dict.fromkeys(("tokens_per_second", "tokens_per_second_per_gpu"), "tokens/s")
_WORDS = dict.fromkeys(("model", "accelerator", "dtype", *(f"{kind}_convention" for kind in _UNITS)), str)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What a publisher called a speed: a number, its unit, and the convention with the peak that it divides by."""

    value: float
    unit: str  # one of lib.compute.mfu.UNITS
    convention: MfuConvention
    printed: str = ""

    def __post_init__(self):
        check.fields(self, positive="value", text="printed")
        check.choice(tuple(UNITS), unit=self.unit)
        check.instance(MfuConvention, convention=self.convention)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A published speed: a model on a number of devices, tokens per second, and the figures made of them.

    >>> megatron = speed("llama 3 8b, megatron-lm")
    >>> [round(megatron.computed(figure)) for figure in megatron.figures]
    [800]
    """

    name: str
    model: Transformer
    accelerator: str
    dtype: str
    n_gpus: int
    seq_len: int
    tokens_per_second_per_gpu: float | None  # None: only the figure was printed
    figures: tuple[Figure, ...]
    source: str
    remark: str = ""

    def __post_init__(self):
        check.fields(self, whole="n_gpus seq_len", text="name source remark")
        check.instance(Transformer, model=self.model)
        accelerator(self.accelerator).peak_flops(self.dtype)
        if self.tokens_per_second_per_gpu is not None:
            check.fields(self, positive="tokens_per_second_per_gpu")

    def computed(self, figure):
        """A figure made of the speed once more, by its convention alone."""
        check.instance(Figure, figure=figure)
        return reported(self.tokens_per_second_per_gpu, figure.unit, figure.convention, self.model, self.seq_len)

    def ratio(self, figure):
        """Published over computed: 1, up to rounding, where the convention is the publisher's own."""
        check.instance(Figure, figure=figure)
        return figure.value / self.computed(figure)


def _figure(entry, kind):
    fact = entry.facts["tflops_per_gpu" if kind == "tflops" else kind]
    chip, dtype = accelerator(entry["accelerator"]), entry["dtype"]
    counted = convention(entry[f"{kind}_convention"]).dividing_by(chip.peak_flops(dtype), f"{chip.name}, dense {dtype}")
    return Figure(value=fact.value, unit=_UNITS[kind], convention=counted, printed=fact.printed)


def _shape(entry):
    if entry.get("model"):
        return model(entry["model"])
    return Transformer(name=entry.name, tied=True, **{size: entry[size] for size in _SIZES})


def _per_gpu(entry):
    cluster = entry.get("tokens_per_second")
    return cluster / entry["n_gpus"] if cluster else entry.get("tokens_per_second_per_gpu")


def _speed(entry):
    return Speed(
        name=entry.name,
        model=_shape(entry),
        tokens_per_second_per_gpu=_per_gpu(entry),
        figures=tuple(_figure(entry, kind) for kind in _UNITS if f"{kind}_convention" in entry.facts),
        source=entry.facts["seq_len"].source,
        remark=entry.get("remark", ""),
        **{field: entry[field] for field in ("accelerator", "dtype", "n_gpus", "seq_len")},
    )


SPEEDS = MappingProxyType(
    {name: _speed(entry) for name, entry in facts.load("speeds", _FIGURES, _WORDS, ("remark",)).items()}
)


def speed(name):
    """A published speed by name, whatever its case, spaces, hyphens and underscores.

    Raises:
        TypeError: if the name is no text.
        ValueError: if none has it; the nearest name is offered.

    >>> speed("PaLM 540B").n_gpus
    6144
    """
    return check.lookup(SPEEDS, speed=name)

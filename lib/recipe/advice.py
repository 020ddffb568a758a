"""The advice of seed document 001 for three scales, as checks: which of it does a plan follow, and which does it break?

Advice is no law: the seed's own recipes break some of it. A broken one is a question to answer, not a fault.
"""

import math
from dataclasses import dataclass
from types import MappingProxyType

from lib import check
from lib.units import show

_K = 1024
NUMBERS = (
    "n_params",
    "n_layers",
    "d_model",
    "n_tokens",
    "tokens_per_param",
    "peak_lr",
    "batch_tokens",
    "warmup_share",
    "tensor",
    "seq_len",
)
PRACTICES = ("data_filtered", "checkpoints_frequent", "recompute")
_WORDS = {
    "n_params": ("parameters", "parameters"),
    "n_layers": ("layers", "layers"),
    "d_model": ("width", ""),
    "n_tokens": ("tokens", "tokens"),
    "tokens_per_param": ("tokens a parameter", ""),
    "peak_lr": ("peak learning rate", ""),
    "batch_tokens": ("tokens a step", "tokens"),
    "warmup_share": ("warm-up, part of the steps", "%"),
    "tensor": ("tensor-parallel devices", "devices"),
    "seq_len": ("tokens in a sequence", ""),
    "data_filtered": ("data filtered and deduplicated", ""),
    "checkpoints_frequent": ("frequent checkpoints", ""),
    "recompute": ("activations recomputed", ""),
}
_ROUNDING = 1e-9  # 6 N D of a size that a budget gave comes back to the budget within it
_SLACK = {"warmup_share": 0.25, "tokens_per_param": 0.25}  # one printed number is met by what rounds to it, roughly


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a plan, to be held against advice; None where a plan does not say.

    Args:
        compute: training compute, FLOP, > 0: it decides which advice is asked.
        n_params, n_tokens, peak_lr, batch_tokens: > 0.
        n_layers, d_model, tensor, seq_len: whole numbers of at least 1.
        warmup_share: part of the steps, from 0 to 1.
        data_filtered: True if the text is filtered and deduplicated.
        checkpoints_frequent: True if the state is saved often.
        recompute: True if activations are recomputed.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    compute: float
    n_params: float | None = None
    n_tokens: float | None = None
    n_layers: int | None = None
    d_model: int | None = None
    peak_lr: float | None = None
    batch_tokens: float | None = None
    warmup_share: float | None = None
    tensor: int | None = None
    seq_len: int | None = None
    data_filtered: bool | None = None
    checkpoints_frequent: bool | None = None
    recompute: bool | None = None

    def __post_init__(self):
        check.fields(self, positive="compute n_params n_tokens peak_lr batch_tokens")
        check.fields(self, integer="n_layers d_model tensor seq_len", boolean=" ".join(PRACTICES))
        if self.warmup_share is not None:
            check.scalar(warmup_share=self.warmup_share)
            check.share(warmup_share=self.warmup_share)

    @property
    def tokens_per_param(self):
        """Tokens over parameters; None where a plan does not say both."""
        if self.n_tokens is None or self.n_params is None:
            return None
        return check.positive_result(tokens_per_param=self.n_tokens / self.n_params)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Advice for a range of compute: what each number should lie between, and what should be done."""

    name: str
    low_flops: float
    high_flops: float
    ranges: MappingProxyType
    practices: tuple[str, ...] = ()

    def __post_init__(self):
        check.fields(self, text="name", positive="low_flops")
        check.scalar(high_flops=self.high_flops)
        check.number(high_flops=self.high_flops)


SCALES = (
    Scale(
        name="small scale",
        low_flops=1e20,
        high_flops=1e21,
        ranges=MappingProxyType(
            {
                "n_params": (100e6, 1e9),
                "n_layers": (12, 24),
                "d_model": (768, 2048),
                "n_tokens": (2e9, 20e9),
                "tokens_per_param": (20.0, 20.0),
                "peak_lr": (3e-4, 6e-4),
                "batch_tokens": (256 * _K, 512 * _K),
                "warmup_share": (0.01, 0.01),
            }
        ),
    ),
    Scale(
        name="medium scale",
        low_flops=1e22,
        high_flops=1e23,
        ranges=MappingProxyType(
            {
                "n_params": (3e9, 30e9),
                "n_layers": (32, 48),
                "d_model": (3072, 5120),
                "n_tokens": (60e9, 600e9),
                "peak_lr": (1.5e-4, 3e-4),
                "batch_tokens": (_K**2, 4 * _K**2),
                "warmup_share": (0.005, 0.005),
                "tensor": (4, 8),
            }
        ),
    ),
    Scale(
        name="large scale",
        low_flops=1e24,
        high_flops=math.inf,
        ranges=MappingProxyType({"n_params": (70e9, math.inf), "seq_len": (4 * _K, 32 * _K)}),
        practices=PRACTICES,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One piece of advice, and whether a plan follows it: True, False, or None where the plan does not say."""

    label: str
    followed: bool | None
    words: str

    def __post_init__(self):
        check.text(label=self.label, words=self.words)


def scale_of(compute):
    """The scale whose advice a budget is for, and whether it lies inside: between two, the nearer one.

    Args:
        compute: training compute, FLOP, > 0.

    Returns:
        (`Scale`, True if the budget lies in its range).

    Raises:
        TypeError, ValueError: if compute is no positive, finite number.

    >>> scale_of(3e21)[0].name, scale_of(3e21)[1]
    ('small scale', False)
    """
    check.scalar(compute=compute)
    check.positive(compute=compute)
    compute = float(compute)

    def distance(scale):
        return max(scale.low_flops / compute, compute / scale.high_flops, 1.0)

    nearest = min(SCALES, key=distance)
    return nearest, distance(nearest) < 1 + _ROUNDING


def findings(facts):
    """The advice for a plan's budget, piece by piece.

    Args:
        facts: a `Facts`.

    Returns:
        A tuple of `Finding`, in the seed's order.

    Raises:
        TypeError: for something else.

    Source: seed document 001, the key recommendations of its three scales.

    >>> plan = Facts(compute=1e23, d_model=7040, n_layers=48)
    >>> [f.words for f in findings(plan) if f.followed is False]
    ['7,040, advised 3,072 to 5,120: 1.38 times the upper end']
    """
    check.instance(Facts, facts=facts)
    scale, _ = scale_of(facts.compute)
    numbers = (_number(name, getattr(facts, name), ends) for name, ends in scale.ranges.items())
    return (*numbers, *(_practice(name, getattr(facts, name)) for name in scale.practices))


def broken(facts):
    """The labels of the advice that a plan breaks.

    >>> broken(Facts(compute=1e23, d_model=7040, n_layers=48))
    ('width',)
    """
    return tuple(finding.label for finding in findings(facts) if finding.followed is False)


def summary(facts):
    """The advice that a plan breaks, and what it does not say, in one line.

    >>> summary(Facts(compute=1e23, d_model=7040, n_layers=48, tensor=8))[:44]
    'breaks: width; not said: parameters, tokens,'
    """
    silent = [finding.label for finding in findings(facts) if finding.followed is None]
    said = {"breaks": broken(facts) or ("none",), "not said": silent}
    return "; ".join(f"{words}: {', '.join(labels)}" for words, labels in said.items() if labels)


def _number(name, value, ends):
    label, unit = _WORDS[name]
    low, high = ends
    advised = _range(low, high, unit)
    if value is None:
        return Finding(label=label, followed=None, words=f"not said, advised {advised}")
    slack = 1 + _SLACK.get(name, 0.0)
    words = f"{show(float(value), unit)}, advised {advised}"
    end, which = (high, "upper") if value > high * slack else (low, "lower")
    if low <= value * slack and value <= high * slack:
        return Finding(label=label, followed=True, words=words)
    beside = "that" if low == high else f"the {which} end"
    return Finding(label=label, followed=False, words=f"{words}: {show(float(f'{value / end:.3g}'))} times {beside}")


def _range(low, high, unit):
    if low == high:
        return show(float(low), unit)
    if math.isinf(high):
        return f"{show(float(low), unit)} or more"
    if unit in ("", "layers", "devices"):
        return f"{show(float(low))} to {show(float(high))}"
    return f"{show(float(low), unit).removesuffix(f' {unit}')} to {show(float(high), unit)}"


def _practice(name, value):
    label, _ = _WORDS[name]
    return Finding(label=label, followed=value, words={None: "not said", True: "done", False: "not done"}[value])

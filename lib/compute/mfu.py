"""Conventions of utilization: what an MFU counts, and what a figure under one of them is under the others.

A speed in tokens per second is a fact; a FLOP/s or an MFU made of it depends on which parameters, which part of
attention and which recomputation are counted, and on the peak that divides. All conversions go through the speed.
"""

from dataclasses import dataclass, replace
from types import MappingProxyType

from lib import check, facts
from lib.architecture import Transformer
from lib.compute import possible_utilization
from lib.compute.flops import ATTENTION, RECOMPUTE, attention_flops, recomputed_flops
from lib.units import SECONDS_PER_DAY

PARAMS = MappingProxyType(
    {
        "total": "all parameters, the input table among them although it multiplies nothing",
        "without_input_table": "all but the input table and learned positions; a tied table is the head and stays",
        "without_tables": "neither input table nor output head",
    }
)
# Beside what a framework really repeats (lib.compute.flops), what publishers have counted as repeated.
COUNTED_RECOMPUTE = RECOMPUTE | {
    "whole_model": "the whole forward pass once more: 4/3, although the output head is outside the repeated layers",
    "palm_540b": "three quarters of the forward pass outside attention, and all of attention",
    "selective_twice": "as much again as attention's forward and backward pass: its formula has s/3h for s/6h",
}
TERA = 1e12
UNITS = MappingProxyType(
    {
        "MFU": "useful FLOP/s over peak FLOP/s",
        "HFU": "FLOP/s with recomputation over peak FLOP/s",
        "TFLOP/s per GPU": "counted FLOP/s of one device, in 1e12",
        "tokens/s per GPU": "speed of one device",
        "tokens/s": "speed of the whole cluster",
    }
)


@dataclass(frozen=True, kw_only=True)
class MfuConvention:
    """What a utilization or a FLOP/s counts, and the peak that it divides by.

    Args:
        name: the convention's name; any text.
        params: "total", "without_input_table" or "without_tables".
        attention: "none", "causal" or "full".
        recompute: "none" (an MFU); otherwise an HFU: "selective", "full", "stopping_early" as in `flops`, or as
            published "whole_model", "palm_540b", "selective_twice".
        peak_flops: dense peak of one device, FLOP/s, > 0; None where only FLOP/s and tokens/s are asked for.
        peak: which peak that is, in words: device, data type.
        used_by: who reports by it.
        source: where it is defined.

    Raises:
        TypeError: if a field is of the wrong kind.
        ValueError: if a word is not one of those, or the peak not positive.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B, defined MFU and HFU; the fields are where its users
        part ways.

    >>> MfuConvention(params="without_input_table").words
    '6 N a token; N: parameters without the input table; attention: not counted; recomputation: not counted'
    """

    name: str = ""
    params: str = "total"
    attention: str = "none"
    recompute: str = "none"
    peak_flops: float | None = None
    peak: str = ""
    used_by: str = ""
    source: str = ""

    def __post_init__(self):
        check.text(name=self.name, peak=self.peak, used_by=self.used_by, source=self.source)
        check.choice(tuple(PARAMS), params=self.params)
        check.choice(tuple(ATTENTION), attention=self.attention)
        check.choice(tuple(COUNTED_RECOMPUTE), recompute=self.recompute)
        check.fields(self, positive="peak_flops")

    def dividing_by(self, peak_flops, peak):
        """The same count over another peak: FLOP/s, and in words which one."""
        return replace(self, peak_flops=peak_flops, peak=peak)

    @property
    def measure(self):
        """What its fraction is called: "MFU", or "HFU" where recomputation is counted."""
        return "MFU" if self.recompute == "none" else "HFU"

    @property
    def words(self):
        """The convention in one line."""
        terms = {"none": "6 N", "causal": "6 N + 6 L H Q T", "full": "6 N + 12 L H Q T"}[self.attention]
        counted = {"total": "all parameters", "without_input_table": "parameters without the input table"}
        square = "of L layers, H heads of Q numbers, T tokens"
        counts = {"none": "not counted", "causal": f"causal half {square}", "full": f"full square {square}"}
        again = "not counted" if self.recompute == "none" else COUNTED_RECOMPUTE[self.recompute]
        divided = f"; over the peak of {self.peak}" if self.peak else ""
        return (
            f"{terms} a token; N: {counted.get(self.params, 'parameters without both tables')}; "
            f"attention: {counts[self.attention]}; recomputation: {again}{divided}"
        )

    def counted_params(self, model):
        """N as this convention counts it, for a `Transformer`; of a mixture of experts what a token meets: active."""
        check.instance(Transformer, model=model)
        if self.params == "total":
            return model.n_params_active
        if self.params == "without_tables":
            return model.non_vocabulary_params_active
        # A tied table is counted once and multiplies once, as the head: leaving it out would lose real work.
        return model.non_embedding_params_active + (model.input_embedding_params if model.tied else 0)

    def flops_per_token(self, model, seq_len):
        """FLOPs a token, forward and backward, as this convention counts them  [FLOP/token].

        Args:
            model: a `Transformer`.
            seq_len: tokens in a sequence, a whole number of at least 1; float or array.

        Raises:
            TypeError: if an argument is of the wrong kind.
            ValueError: if seq_len is no whole number of at least 1.

        >>> from lib.architecture import model
        >>> f"{CONVENTIONS['Megatron-LM'].flops_per_token(model('llama-3-8b'), 8192):.4g}"
        '5.791e+10'
        """
        scores = attention_flops(model, seq_len, self.attention)
        weights = 2.0 * self.counted_params(model)
        return 3.0 * (weights + scores) + self._recomputed(model, seq_len, weights, scores)

    def _recomputed(self, model, seq_len, weights, scores):
        if self.recompute in RECOMPUTE:
            return recomputed_flops(model, seq_len, self.attention, self.recompute)
        return {
            "whole_model": weights + scores,
            "palm_540b": 0.75 * weights + scores,
            "selective_twice": 3.0 * scores,
        }[self.recompute]


def _from_entry(entry):
    words = {field: fact.value for field, fact in entry.facts.items()}
    return MfuConvention(name=entry.name, used_by=entry["used_by"], source=entry.facts["params"].source, **words)


# Without a peak: `dividing_by` adds the one that a figure was divided by.
_WORDS = dict.fromkeys(("params", "attention", "recompute"), str)
CONVENTIONS = MappingProxyType(
    {name: _from_entry(entry) for name, entry in facts.load("conventions", {}, _WORDS, labels=("used_by",)).items()}
)


def convention(name):
    """A published convention by name, whatever the case, spaces, hyphens and underscores; without a peak.

    Raises:
        TypeError, ValueError: if the name is no text, or nobody's; the nearest is offered.

    >>> convention("palm").attention
    'full'
    """
    return check.lookup(CONVENTIONS, convention=name)


def tokens_per_second_per_gpu(figure, unit, convention, model, seq_len, n_gpus=None):
    """The speed behind a reported figure: what all conventions agree on  [token/s].

    Args:
        figure: the reported number, > 0; MFU and HFU as a fraction of at most 1; float or array.
        unit: one of `UNITS`: "MFU", "HFU", "TFLOP/s per GPU", "tokens/s per GPU", "tokens/s".
        convention: the `MfuConvention` that it was reported under; with a peak where the unit is MFU or HFU.
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        n_gpus: devices, a whole number of at least 1; needed for "tokens/s" only.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range, a percentage among them, or the unit does not fit the convention.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B.

    >>> from lib.architecture import model
    >>> round(tokens_per_second_per_gpu(800, "TFLOP/s per GPU", convention("Megatron-LM"), model("llama-3-8b"), 8192))
    13813
    """
    _fits(unit, convention)
    check.positive(figure=figure)
    flops = convention.flops_per_token(model, seq_len)
    if unit in ("MFU", "HFU"):
        check.fraction(figure=figure)
        return check.positive_result(tokens_per_second_per_gpu=figure * _peak(convention) / flops)
    scale = {"TFLOP/s per GPU": TERA / flops, "tokens/s per GPU": 1.0, "tokens/s": 1.0 / _devices(unit, n_gpus)}
    return check.positive_result(tokens_per_second_per_gpu=figure * scale[unit])


def reported(tokens_per_second_per_gpu, unit, convention, model, seq_len, n_gpus=None):
    """The figure that a speed is called under a convention: the inverse of `tokens_per_second_per_gpu`.

    Args:
        tokens_per_second_per_gpu: speed of one device, > 0; float or array. The others as in the function of that name.

    Returns:
        A float or array in the unit; MFU and HFU as a fraction.

    Raises:
        TypeError, ValueError: as there, and if the utilization comes out above 1.

    Source: as there.

    >>> from lib.architecture import model
    >>> round(reported(14_451, "TFLOP/s per GPU", convention("Megatron-Bridge"), model("llama-3-8b"), 8192))
    744
    """
    _fits(unit, convention)
    check.positive(tokens_per_second_per_gpu=tokens_per_second_per_gpu)
    flops = convention.flops_per_token(model, seq_len)
    if unit in ("MFU", "HFU"):
        peak = _peak(convention)
        return possible_utilization(peak, **{unit.lower(): tokens_per_second_per_gpu * flops / peak})
    scale = {"TFLOP/s per GPU": flops / TERA, "tokens/s per GPU": 1.0, "tokens/s": _devices(unit, n_gpus)}
    return check.positive_result(reported=tokens_per_second_per_gpu * scale[unit])


def convert(figure, unit, convention, to_unit, to_convention, model, seq_len, n_gpus=None):
    """A figure under one convention as it is called under another: `reported` of `tokens_per_second_per_gpu`.

    Args, Raises, Source: as in those two; `to_unit` and `to_convention` are what is asked for.

    >>> from lib.architecture import model
    >>> megatron, bridge = convention("Megatron-LM"), convention("Megatron-Bridge")
    >>> unit = "TFLOP/s per GPU"
    >>> round(convert(800, unit, megatron, unit, bridge, model("llama-3-8b"), 8192))
    711
    """
    check.choice(tuple(UNITS), to_unit=to_unit)
    check.instance(MfuConvention, to_convention=to_convention)
    speed = tokens_per_second_per_gpu(figure, unit, convention, model, seq_len, n_gpus)
    return reported(speed, to_unit, to_convention, model, seq_len, n_gpus)


def days_under(convention, model, n_tokens, seq_len, n_gpus, utilization):
    """Compute days if a utilization was reported under a convention: tokens * FLOPs a token / useful FLOP/s  [days].

    Under "6N" this is `training_days`. A convention that counts more FLOPs a token means less speed by the same
    fraction, and more days.

    Args:
        convention: an `MfuConvention` with a peak.
        model: a `Transformer`.
        n_tokens: training tokens, > 0; float or array.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        n_gpus: devices, a whole number of at least 1; float or array.
        utilization: the fraction, above 0, at most 1; float or array.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range, or the convention has no peak.

    Source: as `tokens_per_second_per_gpu`.

    >>> from lib.architecture import model
    >>> rule, full = (convention(c).dividing_by(989.4e12, "H100 SXM, bf16") for c in ("6N", "Megatron-LM"))
    >>> run = {"model": model("llama-3-8b"), "n_tokens": 15e12, "seq_len": 8192, "n_gpus": 1024, "utilization": 0.4}
    >>> round(days_under(rule, **run), 1), round(days_under(full, **run) / days_under(rule, **run), 2)
    (20.6, 1.2)
    """
    check.positive(n_tokens=n_tokens)
    check.whole(n_gpus=n_gpus)
    check.fraction(utilization=utilization)
    check.instance(MfuConvention, convention=convention)
    useful = check.positive_result(useful_flops_per_second=n_gpus * _peak(convention) * utilization)
    seconds = n_tokens * convention.flops_per_token(model, seq_len) / useful
    return check.positive_result(days_under=seconds / SECONDS_PER_DAY)


def days_ratio(convention, model, seq_len):
    """Days under a convention for one day by 6ND, the utilization being the same number: FLOPs a token over 6 N.

    Args, Raises: as in `MfuConvention.flops_per_token`; a peak is not needed.

    Source: as `tokens_per_second_per_gpu`.

    >>> from lib.architecture import model
    >>> round(days_ratio(convention("Megatron-Bridge"), model("llama-3-8b"), 8192), 2)
    1.07
    """
    check.instance(MfuConvention, convention=convention)
    return convention.flops_per_token(model, seq_len) / CONVENTIONS["6N"].flops_per_token(model, seq_len)


def _fits(unit, convention):
    check.choice(tuple(UNITS), unit=unit)
    check.instance(MfuConvention, convention=convention)
    if unit in ("MFU", "HFU") and unit != convention.measure:
        counts = "recomputation" if convention.measure == "HFU" else "no recomputation"
        raise ValueError(
            f"unit = {unit!r}: {convention.measure}, for the convention {convention.name!r} counts {counts}"
        )


def _peak(convention):
    if convention.peak_flops is None:
        raise ValueError(f"peak_flops = None: a peak for {convention.name!r}; convention.dividing_by(peak_flops, peak)")
    return convention.peak_flops


def _devices(unit, n_gpus):
    if unit != "tokens/s":
        return 1.0
    if n_gpus is None:
        raise ValueError("n_gpus = None: a whole number, 1 or more; tokens/s is the speed of so many devices")
    check.whole(n_gpus=n_gpus)
    return n_gpus

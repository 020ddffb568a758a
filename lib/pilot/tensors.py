"""Every tensor of a `Transformer` by name: what its sides count, and how it starts.

A tensor of the layers holds all layers, along its first side. What a `Transformer` leaves open is done as Llama does
it: norms in front of attention and MLP, rotary positions unless they are learned, SiLU behind a gate, GELU without one.
"""

import math
from typing import NamedTuple

from lib import check
from lib.architecture import NORM_KINDS, Transformer

STANDARD_DEVIATION = 0.02  # of weights at the start: GPT-2
_NORMS = {  # norms of a layer by their number
    1: ("attention_norm",),  # attention and MLP in parallel behind it
    2: ("attention_norm", "mlp_norm"),
    4: ("attention_norm", "mlp_norm", "attention_out_norm", "mlp_out_norm"),
}
_OUTSIDE_NORMS = ((), ("last_norm",), ("last_norm", "table_norm"))
_RESIDUAL = ("attention_out", "down")  # these write into the residual stream


class Tensor(NamedTuple):
    """A stored tensor: size of each side by what it counts, and the standard deviation at the start."""

    sides: dict[str, int]
    deviation: float  # 0 for what starts constant
    mean: float

    @property
    def shape(self):
        """The sizes, in order."""
        return tuple(self.sides.values())

    @property
    def n_params(self):
        """Numbers stored."""
        return math.prod(self.shape)

    @property
    def is_matrix(self):
        """True for weights that multiply or are looked up; False for norms and biases, which no decay pulls to zero."""
        return self.deviation > 0


def tensors(shape, rows=None):
    """All tensors of a model: {"layers": {name: `Tensor`}, "outside": {name: `Tensor`}}.

    Args:
        shape: a `Transformer` without experts, latent attention, attention sinks and multi-token prediction.
        rows: rows of the tables, at least its vocab_size where they are padded; None: no padding.

    Returns:
        Two dictionaries; without padding the tensors' n_params sum to the shape's.

    Raises:
        TypeError: if the shape is no `Transformer`, rows no whole number.
        ValueError: for a part that the pilot does not build, by name.

    >>> from lib.architecture import model
    >>> found = tensors(model("llama-3-8b"))
    >>> found["layers"]["query"].sides
    {'layer': 32, 'width': 4096, 'kv_heads': 8, 'group': 4, 'head_dim': 128}
    >>> sum(tensor.n_params for part in found.values() for tensor in part.values())
    8030261248
    """
    check.instance(Transformer, shape=shape)
    rows = shape.vocab_size if rows is None else rows
    check.integer(rows=rows)
    _refuse_parts(shape, rows)
    layer = _attention(shape) | _mlp(shape) | _layer_norms(shape)
    stacked = {name: {"layer": shape.n_layers} | sides for name, sides in layer.items()}
    return {
        "layers": {name: _tensor(name, sides, shape) for name, sides in stacked.items()},
        "outside": {name: _tensor(name, sides, shape) for name, sides in _outside(shape, rows).items()},
    }


def refuse_length(shape, seq_len):
    """Refuse a sequence that is longer than a learned position table.

    >>> from lib.architecture import model
    >>> refuse_length(model("gpt-2"), 2048)
    Traceback (most recent call last):
    ...
    ValueError: seq_len = 2048: at most 1024, the shape's learned_positions
    """
    check.instance(Transformer, shape=shape)
    check.integer(seq_len=seq_len)
    if 0 < shape.learned_positions < seq_len:
        raise ValueError(f"seq_len = {seq_len}: at most {shape.learned_positions}, the shape's learned_positions")


def _refuse_parts(shape, rows):
    if rows < shape.vocab_size:
        raise ValueError(f"rows = {rows}: at least vocab_size = {shape.vocab_size}")
    for name in ("moe", "latent", "n_mtp_layers", "attention_sinks"):
        if getattr(shape, name):
            raise ValueError(
                f"shape.{name} = {check.short(getattr(shape, name))}: none, for the pilot builds no such part"
            )
    if shape.norms_per_layer not in _NORMS:
        raise ValueError(f"shape.norms_per_layer = {shape.norms_per_layer}: {check.listed(map(str, _NORMS))}")
    if shape.norms_outside_layers >= len(_OUTSIDE_NORMS):
        raise ValueError(f"shape.norms_outside_layers = {shape.norms_outside_layers}: 0, 1 or 2")
    if shape.head_dim % 2 and not shape.learned_positions:
        raise ValueError(f"shape.head_dim = {shape.head_dim}: an even number, whose halves turn in pairs")


def _tensor(name, sides, shape):
    if name.endswith("_scale"):
        return Tensor(sides, 0.0, 1.0)
    if name.endswith("_bias"):
        return Tensor(sides, 0.0, 0.0)
    depth = 2 * shape.n_layers if name in _RESIDUAL else 1
    return Tensor(sides, STANDARD_DEVIATION / depth**0.5, 0.0)


def _attention(shape):
    width, keys = {"width": shape.d_model}, {"kv_heads": shape.n_kv_heads, "head_dim": shape.head_dim}
    group = shape.n_heads // shape.n_kv_heads
    heads = {"kv_heads": shape.n_kv_heads, "group": group, "head_dim": shape.head_dim}
    found = {"query": width | heads, "key": width | keys, "value": width | keys, "attention_out": heads | width}
    if shape.qkv_bias:
        found |= {"query_bias": heads, "key_bias": keys, "value_bias": keys}
    if shape.attention_output_bias:
        found["attention_out_bias"] = width
    return found


def _mlp(shape):
    width, inner = {"width": shape.d_model}, {"d_ff": shape.d_ff}
    into = ("up", "gate") if shape.gated else ("up",)
    found = dict.fromkeys(into, width | inner) | {"down": inner | width}
    if shape.mlp_bias:
        found |= {f"{name}_bias": inner for name in into} | {"down_bias": width}
    return found


def _layer_norms(shape):
    found = {}
    for name in _NORMS[shape.norms_per_layer]:
        found |= _norm(name, shape.d_model, shape.norm)
    if shape.qk_norm == "head":
        return found | _norm("query_norm", shape.head_dim, shape.norm) | _norm("key_norm", shape.head_dim, shape.norm)
    if shape.qk_norm.startswith("width"):
        kind = "layer-without-bias" if shape.qk_norm == "width-without-bias" and shape.norm == "layer" else shape.norm
        found |= _norm("query_norm", shape.attention_width, kind) | _norm("key_norm", shape.kv_width, kind)
    return found


def _norm(name, width, kind):
    parts = ("scale", "bias")[: NORM_KINDS[kind]]
    return {f"{name}_{part}": {"width": width} for part in parts}


def _outside(shape, rows):
    words, inner = {"vocab": rows}, {"table_width": shape.embedding_width}
    width = {"width": shape.d_model}
    if shape.embedding_width == shape.d_model:
        inner = width
    found = {"table": words | inner}
    if shape.learned_positions:
        found["positions"] = {"position": shape.learned_positions} | width
    if inner != width:
        found |= {"table_in": inner | width, "table_out": width | inner}
    if not shape.tied:
        found["head"] = words | inner
    if shape.head_bias:
        found["head_bias"] = words
    for name in _OUTSIDE_NORMS[shape.norms_outside_layers]:
        found |= _norm(name, shape.d_model, shape.norm)
    return found

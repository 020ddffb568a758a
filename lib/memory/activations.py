"""Tensors that one layer saves for its backward pass, as the frameworks' code saves them.

Each is bytes for one token and how tensor ranks share it: along the sequence ("rows", only under sequence parallelism),
by heads or inner width ("parts"), or not at all ("whole"). Sums meet what PyTorch really saves to the byte.
"""

from functools import lru_cache
from typing import NamedTuple

from lib.memory import plain
from lib.memory.states import PRECISIONS


class Tensor(NamedTuple):
    """One saved tensor: bytes a token over all tensor ranks, and how they share it."""

    name: str
    bytes_a_token: float
    shared: str  # "rows", "parts", "keys" (parts, but at least one key head) or "whole"
    selective: bool = False  # kept when every second product is
    only_with: str = ""  # several "ranks" or "sequences", or "context" ranks, without which it is not there


@lru_cache(maxsize=512)
def layer_tensors(shape, profile, with_experts=False):
    """What one layer saves for backward without recomputation, in order; scores excepted.

    Source: Korthikanti et al. 2022, arXiv:2205.05198, section 4.1, and the code that the profile names.
    """
    behind = _experts(shape, profile) if with_experts else _mlp(shape, profile, shape.d_ff)
    return (*_attention(shape, profile), *_dropout(shape, profile), *behind)


@lru_cache(maxsize=64)
def checkpoint(shape, profile):
    """What a recomputed layer keeps: its input."""
    return (Tensor("layer input", numbers(profile) * shape.d_model, "rows"),)


@lru_cache(maxsize=512)
def selective_tensors(shape, profile, with_experts=False):
    """What is kept when "selective" drops all but the layer's input, attention's output and every second product."""
    kept = tuple(tensor for tensor in layer_tensors(shape, profile, with_experts) if tensor.selective)
    width = numbers(profile) * shape.d_model
    if profile.compiled:  # only what backward reads: neither the last product nor what is added behind it
        return (*checkpoint(shape, profile), *kept, Tensor("reduced outputs", width, "rows", only_with="ranks"))
    down = Tensor("MLP output", width, "whole")  # the seventh product of a gated layer, whole until it is reduced
    reduced = Tensor("reduced outputs", 2 * width, "rows", only_with="ranks")
    return (*checkpoint(shape, profile), *kept, *((down,) if shape.gated else ()), reduced)


def norm_tensors(shape, profile, name, readers):
    """What a norm over d_model saves, the input of the projections behind it included."""
    before, besides = norm_bytes(shape, profile)
    after = inputs(profile) * (readers if profile.norm == "autocast" else 1)
    roots = 1 if shape.norm == "rms" else 2  # a mean and a deviation
    return (
        Tensor(f"{name} norm, input", before * shape.d_model, "rows"),
        Tensor(f"{name} norm, output", (besides + after) * shape.d_model, "rows"),
        Tensor(f"{name} norm, statistics", roots * profile.norm_statistic_bytes, "rows"),
    )


def inputs(profile):
    """Bytes of a number that a product reads and saves."""
    return PRECISIONS[profile.precision].inputs


def norm_bytes(shape, profile):
    """Bytes a number of d_model that a norm saves: its input, and what it saves besides its output.

    The output is the input of the projections behind it; under autocast every projection casts a copy of its own. How
    an RMSNorm is written decides what it keeps; LayerNorm is one kernel in PyTorch, and widened by autocast alone.
    """
    n = numbers(profile)
    if shape.norm != "rms" and profile.norm in ("upcast", "composite"):
        return n, 0.0
    narrow = {"fused": (n, 0.0), "plain": (n, n)}
    in_fp32 = {"wide": (4.0, 0.0), "upcast": (4.0, n), "composite": (4.0, 4.0), "autocast": (4.0, 4.0)}
    return (narrow | in_fp32)[profile.norm]


def numbers(profile):
    """Bytes of an ordinary number of forward and backward."""
    return PRECISIONS[profile.precision].numbers


def score_bytes(profile):
    """Bytes of each attention score that eager attention saves: the softmax, and with dropout its output and mask."""
    if profile.attention == "flash":
        return 0.0
    if profile.attention == "math":
        return 12.0 if profile.attention_dropout else 4.0
    return profile.score_bytes + (2.0 + profile.dropout_mask_bytes if profile.attention_dropout else 0.0)


def shares(shape, split, by_rows):
    """By how much the tensor ranks divide each kind of saved tensor; numbers or arrays."""
    rows = 1 + (split.tensor - 1) * by_rows
    keys = plain.smaller(split.tensor, shape.n_kv_heads)
    return {"rows": rows, "parts": split.tensor, "keys": keys, "whole": 1}


def _attention(shape, profile):
    if shape.latent:
        return _latent(shape, profile)
    queries, keys = numbers(profile) * shape.attention_width, numbers(profile) * shape.kv_width
    norm = norm_tensors(shape, profile, "attention", 3)
    heads = _head_norms(shape, profile)
    if profile.attention != "flash":
        queries, out = (queries, queries) if profile.attention == "eager" else (2 * queries, 3 * queries)
        repeated = "parts" if shape.n_kv_heads < shape.n_heads else "keys"
        saved = (Tensor("queries", queries, "parts", True), Tensor("keys", queries, repeated))
        saved += (Tensor("values", queries, repeated, True), Tensor("attention output", out, "parts", True))
        return (*norm, *heads, *saved)
    saved = (Tensor("queries", queries, "parts", True), Tensor("keys", keys, "keys"))
    saved += (Tensor("values", keys, "keys", True), Tensor("attention output", queries, "parts", True))
    if profile.packs_qkv and shape.learned_positions and shape.n_kv_heads < shape.n_heads:
        saved += (Tensor("queries in the packed projection", queries, "parts"),)
    copies = (*_output_copies(profile, queries), *_output_read(profile, queries))
    return (*norm, *heads, *saved, *copies, Tensor("softmax statistics", 4.0 * shape.n_heads, "parts", True))


def _output_copies(profile, width):
    """Attention's output once more: in the projection's order of tokens, or on the other side of an all-to-all."""
    if profile.transposes_attention:
        yield Tensor("attention output, transposed", width, "parts", only_with="sequences")
    if profile.context_exchange == "all-to-all":
        yield Tensor("attention output, exchanged", width, "parts", only_with="context")


def _output_read(profile, width):
    """Attention's output as the projection reads it, where that is another type than attention saves."""
    if inputs(profile) != numbers(profile):
        yield Tensor("attention output, as read", width / numbers(profile) * inputs(profile), "parts")


def _head_norms(shape, profile):
    if shape.qk_norm == "none":
        return ()
    width = shape.attention_width + shape.kv_width
    roots = shape.n_heads + shape.n_kv_heads if shape.qk_norm == "head" else 2
    before, besides = norm_bytes(shape, profile)
    saved = width * (before + besides) + roots * profile.norm_statistic_bytes
    return (Tensor("query and key norms", saved, "parts"),)


def _latent(shape, profile):
    """Latent attention: the vectors and their norms on every rank, queries, keys and values by heads."""
    latent, heads = shape.latent, numbers(profile) * shape.n_heads
    norm = norm_tensors(shape, profile, "attention", 2)
    width = (latent.q_rank or 0) + latent.kv_rank
    before, besides = norm_bytes(shape, profile)
    vectors = width * (before + besides + inputs(profile)) + 2.0 * profile.norm_statistic_bytes
    saved = (Tensor("latent vectors and their norms", vectors, "rows"),)
    saved += (Tensor("queries", heads * latent.head_dim, "parts", True),)
    saved += (Tensor("keys", heads * latent.head_dim, "parts"),)
    saved += (Tensor("values", heads * latent.v_head_dim, "parts", True),)
    saved += (Tensor("attention output", heads * latent.v_head_dim, "parts", True),)
    saved += tuple(_output_read(profile, heads * latent.v_head_dim))
    return (*norm, *saved, Tensor("softmax statistics", 4.0 * shape.n_heads, "parts", True))


def _dropout(shape, profile):
    masks = 2.0 * profile.dropout_mask_bytes * shape.d_model
    return (Tensor("dropout masks", masks, "rows"),) if profile.hidden_dropout else ()


def _mlp(shape, profile, d_ff):
    norm = norm_tensors(shape, profile, "MLP", 2) if shape.norms_per_layer > 1 else ()
    return (*norm, *_behind(shape, profile), *_inner(shape, profile, d_ff, "MLP"))


def _behind(shape, profile):
    """Norms of the outputs of attention and MLP (Gemma 2): their outputs are added, so only the inputs are saved."""
    if shape.norms_per_layer < 4:
        return ()
    before, besides = norm_bytes(shape, profile)
    saved = 2 * (shape.d_model * (before + besides) + profile.norm_statistic_bytes)
    return (Tensor("norms of outputs", saved, "rows"),)


def _inner(shape, profile, d_ff, name):
    """Outputs of the first matrices, and what the last one reads."""
    first = Tensor(f"{name} inner width", (2 if shape.gated else 1) * numbers(profile) * d_ff, "parts")
    if profile.selective == "every second product" and shape.gated:
        gate = Tensor(f"{name} gate", numbers(profile) * d_ff, "parts", True)
        rest = Tensor(f"{name} up", numbers(profile) * d_ff, "parts")
        return (gate, rest, *_activation(shape, profile, d_ff, name))
    return (first, *_activation(shape, profile, d_ff, name))


def _activation(shape, profile, d_ff, name):
    steps = numbers(profile) * (1 if shape.gated else 3)  # silu; the tanh formula's steps
    each = inputs(profile) + (0.0 if profile.mlp == "fused" else steps)
    return (Tensor(f"{name} activation", each * d_ff, "parts"),)


def _experts(shape, profile):
    """Router, the copies of each token that experts read, and the experts' inner width; shared experts as an MLP."""
    moe = shape.moe
    sent = moe.experts_per_token * profile.expert_load
    norm = norm_tensors(shape, profile, "MLP", 1)
    if profile.routing == "inside":
        router = Tensor("router scores", 9.0 * moe.n_experts, "rows")  # logits and probabilities in fp32, a mask
        read = Tensor(
            "tokens sent to experts", (inputs(profile) * shape.d_model + 4.0) * sent, "whole"
        )  # with their probability
    else:  # probabilities and their sum, choices and their weights; of each copy two numbers of its place
        router = Tensor("router scores", 4.0 * moe.n_experts + 12.0 * moe.experts_per_token + 4.0, "rows")
        read = Tensor("tokens sent to experts", (inputs(profile) * shape.d_model + 20.0) * sent, "whole")
    outputs = (
        (Tensor("expert outputs", numbers(profile) * shape.d_model * sent, "whole"),)
        if profile.routing == "behind"
        else ()
    )
    inner = _inner(shape, profile, moe.d_ff_expert * sent, "expert")
    shared = _inner(shape, profile, moe.d_ff_shared, "shared expert") if moe.d_ff_shared else ()
    return (*norm, *_behind(shape, profile), router, read, *inner, *outputs, *shared)

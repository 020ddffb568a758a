"""Parameters that one rank holds: what tensor and expert parallelism split, and what every rank keeps whole.

Numbers or arrays: `split` is a `Layout`, or anything with its fields as float arrays.
"""

from typing import NamedTuple

from lib.architecture import NORM_KINDS
from lib.memory import plain


class Held(NamedTuple):
    """Parameters on one rank by how they are sharded and stepped; each a number or an array."""

    matrices: object  # of attention and MLP, without the experts
    experts: object  # routed experts, which fewer ranks share
    vectors: object  # norms and biases
    tables: object  # embedding, positions, head

    @property
    def dense(self):
        """All but the routed experts."""
        return self.matrices + self.vectors + self.tables

    @property
    def total(self):
        """All parameters on the rank."""
        return self.dense + self.experts


def layer(shape, split, with_experts):
    """Parameters of one layer on one rank."""
    t = split.tensor
    matrices, vectors = _attention(shape, t)
    vectors = vectors + shape.layer_components["norms"]
    if not with_experts:
        inner, outer = _mlp(shape, shape.d_ff, shape.mlp_bias)
        return Held(matrices + inner / t, 0, vectors + outer[0] / t + outer[1], 0)
    moe = shape.moe
    shared, _ = _mlp(shape, moe.d_ff_shared, False)
    expert, biases = _mlp(shape, moe.d_ff_expert, moe.expert_bias)
    gate = shape.d_model if moe.shared_gate else 0
    router = moe.n_experts * shape.d_model + (moe.n_experts if moe.router_bias else 0)
    experts = moe.n_experts / split.expert * (expert / t + biases[0] / t + biases[1])
    return Held(matrices + shared / t + router + gate, experts, vectors, 0)


def embedding(shape, split, profile):
    """Parameters of the first stage's tables on one rank: rows of words split, positions and their norm whole."""
    rows = plain.padded_rows(shape.vocab_size, profile.vocab_multiple, split.tensor) / split.tensor
    norms = max(0, shape.norms_outside_layers - 1) * shape.d_model * NORM_KINDS[shape.norm]
    positions = shape.learned_positions * shape.d_model + _projection(shape)
    return Held(0, 0, norms, rows * shape.embedding_width + positions)


def head(shape, split, profile):
    """Parameters of the last stage's head on one rank, and of the final norm.

    A tied head is none beside its embedding, and a copy on a stage of its own.
    """
    rows = plain.padded_rows(shape.vocab_size, profile.vocab_multiple, split.tensor) / split.tensor
    copied = (split.pipeline > 1) * 1 if shape.tied else 1
    bias = rows if shape.head_bias else 0
    norms = min(1, shape.norms_outside_layers) * shape.d_model * NORM_KINDS[shape.norm]
    return Held(0, 0, norms + bias, copied * rows * shape.embedding_width + _projection(shape))


def joined(shape):
    """What joins the stream and the next token's embedding in front of a layer that predicts a further token."""
    return Held(2 * shape.d_model**2, 0, 3 * shape.d_model * NORM_KINDS[shape.norm], 0)


def key_width(shape, tensor, head_dim=None):
    """Numbers a token in the keys of one rank: its share of the heads, or one head that several ranks hold."""
    return plain.larger(1.0 * shape.n_kv_heads / tensor, 1.0) * (head_dim or shape.head_dim)


def attention(shape, t):
    """Matrices of attention in one layer on one rank."""
    return _attention(shape, t)[0]


def _attention(shape, t):
    if shape.latent:
        return _latent(shape, t)
    keys = key_width(shape, t)
    matrices = 2 * shape.d_model * (shape.attention_width / t + keys)
    biases = shape.attention_width / t + 2 * keys if shape.qkv_bias else 0
    sinks = shape.n_heads / t if shape.attention_sinks else 0
    return matrices, biases + sinks + (shape.d_model if shape.attention_output_bias else 0)


def _latent(shape, t):
    """Projections down to the latent vectors are on every rank, those up from them are split by heads."""
    latent, heads = shape.latent, shape.n_heads / t
    down = shape.d_model * latent.cache_width + (shape.d_model * latent.q_rank if latent.q_rank else 0)
    queries = (latent.q_rank or shape.d_model) * heads * latent.head_dim
    keys = latent.kv_rank * heads * (latent.nope_head_dim + latent.v_head_dim)
    biases = (latent.q_rank or 0) + latent.cache_width if shape.qkv_bias else 0
    return down + queries + keys + heads * latent.v_head_dim * shape.d_model, biases


def _mlp(shape, d_ff, bias):
    """Weights; biases that are split and those that are not."""
    inner = 2 if shape.gated else 1
    return (inner + 1) * shape.d_model * d_ff, (inner * d_ff if bias else 0, shape.d_model if bias else 0)


def _projection(shape):
    return shape.embedding_width * shape.d_model if shape.embedding_width != shape.d_model else 0

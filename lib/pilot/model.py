"""The transformer in JAX: parameters as a dictionary of arrays, small pure functions, one loop over the layers.

The names and sides of the parameters are those of `tensors`. Einsum letters: b sequence, s and t positions, d width,
k key head, g query heads of one key head, h numbers of a head, f inner width, v word.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from lib.pilot.tensors import refuse_length, tensors

IGNORED = -1  # a target that is padding
ROTARY_BASE = 10_000.0
_EPSILON = 1e-5


class Part(NamedTuple):
    """What one device computes of a batch; as it stands, all of it."""

    place: Callable = lambda stream: stream  # says where the residual stream lies, if the compiler cuts it
    first: int = 0  # position of the first token, if devices share a sequence
    whole: Callable = lambda values, axis: values  # of a side that they share: what all of them hold


_ALL = Part()


def initialise(shape, key, rows=None, dtype=jnp.float32):
    """Parameters at the start: normal weights, norms of one, biases of zero.

    Weights have standard deviation 0.02; those that write into the residual stream 0.02 / sqrt(2 * n_layers).

    Args:
        shape: a `Transformer` that `tensors` takes.
        key: JAX's random key.
        rows: rows of the tables where they are padded.
        dtype: type of the parameters.

    Returns:
        {"layers": {name: array}, "outside": {name: array}}.

    Source: Radford et al. 2019 (GPT-2), section 2.3; its code, model.py.

    >>> from lib.architecture import Transformer
    >>> shape = Transformer(n_layers=2, d_model=64, n_heads=4, n_kv_heads=2, d_ff=192, vocab_size=1000)
    >>> params = jax.jit(initialise, static_argnums=0)(shape, jax.random.key(0))
    >>> sum(leaf.size for leaf in jax.tree.leaves(params)) == shape.n_params
    True
    """
    found = tensors(shape, rows)
    drawn = iter(_drawn([tensor for inside in found.values() for tensor in inside.values()], key))

    def start(tensor):
        normal = next(drawn)[: tensor.n_params].reshape(tensor.shape)
        return (tensor.mean + tensor.deviation * normal).astype(dtype)

    return {part: {name: start(tensor) for name, tensor in inside.items()} for part, inside in found.items()}


def _drawn(wanted, key):
    """A row of normal numbers for each tensor, as long as the largest: one draw, for each costs a compiler dear."""
    longest = max(tensor.n_params for tensor in wanted)
    return jax.vmap(lambda key: jax.random.normal(key, (longest,), jnp.float32))(jax.random.split(key, len(wanted)))


def logits(params, shape, tokens, *, dropout=0.0, key=None, dtype=jnp.float32, part=_ALL):
    """Scores of the next word for each position, float32 at least.

    Args:
        params: as `initialise` makes them.
        shape: the `Transformer` they were made for.
        tokens: whole numbers below vocab_size, (sequences, positions).
        dropout: rate on the table's output and on what attention and MLP add; needs a key above 0.
        key: JAX's random key.
        dtype: type that products read.
        part: a `Part`: which the tokens are, of sequences that several devices share.

    Returns:
        An array (sequences, positions, rows of the table).

    Raises:
        ValueError: for a sequence longer than the shape's learned positions.
    """
    seq_len = part.whole(jnp.arange(tokens.shape[1]), 0).size
    refuse_length(shape, seq_len)
    params = jax.tree.map(lambda leaf: leaf.astype(dtype), params)
    outside = params["outside"]
    keys = jax.random.split(jax.random.key(0) if key is None else key, shape.n_layers + 1)
    stream = _drop(_embed(outside, tokens, shape, part.first), dropout, keys[-1])

    def one(stream, layer_of):
        return _layer(layer_of, part.place(stream), shape, dropout, part), None

    windows = jnp.array([shape.window(n) or seq_len for n in range(shape.n_layers)])
    stream, _ = jax.lax.scan(one, part.place(stream), (params["layers"], windows, keys[:-1]))
    return _head(outside, stream, shape)


def loss(params, shape, tokens, targets, **options):
    """Mean cross-entropy over the targets that are not padding: sum(-log p) / count  [nats/token].

    Args:
        params, shape, tokens, options: as in `logits`.
        targets: the next words, (sequences, positions); `IGNORED` where there is none.

    Returns:
        One number; 0 if everything is padding.

    >>> from lib.architecture import Transformer
    >>> shape = Transformer(n_layers=2, d_model=64, n_heads=4, n_kv_heads=2, d_ff=192, vocab_size=1000)
    >>> tokens = jnp.arange(32).reshape(2, 16)
    >>> params = jax.jit(initialise, static_argnums=0)(shape, jax.random.key(0))
    >>> start = jax.jit(loss, static_argnums=1)(params, shape, tokens, tokens + 1)
    >>> abs(float(start) - math.log(1000)) < 0.1
    True
    """
    total, count = summed(params, shape, tokens, targets, **options)
    return total / jnp.maximum(count, 1)


def summed(params, shape, tokens, targets, **options):
    """Cross-entropy of all targets that are not padding, and their number: (sum(-log p), count)  [nats, tokens].

    Args:
        params, shape, tokens, targets, options: as in `loss`.
    """
    scores = logits(params, shape, tokens, **options)
    rows = jnp.arange(scores.shape[-1])
    scores = jnp.where(rows < shape.vocab_size, scores, -jnp.inf)  # no word is in the padding of the table
    right = jnp.sum(jnp.where(rows == targets[..., None], scores, 0.0), axis=-1)  # no gather, which a cut table lacks
    nats = jnp.where(targets != IGNORED, jax.nn.logsumexp(scores, axis=-1) - right, 0.0)
    return jnp.sum(nats), _counted(targets)


def _counted(targets):
    return jnp.sum(targets != IGNORED)


def output_table(outside):
    """The table that scores the next word: the input table itself where there is no other, the head being tied.

    Args:
        outside: parameters outside the layers.

    >>> output_table({"table": "reads", "head": "writes"}), output_table({"table": "reads and writes"})
    ('writes', 'reads and writes')
    """
    return outside.get("head", outside["table"])


def _embed(outside, tokens, shape, first):
    stream = outside["table"][tokens]
    if "table_in" in outside:
        stream = stream @ outside["table_in"]
    if "positions" in outside:
        stream = stream + jax.lax.dynamic_slice_in_dim(outside["positions"], first, tokens.shape[1])
    return _norm(outside, "table_norm", stream, shape.norm) if shape.norms_outside_layers == 2 else stream


def _head(outside, stream, shape):
    if shape.norms_outside_layers:
        stream = _norm(outside, "last_norm", stream, shape.norm)
    if "table_out" in outside:
        stream = stream @ outside["table_out"]
    scores = jnp.einsum("bsd,vd->bsv", stream, output_table(outside))
    return _wide(scores + outside.get("head_bias", 0))


def _layer(layer_of, stream, shape, dropout, part):
    weights, window, key = layer_of
    keys = jax.random.split(key)
    beside = _norm(weights, "attention_norm", stream, shape.norm)
    added = _after(weights, "attention_out_norm", _attention(weights, beside, shape, window, part), shape)
    stream_then = part.place(stream + _drop(added, dropout, keys[0]))
    if shape.norms_per_layer > 1:
        beside = _norm(weights, "mlp_norm", stream_then, shape.norm)
    added = _after(weights, "mlp_out_norm", _mlp(weights, beside, shape), shape)
    return part.place(stream_then + _drop(added, dropout, keys[1]))


def _after(weights, name, added, shape):
    return _norm(weights, name, added, shape.norm) if shape.norms_per_layer == 4 else added


def _attention(weights, stream, shape, window, part):
    query = jnp.einsum("bsd,dkgh->bskgh", stream, weights["query"]) + weights.get("query_bias", 0)
    key = jnp.einsum("bsd,dkh->bskh", stream, weights["key"]) + weights.get("key_bias", 0)
    value = jnp.einsum("bsd,dkh->bskh", stream, weights["value"]) + weights.get("value_bias", 0)
    query, key = _qk_norm(weights, "query_norm", query, shape), _qk_norm(weights, "key_norm", key, shape)
    if not shape.learned_positions:
        query, key = rotate(query, part.first), rotate(key, part.first)
    key, value = part.whole(key, 1), part.whole(value, 1)
    positions = part.first + jnp.arange(stream.shape[1])
    seen = _seen(positions[:, None] - part.whole(positions, 0), window)
    scores = _wide(jnp.einsum("bskgh,btkh->bkgst", query, key)) / math.sqrt(shape.head_dim)
    chances = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("bkgst,btkh->bskgh", chances.astype(value.dtype), value)
    added = jnp.einsum("bskgh,kghd->bsd", mixed, weights["attention_out"])
    return added + weights.get("attention_out_bias", 0)


def _mlp(weights, stream, shape):
    up = stream @ weights["up"] + weights.get("up_bias", 0)
    gate = stream @ weights["gate"] + weights.get("gate_bias", 0) if shape.gated else None
    up = jax.nn.gelu(up) if gate is None else up * jax.nn.silu(gate)
    return up @ weights["down"] + weights.get("down_bias", 0)


def rotate(heads, first=0):
    """Rotary positions: the halves of each head turned by position / 10,000^(2i / head_dim).

    Args:
        heads: an array (sequences, positions, ..., head_dim), head_dim even.
        first: position of the first.

    Source: Su et al. 2021, arXiv:2104.09864, section 3.2; halves in place of neighbours, as in GPT-NeoX and in
        transformers' Llama.

    >>> turned = jax.jit(rotate)(jnp.ones((1, 3, 2, 8)))
    >>> bool(jnp.allclose(jnp.sum(turned**2, axis=-1), 8.0))
    True
    """
    half = heads.shape[-1] // 2
    wide = _wide(heads)
    angles = (first + jnp.arange(heads.shape[1]))[:, None] * ROTARY_BASE ** (-jnp.arange(half) / half)
    angles = angles.reshape(heads.shape[1], *[1] * (heads.ndim - 3), half)
    first, second = wide[..., :half], wide[..., half:]
    turned = (first * jnp.cos(angles) - second * jnp.sin(angles), second * jnp.cos(angles) + first * jnp.sin(angles))
    return jnp.concatenate(turned, axis=-1).astype(heads.dtype)


def _seen(back, window):
    """True where a position may look so far back: at itself and what stands before it, within the window."""
    return (back >= 0) & (back < window)


def _qk_norm(weights, name, heads, shape):
    if shape.qk_norm == "none":
        return heads
    if shape.qk_norm == "head":
        return _norm(weights, name, heads, shape.norm)
    return _norm(weights, name, heads.reshape(*heads.shape[:2], -1), shape.norm).reshape(heads.shape)


def _norm(weights, name, values, kind):
    wide = _wide(values)
    if kind != "rms":
        wide = wide - jnp.mean(wide, axis=-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + _EPSILON)
    return wide.astype(values.dtype) * weights.get(f"{name}_scale", 1) + weights.get(f"{name}_bias", 0)


def _drop(values, rate, key):
    if not rate:
        return values
    kept = jax.random.bernoulli(key, 1 - rate, values.shape)
    return jnp.where(kept, values / (1 - rate), 0.0).astype(values.dtype)


def _wide(values):
    """float32 at least: sums, exponentials and roots lose too much in bfloat16."""
    return values.astype(jnp.promote_types(values.dtype, jnp.float32))

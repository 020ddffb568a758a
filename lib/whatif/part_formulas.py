"""How the parameters of each component come about, as text with the numbers put in."""

from lib.architecture import counting


def formula(shape, part):
    """The sum behind one of `Transformer.components`, in words and numbers.

    Args:
        shape: a `Transformer`.
        part: a key of its components.

    >>> from lib.architecture import model
    >>> formula(model("llama-3-8b"), "attention")
    '32 x 2 x 4,096 x (4,096 + 1,024)'
    """
    return _FORMULAS[part](shape)


def _table(shape):
    return f"{shape.vocab_size:,} x {shape.embedding_width:,}"


def _attention(shape):
    biases, sinks = counting.attention_biases(shape), counting.attention_sinks(shape)
    more = (f" + {biases:,} biases" if biases else "") + (f" + {sinks} sinks" if sinks else "")
    weights = _latent(shape) if shape.latent else _grouped(shape)
    return f"{shape.n_layers} x ({weights}{more})" if more or shape.latent else f"{shape.n_layers} x {weights}"


def _grouped(shape):
    return f"2 x {shape.d_model:,} x ({shape.attention_width:,} + {shape.kv_width:,})"


def _latent(shape):
    latent, d, heads = shape.latent, shape.d_model, shape.n_heads
    queries = f"{d:,} x {shape.attention_width:,}"
    if latent.q_rank:
        queries = f"{latent.q_rank:,} x ({d:,} + {shape.attention_width:,})"
    down = f"{d:,} x ({latent.kv_rank} + {latent.rope_head_dim})"
    up = f"{latent.kv_rank} x {heads} x ({latent.nope_head_dim} + {latent.v_head_dim})"
    return f"{queries} + {down} + {up} + {heads} x {latent.v_head_dim} x {d:,}"


def _mlp(shape, n_layers, d_ff, biases, n_each=1):
    matrices = f"{3 if shape.gated else 2} x {shape.d_model:,} x {d_ff:,}"
    each = f"{n_each} x " if n_each > 1 else ""
    return f"{n_layers} x {each}({matrices} + {biases:,} biases)" if biases else f"{n_layers} x {each}{matrices}"


def _dense(shape):
    return _mlp(shape, shape.n_layers - shape.n_moe_layers, shape.d_ff, counting.dense_biases(shape))


def _router(shape):
    biases = counting.router_biases(shape)
    weights = f"{shape.moe.n_experts} x {shape.d_model:,}"
    return f"{shape.n_moe_layers} x ({weights} + {biases} biases)" if biases else f"{shape.n_moe_layers} x {weights}"


def _shared(shape):
    if not shape.moe.d_ff_shared:
        return "none"
    mlp = _mlp(shape, shape.n_moe_layers, shape.moe.d_ff_shared, counting.shared_biases(shape))
    return mlp + (f" + {shape.n_moe_layers} x {shape.d_model:,} for the gate" if shape.moe.shared_gate else "")


def _routed(shape):
    moe = shape.moe
    return _mlp(shape, shape.n_moe_layers, moe.d_ff_expert, counting.expert_biases(shape), moe.n_experts)


def _norms(shape):
    outside = shape.components["norms"] - shape.n_layers * counting.layer_norms(shape)
    return f"{shape.n_layers} x {counting.layer_norms(shape):,} + {outside:,}"


def _head(shape):
    stored = "0, the input table once more" if shape.tied else _table(shape)
    return stored + (f" + {shape.vocab_size:,} biases" if shape.head_bias else "")


_FORMULAS = {
    "input embedding": _table,
    "positions": lambda shape: f"{shape.learned_positions:,} x {shape.d_model:,}",
    "attention": _attention,
    "feed-forward": _dense,
    "router": _router,
    "shared experts": _shared,
    "routed experts": _routed,
    "norms": _norms,
    "embedding projections": lambda shape: f"2 x {shape.embedding_width:,} x {shape.d_model:,}",
    "output head": _head,
}

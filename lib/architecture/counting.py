"""What each part of a transformer stores, counted: weights of products, biases, norms; of one layer or of all.

These functions take a `Transformer` and are what its properties are made of. Products and biases are kept apart, since
only products cost FLOPs.
"""

from types import MappingProxyType

# How many numbers a norm stores for each of its inputs: a weight, a weight and a bias, or nothing.
NORM_KINDS = MappingProxyType({"rms": 1, "layer": 2, "layer-without-bias": 1, "none": 0})
QK_NORMS = ("none", "head", "width", "width-without-bias")


def attention_weights(shape):
    """Query and output projections of the query heads' width, key and value projections of the key heads'."""
    if shape.latent is None:
        return 2 * shape.d_model * (shape.attention_width + shape.kv_width)
    latent, values = shape.latent, shape.n_heads * shape.latent.v_head_dim
    if latent.q_rank is None:
        queries = shape.d_model * shape.attention_width
    else:
        queries = latent.q_rank * (shape.d_model + shape.attention_width)
    keys = shape.d_model * latent.cache_width + latent.kv_rank * (shape.n_heads * latent.nope_head_dim + values)
    return queries + keys + values * shape.d_model


def attention_biases(shape):
    """Biases of the projections; latent attention has them on the way down to its latent vectors only."""
    if shape.latent is None:
        qkv = shape.attention_width + 2 * shape.kv_width
    else:
        qkv = (shape.latent.q_rank or 0) + shape.latent.cache_width
    return (qkv if shape.qkv_bias else 0) + (shape.d_model if shape.attention_output_bias else 0)


def attention_sinks(shape):
    """One learned score for each query head, to which a token may attend instead of any other."""
    return shape.n_heads if shape.attention_sinks else 0


def mlp_weights(shape, d_ff):
    """Three matrices of d_model x d_ff with a gate, two without."""
    return (3 if shape.gated else 2) * shape.d_model * d_ff


def mlp_biases(shape, d_ff):
    """A bias for each output of those matrices."""
    return (2 if shape.gated else 1) * d_ff + shape.d_model


def dense_biases(shape):
    """Biases of the one MLP of a layer without experts."""
    return mlp_biases(shape, shape.d_ff) if shape.mlp_bias else 0


def router_weights(shape):
    """A row of d_model for each expert."""
    return shape.moe.n_experts * shape.d_model


def router_biases(shape):
    """A learned bias for each expert's score."""
    return shape.moe.n_experts if shape.moe.router_bias else 0


def shared_biases(shape):
    """Biases of the shared experts, which are MLPs like those of the dense layers."""
    return mlp_biases(shape, shape.moe.d_ff_shared) if shape.mlp_bias and shape.moe.d_ff_shared else 0


def shared_weights(shape):
    """The experts that every token passes, and the row that scales them."""
    gate = shape.d_model if shape.moe.shared_gate else 0
    return mlp_weights(shape, shape.moe.d_ff_shared) + gate


def expert_weights(shape):
    """Weights of one expert."""
    return mlp_weights(shape, shape.moe.d_ff_expert)


def expert_biases(shape):
    """Biases of one expert."""
    return mlp_biases(shape, shape.moe.d_ff_expert) if shape.moe.expert_bias else 0


def feed_forward(shape, with_experts):
    """Parameters behind attention in one layer, by component."""
    if not with_experts:
        return {"feed-forward": mlp_weights(shape, shape.d_ff) + dense_biases(shape)}
    return {
        "router": router_weights(shape) + router_biases(shape),
        "shared experts": shared_weights(shape) + shared_biases(shape),
        "routed experts": shape.moe.n_experts * (expert_weights(shape) + expert_biases(shape)),
    }


def feed_forward_matmul(shape, with_experts):
    """Weights behind attention that one token meets in one layer."""
    if not with_experts:
        return mlp_weights(shape, shape.d_ff)
    return router_weights(shape) + shared_weights(shape) + shape.moe.experts_per_token * expert_weights(shape)


def feed_forward_biases(shape, with_experts):
    """Biases behind attention in one layer, of all experts."""
    if not with_experts:
        return dense_biases(shape)
    return router_biases(shape) + shared_biases(shape) + shape.moe.n_experts * expert_biases(shape)


def layer_norms(shape):
    """Parameters of all norms of one layer."""
    per_input = NORM_KINDS[shape.norm]
    heads = {"none": 0, "head": 2 * shape.head_dim}.get(shape.qk_norm, shape.attention_width + shape.kv_width)
    of_heads = heads * (min(per_input, 1) if shape.qk_norm == "width-without-bias" else per_input)
    latent = (shape.latent.q_rank or 0) + shape.latent.kv_rank if shape.latent else 0
    return shape.norms_per_layer * shape.d_model * per_input + of_heads + latent


def norm_biases(shape):
    """Biases among the parameters of norms, of the whole model."""
    if shape.norm != "layer":
        return 0
    heads = {"head": 2 * shape.head_dim, "width": shape.attention_width + shape.kv_width}.get(shape.qk_norm, 0)
    per_layer = shape.norms_per_layer * shape.d_model + heads
    return shape.n_layers * per_layer + shape.norms_outside_layers * shape.d_model


def layer(shape, with_experts):
    """Parameters of one layer by component."""
    attention = attention_weights(shape) + attention_biases(shape) + attention_sinks(shape)
    return {"attention": attention, **feed_forward(shape, with_experts), "norms": layer_norms(shape)}


def all_layers(shape):
    """Parameters of all layers by component."""
    found = {}
    for n_layers, with_experts in ((shape.n_layers - shape.n_moe_layers, False), (shape.n_moe_layers, True)):
        for part, n_params in layer(shape, with_experts).items() if n_layers else ():
            found[part] = found.get(part, 0) + n_layers * n_params
    return found | {"norms": found.pop("norms")}  # last, as in one layer


def embedding_projection(shape):
    """The matrix between a table and a model of other width."""
    return shape.embedding_width * shape.d_model if shape.embedding_width != shape.d_model else 0

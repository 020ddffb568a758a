"""Fields of a configuration that take more than a name to become those of a `Transformer`.

Each function takes the `Fields` of one file and gives fields of `Transformer`. Where a rule is more than a copy of a
number, the line of transformers that makes it so is named by its variable.
"""

from lib.architecture.parts import LatentAttention, MixtureOfExperts

_FULL, _NARROW = ("full_attention", "attention"), ("sliding_attention", "chunked_attention")


def four_times(c):
    """An inner width of four times the model's where the file has none."""
    given = c.optional("intermediate_size") if "intermediate_size" in c.family.defaults else None
    return {"d_ff": given or 4 * c.size("hidden_size")}


def learned_positions(spare):
    """A row for every position, and spare ones (OPT begins to count at 2)."""
    return lambda c: {"learned_positions": c.size("max_position_embeddings") + spare}


def qk_norm(switch, kind):
    """Norms over queries and keys where the file switches them on."""
    return lambda c: {"qk_norm": kind if c.flag(switch) else "none"}


def stablelm(c):
    """One norm where attention and MLP run side by side."""
    return {"norms_per_layer": 1 if c.flag("use_parallel_residual") else 2}


def without_cross_attention(c):
    """A decoder that also reads an encoder is refused: its further attention is not counted here."""
    if c.flag("add_cross_attention"):
        c.refuse("add_cross_attention", "False; attention to an encoder is not counted here")
    return {}


def floored_heads(c):
    """A head dimension rounded down where heads do not divide the width, as this class alone takes it."""
    return {"head_dim": c.optional("head_dim") or c.size("hidden_size") // c.size("num_attention_heads")}


def opt(c):
    """A table of another width, norms behind instead of in front, norms without weights: OPT-350m has all of it."""
    last = c.flag("do_layer_norm_before") and not c.flag("_remove_final_layer_norm")
    return {
        "embedding_width": c.optional("word_embed_proj_dim"),
        "norms_outside_layers": 1 if last else 0,
        "norm": "layer" if c.flag("layer_norm_elementwise_affine") else "none",
    }


def chatglm(c):
    """Two switches of biases and one of shared keys, which later GLM have as sizes."""
    everywhere = c.flag("add_bias_linear")
    shared = c.size("multi_query_group_num") if c.flag("multi_query_attention") else None
    return {
        "n_kv_heads": shared,
        "norm": "rms" if c.flag("rmsnorm") else "layer",
        "norms_outside_layers": int(c.flag("post_layer_norm")),
        "qkv_bias": everywhere or c.flag("add_qkv_bias"),
        "attention_output_bias": everywhere,
        "mlp_bias": everywhere,
    }


def falcon(c):
    """Falcon's two decoders: the newer shares keys in groups and may norm attention and MLP apart."""
    new, heads = c.flag("new_decoder_architecture"), c.size("num_attention_heads")
    in_parallel = c.optional("num_ln_in_parallel_attn") or (2 if new else 1)
    old = 1 if c.flag("multi_query") else heads
    return {
        "n_kv_heads": (c.optional("num_kv_heads") or heads) if new else old,
        "norms_per_layer": 2 if in_parallel == 2 or not c.flag("parallel_attn") else 1,
    }


# How far back each layer looks.


def one_window(c):
    """One window for all layers, or none."""
    return {"windows": (c.window("sliding_window"),)}


def late_windows(c):
    """A window in the layers from max_window_layers on (Qwen), unless layer_types names them."""
    full = min(c.count("max_window_layers"), c.size("num_hidden_layers"))
    kinds = [i >= full for i in range(c.n_layers)]
    return _windows(c, c.window("sliding_window"), kinds)


def early_windows(c):
    """A window in every second layer before max_window_layers (Qwen2-MoE as transformers has it)."""
    return _windows(
        c, c.window("sliding_window"), [i % 2 == 0 and i < c.count("max_window_layers") for i in range(c.n_layers)]
    )


def typed_windows(full_every):
    """A window in all layers but the last of each group of so many; the file may say how many, or name each layer."""

    def read(c):
        every = c.optional("sliding_window_pattern") if "sliding_window_pattern" in c.family.defaults else full_every
        return _windows(
            c, c.window("sliding_window"), [every is None or (i + 1) % every != 0 for i in range(c.n_layers)]
        )

    return read


def windows_without_rope(c):
    """A window in the layers without rotary positions (SmolLM3), where the file switches it on."""
    return _windows(c, c.window("sliding_window"), [not rope for rope in _with_rope(c)])


def chunked_windows(c):
    """Chunks in the layers with rotary positions (Llama 4): a token sees at most so many before it."""
    return _windows(c, c.window("attention_chunk_size"), _with_rope(c))


def _with_rope(c):
    given = c.whole_numbers("no_rope_layers")  # 1 where a layer has rotary positions, whatever the name says
    if given:
        c.refuse_length("no_rope_layers", given)
        return [bool(rope) for rope in given]
    return [(i + 1) % c.size("no_rope_layer_interval") != 0 for i in range(c.n_layers)]


def _windows(c, window, narrow):
    """The windows of a Transformer, from layer_types where the file has them, else from what the class takes."""
    kinds = c.layer_kinds((*_FULL, *_NARROW))
    if kinds:
        narrow = [kind in _NARROW for kind in kinds]
    if window is None or not any(narrow):
        return {"windows": (None,)}
    return {"windows": _shortest(tuple(window if is_narrow else None for is_narrow in narrow))}


def _shortest(windows):
    """The shortest run that the layers repeat."""
    n = len(windows)
    return next(windows[:k] for k in range(1, n + 1) if all(windows[i] == windows[i % k] for i in range(n)))


# Mixtures of experts, and attention through a latent vector.


def experts(c):
    """As many experts in every layer, each of intermediate_size."""
    return _experts(c, "num_local_experts", d_ff_expert=c.size("intermediate_size"))


def biased_experts(c):
    """The same with biases on the router and in the experts (gpt-oss)."""
    width = c.size("intermediate_size")
    return _experts(c, "num_local_experts", d_ff_expert=width, router_bias=True, expert_bias=True)


def granite_experts(c):
    """Experts of intermediate_size, and one that all tokens pass, of another width; 0 for none."""
    shared = c.count("shared_intermediate_size")
    width = c.size("intermediate_size")
    return _experts(c, "num_local_experts", d_ff_expert=width, n_shared_experts=int(shared > 0), d_ff_shared=shared)


def granite_without_mamba(c):
    """The hybrid's attention layers: experts where it has any, and an MLP that all tokens pass."""
    if c.layer_kinds(_FULL) is None:
        raise ValueError("layer_types: missing, which makes every layer one of Mamba: not counted here")
    if not c.count("num_local_experts"):
        return {"d_ff": c.size("shared_intermediate_size")}
    return granite_experts(c)


def qwen_experts(c):
    """Experts in every decoder_sparse_step-th layer that mlp_only_layers does not name; Qwen2's shared one is gated."""
    if not c.count("num_local_experts"):
        return {}
    more = {}
    if "shared_expert_intermediate_size" in c.family.defaults:
        width = c.size("shared_expert_intermediate_size")
        more = {"n_shared_experts": 1, "d_ff_shared": width, "shared_gate": True}
    return _experts(
        c,
        "num_local_experts",
        d_ff_expert=c.size("moe_intermediate_size"),
        layer_period=c.size("decoder_sparse_step"),
        dense_layers=tuple(c.whole_numbers("mlp_only_layers") or ()),
        **more,
    )


def deepseek_experts(c, **more):
    """Narrow experts behind the first dense layers, and some that every token passes."""
    return _experts(
        c,
        "n_routed_experts",
        d_ff_expert=c.size("moe_intermediate_size"),
        n_shared_experts=c.count("n_shared_experts"),
        n_dense_layers=c.count("first_k_dense_replace"),
        **more,
    )


def balanced_experts(c):
    """The same, with a number for each expert that keeps the load even."""
    return deepseek_experts(c, router_buffer=True)


def llama4_experts(c):
    """Experts in the layers of moe_layers, or every interleave_moe_layer_step-th, beside one that all tokens pass."""
    named, width = c.whole_numbers("moe_layers"), c.size("intermediate_size")
    others = tuple(i for i in range(c.n_layers) if named is not None and i not in named)
    period = 1 if named is not None else c.size("interleave_moe_layer_step")
    found = _experts(
        c, "num_local_experts", d_ff_expert=width, n_shared_experts=1, layer_period=period, dense_layers=others
    )
    return found | {"d_ff": c.size("intermediate_size_mlp")}


def _experts(c, number, **fields):
    n_experts, chosen = c.size(number), c.size("num_experts_per_tok")
    if chosen > n_experts:
        c.refuse("num_experts_per_tok", f"at most {number} = {n_experts}")
    moe = MixtureOfExperts(n_experts=n_experts, experts_per_token=chosen, **fields)
    return {"moe": moe if moe.n_layers_of(c.n_layers) else None}


def latent(c):
    """Attention through one narrow vector a token."""
    heads = c.size("num_attention_heads")
    return {
        "latent": LatentAttention(
            q_rank=c.optional("q_lora_rank"),
            kv_rank=c.size("kv_lora_rank"),
            nope_head_dim=c.size("qk_nope_head_dim"),
            rope_head_dim=c.size("qk_rope_head_dim"),
            v_head_dim=c.optional("v_head_dim") or c.size("hidden_size") // heads,
        )
    }


def mtp(c):
    """Layers that predict one token more, which transformers does not build."""
    return {"n_mtp_layers": c.count("num_nextn_predict_layers")}

"""The view behind `handbook model`: parameters by component, what one token meets, what it costs and leaves behind."""

from lib import check
from lib.architecture import Transformer, counting
from lib.architecture.kv_cache import kv_cache_bytes, layers_by_window, next_token_bytes
from lib.compute.flops import attention_flops, head_flops, layer_flops, train_flops_per_token, windowed_attention_flops
from lib.units import show, show_count, show_power
from lib.whatif import part_formulas
from lib.whatif.model import Row, View

CACHE_DTYPES = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0}
_MLA = "DeepSeek-AI 2024, arXiv:2405.04434, section 2.1.3"
_MQA = "Shazeer 2019, arXiv:1911.02150, section 2.3"
_KAPLAN = "Kaplan et al. 2020, arXiv:2001.08361, section 2.1"
_PALM = "Chowdhery et al. 2022, arXiv:2204.02311, appendix B"


def model_view(shape, context=8192, cache_dtype="bf16", notes=(), counted_by=""):
    """What a model is made of, and what a token costs and leaves at a context.

    Args:
        shape: a `Transformer`.
        context: tokens in a sequence, a whole number of at least 1.
        cache_dtype: "fp32", "bf16" or "fp8": how keys and values are kept.
        notes: sentences to pass on.
        counted_by: whose parameters these are, in words; any text.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range.
    """
    check.instance(Transformer, shape=shape)
    check.integer(context=context)
    check.choice(tuple(CACHE_DTYPES), cache_dtype=cache_dtype)
    kept = kv_cache_bytes(shape, context, CACHE_DTYPES[cache_dtype])
    active = f", {show_count(shape.n_params_active)} of them active" if shape.moe else ""
    return View(
        title=(
            f"{shape.name or 'This shape'}: {shape.n_params:,} parameters{active}; at {context:,} tokens the cache of "
            f"one sequence takes {show(kept, 'bytes')} in {cache_dtype}."
        ),
        rows=(
            *_parameter_rows(shape, counted_by),
            *_active_rows(shape),
            *_flops_rows(shape, context),
            *_cache_rows(shape, context, cache_dtype),
        ),
        notes=(*_shape_notes(shape, context), *notes),
    )


def to_dict(shape, context, cache_dtype, view):
    """The same as plain data: counts in full for a script, and the view's rows.

    Args:
        shape, context, cache_dtype: as in `model_view`, whose view is the last.
    """
    per_number = CACHE_DTYPES[cache_dtype]
    return {
        "name": shape.name,
        "source": shape.source,
        "n_params": shape.n_params,
        "n_params_active": shape.n_params_active,
        "n_params_active_without_input_table": shape.non_embedding_params_active,
        "n_params_active_without_tables": shape.non_vocabulary_params_active,
        "components": shape.components,
        "mtp_params": shape.mtp_params,
        "router_buffers": shape.router_buffers,
        "context": context,
        "forward_flops_per_token": layer_flops(shape) + head_flops(shape) + attention_flops(shape, context, "causal"),
        "train_flops_per_token": train_flops_per_token(shape, context, "causal"),
        "kv_cache_dtype": cache_dtype,
        "kv_cache_bytes": kv_cache_bytes(shape, context, per_number),
        "kv_cache_bytes_per_token_at_start": next_token_bytes(shape, 0, per_number),
        "kv_cache_bytes_per_token_at_context": next_token_bytes(shape, context, per_number),
        **view.to_dict(),
    }


def _parameter_rows(shape, counted_by):
    group = "Parameters, each stored number once"
    for part, n_params in shape.components.items():
        if n_params or part == "output head":
            yield _count(part, n_params, group, formula=part_formulas.formula(shape, part))
    sources = (shape.source,) if shape.source else ()
    yield _count("all", shape.n_params, group, formula="the sum", sources=sources, convention=counted_by)
    if shape.router_buffers:
        formula = f"{shape.n_moe_layers} layers x {shape.moe.n_experts} experts"
        counts = "no parameters: no gradient reaches them; the checkpoint has them"
        yield _count("beside them, to balance experts", shape.router_buffers, group, formula=formula, convention=counts)
    if shape.n_mtp_layers:
        counts = "multi-token prediction; in no count above, shared tables not again"
        yield _count("beside them, to predict further", shape.mtp_params, group, convention=counts)


def _active_rows(shape):
    group = "Parameters that one token meets, by convention"
    left = "routed experts that it does not pass" if shape.moe else ""
    kinds = (
        ("all", shape.n_params, ""),
        ("without input table", shape.non_embedding_params, "input table, positions"),
        ("without both tables", shape.non_vocabulary_params, "both tables, positions"),
    )
    for label, n_params, tables in kinds:
        counts = f"left out: {', '.join(filter(None, (tables, left))) or 'nothing'}"
        formula = f"{n_params:,}{_idle(shape)}"
        yield _count(label, n_params - shape.idle_params, group, formula=formula, convention=counts)


def _idle(shape):
    if not shape.moe:
        return ""
    one = counting.expert_weights(shape) + counting.expert_biases(shape)
    return f" - {shape.n_moe_layers} x ({shape.moe.n_experts} - {shape.moe.experts_per_token}) x {one:,}"


def _count(label, n_params, group, **unfolded):
    return Row(label=label, value=f"{n_params:,}", group=group, **unfolded)


def _flops_rows(shape, context):
    group = f"FLOPs of one token at {context:,} tokens"
    layers, head = layer_flops(shape), head_flops(shape)
    causal = attention_flops(shape, context, "causal")
    pairs = f"{shape.n_layers} x {shape.n_heads} x ({shape.head_dim} + {shape.v_head_dim}) x {context:,}"
    yield _flops("matrices in layers", layers, group, f"2 x {shape.matmul_params:,}", "forward; experts that it passes")
    yield _flops("output head", head, group, f"2 x {shape.head_matmul_params:,}", "forward; tied or not")
    yield _flops("attention, causal", causal, group, pairs, "forward; half of the square")
    yield _flops("attention, full", 2.0 * causal, group, f"2 x {pairs}", "forward; the whole square")
    if shape.windows != (None,):
        counts = "forward; causal, and no further back than each layer looks, w - w^2 / 2T keys of T tokens"
        yield _flops("attention, windowed", windowed_attention_flops(shape, context), group, "", counts)
    exact = train_flops_per_token(shape, context, "causal")
    forward = f"3 x ({show_power(layers)} + {show_power(head)} + {show_power(causal)})"
    counts = "forward and backward; matrices, head, causal attention; no recomputation"
    yield _flops("training, counted", exact, group, forward, counts)
    n_params, counts = shape.n_params_active, f"N: all {'active ' if shape.moe else ''}parameters; no attention"
    yield _flops("training, 6 N", 6.0 * n_params, group, f"6 x {n_params:,}", counts, _KAPLAN)


def _flops(label, value, group, formula, counts, source=_PALM):
    row = {"label": label, "value": value, "unit": "FLOP", "group": group}
    return Row(**row, formula=formula, convention=counts, sources=(source,))


def _cache_rows(shape, context, cache_dtype):
    group = f"Cache of keys and values, {cache_dtype}, one sequence"
    size, width, layers = CACHE_DTYPES[cache_dtype], shape.kv_cache_width, layers_by_window(shape).items()
    kept = " + ".join(f"{n} x {context if w is None else min(w, context):,}" for w, n in layers)
    growing = sum(n for w, n in layers if w is None or context < w)
    each = f"{width:,} x {size:g}"
    words = f"{shape.latent.kv_rank} + {shape.latent.rope_head_dim}" if shape.latent else ""
    amounts = (
        ("the first token adds", next_token_bytes(shape, 0, size), f"{shape.n_layers} x {each}"),
        (f"token {context + 1:,} adds", next_token_bytes(shape, context, size), f"{growing} x {each}"),
        (f"{context:,} tokens take", kv_cache_bytes(shape, context, size), f"({kept}) x {each}"),
    )
    unfolded = _cached(shape) | {"group": group}
    words = words or f"2 x {shape.n_kv_heads} x {shape.head_dim}"
    yield Row(label="numbers a layer keeps of a token", value=float(width), unit="numbers", formula=words, **unfolded)
    for label, value, formula in amounts:
        yield Row(label=label, value=value, unit="bytes", formula=formula, **unfolded)


def _cached(shape):
    if shape.latent:
        return {"convention": "the latent vector, which no head unfolds in the cache", "sources": (_MLA,)}
    return {"convention": "keys and values of every key head", "sources": (_MQA,)}


def _shape_notes(shape, context):
    yield f"Shape: {shape.text}."
    windows = [w for w in shape.windows if w is not None]
    if windows:
        n_narrow = sum(n for w, n in layers_by_window(shape).items() if w is not None)
        yield (
            f"{n_narrow} of {shape.n_layers} layers look back {max(windows):,} tokens at most: their cache stops "
            "growing there, and causal attention counts more for them than they do."
        )
    if shape.latent:
        yield "A framework that caches unfolded keys and values keeps more than the latent vector counted here."

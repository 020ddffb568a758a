"""Released models by name, from `lib/data/models.toml`."""

from lib import check, facts
from lib.architecture.parts import LatentAttention, MixtureOfExperts
from lib.architecture.transformer import Transformer

_MOE = ("n_experts", "experts_per_token", "n_shared_experts", "d_ff_expert", "d_ff_shared")
_MOE += ("n_dense_layers", "layer_period", "router_bias", "router_buffer", "expert_bias", "shared_gate")
_LATENT = ("q_rank", "kv_rank", "nope_head_dim", "rope_head_dim", "v_head_dim")
FIGURES = {  # the sizes in lib/data/models.toml and their units
    **dict.fromkeys(("d_model", "head_dim", "d_ff", "embedding_width", "d_ff_expert", "d_ff_shared"), "dimensions"),
    **dict.fromkeys(_LATENT, "dimensions"),
    **dict.fromkeys(("n_heads", "n_kv_heads"), "heads"),
    **dict.fromkeys(("norms_per_layer", "norms_outside_layers"), "norms"),
    **dict.fromkeys(("n_layers", "n_dense_layers", "layer_period", "n_mtp_layers", "full_attention_every"), "layers"),
    **dict.fromkeys(("n_experts", "experts_per_token", "n_shared_experts"), "experts"),
    **dict.fromkeys(("vocab_size", "learned_positions"), "rows"),
    **dict.fromkeys(("n_params", "n_params_active"), "parameters"),
    "window": "tokens",
}
WORDS = {
    **dict.fromkeys(("gated", "tied", "qkv_bias", "attention_output_bias", "mlp_bias", "head_bias"), bool),
    **dict.fromkeys(("attention_sinks", "router_bias", "router_buffer", "expert_bias", "shared_gate"), bool),
    **dict.fromkeys(("norm", "qk_norm"), str),
}


def model(name):
    """A released model by name, whatever the case, spaces, hyphens and underscores.

    Args:
        name: such as "llama-3-8b" or "GPT-2"; `MODELS` lists all.

    Returns:
        The `Transformer` that its published configuration describes.

    Raises:
        TypeError: if the name is no text.
        ValueError: if no model has it; the nearest is offered.

    Source: each row of lib/data/models.toml names its configuration file.

    >>> f"{model('Mistral 7B').n_params:,}"
    '7,241,732,096'
    """
    return check.lookup(_BY_NAME, model=name)


def _from_entry(entry):
    fields = {field: fact.value for field, fact in entry.facts.items() if not field.startswith("n_params")}
    for part, kind, names in (("moe", MixtureOfExperts, _MOE), ("latent", LatentAttention, _LATENT)):
        given = {name: fields.pop(name) for name in names if name in fields}
        if given:
            fields[part] = kind(**given)
    windows = windows_of(fields.pop("window", None), fields.pop("full_attention_every", None))
    return Transformer(name=entry.name, source=entry.facts["n_layers"].source, windows=windows, **fields)


def windows_of(window, full_every=None):
    """The `windows` of a Transformer that looks so far back, and every so many layers at everything.

    Args:
        window: tokens, a whole number of at least 1; None for no window in any layer.
        full_every: every how many layers one has no window, the last of each group; None for no such layer.

    Raises:
        TypeError, ValueError: for what is no whole number of at least 1.

    >>> windows_of(512, 6)
    (512, 512, 512, 512, 512, None)
    """
    for name, value in (("window", window), ("full_every", full_every)):
        if value is not None:
            check.integer(**{name: value})
    if window is None or full_every is None:
        return (window,)
    return (window,) * (full_every - 1) + (None,)


_ENTRIES = facts.Later(lambda: facts.load("models", FIGURES, WORDS, labels=("aliases",)))
MODELS = facts.Later(lambda: {name: _from_entry(entry) for name, entry in _ENTRIES.items()})
# Other name -> name: what else a control takes for one of the names in `MODELS`.
SYNONYMS = facts.Later(lambda: {alias: name for name, entry in _ENTRIES.items() for alias in entry.get("aliases", ())})
_BY_NAME = facts.Later(lambda: dict(MODELS) | {alias: MODELS[name] for alias, name in SYNONYMS.items()})

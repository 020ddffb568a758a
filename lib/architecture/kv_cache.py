"""What a model keeps of the tokens it has read, so that the next need not read them again: keys and values, cached.

A layer without a window keeps every token; one with a window as many as that reaches back; latent attention one narrow
vector for each. So bytes a token are no constant: they are what the next token adds, and fall as windows fill.
"""

from lib import check
from lib.architecture.transformer import Transformer
from lib.elementwise import minimum, where


def layers_by_window(model):
    """How many layers look how far back: window in tokens (None: all of them) -> number of layers.

    Args:
        model: a `Transformer`.

    Raises:
        TypeError: if it is none.

    Source: the windows are the model's own.

    >>> from lib.architecture import model
    >>> layers_by_window(model("gemma-3-1b"))
    {512: 22, None: 4}
    """
    check.instance(Transformer, model=model)
    groups, rest = divmod(model.n_layers, len(model.windows))
    found = {}
    for i, window in enumerate(model.windows[: model.n_layers]):
        found[window] = found.get(window, 0) + groups + (i < rest)
    return found


def kv_cache_bytes(model, context, bytes_per_number=2.0):
    """Bytes that all layers keep of one sequence: the sum of width * min(context, window) * bytes_per_number  [bytes].

    The width is 2 * n_kv_heads * head_dim, with latent attention kv_rank + rope_head_dim: what the cache must hold,
    not what a framework that unfolds the latent vector does hold.

    Args:
        model: a `Transformer`.
        context: tokens in the sequence, a whole number of at least 1; float or array.
        bytes_per_number: 2 for bf16, 1 for fp8, > 0.

    Returns:
        A float, or an array of the shape of context.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range.

    Source: Shazeer 2019, arXiv:1911.02150, section 2.3 (keys and values); DeepSeek-AI 2024, arXiv:2405.04434,
        section 2.1.3 (latent vector); Beltagy et al. 2020, arXiv:2004.05150, section 3.1 (windows).

    >>> from lib.architecture import model
    >>> kv_cache_bytes(model("llama-3-8b"), 8192) / 1024**3
    1.0
    """
    check.whole(context=context)
    check.positive(bytes_per_number=bytes_per_number)
    layers = layers_by_window(model).items()
    kept = sum(n * (context if window is None else minimum(context, float(window))) for window, n in layers)
    return check.result(kv_cache_bytes=1.0 * model.kv_cache_width * bytes_per_number * kept)


def next_token_bytes(model, context, bytes_per_number=2.0):
    """Bytes that the token behind so many adds to the cache: of the layers whose window is not full  [bytes].

    Args:
        model: a `Transformer`.
        context: tokens that are kept already, a whole number, 0 or more; float or array.
        bytes_per_number: as in `kv_cache_bytes`.

    Returns:
        A float, or an array of the shape of context.

    Raises:
        TypeError, ValueError: as `kv_cache_bytes`.

    Source: as `kv_cache_bytes`, whose difference it is.

    >>> from lib.architecture import model
    >>> next_token_bytes(model("gemma-3-1b"), 0), next_token_bytes(model("gemma-3-1b"), 8192)
    (26624.0, 4096.0)
    """
    check.count(context=context)
    check.positive(bytes_per_number=bytes_per_number)
    layers = layers_by_window(model).items()
    growing = sum(where(context < (float("inf") if w is None else w), float(n), 0.0) for w, n in layers)
    return check.result(next_token_bytes=1.0 * model.kv_cache_width * bytes_per_number * growing)

"""The FLOPs of a transformer, counted: weight matrices, attention, output head, recomputation; per token.

A multiplication and an addition are two FLOPs. Only matrix multiplications count, as everywhere in the field: norms,
biases, activation functions and rotations are left out.
"""

from types import MappingProxyType

from lib import check
from lib.architecture.transformer import Transformer
from lib.elementwise import minimum

# Which share of the full square of scores is counted.
ATTENTION = MappingProxyType({"none": 0.0, "causal": 0.5, "full": 1.0})
RECOMPUTE = MappingProxyType(
    {
        "none": "nothing is computed twice",
        "selective": "the scores and their product with the values once more, no matrix of weights",
        "full": "every layer's forward pass once more; the output head is outside the layers",
        "stopping_early": "every layer once more up to the input of its last matrix, which backward needs no more",
    }
)


def layer_flops(model):
    """Forward FLOPs a token in the layers' weight matrices: 2 * weights  [FLOP/token].

    Of a mixture of experts, the weights of those that a token passes, and of the router.

    Args:
        model: a `Transformer`.

    Raises:
        TypeError: if it is none.

    Source: as `forward_flops`.

    >>> from lib.architecture import model
    >>> layer_flops(model("llama-3-8b"))
    13958643712.0
    """
    _shape(model)
    return 2.0 * model.matmul_params


def head_flops(model):
    """Forward FLOPs a token in the output head: 2 * vocab_size * d_model, tied or not  [FLOP/token].

    Args:
        model: a `Transformer`.

    Raises:
        TypeError: if it is none.

    Source: as `forward_flops`.

    >>> from lib.architecture import model
    >>> head_flops(model("llama-3-8b"))
    1050673152.0
    """
    _shape(model)
    return 2.0 * model.head_matmul_params


def attention_flops(model, seq_len, attention):
    """Forward FLOPs a token in attention: 4 * n_layers * n_heads * head_dim * seq_len * share  [FLOP/token].

    Two products, queries with keys and scores with values, of 2 * head_dim FLOPs a head and pair of positions (with
    latent attention a value head is narrower than a key head, and the sum of both stands for 2 * head_dim). The
    share is 1 for "full", 1/2 for "causal": half of the square, which halves the diagonal too. A causal mask needs
    (seq_len + 1) / 2 pairs a token, that is 1 / seq_len more; publishers count seq_len / 2, and so does this. Every
    layer is taken to look at the whole sequence: layers with a sliding window need less, and are over-counted.

    Args:
        model: a `Transformer`. Key and value heads do not matter: every query head meets every key.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        attention: "none", "causal" or "full".

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if seq_len is no whole number of at least 1, or attention another word.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B (full: 12 L H Q T for forward and backward);
        Dao 2023, arXiv:2307.08691, section 4.1 (causal: divided by 2).

    >>> from lib.architecture import model
    >>> attention_flops(model("llama-3-8b"), 8192, "full")
    4294967296.0
    """
    _shape(model)
    check.whole(seq_len=seq_len)
    check.choice(tuple(ATTENTION), attention=attention)
    pair = 2.0 * model.n_layers * model.n_heads * (model.head_dim + model.v_head_dim)
    return check.result(attention_flops=pair * seq_len * ATTENTION[attention])


def windowed_attention_flops(model, seq_len):
    """Forward FLOPs a token in causal attention that looks no further back than each layer's window  [FLOP/token].

    A layer without a window meets seq_len / 2 keys on average, as under "causal"; one with a window w meets
    w - w^2 / (2 seq_len) once the sequence is longer than w.

    Args:
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.

    Returns:
        A float, or an array of the shape of seq_len.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if seq_len is no whole number of at least 1.

    Source: Beltagy et al. 2020, arXiv:2004.05150, section 3.1 (windows); otherwise as `attention_flops`.

    >>> from lib.architecture import model
    >>> gemma = model("gemma-3-1b")
    >>> round(attention_flops(gemma, 32_768, "causal") / windowed_attention_flops(gemma, 32_768), 2)
    5.55
    """
    _shape(model)
    check.whole(seq_len=seq_len)
    pair = 2.0 * model.n_heads * (model.head_dim + model.v_head_dim)
    groups, rest = divmod(model.n_layers, len(model.windows))
    pairs = 0.0
    for i, window in enumerate(model.windows):
        seen = seq_len if window is None else minimum(seq_len, float(window))
        pairs = pairs + (groups + (i < rest)) * (seen - seen * seen / (2.0 * seq_len))
    return check.result(windowed_attention_flops=pair * pairs)


def forward_flops(model, seq_len, attention, *, head=True):
    """Forward FLOPs a token: layers + attention + output head  [FLOP/token].

    Args:
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        attention: "none", "causal" or "full".
        head: False leaves the output head out.

    Returns:
        A float, or an array of the shape of seq_len.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if seq_len is no whole number of at least 1, or attention another word.

    Source: Narayanan et al. 2021, arXiv:2104.04473, appendix; PyTorch's counter gives the same to the last digit.

    >>> from lib.architecture import model
    >>> 8192 * forward_flops(model("llama-3-8b"), 8192, "full")
    158140695838720.0
    """
    check.boolean(head=head)
    return layer_flops(model) + attention_flops(model, seq_len, attention) + (head_flops(model) if head else 0.0)


def recomputed_flops(model, seq_len, attention, recompute):
    """Forward FLOPs a token that are computed a second time in the backward pass  [FLOP/token].

    "full" repeats the layers and never the output head, whose input is kept: the step grows by less than 4/3.
    "stopping_early" is the default of PyTorch's non-reentrant checkpoint: it stops once the last saved input is back,
    and the last matrix of a layer (d_ff to d_model) saves only its input. With dropout behind that matrix it is
    repeated after all, and so are experts, whose outputs the router's gradient needs.

    Args:
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        attention: "none", "causal" or "full".
        recompute: "none", "selective", "full" or "stopping_early".

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if seq_len is no whole number of at least 1, or a word is not one of those.

    Source: Narayanan et al. 2021, arXiv:2104.04473, appendix (full: 4 for 3 in the layers, 3 for 3 in the head);
        Korthikanti et al. 2022, arXiv:2205.05198, section 5 (selective); PyTorch, torch.utils.checkpoint, early_stop.

    >>> from lib.architecture import model
    >>> recomputed_flops(model("llama-3-8b"), 8192, "full", "selective")
    4294967296.0
    """
    check.choice(tuple(RECOMPUTE), recompute=recompute)
    scores = attention_flops(model, seq_len, attention)
    last = 2.0 * unrepeated_params(model)
    layers = layer_flops(model)
    return {
        "none": 0.0 * scores,
        "selective": scores,
        "full": layers + scores,
        "stopping_early": layers + scores - last,
    }[recompute]


def unrepeated_params(model):
    """Weights that "stopping_early" does not multiply again: the last matrix of every layer without experts.

    Args:
        model: a `Transformer`.

    Raises:
        TypeError: if it is none.

    Source: as `recomputed_flops`.

    >>> from lib.architecture import model
    >>> unrepeated_params(model("llama-3-8b")) == 32 * 14_336 * 4096
    True
    """
    _shape(model)
    return (model.n_layers - model.n_moe_layers) * model.d_ff * model.d_model


def train_flops_per_token(model, seq_len, attention, *, recompute="none", head=True, attention_backward=2.0):
    """FLOPs a token, forward and backward: 3 * forward, and what is recomputed  [FLOP/token].

    Args:
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1; float or array.
        attention: "none", "causal" or "full".
        recompute: "none", "selective", "full" or "stopping_early".
        head: False leaves the output head out.
        attention_backward: backward FLOPs of attention for one forward, > 0: 2 by the count of products, 2.5 where a
            fused kernel computes the scores again inside its backward pass.

    Returns:
        A float, or an array of the shape of seq_len.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range.

    Source: as `forward_flops`; Dao 2023, arXiv:2307.08691, section 4.1 (2.5: five products for two).

    >>> from lib.architecture import model
    >>> llama = model("llama-3-8b")
    >>> exact = train_flops_per_token(llama, 8192, "full")
    >>> round(exact / (6 * llama.n_params), 2)
    1.2
    >>> round(train_flops_per_token(llama, 8192, "full", recompute="full") / exact, 3)
    1.315
    """
    check.positive(attention_backward=attention_backward)
    forward = forward_flops(model, seq_len, attention, head=head)
    scores = attention_flops(model, seq_len, attention)
    extra = recomputed_flops(model, seq_len, attention, recompute) + (attention_backward - 2.0) * scores
    return check.positive_result(train_flops_per_token=3.0 * forward + extra)


def train_flops_exact(model, n_tokens, seq_len, attention, *, recompute="none", head=True, attention_backward=2.0):
    """FLOPs of a whole run, counted: n_tokens * `train_flops_per_token`  [FLOP].

    Args:
        model: a `Transformer`.
        n_tokens: training tokens, > 0; float or array.
        seq_len, attention, recompute, head, attention_backward: as in `train_flops_per_token`.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if one is out of its range.

    Source: as `train_flops_per_token`.

    >>> from lib.architecture import model
    >>> f"{train_flops_exact(model('llama-3-8b'), 15e12, 8192, 'causal'):.4g}"
    '7.721e+23'
    """
    check.positive(n_tokens=n_tokens)
    counted = {"recompute": recompute, "head": head, "attention_backward": attention_backward}
    return check.positive_result(
        train_flops_exact=n_tokens * train_flops_per_token(model, seq_len, attention, **counted)
    )


def _shape(model):
    if not isinstance(model, Transformer):
        asked = f"; lib.architecture.model({check.short(model)}) looks one up" if isinstance(model, str) else ""
        raise TypeError(f"model = {check.short(model)} ({type(model).__name__}): a Transformer{asked}")

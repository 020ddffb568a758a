"""The FLOPs of a token as a sum with its numbers put in, so that a reader can redo what a convention counts."""

from lib import check
from lib.architecture import Transformer
from lib.compute.flops import ATTENTION, unrepeated_params
from lib.compute.mfu import MfuConvention
from lib.units import show_count, show_number

# What is computed again: passes over the parameters as counted, over the layers' matrices, and over attention.
_PASSES = {
    "none": (0.0, 0.0, 0.0),
    "selective": (0.0, 0.0, 1.0),
    "full": (0.0, 1.0, 1.0),
    "stopping_early": (0.0, 1.0, 1.0),
    "whole_model": (1.0, 0.0, 1.0),
    "palm_540b": (0.75, 0.0, 1.0),
    "selective_twice": (0.0, 0.0, 3.0),
}


def flops_per_token(convention, model, seq_len):
    """What `MfuConvention.flops_per_token` adds up, as text: 6 N + 12 L H Q T, and what is computed again.

    Args:
        convention: an `MfuConvention`.
        model: a `Transformer`.
        seq_len: tokens in a sequence, a whole number of at least 1.

    Raises:
        TypeError: if an argument is of the wrong kind.
        ValueError: if seq_len is no whole number of at least 1.

    >>> from lib.architecture import model
    >>> from lib.compute.mfu import convention
    >>> flops_per_token(convention("Megatron-LM"), model("llama-3-8b"), 8192)
    '6 x 7.505e9 + 12 x 32 x 32 x 128 x 8,192'
    >>> flops_per_token(convention("Megatron-LM hardware"), model("llama-3-8b"), 8192)
    '6 x 7.505e9 + 12 x 32 x 32 x 128 x 8,192 + 2 x 6.979e9 + 4 x 32 x 32 x 128 x 8,192'
    """
    check.instance(MfuConvention, convention=convention)
    check.instance(Transformer, model=model)
    check.whole(seq_len=seq_len)
    counted, matrices, scores = _PASSES[convention.recompute]
    again = model.matmul_params
    if convention.recompute == "stopping_early":  # it ends at the input of the layer's last matrix
        again -= unrepeated_params(model)
    share = ATTENTION[convention.attention]
    head = (model.head_dim + model.v_head_dim) / 2  # a key and a value head need not be of one width
    square = f"{model.n_layers} x {model.n_heads} x {head:g} x {seq_len:,.0f}"
    n_params = show_number(convention.counted_params(model))
    terms = ((6.0, n_params), (12 * share, square), (2 * counted, n_params), (2 * matrices, show_number(again)))
    return " + ".join(f"{factor:g} x {what}" for factor, what in (*terms, (4 * share * scores, square)) if factor)


def active_notes(model):
    """What N stands for where a model has experts, as a sentence in a tuple; nothing for a dense one.

    Args:
        model: a `Transformer`.

    Raises:
        TypeError: if it is none.

    >>> from lib.architecture import model
    >>> active_notes(model("mixtral-8x7b"))
    ('Mixtral 8x7B is a mixture of experts: N counts the 12.88B parameters that a token meets, of 46.7B.',)
    >>> active_notes(model("llama-3-8b"))
    ()
    """
    check.instance(Transformer, model=model)
    if not model.moe:
        return ()
    active, whole = show_count(model.n_params_active), show_count(model.n_params)
    words = f"is a mixture of experts: N counts the {active} parameters that a token meets, of {whole}."
    return (f"{model.name or 'The shape'} {words}",)

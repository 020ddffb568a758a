"""What one micro-batch leaves behind for backward, tensor by tensor: one layer, or head and loss.

These are the sums that a framework's autograd can be asked for; the ledger multiplies them by layers and micro-batches.
"""

from lib import check
from lib.architecture import Transformer
from lib.layout import check_layout
from lib.memory import activations, events, rank, stored
from lib.memory.profiles import MEGATRON, Profile

_ONE = rank.Part(dense_layers=1, expert_layers=0, waiting=1.0, pieces=1, first=1, last=1)


def saved_bytes(shape, layout, profile=MEGATRON, with_experts=False):
    """Bytes that one layer saves for the backward pass of one micro-batch on one rank, by tensor.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`; its recomputation counts.
        profile: a `Profile`; Megatron core unless given.
        with_experts: True for a layer with experts.

    Returns:
        Tensor's name -> bytes.

    Raises:
        TypeError: for what is none of these.
        ValueError: for a layout that the model cannot have, or experts that it lacks.

    Source: Korthikanti et al. 2022, arXiv:2205.05198, equation 1: s b h (34 + 5 a s / h) for a layer of GPT with
        dropout and without flash attention.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> found = saved_bytes(model("llama-3-70b"), Layout(tensor=8, seq_len=8192))
    >>> found["queries"], found["MLP activation"]
    (16777216.0, 58720256.0)
    """
    check.instance(Profile, profile=profile)
    check.boolean(with_experts=with_experts)
    check_layout(shape, layout)
    if with_experts and not shape.moe:
        raise ValueError("with_experts = True: False for a model without experts")
    part = _ONE._replace(dense_layers=1 - with_experts, expert_layers=with_experts * 1, first=0, last=0)
    r = rank.rank(shape, layout, profile, part)
    return _by_name(stored.layers_stored(r, 1.0))


def head_bytes(shape, layout, profile=MEGATRON):
    """Bytes that final norm, head and loss save for the backward pass of one micro-batch on one rank, by tensor.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`.
        profile: a `Profile`; Megatron core unless given.

    Returns:
        Tensor's name -> bytes.

    Raises:
        TypeError, ValueError: as `saved_bytes`.

    Source: the loss's own; see `loss.LOSSES`.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> from lib.memory.profiles import TORCHTITAN
    >>> head_bytes(model("llama-3-8b"), Layout(seq_len=8192), TORCHTITAN)["logits"]
    4202692608.0
    """
    check.instance(Transformer, shape=shape)
    check.instance(Profile, profile=profile)
    check_layout(shape, layout)
    r = rank.rank(shape, layout, profile, _ONE)
    norm = stored.tensor_products(r, activations.norm_tensors(shape, profile, "final", 1), 1.0)
    found = _by_name((*norm, events.logits(r, rank.of_loss(r, "saved"))))
    divisor = rank.of_loss(r, "divisor")
    return found | {"scalars of the loss": divisor} if divisor else found


def _by_name(products):
    found = {}
    for product in products:
        found[product.name] = found.get(product.name, 0.0) + product.value
    return found

"""Blocks that PyTorch's allocator keeps and nobody can use at the peak: of other streams, of the optimizer's step."""

from lib.memory import activations, plain
from lib.memory.rank import (
    OF_THE_LOSS,
    bytes_a_logit,
    fully_sharded,
    gathers,
    gradient_share,
    head_rows,
    is_nothing,
    of_loss,
    one_layer,
)
from lib.memory.states import PRECISIONS
from lib.memory.stored import tensor_products
from lib.memory.terms import Product


def cached(r, event):
    """Blocks that the allocator keeps and nobody can use at the peak; a fraction of what is allocated comes on top."""
    if r.profile.optimizer_step == "fp32 gradients":
        yield from _step_blocks(r)
    if not r.profile.side_streams:
        return
    used, each = fully_sharded(r), ("bytes", PRECISIONS[r.profile.precision].compute)
    parameters = ("parameters", r.whole.dense + r.profile.gathered_layers * one_layer(r))
    yield Product("all-gather stream", (parameters, each, ("used", used)))
    missing = 1 - gradient_share(r, event)
    if not is_nothing(missing) and not is_nothing(used):
        precision = PRECISIONS[r.profile.precision]
        factors = (("parameters", r.held.total), ("bytes", precision.gradients), ("share", missing), ("used", used))
        yield Product("reduce-scatter stream", factors, (("ranks", r.shards[1]),))
    yield from _loss_blocks(r, event)
    yield from _forward_blocks(r, event)


def _step_blocks(r):
    """Gradients end to end before they become those of the step: one block, longer than any that activations leave.

    Without ZeRO they are FP32 by then.
    """
    each = PRECISIONS[r.profile.precision].gradients
    if each < 4.0:
        each = each + (4.0 - each) * (r.shards[2] <= 1)
        yield Product(
            "gradients end to end", (("parameters", r.held.total), ("bytes", each)), (("ranks", r.shards[2]),)
        )


def _loss_blocks(r, event):
    """Blocks of the loss; what the head's backward needs comes out of them."""
    if event not in OF_THE_LOSS or is_nothing(r.part.last):
        return
    rows = head_rows(r)[1] / r.split.tensor
    blocks = r.tokens * rows * (of_loss(r, "cached") - bytes_a_logit(r, event)) / r.profile.loss_chunks
    if event == "head, backward":
        head = rows * r.shape.embedding_width + r.tokens * r.shape.d_model
        blocks = plain.larger(blocks - 2.0 * head, 0.0)
    yield Product("blocks of the loss", (("bytes", blocks), ("last", r.part.last)))


def _forward_blocks(r, event):
    """Blocks of one layer's forward pass, too small for the logits that come behind it: of its larger half."""
    if event not in OF_THE_LOSS or not r.layers:
        return
    tensors = activations.layer_tensors(r.shape, r.profile, r.layers[-1][1])
    start = next((i for i, t in enumerate(tensors) if t.name.startswith("MLP norm")), len(tensors))
    halves = [sum(p.value for p in tensor_products(r, half, 1.0)) for half in (tensors[:start], tensors[start:])]
    yield Product("blocks of a layer's forward", (("bytes", plain.larger(1.0 * halves[0], 1.0 * halves[1])),))
    if not is_nothing(gathers(r)):
        copies = ("copies", 1 if r.profile.async_tensor else 3)
        rows = (copies, ("tokens", r.tokens), ("d_model", r.shape.d_model), r.number, ("gathered", gathers(r)))
        yield Product("blocks of gathered sequences", rows)

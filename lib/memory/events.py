"""The moments of a step at which memory can be highest, and what each of them adds.

The loss forward and backward, the head's backward, the first layer's backward while all activations are there, and the
end of backward, where all gradients are.
"""

from lib.memory import activations, plain
from lib.memory.pools import cached
from lib.memory.rank import (
    EVENTS,
    OF_THE_LOSS,
    bytes_a_logit,
    fully_sharded,
    gathers,
    gradient_share,
    head_rows,
    is_nothing,
    largest_matrix,
    of_loss,
    one_layer,
    total,
)
from lib.memory.resident import constant, states
from lib.memory.states import PRECISIONS
from lib.memory.stored import recomputed, score_factors, score_ranks, stored, tensor_products
from lib.memory.terms import Product


def event_terms(r, event):
    """All terms at one event of a step."""
    passes = r.part.waiting - 1.0 if event == "end of backward" else r.part.waiting
    yield from states(r, gradients=gradient_share(r, event))
    yield from constant(r)
    yield from stored(r, passes)
    yield from of_event(r, event)


def of_event(r, event):
    """What one event brings, beside states, constant buffers and stored activations."""
    yield from gathered(r, event)
    if r.profile.keeps_outputs:
        yield from kept_by_pipeline(r, event)
    if event in OF_THE_LOSS:
        yield from _loss(r, event)
    elif event == "experts, forward":
        yield from recomputed(r)
        yield from _on_their_way(r)
    elif event == "layer, backward":
        yield from recomputed(r)
        yield from _layer_gradients(r)
    else:
        yield from _table_gradients(r)


def totals(r):
    """(event, bytes allocated, bytes that the allocator holds) of each event that there can be; numbers or arrays."""
    buffers, before, after = total(constant(r)), total(states(r, gradients=0)), total(states(r))
    lasting, gradients = buffers + before, after - before
    waiting = total(stored(r, r.part.waiting))
    for event in EVENTS:
        if event in OF_THE_LOSS and is_nothing(r.part.last):
            continue
        if event == "experts, forward" and not sends(r):
            continue
        kept = waiting * (r.part.waiting - 1.0) / r.part.waiting if event == "end of backward" else waiting
        allocated = lasting + gradients * gradient_share(r, event) + kept + total(of_event(r, event))
        yield event, allocated, allocated * (1 + r.profile.fragmentation) + total(cached(r, event))


def _loss(r, event):
    yield from tensor_products(r, activations.norm_tensors(r.shape, r.profile, "final", 1), r.part.last)
    yield logits(r, bytes_a_logit(r, event))
    if r.shape.n_mtp_layers:
        yield logits(r, r.shape.n_mtp_layers * of_loss(r, "saved"))._replace(name="logits of further tokens")
    divisor = of_loss(r, "divisor")
    if not is_nothing(divisor):
        yield Product("scalars of the loss", (("bytes", divisor), ("last", r.part.last)))
    one_row = (("tokens", r.tokens), ("d_model", r.shape.d_model), r.number, ("last", r.part.last))
    if r.profile.spare_gradients != "kept" and not is_nothing(gathers(r)):
        yield Product("head's input, gathered", (*one_row, ("used", gathers(r))))
    if event == "head, backward":
        head = (head_rows(r), ("width", r.shape.embedding_width), r.number, ("last", r.part.last))
        yield Product("gradient of the head", head, (("tensor", r.split.tensor),))
        yield Product("gradient of the head's input", one_row)


def logits(r, each):
    """So many bytes for each logit on the rank."""
    times = (("tokens", r.tokens), head_rows(r), ("bytes", each), ("last", r.part.last))
    return Product("logits", times, (("tensor", r.split.tensor), ("chunks", r.profile.loss_chunks)))


def _layer_gradients(r):
    """What backward makes inside one layer: of the residual stream, of the inner width, of a weight."""
    if not r.layers:
        return
    _, with_experts, one = r.layers[-1]
    inner = r.shape.moe.d_ff_expert * r.shape.moe.experts_per_token if with_experts else r.shape.d_ff
    spread = r.shares["rows"]
    yield Product(
        "gradient of the layer's output",
        (("tokens", r.tokens), ("d_model", r.shape.d_model), r.number),
        (("tensor ranks", spread),),
    )
    yield Product(
        "gradient of the inner width",
        (("tokens", r.tokens), ("matrices", 2 if r.shape.gated else 1), ("width", inner), r.number),
        (("tensor", r.split.tensor),),
    )
    if activations.score_bytes(r.profile):
        yield Product("attention temporaries", (*score_factors(r), ("bytes", 4.0)), score_ranks(r))
    if r.profile.spare_gradients != "kept":
        yield Product("gradient of a matrix", (("parameters", largest_matrix(r)), r.number))
    if not is_nothing(fully_sharded(r)):
        factors = (
            ("parameters of one layer", one.total),
            ("bytes", r.profile.reduce_bytes),
            ("used", fully_sharded(r)),
        )
        yield Product("reduction buffer", factors)


def sends(r):
    """True where the stage's last layer sends tokens to experts and holds the copies until their outputs are summed."""
    return bool(r.layers) and r.layers[-1][1] and r.profile.routing == "inside"


def _on_their_way(r):
    """Copies of tokens that one layer's forward holds: what it sent, received, put out and got back, and two sums.

    What is sent and got back is split along the sequence; without an exchange it is one and the same.
    """
    sent = r.shape.moe.experts_per_token * r.profile.expert_load
    row = (("tokens", r.tokens), ("d_model", r.shape.d_model), r.number)
    over = (("tensor ranks", r.shares["rows"]),)
    yield Product("experts' outputs in order", (("copies of a token", sent), *row))
    exchanged = ("exchanges", 1.0 + 2.0 * (r.split.expert > 1))
    yield Product("tokens on their way", (exchanged, ("copies of a token", sent), *row), over)
    yield Product("sums of experts' outputs", (("sums", 2 if r.shape.moe.d_ff_shared else 1), *row), over)


def _table_gradients(r):
    """At the end of backward: the gradients of the embedding, and under FSDP of all tables, before they are reduced."""
    yield Product("gradient of the tables", (("parameters", r.whole.tables), r.number))
    if not is_nothing(fully_sharded(r)):
        factors = (("parameters", r.whole.tables), ("bytes", r.profile.reduce_bytes), ("used", fully_sharded(r)))
        yield Product("reduction buffer", factors)


def kept_by_pipeline(r, event):
    """What a pipeline keeps of every micro-batch until the step is over.

    Inputs that wait are their layers' own, and the loss counts its logits as long as it goes forward.
    """
    split, part = r.split, r.part
    if not hasattr(split.pipeline, "shape") and split.pipeline == 1:
        return
    used = ("used", (split.pipeline > 1) * 1.0)
    row = (("tokens", r.tokens), ("d_model", r.shape.d_model), r.number, used)
    over, n = (("tensor ranks", r.shares["rows"]),), split.micro_batches
    waiting = plain.smaller(1.0 * part.waiting, 1.0 * n * (part.pieces - part.first))
    yield Product("received inputs", (("micro-batches", n * (part.pieces - part.first) - waiting), *row), over)
    yield Product("received gradients", (("micro-batches", n * (part.pieces - part.last)), *row), over)
    yield Product("outputs of pieces", (("micro-batches", n * (part.pieces - part.last)), *row), over)
    earlier = ("micro-batches", 1.0 * n - (event == "loss, forward"))
    logits = (earlier, ("tokens", r.tokens), head_rows(r), r.number, used, ("last", part.last))
    yield Product("logits of micro-batches", logits, (("tensor", split.tensor),))


def unreduced_share(r):
    """The share of gradients that wait for their last micro-batch: one piece's where the pieces take turns."""
    turns = (r.split.micro_batches <= r.split.pipeline) * 1.0
    return 1.0 - turns * (1.0 - 1.0 / r.part.pieces)


def gathered(r, event):
    """Weights that ZeRO 3 has gathered: of the tables, and of the layers in use and fetched ahead, or of all."""
    used = fully_sharded(r)
    if is_nothing(used):
        return
    each = ("bytes", PRECISIONS[r.profile.precision].compute)
    if r.profile.most_gathered_params:
        most = plain.smaller(1.0 * r.held.total, 1.0 * r.profile.most_gathered_params)
        yield Product("gathered weights", (("parameters", most), each, ("used", used)))
        return
    whole = (1 - r.split.reshards * 1) * used
    if not is_nothing(whole):
        parameters = ("parameters", r.held.total)
        yield Product("gathered weights", (parameters, each, ("used", whole)))
        unreduced = (r.split.micro_batches > 1) * whole * unreduced_share(r)
        yield Product("unreduced gradients", (parameters, ("bytes", r.profile.reduce_bytes), ("used", unreduced)))
    freed = r.split.reshards * used
    if not is_nothing(freed):
        yield Product("gathered tables", (("parameters", r.whole.dense), each, ("used", freed)))
        ahead = ("layers", 1 if event in OF_THE_LOSS else r.profile.gathered_layers)
        yield Product("gathered layers", (ahead, ("parameters", one_layer(r)), each, ("used", freed)))

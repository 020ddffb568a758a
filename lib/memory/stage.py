"""What one GPU of one pipeline stage holds, moment by moment, as products of named factors.

Factors are numbers or arrays: a ledger and a search over all layouts run this one code.
"""

from typing import NamedTuple

from lib.memory import activations, plain, weights
from lib.memory.constants import CONTEXT_BYTES, NCCL_BYTES
from lib.memory.loss import LOSSES
from lib.memory.states import OPTIMIZERS, PRECISIONS
from lib.memory.terms import Product

BF16 = ("bytes", 2.0)
# Moments of one step at which memory can be highest, in order.
EVENTS = ("loss, forward", "loss, backward", "head, backward", "layer, backward", "end of backward")
OF_THE_LOSS = EVENTS[:3]


class Part(NamedTuple):
    """What a stage holds; numbers or arrays."""

    dense_layers: object  # layers with one MLP
    expert_layers: object  # layers with experts
    waiting: object  # forward passes that wait for their backward
    pieces: object  # pieces of the model on the stage
    first: object  # 1 with the embedding, 0 without
    last: object  # 1 with final norm, head and loss, 0 without


class Rank(NamedTuple):
    """Model, degrees, profile and stage, with what most terms need of them."""

    shape: object
    split: object
    profile: object
    part: Part
    tokens: object  # of a micro-batch on the rank, before tensor ranks split them
    by_rows: object  # True where tensor ranks split norms and residual stream too
    held: weights.Held  # parameters on the rank
    layers: tuple  # (layers, with experts, parameters of one on the rank) for the kinds that there are
    shards: tuple  # ranks that share weights, gradients, optimizer states
    whole: weights.Held  # parameters of the tables alone
    shares: dict  # by how much tensor ranks divide saved tensors of each kind


def rank(shape, split, profile, part):
    """Everything that the terms of one stage are made of."""
    by_rows = profile.sequence_parallel if split.sequence_parallel is None else split.sequence_parallel
    tokens = 1.0 * split.micro_batch * split.seq_len / split.context
    kinds = ((part.dense_layers, False), (part.expert_layers, True))
    layers = tuple((n, kind, weights.layer(shape, split, kind)) for n, kind in kinds if not isinstance(n, int) or n)
    tables = _add(weights.Held(0, 0, 0, 0), weights.embedding(shape, split, profile), part.first)
    tables = _add(tables, weights.head(shape, split, profile), part.last)
    held = tables
    for n, _, one in layers:
        held = _add(held, one, n)
    shards = plain.shard_counts(split.zero_stage, split.data * split.context)
    shares = activations.shares(shape, split, by_rows)
    return Rank(shape, split, profile, part, tokens, by_rows, held, layers, shards, tables, shares)


def _add(a, b, times):
    return weights.Held(*(x + times * y for x, y in zip(a, b, strict=True)))


# States.


def states(r, *, gradients=1, moments=True):
    """Weights, gradients and optimizer states; `gradients` is the share of the step's gradients that there are."""
    precision = PRECISIONS[r.profile.precision]
    yield from _state(r, "weights", precision.weights, r.shards[0])
    if precision.copies:
        matrices = ("parameters of matrices", r.held.matrices + r.held.experts)
        yield Product("low-precision copies", (matrices, ("bytes", precision.copies)))
    if not _is_nothing(gradients):
        yield from _state(r, "gradients", precision.gradients, r.shards[1], gradients)
    if r.profile.offload_optimizer:
        return
    if precision.master:
        yield from _state(r, "master weights", precision.master, r.shards[2])
    if moments:
        yield from _moments(r)


def _state(r, name, each, shards, part=1):
    some = () if isinstance(part, int) and part == 1 else (("share", part),)
    yield Product(name, (("parameters", r.held.dense), ("bytes", each), *some), (("ranks", shards),))
    if r.shape.moe:
        parameters = ("parameters of experts", r.held.experts)
        yield Product(f"{name}, experts", (parameters, ("bytes", each), *some), (("ranks", _fewer(r, shards)),))


def _fewer(r, shards):
    """Experts are shared by fewer ranks: those that hold the same ones."""
    return plain.larger(1.0 * shards / r.split.expert, 1.0)


def _moments(r):
    kinds, ranks = OPTIMIZERS[r.profile.optimizer], r.shards[2]
    if not kinds.matrices and not kinds.others:
        return
    scale = PRECISIONS[r.profile.precision].states / 4.0 if kinds.follows else 1.0
    of_matrices, of_others = ("bytes", kinds.matrices * scale), ("bytes", kinds.others * scale)
    matrices, others = r.held.matrices, r.held.vectors + r.held.tables
    yield Product("moments, matrices", (("parameters", matrices), of_matrices), (("ranks", ranks),))
    yield Product("moments, tables and norms", (("parameters", others), of_others), (("ranks", ranks),))
    if r.shape.moe:
        experts = (("parameters of experts", r.held.experts), of_matrices)
        yield Product("moments, experts", experts, (("ranks", _fewer(r, ranks)),))


def step_extra(r):
    """What the optimizer step needs beside the states."""
    precision, kind = PRECISIONS[r.profile.precision], r.profile.optimizer_step
    if kind == "foreach":
        each = precision.master or precision.weights
        yield Product("optimizer step", (("parameters", r.held.total), ("bytes", each)), (("ranks", r.shards[2]),))
    elif kind == "fp32 gradients" and precision.gradients < 4.0:
        yield Product("optimizer step", (("parameters", r.held.total), ("bytes", 4.0)), (("ranks", r.shards[2]),))
    elif kind == "loop":
        largest = plain.larger(_largest_matrix(r), _rows(r)[1] * r.shape.embedding_width / r.split.tensor)
        each = 2.0 * (precision.master or precision.weights)
        yield Product("optimizer step", (("parameters", largest), ("bytes", each)), (("ranks", r.shards[2]),))


# Buffers that stay.


def constant(r):
    """What is there from the first step on: positions, scratch memory, placeholders, buckets, the gathered sequence."""
    each = 8.0 if r.shape.learned_positions else 4.0 * r.shape.head_dim
    yield Product("positions", (("tokens", r.split.seq_len), ("bytes a token", each)))
    if r.profile.workspace_bytes:
        yield Product("scratch of matrix products", (("bytes", r.profile.workspace_bytes),))
    if r.profile.spare_gradients == "kept":
        yield Product("gradient placeholders", (("parameters of one layer", _layer_matrices(r)), BF16))
        if not _is_nothing(_gathers(r)):
            rows = (("tokens", r.tokens), ("d_model", r.shape.d_model), BF16, ("gathered", _gathers(r)))
            yield Product("gathered sequence", rows)
    if r.profile.bucket_params and not _is_nothing(_shares(r)):
        largest = plain.smaller(1.0 * r.profile.bucket_params, 1.0 * r.held.total)
        yield Product(
            "reduction bucket", (("parameters", largest), ("bytes", r.profile.reduce_bytes), ("used", _shares(r)))
        )


def _shares(r):
    """1 where ZeRO shards anything."""
    return (r.shards[2] > 1) * 1.0


def _gathers(r):
    """1 where tensor ranks gather the sequence in front of each product."""
    return (r.split.tensor > 1) * 1.0 * r.by_rows


def _layer_matrices(r):
    """Matrices of one layer, one of each form: experts are alike."""
    shape, split = r.shape, r.split
    attention = weights.attention(shape, split.tensor)
    found = attention
    for n, with_experts, one in r.layers:
        behind = one.matrices - attention
        if with_experts:
            experts = shape.moe.n_experts / split.expert
            behind = behind - shape.moe.n_experts * shape.d_model + one.experts / experts
        found = found + (n > 0) * behind
    return found


def _largest_matrix(r):
    """Parameters of the largest matrix of a layer: the first of the MLP."""
    width = 0
    for n, with_experts, _ in r.layers:
        width = plain.larger(width, (n > 0) * (r.shape.moe.d_ff_expert if with_experts else r.shape.d_ff))
    return (2 if r.shape.gated else 1) * r.shape.d_model * width / r.split.tensor


# Activations.


def stored(r, passes):
    """Saved tensors of so many forward passes through a piece, by tensor."""
    yield from _inputs(r, passes)
    yield from layers_stored(r, passes)


def layers_stored(r, passes):
    """Saved tensors of the layers of so many forward passes through a piece."""
    split, part = r.split, r.part
    for n, with_experts, one in r.layers:
        each = n / part.pieces
        full, rest = _recomputed(r, each)
        if not _is_nothing(full):
            yield from tensor_products(r, activations.checkpoint(r.shape), passes * full)
        if not _is_nothing(rest):
            kept = _kept(r, with_experts)
            yield from tensor_products(r, kept, passes * rest)
            yield from _casts(r, one, n)
            yield from _scores(r, passes * rest) if split.recompute == "none" else ()


def _inputs(r, passes):
    """What belongs to no layer: token ids and labels, the mask behind the embedding."""
    yield Product("token ids and labels", (("micro-batches", passes), ("tokens", r.tokens), ("bytes a token", 16.0)))
    if r.profile.hidden_dropout and not _is_nothing(r.part.first):
        mask = r.profile.dropout_mask_bytes * r.shape.d_model
        times = (("micro-batches", passes), ("tokens", r.tokens), ("bytes a token", mask), ("first", r.part.first))
        yield Product("embedding dropout mask", times, (("tensor ranks", r.shares["rows"]),))


def _casts(r, one, layers):
    """Under autocast the cast copies of weights stay until backward has passed."""
    if r.profile.norm == "autocast":
        yield Product("cast weights", (("layers", layers), ("parameters", one.matrices + one.experts), BF16))


def _recomputed(r, layers):
    """Layers of a piece that are recomputed in full, and the others."""
    if r.split.recompute != "full":
        return 0, layers
    if r.split.recompute_layers is None:
        return layers, 0
    full = plain.smaller(1.0 * layers, 1.0 * r.split.recompute_layers)
    return full, layers - full


def _kept(r, with_experts):
    if r.split.recompute == "selective" and r.profile.selective == "every second product":
        return activations.selective_tensors(r.shape, r.profile, with_experts)
    return activations.layer_tensors(r.shape, r.profile, with_experts)


def tensor_products(r, tensors, layers, suffix=""):
    """Saved tensors of so many layers."""
    layers, tokens = ("layers", layers), ("tokens", r.tokens)
    for tensor in tensors:
        times = (layers, tokens, ("bytes a token", tensor.bytes_a_token))
        if tensor.only_with:
            used = _used(r, tensor.only_with)
            if _is_nothing(used):
                continue
            times = (*times, ("used", used))
        yield Product(tensor.name + suffix, times, (("tensor ranks", r.shares[tensor.shared]),))


def _used(r, condition):
    """1 where a tensor is there that only several ranks or sequences bring."""
    split = r.split
    degrees = {"ranks": split.tensor * r.by_rows, "sequences": split.micro_batch, "context": split.context}
    return (degrees[condition] > 1) * 1.0


def _scores(r, layers):
    each = activations.score_bytes(r.profile)
    if each:
        yield Product("attention scores", (("layers", layers), *_score_factors(r), ("bytes", each)), _score_ranks(r))


def _score_factors(r):
    return (
        ("sequences", r.split.micro_batch),
        ("heads", r.shape.n_heads),
        ("tokens", r.split.seq_len),
        ("keys", r.split.seq_len),
    )


def _score_ranks(r):
    return (("tensor", r.split.tensor), ("context", r.split.context))


def recomputed(r):
    """The layer that backward computes again, without the input that it kept."""
    if r.split.recompute == "none" or not r.layers:
        return
    _, with_experts, _ = r.layers[-1]
    missing = activations.layer_tensors(r.shape, r.profile, with_experts)
    kept = {t.name for t in _kept(r, with_experts)} if r.split.recompute == "selective" else set()
    if r.split.recompute == "selective" and r.profile.selective == "attention scores":
        yield from _scores(r, 1.0)
        return
    left = tuple(tensor for tensor in missing if tensor.name not in kept)
    if r.split.recompute == "full":  # the norm's input is the layer's
        left = tuple(tensor for tensor in left if tensor.name != "attention norm, input" or r.profile.norm == "upcast")
    yield from tensor_products(r, left, 1.0, ", recomputed")
    yield from _scores(r, 1.0)


# Events of forward and backward.


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
    if event in OF_THE_LOSS:
        yield from _loss(r, event)
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
        if event in OF_THE_LOSS and _is_nothing(r.part.last):
            continue
        kept = waiting * (r.part.waiting - 1.0) / r.part.waiting if event == "end of backward" else waiting
        allocated = lasting + gradients * gradient_share(r, event) + kept + total(of_event(r, event))
        yield event, allocated, allocated * (1 + r.profile.fragmentation) + total(cached(r, event))


def driver(r):
    """What nvidia-smi shows above the allocator: the context, and a communicator for each kind of group."""
    split = r.split
    degrees = (split.data * split.context, split.tensor, split.pipeline, split.expert)
    yield Product("driver's context", (("bytes", CONTEXT_BYTES),))
    groups = sum((degree > 1) * 1.0 for degree in degrees)
    if not _is_nothing(groups):
        yield Product("communicators", (("groups", groups), ("bytes", NCCL_BYTES)))


def total(products):
    """Bytes of all terms together, a number or an array."""
    found = 0.0
    for product in products:
        found = found + product.value
    return found


def gradient_share(r, event):
    """The share of sharded gradients that is there: kept ones always, others from the first reduction on."""
    if r.profile.gradients_stay or event == "end of backward":
        return 1
    return (r.split.micro_batches > 1) * 1


def _loss(r, event):
    loss = LOSSES[r.profile.loss]
    each = dict(zip(OF_THE_LOSS, (loss.forward, loss.backward, loss.gradient), strict=True))[event]
    yield from tensor_products(r, activations.norm_tensors(r.shape, r.profile, "final", 1), r.part.last)
    yield logits(r, each)
    if loss.divisor:
        yield Product("scalars of the loss", (("bytes", loss.divisor), ("last", r.part.last)))
    one_row = (("tokens", r.tokens), ("d_model", r.shape.d_model), BF16, ("last", r.part.last))
    if r.profile.spare_gradients != "kept" and not _is_nothing(_gathers(r)):
        yield Product("head's input, gathered", (*one_row, ("used", _gathers(r))))
    if event == "head, backward":
        head = (_rows(r), ("width", r.shape.embedding_width), BF16, ("last", r.part.last))
        yield Product("gradient of the head", head, (("tensor", r.split.tensor),))
        yield Product("gradient of the head's input", one_row)


def logits(r, each):
    """So many bytes for each logit on the rank."""
    times = (("tokens", r.tokens), _rows(r), ("bytes", each), ("last", r.part.last))
    return Product("logits", times, (("tensor", r.split.tensor), ("chunks", r.profile.loss_chunks)))


def _rows(r):
    return ("rows", plain.padded_rows(r.shape.vocab_size, r.profile.vocab_multiple, r.split.tensor))


def _layer_gradients(r):
    """What backward makes inside one layer: of the residual stream, of the inner width, of a weight."""
    if not r.layers:
        return
    _, with_experts, one = r.layers[-1]
    inner = r.shape.moe.d_ff_expert * r.shape.moe.experts_per_token if with_experts else r.shape.d_ff
    spread = r.shares["rows"]
    yield Product(
        "gradient of the layer's output",
        (("tokens", r.tokens), ("d_model", r.shape.d_model), BF16),
        (("tensor ranks", spread),),
    )
    yield Product(
        "gradient of the inner width",
        (("tokens", r.tokens), ("matrices", 2 if r.shape.gated else 1), ("width", inner), BF16),
        (("tensor", r.split.tensor),),
    )
    if activations.score_bytes(r.profile):
        yield Product("attention temporaries", (*_score_factors(r), ("bytes", 4.0)), _score_ranks(r))
    if r.profile.spare_gradients != "kept":
        yield Product("gradient of a matrix", (("parameters", _largest_matrix(r)), BF16))
    if not _is_nothing(_fully_sharded(r)):
        factors = (
            ("parameters of one layer", one.total),
            ("bytes", r.profile.reduce_bytes),
            ("used", _fully_sharded(r)),
        )
        yield Product("reduction buffer", factors)


def _table_gradients(r):
    """At the end of backward: the gradients of the embedding, and under FSDP of all tables, before they are reduced."""
    yield Product("gradient of the tables", (("parameters", r.whole.tables), BF16))
    if not _is_nothing(_fully_sharded(r)):
        factors = (("parameters", r.whole.tables), ("bytes", r.profile.reduce_bytes), ("used", _fully_sharded(r)))
        yield Product("reduction buffer", factors)


# Gathered weights.


def _fully_sharded(r):
    """1 where weights are sharded."""
    return (r.split.zero_stage >= 3) * 1.0


def gathered(r, event):
    """Weights that ZeRO 3 has gathered: of the tables, and of the layers in use and fetched ahead, or of all."""
    used = _fully_sharded(r)
    if _is_nothing(used):
        return
    each = ("bytes", PRECISIONS[r.profile.precision].compute)
    if r.profile.most_gathered_params:
        most = plain.smaller(1.0 * r.held.total, 1.0 * r.profile.most_gathered_params)
        yield Product("gathered weights", (("parameters", most), each, ("used", used)))
        return
    whole = (1 - r.split.reshards * 1) * used
    if not _is_nothing(whole):
        parameters = ("parameters", r.held.total)
        yield Product("gathered weights", (parameters, each, ("used", whole)))
        unreduced = (r.split.micro_batches > 1) * whole
        yield Product("unreduced gradients", (parameters, ("bytes", r.profile.reduce_bytes), ("used", unreduced)))
    freed = r.split.reshards * used
    if not _is_nothing(freed):
        yield Product("gathered tables", (("parameters", r.whole.dense), each, ("used", freed)))
        ahead = ("layers", 1 if event in OF_THE_LOSS else r.profile.gathered_layers)
        yield Product("gathered layers", (ahead, ("parameters", _one_layer(r)), each, ("used", freed)))


def _one_layer(r):
    return r.layers[-1][2].total if r.layers else 0


# What the allocator holds besides.


def cached(r, event):
    """Blocks that the allocator keeps and nobody can use at the peak; a fraction of what is allocated comes on top."""
    if not r.profile.side_streams:
        return
    used, each = _fully_sharded(r), ("bytes", PRECISIONS[r.profile.precision].compute)
    parameters = ("parameters", r.whole.dense + r.profile.gathered_layers * _one_layer(r))
    yield Product("all-gather stream", (parameters, each, ("used", used)))
    missing = 1 - gradient_share(r, event)
    if not _is_nothing(missing):
        precision = PRECISIONS[r.profile.precision]
        factors = (("parameters", r.held.total), ("bytes", precision.gradients), ("share", missing))
        yield Product("reduce-scatter stream", factors, (("ranks", r.shards[1]),))
    yield from _loss_blocks(r, event)
    yield from _forward_blocks(r, event)


def _loss_blocks(r, event):
    """Blocks of the loss; what the head's backward needs comes out of them."""
    if event not in OF_THE_LOSS or _is_nothing(r.part.last):
        return
    loss = LOSSES[r.profile.loss]
    each = dict(zip(OF_THE_LOSS, (loss.forward, loss.backward, loss.gradient), strict=True))[event]
    rows = plain.padded_rows(r.shape.vocab_size, r.profile.vocab_multiple, r.split.tensor) / r.split.tensor
    blocks = r.tokens * rows * (loss.cached - each) / r.profile.loss_chunks
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
    if not _is_nothing(_gathers(r)):
        rows = (("copies", 3), ("tokens", r.tokens), ("d_model", r.shape.d_model), BF16, ("gathered", _gathers(r)))
        yield Product("blocks of gathered sequences", rows)


def _is_nothing(number):
    """True for a plain 0, whose terms are left out; arrays keep theirs."""
    return not hasattr(number, "shape") and not number

"""One GPU of one pipeline stage: model, degrees and profile, and what most of its terms need of them.

Factors are numbers or arrays: a ledger and a search over all layouts run the same code.
"""

from typing import NamedTuple

from lib.memory import activations, plain, weights
from lib.memory.loss import LOSSES

BF16 = ("bytes", 2.0)
# Moments of one step at which memory can be highest; the last only where tokens are sent to experts.
EVENTS = ("loss, forward", "loss, backward", "head, backward", "layer, backward", "end of backward", "experts, forward")
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
    number: tuple  # the factor of an ordinary number's bytes


def rank(shape, split, profile, part):
    """Everything that the terms of one stage are made of."""
    by_rows = profile.sequence_parallel if split.sequence_parallel is None else split.sequence_parallel
    tokens = 1.0 * split.micro_batch * split.seq_len / split.context
    kinds = ((part.dense_layers, False), (part.expert_layers, True))
    layers = tuple((n, kind, weights.layer(shape, split, kind)) for n, kind in kinds if not isinstance(n, int) or n)
    tables = _add(weights.Held(0, 0, 0, 0), weights.embedding(shape, split, profile), part.first)
    tables = _add(tables, weights.head(shape, split, profile), part.last)
    held = tables
    if shape.n_mtp_layers and not is_nothing(part.last):
        further = shape.n_mtp_layers * part.last
        layers = (*layers, (further, bool(shape.moe), weights.layer(shape, split, bool(shape.moe))))
        held = _add(held, weights.joined(shape), further)
        held = _add(held, weights.embedding(shape, split, profile), part.last * (split.pipeline > 1))
    for n, _, one in layers:
        held = _add(held, one, n)
    shards = plain.shard_counts(split.zero_stage, split.data * split.context)
    shares, number = activations.shares(shape, split, by_rows), ("bytes", activations.numbers(profile))
    return Rank(shape, split, profile, part, tokens, by_rows, held, layers, shards, tables, shares, number)


def _add(a, b, times):
    return weights.Held(*(x + times * y for x, y in zip(a, b, strict=True)))


def total(products):
    """Bytes of all terms together, a number or an array."""
    found = 0.0
    for product in products:
        found = found + product.value
    return found


def is_nothing(number):
    """True for a plain 0, whose terms are left out; arrays keep theirs."""
    return not hasattr(number, "shape") and not number


def gathers(r):
    """1 where tensor ranks gather the sequence in front of each product."""
    return (r.split.tensor > 1) * 1.0 * r.by_rows


def fully_sharded(r):
    """1 where weights are sharded."""
    return (r.split.zero_stage >= 3) * 1.0


def head_rows(r):
    return ("rows", plain.padded_rows(r.shape.vocab_size, r.profile.vocab_multiple, r.split.tensor))


def largest_matrix(r):
    """Parameters of the largest matrix of a layer: the first of the MLP."""
    width = 0
    for n, with_experts, _ in r.layers:
        width = plain.larger(width, (n > 0) * (r.shape.moe.d_ff_expert if with_experts else r.shape.d_ff))
    return (2 if r.shape.gated else 1) * r.shape.d_model * width / r.split.tensor


def one_layer(r):
    return r.layers[-1][2].total if r.layers else 0


def gradient_share(r, event):
    """The share of sharded gradients that is there: kept ones always, others from the first reduction on.

    Where gathered weights stay for all micro-batches, that is behind the last of them.
    """
    if r.profile.gradients_stay or event == "end of backward":
        return 1
    return (r.split.micro_batches > 1) * (1 - fully_sharded(r) * (1 - r.split.reshards * 1))


_LOSS_FIELDS = dict(zip(OF_THE_LOSS, ("forward", "backward", "gradient"), strict=True))


def of_loss(r, field):
    """A field of the loss: of the other one where tensor ranks share the vocabulary and the framework has one."""
    alone = getattr(LOSSES[r.profile.loss], field)
    if r.profile.tensor_loss is None:
        return alone
    return alone + (getattr(LOSSES[r.profile.tensor_loss], field) - alone) * (r.split.tensor > 1)


def bytes_a_logit(r, event):
    """Bytes for each logit at one of the loss's events."""
    return of_loss(r, _LOSS_FIELDS[event])

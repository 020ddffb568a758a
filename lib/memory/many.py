"""The peak of many layouts at once, by the same terms as a ledger: degrees are numbers or float arrays."""

from types import SimpleNamespace

from lib import check
from lib.architecture import Transformer
from lib.elementwise import floor, maximum, where
from lib.layout import RECOMPUTE, in_flight
from lib.memory import events, plain, rank, resident, simple
from lib.memory.profiles import MEGATRON, Profile

DEGREES = ("data", "tensor", "pipeline", "context", "expert", "micro_batch", "micro_batches", "interleave")


def peak_bytes(shape, profile=MEGATRON, *, recompute="none", sequence_parallel=True, zero_stage=0.0, **degrees):
    """Bytes of the heaviest GPU at its peak, as the driver counts, for many layouts of one model.

    Three stages can be the heaviest when layers are as even as can be: the first, the one behind it, and the last.
    Layouts are taken to be legal; `lib.layout.masks` tells which are not.

    Args:
        shape: a `Transformer`.
        profile: a `Profile`; Megatron core unless given.
        recompute: "none", "selective" or "full", for all.
        sequence_parallel: True or False, for all.
        zero_stage: 0, 1, 2 or 3; float or array.
        degrees: fields of `Layout`, each a number or a float array of one length; 1 where left out, 2048 for seq_len.

    Returns:
        A float, or an array of them.

    Raises:
        TypeError: for what is no `Transformer`, no `Profile`, no number or float array.
        ValueError: for degrees that are no whole numbers of at least 1, or an unknown one.

    Source: as `ledger`; a test holds them equal.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> from lib.memory import ledger
    >>> found = peak_bytes(model("llama-3-8b"), tensor=2.0, pipeline=4.0, micro_batches=8.0)
    >>> found == ledger(model("llama-3-8b"), Layout(tensor=2, pipeline=4, micro_batches=8)).peak_bytes
    True
    """
    check.instance(Transformer, shape=shape)
    check.instance(Profile, profile=profile)
    check.choice(RECOMPUTE, recompute=recompute)
    check.boolean(sequence_parallel=sequence_parallel)
    check.count(zero_stage=zero_stage)
    for name in degrees:
        check.choice((*DEGREES, "seq_len"), degree=name)
    check.whole(**degrees)
    split = SimpleNamespace(**(dict.fromkeys(DEGREES, 1.0) | {"seq_len": 2048.0} | degrees))
    split.zero_stage, split.recompute, split.recompute_layers = zero_stage, recompute, None
    split.sequence_parallel, split.reshards = sequence_parallel, split.pipeline == 1
    return check.result(bytes=_heaviest(shape, profile, split))


def _heaviest(shape, profile, split):
    if profile.simple:
        return rank.total(simple.products(shape, split))
    first, between, last = (_needed(shape, profile, split, part) for part in _parts(shape, split))
    return maximum(maximum(first, where(split.pipeline > 1, between, 0.0)), last)


def _needed(shape, profile, split, part):
    r = rank.rank(shape, split, profile, part)
    step = rank.total((*resident.states(r), *resident.constant(r), *resident.step_extra(r)))
    most = step * (1 + profile.fragmentation)
    for event, _, reserved in events.totals(r):
        there = part.last if event in rank.OF_THE_LOSS else 1.0
        most = maximum(most, reserved * there)
    return most + rank.total(resident.driver(r))


def _parts(shape, split):
    """What the first stage holds, the one behind it, and the last."""
    pieces = split.pipeline * split.interleave
    even = floor(1.0 * shape.n_layers / pieces)
    more = shape.n_layers - even * pieces
    alone, two = (split.pipeline == 1) * 1.0, (split.pipeline == 2) * 1.0
    behind = even * split.interleave + (more >= 1) * 1.0
    at_end = even * split.interleave + (more >= split.pipeline - 1) * (split.pipeline > 1) * (more > 0) * 1.0
    yield _part(shape, split, 0.0, even * split.interleave, 0.0, 1.0, alone)
    yield _part(shape, split, plain.smaller(split.pipeline - 1.0, 1.0), behind, even, 0.0, two)
    yield _part(shape, split, split.pipeline - 1.0, at_end, shape.n_layers - at_end, alone, 1.0)


def _part(shape, split, index, layers, start, first, last):
    experts = _expert_layers(shape, layers, start)
    waiting = in_flight(index, split.pipeline, split.micro_batches, split.interleave)
    dense = 0 if shape.moe and _is_plain_zero(layers - experts) else layers - experts
    return rank.Part(dense, experts, waiting, split.interleave, first, last)


def _expert_layers(shape, layers, start):
    """Layers with experts among so many from a start on; where only every second has them, their share."""
    if not shape.moe:
        return 0
    dense = plain.larger(plain.smaller(shape.moe.n_dense_layers - start, layers), 0.0)
    return (layers - dense) / shape.moe.layer_period


def _is_plain_zero(number):
    return not check.is_array(number) and not number

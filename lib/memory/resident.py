"""What stays on a GPU from step to step: states, buffers, what the driver takes; and what the optimizer step adds."""

from lib.memory import plain, weights
from lib.memory.constants import CONTEXT_BYTES, NCCL_BYTES
from lib.memory.rank import gathers, head_rows, is_nothing, largest_matrix
from lib.memory.states import OPTIMIZERS, PRECISIONS
from lib.memory.terms import Product


def states(r, *, gradients=1, moments=True):
    """Weights, gradients and optimizer states; `gradients` is the share of the step's gradients that there are."""
    precision = PRECISIONS[r.profile.precision]
    yield from _state(r, "weights", precision.weights, r.shards[0])
    if precision.copies:
        matrices = ("parameters of matrices", r.held.matrices + r.held.experts)
        yield Product("low-precision copies", (matrices, ("bytes", precision.copies)))
    if not is_nothing(gradients):
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
        largest = plain.larger(largest_matrix(r), head_rows(r)[1] * r.shape.embedding_width / r.split.tensor)
        each = 2.0 * (precision.master or precision.weights)
        yield Product("optimizer step", (("parameters", largest), ("bytes", each)), (("ranks", r.shards[2]),))


def constant(r):
    """What is there from the first step on: positions, scratch memory, placeholders, buckets, the gathered sequence."""
    each = 8.0 if r.shape.learned_positions else 4.0 * r.shape.head_dim
    yield Product("positions", (("tokens", r.split.seq_len), ("bytes a token", each)))
    if r.profile.workspace_bytes:
        yield Product("scratch of matrix products", (("bytes", r.profile.workspace_bytes),))
    if r.shape.moe and r.profile.expert_workspace_bytes:
        yield Product("scratch of experts' products", (("bytes", r.profile.expert_workspace_bytes),))
    if r.profile.spare_gradients == "kept":
        yield Product("gradient placeholders", (("parameters of one layer", _layer_matrices(r)), r.number))
        if not is_nothing(gathers(r)):
            rows = (("tokens", r.tokens), ("d_model", r.shape.d_model), r.number, ("gathered", gathers(r)))
            yield Product("gathered sequence", rows)
    if r.profile.bucket_params and not is_nothing(_shares(r)):
        largest = plain.smaller(1.0 * r.profile.bucket_params, 1.0 * r.held.total)
        yield Product(
            "reduction bucket", (("parameters", largest), ("bytes", r.profile.reduce_bytes), ("used", _shares(r)))
        )


def _shares(r):
    """1 where ZeRO shards anything."""
    return (r.shards[2] > 1) * 1.0


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


def driver(r):
    """What nvidia-smi shows above the allocator: the context, and a communicator for each kind of group."""
    split = r.split
    degrees = (split.data * split.context, split.tensor, split.pipeline, split.expert)
    yield Product("driver's context", (("bytes", CONTEXT_BYTES),))
    if r.profile.kernel_bytes:
        yield Product("kernels", (("bytes", r.profile.kernel_bytes),))
    groups = sum((degree > 1) * 1.0 for degree in degrees)
    if not is_nothing(groups):
        yield Product("communicators", (("groups", groups), ("bytes", NCCL_BYTES)))

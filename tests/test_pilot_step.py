"""The pilot's step: its states by precision, that it learns, and that a mesh changes nothing but rounding."""

import functools
from dataclasses import replace

import jax
import numpy as np
import pytest

from lib.architecture import Transformer
from lib.layout import Layout
from lib.pilot import shards
from lib.pilot.cuts import KINDS, PRECISIONS, device_bytes, rows
from lib.pilot.mesh import lay
from lib.pilot.model import IGNORED, loss
from lib.pilot.step import adamw, start, step

SHAPE = Transformer(n_layers=2, d_model=32, n_heads=8, n_kv_heads=2, d_ff=64, vocab_size=62)
TOKENS = np.random.default_rng(1).integers(0, SHAPE.vocab_size, (8, 16), dtype=np.int32)
BATCH = (TOKENS, np.roll(TOKENS, -1, axis=1))
FEW = 5  # steps, enough for a lost weight decay to show; rung 4 takes the twenty that are asked (test_pilot_faults)
LAYOUTS = {
    "data": Layout(data=8, seq_len=16),
    "FSDP": Layout(data=8, zero_stage=3, seq_len=16),
    "tensor, padded rows": Layout(data=2, tensor=4, micro_batch=4, seq_len=16),
    "copies of key heads, sequence, ZeRO 1": Layout(
        data=2, tensor=4, zero_stage=1, sequence_parallel=True, micro_batch=4, seq_len=16
    ),
    "all of them": Layout(data=4, tensor=2, zero_stage=3, sequence_parallel=True, micro_batch=2, seq_len=16),
}


def train(step_of, state, n_steps, batch=BATCH):
    nats = []
    for _ in range(n_steps):
        state, now = step_of(state, batch)
        nats.append(float(now))
    return state, nats


@functools.cache
def alone(precision="fp32", n_rows=None, learning_rate=1e-2, shape=SHAPE):
    """The step of one device, and the state before the first."""
    of = {"shape": shape, "optimizer": adamw(shape, learning_rate), "precision": precision}
    state = jax.jit(lambda: start(**of, key=jax.random.key(0), rows=n_rows))()
    return jax.jit(
        lambda state, batch, gradients=None, parts=1: step(state, batch, gradients, micro_batches=parts, **of)
    ), state


@pytest.mark.parametrize("precision", [name for name in PRECISIONS if name != "fp64"])
def test_a_state_has_the_bytes_of_its_precision(precision):
    _, state = alone(precision)
    weights, others = (sum(leaf.nbytes for leaf in jax.tree.leaves(part)) for part in (state.weights, state[1:]))
    each = PRECISIONS[precision].state_bytes
    assert weights == each["weights"] * SHAPE.n_params
    assert others == each["optimizer"] * SHAPE.n_params + 4  # the count of steps


@pytest.mark.parametrize("precision", [name for name in PRECISIONS if name != "fp64"])
def test_one_batch_is_learned_by_heart(precision):
    one, state = alone(precision)
    _, nats = train(one, state, 60)
    assert nats[0] > 4
    assert nats[-1] < 0.5


def test_a_step_of_two_micro_batches_is_the_step_of_their_union():
    one, state = alone()
    halves = [tuple(part[i : i + 4] for part in BATCH) for i in (0, 4)]
    gradients = jax.jit(jax.grad(loss), static_argnums=1)(state.weights, SHAPE, *halves[0])
    both, _ = one(state, halves[1], jax.tree.map(lambda leaf: np.asarray(leaf) / np.float32(2), gradients), 2)
    union, _ = one(state, BATCH)
    # The first moments are a tenth of the gradients; in the weights AdamW would blow a rounding up to a whole step.
    for found, expected in zip(*map(jax.tree.leaves, (both.optimizer, union.optimizer)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


def test_the_weights_are_the_master_copy_rounded_after_every_step():
    one, state = alone("bf16")
    state, _ = train(one, state, 3)
    for narrow, wide in zip(*map(jax.tree.leaves, (state.weights, state.master)), strict=True):
        np.testing.assert_array_equal(narrow, np.asarray(wide).astype(narrow.dtype))


def test_norms_and_biases_do_not_decay():
    shape = replace(SHAPE, qkv_bias=True)
    optimizer = adamw(shape, 1e-2, decay=0.5)
    state = jax.jit(lambda: start(shape, optimizer, "fp32", jax.random.key(0)))()
    nothing = jax.tree.map(lambda leaf: np.zeros(leaf.shape, np.float32), state.weights)
    changes, _ = jax.jit(optimizer.update)(nothing, state.optimizer, state.weights)
    moved = {name for name, leaf in changes["layers"].items() if np.abs(leaf).max() > 0}
    assert moved == {"query", "key", "value", "attention_out", "up", "gate", "down"}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_step_over_a_mesh_is_the_step_of_one_device(layout):
    """Losses of the first steps to 1e-5 in float32, and every device holds the bytes of `device_bytes`."""
    one, state = alone(n_rows=rows(SHAPE, layout), learning_rate=1e-3)
    laid = lay(SHAPE, layout, adamw(SHAPE, 1e-3), "fp32")
    there = jax.tree.map(lambda leaf, at: jax.device_put(np.asarray(leaf), at.sharding), state, laid.state)
    on_first = [
        sum(leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves(part))
        for part in (there.weights, there.optimizer)
    ]
    held = device_bytes(SHAPE, layout, "fp32")
    assert on_first == [held["weights"], held["optimizer"] + 4]
    assert list(held) == list(KINDS)
    _, expected = train(one, state, FEW)
    _, found = train(laid.step, there, FEW)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("layout", "more"),
    [
        (Layout(data=8, seq_len=16), {}),
        (Layout(data=2, context=4, micro_batch=4, seq_len=16), {"windows": (7, None)}),
        (Layout(context=8, micro_batch=8, seq_len=16), {"learned_positions": 16, "tied": True}),
    ],
    ids=["data", "data and context, windows", "context, learned positions"],
)
def test_so_is_one_whose_exchanges_are_written_out(layout, more):
    """The devices have unequal numbers of targets, so that a mean of their means would be another loss."""
    shape = replace(SHAPE, **more)
    targets = np.where(np.arange(16) < np.arange(9, 17)[:, None], BATCH[1], IGNORED)
    one, state = alone(shape=shape, learning_rate=1e-3)
    laid = shards.lay(shape, layout, adamw(shape, 1e-3), "fp32")
    there = jax.tree.map(lambda leaf, at: jax.device_put(np.asarray(leaf), at.sharding), state, laid.state)
    _, expected = train(one, state, FEW, (TOKENS, targets))
    _, found = train(laid.step, there, FEW, (TOKENS, targets))
    assert found == pytest.approx(expected, rel=1e-5)


def test_written_exchanges_are_those_of_data_and_context_alone():
    with pytest.raises(ValueError, match="data and context degrees alone"):
        shards.lay(SHAPE, Layout(data=4, tensor=2, seq_len=16), adamw(SHAPE, 1e-3), "fp32")

"""The pilot's step: its states by precision, that it learns, and that a mesh changes nothing but rounding."""

import functools
from dataclasses import replace

import jax
import numpy as np
import optax
import pytest

from lib.architecture import Transformer
from lib.layout import Layout
from lib.pilot import shards
from lib.pilot.cuts import KINDS, PRECISIONS, device_bytes
from lib.pilot.mesh import lay
from lib.pilot.model import IGNORED
from lib.pilot.step import adamw, start, step

# Windows, learned positions, a head of its own: the pilot that rung 4 lays on meshes has none (test_pilot_faults).
SHAPE = Transformer(n_layers=2, d_model=32, n_heads=8, n_kv_heads=2, d_ff=64, vocab_size=62, windows=(7, None))
SHAPE = replace(SHAPE, learned_positions=16)
TOKENS = np.random.default_rng(1).integers(0, SHAPE.vocab_size, (8, 16), dtype=np.int32)
BATCH = (TOKENS, np.roll(TOKENS, -1, axis=1))
NAMES = [name for name in PRECISIONS if name != "fp64"]
# Meshes are laid in float32; another precision is seen in one layer, which costs a compiler a quarter less than a loop.
SHAPES = dict.fromkeys(NAMES, replace(SHAPE, n_layers=1, windows=(7,))) | {"fp32": SHAPE}
FEW = 5  # steps, enough for a lost weight decay to show; rung 4 takes the twenty that are asked (test_pilot_faults)
LAYOUTS = {
    "data": Layout(data=8, seq_len=16),
    "FSDP": Layout(data=8, zero_stage=3, seq_len=16),
    "tensor, sequence": Layout(data=2, tensor=4, sequence_parallel=True, micro_batch=4, seq_len=16),
    "copies of key heads, padded rows, ZeRO 1": Layout(data=2, tensor=4, zero_stage=1, micro_batch=4, seq_len=16),
    "all of them": Layout(data=2, tensor=4, zero_stage=3, sequence_parallel=True, micro_batch=4, seq_len=16),
}


def of(precision="fp32", learning_rate=1e-3, most_norm=1.0):
    """What a step is told."""
    shape = SHAPES[precision]
    return {"shape": shape, "optimizer": adamw(shape, learning_rate, most_norm=most_norm), "precision": precision}


@functools.cache
def alone(precision):
    """The step of one device, whose numbers are arguments, so that one program does for all that is asked of it."""

    @jax.jit
    def one(state, batch, before, micro_batches, rate, most_norm):
        return step(state, batch, before, micro_batches=micro_batches, **of(precision, rate, most_norm))

    def told(state, batch, before=None, micro_batches=1, rate=1e-3, most_norm=1.0):
        before = before or jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), state.weights)
        return one(state, batch, before, micro_batches, rate, most_norm)

    return told


@functools.cache
def starts():
    """The state before the first step, by precision: their weights are one draw, which costs a compiler dear."""
    return jax.jit(lambda key: {name: start(key=key, **of(name)) for name in NAMES})(jax.random.key(0))


def drawn(state):
    """Numbers for a state's shapes, by chance where they are weights, that no program need be compiled for."""
    chance = np.random.default_rng(2)
    weights = jax.tree.map(lambda leaf: chance.normal(0, 0.1, leaf.shape).astype(leaf.dtype), state.weights)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), state)._replace(weights=weights)


def there(laid):
    """Such numbers, lying where a mesh has them."""
    return jax.tree.map(lambda leaf, at: jax.device_put(leaf, at.sharding), drawn(laid.state), laid.state)


def unpadded(state):
    """Of a state what the shape has, without the rows that pad a table."""
    own = jax.eval_shape(lambda: start(key=jax.random.key(0), **of()))
    return jax.tree.map(lambda leaf, to: leaf[tuple(map(slice, to.shape))], state, own)


def train(step_of, state, batch=BATCH, n_steps=FEW):
    nats = []
    for _ in range(n_steps):
        state, now = step_of(state, batch)
        nats.append(float(now))
    return state, nats


@pytest.mark.parametrize("precision", NAMES)
def test_a_state_has_the_bytes_of_its_precision(precision):
    state = starts()[precision]
    weights, others = (sum(leaf.nbytes for leaf in jax.tree.leaves(part)) for part in (state.weights, state[1:]))
    each = PRECISIONS[precision].state_bytes
    assert weights == each["weights"] * SHAPES[precision].n_params
    assert others == each["optimizer"] * SHAPES[precision].n_params + 4  # the count of steps


@pytest.mark.parametrize("precision", NAMES)
def test_one_batch_is_learned_by_heart(precision):
    _, nats = train(functools.partial(alone(precision), rate=1e-2), starts()[precision], n_steps=30)
    assert nats[0] > 4
    assert nats[-1] < 0.5


def test_a_step_of_two_micro_batches_is_the_step_of_their_union():
    one, state, rows = alone("fp32"), starts()["fp32"], np.arange(8)[:, None]
    first, second = ((TOKENS, np.where(here, BATCH[1], IGNORED)) for here in (rows < 4, rows >= 4))
    # The first moments are a tenth of the gradients; in the weights AdamW would blow a rounding up to a whole step.
    moments = optax.tree_utils.tree_get(one(state, first, micro_batches=2, most_norm=np.inf)[0].optimizer, "mu")
    gradients = jax.tree.map(lambda leaf: 10 * np.asarray(leaf), moments)
    stepped, _ = one(state, second, gradients, micro_batches=2)
    union, _ = one(state, BATCH)
    for found, expected in zip(*map(jax.tree.leaves, (stepped.optimizer, union.optimizer)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


def test_the_weights_are_the_master_copy_rounded_at_the_start_and_after_every_step():
    first = starts()["bf16"]
    for state in (first, train(alone("bf16"), first)[0]):
        for narrow, wide in zip(*map(jax.tree.leaves, (state.weights, state.master)), strict=True):
            np.testing.assert_array_equal(narrow, np.asarray(wide).astype(narrow.dtype))


def test_norms_and_biases_do_not_decay():
    shape = replace(SHAPE, qkv_bias=True)
    optimizer = adamw(shape, 1e-2, decay=0.5)
    state = drawn(jax.eval_shape(lambda: start(shape, optimizer, "fp32", jax.random.key(0))))
    nothing = jax.tree.map(np.zeros_like, state.weights)
    changes, _ = jax.jit(optimizer.update)(nothing, state.optimizer, state.weights)
    moved = {name for name, leaf in changes["layers"].items() if np.abs(leaf).max() > 0}
    assert moved == {"query", "key", "value", "attention_out", "up", "gate", "down"}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_device_holds_the_bytes_of_its_slices(layout):
    state = there(lay(layout=layout, **of()))
    on_first = [
        sum(leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves(part))
        for part in (state.weights, state.optimizer)
    ]
    held = device_bytes(SHAPE, layout, "fp32")
    assert on_first == [held["weights"], held["optimizer"] + 4]
    assert list(held) == list(KINDS)


def test_a_step_over_a_mesh_is_the_step_of_one_device():
    """Losses of the first steps to 1e-5 in float32, whatever stands in the rows that pad a table.

    FSDP alone, and tensor ranks that cut sequences, are quantities of rung 4 (test_pilot_faults).
    """
    laid = lay(layout=LAYOUTS["all of them"], **of())
    _, expected = train(alone("fp32"), unpadded(drawn(laid.state)))
    _, found = train(laid.step, there(laid))
    assert found == pytest.approx(expected, rel=1e-5)


def test_so_is_one_whose_exchanges_are_written_out():
    """The devices have unequal numbers of targets, so that a mean of their means would be another loss."""
    batch = TOKENS, np.where(np.arange(16) < np.arange(9, 17)[:, None], BATCH[1], IGNORED)
    laid = shards.lay(layout=Layout(data=2, context=4, micro_batch=4, seq_len=16), **of())
    _, expected = train(alone("fp32"), drawn(laid.state), batch)
    _, found = train(laid.step, there(laid), batch)
    assert found == pytest.approx(expected, rel=1e-5)


def test_written_exchanges_are_those_of_data_and_context_alone():
    with pytest.raises(ValueError, match="data and context degrees alone"):
        shards.lay(SHAPE, Layout(data=4, tensor=2, seq_len=16), adamw(SHAPE, 1e-3), "fp32")

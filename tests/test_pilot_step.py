"""The pilot's step: its states by precision, that it learns, and that a mesh changes nothing but rounding."""

import functools
from dataclasses import replace

import jax
import numpy as np
import pytest

from lib.architecture import Transformer
from lib.layout import Layout
from lib.pilot import shards
from lib.pilot.cuts import KINDS, PRECISIONS, device_bytes
from lib.pilot.mesh import lay
from lib.pilot.model import IGNORED, loss
from lib.pilot.step import adamw, start, step

SHAPE = Transformer(n_layers=2, d_model=32, n_heads=8, n_kv_heads=2, d_ff=64, vocab_size=62, windows=(7, None))
TOKENS = np.random.default_rng(1).integers(0, SHAPE.vocab_size, (8, 16), dtype=np.int32)
BATCH = (TOKENS, np.roll(TOKENS, -1, axis=1))
NAMES = [name for name in PRECISIONS if name != "fp64"]
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


def of(precision="fp32", shape=SHAPE, learning_rate=1e-3):
    """What a step is told."""
    return {"shape": shape, "optimizer": adamw(shape, learning_rate), "precision": precision}


@functools.cache
def alone(precision="fp32", shape=SHAPE):
    """The step of one device, which is told the rate too, so that one program does for all."""
    one = jax.jit(lambda state, batch, rate: step(state, batch, **of(precision, shape, rate)))
    return lambda state, batch, rate=1e-3: one(state, batch, rate)


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


def unpadded(state, shape):
    """Of a state what the shape has, without the rows that pad a table."""
    own = jax.eval_shape(lambda: start(key=jax.random.key(0), **of(shape=shape)))
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
    assert weights == each["weights"] * SHAPE.n_params
    assert others == each["optimizer"] * SHAPE.n_params + 4  # the count of steps


@pytest.mark.parametrize("precision", NAMES)
def test_one_batch_is_learned_by_heart(precision):
    _, nats = train(functools.partial(alone(precision), rate=1e-2), starts()[precision], n_steps=30)
    assert nats[0] > 4
    assert nats[-1] < 0.5


def test_a_step_of_two_micro_batches_is_the_step_of_their_union():
    first, second = (tuple(part[i : i + 4] for part in BATCH) for i in (0, 4))
    state = starts()["fp32"]
    union, _ = alone()(state, BATCH)

    @jax.jit
    def moments(state):
        gradients = jax.tree.map(lambda leaf: leaf / 2, jax.grad(loss)(state.weights, SHAPE, *first))
        return step(state, second, gradients, micro_batches=2, **of())[0].optimizer

    # The first moments are a tenth of the gradients; in the weights AdamW would blow a rounding up to a whole step.
    for found, expected in zip(*map(jax.tree.leaves, (moments(state), union.optimizer)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


def test_the_weights_are_the_master_copy_rounded_after_every_step():
    state, _ = train(alone("bf16"), starts()["bf16"])
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


@pytest.mark.parametrize("name", [name for name, layout in LAYOUTS.items() if layout.tensor > 1])
def test_a_step_over_a_mesh_is_the_step_of_one_device(name):
    """Losses of the first steps to 1e-5 in float32, whatever stands in the rows that pad a table.

    That of FSDP alone is a quantity of rung 4 (test_pilot_faults), and the data ranks of each layout here read apart.
    """
    layout = LAYOUTS[name]
    laid = lay(layout=layout, **of())
    _, expected = train(alone(), unpadded(drawn(laid.state), SHAPE))
    _, found = train(laid.step, there(laid))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("layout", "more"),
    [
        (Layout(data=2, context=4, micro_batch=4, seq_len=16), {}),
        (Layout(context=8, micro_batch=8, seq_len=16), {"learned_positions": 16, "tied": True}),
    ],
    ids=["data and context, windows", "context, learned positions"],
)
def test_so_is_one_whose_exchanges_are_written_out(layout, more):
    """The devices have unequal numbers of targets, so that a mean of their means would be another loss."""
    shape = replace(SHAPE, **more)
    batch = TOKENS, np.where(np.arange(16) < np.arange(9, 17)[:, None], BATCH[1], IGNORED)
    laid = shards.lay(layout=layout, **of(shape=shape))
    _, expected = train(alone(shape=shape), drawn(laid.state), batch)
    _, found = train(laid.step, there(laid), batch)
    assert found == pytest.approx(expected, rel=1e-5)


def test_written_exchanges_are_those_of_data_and_context_alone():
    with pytest.raises(ValueError, match="data and context degrees alone"):
        shards.lay(SHAPE, Layout(data=4, tensor=2, seq_len=16), adamw(SHAPE, 1e-3), "fp32")

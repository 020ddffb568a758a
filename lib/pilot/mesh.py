"""A training step laid on a mesh of devices: data, FSDP, tensor and sequence sharding by the slices of `cuts`.

The step is that of a single device. The compiler puts the exchanges in, from where arguments and residual stream lie.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from lib.pilot import cuts
from lib.pilot.model import Part
from lib.pilot.step import State, start, step

AUTO = AxisType.Auto  # the compiler places what is in between


class Laid(NamedTuple):
    """A step over a mesh: the function, and its arguments as shapes, each with the sharding it has to have."""

    step: jax.stages.Wrapped  # of state, batch, gradients and key for dropout; it overwrites the state
    state: State
    batch: tuple
    gradients: dict


def lay(shape, layout, optimizer, precision, **options):
    """The training step of a layout, on as many devices as it has.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` of data and tensor degrees; sequence_parallel None means no.
        optimizer, precision: as in `lib.pilot.step.start`.
        options: as in `lib.pilot.step.step`.

    Raises:
        TypeError, ValueError: as `cuts.degrees`; if JAX sees fewer devices.
    """
    mesh = jax.make_mesh(tuple(cuts.degrees(shape, layout).values()), cuts.AXES, axis_types=(AUTO,) * len(cuts.AXES))
    state, lies = _state(shape, layout, optimizer, precision, mesh)
    words = jax.ShapeDtypeStruct((layout.data * layout.micro_batch, layout.seq_len), jnp.int32)
    dtype = cuts.PRECISIONS[precision].gradients
    gradients = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, dtype), state.weights)
    stream = NamedSharding(mesh, PartitionSpec("data", ("heads", "copies") if layout.sequence_parallel else None))

    def place(values):
        return jax.lax.with_sharding_constraint(values, stream)

    def one(state, batch, gradients=None, key=None):
        of = {"shape": shape, "optimizer": optimizer, "precision": precision, "part": Part(place=place)}
        return step(state, batch, gradients, key=key, **of, **options)

    return Laid(
        jax.jit(one, donate_argnums=0, out_shardings=(lies, NamedSharding(mesh, PartitionSpec()))),
        _at(state, lies),
        (_at(words, NamedSharding(mesh, PartitionSpec("data"))),) * 2,
        _at(gradients, _slices(shape, layout, mesh, "gradients")),
    )


def _state(shape, layout, optimizer, precision, mesh):
    """The state as shapes, and where it lies: master and moments as the optimizer's slices, counters everywhere."""
    rows = cuts.rows(shape, layout)
    state = jax.eval_shape(lambda: start(shape, optimizer, precision, jax.random.key(0), rows))
    optimized, everywhere = _slices(shape, layout, mesh, "optimizer"), NamedSharding(mesh, PartitionSpec())
    moments = optax.tree_map_params(
        optimizer, lambda _, where: where, state.optimizer, optimized, transform_non_params=lambda _: everywhere
    )
    weights = _slices(shape, layout, mesh, "weights")
    return state, State(weights, optimized if state.master else None, moments)


def _slices(shape, layout, mesh, kind):
    """Where the tensors of one kind of state lie, in the form of the parameters."""
    over_data = layout.zero_stage >= cuts.KINDS[kind]

    def lies(tensor):
        sides = cuts.cut(tensor, dict(mesh.shape), over_data).values()
        return NamedSharding(mesh, PartitionSpec(*(axes or None for axes in sides)))

    padded = cuts.padded(shape, layout)
    return {part: {name: lies(tensor) for name, tensor in inside.items()} for part, inside in padded.items()}


def _at(shapes, lies):
    return jax.tree.map(lambda leaf, where: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=where), shapes, lies)

"""A training step whose exchanges are written out, over devices that share sequences, positions or both.

Every device keeps the whole state. It takes its part of the words, fetches the keys and values of the other parts of
its sequences, and all sum their gradients: context parallelism with one gathering of keys and values in each layer.
"""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from lib.layout import check_layout
from lib.pilot.cuts import PRECISIONS
from lib.pilot.mesh import AUTO, Laid
from lib.pilot.model import Part, summed
from lib.pilot.step import start, step

AXES = ("data", "context")


def lay(shape, layout, optimizer, precision, **options):
    """The training step of a layout of data and context degrees, in the form of `lib.pilot.mesh.lay`.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` whose other degrees are 1, without ZeRO.
        optimizer, precision: as in `lib.pilot.step.start`.
        options: as in `lib.pilot.step.step`; the same dropout on every device, for their key is the same.

    Raises:
        TypeError, ValueError: for a layout of another kind; if JAX sees fewer devices.

    Source: Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.2, for keys and values gathered before attention.
    """
    check_layout(shape, layout)
    if layout.data * layout.context != layout.n_gpus or layout.zero_stage:
        raise ValueError(f"layout = {layout.text}: data and context degrees alone, ZeRO stage 0")
    mesh = jax.make_mesh((layout.data, layout.context), AXES, axis_types=(AUTO,) * 2)
    everywhere, cut = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), AXES))

    def one(state, batch, gradients=None, key=None):
        of = {"shape": shape, "optimizer": optimizer, "precision": precision, "slope": _over(mesh)}
        return step(state, batch, gradients, key=key, **of, **options)

    state = jax.eval_shape(lambda: start(shape, optimizer, precision, jax.random.key(0)))
    words = jax.ShapeDtypeStruct((layout.data * layout.micro_batch, layout.seq_len), jnp.int32, sharding=cut)
    gradients = _at(state.weights, everywhere, PRECISIONS[precision].gradients)
    step_over = jax.jit(one, donate_argnums=0, out_shardings=everywhere)
    return Laid(step_over, _at(state, everywhere), (words, words), gradients)


def _over(mesh):
    """The loss and its gradients over all devices of a mesh."""

    def of(weights, shape, tokens, targets, **options):
        def here(weights, tokens, targets):
            part = Part(first=_first(tokens), whole=_whole)

            def share(weights):
                nats, count = summed(weights, shape, tokens, targets, part=part, **options)
                return nats / jnp.maximum(_sum(count), 1)

            nats, gradients = jax.value_and_grad(share)(weights)
            return _sum(nats), _exchanged(gradients)

        whole, cut = PartitionSpec(), PartitionSpec(*AXES)
        # Unchecked, as other frameworks are: JAX would add up the gradients by itself.
        return jax.shard_map(here, mesh=mesh, in_specs=(whole, cut, cut), out_specs=(whole, whole), check_vma=False)(
            weights, tokens, targets
        )

    return of


def _first(tokens):
    """The position of a device's first token in the sequences that it shares."""
    return jax.lax.axis_index("context") * tokens.shape[1]


def _whole(values, axis):
    return jax.lax.all_gather(values, "context", axis=axis, tiled=True)


def _exchanged(gradients):
    """Of the loss of all devices, from those that each has of its share."""
    return _sum(gradients)


def _sum(values):
    return jax.lax.psum(values, AXES)


def _at(shapes, where, dtype=None):
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, dtype or leaf.dtype, sharding=where), shapes)

"""One training step: gradients of the loss, AdamW by Optax, in a stated precision."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from lib.pilot.cuts import PRECISIONS
from lib.pilot.model import initialise, loss
from lib.pilot.tensors import tensors

_SLOPE = jax.value_and_grad(loss)


class State(NamedTuple):
    """What is kept from step to step; the master copy is None where the optimizer steps the weights themselves."""

    weights: dict
    master: dict | None
    optimizer: optax.OptState


def adamw(shape, learning_rate, *, decay=0.1, most_norm=1.0):
    """AdamW with clipped gradients: b1 0.9, b2 0.95; norms and biases do not decay.

    Args:
        shape: the `Transformer` that is trained.
        learning_rate: a number, or Optax's schedule.
        decay: weight decay, a fraction of the learning rate.
        most_norm: norm of all gradients together, above which they are scaled down to it.

    Source: Loshchilov and Hutter 2017, arXiv:1711.05101, algorithm 2; betas of Brown et al. 2020, arXiv:2005.14165,
        appendix B.
    """
    decays = {part: {name: t.is_matrix for name, t in inside.items()} for part, inside in tensors(shape).items()}
    step = optax.adamw(learning_rate, b1=0.9, b2=0.95, weight_decay=decay, mask=decays)
    return optax.chain(optax.clip_by_global_norm(most_norm), step)


def start(shape, optimizer, precision, key, rows=None):
    """The state before the first step.

    Args:
        shape: a `Transformer`.
        optimizer: as `adamw` makes it.
        precision: a name in `PRECISIONS`.
        key: JAX's random key.
        rows: rows of the tables where they are padded.
    """
    kept = PRECISIONS[precision]
    stepped = initialise(shape, key, rows, kept.master or kept.weights)
    weights = _cast(stepped, kept.weights)
    return State(weights, stepped if kept.master else None, optimizer.init(stepped))


def step(state, batch, gradients=None, *, shape, optimizer, precision, micro_batches=1, slope=_SLOPE, **options):
    """One step: (the state after it, the loss).

    Args:
        state: a `State`.
        batch: (tokens, targets), as `loss` takes them.
        gradients: those of the step's earlier micro-batches, summed and divided by micro_batches; None for the first.
        shape, optimizer, precision: as in `start`.
        micro_batches: micro-batches of the step, each of as many words.
        slope: function of what `loss` takes, that returns the loss and its gradients.
        options: dropout, key and part of `logits`.
    """
    kept = PRECISIONS[precision]
    nats, found = slope(state.weights, shape, *batch, dtype=kept.compute, **options)
    found = jax.tree.map(lambda leaf: (leaf / micro_batches).astype(kept.gradients), found)
    if gradients is not None:
        found = jax.tree.map(jnp.add, gradients, found)
    return update(state, found, optimizer), nats


def update(state, gradients, optimizer):
    """The state after the optimizer has used the gradients."""
    stepped = state.weights if state.master is None else state.master
    wide = jax.tree.map(lambda leaf, to: leaf.astype(to.dtype), gradients, stepped)
    changes, kept = optimizer.update(wide, state.optimizer, stepped)
    stepped = optax.apply_updates(stepped, changes)
    weights = jax.tree.map(lambda leaf, old: leaf.astype(old.dtype), stepped, state.weights)
    return State(weights, None if state.master is None else stepped, kept)


def _cast(tree, dtype):
    return jax.tree.map(lambda leaf: leaf.astype(dtype), tree)

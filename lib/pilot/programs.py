"""The programs that rungs run a pilot with, each compiled when it is first asked for; the seed changes none of them.

A fault is in a program that was traced while it was planted, and in no other.
"""

from functools import cache, cached_property, partial
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np

from lib.layout import Layout
from lib.pilot import mesh, model, shards, step, text

LAYOUTS = MappingProxyType(  # of eight devices
    {
        "data_parallel": (shards.lay, {"data": 8}),
        "fsdp": (mesh.lay, {"data": 8, "zero_stage": 3}),
        "tensor": (mesh.lay, {"data": 2, "tensor": 4, "sequence_parallel": True}),
        "sequence": (shards.lay, {"data": 2, "context": 4}),
    }
)


class Programs:
    """The programs of a pilot.

    Args:
        pilot: a `Pilot`, of any seed.
    """

    def __init__(self, pilot):
        self._pilot, self._of = pilot, recipe(pilot)

    @cached_property
    def start(self):
        """From a random key, the state before the first step."""
        return _compiled(lambda key: step.start(key=key, **self._of), jax.random.key(0))

    @cached_property
    def step(self):
        """From a state, which it overwrites, and (tokens, targets): the state after a step of one device, the loss."""
        one = jax.jit(lambda state, batch: step.step(state, batch, **self._of), donate_argnums=0)
        return one.lower(self._first, words(self._pilot)).compile()

    @cached_property
    def update(self):
        """From a state and gradients in float32, the state after the optimizer has used them."""
        gradients = jax.tree.map(np.float32, self._first.weights)
        return _compiled(partial(step.update, optimizer=self._of["optimizer"]), self._first, gradients)

    @cached_property
    def scores(self):
        """From weights and tokens, the scores of the next words; of a sequence more than one has positions."""
        shape, tokens = self._pilot.shape, np.zeros((self._pilot.seq_len + 1, self._pilot.seq_len), np.int32)
        return _compiled(lambda weights, tokens: model.logits(weights, shape, tokens), self._first.weights, tokens)

    @cached_property
    def loss(self):
        """From weights, tokens and targets, the loss, all in float64."""
        return self._wide(self._loss)

    @cached_property
    def gradients(self):
        """Of `loss`, from the same."""
        return self._wide(jax.grad(self._loss))

    @cached_property
    def over(self):
        """By the name of a layout: (its step, from a state and (tokens, targets); how they are to lie; the layout)."""
        return cache(partial(_over, self._pilot))

    @cached_property
    def dropping(self):
        """Such a step with dropout, from a state, (tokens, targets), None and a random key; and how they are to lie."""
        laid, _ = _laid(self._pilot, "fsdp", dropout=self._pilot.dropout)
        return laid.step.lower(laid.state, laid.batch, None, jax.random.key(0)).compile(), laid

    @property
    def _first(self):
        return self.start(jax.random.key(0))

    def _loss(self, weights, *batch):
        return model.loss(weights, self._pilot.shape, *batch, dtype=jnp.float64)

    def _wide(self, function):
        with jax.enable_x64(True):
            return _compiled(function, jax.tree.map(np.float64, self._first.weights), *words(self._pilot))


def recipe(pilot):
    """What `lib.pilot.step` asks of a pilot by name: its shape, optimizer and precision.

    Args:
        pilot: a `Pilot`.
    """
    optimizer = step.adamw(pilot.shape, pilot.learning_rate)
    return {"shape": pilot.shape, "optimizer": optimizer, "precision": pilot.precision}


def words(pilot, position=0):
    """A batch as arrays of whole numbers: (tokens, targets).

    Args:
        pilot: a `Pilot`.
        position: sequences read before.
    """
    return tuple(np.array(part, np.int32) for part in text.batch(pilot.seed, position, pilot.sequences, pilot.seq_len))


def _compiled(function, *arguments):
    return jax.jit(function).lower(*arguments).compile()


def _over(pilot, name):
    laid, layout = _laid(pilot, name)
    return laid.step.lower(laid.state, laid.batch).compile(), laid, layout


def _laid(pilot, name, **options):
    lay, degrees = LAYOUTS[name]
    layout = Layout(micro_batch=pilot.sequences // degrees["data"], seq_len=pilot.seq_len, **degrees)
    return lay(layout=layout, **recipe(pilot), **options), layout

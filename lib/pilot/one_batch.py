"""Rung 2, one batch: the pilot learns a few sequences by heart, at the rate that the recipe gives a model of its size.

A model that cannot do this has a wrong loss, a wrong gradient or a wrong rate, and more text would only hide it.
"""

import jax

from lib.description.limits import limit
from lib.pilot import step
from lib.pilot.unit import program, words

_TELL = 50  # steps between two lines of progress


def measure(pilot, report):
    """What rung 2 asks of a pilot: the loss on one batch after the steps that it has, dropout off.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.

    Returns:
        quantity -> number: the last loss, and how many steps there were; it stops at the first loss that is low enough.
    """
    nats = losses(pilot, int(limit("one batch", "steps").value), limit("one batch", "nats").value, report)
    return {"one_batch_loss": nats[-1], "one_batch_steps": float(len(nats))}


def losses(pilot, n_steps, enough, report):
    """The loss of each step on the same batch, until one is low enough.

    Args:
        pilot: a `Pilot`.
        n_steps: how many at most, a whole number of at least 1.
        enough: the loss below which it stops, nats/token.
        report: called with a line of progress now and then.
    """
    of = {"shape": pilot.shape, "optimizer": step.adamw(pilot.shape, pilot.learning_rate), "precision": pilot.precision}
    key, batch, nats = jax.random.key(pilot.seed), words(pilot), []
    state = program(lambda key: step.start(key=key, **of), key)(key)
    one = program(lambda state, batch: step.step(state, batch, **of), state, batch, donate_argnums=0)
    for number in range(1, n_steps + 1):
        state, now = one(state, batch)
        nats.append(float(now))
        if number == 1 or number % _TELL == 0 or nats[-1] < enough:
            report(f"step {number} of {n_steps}: loss {nats[-1]:.3f}")
        if nats[-1] < enough:
            break
    return nats

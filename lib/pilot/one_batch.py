"""Rung 2, one batch: the pilot learns a few sequences by heart, at the rate that the recipe gives a model of its size.

A model that cannot do this has a wrong loss, a wrong gradient or a wrong rate, and more text would only hide it.
"""

import jax

from lib.description.limits import limit
from lib.pilot.programs import Programs, words

_TELL = 50  # steps between two lines of progress


def measure(pilot, report, programs=None):
    """What rung 2 asks of a pilot: the loss on one batch after the steps that it has, dropout off.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.
        programs: its `Programs`, where there are some already.

    Returns:
        quantity -> number: the last loss, and how many steps there were; it stops at the first loss that is low enough.
    """
    steps, enough = int(limit("one batch", "steps").value), limit("one batch", "nats").value
    nats = losses(pilot, steps, enough, report, programs or Programs(pilot))
    return {"one_batch_loss": nats[-1], "one_batch_steps": float(len(nats))}


def losses(pilot, n_steps, enough, report, programs):
    """The loss of each step on the same batch, until one is low enough.

    Args:
        pilot: a `Pilot`.
        n_steps: how many at most, a whole number of at least 1.
        enough: the loss below which it stops, nats/token.
        report: called with a line of progress now and then.
        programs: its `Programs`.
    """
    state, batch, nats = programs.start(jax.random.key(pilot.seed)), words(pilot), []
    for number in range(1, n_steps + 1):
        state, now = programs.step(state, batch)
        nats.append(float(now))
        if number == 1 or number % _TELL == 0 or nats[-1] < enough:
            report(f"step {number} of {n_steps}: loss {nats[-1]:.3f}")
        if nats[-1] < enough:
            break
    return nats

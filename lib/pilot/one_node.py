"""Rung 4, one node: a step over eight devices is that of one, and a run that was resumed is the one that was not.

The devices are virtual ones where a CPU stands in for a node. Of two steps the compiler places the exchanges (FSDP,
tensor), of two they are written out (data, sequence), so that both ways are seen.
"""

import tempfile

import jax
import numpy as np

from lib.pilot import checkpoint
from lib.pilot.compiled import ledger_bytes
from lib.pilot.model import IGNORED
from lib.pilot.programs import LAYOUTS, Programs, words

STEPS = 20
_WORD_BYTES = 4


def measure(pilot, report, programs=None):
    """What rung 4 asks of a pilot.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.
        programs: its `Programs`, where there are some already.

    Returns:
        quantity -> number, names as in `lib.ladder.thresholds`.
    """
    programs = programs or Programs(pilot)
    return shared(pilot, report, programs) | resumed(pilot, report, programs)


def shared(pilot, report, programs, names=tuple(LAYOUTS)):
    """The half of `measure` that is about steps which devices share, in the layouts of some names."""
    report(f"{STEPS} steps on one device")
    expected = _train(lambda state, batch, _: programs.step(state, batch), _first(pilot, programs), pilot, STEPS)[1]
    found, bytes_over = {}, []
    for name in names:
        report(f"{STEPS} steps on eight devices: {name.replace('_', ' ')}")
        losses, over = _over(pilot, _first(pilot, programs), *programs.over(name))
        found[f"{name}_difference"] = float(np.max(np.abs(losses / expected - 1)))
        bytes_over.append(over)
    return found | {"state_bytes_over_ledger": max(bytes_over, key=lambda over: abs(over - 1))}


def resumed(pilot, report, programs):
    """The half of `measure` that is about a checkpoint: a sharded run with dropout, and one that starts from half-way.

    Every loss and every token after the checkpoint is compared.
    """
    report(f"{STEPS} steps with dropout, and the second half again from a checkpoint")
    with tempfile.TemporaryDirectory() as folder:
        return differences(uninterrupted(pilot, folder, programs), second_half(pilot, folder, programs))


def differences(half, again):
    """Of the losses and the words of a second half from those of the other."""
    (losses, read), (other_losses, other_read) = half, again
    return {
        "resumed_loss_difference": float(np.max(np.abs(other_losses - losses))),
        "resumed_data_difference": float(np.sum(other_read != read)),
    }


def uninterrupted(pilot, folder, programs):
    """Losses and words of the second half of a run that leaves a checkpoint in a folder half-way."""
    one, laid = _dropping(programs)
    progress, *_ = _train(one, _laid(_first(pilot, programs), laid), pilot, STEPS // 2)
    checkpoint.save(folder, progress)
    return _train(one, progress, pilot, STEPS // 2)[1:]


def second_half(pilot, folder, programs):
    """The same of a run that begins as a new one would, and has from the other what its checkpoint holds."""
    one, laid = _dropping(programs)
    like = checkpoint.Progress(laid.state, jax.random.key(pilot.seed))
    return _train(one, checkpoint.load(folder, like), pilot, STEPS // 2)[1:]


def _dropping(programs):
    """A sharded step with dropout, and how its state is to lie."""
    compiled, laid = programs.dropping
    return lambda state, batch, key: compiled(state, batch, None, key), laid


def _over(pilot, first, compiled, laid, layout):
    """Losses of a step over eight devices, and the compiler's bytes of its states over the ledger's."""
    losses = _train(lambda state, batch, _: compiled(state, batch), _laid(first, laid), pilot, STEPS)[1]
    held = ledger_bytes(pilot.shape, layout, pilot.precision)
    read = 2 * _WORD_BYTES * layout.micro_batch * layout.seq_len // layout.context
    states = compiled.memory_analysis().argument_size_in_bytes - read
    return losses, states / (held["weights"] + held["optimizer"])


def _train(one, progress, pilot, n_steps):
    """So many steps from a progress on: (the progress after them, their losses, the tokens that they read)."""
    losses, read = [], []
    for _ in range(n_steps):
        state, key, n_before, position = progress
        key, now = jax.random.split(key)
        batch = _words(pilot, position)
        state, nats = one(state, batch, now)
        progress = checkpoint.Progress(state, key, n_before + 1, position + pilot.sequences)
        losses.append(float(nats))
        read.append(batch[0])
    return progress, np.array(losses), np.array(read)


def _words(pilot, position):
    """A batch whose sequences end one before the other, so that a mean of the devices' means would be another loss."""
    tokens, targets = words(pilot, position)
    lost = np.arange(pilot.sequences) * pilot.seq_len // (2 * pilot.sequences)
    return tokens, np.where(np.arange(pilot.seq_len) < pilot.seq_len - lost[:, None], targets, IGNORED)


def _first(pilot, programs):
    key = jax.random.key(pilot.seed)
    return checkpoint.Progress(programs.start(key), key)


def _laid(progress, laid):
    """The same numbers, lying as a step wants them."""
    put = jax.tree.map(lambda leaf, at: jax.device_put(np.asarray(leaf), at.sharding), progress.state, laid.state)
    return progress._replace(state=put)

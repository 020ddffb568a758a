"""Rung 4, one node: a step over eight devices is that of one, and a run that was resumed is the one that was not.

The devices are virtual ones where a CPU stands in for a node. Of two steps the compiler places the exchanges (FSDP,
tensor), of two they are written out (data, sequence), so that both ways are seen.
"""

import tempfile
from functools import cache, partial

import jax
import numpy as np

from lib.layout import Layout
from lib.pilot import checkpoint, mesh, shards, text
from lib.pilot.compiled import ledger_bytes
from lib.pilot.model import IGNORED
from lib.pilot.step import adamw, start, step

STEPS = 20
_LAYOUTS = {  # of eight devices
    "data_parallel": (shards.lay, {"data": 8}),
    "fsdp": (mesh.lay, {"data": 8, "zero_stage": 3}),
    "tensor": (mesh.lay, {"data": 2, "tensor": 4, "sequence_parallel": True}),
    "sequence": (shards.lay, {"data": 2, "context": 4}),
}
_WORD_BYTES = 4


def programs(pilot):
    """The programs of a pilot by name, each compiled when it is first asked for; its seed changes none of them.

    Args:
        pilot: a `Pilot`.

    Returns:
        A function of "start", "alone", "dropout" or the name of a layout.
    """
    return cache(partial(_program, pilot))


def measure(pilot, report, program=None):
    """What rung 4 asks of a pilot.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.
        program: its `programs`, where there are some already.

    Returns:
        quantity -> number, names as in `lib.ladder.thresholds`.
    """
    program = program or programs(pilot)
    return shared(pilot, report, program) | resumed(pilot, report, program)


def shared(pilot, report, program=None):
    """The half of `measure` that is about steps which devices share; the other is `resumed`."""
    program = program or programs(pilot)
    report(f"{STEPS} steps on one device")
    first, alone = _first(pilot, program), program("alone")
    expected = _train(lambda state, words, _: alone(state, words), first, pilot, STEPS)[1]
    found, bytes_over = {}, []
    for name in _LAYOUTS:
        report(f"{STEPS} steps on eight devices: {name.replace('_', ' ')}")
        losses, over = _over(pilot, first, *program(name))
        found[f"{name}_difference"] = float(np.max(np.abs(losses / expected - 1)))
        bytes_over.append(over)
    return found | {"state_bytes_over_ledger": max(bytes_over, key=lambda over: abs(over - 1))}


def resumed(pilot, report, program=None):
    """The half of `measure` that is about a checkpoint: a sharded run with dropout, and one that starts from half-way.

    Every loss and every token after the checkpoint is compared.
    """
    program = program or programs(pilot)
    report(f"{STEPS} steps with dropout, and the second half again from a checkpoint")
    with tempfile.TemporaryDirectory() as folder:
        losses, words = uninterrupted(pilot, folder, program)
        again, other = second_half(pilot, folder, program)
    return {
        "resumed_loss_difference": float(np.max(np.abs(again - losses))),
        "resumed_data_difference": float(np.sum(other != words)),
    }


def uninterrupted(pilot, folder, program):
    """Losses and words of the second half of a run that leaves a checkpoint in a folder half-way."""
    one, first, laid = _dropping(pilot, program)
    progress, *_ = _train(one, first._replace(state=_put(first.state, laid.state)), pilot, STEPS // 2)
    checkpoint.save(folder, progress)
    return _train(one, progress, pilot, STEPS // 2)[1:]


def second_half(pilot, folder, program):
    """The same of a run that begins as a new one would, and has from the other what its checkpoint holds."""
    one, first, laid = _dropping(pilot, program)
    return _train(one, checkpoint.load(folder, first._replace(state=laid.state)), pilot, STEPS // 2)[1:]


def _dropping(pilot, program):
    """A sharded step with dropout, where a run begins, and how its state is to lie."""
    compiled, laid, _ = program("dropout")
    return lambda state, words, key: compiled(state, words, None, key), _first(pilot, program), laid


def _over(pilot, first, compiled, laid, layout):
    """Losses of a step over eight devices, and the compiler's bytes of its states over the ledger's."""
    there = first._replace(state=_put(first.state, laid.state))
    losses = _train(lambda state, words, _: compiled(state, words), there, pilot, STEPS)[1]
    held = ledger_bytes(pilot.shape, layout, pilot.precision)
    words = 2 * _WORD_BYTES * layout.micro_batch * layout.seq_len // layout.context
    states = compiled.memory_analysis().argument_size_in_bytes - words
    return losses, states / (held["weights"] + held["optimizer"])


def _train(one, progress, pilot, n_steps):
    """So many steps from a progress on: (the progress after them, their losses, the tokens that they read)."""
    losses, read = [], []
    for _ in range(n_steps):
        state, key, n_before, position = progress
        key, now = jax.random.split(key)
        words = _words(pilot, position)
        state, nats = one(state, words, now)
        progress = checkpoint.Progress(state, key, n_before + 1, position + pilot.sequences)
        losses.append(float(nats))
        read.append(words[0])
    return progress, np.array(losses), np.array(read)


def _words(pilot, position):
    """A batch whose sequences end one before the other, so that a mean of the devices' means would be another loss."""
    tokens, targets = np.array(text.batch(pilot.seed, position, pilot.sequences, pilot.seq_len), np.int32)
    lost = np.arange(pilot.sequences) * pilot.seq_len // (2 * pilot.sequences)
    return tokens, np.where(np.arange(pilot.seq_len) < pilot.seq_len - lost[:, None], targets, IGNORED)


def _first(pilot, program):
    key = jax.random.key(pilot.seed)
    return checkpoint.Progress(program("start")(key), key)


def _program(pilot, name):
    """What `programs` returns; for devices that share a step, with how it is laid and the layout."""
    of, key = _of(pilot), jax.random.key(pilot.seed)
    begin = jax.jit(lambda key: start(**of, key=key))
    if name == "start":
        return begin.lower(key).compile()
    if name == "alone":
        state = jax.eval_shape(begin, key)
        return jax.jit(lambda state, words: step(state, words, **of)).lower(state, _words(pilot, 0)).compile()
    if name == "dropout":
        layout, laid = _laid(pilot, "fsdp", dropout=pilot.dropout)
        return laid.step.lower(laid.state, laid.batch, None, key).compile(), laid, layout
    layout, laid = _laid(pilot, name)
    return laid.step.lower(laid.state, laid.batch).compile(), laid, layout


def _laid(pilot, name, **options):
    lay, degrees = _LAYOUTS[name]
    layout = Layout(micro_batch=pilot.sequences // degrees["data"], seq_len=pilot.seq_len, **degrees)
    return layout, lay(layout=layout, **_of(pilot), **options)


def _of(pilot):
    return {"shape": pilot.shape, "optimizer": adamw(pilot.shape, pilot.learning_rate), "precision": pilot.precision}


def _put(values, like):
    """The same numbers, lying as `like` says."""
    return jax.tree.map(lambda leaf, at: jax.device_put(np.asarray(leaf), at.sharding), values, like)

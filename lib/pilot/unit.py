"""Rung 1, unit: the pilot is the model that its description says, from the count of its weights to its file.

What is measured is the code that every later rung trains with.
"""

import io
import math

import jax
import numpy as np

from lib.pilot import model
from lib.pilot.programs import Programs, words
from lib.pilot.tensors import tensors

_CHANGE = 1e-5  # of the weights, for a central difference in float64: its error goes with the square
_LARGER = 10.0  # weights for the mask: attention that is far from even, so that a leak shows
_SMALLEST = 1e-30


def measure(pilot, report, programs=None):
    """What rung 1 asks of a pilot.

    Args:
        pilot: a `Pilot`.
        report: called with a line of progress now and then.
        programs: its `Programs`, where there are some already.

    Returns:
        quantity -> number, names as in `lib.ladder.thresholds`.
    """
    programs = programs or Programs(pilot)
    state, batch = programs.start(jax.random.key(pilot.seed)), words(pilot)
    params = state.weights
    report("parameters and shapes")
    differences = _shapes(pilot, params, programs.scores.out_info.shape)
    found = {"parameter_difference": _parameters(pilot, params), "shape_differences": differences}
    found |= _mask(pilot, params, batch, report, programs)
    report("first loss, gradients against finite differences, padding")
    with jax.enable_x64(True):
        gradients = programs.gradients(jax.tree.map(np.float64, params), *batch)
        found |= _in_float64(pilot, params, batch, gradients, programs)
    report("a step by these gradients, and a file of what it left")
    state = programs.update(state, jax.tree.map(np.float32, gradients))
    if pilot.shape.tied:
        found["tied_difference"] = _apart(state.weights["outside"])
    return found | {"serialisation_difference": _changed_by_a_file(state)}


def mask(pilot, report):
    """Of what rung 1 asks, the mask alone, in a fraction of the time.

    Args:
        pilot, report: as in `measure`.

    Returns:
        {"mask_leak": the most that a later word moves a score before it}.
    """
    programs = Programs(pilot)
    return _mask(pilot, programs.start(jax.random.key(pilot.seed)).weights, words(pilot), report, programs)


def _parameters(pilot, params):
    """Numbers stored, less those counted: of the pilot, and of the described run, whose shapes cost nothing to ask."""
    whole = jax.eval_shape(lambda: model.initialise(pilot.run.shape, jax.random.key(0)))
    pairs = ((params, pilot.shape), (whole, pilot.run.shape))
    return float(sum(abs(_stored(tree) - shape.n_params) for tree, shape in pairs))


def _stored(tree):
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def _shapes(pilot, params, scores):
    """Tensors with other sides than described, the scores of the next word among them."""
    asked = {(part, name): one.shape for part, inside in tensors(pilot.shape).items() for name, one in inside.items()}
    found = {(part, name): one.shape for part, inside in params.items() for name, one in inside.items()}
    wrong = [asked.get(name) != found.get(name) for name in asked | found]
    return float(sum(wrong) + (scores[1:] != (pilot.seq_len, pilot.shape.vocab_size)))


def _mask(pilot, params, batch, report, programs):
    report("mask: what a later word changes before it")
    return {"mask_leak": _leak(pilot, params, batch, programs.scores)}


def _leak(pilot, params, batch, scores_of):
    """The most that other words from a position on move a score before it."""
    large = jax.tree.map(lambda leaf: _LARGER * np.asarray(leaf) if leaf.ndim > 2 else leaf, params)
    first, place = batch[0][0], np.arange(pilot.seq_len)
    other = (first + 1) % pilot.shape.vocab_size
    changed = np.where(place[:, None] <= place, other, first)  # row t has other words from position t on
    scores = np.asarray(scores_of(large, np.concatenate([first[None], changed])))
    moved = np.abs(scores[1:] - scores[0]).max(axis=-1)
    return float(np.where(place < place[:, None], moved, 0.0).max())


def _in_float64(pilot, params, batch, gradients, programs):
    """First loss, gradients and padding: two dozen losses, where gradients would take several times as long."""
    leaves, tree = jax.tree.flatten(jax.tree.map(np.float64, params))

    def loss(leaves, targets=batch[1]):
        return float(programs.loss(tree.unflatten(leaves), batch[0], targets))

    return {
        "initial_loss_error": abs(loss(leaves) - math.log(pilot.shape.vocab_size)),
        "gradient_error": _worst(loss, leaves, jax.tree.leaves(gradients), pilot.seed),
        "padding_error": _padding(lambda targets: loss(leaves, targets), batch[1], pilot.seed),
    }


def _worst(loss, leaves, gradients, seed):
    """The gradient's slope from that of central differences, of the tensor that is worst.

    Half of each direction is the gradient's, so that the slope is not small by chance; half is chance, so that a wrong
    part of the gradient shows wherever it points. A tensor may have no gradient at all, as a bias of keys: errors are
    relative to a thousandth of the whole gradient at least.
    """
    whole = math.sqrt(sum(float(np.vdot(gradient, gradient)) for gradient in gradients))
    chance, errors = np.random.default_rng(seed), []
    for place, gradient in enumerate(gradients):
        way = _unit(np.asarray(gradient)) + _unit(chance.normal(size=gradient.shape))
        slope = float(np.vdot(gradient, way))
        ends = [loss([*leaves[:place], leaves[place] + c * way, *leaves[place + 1 :]]) for c in (_CHANGE, -_CHANGE)]
        errors.append(abs((ends[0] - ends[1]) / (2 * _CHANGE) - slope) / max(abs(slope), whole / 1000))
    return max(errors)


def _unit(values):
    return values / max(np.linalg.norm(values), _SMALLEST)


def _padding(loss, targets, seed):
    """The loss of all words, from those of some and of the rest, each with the other's targets made padding."""
    some = np.random.default_rng(seed).random(targets.shape) < 0.25
    parts = [loss(np.where(chosen, targets, model.IGNORED)) for chosen in (some, ~some)]
    expected = loss(targets)
    return abs(float(some.mean()) * parts[0] + float((~some).mean()) * parts[1] - expected) / expected


def _apart(outside):
    """How far the table that reads is from the table that writes, after a step."""
    return float(np.abs(np.asarray(outside["table"]) - np.asarray(model.output_table(outside))).max())


def _changed_by_a_file(state):
    """Numbers of weights and optimizer that are not read from a file as they were written, to the bit."""
    leaves, file = [np.asarray(leaf) for leaf in jax.tree.leaves(state)], io.BytesIO()
    np.savez(file, *leaves)
    file.seek(0)
    with np.load(file) as read:
        pairs = zip(leaves, (read[name] for name in read.files), strict=True)
        return float(sum(_differing(*pair) for pair in pairs))


def _differing(one, other):
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return one.size
    return int(np.count_nonzero(one.view(np.uint8) != other.view(np.uint8))) if one.ndim else int(one != other)

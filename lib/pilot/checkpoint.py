"""Checkpoints by Orbax: all that the next step depends on, each written whole or not at all.

Orbax writes beside the place and moves the whole there when it is done: a save that was stopped leaves nothing there.
"""

from pathlib import Path
from typing import NamedTuple

import jax
from orbax.checkpoint import v1 as orbax

from lib import check
from lib.pilot.step import State


class Progress(NamedTuple):
    """A run between two steps; what is left out here, a resumed run will not know."""

    state: State  # weights and optimizer
    key: jax.Array  # that the next dropout is drawn from
    n_steps: int = 0
    position: int = 0  # in the data: sequences that have been read


def save(folder, progress):
    """Write a run's progress into a folder of its own, named by its number of steps.

    Args:
        folder: of the run's checkpoints, a path; made if it is not there.
        progress: a `Progress`, on one device or sharded over many.

    Raises:
        TypeError: for no progress.
        ValueError: if that step was saved before.

    Source: Orbax, v1: save.
    """
    check.instance(Progress, progress=progress)
    place = Path(folder).resolve() / str(progress.n_steps)
    if place.exists():
        raise ValueError(f"folder = {str(folder)!r}: one without step {progress.n_steps}, which was saved before")
    orbax.save(place, progress)


def load(folder, like):
    """The progress that was saved last.

    Args:
        folder: as in `save`.
        like: a `Progress` with shapes, types and shardings of arrays in their place; its other values have no part.

    Returns:
        A `Progress`, lying as `like` says, however it lay when it was saved.

    Raises:
        TypeError: for no progress.
        ValueError: if there is no whole checkpoint, or one of something else.

    Source: Orbax, v1: load.
    """
    check.instance(Progress, like=like)
    steps = [int(one.name) for one in Path(folder).glob("*") if one.name.isdigit()]
    if not steps:
        raise ValueError(f"folder = {str(folder)!r}: a folder with a checkpoint that was written to its end")
    place = Path(folder).resolve() / str(max(steps))
    try:
        _refuse_other_shapes(orbax.metadata(place).metadata, like)  # Orbax would leave a read half-done behind
        return orbax.load(place, like)
    except ValueError as error:
        why = str(error).splitlines()[0]
        raise ValueError(f"folder = {str(folder)!r}: step {max(steps)} is none of this run: {why}") from None


def _refuse_other_shapes(saved, like):
    there, here = _shapes(saved), _shapes(like._replace(key=None))
    for name, shape in here.items():
        if there.get(name, shape) != shape:
            raise ValueError(f"{name} is of shape {there[name]}, where {shape} is wanted")


def _shapes(tree):
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    shaped = ((path, tuple(leaf.shape)) for path, leaf in leaves if hasattr(leaf, "shape"))
    return {jax.tree_util.keystr(path, simple=True, separator="."): shape for path, shape in shaped}

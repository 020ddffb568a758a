"""Faults to plant into the pilot on purpose, each with the rung of the ladder that has to catch it.

Each is one line that somebody got wrong: a function of the pilot is replaced by a faulty one, while everything else,
and the measuring above all, stays as it is. Programs must be traced anew while their fault is planted.
"""

from collections.abc import Callable
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from lib import check


class Fault(NamedTuple):
    """A slip in one function."""

    name: str
    rung: int  # the lowest that must fail
    sentence: str  # what was done wrong
    module: str  # where
    function: str
    wrong: Callable  # from the right function, the wrong one


def planted(name):
    """A context: while it is open, the pilot has a fault.

    Args:
        name: a key of `FAULTS`.

    Raises:
        TypeError, ValueError: for another name.

    >>> from lib.architecture import model
    >>> from lib.pilot.tensors import tensors
    >>> with planted("tied-apart"):
    ...     "head" in tensors(model("gpt-2"))["outside"]
    True
    """
    check.choice(tuple(FAULTS), name=name)
    return _in_place(FAULTS[name])


@contextmanager
def _in_place(fault):
    module = import_module(fault.module)
    right = getattr(module, fault.function)
    setattr(module, fault.function, fault.wrong(right))
    try:
        yield fault
    finally:
        setattr(module, fault.function, right)


def _one_further(seen):
    return lambda back, window: seen(back + 1, window + 1)


def _all(counted):
    return lambda targets: targets.size


def _head_beside_the_table(outside):
    def wrong(shape, rows):
        found = outside(shape, rows)
        return found | {"head": found["table"]}

    return wrong


def _hundredfold(adamw):
    return lambda learning_rate, **more: adamw(100 * learning_rate, **more)


def _none(exchanged):
    return lambda gradients: gradients


def _one_short(first):
    return lambda tokens: first(tokens) * (tokens.shape[1] - 1) // tokens.shape[1]


def _from_the_first_word(load):
    return lambda folder, like: load(folder, like)._replace(position=like.position)


def _from_the_first_key(load):
    return lambda folder, like: load(folder, like)._replace(key=like.key)


_MODEL, _SHARDS, _CHECKPOINT = "lib.pilot.model", "lib.pilot.shards", "lib.pilot.checkpoint"
_FAULTS = (
    Fault(
        "mask-leak",
        1,
        "The mask lets every position see the next token, which it is to predict.",
        _MODEL,
        "_seen",
        _one_further,
    ),
    Fault(
        "padding-averaged",
        1,
        "The loss is divided by all targets, padding among them.",
        _MODEL,
        "_counted",
        _all,
    ),
    Fault(
        "tied-apart",
        1,
        "The head of a tied model has a table of its own, which is trained beside the first.",
        "lib.pilot.tensors",
        "_outside",
        _head_beside_the_table,
    ),
    Fault(
        "learning-rate-x100",
        2,
        "The learning rate is a hundred times what the recipe says, as with a percentage read as a share.",
        "optax",
        "adamw",
        _hundredfold,
    ),
    Fault(
        "gradients-not-averaged",
        4,
        "Every device steps by the gradients of its own words.",
        _SHARDS,
        "_exchanged",
        _none,
    ),
    Fault(
        "positions-off-by-one",
        4,
        "Each device counts positions as if its first token were the last one of the device before it.",
        _SHARDS,
        "_first",
        _one_short,
    ),
    Fault(
        "resume-forgets-data-position",
        4,
        "A resumed run reads the data from the beginning again.",
        _CHECKPOINT,
        "load",
        _from_the_first_word,
    ),
    Fault(
        "resume-wrong-rng",
        4,
        "A resumed run draws its dropout from the first key again.",
        _CHECKPOINT,
        "load",
        _from_the_first_key,
    ),
)
FAULTS = MappingProxyType({fault.name: fault for fault in _FAULTS})

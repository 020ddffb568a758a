"""Every what-if of the handbook by name, and the one way from a person's settings to an answer."""

import re
import shlex
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from lib import check
from lib.whatif.model import Choice, View, WhatIf

# What-if -> the module that defines it, in the order of the book.
_MODULES = {
    "worked-example": "worked_example",
    "days-and-mfu": "compute",
    "mfu-conventions": "compute",
    "allocation": "scaling",
    "law-explorer": "law_explorer",
    "run-design": "run_design",
    "memory-ledger": "memory",
    "memory-fit": "memory",
    "memory-timeline": "memory",
    "recipe-by-scale": "recipe",
    "schedule": "schedule",
    "ladder-thresholds": "ladder",
    "ladder-cost": "ladder_cost",
    "go-or-wait": "readiness",
}
_LONGEST = 200  # characters of one setting: more is a slip of the clipboard
_EXPONENT = re.compile(r"(?<=[0-9])e\+?(-?)0*(?=[0-9])")  # as Python writes it: 1e+07
_ARGUMENT = re.compile(r"(\w+)(?:\[[^]]*\])? (?:=|\()")  # how every refusal of `check` begins


class RefusedError(ValueError):
    """Settings that have no answer: the reason in one line, and the control at fault where one is."""

    def __init__(self, message, control=None):
        super().__init__(_EXPONENT.sub(r"e\1", " ".join(str(message).split())))
        self.control = control


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A what-if with the values that were put in and the view that came out."""

    what_if: WhatIf
    values: dict
    view: View

    @cached_property
    def texts(self):
        """The values as each control writes them: what its field would hold."""
        return {control.name: control.write(self.values[control.name]) for control in self.what_if.controls}

    @property
    def command(self):
        """The command line that gives the same answer: it names what differs from the starting values."""
        moved = [c.name for c in self.what_if.controls if self.values[c.name] != c.start]
        settings = [f"{name}={shlex.quote(self.texts[name])}" for name in moved]
        return " ".join(["handbook what-if", self.what_if.name, *settings])

    def to_dict(self):
        """The answer as plain data: what `handbook what-if NAME --json` prints."""
        return {"name": self.what_if.name, "inputs": self.values, **self.view.to_dict()}


class _WhatIfs(Mapping):
    """Name -> what-if: its module is imported when it is asked for, and a page asks for one of them first."""

    def __getitem__(self, name):
        return {found.name: found for found in import_module(f"lib.whatif.{_MODULES[name]}").WHAT_IFS}[name]

    def __iter__(self):
        return iter(_MODULES)

    def __len__(self):
        return len(_MODULES)


WHAT_IFS = _WhatIfs()


def find(name):
    """The what-if of a name, whatever its case, spaces, hyphens and underscores.

    Raises:
        RefusedError: if there is none; the nearest name is offered.
    """
    if isinstance(name, WhatIf):
        return name
    with refusals():
        return WHAT_IFS[check.lookup({known: known for known in WHAT_IFS}, what_if=name)]


def solve(name, settings=None):
    """Answer a what-if: settings in, `Answer` out.

    Args:
        name: the what-if's name, or a `WhatIf` itself.
        settings: a mapping from inputs to texts or numbers; what is left out keeps its starting value.

    Raises:
        RefusedError: for an unknown name or input, and for a value that has no answer; `control` is the one at fault.
    """
    what_if = find(name)
    given = read(what_if, {} if settings is None else settings)
    values = {c.name: given[c.name] if c.name in given else c.read(c.start) for c in what_if.controls}
    return Answer(what_if=what_if, values=values, view=_view(what_if, values))


def answer(name, settings=None):
    """The `View` that answers a what-if; arguments and refusals as in `solve`."""
    return solve(name, settings).view


def _view(what_if, values):
    try:
        with refusals(values):
            return what_if.view(**values)
    except RefusedError as refused:
        if refused.control:
            raise
        raise _at_fault(what_if, values, refused) from None


def _at_fault(what_if, values, refused):
    """What refuses a quantity that is no input, laid at the input without which it would not be refused."""
    quantity = str(refused).replace("_", " ")
    for control in what_if.controls:
        start = control.read(control.start)
        if values[control.name] != start and _answers(what_if, values | {control.name: start}):
            given = f"{control.name} = {control.write(values[control.name])}"
            return RefusedError(f"{given}: too far from the other inputs, it leads to {quantity}", control.name)
    return RefusedError(f"together these inputs lead to {quantity}")


def _answers(what_if, values):
    try:
        with refusals():
            what_if.view(**values)
    except RefusedError:
        return False
    return True


def read(what_if, settings):
    """The values that settings mean, by the names of the controls."""
    with refusals():
        check.instance(Mapping, settings=settings)
    texts = {}
    for key, given in settings.items():
        control = _control(what_if, key)
        if control.name in texts:
            raise RefusedError(f"{control.name}: given twice", control.name)
        if isinstance(given, str) and len(given) > _LONGEST:
            raise RefusedError(f"{control.name} = {given[:20]!r}...: at most {_LONGEST} characters", control.name)
        texts[control.name] = given
    return {control.name: _value(what_if, control, texts) for control in what_if.controls if control.name in texts}


def _value(what_if, control, texts):
    with refusals((control.name,)):
        if isinstance(control, Choice) or not control.unit_of:
            return control.read(texts[control.name])
    word = next(other for other in what_if.controls if other.name == control.unit_of)
    unit = word.start if word.name not in texts else _value(what_if, word, texts)
    with refusals((control.name,)):
        return control.read(texts[control.name], unit)


def _control(what_if, key):
    plain = check.plain_name(str(key))
    for control in what_if.controls:
        if control.name == key or check.plain_name(control.name) == plain:
            return control
    names = [control.name for control in what_if.controls]
    meant = [c.name for c in what_if.controls if plain in map(check.plain_name, c.aliases)]
    near = f"; did you mean {meant[0]!r}?" if meant else check.did_you_mean(str(key)[:_LONGEST], names)
    raise RefusedError(f"{str(key)[:_LONGEST]!r} is no input of {what_if.name}: one of {', '.join(names)}{near}")


@contextmanager
def refusals(names=()):
    """Turn what `check` refuses in a block, and sums beyond a float's range, into `RefusedError`.

    Mistakes of ours go through: a `TypeError` that names no argument is one.

    Args:
        names: controls that a refusal may name as its own.
    """
    try:
        yield
    except RefusedError:
        raise
    except ArithmeticError:
        raise RefusedError("numbers too large or too small to compute with") from None
    except (TypeError, ValueError) as error:
        argument = _ARGUMENT.match(str(error))
        if isinstance(error, TypeError) and not argument:
            raise
        raise RefusedError(error, argument[1] if argument and argument[1] in names else None) from None

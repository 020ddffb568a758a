"""A question: what is asked, what it is asked of, what is right, and what typical mistakes give. Holds no seed."""

import ast
import inspect
import re
import string
from collections.abc import Callable
from dataclasses import dataclass

from lib import check, units

TASKS = {
    "write": "write a function",
    "read": "read a figure or a formula",
    "change": "change an input",
    "decide": "decide, and be able to say why",
}
KINDS = ("function", "value", "decision")
DIFFICULTIES = ("easy", "medium", "hard")
PARTS = {
    "worked_example": "Start",
    "chips_to_flops": "Compute",
    "how_big_how_long": "Compute",
    "what_one_number_hides": "Compute",
    "fitting": "Compute",
    "memory_ledger": "Memory",
    "recipes": "Recipe",
    "pilot_ladder": "Operations",
    "readiness_review": "Operations",
}


def _four_digits(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


class _Amounts(string.Formatter):
    """Braces that may name a unit."""

    def format_field(self, value, format_spec):
        is_unit = len(format_spec) > 1 and format_spec[0].isalpha()
        return units.show(value, format_spec) if is_unit else super().format_field(value, format_spec)


@dataclass(frozen=True, kw_only=True)
class Slip:
    """A typical mistake.

    Args:
        name: a word or two, for statistics.
        sentence: for the student who has made it; it tells no number of the case.
        gives: a function of the question's inputs: what the mistake would return.
    """

    name: str
    sentence: str
    gives: Callable

    def __post_init__(self):
        check.text(name=self.name, sentence=self.sentence)
        check.instance(Callable, gives=self.gives)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, for the page, the notebook, the released folder and the grader alike.

    Args:
        title: a few words.
        prompt: Markdown. Of a value the inputs stand in braces, as in `{n_gpus:,}` or, with a unit that `units.show`
            writes, `{n_params:parameters}`; of a function none do.
        chapter: the chapter that it belongs to, a key of `PARTS`.
        task: one of `TASKS`.
        kind: "function", "value" or "decision". A decision is a function too, with more than one right answer.
        inputs: takes a `random.Random`, returns a list of dicts from parameter to plain value, edge cases first; for
            a value a list of one.
        solution: the reference solution, a plain function; its name is the question's, its first line of docstring
            what the student finds in the stub. Of a value it computes that from the inputs.
        expected: takes the inputs by name, returns the right value, computed by `lib`; None for a decision.
        rulings: takes the inputs by name, returns a list of `Ruling` that answer every possible decision; None else.
        slips: of `Slip`, at least two.
        hint: a sentence that helps without telling.
        tolerance: relative error that is let through, above 0, below 1.
        unit: of the answer.
        points: at least 1.
        minutes: expected time.
        difficulty: one of `DIFFICULTIES`.
        visible: whether practice cases may be handed out with what is expected. Not of a value: that would be it.
        allows_lib: whether the solution may call `lib`. What is asked for itself is never in it.

    Raises:
        TypeError, ValueError: for a field that is not of its kind.
    """

    title: str
    prompt: str
    chapter: str
    task: str
    kind: str
    inputs: Callable
    solution: Callable
    expected: Callable | None = None
    rulings: Callable | None = None
    slips: tuple
    hint: str
    tolerance: float = 1e-6
    unit: str = ""
    points: int = 1
    minutes: int = 5
    difficulty: str = "easy"
    visible: bool = True
    allows_lib: bool = False

    def __post_init__(self):
        check.fields(self, text="title prompt hint unit", fraction="tolerance", integer="points minutes")
        check.fields(self, boolean="visible allows_lib")
        check.choice(tuple(PARTS), chapter=self.chapter)
        check.choice(tuple(TASKS), task=self.task)
        check.choice(KINDS, kind=self.kind)
        check.choice(DIFFICULTIES, difficulty=self.difficulty)
        check.instance(Callable, inputs=self.inputs, solution=self.solution)
        for name in ("expected", "rulings"):
            if getattr(self, name) is not None:
                check.instance(Callable, **{name: getattr(self, name)})
        check.several(slips=self.slips)
        for slip in self.slips:
            check.instance(Slip, slips=slip)
        given, other = (self.rulings, self.expected) if self.kind == "decision" else (self.expected, self.rulings)
        if given is None or other is not None:
            raise ValueError(f"kind = {self.kind!r}: a decision has rulings, anything else what is expected")

    @property
    def name(self):
        """What the student must define: a function or a variable."""
        return self.solution.__name__

    @property
    def part(self):
        """The part of the book."""
        return PARTS[self.chapter]

    @property
    def parameters(self):
        """Names of the inputs, in order."""
        return tuple(inspect.signature(self.solution).parameters)

    @property
    def signature(self):
        """How it is called, such as `train_flops(n_params, n_tokens)`; of a value its name."""
        return self.name if self.kind == "value" else f"{self.name}({', '.join(self.parameters)})"

    def prompt_for(self, inputs):
        """The prompt with a value's inputs put in.

        Args:
            inputs: a dict, as a `Case` has it.
        """
        check.instance(dict, inputs=inputs)
        return _Amounts().format(self.prompt, **inputs) if self.kind == "value" else self.prompt

    def answer(self, inputs):
        """What the reference solution gives.

        Args:
            inputs: a dict, as a `Case` has it.
        """
        check.instance(dict, inputs=inputs)
        return self.solution(**inputs)

    def solution_source(self, inputs=None):
        """The reference solution as text; of a value its first four digits.

        Args:
            inputs: for a value, those it was asked with.
        """
        if self.kind == "value":
            return f"{self.name} = {_four_digits(self.answer(inputs))!r}"
        if inputs is not None:
            check.instance(dict, inputs=inputs)
        return inspect.getsource(self.solution).rstrip()

    @property
    def stub_source(self):
        """What the student starts from, as text."""
        if self.kind == "value":
            return f"{self.name} = None"
        return f"{self.head}\n    raise NotImplementedError"

    @property
    def head(self):
        """Name, parameters and docstring of the function, as text."""
        source = inspect.getsource(self.solution)
        first = ast.parse(source).body[0].body[0]
        return "\n".join(source.splitlines()[: first.end_lineno])

    @property
    def body(self):
        """The lines of the reference solution below its docstring, as text."""
        return self.solution_source()[len(self.head) :].strip("\n")

    @property
    def anchor(self):
        """Its name as an address has it.

        >>> from lib.exercises import question
        >>> question("train_flops").anchor
        'train-flops'
        """
        return re.sub("_", "-", self.name)

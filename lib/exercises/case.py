"""A case and a verdict, as plain data: what a question was asked of, what is right, what typical mistakes give.

Imports the standard library alone: `course release` hands it to students as it is.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """What a typical mistake would give in one case, and what is said of it."""

    slip: str
    value: object
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What is said of one possible decision, or of all numbers from low to high (None: without end)."""

    answer: str | None = None
    low: float | None = None
    high: float | None = None
    ok: bool
    sentence: str
    margin: str = ""  # by how much; shown only where the inputs are


@dataclass(frozen=True, kw_only=True)
class Case:
    """One set of inputs with all that judges an answer, as plain data.

    Args:
        question: the name of what is asked for.
        kind: "function", "value" or "decision"; a value is not called.
        inputs: a dict from a parameter's name to its value, in the order of the parameters.
        expected: the right value: a number, text, a truth value, or a list or dict of such; None for a decision.
        tolerance: relative error that is let through.
        unit: of the expected value; empty for none.
        visible: whether inputs and expected value may be told.
        wrongs: of `Wrong`, all told apart from the right value and from each other.
        rulings: of `Ruling`, for a decision: together they answer every possible one.
    """

    question: str
    kind: str = "function"
    inputs: dict
    expected: object = None
    tolerance: float = 1e-6
    unit: str = ""
    visible: bool = True
    wrongs: tuple = ()
    rulings: tuple = ()

    @property
    def plain(self):
        """The case as dicts, lists, numbers and text: what JSON holds."""
        return asdict(self)

    @classmethod
    def of(cls, plain):
        """The case that `plain` has written."""
        wrongs = tuple(Wrong(**wrong) for wrong in plain["wrongs"])
        return cls(**plain | {"wrongs": wrongs, "rulings": tuple(Ruling(**ruling) for ruling in plain["rulings"])})


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is said of one answer.

    Args:
        ok: whether it is right.
        sentence: for the student. Of a hidden case it tells neither inputs, nor the right value, nor what was given.
        outcome: "right", "slip", "wrong value", "wrong type", "not finite", "nothing", "refused" (a decision); from
            elsewhere also "not written", "raised", "stopped", "from lib", "missing", "wrong parameters", "builtins".
        slip: the name of the typical mistake, where one was recognised.
    """

    ok: bool
    sentence: str
    outcome: str
    slip: str = ""

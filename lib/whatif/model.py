"""What a what-if is made of: controls go in, a view comes out. Plain data that no display has touched.

A view function takes plain numbers and words and returns a `View`. The faces (page, notebook, command line) draw it.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from operator import add

from lib import check, units

_BEYOND = 1000.0  # how far past a slider's ends a number may be typed: more is a slip of the unit
_WORD = re.compile(r"[\w/%]+")
_PERCENT = re.compile(r"%|\bper ?cent\b")
_DOT_FOR_COMMA = re.compile(r"\s*[0-9]{1,3}\.000\b(?![.,])")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of an answer, with what unfolds it."""

    label: str
    value: float | str
    unit: str = ""  # a unit that `units.show` knows, or any word
    group: str = ""  # rows of one group stand together under this heading
    formula: str = ""  # with the numbers put in, "6 x 13.46e9 x 269.2e9", or with a {} for each of `numbers`
    numbers: tuple[float, ...] = ()  # to be put into the formula when somebody unfolds it
    assumed: tuple[str, ...] = ()  # inputs that nobody measured: "MFU 0.45"
    sources: tuple[str, ...] = ()  # down to table, equation or page
    convention: str = ""  # what is counted and what is left out

    def __post_init__(self):
        if self.numbers and self.formula.count("{}") != len(self.numbers):
            places = self.formula.count("{}")
            raise ValueError(f"numbers = {len(self.numbers)} of them: {places}, one for each {{}} of the formula")
        usual = type(self.value) is float and math.isfinite(self.value)
        if not usual and not isinstance(self.value, str):
            check.finite(**{self.label: self.value})

    @property
    def text(self):
        """The value as it is shown.

        >>> Row(label="time between saves", value=1610.0, unit="s").text
        '26.83 min'
        """
        return units.show(self.value, self.unit)

    @property
    def worked(self):
        """The formula with the numbers put in.

        >>> Row(label="tokens", value=269.2e9, formula="D = {} / (6 x {})", numbers=(2.174e22, 13.46e9)).worked
        'D = 2.174e22 / (6 x 1.346e10)'
        """
        return self.formula.format(*map(units.show_power, self.numbers)) if self.numbers else self.formula

    @property
    def unfolds(self):
        """Whether there is more to say than the value."""
        return bool(self.formula or any(self.assumed) or self.convention or any(self.sources))

    @property
    def unfolded(self):
        """How the number comes about, as pairs of a word and a text: the same in every face."""
        one = (("formula", self.worked), ("assumed", "; ".join(self.assumed)), ("counts", self.convention))
        return tuple([part for part in (*one, *[("source", source) for source in self.sources]) if part[1]])

    def to_dict(self):
        """The row as plain data."""
        data = vars(self) | {"formula": self.worked, "text": self.text}
        del data["numbers"]
        return data


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis of a chart."""

    label: str  # "loss (nats per token)"
    scale: str = "linear"

    def __post_init__(self):
        check.choice(("linear", "log"), scale=self.scale)


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, set of points or set of bars: x and y of the same length."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: str = "line"

    def __post_init__(self):
        check.choice(("line", "points", "bars"), kind=self.kind)
        if len(self.x) != len(self.y):
            raise ValueError(f"y = {len(self.y)} values: as many as x has, {len(self.x)}")
        if not all(map(math.isfinite, (*self.x, *self.y))):
            raise ValueError(f"{self.label}: finite numbers in every point; the inputs are too large or too small")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A line across a chart: the target, the limit, the choice made."""

    label: str
    value: float
    axis: str = "x"

    def __post_init__(self):
        check.choice(("x", "y"), axis=self.axis)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Series over shared axes, with the sentence that an eye would take from it."""

    title: str  # the finding
    alt: str  # what an eye would see
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    stacked: bool = False  # the first series at the bottom: bars in piles, lines as bands

    def __post_init__(self):
        if not any(series.x for series in self.series):
            raise ValueError("series: at least one with at least one point")
        if self.stacked and not self._stacks:
            raise ValueError("stacked = True: series of one kind over the same x, none below 0, on linear axes")
        for name in ("x", "y"):
            axis, marks = getattr(self, name), [mark.value for mark in self.references if mark.axis == name]
            if axis.scale == "log" and min([*marks, *(v for s in self.series for v in getattr(s, name))]) <= 0:
                raise ValueError(f"{axis.label}: numbers above 0 on a logarithmic axis")

    @property
    def _stacks(self):
        alike = len({(series.kind, series.x) for series in self.series}) == 1
        return alike and min(v for s in self.series for v in s.y) >= 0 and "log" not in (self.x.scale, self.y.scale)

    @property
    def tops(self):
        """Where each series ends: at its own values, or stacked on those before it.

        >>> two = tuple(Series(label=n, x=(1.0,), y=(2.0,), kind="bars") for n in "ab")
        >>> Chart(title="", alt="", x=Axis(label="x"), y=Axis(label="y"), series=two, stacked=True).tops
        ((2.0,), (4.0,))
        """
        if not self.stacked:
            return tuple(series.y for series in self.series)
        return tuple(accumulate((series.y for series in self.series), lambda a, b: tuple(map(add, a, b))))

    def to_dict(self):
        """The chart as plain data: what the page's chart library is given."""
        return vars(self) | {
            "x": vars(self.x),
            "y": vars(self.y),
            "series": [vars(series) for series in self.series],
            "references": [vars(reference) for reference in self.references],
        }


@dataclass(frozen=True, kw_only=True)
class Check:
    """A requirement and by how much it is met (None: undecided, the margin lies inside the uncertainty)."""

    label: str
    passed: bool | None
    margin: str  # in words with its unit: "3.1 days to spare"

    @property
    def verdict(self):
        """The outcome as a word, because colour alone tells too few.

        >>> Check(label="done in time", passed=None, margin="0.2 days, known to 1 day").verdict
        'undecided'
        """
        return {True: "pass", False: "fail", None: "undecided"}[self.passed]


@dataclass(frozen=True, kw_only=True)
class View:
    """The answer of a what-if, for every face the same."""

    title: str  # the answer in one sentence, numbers included: what a screen reader is told after a move
    rows: tuple[Row, ...]
    chart: Chart | None = None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self):
        """The view as plain data, ready for JSON: the greater part of what `handbook what-if NAME --json` prints."""
        return vars(self) | {
            "rows": [row.to_dict() for row in self.rows],
            "chart": self.chart and self.chart.to_dict(),
            "checks": [vars(item) | {"verdict": item.verdict} for item in self.checks],
        }


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number that a reader can move. What is typed may lie a thousand times past the slider's ends."""

    name: str
    label: str
    start: float
    low: float
    high: float
    unit: str = ""
    scale: str = "linear"
    whole: bool = False
    aliases: tuple[str, ...] = ()  # what people type for `name`: answered with "did you mean"
    help: str = ""
    more: bool = False  # folded away: for most questions the starting value will do
    unit_of: str = ""  # another control, whose word is the unit of this number: what is typed is read in it

    def __post_init__(self):
        check.choice(("linear", "log"), scale=self.scale)
        check.finite(low=self.low, start=self.start, high=self.high)
        if not self.low <= self.start <= self.high:
            raise ValueError(f"start = {self.start}: from low = {self.low} to high = {self.high}")

    @property
    def unit_beside(self):
        """The unit as it stands beside the field: not a second time where the label has said it.

        >>> Number(name="days", label="compute days", start=14, low=1, high=90, unit="days").unit_beside
        ''
        """
        said = set(_WORD.findall(self.label.lower())).issuperset(_WORD.findall(self.unit.lower()))
        return "" if said else self.unit

    def read(self, text, unit=None):
        """The value that a text means, in the control's unit or, with `unit_of`, in the one that is given.

        >>> Number(name="days", label="days", start=14, low=1, high=90, unit="days").read("2 weeks")
        14.0
        """
        try:
            value = units.parse(text, self.unit if unit is None else unit) if isinstance(text, str) else text
        except ValueError as error:
            raise ValueError(f"{self.name} = {error}") from None
        check.finite(**{self.name: value})
        if unit is None and not 0.1 <= self.high <= 1 and isinstance(text, str) and _PERCENT.search(text):
            raise ValueError(f"{self.name} = {text!r}: no share of something, so no percentage")
        self._refuse_slips(text, value)
        whole = self.whole and value == value // 1 and abs(value) <= check.EXACT
        return int(value) if whole else float(value)

    def _refuse_slips(self, text, value):
        # What is not above 0, and a share above 1, the view refuses better: it knows what they are.
        low, high = self.low / _BEYOND, self.high * _BEYOND
        if value > high and self.high > 1:
            raise ValueError(f"{self.name} = {check.figure(value)}: at most {units.show(high, self.unit)}")
        if 0 < value < low and not self.whole:
            raise ValueError(f"{self.name} = {check.figure(value)}: at least {units.show(low, self.unit)}")
        if self.whole and isinstance(text, str) and _DOT_FOR_COMMA.match(text):
            raise ValueError(f"{self.name} = {text!r}: a whole number; a thousand is written 1,000")

    def write(self, value):
        """The text that `read` turns into the value: what the input field holds.

        Sizes get their letter, where all digits fit before it.

        >>> Number(name="n_params", label="size", start=1e9, low=1e8, high=1e12, unit="parameters").write(8_030_261_248)
        '8.030261248B'
        """
        scales = (("M", 1e6), ("B", 1e9), ("T", 1e12)) if self.unit in ("parameters", "tokens") else ()
        sizes = (f"{value / scale:.15g}{letter}" for letter, scale in scales if 1 <= value / scale < 1000)
        return next((text for text in sizes if units.parse(text, self.unit) == value), check.figure(value))


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of several words. `options` are looked up without regard to case, spaces, hyphens and underscores."""

    name: str
    label: str
    start: str
    options: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    help: str = ""
    more: bool = False  # as a number's
    # What else means one of the options, such as "h100" for "H100 SXM".
    synonyms: tuple[tuple[str, str], ...] = ()

    def __post_init__(self):
        check.choice(self.options, start=self.start)

    def read(self, text):
        """The option that a text means.

        >>> Choice(name="law", label="law", start="Hoffmann", options=("Hoffmann", "Kaplan")).read("kaplan")
        'Kaplan'
        """
        if isinstance(text, str) and text in self.options:
            return text
        if isinstance(text, str) and check.plain_name(text) in map(check.plain_name, dict(self.synonyms)):
            return check.lookup(dict(self.synonyms), **{self.name: text})
        return check.lookup({option: option for option in self.options}, **{self.name: text})

    def write(self, value):
        """The option as one word for a command line, which `read` takes back.

        >>> Choice(name="law", label="law", start="A 1", options=("A 1", "B 2")).write("A 1")
        'A-1'
        """
        return value.replace(",", "").replace(" ", "-")


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A question with its controls and the function that answers it: view(**values) -> View."""

    name: str  # "days-and-mfu"
    title: str
    question: str  # worth playing for
    view: Callable[..., View]
    controls: tuple[Number | Choice, ...]  # three to six that move the decision; of the rest, `more` is true

    @property
    def asked(self):
        """The controls that every face shows at once."""
        return tuple(control for control in self.controls if not control.more)

    @property
    def folded(self):
        """The controls that page and notebook fold away, and the command line lists last."""
        return tuple(control for control in self.controls if control.more)

    def starting_values(self):
        """Every control's name with its starting value."""
        return {control.name: control.read(control.start) for control in self.controls}

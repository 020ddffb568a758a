"""What a what-if is made of: controls go in, a view comes out. Plain data that no display has touched.

A view function takes plain numbers and words and returns a `View`. The faces (page, notebook, command line) draw it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from lib import check, units


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of an answer, with what unfolds it."""

    label: str
    value: float | str
    unit: str = ""  # a unit that `units.show` knows, or any word
    group: str = ""  # rows of one group stand together under this heading
    formula: str = ""  # with the numbers put in: "6 x 13.46e9 x 269.2e9"
    assumed: tuple[str, ...] = ()  # inputs that nobody measured: "MFU 0.45"
    sources: tuple[str, ...] = ()  # down to table, equation or page
    convention: str = ""  # what is counted and what is left out

    @property
    def text(self):
        """The value as it is shown.

        >>> Row(label="time between saves", value=1610.0, unit="s").text
        '26.83 min'
        """
        return units.show(self.value, self.unit)


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


@dataclass(frozen=True, kw_only=True)
class Check:
    """A requirement and by how much it is met (None: undecided, the margin lies inside the uncertainty)."""

    label: str
    passed: bool | None
    margin: str  # in words with its unit: "3.1 days to spare"


@dataclass(frozen=True, kw_only=True)
class View:
    """The answer of a what-if, for every face the same."""

    title: str  # the answer in one sentence, numbers included: what a screen reader is told after a move
    rows: tuple[Row, ...]
    chart: Chart | None = None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self):
        """The view as plain data, ready for JSON: what `handbook what-if NAME --json` prints."""
        data = asdict(self)
        data["rows"] = [plain | {"text": row.text} for plain, row in zip(data["rows"], self.rows, strict=True)]
        return data


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number that a reader can move. `low` and `high` are the slider's ends, not limits of what may be typed."""

    name: str
    label: str
    start: float
    low: float
    high: float
    unit: str = ""
    scale: str = "linear"
    whole: bool = False
    aliases: tuple[str, ...] = ()  # other names by which it is taken on the command line without a word
    help: str = ""

    def __post_init__(self):
        check.choice(("linear", "log"), scale=self.scale)
        check.finite(low=self.low, start=self.start, high=self.high)
        if not self.low <= self.start <= self.high:
            raise ValueError(f"start = {self.start}: from low = {self.low} to high = {self.high}")

    def read(self, text):
        """The value that a text means.

        >>> Number(name="days", label="days", start=14, low=1, high=90, unit="days").read("2 weeks")
        14.0
        """
        value = units.parse(text, self.unit) if isinstance(text, str) else text
        return int(value) if self.whole and isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of several words. `options` are looked up without regard to case, spaces, hyphens and underscores."""

    name: str
    label: str
    start: str
    options: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    help: str = ""
    # What else means one of the options, such as "h100" for "H100 SXM".
    synonyms: tuple[tuple[str, str], ...] = ()

    def __post_init__(self):
        check.choice(self.options, start=self.start)

    def read(self, text):
        """The option that a text means.

        >>> Choice(name="law", label="law", start="Hoffmann", options=("Hoffmann", "Kaplan")).read("kaplan")
        'Kaplan'
        """
        return check.lookup({o: o for o in self.options} | dict(self.synonyms), **{self.name: text})


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A question with its controls and the function that answers it: view(**values) -> View."""

    name: str  # "days-and-mfu"
    title: str
    question: str  # worth playing for
    view: Callable[..., View]
    controls: tuple[Number | Choice, ...]

    def starting_values(self):
        """Every control's name with its starting value."""
        return {control.name: control.start for control in self.controls}

"""Published runs whose calendar is known: how much of it made progress, and how often it was interrupted."""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check, facts
from lib.units import HOURS_PER_DAY


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The calendar of one published run.

    Args:
        name: of the run, and of the part of it that is counted.
        n_gpus: that trained, a whole number of at least 1.
        compute_days: days in which it made progress, > 0.
        calendar_days: days that it took, > 0, at least as many.
        interruptions: in that time, > 0.
        counted: what an interruption is here, in words.
        source: where this was read.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    >>> run = Calendar(name="r", n_gpus=1024, compute_days=33.0, calendar_days=56.0, interruptions=90.0, source="s")
    >>> f"{run.goodput:.2f}, {run.gpu_hours_between:,.0f}"
    '0.59, 15,292'
    """

    name: str
    n_gpus: int
    compute_days: float
    calendar_days: float
    interruptions: float
    counted: str = ""
    source: str

    def __post_init__(self):
        check.fields(self, text="name counted source", positive="compute_days calendar_days interruptions")
        check.integer(n_gpus=self.n_gpus)
        if self.calendar_days < self.compute_days:
            raise ValueError(f"calendar_days = {self.calendar_days:g}: at least compute_days = {self.compute_days:g}")

    @property
    def goodput(self):
        """Share of the calendar that made progress which was kept."""
        return self.compute_days / self.calendar_days

    @property
    def hours_lost(self):
        """Hours of the calendar that an interruption took, on average: all that made no progress is laid to them."""
        return (self.calendar_days - self.compute_days) * HOURS_PER_DAY / self.interruptions

    @property
    def gpu_hours(self):
        """GPU-hours for which it held its GPUs."""
        return self.n_gpus * self.calendar_days * HOURS_PER_DAY

    @property
    def gpu_hours_between(self):
        """GPU-hours between two interruptions, on average."""
        return self.gpu_hours / self.interruptions


def _calendar(row):
    names = ("n_gpus", "compute_days", "calendar_days", "interruptions", "counted")
    source = "; ".join(dict.fromkeys(row.sources.values()))
    return Calendar(name=row.name, source=source, **{name: row[name] for name in names})


_FIGURES = {"n_gpus": "GPUs", "compute_days": "days", "calendar_days": "days", "interruptions": ""}
FACTS = MappingProxyType(facts.load("calendars", _FIGURES, labels=("counted",)))
CALENDARS = MappingProxyType({name: _calendar(row) for name, row in FACTS.items()})

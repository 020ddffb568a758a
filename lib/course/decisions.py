"""What people decided about an assignment: a TOML file that they keep, and that grading never writes.

assignment = "start"
due = 2026-12-01T23:59:00+01:00
attempts = "latest"                  # or "best"
groups = false                       # true: what one of a group hands in counts for all of it

[late]
percent_a_day = 10                   # of the points that were reached, for each day begun
most_days = 5                        # later than that: no points
grace_minutes = 15
days_without_time = 1                # where a download says late, and not how late

[extensions]
ada = 2026-12-04T23:59:00+01:00

[questions.train_flops]
decision = "void"                    # counts for nobody; "full": given to all who handed something in
reason = "The unit was ambiguous."

[manual.ada.training_days]
points = 1.5
reason = "Right but for a typing slip."
"""

import math
import tomllib
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from lib import check
from lib.course.collect import ATTEMPTS
from lib.whole_files import read_text, refuse_depth

RULINGS = ("void", "full")
_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Late:
    """What lateness costs.

    Args:
        percent_a_day: of the points that were reached, for each day begun, from 0 to 100.
        most_days: after so many days nothing is left; None for no such end.
        grace_minutes: that are no lateness at all, >= 0.
        days_without_time: counted where it is known that somebody was late and not by how much, >= 0.
    """

    percent_a_day: float = 0.0
    most_days: float | None = None
    grace_minutes: float = 0.0
    days_without_time: int = 1

    def __post_init__(self):
        check.non_negative(percent_a_day=self.percent_a_day, grace_minutes=self.grace_minutes)
        check.at_most(100, percent_a_day=self.percent_a_day)
        check.natural(days_without_time=self.days_without_time)
        if self.most_days is not None:
            check.non_negative(most_days=self.most_days)

    def days(self, submitted, due):
        """Days begun after the due time; 0 within the minutes of grace.

        Args:
            submitted, due: times with their offsets.

        >>> Late(grace_minutes=15).days(datetime.fromisoformat("2026-12-02T00:20+01:00"),
        ...                             datetime.fromisoformat("2026-12-01T22:59+00:00"))
        1
        """
        over = submitted - due
        return 0 if over <= timedelta(minutes=self.grace_minutes) else math.ceil(over / _DAY)

    def share_kept(self, days):
        """The share of the points that is left after so many days: 1 - days * percent / 100, never below 0.

        Args:
            days: days begun, >= 0.

        >>> Late(percent_a_day=10).share_kept(3)
        0.7
        """
        check.natural(days=days)
        if self.most_days is not None and days > self.most_days:
            return 0.0
        return max(0.0, (100 - days * self.percent_a_day) / 100)


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """What people decided about one assignment.

    Args:
        assignment: its name.
        due: a time with its offset; None for no end.
        attempts: "latest" or "best", of a student's submissions.
        groups: whether what one of a group hands in counts for all of it.
        late: a `Late`.
        extensions: dict from a student to another due time.
        questions: dict from a question to {"decision": "void" or "full", "reason": text}.
        manual: dict from a student to a dict from a question to {"points": number, "reason": text}.
    """

    assignment: str
    due: datetime | None = None
    attempts: str = "latest"
    groups: bool = False
    late: Late = field(default_factory=Late)
    extensions: dict = field(default_factory=dict)
    questions: dict = field(default_factory=dict)
    manual: dict = field(default_factory=dict)

    def __post_init__(self):
        check.text(assignment=self.assignment)
        check.choice(ATTEMPTS, attempts=self.attempts)
        check.boolean(groups=self.groups)
        check.instance(Late, late=self.late)
        check.instance(dict, extensions=self.extensions, questions=self.questions, manual=self.manual)
        if self.due is not None:
            _time("due", self.due)
        for student, time in self.extensions.items():
            _time(f"extensions.{student}", time)
        for name, ruling in self.questions.items():
            _table(f"questions.{name}", ruling, ("decision", "reason"))
            check.choice(RULINGS, decision=ruling.get("decision"))
        for student, points in self.manual.items():
            _manual(student, points)

    def due_for(self, student, extra_days=0.0):
        """When a student's work is due: the extension if there is one, and the days that a student always has more.

        Args:
            student: as the decisions name them.
            extra_days: days, >= 0.
        """
        check.text(student=student)
        check.non_negative(extra_days=extra_days)
        due = self.extensions.get(student, self.due)
        return None if due is None else due + extra_days * _DAY


def _time(name, value):
    if not isinstance(value, datetime) or value.tzinfo is None or not 1900 < value.year < 9000:
        raise ValueError(f"{name} = {value}: a time with its offset, such as 2026-12-01T23:59:00+01:00")


def _table(name, value, allowed):
    if not isinstance(value, dict):
        raise TypeError(f"{name} = {value!r}: a table")
    for key in value:
        check.choice(allowed, **{f"a key of {name}": key})
    check.text(**{f"{name}.reason": value.get("reason", "")})


def _manual(student, points):
    if not isinstance(points, dict):
        raise TypeError(f"manual.{student} = {points!r}: a table of questions")
    for name, given in points.items():
        _table(f"manual.{student}.{name}", given, ("points", "reason"))
        check.non_negative(**{f"manual.{student}.{name}.points": given.get("points")})


def read_decisions(path):
    """The decisions in a TOML file.

    Args:
        path: of a UTF-8 file, as this module's first lines show one.

    Raises:
        ValueError: for a file that is none, with the key that is wrong.
    """
    text = read_text(path)
    try:
        refuse_depth(text)
        found = tomllib.loads(text)
        for key in found:
            check.choice([one.name for one in fields(Decisions)], key=key)
        late = found.pop("late", {})
        check.instance(dict, late=late)
        return Decisions(**found, late=_late(late))
    except (TypeError, ValueError) as error:  # tomllib's own error is a ValueError
        if "'assignment'" in f"{error}":
            raise ValueError(f"{path}: no line `assignment = ...`: which one is decided about?") from None
        raise ValueError(f"{path}: {error}") from None


def _late(table):
    for key in table:
        check.choice([one.name for one in fields(Late)], key=key)
    return Late(**table)

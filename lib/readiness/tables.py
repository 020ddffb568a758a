"""Tables of the chapter on the readiness review: what each item asks for, and why it is not verified yet."""

from lib import check
from lib.compute import GOODPUT
from lib.description.limits import limit
from lib.ladder.published import CALENDARS
from lib.readiness.items import ALWAYS, ITEMS
from lib.readiness.review import Review, to_approve
from lib.tables import Table

_WORDS = {"artefact": "a file", "sha256": "its hash", "revision": "the code's revision"}
_WORDS |= {"approved_gpu_hours": "GPU-hours, enough of them"}


def items():
    """The ten items: what each needs beside statement, owner, signature, date and run, and what must be measured.

    >>> items().rows[0][1]
    "a file, its hash, the code's revision"
    """
    return Table(
        head=("item", "needs in writing", "needs measured"),
        rows=tuple((item.label, _written(item), _measured(item)) for item in ITEMS.values()),
        caption=f"Every item needs {', '.join(ALWAYS[:-1])} and the hash of the run description. Beside these:",
    )


def _written(item):
    return ", ".join(_WORDS.get(name, name) for name in item.needs)


def _measured(item):
    rungs = {number: [] for number, _ in item.measures}
    for number, name in item.measures:
        rungs[number].append(name.replace("_", " "))
    return "; ".join(f"rung {number}: {', '.join(names)}" for number, names in rungs.items())


def reasons(found):
    """A review: each item's state, and what is lacking.

    Args:
        found: a `Review`.

    Raises:
        TypeError: for something else.
    """
    check.instance(Review, found=found)
    rows = tuple((one.item.label, one.state, "; ".join(one.reasons)) for one in found.states)
    return Table(head=("item", "state", "why"), rows=rows, caption=found.text)


def approved_days(calendar):
    """Days on the calendar that the rule of the review would have approved for a published run's compute days.

    Args:
        calendar: a `lib.ladder.published.Calendar`.

    >>> f"{approved_days(CALENDARS['OPT 175B, experiment 12']):.1f}"
    '39.6'
    """
    days = calendar.compute_days / GOODPUT
    return to_approve(days, limit("rehearsal", "share").value * days, limit("speed", "share").value)


def published_budgets():
    """What the rule would have approved for published runs, beside the days that they took."""
    rows = []
    for name, one in CALENDARS.items():
        approved = approved_days(one)
        days = (f"{value:.1f}" for value in (one.compute_days, approved, one.calendar_days))
        rows.append((name, *days, f"{one.goodput:.2f}", f"{one.calendar_days / approved:.2f}"))
    head = ("run", "compute days", "approved by the rule", "days it took", "goodput", "took over approved")
    return Table(head=head, rows=tuple(rows))

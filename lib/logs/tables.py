"""Tables of a log beside its plan: what happened, which assumption has broken, where the run is going."""

from lib import check
from lib.logs.against_plan import AgainstPlan
from lib.logs.report import Report
from lib.tables import Table
from lib.units import SECONDS_PER_DAY, show


def events(report):
    """Restarts, spikes and what is not sound in a log, each with its line.

    Args:
        report: a `Report`.

    Raises:
        TypeError: for something else.
    """
    check.instance(Report, report=report)
    rows = [(one.line, "restart", _restart(one)) for one in report.course.restarts]
    rows += [(one.line, "spike", _spike(one)) for one in report.spikes]
    rows += [(one.line, "not sound", one.what) for one in report.problems]
    said = tuple((f"line {line:,}", kind, words) for line, kind, words in sorted(rows))
    return Table(head=("where", "what", "in words"), rows=said)


def _restart(one):
    took = "" if one.seconds is None else f", {show(one.seconds, 's')} in between"
    return f"step {one.before:,}, then {one.after:,}: {one.lost_steps:,} steps done again{took}"


def _spike(one):
    back = "not back yet" if one.until is None else f"back at step {one.until:,}"
    return f"step {one.step:,}: {one.loss:.2f} over a trend of {one.trend:.2f}, {back}"


def assumptions(beside):
    """What a plan took for granted, beside what the log shows.

    Args:
        beside: an `AgainstPlan`.

    Raises:
        TypeError: for something else.
    """
    check.instance(AgainstPlan, beside=beside)
    rows = tuple((one.name, one.planned, one.measured, one.verdict) for one in beside.assumptions)
    return Table(head=("assumption", "planned", "measured, 95%", "verdict"), rows=rows)


def outlook(beside):
    """Where a logged run is going: days in all and final loss, planned and forecast again.

    Args:
        beside: an `AgainstPlan`.

    Raises:
        TypeError: for something else.
    """
    check.instance(AgainstPlan, beside=beside)
    days, loss = beside.expected.calendar_days, beside.expected.loss
    gone = (beside.report.course.wall_seconds or 0.0) / SECONDS_PER_DAY
    rows = (
        (
            "calendar days",
            f"{days.value:.2f}",
            *_forecast(beside.finish, lambda s: f"{gone + s / SECONDS_PER_DAY:.2f}"),
        ),
        ("final loss", f"{loss.value:.3f}", *_forecast(beside.loss, lambda nats: f"{nats:.3f}")),
    )
    return Table(head=("", "planned", "forecast", "95%"), rows=rows)


def _forecast(found, text):
    if not found.decided:
        return "not decidable", found.reason
    return text(found.best), f"{text(found.low)} to {text(found.high)}"

"""The view behind `handbook log`: what a log shows, what is not sound in it, and the plan beside it."""

import math

from lib import check
from lib.logs.against_plan import BROKEN, HELD, AgainstPlan
from lib.logs.limits import LIMITS
from lib.logs.report import Report
from lib.units import SECONDS_PER_DAY, show
from lib.whatif.model import Check, Row, View

_FEW = 8  # lines that are named; --json has all
_NOT_SHOWN = "not shown"


def log_view(report, beside=None):
    """What a log shows, as rows; with a plan, its assumptions as checks.

    Args:
        report: a `Report`.
        beside: an `AgainstPlan` of it, or None.

    Raises:
        TypeError: for something else.
    """
    check.instance(Report, report=report)
    rows = (*_log_rows(report), *_pace_rows(report), *_stability_rows(report), *_order_rows(report))
    checks = (_sound(report),)
    if beside is not None:
        check.instance(AgainstPlan, beside=beside)
        rows += tuple(_plan_rows(beside))
        checks += tuple(_assumption(one) for one in beside.assumptions)
    return View(title=_title(report, beside), rows=rows, checks=checks, notes=tuple(_notes(report)))


def log_dict(report, beside=None):
    """The same as plain data, numbers in full; what is no number is told by its name.

    Args:
        report, beside: as in `log_view`.
    """
    check.instance(Report, report=report)
    pace, course = report.pace, report.course
    names = "step_seconds slow_step_seconds n_steps_timed wall_seconds goodput lost_seconds restart_seconds"
    names += " checkpoint_seconds evaluation_seconds data_wait_share straggler_share slowest_rank"
    plain = {
        "file": report.log.file,
        "form": report.log.form,
        "accelerator": report.log.accelerator,
        "lines": report.log.n_lines,
        "first_step": report.kept[0].step,
        "last_step": report.kept[-1].step,
        "last_loss": report.last_loss,
        "step_tokens": report.step_tokens,
        "told_speed": report.told_speed,
        "pace": {name: getattr(pace, name) for name in names.split()},
        "stalls": [one._asdict() for one in pace.stalls],
        "restarts": [one._asdict() for one in course.restarts],
        "lost_steps": course.lost_steps,
        "resumed_loss_difference": report.resumed_loss_difference,
        "spikes": [one._asdict() for one in report.spikes],
        "nan_losses": [{"line": e.line, "step": e.step, "loss": e.loss} for e in report.nan_lines],
        "gradient_trend": report.gradient_trend
        and {"ratio": report.gradient_trend.ratio, "words": report.gradient_trend.words},
        "problems": [one._asdict() for one in report.problems],
        "limits": {name: dict(_limits(row)) for name, row in LIMITS.items()},
    }
    return _in_json(plain | ({} if beside is None else {"plan": _plan_dict(beside)}))


def _limits(row):
    yield from ((field, fact.value) for field, fact in row.facts.items())
    yield "source", next(iter(row.sources.values()))


def _plan_dict(beside):
    speed = {"tokens_per_second_per_gpu": beside.tokens_per_second_per_gpu, "mfu": beside.mfu}
    forecasts = {"finish_seconds": vars(beside.finish), "final_loss": vars(beside.loss)}
    ends = [beside.finish.low, beside.finish.best, beside.finish.high] if beside.finish.decided else []
    dates = [beside.date(seconds) for seconds in ends]
    judged = [vars(one) for one in beside.assumptions]
    more = {"finish_dates": dates, "planned_seconds_left": beside.planned_seconds_left, "broken": list(beside.broken)}
    return {"digest": beside.run.digest, "steps": beside.run.steps} | speed | forecasts | more | {"assumptions": judged}


def _in_json(plain):
    """Numbers that JSON has none for by their names."""
    if isinstance(plain, dict):
        return {name: _in_json(inside) for name, inside in plain.items()}
    if isinstance(plain, list | tuple):
        return [_in_json(inside) for inside in plain]
    return str(plain) if isinstance(plain, float) and not math.isfinite(plain) else plain


def _title(report, beside):
    last, loss, pace = report.kept[-1].step, report.last_loss, report.pace
    title = f"{report.log.form}, steps {report.kept[0].step:,} to {last:,}"
    title += "" if loss is None else f", loss {show(loss, 'nats per token')} at the end"
    title += "" if pace.step_seconds is None else f", {show(pace.step_seconds, 's')} a step"
    if beside is None:
        return f"{title}."
    broken = ", ".join(beside.broken)
    return f"{title}; of the plan {'nothing has broken yet' if not broken else 'these have broken: ' + broken}."


def _log_rows(report):
    log, group = report.log, "The log"
    yield Row(label="written by", value=log.form, group=group)
    if log.accelerator:
        yield Row(label="on", value=log.accelerator, group=group)
    yield Row(label="steps told", value=f"{len(report.kept):,}, one in {report.course.interval:,}", group=group)
    if report.step_tokens or report.step_samples:
        value, unit = (report.step_tokens, "tokens") if report.step_tokens else (report.step_samples, "sequences")
        yield Row(label="a step", value=value, unit=unit, group=group)


def _pace_rows(report):
    pace, group = report.pace, "Speed"
    if pace.step_seconds is None:
        yield Row(label="time of a step", value=_NOT_SHOWN, group=group)
    else:
        counts = (
            f"median of {pace.n_steps_timed:,} steps, the first {_limit('warm-up', 'steps')} after a start left out"
        )
        yield Row(label="usual step", value=pace.step_seconds, unit="s", group=group, convention=counts)
        yield Row(label="slowest of a hundred", value=pace.slow_step_seconds, unit="s", group=group)
    if report.step_tokens and pace.step_seconds:
        speed = report.step_tokens / pace.step_seconds
        yield Row(label="tokens of a step, over its time", value=speed, unit="tokens/s", group=group)
    if report.told_speed:
        yield Row(
            label=f"speed of {report.told_speed[1]}, as told", value=report.told_speed[0], unit="tokens/s", group=group
        )
    yield from _time_rows(pace)


def _time_rows(pace):
    """Where the time went: the parts add up to the clock."""
    group = "Where the time went"
    if pace.wall_seconds is None:
        yield Row(label="on the clock", value=f"{_NOT_SHOWN}: no times of day", group=group)
    else:
        yield Row(label="on the clock", value=pace.wall_seconds, unit="s", group=group)
        progress = pace.kept_steps * (pace.step_seconds or 0.0)
        yield _share("steps that were kept", pace, min(progress, pace.wall_seconds), group)
        yield _share("steps done again", pace, pace.lost_seconds, group)
        yield _share("down, before a restart", pace, pace.restart_seconds, group)
    yield _share("checkpoints", pace, pace.checkpoint_seconds, group)
    yield _share("evaluations", pace, pace.evaluation_seconds, group)
    longest = f"{_limit('stall', 'ratio')} times the usual time, with nothing that explains it"
    yield _share(f"stalls: {len(pace.stalls)}", pace, pace.stall_seconds, group, longest)
    if pace.uneven_seconds is not None:
        yield _share("steps slower than usual", pace, pace.uneven_seconds, group)
    for label, share in (
        ("waiting for data", pace.data_wait_share),
        ("lost to the slowest rank", pace.straggler_share),
    ):
        told = _NOT_SHOWN if share is None else f"{share:.1%} of a step"
        rank = f", mostly rank {pace.slowest_rank}" if label[0] == "l" and pace.slowest_rank is not None else ""
        yield Row(label=label, value=told + rank, group=group)


def _share(label, pace, seconds, group, counts=""):
    share = pace.share(seconds)
    told = "" if not seconds or share is not None else show(round(seconds, 3), "s")
    if share is not None:
        told = f"{show(round(seconds, 3), 's')}, {share:.1%}"
    return Row(label=label, value=told or _NOT_SHOWN, group=group, convention=counts)


def _stability_rows(report):
    group = "Stability"
    above = f"{_limit('spike', 'deviations')} standard deviations and {_limit('spike', 'nats')} nats above the trend"
    still = sum(spike.until is None for spike in report.spikes)
    value = f"{len(report.spikes)}, {still} of them open" if report.spikes else "none"
    yield Row(label="loss spikes", value=value, group=group, convention=above)
    for spike in report.spikes[:_FEW]:
        back = "not back" if spike.until is None else f"back at step {spike.until:,}"
        told = f"{spike.loss:.3f} over {spike.trend:.3f}, {back}"
        yield Row(label=f"line {spike.line:,}, step {spike.step:,}", value=told, group=group)
    first = f", the first in line {report.nan_lines[0].line:,}" if report.nan_lines else ""
    yield Row(label="losses that are no number", value=f"{len(report.nan_lines)}{first}", group=group)
    trend = report.gradient_trend
    value = _NOT_SHOWN if trend is None else f"{trend.words}, x {trend.ratio:.2f} over the log"
    yield Row(label="gradient norm", value=value, group=group, sources=(_source("gradient trend"),))


def _order_rows(report):
    course, group = report.course, "Restarts"
    yield Row(label="restarts", value=f"{len(course.restarts)}, {course.lost_steps:,} steps done again", group=group)
    for one in course.restarts[:_FEW]:
        went = f"step {one.before:,}, then {one.after:,}; {one.lost_steps:,} steps lost"
        took = "" if one.seconds is None else f", {show(one.seconds, 's')} between"
        yield Row(label=f"line {one.line:,}", value=went + took, group=group)
    apart = report.resumed_loss_difference
    if apart is not None:
        yield Row(label="losses of steps done twice, apart", value=f"{apart:.3g} nats per token at most", group=group)
    for one in report.problems[:_FEW]:
        yield Row(label=f"line {one.line:,}", value=one.what, group="Not sound")


def _plan_rows(beside):
    group, run = "Forecast", beside.run
    yield Row(label="steps", value=f"{beside.report.kept[-1].step:,} of {run.steps:,}", group=group)
    yield _outlook_row("finish", beside.finish, lambda s: _finish_text(beside, s), group, **_restarts(beside))
    if beside.planned_seconds_left:
        label = f"finish, were goodput {run.goodput:g} as planned"
        yield Row(label=label, value=_finish_text(beside, beside.planned_seconds_left), group=group)
    yield _outlook_row("final loss", beside.loss, lambda loss: f"{loss:.3f}", group)
    now, end = beside.rate_left
    yield Row(label="learning rate", value=f"{now:.2g} now, {end:.2g} at the end, as described", group=group)


def _finish_text(beside, seconds):
    date = beside.date(seconds)
    days = f"{seconds / SECONDS_PER_DAY:.3g} days"
    return f"{date} ({days})" if date else f"{days} from the last line"


def _restarts(beside):
    """How the finish counts restarts that are still to come."""
    found, usual = beside.progress, beside.interruptions
    if found is None:
        return {}
    (few, up, _), _, (many, longer, costs) = found.rates_of_restarts(usual)
    fewest = f"Gamma({few}) / {show(up, 's')}" if few else "0"
    rates = f"rates of restarts from {fewest} to Gamma({many}) / {show(longer, 's')}, of which {few} were seen"
    assumed = f"one that was not seen takes {show(max(costs), 's')}"
    garwood = "Garwood 1936, Biometrika 28:437-442: exact limits of a Poisson mean"
    sources = (garwood,) if few else (garwood, usual.source)
    return {"formula": f"steps left / speed, and restarts; {rates}", "assumed": (assumed,), "sources": sources}


def _outlook_row(label, found, text, group, **unfolded):
    if not found.decided:
        return Row(label=label, value=f"not decidable: {found.reason}", group=group)
    ends = f"; 95 %: {text(found.low)} to {text(found.high)}" if found.low < found.high else ""
    return Row(label=label, value=text(found.best) + ends, group=group, convention=found.covers, **unfolded)


def _sound(report):
    n = len(report.problems)
    first = f"{n} lines are not, the first: {report.problems[0].text}" if n else "every line that was read is in order"
    return Check(label="the log is sound", passed=not n, margin=first)


def _assumption(one):
    passed = {HELD: True, BROKEN: False}.get(one.verdict)
    why = f"; {one.why}" if one.why else ""
    return Check(label=one.name, passed=passed, margin=f"planned {one.planned}; measured {one.measured}{why}")


def _notes(report):
    hidden = len(report.problems) - _FEW
    if hidden > 0:
        yield f"{hidden} more lines are not sound; --json names them all."
    if report.pace.step_seconds is not None and report.course.clocked:
        yield "Time before the first line and after the last is not in the log: start-up counts for nothing here."


def _limit(name, field):
    return LIMITS[name][field]


def _source(name):
    return next(iter(LIMITS[name].sources.values()))

"""The views behind `handbook new-run` and `handbook ladder`: what to expect of a described run, and its rungs."""

import math
from dataclasses import fields

from lib import check
from lib.description import Expectation, Expectations
from lib.ladder import Climb
from lib.memory import changes
from lib.scaling import law
from lib.units import HOURS_PER_DAY, show, show_number, show_roughly
from lib.whatif.model import Check, Row, View

_FIELDS = tuple(field.name for field in fields(Expectation))


def run_view(run):
    """What to expect of a described run: compute, days, speed, memory, loss and cost, each with its tolerance.

    Args:
        run: a `RunDescription`.

    Raises:
        TypeError: for something else.
    """
    expected = Expectations(run=run)
    rows = (*expected_rows(expected), *_cost_rows(expected), *_convention_rows(expected))
    return View(title=_title(expected), rows=rows, checks=_fit_checks(expected), notes=_notes(expected))


def ladder_view(climb):
    """The seven rungs of a run with thresholds, cost and verdict.

    Args:
        climb: a `Climb`, as `lib.ladder.evaluate` gives it.

    Raises:
        TypeError: for something else.
    """
    check.instance(Climb, climb=climb)
    rows = (*(row for verdict in climb.verdicts for row in rung_rows(verdict)), *_rehearsal_rows(climb))
    checks = tuple(_rung_check(verdict) for verdict in climb.verdicts)
    return View(title=_climbed(climb), rows=rows, checks=checks, notes=_notes(Expectations(run=climb.run)))


def run_dict(run):
    """The same as plain data, numbers in full.

    Args:
        run: a `RunDescription`.
    """
    expected = Expectations(run=run)
    return {
        "digest": run.digest,
        "run": run.plain,
        "expected": [{name: getattr(row, name) for name in _FIELDS} for row in expected.rows],
        "exact_flops": expected.exact_flops,
        "days_if_counted": {name: expected.days_if_counted(name) for name in expected.other_conventions},
        "gpu_hours": expected.gpu_hours,
        "cost_usd": expected.cost_usd,
        "fits": expected.fit and expected.fit.fits,
        "reach_of_the_law": expected.reach,
    }


def ladder_dict(climb):
    """The same for the ladder.

    Args:
        climb: a `Climb`.
    """
    check.instance(Climb, climb=climb)
    rungs = [_rung_dict(verdict) for verdict in climb.verdicts]
    costs = {"rehearsal_gpu_hours": climb.rehearsal_gpu_hours}
    return {"digest": climb.run.digest, "highest_passed": climb.highest, **costs, "rungs": rungs}


def _rung_dict(verdict):
    rung = verdict.rung
    plain = {name: getattr(rung, name) for name in ("number", "name", "purpose", "failure", "gpu_hours", "cost_usd")}
    judged = [
        vars(one.threshold) | {"value": _in_json(one.value), "margin": _in_json(one.margin), "passed": one.passed}
        for one in verdict.judgements
    ]
    return plain | {"verdict": verdict.words, "passed": verdict.passed, "thresholds": judged}


def _in_json(value):
    """A number, or its name where JSON has none for it."""
    return value if value is None or math.isfinite(value) else str(value)


def _title(expected):
    run, cost = expected.run, expected.cost_usd
    price = "" if cost is None else f", {show(cost, 'USD')}"
    return (
        f"{run.name or run.shape.name or 'This run'} on {run.cluster.n_gpus:,} x {run.cluster.accelerator.name}: "
        f"{_beside(expected.calendar_days)} on the calendar, a final loss of {_beside(expected.loss)}{price}."
    )


def _beside(expectation):
    """A value with its tolerance: 12.2 ± 0.9 days."""
    value, tolerance = show(expectation.value, expectation.unit), expectation.tolerance
    if tolerance is None:
        return f"{value}, give or take what nobody has published"
    short = value.removesuffix(f" {expectation.unit}")
    return f"{short} ± {show_roughly(tolerance, expectation.unit)}" if tolerance else value


def expected_rows(expected):
    for one in expected.rows:
        sources = tuple(text for text in (one.source, f"tolerance: {one.tolerance_source}") if text)
        yield Row(label=one.label, value=_beside(one), group="Expected", formula=one.formula, sources=sources)
    counts = "every product, causal attention, no input table"
    exact = {"label": "training compute, counted exactly", "value": expected.exact_flops, "unit": "FLOP"}
    per_token = (
        f"{show_number(expected.run.n_tokens)} x {show_number(expected.exact_flops / expected.run.n_tokens)} a token"
    )
    yield Row(**exact, group="Expected", formula=per_token, convention=counts)


def _cost_rows(expected):
    held = f"{show(expected.run.cluster.n_gpus, 'GPUs')} for {show_number(expected.calendar_days.value)} days"
    yield Row(label="GPU-hours held", value=expected.gpu_hours, unit="GPU-hours", group="Cost", formula=held)
    if expected.cost_usd is not None:
        price = f"{expected.run.price_usd_per_gpu_hour:g} USD a GPU-hour"
        yield Row(label="cost", value=expected.cost_usd, unit="USD", group="Cost", assumed=(price,))


def _convention_rows(expected):
    for name in expected.other_conventions:
        group = f"Compute days if the {expected.run.mfu:g} were reported as"
        yield Row(label=name, value=expected.days_if_counted(name), unit="days", group=group)


def _fit_checks(expected):
    room = expected.fit
    if room is None:
        return ()
    ways = () if room.fits else changes(expected.ledger, expected.run.cluster.accelerator)[:1]
    nearest = "".join(f"; smallest change that fits: {way.label}" for way in ways)
    return (Check(label="fits the GPU's memory", passed=room.fits, margin=room.text + nearest),)


def _notes(expected):
    origin = law(expected.run.law_name).origin
    return (
        f"The loss is that of {expected.run.law_name}, for its own tokenizer ({origin.tokenizer}) and text "
        f"({origin.corpus}); {expected.reach}. On other text only a law that is fitted to your own small runs decides: "
        f"handbook fit.",
    )


def rung_rows(verdict):
    rung = verdict.rung
    group = f"{rung.number}. {rung.name}"
    yield Row(label="shows that", value=rung.purpose, group=group)
    for one in verdict.judgements:
        yield Row(label=one.threshold.label, value=_measured(one), group=group, sources=(one.threshold.source,))
    cost = "" if rung.cost_usd is None else f", {show(rung.cost_usd, 'USD')}"
    yield Row(label="takes", value=f"{show(rung.gpu_hours, 'GPU-hours')}{cost}", group=group)
    yield Row(label="if it fails", value=rung.failure, group=group)


def _rehearsal_rows(climb):
    """The ladder beside one day of the full run, in which a fault that it would have shown goes unnoticed."""
    hours, group = climb.rehearsal_gpu_hours, "What climbing costs"
    day = climb.run.cluster.n_gpus * HOURS_PER_DAY
    whole = climb.verdicts[-1].rung.gpu_hours
    share = f"{show_number(hours)} / {show_number(whole)}"
    yield Row(label="rungs 1 to 6", value=hours, unit="GPU-hours", group=group, formula="the sum")
    yield Row(label="of the full run", value=hours / whole, unit="%", group=group, formula=share)
    held = f"{climb.run.cluster.n_gpus:,} GPUs x 24 h"
    yield Row(label="a day of a fault at full scale", value=day, unit="GPU-hours", group=group, formula=held)


def _measured(one):
    asked = one.threshold.text + (", on the plan's own GPUs" if one.threshold.on_target else "")
    if one.value is None:
        return asked
    return f"{_seen(one)} ({asked})"


def _seen(one):
    """What was measured: a number with its unit, or the word for what is none."""
    return show(one.value, one.threshold.unit) if math.isfinite(one.value) else str(one.value)


def _rung_check(verdict):
    rung, margin = verdict.rung, verdict.words
    passed = True if verdict.passed else False if verdict.failures else None
    if verdict.failures:
        margin = "; ".join(_missed(one) for one in verdict.failures)
    elif verdict.passed and verdict.untested:
        margin = f"passed; not tested on this machine: {', '.join(one.threshold.name for one in verdict.untested)}"
    return Check(label=f"rung {rung.number}, {rung.name}", passed=passed, margin=margin)


def _missed(one):
    return f"{one.threshold.label}: {_seen(one)}, {one.threshold.text}"


def _climbed(climb):
    if climb.next is None:
        return "All seven rungs are passed."
    rung = climb.next.rung
    passed = f"Passed to rung {climb.highest} of 7" if climb.highest else "No rung is passed yet"
    return f"{passed}; next is rung {rung.number}, {rung.name}: {rung.purpose}."

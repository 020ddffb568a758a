"""Tables of the chapter on the pilot ladder: the rungs, what each asks for, verdicts, published interruptions."""

import math

from lib import check
from lib.description import Expectations
from lib.description.run import RunDescription
from lib.ladder.published import CALENDARS
from lib.ladder.rungs import rungs
from lib.ladder.thresholds import hours_between_interruptions, thresholds
from lib.ladder.verdicts import Climb
from lib.tables import Table
from lib.units import show


def overview(run):
    """The seven rungs of a run: what each shows, and what it takes.

    Args:
        run: a `RunDescription`.
    """
    rows = tuple(
        (f"{rung.number}. {rung.name}", rung.purpose, show(rung.gpu_hours, "GPU-hours") if rung.gpu_hours else "none")
        for rung in rungs(run)
    )
    return Table(head=("rung", "passed, it shows that", "takes"), rows=rows)


def asked(runs, number):
    """The thresholds of one rung for several runs, side by side.

    Args:
        runs: several `RunDescription` with names; what a rung does not ask one of them for is a dash.
        number: of the rung.
    """
    by_run = [{one.name: one for one in thresholds(number, Expectations(run=run))} for run in runs]
    names = dict.fromkeys(name for found in by_run for name in found)
    rows = tuple((_label(by_run, n), *(found[n].text if n in found else "-" for found in by_run)) for n in names)
    return Table(head=(f"rung {number}", *(run.name for run in runs)), rows=rows)


def _label(by_run, name):
    return next(found[name].label for found in by_run if name in found)


def measured(climb, *numbers):
    """What was measured on some rungs, beside its thresholds, with the margin.

    Args:
        climb: a `Climb`.
        numbers: of the rungs.
    """
    check.instance(Climb, climb=climb)
    rows = []
    for verdict in (climb.verdicts[number - 1] for number in numbers):
        rows.append((f"{verdict.rung.number}. {verdict.rung.name}: {verdict.words}",))
        rows += [_judged(one) for one in verdict.judgements if one.asked]
    return Table(head=("quantity", "measured", "threshold", "verdict"), rows=tuple(rows))


def _judged(one):
    word = {True: "pass", False: "fail", None: "not decided"}[one.passed]
    if one.value is None:
        return one.threshold.label, "-", one.threshold.text, "not measured"
    value = show(one.value, one.threshold.unit) if math.isfinite(one.value) else str(one.value)
    return one.threshold.label, value, one.threshold.text, word


def interruptions(run):
    """What rung 5 would ask of a run if its cluster failed as those of published runs did.

    Args:
        run: a `RunDescription`.
    """
    check.instance(RunDescription, run=run)
    ours = hours_between_interruptions(Expectations(run=run))
    rows = []
    for one in CALENDARS.values():
        hours = one.gpu_hours_between / run.cluster.n_gpus
        lost = show(hours * (1 - run.goodput), "hours")
        ratio = f"{ours / hours:.2f}"
        rows.append((one.name, one.counted, f"{one.gpu_hours_between:,.0f}", show(hours, "hours"), lost, ratio))
    head = ("published run", "counted", "GPU-hours between", "here", "may be lost", "as often as assumed")
    return Table(
        head=head, rows=tuple(rows), caption=f"On {run.cluster.n_gpus:,} GPUs, at a goodput of {run.goodput:g}."
    )

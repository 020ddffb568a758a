"""Evidence from a log: only what it really shows, under the names of `lib.ladder`'s thresholds."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from lib import check
from lib.ladder.evidence import Piece
from lib.ladder.thresholds import thresholds
from lib.ladder.verdicts import ANYWHERE
from lib.logs.against_plan import AgainstPlan
from lib.units import SECONDS_PER_DAY

RUNGS = (3, 5, 6, 7)  # that a log can speak for
_FEW_NODES = 5


def asked(rung, expected):
    """Names of a rung's quantities that a run on the plan's own accelerator is asked for: of rung 3 not the pilot's.

    Args:
        rung: 3, 5, 6 or 7.
        expected: the `Expectations` of a run.

    Raises:
        TypeError, ValueError: for a rung that no log speaks for.
    """
    check.integer(rung=rung)
    if rung not in RUNGS:
        raise ValueError(f"rung = {rung}: 3, 5, 6 or 7, of which a log can tell")
    return tuple(one.name for one in thresholds(rung, expected) if one.on_target or rung > ANYWHERE[-1])


def quantities(beside, one_node_speed=None):
    """Every quantity that a log shows, by its name in evidence.

    Args:
        beside: an `AgainstPlan`.
        one_node_speed: tokens/s of one GPU when one node trains alone, > 0; None if unknown.

    Returns:
        name -> number, and name -> why the log does not show it.
    """
    check.instance(AgainstPlan, beside=beside)
    if one_node_speed is not None:
        check.scalar(one_node_speed=one_node_speed)
        check.positive(one_node_speed=one_node_speed)
        one_node_speed = float(one_node_speed)  # NumPy's would go into the file
    report, pace, why = beside.report, beside.report.pace, {}
    speed, losses = beside.tokens_per_second_per_gpu, any(entry.loss is not None for entry in report.kept)
    told = {
        "log_problems": (float(len(report.problems)), ""),
        "mfu": (beside.mfu, "no time of a step and no speed"),
        "scaling_efficiency": (
            speed / one_node_speed if speed and one_node_speed else None,
            "the speed of one node is not given (--one-node-speed)",
        ),
        "straggler_share": (pace.straggler_share, "one rank is logged, or none tells its own time of a step"),
        "data_wait_share": (pace.data_wait_share, "no time of waiting for data"),
        "checkpoint_stall_share": (pace.share(pace.checkpoint_seconds), "no checkpoint, or not what it took"),
        "evaluation_stall_share": (pace.share(pace.evaluation_seconds), "no evaluation, or not what it took"),
        "hours_lost_to_a_failure": (report.hours_lost_to_a_failure, "no restart, or no times of day"),
        "resumed_loss_difference": (report.resumed_loss_difference, "no step was done twice"),
        "goodput": (pace.goodput, "no times of day"),
        "nan_losses": (float(len(report.nan_lines)) if losses else None, "no loss"),
        "open_spikes": (float(sum(s.until is None for s in report.spikes)) if losses else None, "no loss"),
        "reserved_bytes": (_reserved(report), "no memory"),
        "memory_over_ledger": _over_ledger(beside),
        "tokens": (float(beside.run.steps if beside.done else report.kept[-1].step) * beside.run.batch_tokens, ""),
        "calendar_days": _at_the_end(beside, _days(report), "no times of day"),
        "final_loss": _at_the_end(beside, report.last_loss, "no loss"),
    }
    why = {name: reason for name, (value, reason) in told.items() if value is None}
    return {name: value for name, (value, _) in told.items() if value is not None}, why


def _over_ledger(beside):
    """Beside the ledger of the plan's layout, which is not that of fewer GPUs."""
    held = _reserved(beside.report)
    if held is None:
        return None, "no memory"
    if not beside.whole_cluster:
        return None, "the ledger is of the plan's layout; --measured memory_over_ledger=RATIO with that of these GPUs"
    return held / beside.expected.memory.value, ""


def _at_the_end(beside, value, why):
    return (value, why) if beside.done else (None, "the run is not done")


def _days(report):
    seconds = report.course.wall_seconds
    return None if seconds is None else seconds / SECONDS_PER_DAY


def _reserved(report):
    told = [
        e.reserved_bytes for e in report.log.entries if e.reserved_bytes is not None and math.isfinite(e.reserved_bytes)
    ]
    return max(told, default=None)


def evidence(beside, rung, one_node_speed=None, accelerator="", time="", by_hand=None):
    """A piece of evidence for a rung.

    Args:
        beside: an `AgainstPlan`.
        rung: 3, 5, 6 or 7.
        one_node_speed: as in `quantities`.
        accelerator: that the log was written on; what the log itself names if "". Without either, what only the plan's
            own accelerator can show does not count.
        time: when it was made, in ISO 8601; now if "".
        by_hand: quantities of the rung that no log shows -> number, as a person has measured them; None for none.

    Returns:
        A `Piece`, and the names of the rung's thresholds that the log does not show, each with the reason.

    Raises:
        TypeError, ValueError: for a rung that no log speaks for.
    """
    check.instance(AgainstPlan, beside=beside)
    check.text(accelerator=accelerator, time=time)
    names = asked(rung, beside.expected)
    if rung > _FEW_NODES and not beside.whole_cluster:
        raise ValueError(f"n_gpus = {beside.n_gpus:,}: {beside.run.cluster.n_gpus:,}, for rung {rung} is of them all")
    shown, why = quantities(beside, one_node_speed)
    said = _by_hand(by_hand or {}, names, shown)
    report = beside.report
    piece = Piece(
        rung=rung,
        what=f"{report.log.form}, steps {report.kept[0].step:,} to {report.kept[-1].step:,}, "
        f"{report.log.n_lines:,} lines, sha256 {report.log.digest}...{said}",
        measured={name: shown[name] for name in names if name in shown},
        machine={
            "accelerator": accelerator or report.log.accelerator or "not told",
            "devices": beside.n_gpus or beside.run.cluster.n_gpus,
        },
        run_digest=beside.run.digest,
        time=time or datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return piece, {name: why.get(name, "no log tells it") for name in names if name not in shown}


def _by_hand(given, asked, shown):
    """Put what a person has measured beside what the log shows; the words that say so."""
    check.instance(Mapping, by_hand=given)
    for name, value in given.items():
        check.choice(asked, by_hand=name)
        check.scalar(**{name: value})
        if name in shown:
            raise ValueError(f"by_hand = {name}: the log itself shows it, {shown[name]:.6g}")
        shown[name] = float(value)
    return f"; by hand: {', '.join(given)}" if given else ""

"""The final loss forecast from logs, and a log against its plan: intervals hold it as often as they say."""

import math
import random
from dataclasses import replace

import pytest

from lib.description import parse as described
from lib.ladder.thresholds import thresholds
from lib.logs import AgainstPlan, Entry, Log, Report, evidence
from lib.logs.measured import asked, quantities
from lib.logs.outlook import final_loss, student

RUN = described(
    'tokens = "4.194304B"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64\n'
    "[layout]\nseq_len = 8192\nbatch_tokens = 4194304\nzero_stage = 1\n"
)  # 1,000 steps
STEP = RUN.batch_tokens / 64 / 8000  # seconds, at 8,000 tokens/s of one GPU


def log_of(steps, until=None, **made):
    """Entries of steps 1 to `until`; each field a function of the step."""
    lines = range(1, (until or steps) + 1)
    return Log(
        form="made up", entries=tuple(Entry(line=i, step=i, **{k: f(i) for k, f in made.items()}) for i in lines)
    )


def noisy_losses(seed, done, exponent, likeness, total=1000):
    draw, away = random.Random(seed), 0.0
    losses = []
    for step in range(1, done + 1):
        away = likeness * away + math.sqrt(1 - likeness**2) * 0.03 * draw.gauss(0, 1)
        losses.append(1.75 + 9.0 * step**-exponent + away)
    log = log_of(done, loss=lambda step: losses[step - 1])
    return Report(log=log), 1.75 + 9.0 * total**-exponent


@pytest.mark.parametrize(("degrees", "quantile"), [(10, 2.2281), (18, 2.1009), (30, 2.0423)])
def test_students_quantiles_are_those_of_the_tables(degrees, quantile):
    assert student(0.95, degrees) == pytest.approx(quantile, abs=1e-3)


@pytest.mark.parametrize("exponent", [0.2, 0.3658, 0.5])
@pytest.mark.parametrize("likeness", [0.0, 0.9])
def test_the_interval_of_the_final_loss_holds_it(exponent, likeness):
    """95 of 100 are promised; of 25, less than 21 would happen to a sound interval once in 150."""
    held = 0
    for seed in range(25):
        report, truth = noisy_losses(seed, 300, exponent, likeness)
        found = final_loss(report, 1000, 0.3658)
        held += found.low <= truth <= found.high
    assert held >= 21


def test_a_forecast_is_narrower_the_further_the_run_is():
    early, late = (final_loss(noisy_losses(0, done, 0.3658, 0.0)[0], 1000, 0.3658) for done in (200, 800))
    assert late.high - late.low < early.high - early.low


@pytest.mark.parametrize(
    ("done", "told"),
    [(50, "5.0% of the steps are done: at least 10%"), (101, "lines with a loss in the last ten times")],
)
def test_too_few_steps_decide_no_loss(done, told):
    found = final_loss(noisy_losses(0, done, 0.3658, 0.0)[0], 1000, 0.3658)
    assert not found.decided
    assert told in found.reason


def test_a_log_of_the_end_alone_decides_no_loss():
    log = Log(entries=tuple(Entry(line=i, step=i, loss=2.0) for i in range(500, 900)))
    assert "at most a quarter of its last" in final_loss(Report(log=log), 1000, 0.3).reason


def beside(until=400, loss=lambda s: 1.7 + 9.0 * s**-0.3658, seconds=STEP, run=RUN, **more):
    made = {"loss": loss, "time": lambda s: seconds * s, "seconds": lambda _: seconds} | more
    log = log_of(until, **made)
    per_gpu = run.batch_tokens / run.cluster.n_gpus
    return AgainstPlan(
        report=Report(log=replace(log, accelerator="NVIDIA H100 80GB HBM3"), step_tokens_per_gpu=per_gpu), run=run
    )


def verdicts(found):
    return {one.name: one.verdict for one in found.assumptions}


def test_utilization_is_that_of_the_runs_convention():
    """8,000 tokens/s, 6 x 8.03e9 FLOP a token, 989.4e12 FLOP/s."""
    assert beside().mfu == pytest.approx(8000 * 6 * 8_030_261_248 / 989.4e12, rel=1e-9)


def test_a_run_as_planned_breaks_nothing():
    law = beside().expected
    found = verdicts(beside(loss=lambda s: law.loss.value - 0.3 + 5.0 * s**-0.3658))
    assert "broken" not in found.values()
    assert found["stability"] == "holds"


def test_a_slow_run_breaks_the_utilization_and_nothing_else():
    assert beside(seconds=1.2 * STEP).broken == ("utilization",)


def test_long_pauses_break_the_goodput():
    found = beside(time=lambda s: STEP * s + 3 * STEP * (s // 4), seconds=STEP)
    assert "goodput" in found.broken


def test_a_loss_that_stays_high_breaks_the_law_once_the_rate_has_fallen():
    def high(step):
        return 3.5 + 2.0 * step**-0.3658

    assert "loss law" not in beside(until=400, loss=high).broken  # the learning rate has yet to fall
    assert "loss law" in beside(until=990, loss=high).broken


@pytest.mark.parametrize("loss", [lambda s: math.nan if s == 300 else 2.5, lambda s: 2.5 + 2.0 * (s >= 300)])
def test_losses_that_are_none_and_open_spikes_break_stability(loss):
    assert "stability" in beside(loss=loss).broken


def test_a_log_of_another_batch_or_a_longer_run_is_refused_with_the_field():
    with pytest.raises(ValueError, match="batch_tokens = 4,194,304 in the description: 1,000 in the log"):
        beside(tokens=lambda s: 1000.0 * s)
    with pytest.raises(ValueError, match="steps = 1,000 in the description: the log goes on to step 1,200"):
        beside(until=1200)


def test_evidence_holds_only_what_the_log_shows_and_says_what_it_does_not():
    piece, missing = evidence(beside(), 6, time="2026-11-30T00:00:00+00:00")
    assert set(piece.measured) == {"log_problems", "mfu", "goodput", "nan_losses", "open_spikes"}
    assert missing["checkpoint_stall_share"] == "no checkpoint, or not what it took"
    assert missing["small_runs"] == "no log tells it"
    assert piece.run_digest == RUN.digest
    assert piece.machine["accelerator"] == "NVIDIA H100 80GB HBM3"


def test_days_and_loss_of_a_full_run_are_measured_at_its_end_alone():
    early, late = quantities(beside(400))[0], quantities(beside(1000))[0]
    assert "final_loss" not in early
    assert late["calendar_days"] == pytest.approx(999 * STEP / 86400)
    assert late["tokens"] == pytest.approx(RUN.n_tokens)


def test_scaling_efficiency_is_told_where_one_nodes_speed_is():
    assert quantities(beside(), one_node_speed=8000 / 0.9)[0]["scaling_efficiency"] == pytest.approx(0.9)
    assert "--one-node-speed" in quantities(beside())[1]["scaling_efficiency"]


def test_no_log_speaks_for_the_first_rungs():
    with pytest.raises(ValueError, match="rung = 4: 3, 5, 6 or 7"):
        evidence(beside(), 4)


def test_the_run_itself_on_one_device_is_asked_for_what_no_pilot_can_tell():
    """The ledger is of the plan's layout, so a log of fewer GPUs needs the ratio by hand."""
    one = replace(beside(), n_gpus=1, batch_tokens=RUN.batch_tokens // 64)
    piece, missing = evidence(one, 3, accelerator="h100", by_hand={"memory_over_ledger": 1.05})
    assert set(piece.measured) == {"log_problems", "nan_losses", "memory_over_ledger", "mfu"}
    assert missing == {}
    reserved = 1.02 * beside().expected.memory.value
    held = beside(reserved_bytes=lambda _: reserved)
    assert evidence(held, 3)[0].measured["memory_over_ledger"] == pytest.approx(1.02)
    assert "of the plan's layout" in quantities(replace(one, report=held.report))[1]["memory_over_ledger"]


@pytest.mark.parametrize("rung", [3, 5, 6, 7])
def test_a_loss_that_is_no_number_fails_every_rung_of_a_log(rung):
    assert evidence(beside(loss=lambda _: float("nan")), rung)[0].measured["nan_losses"] > 0
    assert "nan_losses" in asked(rung, beside().expected)


def test_a_log_of_fewer_gpus_is_judged_by_those():
    """Half the GPUs, half the batch, the same time of a step: the same utilization."""
    half = replace(beside(), n_gpus=32, batch_tokens=RUN.batch_tokens // 2)
    assert half.mfu == pytest.approx(beside().mfu)
    piece, _ = evidence(half, 5)
    assert piece.machine["devices"] == 32
    with pytest.raises(ValueError, match="n_gpus = 32: 64, for rung 6 is of them all"):
        evidence(half, 6)


def test_a_log_of_fewer_gpus_must_tell_the_tokens_of_a_step():
    with pytest.raises(ValueError, match="batch_tokens = None: tokens of a step"):
        replace(beside(), n_gpus=32)


def test_what_a_person_measured_is_told_as_such_and_never_in_place_of_the_log():
    piece, missing = evidence(beside(), 5, by_hand={"spare_nodes": 2})
    assert piece.measured["spare_nodes"] == 2
    assert piece.what.endswith("by hand: spare_nodes")
    assert "spare_nodes" not in missing
    with pytest.raises(ValueError, match="by_hand = mfu: the log itself shows it"):
        evidence(beside(), 5, by_hand={"mfu": 0.5})
    with pytest.raises(ValueError, match="by_hand = 'spare': one of"):
        evidence(beside(), 5, by_hand={"spare": 2})


@pytest.mark.parametrize("every", [1, 7])
def test_a_log_to_the_last_whole_step_has_the_tokens_of_the_full_run(every):
    """1,000.5 steps of tokens are 1,000 steps; of lines every seventh step the last is 994."""
    run = replace(RUN, n_tokens=RUN.n_tokens + RUN.batch_tokens / 2)
    made = beside(until=1000, run=run)
    lines = tuple(entry for entry in made.report.log.entries if entry.step % every == 0)
    found = replace(made, report=replace(made.report, log=replace(made.report.log, entries=lines)))
    (asked_for,) = (one for one in thresholds(7, found.expected) if one.name == "tokens")
    assert found.done
    assert asked_for.margin(quantities(found)[0]["tokens"]) == 0
    cut = replace(found, report=replace(found.report, log=replace(found.report.log, entries=lines[:-1])))
    assert not cut.done
    assert asked_for.margin(quantities(cut)[0]["tokens"]) < 0

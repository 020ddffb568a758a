"""A log that is made up: what was planted is what the reader finds, and nothing else."""

from statistics import median

import pytest

from lib import logs
from lib.description import parse
from lib.logs import tables
from lib.logs.made_up import DOWN_SECONDS, LOST_STEPS, made_up
from lib.plots.logs import _time

approx = pytest.approx
RUN = parse('tokens = "1T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64')
LAST = 60_000


def beside(**planted):
    report = logs.Report(
        log=logs.parse(made_up(RUN, LAST, **planted)), step_tokens_per_gpu=RUN.batch_tokens / RUN.cluster.n_gpus
    )
    return logs.AgainstPlan(report=report, run=RUN)


@pytest.fixture(scope="module")
def sound():
    return beside()


@pytest.fixture(scope="module")
def faulty():
    return beside(killed_at=10_000, slower=0.15, spike_at=40_000)


def test_a_sound_log_holds_its_plan(sound):
    assert tables.events(sound.report).rows == ()
    assert sound.mfu == approx(RUN.mfu, rel=2e-3)
    assert sound.report.pace.goodput == approx(1, abs=0.01)
    assert sound.broken == ()


def test_the_loss_is_that_of_the_described_law(sound):
    ends = sound.expected.loss.range
    assert sound.loss.low < sum(ends) / 2 < sound.loss.high


def test_the_planted_faults_are_found_and_no_others(faulty):
    (restart,), (spike,) = faulty.report.course.restarts, faulty.report.spikes
    assert (restart.before, restart.lost_steps) == (10_000, LOST_STEPS)
    line_seconds = 50 * faulty.report.pace.step_seconds  # from a line to the next
    assert restart.seconds == approx(DOWN_SECONDS + line_seconds, rel=0.01)
    assert spike.step == 40_000
    assert spike.until is not None
    assert [row[1] for row in tables.events(faulty.report).rows] == ["restart", "spike"]


def test_slower_steps_break_the_utilization_alone(faulty):
    assert faulty.mfu == approx(RUN.mfu / 1.15, rel=5e-3)
    assert faulty.broken == ("utilization",)
    verdicts = {row[0]: row[3] for row in tables.assumptions(faulty).rows}
    assert verdicts == {one.name: one.verdict for one in faulty.assumptions}


def test_the_outlook_counts_from_the_start(faulty):
    days = float(tables.outlook(faulty).rows[0][2])
    gone = faulty.report.course.wall_seconds / 86_400
    assert days == approx(gone + faulty.finish.best / 86_400, abs=0.01)
    assert days > faulty.expected.calendar_days.value * 0.9 * 1.1  # slower steps, on a calendar without other pauses


def test_what_is_too_short_decides_nothing():
    report = logs.Report(log=logs.parse(made_up(RUN, 500)))
    short = logs.AgainstPlan(report=report, run=RUN)
    assert tables.outlook(short).rows[0][2] == "not decidable"


def test_the_same_seed_tells_the_same_log():
    assert made_up(RUN, 1000, seed=1) == made_up(RUN, 1000, seed=1) != made_up(RUN, 1000, seed=2)


def test_a_long_log_is_drawn_around_its_usual_step_and_keeps_its_extremes(sound):
    """Of the highest of each group alone, noise would be drawn above the usual step, and above the plan's longest."""
    report = sound.report
    (drawn,) = _time(report, None).series
    assert len(drawn.y) <= 400 < len(report.kept)
    assert median(drawn.y) == approx(report.pace.step_seconds, rel=0.002)
    told = [entry.seconds for entry in report.kept]
    assert (min(drawn.y), max(drawn.y)) == (min(told), max(told))

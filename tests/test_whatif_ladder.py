"""The what-ifs on the pilot ladder: thresholds are those of the ladder, and costs are recomputed by hand."""

import re

import pytest

from lib.description import Expectations
from lib.ladder import rungs
from lib.ladder.late import LateFault
from lib.whatif.catalogue import RefusedError, answer, find
from lib.whatif.ladder import ALL, described
from lib.whatif.ladder_cost import FAULTS

SMOL = {"model": "SmolLM3 3B", "n_tokens": 11e12, "data": 192, "accelerator": "H100 SXM"}
SMOL |= {"mfu": 0.3, "goodput": 0.9, "tensor": "2", "pipeline": "1"}


def values(name, **settings):
    return {row.label: row.value for row in answer(name, settings).rows}


def test_every_threshold_of_every_rung_is_shown_with_its_source():
    start = find("ladder-thresholds").starting_values()
    run = described(**{name: value for name, value in start.items() if name not in ("rung", "law")})
    view = answer("ladder-thresholds")
    for rung in rungs(run):
        shown = {row.label: row for row in view.rows if row.group == f"{rung.number}. {rung.name}"}
        for threshold in rung.thresholds:
            assert shown[threshold.label].value.startswith(threshold.text)
            assert shown[threshold.label].sources == (threshold.source,)


def test_one_rung_can_be_asked_for_alone():
    groups = {row.group for row in answer("ladder-thresholds", {"rung": "few nodes"}).rows}
    assert groups == {"5. few nodes", "Expected"}
    assert len({row.group for row in answer("ladder-thresholds", {"rung": ALL}).rows}) == 8


def test_twice_the_cluster_halves_what_a_failure_may_cost():
    label = "lost to a killed node, in all"
    small, large = (values("ladder-thresholds", data=n)[label] for n in (64, 128))
    assert (small.split()[2], large.split()[2]) == ("2.474", "1.237")  # 50,677 GPU-hours / 2,048 x (1 - 0.9)


def test_a_law_without_published_errors_leaves_the_loss_undecided():
    view = answer("ladder-thresholds", {"law": "Hoffmann 2022"})
    assert "no law decides" in view.title
    ends = [row.value for row in view.rows if "end of the forecast loss" in row.label]
    assert ends == ["not decidable"] * 2


def test_the_cost_of_a_late_fault_by_hand():
    found = values("ladder-cost")
    n_params = 3_075_098_624
    hours = 6 * n_params * 11e12 / (384 * 0.3 * 989.4e12) / 3600 / 0.9  # of the whole run, on the calendar
    assert found["trained again"] == pytest.approx(384 * hours / 11)
    assert found["waiting for the repair"] == 384 * 24
    assert found["in all"] == pytest.approx(384 * (hours / 11 + 24))
    assert found["the run ends later by"] == pytest.approx((hours / 11 + 24) / 24)
    assert found["climbing to rung 4"] == 0 + 0 + 1 + 8
    assert found["the climb pays above"] == pytest.approx(9 / found["in all"])
    assert found["in money"] == pytest.approx(2 * found["in all"])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_charged_the_rungs_up_to_the_one_that_shows_it(fault):
    late = LateFault(run=described(**SMOL), rung=FAULTS[fault], unnoticed_tokens=1e12, stopped_hours=24.0)
    below = rungs(late.run)[: FAULTS[fault]]
    assert late.ladder_gpu_hours == pytest.approx(sum(rung.gpu_hours for rung in below))
    assert values("ladder-cost", fault=fault)["in all"] == pytest.approx(late.gpu_hours)


def test_only_the_short_scaled_run_can_cost_more_than_a_fault():
    cheap = {"unnoticed_tokens": 1e9, "stopped_hours": 1}
    assert answer("ladder-cost", cheap).checks[0].passed
    assert not answer("ladder-cost", cheap | {"fault": "a loss off its planned slope"}).checks[0].passed


def test_a_fault_that_lasts_the_whole_run_costs_the_whole_run():
    run = described(**SMOL)
    late = LateFault(run=run, rung=1, unnoticed_tokens=run.n_tokens, stopped_hours=0.0)
    assert late.gpu_hours == pytest.approx(Expectations(run=run).gpu_hours)
    assert late.break_even == 0


def test_a_fault_that_costs_next_to_nothing_still_has_a_likelihood_above_which_climbing_pays():
    view = answer("ladder-cost", {"unnoticed_tokens": 0, "stopped_hours": 2.23e-311, "pipeline": "8"})
    above = next(row for row in view.rows if row.label == "the climb pays above")
    assert re.fullmatch(r"[0-9.]+e3[0-9]{2}%", above.text)


@pytest.mark.parametrize("tokens", [0, 1e-305])  # so few that no likelihood of the fault is high enough to be a number
def test_noticed_at_once_is_no_reason_to_climb(tokens):
    free = {"unnoticed_tokens": tokens, "stopped_hours": 0, "fault": "checkpoints that cannot be read"}
    view = answer("ladder-cost", free | {"price": 0})
    assert "would cost nothing" in view.title
    assert view.checks[0].passed is False


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ladder-cost", {"unnoticed_tokens": "12T"}, "unnoticed_tokens"),
        ("ladder-cost", {"fault": "a typing error"}, "fault"),
        ("ladder-thresholds", {"rung": "eighth"}, "rung"),
        ("ladder-thresholds", {"data": 0}, "data"),
    ],
)
def test_what_is_no_run_is_refused(name, settings, message):
    with pytest.raises(RefusedError) as refused:
        answer(name, settings)
    assert message in str(refused.value)
    assert refused.value.control == message

"""Forecasts from small runs: intervals that hold the truth, cases that decide nothing, an E known or borrowed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from lib.fit.floor import Floor, law_floor
from lib.fit.forecast import LEVEL, _resample, forecast, recorded
from lib.pilot.small_logs import read_logs, table
from lib.runs import Runs
from lib.scaling import law
from lib.scaling.allocations import Allocation

E, A, B, RATIO = 1.8, 40.0, 0.09, 20.0
KNOWN = Floor(value=E, error=0.0, source="known")


def at(compute):
    """Size and tokens of a run of the ratio."""
    n_params = (compute / 6 / RATIO) ** 0.5
    return Allocation(n_params=n_params, n_tokens=RATIO * n_params)


def small_runs(n_runs=7, decades=2.2, noise=0.0, seed=0):
    luck = np.random.default_rng(seed).normal(size=n_runs) * noise
    runs = [at(float(compute)) for compute in np.geomspace(1e18, 10 ** (18 + decades), n_runs)]
    losses = [(E + A * run.compute_flops**-B) * math.exp(one) for run, one in zip(runs, luck, strict=True)]
    return Runs(n_params=[run.n_params for run in runs], n_tokens=[run.n_tokens for run in runs], loss=losses)


TARGET = at(1e22)
TRUTH = E + A * TARGET.compute_flops**-B


def test_without_noise_the_constants_come_back():
    found = forecast(small_runs(), KNOWN, TARGET, n_resamples=100)
    assert found.constants[0] == pytest.approx((E, A, B), rel=1e-3)
    assert found.loss == pytest.approx(TRUTH, abs=1e-5)
    assert found.interval == pytest.approx((TRUTH, TRUTH), abs=1e-4)


def test_another_minimiser_finds_the_same_curve():
    runs = small_runs(noise=0.01)
    compute, losses = np.array(runs.compute), np.array(runs.loss)
    alone = least_squares(lambda t: np.log((E + t[0] * compute ** -t[1]) / losses), (A, B), x_scale=(A, B), xtol=1e-14)
    assert forecast(runs, KNOWN, TARGET, n_resamples=100).constants[0] == pytest.approx((E, *alone.x), rel=1e-5)


def test_a_resample_has_three_runs_at_least_for_a_curve_goes_through_any_two():
    compute, rng = np.geomspace(1e18, 1e20, 3), np.random.default_rng(0)
    drawn = [_resample(compute, KNOWN, rng)[0].tolist() for _ in range(50)]
    assert {len(set(places)) for places in drawn} == {3}


@pytest.mark.parametrize(("n_runs", "error"), [(6, 0.0), (8, 0.02)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(n_runs, error):
    """8 sets of runs; with a chance of 0.9 each, fewer than 5 would be met once in 200."""
    held = 0
    for seed in range(8):
        borrowed = E + error * float(np.random.default_rng(1000 + seed).normal())
        floor = Floor(value=borrowed, error=error, source="borrowed")
        held += forecast(small_runs(n_runs, noise=0.005, seed=seed), floor, TARGET, 100, seed).holds(TRUTH)
    assert held >= 5


def test_percentiles_are_stretched_by_what_seven_runs_leave_out():
    found = forecast(small_runs(noise=0.005), KNOWN, TARGET, 100)
    fitted, *others = [e + a * TARGET.compute_flops**-b for e, a, b in found.constants]
    stretch = (7 / 5) ** 0.5 * 2.015 / 1.645  # Student's quantile of 5 degrees of freedom at 0.95, and the normal one
    ends = [fitted + stretch * (end - fitted) for end in np.quantile(others, [0.05, 0.95])]
    assert found.interval == pytest.approx(ends, rel=1e-4)


def test_an_unsure_floor_widens_the_interval():
    runs = small_runs(noise=0.003)
    widths = []
    for error in (0.0, 0.03, 0.1):
        low, high = forecast(runs, replace(KNOWN, error=error), TARGET, 100).interval
        widths.append(high - low)
    assert widths[0] < widths[1] < widths[2]


def test_the_same_seed_gives_the_same_interval():
    runs = small_runs(noise=0.003)
    first, second, other = (forecast(runs, KNOWN, TARGET, 100, seed).interval for seed in (5, 5, 6))
    assert first == second != other


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (small_runs(n_runs=5), ["5 runs of different compute: 1 more"]),
        (small_runs(decades=1.5), ["1.50 decades of compute: another 0.50, a run of at least 1e+20 FLOP"]),
        (small_runs(n_runs=2, decades=0.5), ["2 runs of different compute: 4 more", "0.50 decades"]),
    ],
)
def test_too_few_runs_decide_nothing_and_say_how_many_more(runs, words):
    found = forecast(runs, KNOWN, TARGET)
    assert (found.interval, found.loss, found.holds(2.0)) == (None, None, None)
    assert len(found.undecidable) == len(words)
    assert all(told in reason for told, reason in zip(words, found.undecidable, strict=True))
    assert set(found.measured) == {"small_runs", "small_run_decades"}
    with pytest.raises(ValueError, match="nothing to be decided"):
        found.curve(1e22)


def test_a_run_made_twice_counts_once():
    runs = small_runs(n_runs=5)
    assert "5 runs of different compute" in forecast(runs.take([0, 1, 2, 3, 4, 4, 4]), KNOWN, TARGET).undecidable[0]


def test_another_ratio_of_tokens_to_parameters_is_another_curve():
    long = Allocation(n_params=TARGET.n_params / 4, n_tokens=4 * TARGET.n_tokens)
    (reason,) = forecast(small_runs(), KNOWN, long).undecidable
    assert "20 tokens per parameter in the small runs, 320 in the large one" in reason
    sizes = small_runs().n_params
    mixed = replace(small_runs(), n_tokens=[n * ratio for n, ratio in zip(sizes, range(20, 90, 10), strict=True)])
    assert "20 to 80 tokens per parameter" in forecast(mixed, KNOWN, TARGET).undecidable[0]


def test_a_floor_that_a_run_got_below_is_of_other_text():
    with pytest.raises(ValueError, match="of other text or another tokenizer: Besiroglu 2024"):
        forecast(replace(small_runs(), loss=[2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4]), law_floor("besiroglu"), TARGET)


def test_a_law_without_an_error_of_its_own_takes_the_spread_of_its_text():
    floor = law_floor("hoffmann")
    rivals = {one.E for one in map(law, ("hoffmann", "hoffmann rounded", "besiroglu", "besiroglu rounded"))}
    assert floor.value == law("hoffmann").E
    assert floor.error == pytest.approx(float(np.std(list(rivals), ddof=1)), rel=0.05)
    assert "spread of E" in floor.source


def test_the_recorded_runs_forecast_the_one_that_was_held_out():
    logs = read_logs()
    found, measured = recorded(logs, n_resamples=200)
    low, high = found.interval
    assert found.decades > 2
    assert len(found.runs) >= 6
    assert low < measured < high
    assert found.floor.error == 0
    assert high - low < 0.2 * (min(table(logs).loss) - found.floor.value) + 0.05
    assert 0 < LEVEL < 1

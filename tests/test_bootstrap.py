"""Intervals by resampling: the same whatever computes them, of the right size, and refused where they say nothing."""

import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lib.fit import bootstrap, fit_law
from lib.fit.resampling import refits
from lib.runs import of_law
from lib.scaling import ScalingLaw

TRUTH = ScalingLaw(name="the truth", E=1.7, A=400.0, B=1500.0, alpha=0.33, beta=0.35)
SIZES, TOKENS = zip(*product((3e7, 1e8, 4e8, 2e9, 1e10), (1e9, 8e9, 6e10, 5e11)), strict=True)
CONSTANTS = ("E", "A", "B", "alpha", "beta")


@pytest.fixture(scope="module")
def fit():
    return fit_law(of_law(TRUTH, SIZES, TOKENS, noise=0.005, seed=1), n_starts=10)


@pytest.fixture(scope="module")
def serial(fit):
    return bootstrap(fit, n_resamples=12, seed=3, n_starts=2)


def test_a_seed_gives_the_same_intervals_and_another_others(fit, serial):
    assert bootstrap(fit, n_resamples=12, seed=3, n_starts=2) == serial
    assert bootstrap(fit, n_resamples=12, seed=4, n_starts=2).constants != serial.constants
    assert bootstrap(fit, n_resamples=10, seed=3, n_starts=2).constants == serial.constants[:10]


def test_a_resample_is_the_same_in_any_block(fit, serial):
    assert refits((7, 2), fit, 3, 2) == [serial.constants[7], serial.constants[2]]


def test_a_refit_is_the_lowest_of_its_ends(fit, monkeypatch):
    values, ends = np.array([2.0, 1.0, 3.0, 5.0, 6.0, 4.0]), np.arange(30.0).reshape(6, 5) / 30
    monkeypatch.setattr("lib.fit.resampling.Rows.ends", lambda surfaces, starts: (values, ends))
    alphas = [constants[CONSTANTS.index("alpha")] for constants in refits((0, 1), fit, 3, 2)]
    assert alphas == [ends[1, 3], ends[5, 3]]


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks for few resamples."""
    monkeypatch.setattr("lib.fit.resampling._BLOCK", 5)


def test_threads_give_the_same_as_none(fit, serial, small_blocks):
    """As processes do: that is asked of `handbook fit --workers`."""
    with ThreadPoolExecutor(2) as threads:
        assert bootstrap(fit, n_resamples=12, seed=3, executor=threads, n_starts=2) == serial


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("default")  # of a cluster's own making
def test_a_local_dask_cluster_gives_the_same_as_none(fit, serial, small_blocks):
    """Over its network, in this process; that another one gives the same is asked of `handbook fit --workers`."""
    distributed = pytest.importorskip("distributed")
    local = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", protocol="tcp", silence_logs=50, **local) as cluster,
        distributed.Client(cluster, timeout="30s") as client,
        client.get_executor() as workers,
    ):
        assert bootstrap(fit, n_resamples=12, seed=3, executor=workers, n_starts=2) == serial


def test_the_truth_lies_inside_wide_intervals(fit):
    found = bootstrap(fit, n_resamples=60, n_starts=1)
    for name in CONSTANTS:
        low, high = found.interval(name, 0.999)
        assert low < getattr(TRUTH, name) < high
    low, high = found.loss(7e10, 1.4e12, 0.999)
    assert low < TRUTH.loss(7e10, 1.4e12) < high


def test_intervals_nest_and_hold_their_share(serial):
    for name in CONSTANTS:
        narrow, wide = serial.interval(name, 0.5), serial.interval(name, 1.0)
        assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
        assert (wide[0], wide[1]) == (min(serial._values(name)), max(serial._values(name)))


def test_the_optimum_of_each_refit_is_used(serial):
    found = serial.optimum(1e22, 1.0)
    sizes = [law.optimum(1e22)[0] for law in serial.laws]
    assert found["n_params"] == pytest.approx((min(sizes), max(sizes)))
    assert found["n_tokens"][0] == pytest.approx(1e22 / 6 / max(sizes))
    assert found["tokens_per_param"][1] == pytest.approx(1e22 / 6 / min(sizes) ** 2)
    losses = [law.optimal_loss(1e22) for law in serial.laws]
    assert found["loss"] == pytest.approx((min(losses), max(losses)))


def test_more_noise_means_wider_intervals_and_a_warning(fit):
    noisy = fit_law(of_law(TRUTH, SIZES, TOKENS, noise=0.08, seed=1), n_starts=10)
    calm, loud = (bootstrap(some, n_resamples=20, n_starts=1) for some in (fit, noisy))
    assert loud.standard_error("alpha") > 3 * calm.standard_error("alpha")
    assert calm.warnings == ()
    assert any(re.match(r"(alpha|beta) is known to [0-9]+% only", text) for text in loud.warnings)


def test_the_standard_error_of_a_and_b_is_that_of_their_logarithm(serial):
    scaled = [(e, 1000 * a, 1000 * b, alpha, beta) for e, a, b, alpha, beta in serial.constants]
    other = type(serial)(fit=serial.fit, constants=tuple(scaled))
    for name in CONSTANTS:
        assert other.standard_error(name) == pytest.approx(serial.standard_error(name))


def test_a_law_with_its_errors_is_what_later_steps_take(serial):
    errors = serial.law.origin.errors
    assert [errors.E, errors.ln_A, errors.beta] == [serial.standard_error(name) for name in ("E", "A", "beta")]
    assert errors.A is None
    assert serial.law.judge(2.0, 2.0 + errors.E / 2).words == "undecided"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"executor": 5}, TypeError, "executor = 5 (int): a concurrent.futures.Executor"),
        ({"n_resamples": 0}, ValueError, "n_resamples = 0: a whole number, 1 or more"),
        ({"n_resamples": 9}, ValueError, "n_resamples = 9: at least 10"),
        ({"n_resamples": 10**9}, ValueError, "n_resamples = 1000000000: at most 10,000"),
        ({"n_starts": 10**9}, ValueError, "n_starts = 1000000000: at most 10,000"),
        ({"n_starts": 1.5}, TypeError, "n_starts = 1.5 (float): a whole number, 1 or more"),
        ({"seed": -1}, ValueError, "seed = -1: a whole number, 0 or more"),
    ],
)
def test_what_is_no_setting_is_refused(fit, given, error, message):
    with pytest.raises(error, match=re.escape(message)):
        bootstrap(fit, **given)


def test_a_constant_that_no_law_has_is_refused(serial):
    with pytest.raises(ValueError, match="constant = 'gamma': one of E, A, B, alpha, beta"):
        serial.interval("gamma")


def test_fewer_than_ten_runs_are_refused():
    nine = of_law(TRUTH, SIZES, TOKENS).take([0, 3, 5, 6, 9, 10, 12, 15, 18])
    with pytest.raises(ValueError, match="9 runs: at least 10 for intervals by resampling"):
        bootstrap(fit_law(nine, n_starts=10))


def test_runs_of_which_no_resample_can_be_fitted_are_refused(fit, monkeypatch):
    monkeypatch.setattr("lib.fit.resampling.FEWEST_DISTINCT", 21)
    with pytest.raises(ValueError, match="hardly a resample has 21 different sizes"):
        bootstrap(fit, n_resamples=10)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda found: found.loss(np.array([1e9, 2e9]), 2e10), "n_params (array of float64): one number"),
        (lambda found: found.loss(1e9, np.array([1e9, 2e9])), "n_tokens (array of float64): one number"),
        (lambda found: found.optimum(np.array([1e21, 1e22])), "compute (array of float64): one number"),
        (lambda found: found.interval("E", np.array([0.8])), "level (array of float64): one number"),
        (lambda found: replace(found, constants=5), "constants = 5 (int)"),
    ],
)
def test_intervals_are_of_one_number_and_never_mix_those_of_several(serial, call, said):
    with pytest.raises(TypeError, match=f"^{re.escape(said)}"):
        call(serial)


@pytest.mark.parametrize("rows", [((2.0,) * 5,), ((2.0,) * 4,) * 10, ((2.0, 1.0, 1.0, 0.3, math.nan),) * 10])
def test_refits_that_are_none_are_refused(serial, rows):
    with pytest.raises(ValueError, match=r"^constants"):
        replace(serial, constants=rows)

"""Parabolas at fixed budgets: exact where the curve is one, biased in a known direction where it is not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.fit import approach_2, isoflop_runs, parabola
from lib.runs import Runs, of_law, published
from lib.scaling import ScalingLaw, law

BUDGETS = (1e18, 1e19, 1e20, 1e21)
EQUAL = ScalingLaw(name="equal", E=1.7, A=400.0, B=400.0, alpha=0.3, beta=0.3)
LOPSIDED = ScalingLaw(name="lopsided", E=1.7, A=400.0, B=1500.0, alpha=0.45, beta=0.25)


@given(at=st.floats(1e7, 1e11), loss=st.floats(1.5, 4.0), curve=st.floats(0.01, 0.5), factor=st.floats(2.0, 10.0))
def test_a_parabola_is_found_again(at, loss, curve, factor):
    sizes = [at * factor**k for k in (-1.0, -0.4, 0.3, 1.1)]
    losses = [loss + curve * math.log(n / at) ** 2 for n in sizes]
    found = parabola(sizes, losses)
    assert (found.n_params, found.loss, found.curvature) == pytest.approx((at, loss, curve), rel=1e-6)
    assert found.at(np.array(sizes)) == pytest.approx(losses)


def test_equal_exponents_swept_about_the_optimum_give_no_bias():
    fit = approach_2(isoflop_runs(EQUAL, BUDGETS, factor=8.0))
    assert fit.params_exponent == pytest.approx(0.5, abs=1e-9)
    assert fit.size_ratio(EQUAL, 1e24) == pytest.approx(1, rel=1e-9)
    assert all(fit.inside)


def test_unequal_exponents_shift_every_minimum_by_the_same_factor():
    fit = approach_2(isoflop_runs(LOPSIDED, BUDGETS, factor=8.0))
    assert fit.params_exponent == pytest.approx(LOPSIDED.params_exponent, abs=1e-6)  # the slope is right ...
    ratios = [fit.size_ratio(LOPSIDED, compute) for compute in (*BUDGETS, 1e25)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-6)
    assert ratios[0] > 1.1  # ... and the sizes are not


def test_the_bias_grows_with_the_width_of_the_sweep():
    sweeps = [approach_2(isoflop_runs(LOPSIDED, BUDGETS, factor=factor)) for factor in (2.0, 4.0, 8.0)]
    narrow, middle, wide = (sweep.size_ratio(LOPSIDED, 1e22) for sweep in sweeps)
    assert 1 < narrow < middle < wide


def test_a_sweep_that_drifts_bends_the_exponent():
    drifting = approach_2(isoflop_runs(law("besiroglu"), BUDGETS, factor=4.0, drift=1.3))
    straight = approach_2(isoflop_runs(law("besiroglu"), BUDGETS, factor=4.0))
    assert abs(straight.params_exponent - law("besiroglu").params_exponent) < 1e-6
    assert abs(drifting.params_exponent - law("besiroglu").params_exponent) > 1e-3


def test_the_minimum_of_each_budget_is_kept_with_its_loss():
    fit = approach_2(isoflop_runs(EQUAL, BUDGETS, factor=2.0))
    assert fit.budgets == pytest.approx(BUDGETS)
    assert fit.n_params == pytest.approx([EQUAL.optimum(c)[0] for c in BUDGETS])
    assert fit.losses == pytest.approx([EQUAL.optimal_loss(c) for c in BUDGETS], rel=1e-3)
    n_params, n_tokens = fit.optimum(1e22)
    assert 6 * n_params * n_tokens == pytest.approx(1e22)


def test_a_minimum_beyond_the_sweep_is_marked():
    fit = approach_2(isoflop_runs(EQUAL, BUDGETS, factor=3.0, centre=5.0))
    assert fit.inside == (False,) * 4


def test_budgets_that_differ_by_a_few_percent_are_one():
    runs = isoflop_runs(EQUAL, BUDGETS)
    wobble = [d * (1 + 0.03 * (k % 2)) for k, d in enumerate(runs.n_tokens)]
    assert len(approach_2(of_law(EQUAL, runs.n_params, wobble)).budgets) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parabola([1e8, 1e9], [3.0, 2.0]), "n_params = 2 different sizes at one budget: at least 3"),
        (lambda: parabola([1e8, 1e9, 1e10], [2.0, 3.0, 2.0]), "loss = 2 to 3: no minimum near these sizes"),
        (lambda: approach_2(isoflop_runs(EQUAL, (1e20,))), "1 budget: at least 2"),
        (lambda: approach_2(of_law(EQUAL, [1e8, 1e9, 1e10], [2e9, 2e10, 2e11])), "n_params = 1 different size"),
        (lambda: isoflop_runs(EQUAL, BUDGETS, factor=0.0), "factor = 0"),
        (lambda: isoflop_runs(EQUAL, BUDGETS, factor=1e308), r"factor = 1e308: from 1e-06 to 1e\+06"),
        (lambda: isoflop_runs(EQUAL, BUDGETS, n_sizes=10**9), "n_sizes = 1000000000: at most 1,000"),
        (lambda: parabola([1e8, 1e9, 1e10], [3.0, 2.0, 1.0000001]), "loss = 1 to 3: no minimum near these sizes"),
        (lambda: approach_2(published("Pythia", "Pythia deduped")), "runs of 2 corpora"),
    ],
)
def test_runs_that_lie_on_no_budgets_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda fit: isoflop_runs(EQUAL, 1e20), r"budgets = 1e\+20"),
        (lambda fit: isoflop_runs(EQUAL, BUDGETS, centre=np.array([1.0, 2.0])), "centre"),
        (lambda fit: fit.optimum(np.array([1e20, 1e21])), "compute"),
        (lambda fit: fit.size_ratio(EQUAL, np.array([1e20, 1e21])), "compute"),
        (lambda fit: replace(fit, budgets=5), "budgets = 5"),
        (lambda fit: replace(fit, losses=("a", *fit.losses[1:])), r"losses\[0\] = 'a'"),
        (lambda fit: replace(fit, inside=(1, *fit.inside[1:])), r"inside\[0\] = 1"),
    ],
)
def test_what_is_no_budget_or_no_single_number_is_refused(call, said):
    with pytest.raises(TypeError, match=f"^{said}"):
        call(approach_2(isoflop_runs(EQUAL, BUDGETS)))


def test_the_two_methods_agree_where_both_are_right():
    from lib.fit import fit_law

    runs = isoflop_runs(EQUAL, BUDGETS, n_sizes=7, factor=4.0)
    noisy = Runs(
        n_params=runs.n_params,
        n_tokens=runs.n_tokens,
        loss=[float(x) for x in np.array(runs.loss) * np.exp(0.001 * np.random.default_rng(2).standard_normal(28))],
    )
    assert fit_law(noisy, n_starts=10).law.params_exponent == pytest.approx(approach_2(noisy).params_exponent, abs=0.05)

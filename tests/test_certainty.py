"""Errors that move together: of a loss, of a difference of two losses, of the direction of the best ratio.

Expected values come from 1,000 other resamples of the same 240 points, refitted with other code and other random
numbers; theirs are standard deviations and percentiles over the refits, not first-order errors.
"""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.plan import H100_MONTH
from lib.scaling import law
from lib.scaling.allocations import Allocation
from lib.scaling.certainty import CONSTANTS, FACTS, SPREADS, Estimate, gap, loss, ratio_exponent

BESIROGLU = law("Besiroglu 2024")
MONTH = H100_MONTH.compute_flops
SIZES = {"8b": 8_030_261_248.0, "70b": 70_553_706_496.0, "405b": 405_853_388_800.0}
RUNS = {name: Allocation(n_params=size, n_tokens=MONTH / (6 * size)) for name, size in SIZES.items()}
amounts = st.floats(1e6, 1e14)
runs = st.builds(Allocation, n_params=amounts, n_tokens=amounts)


@pytest.mark.parametrize(("name", "error"), [("8b", 0.0175), ("70b", 0.0153), ("405b", 0.0147)])
def test_the_error_of_a_loss_is_that_of_refits(name, error):
    assert loss(BESIROGLU, RUNS[name]).error == pytest.approx(error, rel=0.1)
    assert loss(BESIROGLU, RUNS[name]).value == BESIROGLU.loss(RUNS[name].n_params, RUNS[name].n_tokens)


@pytest.mark.parametrize(
    ("run", "other", "error", "settled"),
    [("405b", "70b", 0.0064, False), ("8b", "70b", 0.0077, True)],  # 95 % of refits: -0.008 to 0.016; 0.054 to 0.082
)
def test_the_error_of_a_difference_is_that_of_refits(run, other, error, settled):
    found = gap(BESIROGLU, RUNS[run], RUNS[other])
    assert found.error == pytest.approx(error, rel=0.05)
    assert found.settled is settled


def test_the_direction_of_the_best_ratio_is_not_settled():
    found = ratio_exponent(BESIROGLU)
    assert found.value == pytest.approx((0.3478 - 0.3658) / (0.3478 + 0.3658))
    assert found.error == pytest.approx(0.0390, rel=0.05)  # of a = beta / (alpha + beta), 0.0195, twice
    assert not found.settled
    low, high = found.interval
    hoffmann = law("Hoffmann 2022")
    assert low < 0 < high < (hoffmann.alpha - hoffmann.beta) / (hoffmann.alpha + hoffmann.beta)


def test_the_spread_agrees_with_the_standard_errors_that_the_authors_found():
    fine, found = BESIROGLU.origin.fine_errors, FACTS["Besiroglu 2024"]
    for name in ("E", "alpha", "beta"):
        assert found[f"{name}_error"] == pytest.approx(getattr(fine, name), rel=0.05)
    assert found["ln_A_error"] == pytest.approx(fine.A / BESIROGLU.A, rel=0.05)


@pytest.mark.parametrize("one", SPREADS)
def test_a_covariance_has_no_direction_without_error(one):
    matrix = [[SPREADS[one][a, b] for a in CONSTANTS] for b in CONSTANTS]
    assert np.linalg.eigvalsh(matrix).min() > 0


@given(run=runs, other=runs, shift=st.floats(0.1, 5))
def test_e_drops_out_of_a_difference_and_the_order_of_two_runs_of_its_error(run, other, shift):
    found, back = gap(BESIROGLU, run, other), gap(BESIROGLU, other, run)
    assert back.value == pytest.approx(-found.value)
    assert back.error == pytest.approx(found.error, rel=1e-6, abs=1e-9)
    assert gap(BESIROGLU, run, run).error == 0
    low, high = found.interval
    assert low <= found.value <= high
    assert found.settled == (low > 0 or high < 0)


@given(run=runs)
def test_the_derivatives_are_those_of_the_loss(run):
    from lib.scaling.certainty import _gradient

    step = 1e-6
    moved = {
        "E": dataclasses.replace(BESIROGLU, E=BESIROGLU.E + step),
        "ln_A": dataclasses.replace(BESIROGLU, A=BESIROGLU.A * math.exp(step)),
        "ln_B": dataclasses.replace(BESIROGLU, B=BESIROGLU.B * math.exp(step)),
        "alpha": dataclasses.replace(BESIROGLU, alpha=BESIROGLU.alpha + step),
        "beta": dataclasses.replace(BESIROGLU, beta=BESIROGLU.beta + step),
    }
    before = BESIROGLU.loss(run.n_params, run.n_tokens)
    for name, slope in _gradient(BESIROGLU, run).items():
        after = moved[name].loss(run.n_params, run.n_tokens)
        assert (after - before) / step == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_a_law_whose_joint_errors_nobody_computed_is_refused_also_under_a_borrowed_name():
    for other in (law("Hoffmann 2022"), dataclasses.replace(BESIROGLU, A=500.0)):
        with pytest.raises(ValueError, match=rf"^law = '{other.name}': Besiroglu 2024; Besiroglu 2024, rounded; how"):
            ratio_exponent(other)


def test_an_estimate_without_error_is_settled_unless_it_is_nothing():
    assert Estimate(value=0.1, error=0.0).settled
    assert not Estimate(value=0.0, error=0.0).settled

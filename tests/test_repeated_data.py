"""Repeated data: the authors' own values, optima found by another method, and what must hold."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.scaling import law
from lib.scaling.parametric import ScalingLaw
from lib.scaling.repeated_data import (
    R_D_STAR,
    R_N_STAR,
    DataLimitedLaw,
    effective_params,
    effective_tokens,
    token_worth,
)

MUENNIGHOFF = law("Muennighoff 2023")

any_law = st.builds(
    ScalingLaw,
    name=st.just("any"),
    E=st.floats(0.5, 3),
    A=st.floats(10, 5000),
    B=st.floats(10, 50_000),
    alpha=st.floats(0.2, 0.6),
    beta=st.floats(0.2, 0.6),
)
budgets = st.floats(1e19, 1e25)
uniques = st.floats(1e8, 1e14)


@pytest.fixture(scope="module")
def np():
    """NumPy where it is installed: in the browser's Python these tests rest."""
    return pytest.importorskip("numpy")


def limited(unique_tokens, some_law=MUENNIGHOFF):
    return DataLimitedLaw(law=some_law, unique_tokens=unique_tokens)


# The authors' own values.


def test_the_decays_are_those_of_the_authors():
    assert (R_D_STAR, R_N_STAR) == (15.387756, 5.309743)  # Muennighoff et al. 2023, appendix A


def test_four_passes_are_worth_three_and_three_quarters():
    assert effective_tokens(1e11, 4e11) == pytest.approx(3.7257e11, rel=1e-5)


@pytest.mark.parametrize(
    ("epochs", "effective", "worth"),
    [
        (1, 1.0, 1.0),
        (2, 1.968199, 0.9370799),
        (4, 3.725673, 0.8228674),
        (8, 6.624119, 0.6345069),
        (16, 10.58246, 0.3772674),
        (44, 15.4468, 0.06114975),
        (64, 16.13125, 0.01666967),
    ],
)
def test_what_passes_are_worth(epochs, effective, worth):
    assert effective_tokens(1e10, epochs * 1e10) / 1e10 == pytest.approx(effective, abs=5e-6)
    assert token_worth(epochs) == pytest.approx(worth, abs=5e-8)


def test_endless_passes_are_worth_sixteen_and_a_third():
    assert effective_tokens(1e10, 1e14) / 1e10 == pytest.approx(16.39, abs=5e-3)


@pytest.mark.parametrize(("n_params", "n_tokens", "loss"), [(6.34e9, 242e9, 2.225644), (8.67e9, 178e9, 2.226963)])
def test_losses_of_the_authors_repository(n_params, n_tokens, loss):
    # README of github.com/huggingface/datablations, commit 1370131: 25 billion unique tokens
    assert limited(25e9).loss(n_params, n_tokens) == pytest.approx(loss, abs=1e-6)


def test_the_optimum_of_the_authors_repository():
    n_params, n_tokens = limited(25e9).optimum(1e22)
    assert (n_params, n_tokens) == pytest.approx((7022365000.0, 237337000000.0), rel=1e-3)  # their grid search
    assert (n_params, n_tokens) == pytest.approx((7026159000.0, 237208800000.0), rel=1e-6)  # by another method
    assert limited(25e9).epochs(n_tokens) == pytest.approx(9.4883515, rel=1e-6)
    assert limited(25e9).loss(n_params, n_tokens) == pytest.approx(2.222129, abs=1e-6)


@pytest.mark.parametrize(
    ("compute", "n_params", "n_tokens", "loss", "at_chinchilla", "if_all_unique"),
    [
        (1e21, 2306082000.0, 72272660000.0, 2.385088, 2.387344, 2.347687),
        (1e22, 6125503000.0, 272086500000.0, 2.285861, 2.291125, 2.187997),
        (1e23, 17694750000.0, 941899200000.0, 2.265537, 2.266734, 2.081596),
    ],
)
def test_the_best_run_on_ten_billion_tokens(compute, n_params, n_tokens, loss, at_chinchilla, if_all_unique):
    ten = limited(1e10)
    assert ten.optimum(compute) == pytest.approx((n_params, n_tokens), rel=1e-6)
    assert ten.loss(n_params, n_tokens) == pytest.approx(loss, abs=1e-6)
    assert ten.loss(*MUENNIGHOFF.optimum(compute)) == pytest.approx(at_chinchilla, abs=1e-6)
    assert MUENNIGHOFF.optimal_loss(compute) == pytest.approx(if_all_unique, abs=1e-6)
    assert ten.matched_params == pytest.approx(509865200.0, rel=1e-6)


# What holds for any law.


@given(any_law, budgets, uniques)
def test_no_other_size_loses_less(some_law, compute, unique_tokens):
    scarce = limited(unique_tokens, some_law)
    n_params, n_tokens = scarce.optimum(compute)
    least = scarce.loss(n_params, n_tokens)
    for power in range(-6, 7):
        assert scarce.loss_at_budget(compute, n_params * 1.3**power) >= least - 1e-12


@given(any_law, budgets, uniques)
def test_the_optimum_is_within_a_thousandth_of_a_numerical_search(some_law, compute, unique_tokens):
    # The optimum does not depend on E; without it the search loses no digits.
    scarce = limited(unique_tokens, dataclasses.replace(some_law, E=1e-12))
    best = math.log(scarce.optimum(compute)[0])
    least = scarce.loss_at_budget(compute, math.exp(best))

    def loss_of(log_n):
        return scarce.loss_at_budget(compute, math.exp(log_n)) / least

    found = _golden_section(loss_of, best - 0.5, best + 0.6)
    if min(loss_of(best - 1e-3), loss_of(best + 1e-3)) > 1 + 1e-12:  # else too flat for doubles to tell sizes apart
        assert best == pytest.approx(found, abs=1e-3)


def _golden_section(function, low, high):
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-5:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if function(a) < function(b) else (a, high)
    return (low + high) / 2


@given(any_law, budgets, uniques)
def test_with_enough_unique_tokens_nothing_changes_and_with_fewer_the_model_shrinks(some_law, compute, unique_tokens):
    n_params, n_tokens = limited(unique_tokens, some_law).optimum(compute)
    free_params, free_tokens = some_law.optimum(compute)
    if unique_tokens >= free_tokens:
        assert (n_params, n_tokens) == (free_params, free_tokens)
    else:
        assert limited(unique_tokens, some_law).matched_params * (1 - 1e-9) <= n_params
        assert unique_tokens * (1 - 1e-9) <= n_tokens
    assert 6 * n_params * n_tokens == pytest.approx(compute)


@given(budgets, uniques, st.floats(0.1, 10))
def test_with_tied_exponents_the_passes_do_not_depend_on_scale(compute, unique_tokens, k):
    n_params, n_tokens = limited(unique_tokens).optimum(compute)
    moved_params, moved_tokens = limited(k * unique_tokens).optimum(k * k * compute)
    assert moved_params == pytest.approx(k * n_params, rel=1e-6)
    assert moved_tokens == pytest.approx(k * n_tokens, rel=1e-6)


@given(any_law, st.floats(1e7, 1e12), st.floats(1e9, 1e14), uniques)
def test_repeating_never_helps_as_much_as_new_text(some_law, n_params, n_tokens, unique_tokens):
    assert limited(unique_tokens, some_law).loss(n_params, n_tokens) >= some_law.loss(n_params, n_tokens) * (1 - 1e-12)
    assert effective_tokens(unique_tokens, n_tokens) <= n_tokens * (1 + 1e-12)


@given(st.floats(1e8, 1e12), st.floats(1, 1e4), st.floats(0.5, 50))
def test_effective_amounts_grow_and_stay_below_their_limit(first, epochs, decay):
    for effective in (effective_tokens, effective_params):
        assert effective(first, first, decay) == pytest.approx(first)
        assert effective(first, epochs * first, decay) <= first * (1 + decay) * (1 + 1e-12)
        assert effective(first, 2 * epochs * first, decay) >= effective(first, epochs * first, decay)


def test_arrays_give_what_floats_give(np):
    sizes, tokens = np.array([1e9, 7e9]), np.array([5e9, 1e12])
    many = limited(25e9).loss(sizes, tokens)
    assert many.tolist() == pytest.approx([limited(25e9).loss(n, d) for n, d in zip(sizes, tokens, strict=True)])
    assert token_worth(np.array([1.0, 4.0])).tolist() == pytest.approx([1.0, 0.8228674], abs=1e-7)


# Words and refusals.


def test_a_borrowed_discount_is_named():
    borrowed = limited(1e10, law("Besiroglu 2024"))
    assert "fitted with Muennighoff's law" in borrowed.label(2e9, 8e10)
    assert "Muennighoff" not in borrowed.label(2e9, 8e9)
    assert "Muennighoff" not in limited(1e10).label(2e9, 8e10)


def test_less_than_one_pass_repeats_nothing():
    assert effective_tokens(1e11, 5e10) == 5e10
    with pytest.raises(ValueError, match=r"^epochs = 0\.5: 1 or more"):
        token_worth(0.5)


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), True, "1e10"])
def test_what_is_no_amount_is_refused_by_name(bad):
    for call, name in (
        (lambda: effective_tokens(bad, 1e11), "unique_tokens"),
        (lambda: effective_tokens(1e11, bad), "n_tokens"),
        (lambda: limited(1e10).loss(bad, 1e11), "n_params"),
        (lambda: limited(1e10).optimum(bad), "compute"),
        (lambda: dataclasses.replace(limited(1e10), tokens_decay=bad), "tokens_decay"),
        (lambda: limited(bad), "unique_tokens"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{name} = "):
            call()

"""Laws beside each other: their spread at one budget, the size of least regret, and how wide a valley is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.scaling import LAWS, law
from lib.scaling.budget_laws import RULE_OF_20, budget_law
from lib.scaling.ensemble import DENSE, GROUPS, Ensemble, Regret, Vote, dense_law, valley
from lib.scaling.parametric import ScalingLaw

BESIROGLU = law("Besiroglu 2024")
any_law = st.builds(
    ScalingLaw,
    name=st.uuids().map(str),
    E=st.floats(0.5, 3),
    A=st.floats(10, 5000),
    B=st.floats(10, 50_000),
    alpha=st.floats(0.15, 0.8),
    beta=st.floats(0.15, 0.8),
)
some_laws = st.lists(any_law, min_size=1, max_size=5).map(tuple)
budgets = st.floats(1e18, 1e26)


# The spread at 1e21 FLOP.


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("Kaplan 2020", 2.8),
        ("gadre c4", 6.9),
        ("gadre rpj", 5.8),
        ("Llama 3 2024", 9.2),
        ("20 tokens per parameter", 20.0),
        ("Besiroglu 2024", 21.6),
        ("Hoffmann 2022", 33.9),
        ("Hoffmann 2022, rounded", 50.1),
    ],
)
def test_tokens_per_parameter_at_1e21(name, ratio):
    votes = {vote.law.name: vote for vote in Ensemble(compute=1e21).votes}
    assert votes[dense_law(name).name].tokens_per_param == pytest.approx(ratio, abs=0.05)


def test_the_laws_spread_from_2_8_to_50_tokens_a_parameter():
    everyone = Ensemble(compute=1e21)
    assert everyone.ratios == pytest.approx((2.8, 50.1), rel=0.02)
    assert everyone.votes[0].law.name == "Kaplan 2020"
    assert everyone.sizes[0] < everyone.sizes[1]
    assert everyone.tokens[0] < everyone.tokens[1]
    assert [vote.tokens_per_param for vote in everyone.votes] == sorted(v.tokens_per_param for v in everyone.votes)


def test_every_vote_says_how_far_its_law_is_stretched():
    labels = {vote.law.name: vote.label for vote in Ensemble(compute=1e21).votes}
    assert labels["Kaplan 2020"].startswith("extrapolated")
    assert labels["Besiroglu 2024"] == "within the fitted range"
    assert set(labels) == set(DENSE)


# Least regret.


@given(some_laws, budgets)
def test_no_other_size_loses_less_under_its_worst_law(laws, compute):
    best = Ensemble(compute=compute, laws=laws).least_regret
    for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0):
        other = Ensemble(compute=compute, laws=laws).regret(factor * best.n_params)
        assert other.worst_nats >= best.worst_nats - 1e-9


@given(some_laws, budgets)
def test_the_size_of_least_regret_lies_between_the_laws_best_sizes(laws, compute):
    ensemble = Ensemble(compute=compute, laws=laws)
    low, high = ensemble.sizes
    assert low * (1 - 1e-9) <= ensemble.least_regret.n_params <= high * (1 + 1e-9)


@given(any_law, budgets)
def test_of_one_law_it_is_the_best_size(some_law, compute):
    best = Ensemble(compute=compute, laws=(some_law,)).least_regret
    assert best.n_params == pytest.approx(some_law.optimum(compute)[0])
    assert best.worst_nats == pytest.approx(0.0, abs=1e-9)
    assert best.n_tokens == pytest.approx(some_law.optimum(compute)[1])


@given(some_laws, budgets, st.floats(0.1, 10))
def test_the_part_of_the_compute_that_is_wasted_would_not_have_been_needed(laws, compute, factor):
    n_params = factor * laws[0].optimum(compute)[0]
    asked = Ensemble(compute=compute, laws=laws).regret(n_params)
    for one in laws:
        assert 0 <= asked.wasted[one.name] <= 1
        enough = (1 - asked.wasted[one.name]) * compute
        loss = one.loss_at_budget(compute, n_params)
        if loss - one.E > 1e-6 * loss and asked.wasted[one.name] < 0.999:
            assert one.optimal_loss(enough) == pytest.approx(loss, rel=1e-6)


def test_the_compromise_between_two_laws_costs_both_the_same():
    best = Ensemble(compute=2.1e24, laws=(BESIROGLU, law("Hoffmann 2022"))).least_regret
    assert best.nats["Besiroglu 2024"] == pytest.approx(best.nats["Hoffmann 2022"], rel=1e-6)
    assert best.worst_nats == pytest.approx(0.0009, abs=5e-5)


def test_laws_without_a_loss_have_no_regret():
    with pytest.raises(ValueError, match=r"^laws: at least one that predicts a loss"):
        _ = Ensemble(compute=1e21, laws=(budget_law("kaplan"), RULE_OF_20)).least_regret
    assert Ensemble(compute=1e21, laws=(budget_law("kaplan"), BESIROGLU)).judges == (BESIROGLU,)


# Valleys.


@given(any_law, budgets, st.floats(1e-3, 0.5))
def test_a_valley_ends_where_the_loss_has_risen_by_the_tolerance(some_law, compute, tolerance):
    low, high = valley(some_law, compute, tolerance)
    for end in (low, high):
        lost = some_law.loss_at_budget(compute, end) - some_law.optimal_loss(compute)
        assert lost == pytest.approx(tolerance, rel=1e-6, abs=1e-9)
    assert low < some_law.optimum(compute)[0] < high


def test_half_and_twice_the_best_size_lie_within_four_thousandths_at_2_1e24():
    seed = law("Besiroglu 2024, rounded")
    low, high = valley(seed, 2.1e24, 0.004)
    best = seed.optimum(2.1e24)[0]
    assert low < best / 2 * 1.05
    assert high > best * 2 * 0.95


# Names, groups, refusals.


def test_groups_are_of_laws_that_there_are():
    assert GROUPS["every law"] == tuple(DENSE.values())
    assert set(GROUPS["laws with a loss"]) == set(LAWS.values())
    for laws in GROUPS.values():
        assert set(laws) <= set(DENSE.values())
    split = (*GROUPS["fits of Hoffmann's MassiveText runs"], *GROUPS["fits of other runs"], RULE_OF_20)
    assert sorted(one.name for one in split) == sorted(DENSE)


def test_a_law_is_found_whether_or_not_it_has_a_loss():
    assert dense_law("chinchilla") is law("Hoffmann 2022")
    assert dense_law("llama 3") is budget_law("Llama 3 2024")
    assert dense_law("rule of 20") is RULE_OF_20
    with pytest.raises(ValueError, match="did you mean"):
        dense_law("hofmann")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ensemble(compute=0), "compute = 0"),
        (lambda: Ensemble(compute=1e21, laws=()), r"laws = \(\): at least one law"),
        (lambda: Ensemble(compute=1e21, laws=[BESIROGLU]), "laws = "),
        (lambda: Ensemble(compute=1e21, laws=("Kaplan 2020",)), r"laws\[0\] = 'Kaplan 2020'"),
        (lambda: Ensemble(compute=1e21).regret(-1.0), "n_params = -1"),
        (lambda: Vote(law="Kaplan", n_params=1.0, n_tokens=1.0), "law = 'Kaplan'"),
        (lambda: Regret(compute=1e21, n_params=1e9, nats=5, wasted={}), "nats = 5"),
        (lambda: valley(BESIROGLU, 1e21, 0.0), "tolerance = 0:"),
        (lambda: valley(budget_law("kaplan"), 1e21, 0.1), "law = "),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()


def test_the_size_of_least_regret_at_1e21():
    # Six fits, whose best sizes run from 1.8 to 5.4 billion parameters.
    best = Ensemble(compute=1e21, laws=GROUPS["laws with a loss"]).least_regret
    assert math.isclose(best.n_params, 3.11e9, rel_tol=5e-3)
    assert best.worst_nats < 0.01

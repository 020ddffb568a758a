"""Laws that give a size or tokens as a power of compute: printed constants, and what follows from them."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.compute import chinchilla_optimal, train_flops
from lib.scaling.budget_laws import (
    BUDGET_LAWS,
    FACTS,
    QUANTITIES,
    RULE_OF_20,
    BudgetLaw,
    budget_law,
    kaplan_data_loss,
    kaplan_size_loss,
)

KAPLAN, LLAMA, DEEPSEEK = budget_law("kaplan"), budget_law("llama 3"), budget_law("deepseek")
APPROACH_1, APPROACH_2 = budget_law("approach 1"), budget_law("approach 2")

any_law = st.builds(
    BudgetLaw,
    name=st.just("any"),
    quantity=st.sampled_from(QUANTITIES),
    coefficient=st.floats(1e-3, 10),
    exponent=st.floats(0.3, 0.8),
)


@pytest.fixture(scope="module")
def np():
    """NumPy where it is installed: in the browser's Python these tests rest."""
    return pytest.importorskip("numpy")


@pytest.mark.parametrize(("compute", "n_params"), [(1e21, 7.77e9), (1e22, 41.7e9), (1e23, 224e9)])
def test_kaplans_sizes_without_embeddings(compute, n_params):
    # Kaplan et al. 2020: 1.3e9 C^0.73, C in PF-days
    assert KAPLAN.optimum(compute)[0] == pytest.approx(n_params, rel=2e-3)


def test_kaplans_law_at_one_pf_day_is_its_coefficient():
    assert KAPLAN.optimum(1e15 * 86_400)[0] == pytest.approx(1.3e9)


def test_kaplans_loss_limits():
    # Kaplan et al. 2020, equations 1.1 and 1.2
    assert kaplan_size_loss(8.8e13) == 1.0
    assert kaplan_data_loss(5.4e13) == 1.0
    assert kaplan_size_loss(1e9) / kaplan_size_loss(2e9) == pytest.approx(2**0.076)
    assert kaplan_data_loss(1e9) / kaplan_data_loss(2e9) == pytest.approx(2**0.095)


def test_llama_3s_power_is_of_tokens_and_its_two_digits_do_not_give_the_papers_own_figure():
    n_params, n_tokens = LLAMA.optimum(3.8e25)
    assert n_tokens == pytest.approx(10.46e12, rel=1e-3)  # Grattafiori et al. 2024, section 3.2.1, says 16.55 trillion
    assert n_params == pytest.approx(605e9, rel=2e-3)  # and 402 billion parameters
    assert train_flops(n_params, n_tokens) == pytest.approx(3.8e25)


def test_the_digits_of_llama_3s_figure_give_it_within_their_rounding():
    n_params, n_tokens = budget_law("llama 3 figure").optimum(3.8e25)
    assert n_tokens == pytest.approx(16.55e12, rel=0.03)  # 0.0005 in the exponent moves it by 3%
    assert n_params == pytest.approx(402e9, rel=0.05)


@pytest.mark.parametrize("compute", [1e17, 3e20, 1e24])
def test_deepseeks_two_printed_powers_multiply_to_the_budget(compute):
    # Bi et al. 2024, equation 4: M = 0.1715 C^0.5243, D = 5.8316 C^0.4757, C = M D
    n_params, n_tokens = DEEPSEEK.optimum(compute)
    assert 6 * n_params == pytest.approx(0.1715 * compute**0.5243)
    assert n_tokens == pytest.approx(5.8316 * compute**0.4757, rel=3e-4)


@pytest.mark.parametrize(
    ("law", "n_params", "compute", "n_tokens"),
    [
        # Hoffmann et al. 2022, Table 3
        (APPROACH_1, 400e6, 1.92e19, 8.0e9),
        (APPROACH_1, 1e9, 1.21e20, 20.2e9),
        (APPROACH_1, 10e9, 1.23e22, 205.1e9),
        (APPROACH_1, 67e9, 5.76e23, 1.5e12),
        (APPROACH_1, 175e9, 3.85e24, 3.7e12),
        (APPROACH_1, 280e9, 9.9e24, 5.9e12),
        (APPROACH_1, 520e9, 3.43e25, 11.0e12),
        (APPROACH_1, 1e12, 1.27e26, 21.2e12),
        (APPROACH_1, 10e12, 1.3e28, 216.2e12),
        # Hoffmann et al. 2022, Table A3
        (APPROACH_2, 400e6, 1.84e19, 7.7e9),
        (APPROACH_2, 1e9, 1.20e20, 20.0e9),
        (APPROACH_2, 10e9, 1.32e22, 219.5e9),
        (APPROACH_2, 67e9, 6.88e23, 1.7e12),
        (APPROACH_2, 175e9, 4.54e24, 4.3e12),
        (APPROACH_2, 280e9, 1.18e25, 7.1e12),
        (APPROACH_2, 520e9, 4.19e25, 13.4e12),
        (APPROACH_2, 1e12, 1.59e26, 26.5e12),
        (APPROACH_2, 10e12, 1.75e28, 292.0e12),
    ],
)
def test_a_line_through_one_printed_row_meets_the_others(law, n_params, compute, n_tokens):
    # The exponents are printed with two digits: 0.005 of one moves the far ends by 5%.
    assert law.optimum(compute) == pytest.approx((n_params, n_tokens), rel=0.05)


def test_hoffmanns_own_comparison_with_kaplan_at_1e21():
    # Hoffmann et al. 2022, appendix D.4: 2.86 billion by approach 1
    assert APPROACH_1.optimum(1e21)[0] == pytest.approx(2.86e9, rel=0.03)


@pytest.mark.parametrize(
    ("name", "a"),
    [("approach 1", 0.50), ("approach 2", 0.49), ("kaplan", 0.73), ("llama 3", 0.47), ("deepseek", 0.5243)],
)
def test_the_exponent_of_the_best_size(name, a):
    assert budget_law(name).params_exponent == pytest.approx(a)


@given(st.floats(1e15, 1e30))
def test_the_rule_of_20_as_a_law_is_the_rule(compute):
    assert RULE_OF_20.optimum(compute) == pytest.approx(chinchilla_optimal(compute))


@given(any_law, st.floats(1e16, 1e28))
def test_size_and_tokens_spend_the_budget(law, compute):
    assert train_flops(*law.optimum(compute)) == pytest.approx(compute)


@given(any_law, st.floats(1e16, 1e28))
def test_twice_the_budget_grows_the_size_by_its_exponent(law, compute):
    once, twice = law.optimum(compute), law.optimum(2 * compute)
    assert twice[0] / once[0] == pytest.approx(2**law.params_exponent)
    assert twice[1] / once[1] == pytest.approx(2 ** (1 - law.params_exponent))


@given(any_law, st.floats(1e16, 1e28), st.floats(1e-6, 1e20))
def test_the_answer_does_not_depend_on_the_unit_of_compute(law, compute, unit):
    other = dataclasses.replace(law, coefficient=law.coefficient * unit**law.exponent, compute_unit=unit)
    assert other.optimum(compute) == pytest.approx(law.optimum(compute))


@given(law=any_law, computes=st.lists(st.floats(1e16, 1e28), min_size=1, max_size=4))
def test_arrays_give_what_floats_give(np, law, computes):
    sizes, tokens = law.optimum(np.array(computes))
    for i, compute in enumerate(computes):
        assert (sizes[i], tokens[i]) == pytest.approx(law.optimum(compute))


def test_far_from_its_runs_a_law_says_so():
    assert KAPLAN.label(*KAPLAN.optimum(1e21)) == "extrapolated: 5.2 times the size of the largest fitted model"
    assert LLAMA.label(*LLAMA.optimum(1e21)) == "within the fitted range"
    assert LLAMA.label(*LLAMA.optimum(3.8e25)) == "extrapolated: 3,800 times the compute of the largest fitted run"
    assert RULE_OF_20.label(1e9, 2e10) == "a rule of thumb: fitted to no runs"


def test_every_law_says_what_it_counts_and_where_it_was_read():
    for law in BUDGET_LAWS.values():
        assert law.origin.n_counts
        assert law.origin.tokenizer
        assert law.origin.corpus
        assert "20" in law.source
        assert FACTS[law.name]["remark"]


def test_a_misspelt_law_gets_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'kaplan'"):
        budget_law("caplan")

"""What a law rests on: its range, and what must stand beside an answer of it."""

import dataclasses

import pytest

from lib.scaling import law
from lib.scaling.evidence import Origin, Range

DENSE = Origin(source="a paper", n_counts="all", tokenizer="any", corpus="any", fitted=Range(compute_at_most=1e22))


def test_a_dense_law_asked_about_a_mixture_of_experts_says_that_it_was_not_fitted_for_one():
    assert DENSE.label(1e9, 2e10, n_experts=8) == "not fitted for mixtures of experts; within the fitted range"
    assert law("Besiroglu 2024").label(1e9, 2e10, n_experts=2).startswith("not fitted for mixtures of experts; ")


def test_a_law_of_mixtures_says_so_when_it_is_asked_about_another_kind():
    eight = dataclasses.replace(DENSE, n_experts=8)
    assert eight.label(1e9, 2e10, n_experts=8) == "within the fitted range"
    assert eight.label(1e9, 2e10).startswith("not fitted for dense models; ")
    assert eight.label(1e9, 2e10, n_experts=64).startswith("not fitted for 64 experts but for 8; ")


def test_a_stretched_law_says_why_whatever_the_run():
    stretched = dataclasses.replace(DENSE, stretch="32 experts were the most that were fitted")
    assert stretched.label(1e9, 2e10) == "extrapolated: 32 experts were the most that were fitted"


@pytest.mark.parametrize(
    ("bounds", "run", "words"),
    [
        ({"compute_at_most": 1e20}, (1e9, 2e11), "12 times the compute of the largest fitted run"),
        ({"compute_at_least": 1e18, "compute_at_most": 1e20}, (1e6, 2e9), "83 times less compute than the smallest"),
        ({"n_params": (768, 1.5e9)}, (7.77e9, 2e10), "5.2 times the size of the largest fitted model"),
        ({"n_params": (1e8, 1e9), "compute_at_most": 1e22}, (5e9, 1e9), "no fitted run has this shape"),
        ({"n_tokens": (1e9, 1e10)}, (1e9, 1e8), "no fitted run has this shape"),
    ],
)
def test_how_far_beyond_is_said_in_what_the_paper_prints(bounds, run, words):
    fitted = Range(**bounds)
    assert not fitted.holds(*run)
    assert words in fitted.beyond(*run)


def test_a_bound_that_is_not_printed_excludes_nothing():
    assert Range(n_params=(1e6, 1e9)).holds(1e8, 1e30)
    assert Range(compute_at_most=1e20).holds(1e3, 1e10)


def test_a_range_without_any_bound_is_refused():
    with pytest.raises(ValueError, match="n_params, n_tokens, compute_at_most = None: at least one bound"):
        Range()


@pytest.mark.parametrize("field", ["fitted", "errors", "fine_errors"])
def test_an_origin_holds_ranges_and_errors_or_nothing(field):
    with pytest.raises(TypeError, match=f"^{field} = 5"):
        dataclasses.replace(DENSE, **{field: 5})

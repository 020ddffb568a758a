"""Laws of mixtures of experts: the tables of their papers, and what must hold for any number of experts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.scaling.moe_laws import MOE_LAWS, effective_experts, moe_law

JOINT, ROUTED = moe_law("Ludziejewski 2025"), moe_law("Clark 2022")
experts = st.integers(1, 64)


@pytest.mark.parametrize(
    ("n_experts", "m", "mu", "n", "nu"),
    [
        # Ludziejewski et al. 2025, Table 4
        (1, 30.3640, -0.1817, 53.9838, -0.1965),
        (2, 27.7982, -0.1780, 66.8401, -0.2065),
        (4, 24.8462, -0.1731, 87.7022, -0.2192),
        (8, 21.8330, -0.1676, 119.9126, -0.2338),
        (16, 19.0159, -0.1617, 167.5073, -0.2494),
        (32, 16.5424, -0.1557, 234.6726, -0.2652),
    ],
)
def test_the_joint_law_reduces_to_the_papers_laws_of_one_number_of_experts(n_experts, m, mu, n, nu):
    reduced = JOINT.at(n_experts)
    terms = [reduced.A, reduced.B]
    assert terms == pytest.approx([m, n], rel=3e-3)  # the constants of Table 3 have four digits
    assert (reduced.alpha, reduced.beta) == pytest.approx((-mu, -nu), abs=2e-4)
    assert reduced.E == 1.3637


@pytest.mark.parametrize(
    ("compute", "n_experts", "n_active", "n_tokens"),
    [
        # Ludziejewski et al. 2025, Table 1
        (1e20, 1, 1.7e9, 9.7e9),
        (1e20, 2, 1.5e9, 11.4e9),
        (1e20, 4, 1.2e9, 13.9e9),
        (1e20, 8, 990e6, 17e9),
        (1e20, 16, 810e6, 20.7e9),
        (1e20, 32, 669e6, 24.9e9),
        (1e21, 1, 5.7e9, 29.3e9),
        (1e21, 8, 3.8e9, 44.3e9),
        (1e21, 32, 2.85e9, 58.4e9),
        (1e22, 1, 18.8e9, 88.6e9),
        (1e22, 8, 14.4e9, 115.8e9),
        (1e22, 32, 12.2e9, 136.9e9),
    ],
)
def test_the_best_active_size_and_tokens_are_the_papers(compute, n_experts, n_active, n_tokens):
    assert JOINT.at(n_experts).optimum(compute) == pytest.approx((n_active, n_tokens), rel=0.03)


def test_eight_experts_save_forty_per_cent_at_1e20_flops():
    # Ludziejewski et al. 2025, Figure 2 (b): an MoE needs 6e19 FLOPs where a dense model needs 1e20
    dense, moe = JOINT.at(1), JOINT.at(8)
    assert moe.least_compute(dense.optimal_loss(1e20)) == pytest.approx(6e19, rel=0.02)


@given(st.integers(1, 63), st.floats(1e18, 1e23))
def test_more_experts_want_fewer_active_parameters_and_lose_less(n_experts, compute):
    fewer, more = JOINT.at(n_experts), JOINT.at(n_experts + 1)
    assert more.optimum(compute)[0] < fewer.optimum(compute)[0]
    assert more.optimal_loss(compute) < fewer.optimal_loss(compute)


def test_within_the_experts_that_were_fitted_the_range_decides_and_beyond_them_the_experts():
    assert JOINT.at(8).label(1e9, 1.5e10, n_experts=8) == "within the fitted range"
    assert "times the compute" in JOINT.at(8).label(1e10, 1.5e11, n_experts=8)
    assert JOINT.at(64).label(1e9, 1.5e10, n_experts=64) == "extrapolated: 32 experts were the most that were fitted"
    assert JOINT.at(8).label(1e9, 1.5e10).startswith("not fitted for dense models")


def test_so_many_experts_that_size_would_not_help_are_refused():
    with pytest.raises(ValueError, match=r"^n_experts = 1000000000: "):
        JOINT.__class__(**(vars(JOINT) | {"E_max": 1e12})).at(10**9)


def test_clarks_loss_of_a_billion_parameters():
    # Clark et al. 2022, Table 3: a -0.082, b -0.108, c 0.009, d 1.104 and E_start 1.847 for S-BASE
    by_hand = -0.082 * 9 - 0.108 * 0.266467 + 0.009 * 9 * 0.266467 + 1.104  # log10 of 1.847 is 0.266467
    assert ROUTED.loss(1e9, 1) == pytest.approx(10**by_hand, rel=1e-5)


def test_five_million_parameters_with_128_experts_are_worth_fifty_million():
    assert ROUTED.effective_params(5e6, 128) == pytest.approx(55e6, rel=0.07)  # Clark et al. 2022, section 1: 55M


def test_beyond_about_a_trillion_parameters_experts_no_longer_help():
    assert ROUTED.cutoff_params == pytest.approx(937e9, rel=0.07)  # Clark et al. 2022, from unrounded constants
    assert ROUTED.loss(1e10, 64) < ROUTED.loss(1e10, 1)
    assert ROUTED.loss(2e12, 64) > ROUTED.loss(2e12, 1)


@given(st.floats(1e6, 1e12), experts)
def test_a_dense_model_of_the_effective_size_has_the_same_loss(n_params, n_experts):
    assert ROUTED.loss(ROUTED.effective_params(n_params, n_experts), 1) == pytest.approx(
        ROUTED.loss(n_params, n_experts)
    )


@given(st.integers(1, 10_000), st.floats(0.5, 5), st.floats(10, 1000))
def test_experts_count_between_the_start_and_the_most(n_experts, start, most):
    counted = effective_experts(n_experts, start, most)
    assert start * (1 - 1e-12) <= counted < most
    assert effective_experts(n_experts + 1, start, most) > counted


def test_a_start_above_the_most_is_refused():
    with pytest.raises(ValueError, match=r"^E_start = 3\.0: below E_max, 2\.0"):
        effective_experts(2, 3.0, 2.0)


def test_each_law_says_what_it_counts():
    for law in MOE_LAWS.values():
        assert law.origin.n_counts
        assert law.origin.tokenizer
        assert law.origin.corpus
        assert law.origin.source

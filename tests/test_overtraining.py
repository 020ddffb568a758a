"""The model that is cheapest over its whole life: reference values, a numerical search, and what must hold."""

import dataclasses
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.compute import train_flops
from lib.scaling import law
from lib.scaling.allocations import published
from lib.scaling.overtraining import Lifetime, implied_inference_tokens, inference_flops
from lib.scaling.parametric import ScalingLaw

HOFFMANN, BESIROGLU = law("Hoffmann 2022"), law("Besiroglu 2024")

any_law = st.builds(
    ScalingLaw,
    name=st.just("any"),
    E=st.floats(0.5, 3),
    A=st.floats(10, 5000),
    B=st.floats(10, 50_000),
    alpha=st.floats(0.15, 0.8),
    beta=st.floats(0.15, 0.8),
)
budgets = st.floats(1e18, 1e26)
uses = st.floats(1e8, 1e16)


def life_of(some_law, compute, inference_tokens):
    return Lifetime(law=some_law, target_loss=some_law.optimal_loss(compute), inference_tokens=inference_tokens)


# Reference values, computed by another method: the constants are those of Hoffmann's TeX source.


@pytest.mark.parametrize(
    ("run", "inference_tokens", "n_params", "n_tokens", "train", "use", "saving"),
    [
        ((1e9, 29139590000.0), 0.0, 1e9, 29139590000.0, 1.748376e20, 0.0, 0.0),
        ((1e9, 29139590000.0), 1e11, 539401400.0, 62566310000.0, 2.024901e20, 1.078803e20, 0.1719869),
        ((1e9, 29139590000.0), 1e12, 298178500.0, 204823000000.0, 3.664428e20, 5.96357e20, 0.5573004),
        ((1e9, 29139590000.0), 1e13, 193942600.0, 912457100000.0, 1.061786e21, 3.878852e21, 0.7551089),
        ((13e9, 617425000000.0), 0.0, 13e9, 617425000000.0, 4.815915e22, 0.0, 0.0),
        ((13e9, 617425000000.0), 1e11, 12034930000.0, 668204700000.0, 4.825079e22, 2.406987e21, 0.001997072),
        ((13e9, 617425000000.0), 1e12, 8482049000.0, 1010306000000.0, 5.141681e22, 1.69641e22, 0.07791676),
        ((13e9, 617425000000.0), 1e13, 4644710000.0, 2814611000000.0, 7.843832e22, 9.289421e22, 0.4440128),
    ],
)
def test_the_cheapest_model_over_its_life(run, inference_tokens, n_params, n_tokens, train, use, saving):
    life = Lifetime(law=HOFFMANN, target_loss=HOFFMANN.loss(*run), inference_tokens=inference_tokens)
    assert (life.n_params, life.n_tokens) == pytest.approx((n_params, n_tokens), rel=2e-6)
    assert life.train_flops == pytest.approx(train, rel=2e-6)
    assert life.inference_flops == pytest.approx(use, rel=2e-6)
    assert life.total_flops == pytest.approx(train + use, rel=2e-6)
    assert life.saving == pytest.approx(saving, rel=2e-6, abs=1e-12)
    assert life.size_ratio == pytest.approx(n_params / run[0], rel=2e-6)
    assert life.tokens_ratio == pytest.approx(n_tokens / run[1], rel=2e-6)
    assert life.cheapest_run == pytest.approx(run, rel=1e-6)


def test_using_a_model_costs_a_third_of_training_it_per_token():
    assert 3 * inference_flops(7e9, 1e12) == train_flops(7e9, 1e12)


def test_llama_3_8b_pays_off_if_it_answers_far_more_than_it_read():
    run = published("Llama 3 8B")
    use = implied_inference_tokens(BESIROGLU, run.n_params, run.n_tokens)
    assert use / run.n_tokens == pytest.approx(12.65, rel=2e-3)  # 3 (alpha A N^-alpha / (beta B D^-beta) - 1), by hand
    assert implied_inference_tokens(BESIROGLU, 174.6e9, 300e9) < 0  # GPT-3: no use justifies its size


# What holds for any law.


@given(any_law, budgets, uses)
def test_no_other_size_that_reaches_the_loss_costs_less(some_law, compute, inference_tokens):
    life = life_of(some_law, compute, inference_tokens)
    assume(life.target_loss - some_law.E > 1e-4 * life.target_loss)
    for factor in (0.9, 0.99, 1.01, 1.1, 2.0):
        n_params = factor * life.n_params
        if life.target_loss > some_law.floor(n_params):
            n_tokens = some_law.fewest_tokens(life.target_loss, n_params)
            total = train_flops(n_params, n_tokens) + inference_flops(n_params, inference_tokens)
            assert total >= life.total_flops * (1 - 1e-9)


@given(any_law, budgets, uses)
def test_the_size_is_within_a_thousandth_of_a_numerical_search(some_law, compute, inference_tokens):
    life = life_of(some_law, compute, inference_tokens)
    assume(life.target_loss - some_law.E > 1e-3 * life.target_loss)
    spare = life.target_loss - some_law.E

    def cost(log_share):  # of the spare loss that the data term takes
        data = spare * math.exp(log_share)
        n_tokens = (some_law.B / data) ** (1 / some_law.beta)
        n_params = (some_law.A / (spare - data)) ** (1 / some_law.alpha)
        return math.log(6 * n_params * n_tokens + 2 * n_params * inference_tokens)

    data = spare * math.exp(_golden_section(cost, -40.0, -1e-9))
    assert life.n_params == pytest.approx((some_law.A / (spare - data)) ** (1 / some_law.alpha), rel=1e-3)


def _golden_section(function, low, high):
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-6:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if function(a) < function(b) else (a, high)
    return (low + high) / 2


@given(any_law, budgets, uses)
def test_the_model_reaches_the_loss(some_law, compute, inference_tokens):
    life = life_of(some_law, compute, inference_tokens)
    assert some_law.loss(life.n_params, life.n_tokens) == pytest.approx(life.target_loss)


@given(any_law, budgets, uses)
def test_more_use_wants_a_smaller_model_on_more_tokens(some_law, compute, inference_tokens):
    less, more = (life_of(some_law, compute, use) for use in (inference_tokens, 4 * inference_tokens))
    assert more.n_params <= less.n_params * (1 + 1e-9)
    assert more.n_tokens >= less.n_tokens * (1 - 1e-9)
    assert 0 <= less.saving < 1


@given(any_law, budgets)
def test_without_use_it_is_the_cheapest_run(some_law, compute):
    life = life_of(some_law, compute, 0.0)
    assert (life.n_params, life.n_tokens) == pytest.approx(life.cheapest_run, rel=1e-6)


@given(any_law, budgets, uses)
def test_the_use_that_a_lifetime_was_made_for_is_read_back_from_its_run(some_law, compute, inference_tokens):
    life = life_of(some_law, compute, inference_tokens)
    assume(life.target_loss - some_law.E > 1e-4 * life.target_loss)
    assume(inference_tokens > 1e-3 * life.n_tokens)  # below that, the subtraction itself loses digits
    read_back = implied_inference_tokens(some_law, life.n_params, life.n_tokens)
    assert read_back == pytest.approx(inference_tokens, rel=1e-5)


@given(any_law, budgets, uses, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_answer_does_not_depend_on_the_units_of_parameters_and_tokens(some_law, compute, use, k, m):
    other = dataclasses.replace(some_law, A=some_law.A * k**some_law.alpha, B=some_law.B * m**some_law.beta)
    life = life_of(some_law, compute, use)
    moved = Lifetime(law=other, target_loss=life.target_loss, inference_tokens=m * use)
    assert moved.size_ratio == pytest.approx(life.size_ratio, rel=1e-6)


# Refusals.


def test_a_loss_at_or_below_e_is_refused_with_e_named():
    with pytest.raises(ValueError, match=r"target_loss = 1\.8172: above 1\.8172, E of Besiroglu 2024"):
        Lifetime(law=BESIROGLU, target_loss=1.8172, inference_tokens=1e12)


@pytest.mark.parametrize(("field", "bad"), [("inference_tokens", -1.0), ("target_loss", 0), ("law", "Hoffmann 2022")])
def test_a_field_out_of_range_is_refused_by_name(field, bad):
    good = {"law": BESIROGLU, "target_loss": 2.0, "inference_tokens": 1e12}
    with pytest.raises((TypeError, ValueError), match=f"^{field} = "):
        Lifetime(**good | {field: bad})

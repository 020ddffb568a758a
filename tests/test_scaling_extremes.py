"""Laws asked for what no float holds: every answer is a finite number, or a refusal that says what was wrong."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.recipe.held_out import Residual
from lib.recipe.published_runs import COMPARABLE
from lib.scaling import LAWS, ScalingLaw, law
from lib.scaling.allocations import Allocation, Comparison
from lib.scaling.budget_laws import QUANTITIES, BudgetLaw
from lib.scaling.ensemble import GROUPS, Ensemble, valley
from lib.scaling.moe_laws import effective_experts, moe_law
from lib.scaling.overtraining import Lifetime, implied_inference_tokens, inference_flops
from lib.scaling.repeated_data import DataLimitedLaw, effective_params, effective_tokens

BESIROGLU = law("Besiroglu 2024")
EXTREMES = (5e-324, 1e-300, 1e-30, 0.5, 1.0, 1.9, 1e10, 1e21, 1e30, 1e300, 1.797e308)
extreme = st.sampled_from(EXTREMES)
signed = st.builds(math.copysign, extreme, st.sampled_from((1.0, -1.0))) | st.just(0.0)
any_law = st.sampled_from(list(LAWS.values())) | st.builds(
    ScalingLaw,
    name=st.just("any"),
    E=extreme,
    A=extreme,
    B=extreme,
    alpha=st.sampled_from((0.001, 0.3, 1.0, 10.0)),
    beta=st.sampled_from((0.001, 0.3, 1.0, 10.0)),
)


def holds(call, *values):
    """Whether a call answers with finite numbers, or refuses in words of its own."""
    try:
        answer = call(*values)
    except ValueError as refusal:
        return ": " in str(refusal) and len(str(refusal)) < 300
    answers = answer if isinstance(answer, tuple) else (answer,)
    return all(not isinstance(value, float) or math.isfinite(value) for value in answers)


def properties_hold(make):
    """The same for what is made, and then for each of its properties."""
    try:
        record = make()
    except ValueError as refusal:
        return ": " in str(refusal)
    names = [name for name in dir(type(record)) if not name.startswith("_")]
    kinds = {name: type(getattr(type(record), name)).__name__ for name in names}
    asked = [name for name, kind in kinds.items() if kind in ("property", "cached_property")]
    return all(holds(getattr, record, name) for name in asked)


@given(one=any_law, a=extreme, b=extreme)
def test_a_law_gives_finite_numbers_or_refuses(one, a, b):
    for ask in (one.optimum, one.tokens_per_param, one.optimal_loss, one.floor, one.least_compute, one.params_for):
        assert holds(ask, a), ask
    for ask in (one.loss, one.loss_at_budget, one.size_penalty, one.fewest_tokens, one.fewest_params, one.label):
        assert holds(ask, a, b), ask
    assert holds(valley, one, a, b)
    assert holds(implied_inference_tokens, one, a, b)


@given(one=any_law, use=extreme | st.just(0.0), target=extreme)
def test_a_life_gives_finite_numbers_or_refuses_also_where_the_target_is_just_above_e(one, use, target):
    for loss in (target, one.E, math.nextafter(one.E, math.inf)):
        assert properties_hold(lambda loss=loss: Lifetime(law=one, target_loss=loss, inference_tokens=use))


@given(one=any_law, unique=extreme, decays=st.tuples(extreme, extreme), a=extreme, b=extreme)
def test_a_law_of_scarce_text_gives_finite_numbers_or_refuses(one, unique, decays, a, b):
    tokens_decay, params_decay = decays
    limited = DataLimitedLaw(law=one, unique_tokens=unique, tokens_decay=tokens_decay, params_decay=params_decay)
    assert properties_hold(lambda: limited)
    assert holds(limited.optimum, a)
    assert holds(limited.loss, a, b)
    assert holds(effective_tokens, a, b, tokens_decay)
    assert holds(effective_params, a, b, params_decay)


def test_text_read_once_is_worth_itself_however_much_there_is():
    assert effective_tokens(1.797e308, 1.797e308) == 1.797e308  # 0 x infinity on the way, once


@given(one=any_law, compute=extreme, size=extreme)
def test_laws_beside_each_other_give_finite_numbers_or_refuse(one, compute, size):
    beside = Ensemble(compute=compute, laws=(one, *GROUPS["every law"]))
    assert properties_hold(lambda: beside)
    assert properties_hold(lambda: beside.regret(size))
    run = Allocation(n_params=size, n_tokens=compute)
    assert properties_hold(lambda: run)
    assert properties_hold(lambda: Comparison(run=run, law=one))


@given(quantity=st.sampled_from(QUANTITIES), numbers=st.tuples(extreme, extreme, extreme))
def test_a_law_of_sizes_gives_finite_numbers_or_refuses(quantity, numbers):
    coefficient, unit, compute = numbers
    one = BudgetLaw(name="b", quantity=quantity, coefficient=coefficient, exponent=0.5, compute_unit=unit)
    assert holds(one.optimum, compute)
    assert holds(one.tokens_per_param, compute)


@given(constants=st.tuples(signed, signed, signed, signed), ends=st.tuples(extreme, extreme), size=extreme)
def test_a_law_of_routing_gives_finite_numbers_or_refuses(constants, ends, size):
    names = ("of_params", "of_experts", "of_both", "constant")
    values = dict(zip(names, constants, strict=True)) | dict(zip(("E_start", "E_max"), ends, strict=True))
    routed = dataclasses.replace(moe_law("Clark 2022"), **values)
    assert properties_hold(lambda: routed)
    assert holds(effective_experts, 8, *ends)
    for ask in (routed.loss, routed.effective_params):
        assert holds(ask, size, 8)


def test_experts_that_help_alike_at_every_size_have_no_size_at_which_they_stop():
    with pytest.raises(ValueError, match=r"^of_both = 0: not 0"):
        _ = dataclasses.replace(moe_law("Clark 2022"), of_both=0.0).cutoff_params


@given(powers=st.tuples(signed, signed, signed), n_experts=st.sampled_from((1, 8, 2**53)))
def test_a_joint_law_gives_a_law_or_refuses(powers, n_experts):
    alpha, delta, gamma = powers
    joint = dataclasses.replace(moe_law("Ludziejewski 2025"), alpha=alpha, delta=delta, gamma=gamma)
    assert holds(joint.at, n_experts)


@given(used=extreme, foretold=extreme)
def test_a_residual_is_finite_or_refused(used, foretold):
    assert properties_hold(lambda: Residual(run=COMPARABLE[0], group="g", used=used, foretold=foretold))


@pytest.mark.parametrize("exponent", [5e-324, 1e-4, 11.0, 1e300])
def test_an_exponent_that_no_law_has_is_refused_at_the_door(exponent):
    with pytest.raises(ValueError, match=r"^beta = .*: an exponent from 0\.001 to 10$"):
        dataclasses.replace(BESIROGLU, beta=exponent)


def test_a_floor_is_printed_in_few_digits_however_large_it_is():
    huge = dataclasses.replace(BESIROGLU, A=1e300)
    with pytest.raises(ValueError, match=r"^target_loss = 2: above 3\.\d{4}e\+296, the floor") as refused:
        huge.fewest_tokens(2.0, 1e10)
    assert len(str(refused.value)) < 120


@given(size=st.floats(1e6, 1e13), below=st.sampled_from((1e-16, 1e-9, 1e-5)))
def test_a_target_just_below_the_floor_is_told_from_it(size, below):
    target = BESIROGLU.floor(size) * (1 - below)
    with pytest.raises(ValueError, match=r"^target_loss = \S+: above \S+, the floor") as refused:
        BESIROGLU.fewest_tokens(target, size)
    assert float(str(refused.value).split("above ")[1].split(",")[0]) > target


def test_no_use_is_no_flops_even_of_the_largest_model():
    assert inference_flops(1.797e308, 0.0) == 0.0

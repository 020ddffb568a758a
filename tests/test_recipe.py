"""Recipes: what follows from a size and tokens divides, trains and lies near what others did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.compute import train_flops
from lib.recipe import Recipe, Setup, size_and_tokens
from lib.recipe.held_out import residuals

approx = pytest.approx


@pytest.fixture(scope="module")
def small():
    return Recipe(run=size_and_tokens(compute=1e22))


def test_the_recipe_for_1e22_flop(small):
    assert (small.peak_lr, small.batch_tokens, small.steps) == (1.7e-4, 2_097_152, 87_058)
    assert (small.global_batch, small.accumulation, small.warmup_steps) == (512, 8, 870)
    assert (small.shape.n_layers, small.shape.d_model, small.shape.n_heads, small.shape.d_ff) == (46, 4096, 32, 10_240)
    assert [run.name for run in small.neighbours] == ["Cerebras-GPT 6.7B", "Cerebras-GPT 13B", "Pythia 12B"]


def test_what_others_would_take_for_the_same_run(small):
    rivals = {name: f"{rate:.1e}" for name, rate in small.rival_lrs.items()}
    assert rivals == {"GPT-3's table": "1.1e-04", "DeepSeek's law": "5.5e-04", "Step Law": "4.1e-04"}
    assert small.sweep[0] < min(small.lr_by_law, small.peak_lr)
    assert small.sweep[-1] >= max(small.rival_lrs.values()) * 0.95


@given(
    compute=st.floats(19, 25.5).map(lambda power: 10**power),
    copies=st.integers(0, 7).map(lambda power: 2**power),
    shared=st.sampled_from([1, 4, 8, 64]),
    micro_batch=st.sampled_from([1, 2, 4]),
    seq_len=st.sampled_from([2048, 4096, 8192]),
)
def test_every_recipe_divides_and_trains(compute, copies, shared, micro_batch, seq_len):
    setup = Setup(n_gpus=copies * shared, model_parallel=shared, micro_batch=micro_batch, seq_len=seq_len)
    run = size_and_tokens(compute=compute)
    if run.n_tokens < 2 * copies * micro_batch * seq_len:
        return
    found = Recipe(run=run, setup=setup)
    shape = found.shape
    assert shape.d_model % shape.n_heads == 0
    assert shape.d_model % 128 == shape.d_ff % 128 == 0
    assert found.global_batch == copies * micro_batch * found.accumulation
    assert 0 < found.warmup_steps < found.steps
    assert found.schedule.at(float(found.steps)) == approx(0.1 * found.peak_lr)
    assert found.batch_tokens * found.steps <= run.n_tokens
    assert 0 < found.residual_std < found.init_std


def test_a_schedule_that_stays_at_its_peak_takes_half_of_it(small):
    stable = Recipe(run=small.run, setup=Setup(kind="warmup-stable-decay"))
    assert stable.peak_lr == approx(small.lr_by_law / 2, rel=0.05)
    assert stable.schedule.min_lr == 0
    assert stable.schedule.decay_steps == approx(0.2 * (stable.steps - stable.warmup_steps))


def test_the_error_beside_the_rate_is_that_against_families_held_out(small):
    assert small.lr_error == approx(0.26, abs=0.02)
    assert len(residuals("peak_lr", "size and tokens")) == 58


@pytest.mark.parametrize(
    ("given_", "n_params", "n_tokens"),
    [
        ({"compute": 1.2e22}, 1e10, 2e11),
        ({"n_params": 1e10}, 1e10, 2e11),
        ({"n_tokens": 2e11}, 1e10, 2e11),
        ({"compute": 6e22, "n_params": 1e10}, 1e10, 1e12),
        ({"compute": 6e22, "n_tokens": 1e12}, 1e10, 1e12),
        ({"n_params": 7e9, "n_tokens": 2e12}, 7e9, 2e12),
        ({"compute": 6e22, "tokens_per_param": 100.0}, 1e10, 1e12),
    ],
)
def test_any_one_or_two_give_size_and_tokens(given_, n_params, n_tokens):
    run = size_and_tokens(**given_)
    assert (run.n_params, run.n_tokens) == (approx(n_params), approx(n_tokens))
    assert train_flops(run.n_params, run.n_tokens) == approx(6 * n_params * n_tokens)


@pytest.mark.parametrize("given_", [{}, {"compute": 1e22, "n_params": 1e9, "n_tokens": 1e9}])
def test_none_and_three_are_refused(given_):
    with pytest.raises(ValueError, match=r"compute = .*: one or two of compute, n_params and n_tokens"):
        size_and_tokens(**given_)


def test_a_run_too_short_for_its_devices_is_refused():
    with pytest.raises(ValueError, match=r"n_tokens = 1e\+08: at least two steps of 67,108,864 tokens"):
        Recipe(run=size_and_tokens(n_params=1e7, n_tokens=1e8), setup=Setup(n_gpus=16_384))


def test_devices_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="model_parallel = 3: a divisor of n_gpus = 64; nearest 2 or 4"):
        Setup(model_parallel=3)


def test_a_model_larger_than_a_shape_is_searched_for_is_refused():
    with pytest.raises(ValueError, match=r"n_params = 1e\+14: at most"):
        Recipe(run=size_and_tokens(n_params=1e14, n_tokens=1e15))


@given(
    compute=st.floats(1e18, 1e26), copies=st.integers(1, 3000), micro=st.integers(1, 9), seq_len=st.integers(64, 9000)
)
def test_the_batch_divides_over_all_copies_from_the_first_step_to_the_last(compute, copies, micro, seq_len):
    setup = Setup(n_gpus=copies, micro_batch=micro, seq_len=seq_len)
    try:
        recipe = Recipe(run=size_and_tokens(compute=compute), setup=setup)
    except ValueError:  # fewer than two steps
        return
    unit = copies * micro * seq_len
    assert recipe.batch_tokens % unit == recipe.ramp.first_tokens % unit == 0
    assert unit <= recipe.ramp.first_tokens <= recipe.batch_tokens


def test_a_trial_on_a_tenth_takes_the_rate_that_the_law_gives_a_tenth():
    recipe = Recipe(run=size_and_tokens(compute=1e22))
    small = size_and_tokens(n_params=recipe.run.n_params / 10, n_tokens=recipe.run.n_tokens / 10)
    assert recipe.trial_lr_factor == approx(Recipe(run=small).lr_by_law / recipe.lr_by_law)
    assert recipe.trial_lr_factor > 1


@pytest.mark.parametrize(("n_tokens", "slip"), [(1e100, "at most 1e\\+20"), (1.0, "at least two steps")])
def test_tokens_that_make_no_run_are_refused_at_the_door(n_tokens, slip):
    with pytest.raises(ValueError, match=rf"^n_tokens = \S+: {slip}"):
        Recipe(run=size_and_tokens(n_params=1e9, n_tokens=n_tokens))

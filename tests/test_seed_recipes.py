"""Every figure of seed document 001, as printed and in full, and what is wrong with it."""

import math

import pytest

from lib.compute import chinchilla_optimal, train_flops
from lib.recipe.advice import SCALES, Facts, broken, findings, scale_of
from lib.recipe.seed_recipes import ANY, SMALL, any_scale, small_scale

approx = pytest.approx

SMALL_PRINTS = [
    ("1e+20", "0.91B", "18.3B", "3e-04", "34,823"),
    ("3e+20", "1.58B", "31.6B", "3e-04", "60,315"),
    ("1e+21", "2.89B", "57.7B", "3e-04", "110,120"),
]
SMALL_VALUES = [
    (1e20, 912870929.1752769, 18257418583.50554, 348),
    (3e20, 1581138830.0841897, 31622776601.683792, 603),
    (1e21, 2886751345.9481287, 57735026918.96257, 1101),
]
ANY_PRINTS = [
    ("1e+21", "2.9B", "32L", "2688H", "58B", "3e-04", "3e-05", "2.1M", "4096", "27,530", "1,000"),
    ("1e+22", "9.1B", "32L", "4864H", "183B", "3e-04", "3e-05", "2.1M", "4096", "87,058", "1,000"),
    ("1e+23", "28.9B", "48L", "7040H", "577B", "1e-04", "1e-05", "4.2M", "4096", "137,651", "1,000"),
    ("1e+24", "91.3B", "80L", "9728H", "1826B", "1e-04", "1e-05", "8.4M", "8192", "217,645", "1,088"),
]
ANY_VALUES = [  # compute, N, D, peak, end, batch, 12 L d^2
    (1e21, 2886751345.9481287, 57735026918.96257, 3e-4, 2.9999999999999997e-05, 2_097_152, 2_774_532_096),
    (1e22, 9128709291.752768, 182574185835.05536, 3e-4, 2.9999999999999997e-05, 2_097_152, 9_084_862_464),
    (1e23, 28867513459.481285, 577350269189.6257, 1.5e-4, 1.4999999999999999e-05, 4_194_304, 28_547_481_600),
    (1e24, 91287092917.52768, 1825741858350.5537, 1e-4, 1e-05, 8_388_608, 90_848_624_640),
]


@pytest.mark.parametrize("printed", SMALL_PRINTS)
def test_the_small_scale_recipe_prints_what_the_seed_prints(printed):
    assert small_scale(float(printed[0])).printed == printed


@pytest.mark.parametrize(("compute", "n_params", "n_tokens", "warmup_steps"), SMALL_VALUES)
def test_the_small_scale_recipe_in_full(compute, n_params, n_tokens, warmup_steps):
    recipe = small_scale(compute)
    assert (recipe.n_params, recipe.n_tokens) == (approx(n_params, rel=1e-12), approx(n_tokens, rel=1e-12))
    assert (recipe.step.peak_lr, recipe.step.batch_tokens, recipe.warmup_steps) == (3e-4, 524_288, warmup_steps)
    assert recipe.min_lr == 2.9999999999999997e-05


@pytest.mark.parametrize("printed", ANY_PRINTS)
def test_the_any_scale_recipe_prints_what_the_seed_prints(printed):
    assert any_scale(float(printed[0])).printed == printed


@pytest.mark.parametrize(("compute", "n_params", "n_tokens", "peak_lr", "min_lr", "batch", "body"), ANY_VALUES)
def test_the_any_scale_recipe_in_full(compute, n_params, n_tokens, peak_lr, min_lr, batch, body):
    recipe = any_scale(compute)
    assert (recipe.n_params, recipe.n_tokens) == (approx(n_params, rel=1e-12), approx(n_tokens, rel=1e-12))
    assert (recipe.step.peak_lr, recipe.min_lr) == (peak_lr, approx(min_lr, rel=1e-12))
    assert recipe.step.batch_tokens == batch
    assert 12 * recipe.step.n_layers * recipe.d_model**2 == body


def test_the_rules_of_the_two_recipes():
    assert [(s.below, s.peak_lr, s.batch_tokens) for s in SMALL] == [
        (300e6, 6e-4, 262_144),
        (700e6, 5e-4, 393_216),
        (math.inf, 3e-4, 524_288),
    ]
    assert [(s.below, s.peak_lr, s.batch_tokens, s.seq_len, s.n_layers) for s in ANY] == [
        (1e9, 5e-4, 524_288, 2048, 24),
        (10e9, 3e-4, 2_097_152, 4096, 32),
        (70e9, 1.5e-4, 4_194_304, 4096, 48),
        (math.inf, 1e-4, 8_388_608, 8192, 80),
    ]


def test_a_size_at_a_step_takes_the_next_row():
    at_a_step = train_flops(1e9, 20e9)
    assert any_scale(at_a_step * (1 - 1e-9)).step.n_layers == 24
    assert any_scale(at_a_step * (1 + 1e-9)).step.n_layers == 32


@pytest.mark.parametrize(
    ("recipe", "compute", "steps"),
    [(small_scale, 1e10, "1 steps of 262,144 tokens"), (any_scale, 1e16, "1,000 steps of 524,288 tokens")],
)
def test_a_budget_too_small_for_the_warm_up_is_refused(recipe, compute, steps):
    with pytest.raises(ValueError, match=rf"^compute = {compute:g}: enough for {steps}".replace("+", r"\+")):
        recipe(compute)


# The advice, number by number.


@pytest.mark.parametrize(
    ("n_params", "n_tokens", "followed"),
    [(5e8, 10e9, True), (5e8, 12e9, True), (5e8, 20e9, False), (9e8, 3e9, False), (None, 10e9, None)],
)
def test_small_scale_asks_for_twenty_tokens_a_parameter(n_params, n_tokens, followed):
    found = findings(Facts(compute=1e20, n_params=n_params, n_tokens=n_tokens))
    assert next(f for f in found if f.label == "tokens a parameter").followed is followed


def test_the_advice_of_three_scales():
    small, medium, large = SCALES
    assert (small.low_flops, small.high_flops) == (1e20, 1e21)
    assert dict(small.ranges) == {
        "n_params": (100e6, 1e9),
        "n_layers": (12, 24),
        "d_model": (768, 2048),
        "n_tokens": (2e9, 20e9),
        "tokens_per_param": (20.0, 20.0),
        "peak_lr": (3e-4, 6e-4),
        "batch_tokens": (262_144, 524_288),
        "warmup_share": (0.01, 0.01),
    }
    assert (medium.low_flops, medium.high_flops) == (1e22, 1e23)
    assert dict(medium.ranges) == {
        "n_params": (3e9, 30e9),
        "n_layers": (32, 48),
        "d_model": (3072, 5120),
        "n_tokens": (60e9, 600e9),
        "peak_lr": (1.5e-4, 3e-4),
        "batch_tokens": (1_048_576, 4_194_304),
        "warmup_share": (0.005, 0.005),
        "tensor": (4, 8),
    }
    assert (large.low_flops, large.high_flops) == (1e24, math.inf)
    assert dict(large.ranges) == {"n_params": (70e9, math.inf), "seq_len": (4096, 32_768)}
    assert large.practices == ("data_filtered", "checkpoints_frequent", "recompute")


# What is wrong with the seed: each verdict of the list that was drawn up when the seeds were checked.


def test_the_small_scale_table_leaves_its_own_advice():
    assert broken(small_scale(1e20).facts) == ()
    assert broken(small_scale(1e21).facts) == ("parameters", "tokens")
    assert train_flops(100e6, 20 * 100e6) == approx(1.2e18)


def test_the_two_recipes_disagree_at_1e21():
    small, wide = small_scale(1e21), any_scale(1e21)
    assert (small.step.batch_tokens, small.total_steps) == (524_288, 110_120)
    assert (wide.step.batch_tokens, wide.total_steps) == (2_097_152, 27_530)


def test_the_advice_has_gaps_and_its_medium_scale_begins_below_itself():
    assert train_flops(3e9, 60e9) == approx(1.08e21)
    assert scale_of(3e21) == (SCALES[0], False)
    assert scale_of(5e23) == (SCALES[2], False)
    assert scale_of(1e23) == (SCALES[1], True)


@pytest.mark.parametrize(("compute", "share"), [(1e21, 0.036), (1e22, 0.0115), (1e23, 0.0073)])
def test_a_thousand_steps_are_more_than_half_a_per_cent(compute, share):
    recipe = any_scale(compute)
    assert recipe.warmup_steps / recipe.total_steps == approx(share, rel=0.01)
    if scale_of(compute)[0].name == "medium scale":
        assert "warm-up, part of the steps" in broken(recipe.facts)


def test_one_digit_hides_the_peak_at_1e23():
    recipe = any_scale(1e23)
    assert recipe.printed[5:7] == ("1e-04", "1e-05")
    assert (recipe.step.peak_lr, recipe.min_lr) == (1.5e-4, approx(1.5e-5))


def test_the_width_at_1e23_breaks_the_advice_and_at_1e22_does_not():
    assert "width" in broken(any_scale(1e23).facts)
    assert "width" not in broken(any_scale(1e22).facts)


def test_9728_columns_are_76_heads_of_128_which_8_devices_cannot_share():
    recipe = any_scale(1e24)
    assert recipe.d_model == 76 * 128
    assert 76 % 8 == 4
    assert 12 * recipe.step.n_layers * recipe.d_model**2 == approx(90.8e9, rel=1e-3)


def test_findings_say_what_is_followed_broken_and_not_said():
    said = {f.label: f for f in findings(Facts(compute=2e24, n_params=70e9, recompute=True, data_filtered=False))}
    assert said["parameters"].followed is True
    assert said["parameters"].words == "70B parameters, advised 70B parameters or more"
    assert said["tokens in a sequence"].followed is None
    assert said["activations recomputed"].followed is True
    assert said["data filtered and deduplicated"].words == "not done"
    assert said["frequent checkpoints"].words == "not said"


def test_no_advice_asks_what_the_seed_does_not_say_of_a_scale():
    assert "tensor-parallel devices" not in {f.label for f in findings(Facts(compute=1e20, tensor=3))}
    assert "tensor-parallel devices" in broken(Facts(compute=1e22, tensor=2))


def test_a_warm_up_of_nothing_is_told_as_none_of_it():
    (found,) = (f for f in findings(Facts(compute=1e22, warmup_share=0.0)) if f.label.startswith("warm-up"))
    assert found.followed is False
    assert found.words.endswith("0 times that")


def test_chinchilla_sizes_are_those_of_the_rest_of_the_book():
    assert (any_scale(1e22).n_params, any_scale(1e22).n_tokens) == chinchilla_optimal(1e22)

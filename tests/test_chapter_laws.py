"""The numbers of the two chapters on laws, recomputed by hand: what is expected here never comes from `lib`."""

import re
from math import exp, log

import pytest

from tests.glued import glued

HOFFMANN = (1.6934, 406.401, 410.7228, 0.33917084, 0.2849083)  # its TeX source
ROUNDED = (1.69, 406.4, 410.7, 0.34, 0.28)
REFIT = (1.8172, 482.01, 2085.43, 0.3478, 0.3658)  # Besiroglu et al. 2024, Table 1
SEED = (1.82, 482, 2085, 0.348, 0.366)  # the same, as seed document 003 rounds it
BUDGET = 2048 * 30 * 86_400 * 989e12 * 0.40  # FLOP, seed document 003, if every day computes
N_8B, N_70B, N_405B = 8_030_261_248, 70_553_706_496, 405_853_388_800
# What a token of the 70B costs without its input table and with all attention at 8,192 tokens, or half of it, over 6N.
_ATTENTION = 2 * 80 * 8192 * 8192 / N_70B
FULL, CAUSAL = (1 - 128_256 * 8192 / N_70B + part * _ATTENTION for part in (1, 0.5))
MONTH = 0.9 * 2048 * 30 * 86_400 * 989e12 * 0.40  # FLOP, seed document 003 at a goodput of 0.90
R_D, R_N = 15.387756, 5.309743  # Muennighoff et al. 2023, appendix A


def best_size(constants, compute):
    _, A, B, alpha, beta = constants  # noqa: N806 (the letters of the law)
    return (alpha * A / (beta * B) * (compute / 6) ** beta) ** (1 / (alpha + beta))


def loss(constants, n_params, n_tokens):
    E, A, B, alpha, beta = constants  # noqa: N806
    return E + A / n_params**alpha + B / n_tokens**beta


def best_loss(constants, compute):
    n_params = best_size(constants, compute)
    return loss(constants, n_params, compute / 6 / n_params)


def lifetime(constants, compute, use):
    """Size and tokens of the cheapest life, by bisection on the size instead of Newton's steps on the data term."""
    E, A, B, alpha, beta = constants  # noqa: N806
    target, high = best_loss(constants, compute), best_size(constants, compute)
    low = (A / (target - E)) ** (1 / alpha)  # reaches the loss with endless tokens only

    def tokens(n_params):
        return (B / (target - E - A / n_params**alpha)) ** (1 / beta)

    def total(n_params):
        return 6 * n_params * tokens(n_params) + 2 * n_params * use

    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if total(middle * 1.000001) < total(middle) else (low, middle)
    return low, tokens(low)


def implied(constants, n_params, n_tokens):
    _, A, B, alpha, beta = constants  # noqa: N806
    return 3 * (alpha * A * n_params**-alpha / (beta * B * n_tokens**-beta) - 1)


LIFE_N, LIFE_D = lifetime(REFIT, MONTH, 1e13)
HEAVY_N, HEAVY_D = lifetime(REFIT, MONTH, 1e14)
KAPLAN_1E21 = 1.3e9 * (1e21 / 8.64e19) ** 0.73


def at_budget(constants, compute, n_params):
    return loss(constants, n_params, compute / 6 / n_params)


def saved(constants, compute, n_params):
    """Part of the compute that the best size would not need for the loss of this one, by bisection."""
    low, high = compute / 100, compute
    for _ in range(100):
        middle = (low + high) / 2
        enough = best_loss(constants, middle) <= at_budget(constants, compute, n_params)
        low, high = (low, middle) if enough else (middle, high)
    return 1 - high / compute


def smallest_within(constants, compute, nats):
    """The smallest size that loses at most so much to the best, by bisection."""
    low, high = best_size(constants, compute) / 100, best_size(constants, compute)
    for _ in range(100):
        middle = (low * high) ** 0.5
        inside = at_budget(constants, compute, middle) - best_loss(constants, compute) <= nats
        low, high = (low, middle) if inside else (middle, high)
    return high


def use_for(constants, compute, n_params):
    """Tokens in use for which a size is the cheapest at the loss that a budget buys."""
    E, A, B, alpha, beta = constants  # noqa: N806
    n_tokens = (B / (best_loss(constants, compute) - E - A / n_params**alpha)) ** (1 / beta)
    return n_tokens * implied(constants, n_params, n_tokens)


@pytest.fixture(scope="module")
def chapter(root):
    return glued(root, "notebooks/what_one_number_hides.md")


@pytest.fixture(scope="module")
def allocation(root):
    return glued(root, "notebooks/how_big_how_long.md")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("largest", KAPLAN_1E21 / 1e9),
        ("smallest", best_size(ROUNDED, 1e21) / 1e9),
        ("size_factor", KAPLAN_1E21 / best_size(ROUNDED, 1e21)),
        ("least_ratio", 1e21 / 6 / KAPLAN_1E21**2),
        ("most_ratio", 1e21 / 6 / best_size(ROUNDED, 1e21) ** 2),
        ("llama_text", 0.29 * 3.8e25**0.53 / 1e12),
        ("llama_figure", 0.299 * 3.8e25**0.537 / 1e12),
        ("llama_paper", 16.55),
        ("text_ratio", 6 * (0.29 * 1e21**0.53) ** 2 / 1e21),
        ("figure_ratio", 6 * (0.299 * 1e21**0.537) ** 2 / 1e21),
        ("kaplan_growth", 100**0.73),
        ("hoffmann_growth", 10),
        ("decay_step", 0.602 - 0.571),
        ("month_flops", MONTH / 1e24),
        ("plan_size", N_70B / 1e9),
        ("life_size", LIFE_N / 1e9),
        ("life_ratio", LIFE_N / best_size(REFIT, MONTH)),
        ("life_training", 6 * LIFE_N * LIFE_D / MONTH - 1),
        ("life_days", 30 * 6 * LIFE_N * LIFE_D / MONTH),
        ("life_saving", 1 - (6 * LIFE_N * LIFE_D + 2e13 * LIFE_N) / (MONTH + 2e13 * best_size(REFIT, MONTH))),
        ("eight_times", implied(REFIT, 8_030_261_248, 15e12)),
        ("hoffmann_times", implied(HOFFMANN, 8_030_261_248, 15e12)),
        ("four_passes", 1 + R_D * (1 - exp(-3 / R_D))),
        ("sixteenth", exp(-15 / R_D)),
        ("endless", 1 + R_D),
        ("params_decay", R_N),
        ("heavy_size", HEAVY_N / 1e9),
        ("heavy_training", 6 * HEAVY_N * HEAVY_D / MONTH),
        ("heavy_tokens", MONTH / 6 / HEAVY_N / 1e12),
        ("heavy_lost", loss(REFIT, HEAVY_N, MONTH / 6 / HEAVY_N) - best_loss(REFIT, MONTH)),
        ("heavy_wasted", saved(REFIT, MONTH, HEAVY_N)),
        ("life_full", 30 * 6 * LIFE_N * LIFE_D / MONTH * FULL),
        ("life_causal", 30 * 6 * LIFE_N * LIFE_D / MONTH * CAUSAL),
        ("least_size", best_size(ROUNDED, MONTH) / 1e9),
        ("refit_use", use_for(REFIT, MONTH, best_size(ROUNDED, MONTH)) / 1e12),
        ("first_use", use_for(HOFFMANN, MONTH, best_size(ROUNDED, MONTH)) / 1e12),
        ("fortnight", 128 * 14 * 86_400 * 312e12 * 0.45 / 1e22),
    ],
)
def test_the_chapter_shows_what_a_pocket_calculator_gives(chapter, key, expected):
    shows(*chapter, key, expected)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("gopher_6nd", 5.04),
        ("gopher_less", 1 - 5.04 / 5.76),
        ("from_text", 92.6),
        ("from_source", 58.9),
        ("trend", (0.3478 - 0.3658) / (0.3478 + 0.3658)),
        ("hoffmann_trend", (0.33917084 - 0.2849083) / (0.33917084 + 0.2849083)),
        ("month_flops", BUDGET / 1e24),
        ("floor_8b", 1.82 + 482 / N_8B**0.348),
        ("margin_8b", 1.82 + 482 / N_8B**0.348 - 1.955),
        ("floor_errors", (1.82 + 482 / N_8B**0.348 - 1.955) / 0.03),
        ("loss_70b", at_budget(SEED, BUDGET, N_70B)),
        ("loss_405b", at_budget(SEED, BUDGET, N_405B)),
        ("fewest_full", 20.446333517947103 * FULL),  # seed_figures.json: fewest_tokens_for_70b
        ("fewest_causal", 20.446333517947103 * CAUSAL),
        ("rank_gap", at_budget(SEED, BUDGET, N_405B) - at_budget(SEED, BUDGET, N_70B)),
        ("clear_gap", at_budget(SEED, BUDGET, N_8B) - at_budget(SEED, BUDGET, N_70B)),
        ("gain_gap", at_budget(SEED, BUDGET, N_70B) - best_loss(SEED, BUDGET)),
        ("gain_wasted", saved(SEED, BUDGET, N_70B)),
        ("half_wasted", saved(SEED, BUDGET, best_size(SEED, BUDGET) / 2)),
        ("refit_small", smallest_within(REFIT, 2.1e24, 0.01) / 1e9),
        ("refit_part", smallest_within(REFIT, 2.1e24, 0.01) / best_size(REFIT, 2.1e24)),
        ("first_small", smallest_within(HOFFMANN, 2.1e24, 0.01) / 1e9),
        ("first_part", smallest_within(HOFFMANN, 2.1e24, 0.01) / best_size(HOFFMANN, 2.1e24)),
    ],
)
def test_the_chapter_on_allocation_shows_what_a_pocket_calculator_gives(allocation, key, expected):
    shows(*allocation, key, expected)


def test_the_answers_of_the_question_worth_playing_for_are_what_the_control_gives(allocation):
    _, text = allocation
    assert "{glue:text}`refit_small:.0f` billion" in text.split("A question worth playing for")[1].split("Against")[0]


def shows(values, text, key, expected):
    forms = set(re.findall(rf"{{glue:text}}`{key}:([^`]*)`", text))
    assert forms, f"{key} is not shown"
    for form in forms:
        assert format(values[key], form) == format(expected, form), key


def test_the_safest_size_of_the_month_is_where_its_two_worst_laws_lose_the_same(chapter):
    values, _ = chapter
    laws = (HOFFMANN, ROUNDED, REFIT)
    other = (1.720245, 106.091, 297.9755, 0.2430845, 0.2730054)  # our fit of Gadre's runs on RedPajama
    low, high = log(best_size(ROUNDED, MONTH)), log(best_size(other, MONTH))

    def lost(constants, log_n):
        return loss(constants, exp(log_n), MONTH / 6 / exp(log_n)) - best_loss(constants, MONTH)

    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(other, middle) > max(lost(one, middle) for one in laws) else (low, middle)
    assert values["safe_size"] == pytest.approx(exp(low) / 1e9, rel=1e-6)
    assert values["safe_nats"] == pytest.approx(lost(other, low), rel=1e-5)
    assert values["plan_nats"] == pytest.approx(lost(other, log(N_70B)), rel=1e-6)

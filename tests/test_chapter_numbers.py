"""The numbers that chapters show, recomputed by hand: what is expected here never comes from `lib`."""

import re
import tomllib
from math import sqrt

import pytest

from tests.glued import glued

FORTNIGHT = 128 * 14 * 86_400 * 312e12 * 0.45  # FLOP, seed document 000
SIZE = sqrt(FORTNIGHT / 120)
H100, FP8 = 989.4e12, 1978.9e12  # NVIDIA H100 white paper, Table 1, dense


def law_loss(constants, n_params, n_tokens):
    E, A, B, alpha, beta = constants  # noqa: N806 (the letters of the law)
    return E + A / n_params**alpha + B / n_tokens**beta


def best_size(constants, compute):
    _, A, B, alpha, beta = constants  # noqa: N806
    return (alpha * A / (beta * B) * (compute / 6) ** beta) ** (1 / (alpha + beta))


def least_compute(constants, loss):
    """By bisection, where lib has a closed form."""
    low, high = 1e15, 1e30
    for _ in range(200):
        middle = sqrt(low * high)
        size = best_size(constants, middle)
        low, high = (middle, high) if law_loss(constants, size, middle / 6 / size) > loss else (low, middle)
    return low


PRINTED = (1.69, 406.4, 410.7, 0.34, 0.28)  # Hoffmann et al. 2022, equation 10
SOURCE = (1.6934, 406.401, 410.7228, 0.33917084, 0.2849083)  # its TeX source, after Besiroglu et al. 2024
REFIT = (1.8172, 482.01, 2085.43, 0.3478, 0.3658)  # Besiroglu et al. 2024, Table 1


def flops(layers, width, inner, heads, kv_heads, vocabulary, seq_len):
    """N, and FLOPs a token without the input table, for an untied Llama with heads of 128."""
    matrices = layers * (2 * width * 128 * (heads + kv_heads) + 3 * width * inner)
    norms, table = (2 * layers + 1) * width, vocabulary * width
    return matrices + norms + 2 * table, 6 * (matrices + norms + table), 12 * layers * heads * 128 * seq_len


N_8B, SIX_8B, SQUARE_8B = flops(32, 4096, 14_336, 32, 8, 128_256, 8192)
N_SHAPE, SIX_SHAPE, SQUARE_SHAPE = flops(40, 5120, 14_592, 40, 40, 32_000, 4096)
NORMS_8B = 6 * 65 * 4096  # counted by 6N although they multiply no matrix
DAYS_8B = 6 * N_8B * 15e12 / (1024 * H100 * 0.40) / 86_400


@pytest.fixture(scope="module")
def worked_example(root):
    return glued(root, "notebooks/worked_example.md")


@pytest.fixture(scope="module")
def chips_to_flops(root):
    return glued(root, "notebooks/chips_to_flops.md")


@pytest.fixture(scope="module")
def numbers_to_know(root):
    return glued(root, "book/numbers_to_know.md")


def shows(page, key, expected):
    """The page shows this key, and as often as it does, rounded as there, it is what was expected."""
    values, text = page
    forms = set(re.findall(rf"{{glue:text}}`{key}:([^`]*)`", text))
    assert forms, f"{key} is not shown"
    for form in forms:
        assert format(values[key], form) == format(expected, form), key


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("compute", FORTNIGHT / 1e22),
        ("n_params", SIZE / 1e9),
        ("n_tokens", 20 * SIZE / 1e9),
        ("besiroglu_n", best_size(REFIT, FORTNIGHT) / 1e9),
        ("source_n", best_size(SOURCE, FORTNIGHT) / 1e9),
        ("source_d", FORTNIGHT / 6 / best_size(SOURCE, FORTNIGHT) / 1e9),
        ("printed_n", best_size(PRINTED, FORTNIGHT) / 1e9),
        ("printed_d", FORTNIGHT / 6 / best_size(PRINTED, FORTNIGHT) / 1e9),
        ("source_wasted", 1 - least_compute(SOURCE, law_loss(SOURCE, SIZE, 20 * SIZE)) / FORTNIGHT),
        ("printed_wasted", 1 - least_compute(PRINTED, law_loss(PRINTED, SIZE, 20 * SIZE)) / FORTNIGHT),
        ("pile_passes", 20 * SIZE / (825.18 * 1024**3 * 0.29335)),
        ("weighted_passes", 20 * SIZE / (1254.20 * 1024**3 * 0.29335)),
        ("shape_params", N_SHAPE),
        ("full_days", 14 * (SIX_SHAPE + SQUARE_SHAPE) / (6 * N_SHAPE)),
        ("worst_days", 14 * (SIX_SHAPE + SQUARE_SHAPE) / (6 * N_SHAPE) / 0.9),
        ("gpu_hours", 128 * 14 * 24 / 0.9),
        ("wanted_gpus", 120 * 70e9**2 / (14 * 86_400 * 312e12 * 0.45)),
        ("fast", 6 * 13e9 * 1e12 / (135_168 * 3600 * 312e12)),
        ("slow", 6 * 13e9 * 2e12 / (368_640 * 3600 * 312e12)),
        ("cut_wasted", 1 - least_compute(REFIT, law_loss(REFIT, SIZE, 18 * SIZE)) / (0.9 * FORTNIGHT)),
    ],
)
def test_the_worked_example_shows_what_a_pocket_calculator_gives(worked_example, key, expected):
    shows(worked_example, key, expected)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("days", DAYS_8B),
        ("half_ratio", (SIX_8B + SQUARE_8B / 2) / (6 * N_8B)),
        ("full_ratio", (SIX_8B + SQUARE_8B) / (6 * N_8B)),
        ("full_held", DAYS_8B * (SIX_8B + SQUARE_8B) / (6 * N_8B) / 0.9),
        ("palm_ratio", (6 * N_8B + SQUARE_8B) / (6 * N_8B)),
        ("converted", 800 * (SIX_8B + SQUARE_8B / 2) / (SIX_8B + SQUARE_8B)),
        ("faster", 14_451 / 13_812 - 1),
        ("over_bf16", 800e12 / H100),
        ("over_fp8", 800e12 / FP8),
        ("held_low", 6 * N_8B * 15e12 / (1.3e6 * 3600 * H100)),
        ("held_high", 6 * 13e9 * 1e12 / (135_168 * 3600 * 312e12)),
        ("happened_hours", 1.3),
        ("planned_hours", 1024 * 24 * DAYS_8B / 0.9),
        ("happened_ratio", 1.3e6 / (1024 * 24 * DAYS_8B / 0.9)),
        ("exercise_6n", 6 * N_8B * 1.2e6 / (128 * H100)),
        ("exercise_palm", (6 * N_8B + SQUARE_8B) * 1.2e6 / (128 * H100)),
        ("offer_in_six", 0.45 * 6 * N_8B / (SIX_8B + SQUARE_8B)),
        ("twice_length", (12 * N_8B - SIX_8B + NORMS_8B) / (SQUARE_8B / 8192)),
        ("exact_length", (6 * N_8B - SIX_8B + NORMS_8B) / (SQUARE_8B / 8192 / 2)),
    ],
)
def test_chips_to_flops_shows_what_a_pocket_calculator_gives(chips_to_flops, key, expected):
    shows(chips_to_flops, key, expected)


BEST_1E24 = best_size(REFIT, 1e24)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("full", (SIX_8B + SQUARE_8B) / (6 * N_8B)),
        ("one_billion_hours", 1.2e20 / (8 * H100 * 0.40) / 3600),
        ("least_used", 6 * N_8B * 15e12 / (1.3e6 * 3600 * H100)),
        ("E", 1.8172),
        ("valley_wasted", 1 - least_compute(REFIT, law_loss(REFIT, 2 * BEST_1E24, 1e24 / 12 / BEST_1E24)) / 1e24),
        ("h100_balance", 989.4 / 3.35),
        ("gpu_hours_between", 54 * 24 * 16_384 / 419),
        ("hours_on_thousand", 54 * 24 * 16 / 419),
        ("most_often", (54 * 16_384 / 419) / (56 * 1024 / 90)),
        ("least_goodput", 33 / 56),
        ("most_goodput", (94_767 - 12_695) * 105.22 / 86_400 / 108),
    ],
)
def test_the_numbers_to_know_are_what_a_pocket_calculator_gives(numbers_to_know, key, expected):
    shows(numbers_to_know, key, expected)


def test_the_glossary_names_the_chips_whose_fp8_is_no_faster_than_bf16(root):
    facts = tomllib.loads((root / "lib/data/accelerators.toml").read_text())
    slow = [
        name
        for name, chip in facts.items()
        if {"peak_fp8", "peak_bf16"} <= chip.keys() and chip["peak_fp8"]["value"] < 1.9 * chip["peak_bf16"]["value"]
    ]
    assert slow == ["TPU v5p", "TPU v6e"]
    assert "not on TPU v5p and v6e" in (root / "book/glossary.md").read_text()

"""Maximal-update parametrization: the powers of the width, and what a sweep costs."""

import pytest

from lib.compute import train_flops
from lib.recipe.mup import GPT3_PROXY_PARAMS, GPT3_WIDTHS, RULES, Sweep, hidden_lr

approx = pytest.approx


def test_the_powers_of_table_3():
    # Yang et al. 2022, Table 3, Adam: variances 1/fan_in, 1/fan_in, 1/fan_in^2; rates 1, 1/fan_in, 1/fan_in.
    assert {kind: (rule.std_power, rule.lr_power) for kind, rule in RULES.items()} == {
        "input": (0, 0),
        "hidden": (-0.5, -1),
        "output": (-1, -1),
    }


def test_cerebras_gpts_layers_at_width_768_learn_at_a_third():
    assert hidden_lr(6e-3, 768, 256) == approx(2e-3)


def test_gpt3s_proxy_is_a_sixteenth_as_wide_and_168_times_smaller():
    narrow, wide = GPT3_WIDTHS
    assert RULES["hidden"].lr_factor(wide / narrow) == 1 / 16
    ratio = 6.7e9 / GPT3_PROXY_PARAMS
    assert ratio == approx(168, abs=1)


def test_a_sweeps_cost_is_that_of_its_trials():
    sweep = Sweep(n_trials=100, n_params=40e6, n_tokens=4e9)
    assert sweep.compute_flops == approx(100 * 6 * 40e6 * 4e9)
    assert sweep.share_of(train_flops(6.7e9, 300e9)) == approx(9.6e19 / 1.206e22)

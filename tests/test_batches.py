"""Batches: how they divide, how they grow, and when a larger one stops paying."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.recipe.batches import (
    Ramp,
    accumulation_steps,
    critical_batch_tokens,
    critical_growth,
    data_parallel,
    global_batch,
    lr_share_of_batch,
    nearest_batch,
    steps_over_fewest,
    tokens_over_fewest,
)

approx = pytest.approx
few = st.integers(1, 512)


@given(data=few, micro=st.integers(1, 16), times=few)
def test_accumulation_undoes_the_product(data, micro, times):
    whole = data * micro * times
    assert global_batch(data, micro, times) == whole
    assert accumulation_steps(whole, data, micro) == times


@pytest.mark.parametrize(
    ("batch", "data", "micro", "near"),
    [(1000, 128, 2, "768 or 1024"), (100, 128, 2, "256"), (257, 128, 2, "256 or 512")],
)
def test_a_batch_that_does_not_divide_is_refused_with_its_neighbours(batch, data, micro, near):
    with pytest.raises(ValueError, match=rf"global_batch = {batch}: a multiple of .* = 256; nearest {near}$"):
        accumulation_steps(batch, data, micro)


def test_devices_that_do_not_divide_into_copies_are_refused_with_their_neighbours():
    with pytest.raises(ValueError, match=r"model_parallel = 12: a divisor of n_gpus = 128; nearest 8 or 16"):
        data_parallel(128, 12)


@given(wish=st.floats(1, 1e9), data=few, micro=st.integers(1, 16), seq_len=st.integers(1, 32_768))
def test_no_other_batch_lies_nearer_to_the_wish(wish, data, micro, seq_len):
    sequences, times = nearest_batch(wish, data, micro, seq_len)
    unit = data * micro * seq_len
    assert accumulation_steps(sequences, data, micro) == times >= 1
    off = abs(sequences * seq_len - wish)
    assert off <= unit / 2 * (1 + 1e-9) or times == 1
    assert off <= abs(unit * (times + 1) - wish)


def test_kaplans_critical_batch_at_the_losses_that_the_paper_plots():
    assert critical_batch_tokens(1.0) == 2e8
    assert critical_batch_tokens(2.5) == approx(2e8 / 2.5 ** (1 / 0.21))
    assert critical_batch_tokens(2.5 * 0.99) / critical_batch_tokens(2.5) == approx(1.049, abs=1e-3)


@given(batch=st.floats(1e3, 1e9), critical=st.floats(1e3, 1e9))
def test_saving_steps_costs_tokens(batch, critical):
    fewest, least = steps_over_fewest(batch, critical), tokens_over_fewest(batch, critical)
    assert (fewest - 1) * (least - 1) == approx(1)  # McCandlish et al. 2018, equation 2.11


def test_at_the_critical_batch_both_double_and_the_rate_halves():
    assert steps_over_fewest(4e6, 4e6) == tokens_over_fewest(4e6, 4e6) == 2
    assert lr_share_of_batch(4e6, 4e6) == 0.5


def test_the_critical_batch_grows_more_slowly_than_the_tokens():
    assert critical_growth(1.0) == 1
    assert critical_growth(100.0) == approx(10 ** (2 * 0.47))


@given(first=st.floats(1e3, 1e6), growth=st.floats(1, 1e3), tokens=st.floats(1e6, 1e12))
def test_a_ramps_steps_are_the_sum_of_its_steps(first, growth, tokens):
    ramp = Ramp(first_tokens=first, batch_tokens=first * growth, ramp_tokens=tokens)
    assert ramp.at(tokens) == approx(first * growth)
    marks = [(k / 400) ** 3 * tokens for k in range(401)]  # close to one another where the batch doubles soon
    counted = sum((b - a) / ramp.at((a + b) / 2) for a, b in pairwise(marks))
    assert ramp.ramp_steps == approx(counted, rel=1e-3)
    assert ramp.extra_steps >= -1e-9 * ramp.ramp_steps


def test_a_ramp_begins_at_its_first_batch():
    ramp = Ramp(first_tokens=32e3, batch_tokens=3.2e6, ramp_tokens=12e9)
    assert (ramp.at(0.0), ramp.at(12e9), ramp.at(13e9)) == (32e3, 3.2e6, 3.2e6)


def test_a_ramp_that_falls_is_refused():
    with pytest.raises(ValueError, match=r"first_tokens = 2e\+06: at most the full batch, 1e\+06"):
        Ramp(first_tokens=2e6, batch_tokens=1e6, ramp_tokens=1e9)


def test_a_flat_ramp_takes_no_more_steps():
    flat = Ramp(first_tokens=1e6, batch_tokens=1e6, ramp_tokens=1e9)
    assert flat.ramp_steps == 1000
    assert math.isclose(flat.extra_steps, 0.0, abs_tol=1e-9)

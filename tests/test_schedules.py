"""Schedules: their ends, their areas, and that arrays and numbers agree."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.recipe.schedules import KINDS, Schedule, cosine_lr, linear_lr, warmup, wsd_lr, wsd_sqrt_lr

approx = pytest.approx


def a_schedule(kind, peak_lr=3e-4, low=0.1, total_steps=10_000.0, warmup_steps=100.0, decay=0.2):
    return Schedule(
        kind=kind,
        peak_lr=peak_lr,
        min_lr=low * peak_lr,
        total_steps=total_steps,
        warmup_steps=warmup_steps,
        decay_steps=decay * (total_steps - warmup_steps) if kind.startswith("warmup") else None,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_schedule_begins_at_nothing_reaches_its_peak_and_ends_at_its_end(kind):
    schedule = a_schedule(kind)
    assert schedule.at(0.0) == 0.0
    assert schedule.at(50.0) == approx(1.5e-4)
    assert schedule.at(100.0) == approx(3e-4)
    assert schedule.at(10_000.0) == approx(3e-5)
    assert schedule.at(20_000.0) == approx(3e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_no_schedule_rises_after_its_warm_up(kind):
    rates = a_schedule(kind).at(np.linspace(100.0, 10_000.0, 500))
    assert (np.diff(rates) <= 1e-18).all()


@given(
    kind=st.sampled_from(KINDS),
    low=st.floats(0, 1),
    warm=st.floats(0, 0.5),
    decay=st.floats(0.01, 1),
)
def test_the_mean_share_is_the_area_under_the_schedule(kind, low, warm, decay):
    schedule = a_schedule(kind, low=low, warmup_steps=warm * 10_000, decay=decay)
    steps = (np.arange(40_000) + 0.5) / 4
    assert schedule.mean_share == approx(schedule.at(steps).mean() / 3e-4, rel=1e-3)


@given(kind=st.sampled_from(KINDS), step=st.floats(0, 20_000), low=st.floats(0, 1))
def test_a_number_and_an_array_give_the_same_rate(kind, step, low):
    schedule = a_schedule(kind, low=low)
    assert schedule.at(np.array([step]))[0] == approx(schedule.at(step), rel=1e-12)
    assert 0 <= schedule.at(step) <= 3e-4 * (1 + 1e-12)


def test_halfway_a_cosine_and_a_line_meet():
    assert cosine_lr(5000.0, 1.0, 0.1, 10_000.0, 0.0) == approx(0.55)
    assert linear_lr(5000.0, 1.0, 0.1, 10_000.0, 0.0) == approx(0.55)
    assert cosine_lr(2500.0, 1.0, 0.0, 10_000.0, 0.0) == approx((1 + math.sqrt(0.5)) / 2)


def test_a_stable_schedule_stays_at_its_peak_until_it_decays():
    common = (3e-4, 0.0, 1000.0, 10.0, 100.0)
    assert wsd_lr(900.0, *common) == wsd_sqrt_lr(900.0, *common) == 3e-4
    assert wsd_lr(925.0, *common) == approx(3e-4 * 0.75)
    assert wsd_sqrt_lr(925.0, *common) == approx(3e-4 * 0.5)


def test_no_warm_up_means_the_peak_from_the_start():
    assert warmup(0.0, 0.0) == 1.0
    assert cosine_lr(0.0, 3e-4, 0.0, 100.0, 0.0) == 3e-4


def test_a_stable_schedule_needs_a_lower_peak_for_the_mean_of_a_cosine():
    cosine, stable = a_schedule("cosine", warmup_steps=0.0), a_schedule("warmup-stable-decay", low=0, warmup_steps=0.0)
    peak = stable.peak_of_equal_mean(cosine)
    assert peak / 3e-4 == approx(0.55 / 0.9)
    moved = Schedule(**vars(stable) | {"peak_lr": peak})
    assert moved.mean_share * peak == approx(cosine.mean_share * 3e-4)


@given(total=st.integers(10, 10**6), share=st.floats(0.01, 1), peak=st.floats(1e-6, 1))
def test_every_decay_ends_at_its_end_to_the_last_digit(total, share, peak):
    lengths = {"min_lr": 0.0, "total_steps": float(total), "warmup_steps": 1.0}
    for decay in (wsd_lr, wsd_sqrt_lr):
        assert decay(float(total), peak, decay_steps=share * (total - 1.0), **lengths) == 0.0
    assert linear_lr(float(total), peak, **lengths) == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"low": 2.0}, r"min_lr = 0.0006: at most the peak, 0.0003"),
        ({"kind": "cosine", "warmup_steps": 10_001.0}, r"warmup_steps = 10001: fewer than the 10000 of the run"),
        ({"decay": 1.5}, r"decay_steps = 14850: at most 9900, what the warm-up leaves"),
        ({"kind": "cosin"}, r"kind = 'cosin': one of cosine.*did you mean 'cosine'"),
    ],
)
def test_schedules_refuse_lengths_that_do_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        a_schedule(**{"kind": "warmup-stable-decay"} | changes)


def test_a_stable_schedule_is_asked_how_long_it_decays():
    with pytest.raises(ValueError, match="decay_steps = None"):
        Schedule(kind="warmup-stable-decay", peak_lr=3e-4, min_lr=0.0, total_steps=100.0)

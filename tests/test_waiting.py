"""Going or waiting: the balance of days, and what it does not depend on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.readiness.review import to_approve
from lib.readiness.waiting import break_even, days_lost
from lib.whatif.readiness import go_or_wait_view

days = st.floats(0.1, 60.0)
shares = st.floats(0.05, 1.0)
approx = pytest.approx


@given(days, days, shares)
def test_at_the_break_even_both_ways_lose_the_same(wait, lost, found):
    edge = break_even(wait, lost, found)
    if edge <= 1:
        going, waiting = days_lost(edge, wait, lost, found)
        assert going == approx(waiting)


@given(days, days, shares, st.floats(0.0, 1.0))
def test_waiting_is_cheaper_only_above_the_break_even(wait, lost, found, probability):
    going, waiting = days_lost(probability, wait, lost, found)
    margin = probability - break_even(wait, lost, found)
    if abs(margin) > 1e-9:
        assert (waiting < going) == (margin > 0)


@given(days, days, st.floats(0.01, 100.0))
def test_the_break_even_does_not_depend_on_the_unit_of_time(wait, lost, k):
    assert break_even(k * wait, k * lost) == approx(break_even(wait, lost))


def test_a_certain_check_of_a_certain_fault_costs_its_wait_alone():
    assert days_lost(1.0, 2.0, 13.0) == (13.0, 2.0)
    assert days_lost(0.0, 2.0, 13.0) == (0.0, 2.0)


def test_the_budget_is_pilots_run_and_slow_end():
    assert to_approve(47_888.0, 616.0, 0.07) == approx(616 + 47_888 + 3352.16)
    assert to_approve(1000.0, 0.0, 0.0) == 1000.0


def test_the_size_of_the_cluster_and_the_price_do_not_change_the_decision():
    small, large = go_or_wait_view(), go_or_wait_view(n_gpus=38_400, price_usd_per_gpu_hour=10.0)
    assert small.title == large.title
    cost = [row.value for row in small.rows if row.unit == "USD"]
    assert cost == approx([1.3 * 384 * 24 * 2, 2.13 * 384 * 24 * 2])


@pytest.mark.parametrize(
    ("settings", "word"), [({}, "Go"), ({"fault_probability": 0.2}, "Wait"), ({"wait_days": 1}, "Wait")]
)
def test_the_title_says_what_to_do(settings, word):
    assert go_or_wait_view(**settings).title.startswith(word)


def test_where_waiting_never_pays_it_says_so():
    assert "even if the fault were certain" in go_or_wait_view(wait_days=20.0).title

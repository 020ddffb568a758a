"""Published calendars against the words of their sources, and evidence that is made up."""

import datetime

import pytest

from lib.description import parse
from lib.ladder import evaluate, rungs
from lib.ladder.made_up import made_up
from lib.ladder.published import CALENDARS, FACTS, Calendar
from lib.readiness.tables import approved_days, published_budgets

approx = pytest.approx
LLAMA, BLOOM, OPT = CALENDARS.values()
RUN = parse('tokens = "1T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64')


def test_llama_3_was_interrupted_every_three_hours():
    # Grattafiori et al. 2024: 419 unexpected interruptions in 54 days on 16,384 GPUs, above 90% effective time.
    assert LLAMA.gpu_hours_between / LLAMA.n_gpus == approx(3.1, abs=0.05)
    assert LLAMA.gpu_hours_between == approx(54 * 24 * 16_384 / 419)
    assert LLAMA.goodput == approx(0.9)


def test_blooms_progress_is_its_iterations_at_its_speed():
    # Chronicles: iteration 12,695 on March 18, 94,767 on July 4, 105.22 seconds each; 1 to 2 failures a week.
    assert BLOOM.compute_days == approx((94_767 - 12_695) * 105.22 / 86_400, abs=0.01)
    assert BLOOM.calendar_days == (datetime.date(2022, 7, 4) - datetime.date(2022, 3, 18)).days
    assert BLOOM.interruptions == approx(1.5 * 108 / 7, abs=0.1)


def test_opt_took_56_days_for_33():
    # Chronicles: about 33 days on 1,024 A100s; November 11 to January 6; about 90 restarts.
    assert OPT.calendar_days == (datetime.date(2022, 1, 6) - datetime.date(2021, 11, 11)).days
    assert (OPT.compute_days, OPT.interruptions, OPT.n_gpus) == (33, 90, 1024)
    assert OPT.goodput == approx(33 / 56)


def test_every_calendar_names_its_document_for_each_figure():
    for row in FACTS.values():
        assert all(fact.source and fact.unit in ("GPUs", "days", "") for fact in row.facts.values())


def test_days_are_approved_for_goodput_pilots_and_the_slow_end():
    assert approved_days(OPT) == approx(33 / 0.9 * (1 + 0.01 + 0.07))
    assert [row[-1] for row in published_budgets().rows] == ["0.93", "0.90", "1.41"]


def test_a_calendar_shorter_than_its_compute_is_refused():
    with pytest.raises(ValueError, match="calendar_days = 30: at least compute_days = 33"):
        Calendar(name="r", n_gpus=8, compute_days=33.0, calendar_days=30.0, interruptions=1.0, source="s")


@pytest.mark.parametrize("highest", range(1, 8))
def test_made_up_evidence_passes_its_rungs_and_says_what_it_is(highest):
    found = made_up(RUN, tuple(range(1, highest + 1)), "h100")
    assert evaluate(RUN, found).highest == highest
    assert all("made up" in piece.what for piece in found.pieces)


def test_one_changed_quantity_breaks_its_rung_and_all_above():
    broken = evaluate(RUN, made_up(RUN, changed={"one_batch_loss": 1.0}))
    assert broken.highest == 1
    assert [one.threshold.name for one in broken.next.failures] == ["one_batch_loss"]
    left_out = evaluate(RUN, made_up(RUN, changed={"one_batch_loss": None}))
    assert left_out.next.words == "not passed: not measured: one_batch_loss"


def test_made_up_evidence_lies_on_the_ends():
    end = next(one for one in rungs(RUN)[1].thresholds if one.name == "one_batch_loss").at_most
    assert made_up(RUN, (2,)).pieces[0].measured["one_batch_loss"] == end

"""The numbers that the chapter on the readiness review shows, recomputed by hand, without `lib`."""

import re

import pytest

from tests.glued import glued

approx = pytest.approx
SLOW = 1 - 400 / 430  # Grattafiori et al. 2024, Table 4: TFLOP/s a GPU on 8,192 and on 16,384
PEAKS = {"fortnight": 312e12, "month": 989.4e12}


@pytest.fixture(scope="module")
def chapter(root):
    """What the chapter glues; and its text."""
    return glued(root, "notebooks/readiness_review.md")


def test_without_measurements_the_measured_items_are_only_stated(chapter):
    found, _ = chapter
    assert (found["n_items"], found["n_verified"], found["n_stated"]) == (10, 7, 3)  # batches, measured, resume
    assert found["verified_5"] == 0
    assert found["renamed"] == 10
    # Of the recorded ladder: nobody looked at the text, so the resume stands above it; and no target hardware.
    assert found["real_verified"] == 7


def test_the_holes_in_both_plans(chapter):
    found, _ = chapter
    assert found["slow"] == approx(SLOW, abs=0.0003)
    # The fortnight: 2.17e22 FLOP at 45% of 312e12 on 128 GPUs; exact parameters and 20 tokens each.
    gpus, tokens, size = 128, 269_183_726_105.42, 13_487_723_520
    run = 6 * size * tokens / (gpus * PEAKS["fortnight"] * 0.45 * 86_400) / 0.9
    pilots = 0.01 * run + (1 + 8 + 4 * 32) / gpus / 24
    assert found["fortnight_short"] == approx(run * 1.07 + pilots - 14)
    assert found["pilots_share"] == approx(pilots / run)
    # The month: its 30 days are the run's, at the seed's peak of 989.
    run = 30 * 989 / 989.4
    pilots = 0.01 * run + (1 + 8 + 4 * 32) / 2048 / 24
    assert found["month_short"] == approx(run * 1.07 + pilots - 30, abs=1e-6)
    assert found["month_over"] == approx((run * 1.07 + pilots) / 30)


def test_going_and_waiting(chapter):
    found, _ = chapter
    assert found["edge"] == approx(2 / (0.9 * 13))
    assert found["turn_wait"] / (0.9 * 13) == approx(0.1)
    assert 2 / (0.9 * found["turn_lost"]) == approx(0.1)
    turn = found["turn"]
    assert (0.1 * turn, 2 / turn, 13 * turn) == approx((found["edge"], found["turn_wait"], found["turn_lost"]))
    assert found["half_day"] == approx(0.5 / 5)


def test_what_is_printed_as_the_edge_turns_the_answer(chapter):
    """17% and 22 days, rounded down, would still say go."""
    found, _ = chapter
    for probability, wait, lost in (
        (round(found["edge"], 3), 2.0, 13.0),
        (0.1, round(found["turn_wait"], 2) - 0.01, 13.0),
        (0.1, 2.0, round(found["turn_lost"], 1) + 0.1),
    ):
        assert probability * 0.9 * lost > wait


def test_published_calendars(chapter):
    found, _ = chapter
    assert found["opt_ratio"] == approx(56 / (33 / 0.9 * 1.08))
    assert found["opt_goodput"] == approx(33 / 56)
    progress = (94_767 - 12_695) * 105.22 / 86_400
    assert found["bloom_goodput"] == approx(progress / 108, rel=1e-3)
    assert found["bloom_ratio"] == approx(108 / (progress / 0.9 * 1.08), rel=1e-3)


def test_every_letter_of_the_chapter_is_on_the_notation_page(root, chapter):
    def letters(text):
        rows = re.findall(r"^\| (\$[^|]*) \|", text.split("## The same letters elsewhere")[0], re.MULTILINE)
        return {part.strip("$ ") for row in rows for part in row.split(",")}

    assert letters(chapter[1]) <= letters((root / "book/notation.md").read_text())


def test_every_number_that_is_shown_is_glued_and_the_other_way_round(chapter):
    found, text = chapter
    assert set(re.findall(r"\{glue:text\}`(\w+)", text)) == set(found)

"""The numbers that the chapter on the pilot ladder shows, recomputed by hand from published ones."""

import json
import math
import re

import pytest

from lib.pilot import climb, recorded
from lib.plan import PLANS
from lib.scaling import certainty, law
from lib.scaling.allocations import Allocation
from tests.glued import glued

approx = pytest.approx
LLAMA = 54 * 24 * 16_384 / 419  # GPU-hours between unexpected interruptions: Grattafiori et al. 2024, section 3.3.4
MONTH = 2048 * 30 * 24 * 989 / 989.4  # GPU-hours of seed 003's month, at the data sheet's peak


@pytest.fixture(scope="module")
def chapter(root):
    """What it glues, and its text. The fault that it plants is run where chapters are: here its record will do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(climb, "leaking", lambda run, report: recorded.faulty("mask-leak"))
        return glued(root, "notebooks/pilot_ladder.md")


def test_what_the_rungs_take(chapter):
    found, _ = chapter
    assert found["below_six"] == 1 + 8 + 4 * 32
    assert found["below_six_minutes"] == approx(137 / 2048 * 60)
    assert found["rehearsal"] == approx(0.01 + 137 / MONTH)
    assert found["largest_step"] == approx(0.01 * MONTH / 128)
    assert found["largest_rung"] == 5


def test_what_a_failure_may_cost(chapter):
    found, _ = chapter
    for name, gpus in (("fortnight", 128), ("month", 2048)):
        assert found[f"{name}_between"] == approx(LLAMA / gpus, rel=1e-4)
        assert found[f"{name}_lost"] == approx(0.1 * LLAMA / gpus, rel=1e-4)
    assert found["lost_better"] == approx(found["month_lost"] / 2)
    assert found["ratio_gpus"] == 16


def test_the_rates_of_published_clusters(chapter):
    found, _ = chapter
    assert found["llama_hours"] == approx(54 * 24 / 419)
    assert found["bloom_ratio"] == approx(LLAMA / (384 * 24 * 7 / 1.5), rel=2e-3)  # 1 to 2 failures a week
    opt = 1024 * 56 * 24 / 90  # GPU-hours between restarts
    assert found["opt_ratio"] == approx(LLAMA / opt)
    assert found["opt_lost"] == approx(opt / 2048 * 0.1 * 60)


def measured(root, name):
    return json.loads((root / f"lib/data/pilots/{name}.json").read_text())


def test_what_was_recorded_is_what_is_said(chapter, root):
    found, _ = chapter
    sound = {}
    for piece in measured(root, "sound")["pieces"]:
        sound |= piece["measured"]
    leaking = measured(root, "faults")["measured"]["mask-leak"]
    assert found["steps_sound"] == sound["one_batch_steps"] > found["steps_leaking"]
    assert found["steps_leaking"] == leaking["2"]["one_batch_steps"]
    assert found["leak"] == leaking["1"]["mask_leak"] > 0
    assert found["start_error"] == sound["initial_loss_error"] < 0.1
    ways = ("data_parallel", "fsdp", "tensor", "sequence")
    assert found["apart_millionths"] == 1e6 * max(sound[f"{way}_difference"] for way in ways) < 10
    assert (found["highest"], found["n_faults"], found["vocabulary"]) == (2, 8, 64)


def test_the_log_s_slower_steps_and_what_they_cost(chapter):
    found, _ = chapter
    assert found["measured_mfu"] == approx(0.4 / 1.15, rel=5e-3)
    days = 6 * 1_235_814_400 * 1e12 / (64 * 989.4e12 * 0.4) / 86_400
    assert found["planned_days"] == approx(days / 0.9)
    # 30,000 steps as planned, the rest 15% longer; failures go on at the rate that was seen.
    steps, seen = 476_837, 150_000
    lost = (2 / 24 + days * 300 * 1.15 / steps) / seen
    step = days / steps
    by_hand = 30_000 * step + (steps - 30_000) * 1.15 * step + lost * steps
    assert found["forecast_days"] == approx(by_hand, rel=0.03)
    gone = (30_000 + (seen - 30_000 + 300) * 1.15) * step + 2 / 24
    # At the low end the rest is no faster than it began. At the high one 5.57, the 97.5% of Gamma(2), stand in place of
    # 1.5, and a restart costs one to two of the one that was seen.
    assert gone + (steps - seen) * step < found["forecast_days_low"] < by_hand
    more = found["forecast_days_high"] - by_hand
    assert (5.57 / 1.5 - 1) * lost * (steps - seen) < more < (2 * 8 / 1.5 - 1) * lost * (steps - seen)
    assert found["restarts_usual"] == approx(gone * 24 * 64 / LLAMA, rel=0.01)
    assert found["seen_goodput"] == approx(0.95, abs=0.01)
    assert found["broken"] == "utilization"
    law = 1.8172 + 482.01 / 1_235_814_400**0.3478 + 2085.43 / 1e12**0.3658  # Besiroglu et al. 2024, Table 1
    assert found["log_loss_low"] - 0.01 < law < found["log_loss_high"] + 0.01
    assert (found["goodput_verdict"], found["loss_verdict"]) == ("undecided", "holds")


def test_how_likely_a_fault_must_be_for_the_climb_to_pay(chapter):
    found, _ = chapter
    # SmolLM3 as the what-if starts: 3.075B parameters on 11T tokens, 384 H100s at 30%, 1T tokens again, a day's halt.
    size = 3_075_098_624
    run = 6 * size * 11e12 / (0.3 * 989.4e12) / 3600 / 0.9
    late = run / 11 + 384 * 24
    assert found["even_cheap"] == approx(9 / late, rel=0.01)
    assert found["one_in"] == approx(1 / found["even_cheap"])
    assert found["even_dear"] == approx((137 + 0.01 * run) / late, rel=0.01)


def test_every_letter_of_the_chapter_is_on_the_notation_page(root, chapter):
    def letters(text):
        rows = re.findall(r"^\| (\$[^|]*) \|", text.split("## The same letters elsewhere")[0], re.MULTILINE)
        return {part.strip("$ ") for row in rows for part in row.split(",")}

    assert letters(chapter[1]) <= letters((root / "book/notation.md").read_text())


def test_every_number_that_is_shown_is_glued_and_the_other_way_round(chapter):
    found, text = chapter
    assert set(re.findall(r"\{glue:text\}`(\w+)", text)) == set(found)


def test_the_widest_forecast_that_decides(chapter):
    """To either side 1.96 standard errors of the law, all its constants together."""
    found, _ = chapter
    for name, plan in zip(("fortnight", "month"), PLANS, strict=True):
        run = Allocation(n_params=float(plan.description.shape.n_params_active), n_tokens=plan.description.n_tokens)
        error = certainty.loss(law(plan.description.law_name), run).error
        assert found[f"{name}_width"] == approx(2 * 1.96 * error)


def test_the_small_runs_and_the_one_that_was_held_out(chapter, root):
    found, _ = chapter
    logs = [path.read_text().splitlines() for path in sorted((root / "lib/data/small_runs").glob("*.jsonl"))]
    runs = [json.loads(log[0]) | json.loads(log[-1]) for log in logs]
    (held,) = [run for run in runs if run["role"] == "held out"]
    compute = {run["n_params"] * run["n_tokens"] for run in runs if run["role"] == "small run"}
    assert found["small_reached"] == held["eval_loss"]
    assert found["small_low"] < held["eval_loss"] < found["small_high"]
    assert found["small_decades"] == approx(math.log10(max(compute) / min(compute)))
    assert found["small_beyond"] == approx(held["n_params"] * held["n_tokens"] / max(compute))
    assert found["small_same"] < min(found["small_half"], found["small_double"])

"""The readiness review: nothing is verified by being written down; what was signed for another run is stale."""

import datetime
import hashlib
from dataclasses import replace

import pytest

from lib.description import parse
from lib.ladder import Evidence, Piece, evaluate, rungs
from lib.readiness import ITEMS, Statement, review, to_html, to_markdown
from lib.readiness.review import needed_gpu_hours

RUN = parse(
    'tokens = "2T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 256\n'
    '[layout]\nzero_stage = 1\nrecompute = "full"'
)
HASH = hashlib.sha256(b"artefact").hexdigest()
WHOLE = Statement(
    statement="done",
    owner="the data team",
    signed="the lead of training",
    date=datetime.date(2026, 11, 29),
    run_digest=RUN.digest,
    threshold="none worse",
    artefact="artefact",
    sha256=HASH,
    found_sha256=HASH,
    revision="cd56520",
    escalation="on call, then the lead",
    approved_gpu_hours=1e6,
)
ALL = dict.fromkeys(ITEMS, WHOLE)


def climbed(run=RUN, accelerator="h100", numbers=range(1, 8), **changed):
    """Evidence of rungs that pass, but for what is changed; None leaves a quantity out."""
    pieces = []
    for rung in (rungs(run)[number - 1] for number in numbers):
        measured = {one.name: one.at_most if one.at_least is None else one.at_least for one in rung.thresholds}
        measured |= {name: value for name, value in changed.items() if name in measured}
        kept = {name: value for name, value in measured.items() if value is not None}
        made = {"what": "seed 0", "machine": {"accelerator": accelerator}, "time": "2026-11-29T22:00:00+00:00"}
        pieces.append(Piece(rung=rung.number, measured=kept, run_digest=run.digest, **made))
    return Evidence(run=run.plain, pieces=tuple(pieces))


def states(found):
    return {one.item.key: one.state for one in found.states}


def why(found, key):
    return next("; ".join(one.reasons) for one in found.states if one.item.key == key)


def test_the_items_are_the_ten_of_seed_004_in_its_order():
    keys = "configs manifests tokenizer batches contamination measured dashboards resume stop budget"
    assert list(ITEMS) == keys.split()


def test_whole_statements_and_sound_evidence_are_ready():
    found = review(RUN, ALL, climbed())
    assert found.ready, [one.reasons for one in found.states]
    assert found.text == "Ready: of 10 items 10 verified, 0 stated, 0 missing."


def test_nothing_stated_is_missing_and_white_space_states_nothing():
    assert set(states(review(RUN, {}, climbed())).values()) == {"missing"}
    blank = dict.fromkeys(ITEMS, replace(WHOLE, statement="  "))
    assert set(states(review(RUN, blank, climbed())).values()) == {"missing"}


NEEDED = [(key, name) for key, item in ITEMS.items() for name in item.required if name != "statement"]


def test_without_any_of_its_fields_an_item_is_only_stated():
    for key, name in NEEDED:
        empty = None if name in ("date", "approved_gpu_hours") else " "
        found = review(RUN, ALL | {key: replace(WHOLE, **{name: empty})}, climbed())
        assert states(found) == dict.fromkeys(ITEMS, "verified") | {key: "stated"}
        assert f"not said: {name}" in why(found, key)
        assert not found.ready


@pytest.mark.parametrize("key", [key for key, item in ITEMS.items() if "artefact" in item.needs])
def test_an_artefact_that_changed_or_went_away_is_only_stated(key):
    changed = review(RUN, ALL | {key: replace(WHOLE, found_sha256="0" * 64)}, climbed())
    assert "artefact: changed since it was signed" in why(changed, key)
    gone = review(RUN, ALL | {key: replace(WHOLE, found_sha256="")}, climbed())
    assert "artefact: no such file" in why(gone, key)
    assert states(changed)[key] == states(gone)[key] == "stated"


@pytest.mark.parametrize(
    ("key", "number", "name", "bad"),
    [(key, number, name, bad) for key, item in ITEMS.items() for number, name in item.measures for bad in (None, -5.0)],
)
def test_a_measured_item_needs_its_measurement_inside_its_threshold(key, number, name, bad):
    found = review(RUN, ALL, climbed(**{name: bad}))
    assert states(found)[key] == "stated"
    assert f"rung {number}, " in why(found, key)
    assert name in why(found, key)


def test_without_evidence_measured_items_are_only_stated():
    found = review(RUN, ALL)
    measured = {key for key, item in ITEMS.items() if item.measures}
    assert {key for key, state in states(found).items() if state == "stated"} == measured


def test_a_measurement_above_a_broken_rung_verifies_nothing():
    found = review(RUN, ALL, climbed(mask_leak=1.0))
    assert "not passed: unit is not, below it" in why(found, "resume")


def test_a_reason_is_given_once():
    found = review(RUN, ALL, climbed(mask_leak=1.0))
    assert [one.item.key for one in found.states if len(set(one.reasons)) < len(one.reasons)] == []
    assert why(found, "resume").count("not passed: unit is not, below it") == 1


def test_another_machine_does_not_verify_memory_and_speed():
    found = review(RUN, ALL, climbed(accelerator="cpu"))
    assert "memory_over_ledger not measured on the plan's GPUs" in why(found, "measured")
    assert states(found)["resume"] == "verified"


def test_a_changed_description_makes_statements_and_evidence_stale():
    found = review(replace(RUN, mfu=0.5), ALL, climbed())
    assert set(states(found).values()) == {"stated"}
    assert "stale: signed for run" in why(found, "configs")
    assert "the evidence is stale: run.speed.mfu = 0.4: 0.5 in the description" in why(found, "resume")


def test_a_budget_holds_the_run_the_ladder_and_the_slow_end():
    needed = needed_gpu_hours(evaluate(RUN))
    assert needed > 1.07 * rungs(RUN)[-1].gpu_hours
    for hours, state in ((needed * 0.999, "stated"), (needed * 1.001, "verified")):
        found = review(RUN, ALL | {"budget": replace(WHOLE, approved_gpu_hours=hours)}, climbed())
        assert states(found)["budget"] == state


def test_what_people_write_breaks_neither_page_nor_table():
    said = replace(WHOLE, owner="a | b <script>alert(1)</script>", sha256="")
    found = review(RUN, ALL | {"configs": said}, climbed())
    page, text = to_html(found), to_markdown(found)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a \\| b \\<script\\>" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 11
    for shown in (page, text):
        assert RUN.digest in shown
        assert "signature ____" in shown


def test_a_paper_to_sign_shows_all_that_is_signed():
    for text in (to_markdown(review(RUN, ALL, climbed())), to_html(review(RUN, ALL, climbed()))):
        for said in ("enough: none worse", "shown by artefact", f"SHA-256 {HASH}", "code cd56520", "approved: 1000000"):
            assert said in text


def test_a_signature_of_a_day_to_come_is_only_stated():
    late = datetime.date.today() + datetime.timedelta(days=2)
    found = review(RUN, ALL | {"tokenizer": replace(WHOLE, date=late)}, climbed())
    assert states(found)["tokenizer"] == "stated"
    assert why(found, "tokenizer") == f"date = {late}: a day to come"

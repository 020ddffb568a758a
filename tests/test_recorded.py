"""The ladder that was climbed once and kept: it is of the run beside it, and each planted fault fails its rung."""

import json

import pytest

from lib.ladder import evaluate
from lib.pilot import recorded
from lib.pilot.faults import FAULTS
from lib.pilot.pilot import scale_down


@pytest.fixture(scope="module")
def sound():
    return evaluate(recorded.run(), recorded.evidence())


def test_the_sound_pilot_fails_nothing_and_waits_for_a_person(sound):
    assert not any(verdict.failures for verdict in sound.verdicts)
    assert sound.highest == 2
    assert [one.threshold.name for one in sound.next.missing] == ["batches_inspected"]
    assert sound.verdicts[3].words == "not passed: one device is not, below it"


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_fails_the_rung_that_has_to_catch_it_and_no_other(name):
    verdicts = recorded.faulty(name).verdicts
    assert [verdict.rung.number for verdict in verdicts if verdict.failures] == [FAULTS[name].rung]


TELLTALE = {  # the quantity that was made for the fault
    "mask-leak": "mask_leak",
    "padding-averaged": "padding_error",
    "tied-apart": "tied_difference",
    "learning-rate-x100": "one_batch_loss",
    "gradients-not-averaged": "data_parallel_difference",
    "positions-off-by-one": "sequence_difference",
    "resume-forgets-data-position": "resumed_data_difference",
    "resume-wrong-rng": "resumed_loss_difference",
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_quantity_that_was_made_for_a_fault_is_among_those_that_fail(name):
    failures = recorded.faulty(name).verdicts[FAULTS[name].rung - 1].failures
    assert TELLTALE[name] in {one.threshold.name for one in failures}


def test_a_leaking_mask_learns_its_batch_faster(sound):
    steps = [
        next(one.value for one in found.verdicts[1].judgements if one.threshold.name == "one_batch_steps")
        for found in (recorded.faulty("mask-leak"), sound)
    ]
    assert steps[0] < steps[1]


def test_the_records_are_of_today_s_pilot(sound):
    what = scale_down(recorded.run()).what
    pieces = recorded.evidence().pieces
    assert {piece.what for piece in pieces} == {what}
    assert {piece.machine["accelerator"] for piece in pieces} == {"cpu"}
    assert recorded._faults()["what"] == what


def test_what_a_fault_measured_is_never_written_as_evidence():
    run, found = recorded.run(), recorded._faults()
    with pytest.raises(ValueError, match="what a sound pilot did"):
        recorded.ladder.Evidence(
            run=run.plain,
            pieces=(
                recorded.ladder.Piece(
                    rung=1,
                    what=f"{recorded.PLANTED} mask-leak: {found['what']}",
                    measured=found["measured"]["mask-leak"]["1"],
                    run_digest=run.digest,
                    time=found["time"],
                ),
            ),
        ).to_json()


def test_no_record_names_a_person_s_machine():
    for text in (recorded.evidence().to_json(), json.dumps(recorded._faults())):
        assert "/home" not in text
        assert "/tmp" not in text


def test_the_table_has_a_row_for_each_fault():
    rows = recorded.caught().rows
    assert [row[1] for row in rows] == [str(fault.rung) for fault in FAULTS.values()]
    assert rows[2][2:4] == (
        "parameters too many or too few; tied tables apart after a step",
        "262.7M parameters; 0.1041",
    )

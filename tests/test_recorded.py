"""The ladder that was climbed once and kept: it is of the run beside it, and waits for a person to look."""

import json

import pytest

from lib.ladder import evaluate
from lib.pilot import recorded
from lib.pilot.pilot import scale_down


@pytest.fixture(scope="module")
def sound():
    return evaluate(recorded.run(), recorded.evidence())


def test_the_sound_pilot_fails_nothing_and_waits_for_a_person(sound):
    assert not any(verdict.failures for verdict in sound.verdicts)
    assert sound.highest == 2
    assert [one.threshold.name for one in sound.next.missing] == ["batches_inspected"]
    assert sound.verdicts[3].words == "not passed: one device is not, below it"


def test_the_records_are_of_today_s_pilot():
    what = scale_down(recorded.run()).what
    for piece in recorded.evidence().pieces:
        assert piece.what == what
        assert piece.machine["accelerator"] == "cpu"


def test_no_record_names_a_person_s_machine():
    text = json.dumps([piece.plain for piece in recorded.evidence().pieces])
    assert "/home" not in text
    assert "/tmp" not in text

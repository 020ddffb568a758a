"""The pilot ladder: thresholds follow from the plan, evidence belongs to one run, and nothing passes by default."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.description import Expectations, parse
from lib.ladder import Evidence, Piece, Threshold, evaluate, files, rungs

RUN = parse(
    'tokens = "2T"\nprice_usd_per_gpu_hour = 2.5\n[model]\nname = "llama-3-8b"\n'
    '[cluster]\naccelerator = "h100"\nn_gpus = 256\n'
    '[layout]\nzero_stage = 1\nseq_len = "8k"\nrecompute = "full"'
)
RUNGS = rungs(RUN)
EXPECTED_LOSS = Expectations(run=RUN).loss
HERE, THERE = {"accelerator": "cpu", "devices": 8}, {"accelerator": "NVIDIA H100 80GB HBM3"}


def inside(threshold):
    """A value that a threshold lets pass."""
    return threshold.at_most if threshold.at_least is None else threshold.at_least


def outside(threshold):
    """One that it does not."""
    if threshold.at_most is None:
        return threshold.at_least * 0.99 - 1e-9
    return threshold.at_most * 1.01 + 1e-9


def piece(rung, machine=THERE, time="2026-11-29T22:00:00+00:00", **changed):
    """Evidence of a rung that passes, but for what is changed."""
    measured = {one.name: inside(one) for one in RUNGS[rung - 1].thresholds} | changed
    kept = {name: value for name, value in measured.items() if value is not None}
    return Piece(rung=rung, what="seed 0", measured=kept, machine=machine, run_digest=RUN.digest, time=time)


def climb(*pieces, run=RUN):
    return evaluate(run, Evidence(run=RUN.plain, pieces=pieces))


# Rungs and thresholds


def test_the_rungs_are_those_of_the_seed_in_order():
    names = ["unit", "one batch", "one device", "one node", "few nodes", "short scaled run", "full run"]
    assert [rung.name for rung in RUNGS] == names
    assert [rung.number for rung in RUNGS] == list(range(1, 8))
    for rung in RUNGS:
        assert rung.thresholds
        assert rung.purpose
        assert rung.failure


def test_every_threshold_decides_and_says_where_it_comes_from():
    for one in (one for rung in RUNGS for one in rung.thresholds):
        assert one.decides, one.name
        assert one.source, one.name
        assert len(one.label) <= 40, one.label  # stands beside its value in 80 columns


def test_the_names_of_a_rung_are_its_own():
    for rung in RUNGS:
        names = [one.name for one in rung.thresholds]
        assert len(names) == len(set(names))


def test_thresholds_follow_from_the_description():
    def of(run, number, name):
        return next(one for one in rungs(run)[number - 1].thresholds if one.name == name)

    expected = Expectations(run=RUN)
    assert of(RUN, 5, "mfu").at_least == pytest.approx(0.4 * (1 - 0.07))
    assert of(RUN, 6, "reserved_bytes").at_most == pytest.approx(1.1 * expected.memory.value)
    assert of(RUN, 6, "forecast_loss_low").at_most == expected.loss.range[1]
    assert of(RUN, 6, "forecast_loss_width").at_most == pytest.approx(2 * expected.loss.tolerance)
    assert of(replace(RUN, goodput=0.8), 6, "checkpoint_stall_share").at_most == pytest.approx(0.2)
    # 419 interruptions in 54 days on 16,384 GPUs: 50,677 GPU-hours each, 198 hours of 256 GPUs.
    assert of(RUN, 5, "hours_lost_to_a_failure").at_most == pytest.approx(0.1 * 50677 / 256)
    assert of(RUN, 5, "spare_nodes").at_least == 1


def test_tied_weights_are_measured_where_there_are_some():
    tied = replace(RUN, shape=replace(RUN.shape, tied=True))
    assert {one.name for one in rungs(tied)[0].thresholds} - {one.name for one in RUNGS[0].thresholds} == {
        "tied_difference"
    }


def test_each_rung_costs_more_than_the_one_below_and_the_last_is_the_run():
    hours = [rung.gpu_hours for rung in RUNGS]
    assert hours == sorted(hours)
    assert hours[-1] == Expectations(run=RUN).gpu_hours
    assert evaluate(RUN).rehearsal_gpu_hours == sum(hours[:-1]) < 0.02 * hours[-1]
    assert [rung.cost_usd for rung in RUNGS] == [pytest.approx(2.5 * hour) for hour in hours]


def test_a_law_without_a_published_error_decides_nothing():
    unsure = replace(RUN, law_name="Hoffmann 2022")
    sixth = rungs(unsure)[5]
    names = ["forecast_loss_low", "forecast_loss_high", "forecast_loss_width"]
    assert [one.name for one in sixth.thresholds if not one.decides] == names
    pieces = tuple(replace(piece(n), run_digest=unsure.digest) for n in range(1, 8))
    found = evaluate(unsure, Evidence(run=unsure.plain, pieces=pieces))
    assert found.highest == 5
    assert found.next.words == f"not passed: not decidable: {', '.join(names)}"


def forecast_of(centre_off, width, loss=EXPECTED_LOSS):
    """The verdict of rung 6 on a forecast, off the expected loss and so wide, both in tolerances."""
    ends = [loss.value + (centre_off + side * width / 2) * loss.tolerance for side in (-1, 1)]
    measured = {"forecast_loss_low": ends[0], "forecast_loss_high": ends[1], "forecast_loss_width": ends[1] - ends[0]}
    return climb(*(piece(n, **(measured if n == 6 else {})) for n in range(1, 7))).verdicts[5]


@pytest.mark.parametrize(
    ("centre_off", "width", "words"),
    [
        (0.0, 1.99, "passed"),
        (1.9, 1.99, "passed"),  # both ranges are half wide: they meet
        (2.1, 1.99, "failed"),
        (0.0, 2.01, "not passed: not decidable: forecast too wide"),
        (0.0, 1e6, "not passed: not decidable: forecast too wide"),
        (9.0, 2.01, "failed"),  # beside the law, however wide
    ],
)
def test_a_forecast_that_could_not_fail_does_not_pass(centre_off, width, words):
    assert forecast_of(centre_off, width).words == words


@given(centre_off=st.floats(-99, 99), width=st.floats(0, 99))
def test_no_forecast_passes_that_lies_off_by_more_than_twice_the_tolerance(centre_off, width):
    assert not (forecast_of(centre_off, width).passed and abs(centre_off) > 2.001)


def test_what_was_not_measured_is_told_before_what_decides_nothing():
    wide = piece(6, forecast_loss_width=9.0, goodput=None)
    assert climb(wide).verdicts[5].words == "not passed: not measured: goodput"


@given(value=st.floats(allow_nan=True, allow_infinity=True), low=st.floats(-9, 0), high=st.floats(0, 9))
def test_a_margin_is_below_zero_exactly_outside(value, low, high):
    margin = Threshold(name="x", label="x", at_least=low, at_most=high).margin(value)
    assert (margin >= 0) == (low <= value <= high) or abs(margin) < 1e-9


# Verdicts


def test_without_evidence_nothing_is_passed():
    found = evaluate(RUN)
    assert found.highest == 0
    assert {verdict.words for verdict in found.verdicts} == {"not passed: no evidence"}


def test_sound_evidence_passes_all():
    found = climb(*(piece(number) for number in range(1, 8)))
    assert found.highest == 7
    assert found.next is None


CASES = [(rung.number, one.name) for rung in RUNGS for one in rung.thresholds]
FAILING = [(rung.number, one.name) for rung in RUNGS for one in rung.thresholds if not one.undecided]


def test_one_threshold_alone_is_of_the_evidence_and_not_of_the_run():
    assert set(CASES) - set(FAILING) == {(6, "forecast_loss_width")}


def test_each_measurement_outside_fails_its_rung_and_stops_all_above():
    for number, name in FAILING:
        threshold = next(one for one in RUNGS[number - 1].thresholds if one.name == name)
        bad = {name: outside(threshold)}
        found = climb(*(piece(n, **(bad if n == number else {})) for n in range(1, 8)))
        verdict = found.verdicts[number - 1]
        assert verdict.words == "failed"
        assert [one.threshold.name for one in verdict.failures] == [name]
        assert verdict.tightest.margin < 0
        assert found.highest == number - 1
        assert all(f"not passed: {RUNGS[number - 1].name} is not" in above.words for above in found.verdicts[number:])


def test_what_is_no_number_fails():
    for value in [math.nan, math.inf, -math.inf]:
        for number in range(1, 8):
            name = RUNGS[number - 1].thresholds[0].name
            assert climb(piece(number, **{name: value})).verdicts[number - 1].words == "failed"


def test_what_was_not_measured_does_not_pass():
    for number, name in CASES:
        found = climb(*(piece(n, **({name: None} if n == number else {})) for n in range(1, 8)))
        assert found.verdicts[number - 1].words == f"not passed: not measured: {name}"
        assert found.highest == number - 1


OF_THE_RUN_ITSELF = ["log_problems", "nan_losses", "memory_over_ledger", "mfu"]  # of rung 3


def test_a_rung_without_evidence_stops_all_above():
    found = climb(piece(1), piece(2), piece(4))
    assert found.highest == 2
    assert found.verdicts[3].words == "not passed: one device is not, below it"


def test_a_readers_machine_climbs_four_rungs_and_tells_what_it_cannot():
    found = climb(*(piece(number, machine=HERE) for number in range(1, 8)))
    assert found.highest == 4
    assert [one.threshold.name for one in found.verdicts[2].untested] == OF_THE_RUN_ITSELF
    assert found.next.words == "not passed: no evidence"


def test_a_pilot_on_the_plans_own_accelerator_is_not_asked_what_only_the_run_itself_can_tell():
    small = piece(3, machine=THERE, **dict.fromkeys(OF_THE_RUN_ITSELF))
    found = climb(piece(1), piece(2), small)
    assert found.highest == 3
    assert [one.threshold.name for one in found.verdicts[2].untested] == OF_THE_RUN_ITSELF


def test_speed_of_another_machine_is_not_held_against_the_plan():
    assert climb(piece(1), piece(2), piece(3, machine=HERE, mfu=0.01)).highest == 3
    assert climb(piece(1), piece(2), piece(3, machine=THERE, mfu=0.01)).highest == 2


def test_of_two_measurements_the_later_counts_whatever_their_order():
    bad = piece(2, time="2026-11-29T23:30:00+02:00", one_batch_loss=1.0)  # half an hour before
    good = piece(2, time="2026-11-29T22:00:00+00:00")
    for pieces in ((piece(1), bad, good), (piece(1), good, bad)):
        assert climb(*pieces).highest == 2


def test_parts_of_a_rung_may_be_measured_apart():
    half = {one.name: None for one in RUNGS[3].thresholds[:4]}
    rest = {one.name: None for one in RUNGS[3].thresholds[4:]}
    assert climb(piece(1), piece(2), piece(3), piece(4, **half), piece(4, **rest)).highest == 4


@given(st.lists(st.sampled_from(["good", "bad", "none"]), min_size=7, max_size=7))
def test_no_rung_passes_above_one_that_is_not(kinds):
    bad = {1: "mask_leak", 2: "one_batch_loss", 3: "flops_difference", 4: "resumed_loss_difference"}
    pieces = [
        piece(n, **({bad.get(n, "mfu"): 2.0} if kind == "bad" else {}))
        for n, kind in enumerate(kinds, 1)
        if kind != "none"
    ]
    passed = [verdict.passed for verdict in climb(*pieces).verdicts]
    assert passed == sorted(passed, reverse=True)
    assert sum(passed) == next((n for n, kind in enumerate(kinds) if kind != "good"), 7)


# Evidence


def written(*pieces):
    return json.loads(Evidence(run=RUN.plain, pieces=pieces).to_json())


def test_evidence_is_read_back_as_it_was_written(tmp_path):
    evidence = Evidence(run=RUN.plain, pieces=(piece(1), piece(2, one_batch_loss=math.inf, one_batch_steps=math.nan)))
    path = str(tmp_path / "evidence.json")
    files.write(path, evidence)
    again = files.read(path)
    assert again.pieces[0] == evidence.pieces[0]
    assert again.pieces[1].measured["one_batch_loss"] == math.inf
    assert math.isnan(again.pieces[1].measured["one_batch_steps"])
    assert again.to_json() == evidence.to_json()
    with pytest.raises(FileExistsError):
        files.write(path, evidence)


def test_evidence_of_another_run_is_refused_with_the_field_that_differs():
    other = replace(RUN, mfu=0.5)
    with pytest.raises(ValueError, match=r"^run\.speed\.mfu = 0\.4: 0\.5 in the description; .* another run"):
        climb(piece(1), run=other)


def test_pieces_are_added_to_a_file_of_the_same_run_only(tmp_path):
    path = str(tmp_path / "evidence.json")
    files.add(path, RUN, piece(1))
    files.add(path, RUN, piece(2), piece(3))
    assert [one.rung for one in files.read(path).pieces] == [1, 2, 3]
    before = (tmp_path / "evidence.json").read_bytes()
    other = replace(RUN, mfu=0.5)
    with pytest.raises(ValueError, match=r"evidence\.json: run\.speed\.mfu = 0\.4: 0\.5"):
        files.add(path, other, replace(piece(4), run_digest=other.digest))
    with pytest.raises(ValueError, match=r"^pieces\[3\]\.run_digest = "):
        files.add(path, RUN, replace(piece(4), run_digest=other.digest))
    assert (tmp_path / "evidence.json").read_bytes() == before


def test_a_new_name_makes_no_other_run():
    assert climb(piece(1), run=replace(RUN, name="the same")).highest == 1


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda d: d["pieces"][0]["measured"].update(mask_leak=0.5), "pieces[0].measured.mask_leak = 0.5: edited"),
        (lambda d: d["pieces"][0]["measured"].pop("mask_leak"), "pieces[0].measured.mask_leak: taken out"),
        (lambda d: d["pieces"][0]["measured"].update(more=1.0), "pieces[0].measured.more = 1.0: edited"),
        (lambda d: d["pieces"][0].update(rung=2), "pieces[0].rung = 2: edited"),
        (lambda d: d["pieces"][0].update(time="2027-01-01T00:00:00+00:00"), "pieces[0].time = '2027"),
        (lambda d: d["pieces"][0]["machine"].update(accelerator="h200"), "pieces[0].machine.accelerator = 'h200'"),
        (lambda d: d["pieces"][0].update(seals=3), "pieces[0].seals = 3 (int): a dict"),
        (lambda d: d["pieces"][0].pop("what"), "pieces[0].what: missing"),
        (lambda d: d["pieces"][0].update(note="fine"), "pieces[0].note = 'fine': no field"),
        (lambda d: d["run"].update(goodput=0.95), "pieces[0].run_digest = "),
        (lambda d: d.update(evidence=2), "evidence = 2: 1, the form"),
        (lambda d: d.pop("run"), "run: missing"),
        (lambda d: d.update(pieces={}), "pieces = {} (dict): a list"),
        (lambda d: d.update(pieces=[3]), "pieces[0] = 3 (int): a dict"),
    ],
)
def test_what_was_edited_is_named(edit, told):
    plain = written(piece(1))
    edit(plain)
    with pytest.raises(ValueError, match=r"^evidence\.json: ") as refused:
        files.parse(json.dumps(plain), "evidence.json")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("[]", "evidence = [] (list): a dict"),
        ('{"evidence": 1, "evidence": 1}', "evidence: given twice"),
        ('{"evidence": NaN}', "NaN: no JSON"),
        ('{"evidence": 1, "run": {}', "Expecting"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_evidence_is_refused_in_one_line(text, told):
    with pytest.raises(ValueError, match=r"^evidence\.json: ") as refused:
        files.parse(text, "evidence.json")
    assert told in str(refused.value)


@pytest.mark.parametrize("time", ["", "yesterday", "2026-11-29", "2026-11-29T22:00:00"])
def test_a_time_has_its_offset(time):
    with pytest.raises(ValueError, match=r"^time = .*with its offset"):
        piece(1, time=time)

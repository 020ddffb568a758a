"""Logs: every form is read, what is not sound is told with its line, and what the log shows is what the run did."""

import json
import math
import random
import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.logs import Report, parse, read
from lib.logs.fields import field_of
from lib.logs.stability import spikes
from lib.whatif.log_card import log_dict, log_view
from tests import logged

STEPS = logged.run(60)
SHORT = {name: make(logged.run(12)).encode() for name, make in (logged.TEXTS | {"W&B": logged.wandb}).items()}
SHORT["TensorBoard"] = logged.event_file(logged.run(12))


def report_of(text):
    return Report(log=parse(text.encode() if isinstance(text, str) else text))


def problems_of(text):
    return [problem.text for problem in report_of(text).problems]


@pytest.mark.parametrize("form", logged.TEXTS)
def test_each_form_is_told_apart_and_its_steps_are_read(form):
    log = parse(logged.TEXTS[form](STEPS).encode())
    assert (log.form, log.problems) == (form, ())
    assert [entry.step for entry in log.entries] == [step.step for step in STEPS]
    assert all(abs(entry.loss - step.loss) < 1e-3 for entry, step in zip(log.entries, STEPS, strict=True))


@pytest.mark.parametrize("form", ["JSON lines", "CSV", "Megatron-LM", "MaxText", "torchtitan"])
def test_the_usual_step_is_that_of_the_run(form):
    found = report_of(logged.TEXTS[form](logged.run(60, seconds=lambda step: 30.0 if step < 4 else 2.0))).pace
    assert found.step_seconds == pytest.approx(2.0, rel=1e-3)
    assert found.n_steps_timed == 50  # ten of warm-up left out


def test_wandbs_export_is_read_without_its_ends():
    log = parse(logged.wandb(STEPS).encode())
    assert (log.form, log.entries[9].loss) == ("CSV", STEPS[9].loss)


def test_columns_of_two_runs_are_refused():
    with pytest.raises(ValueError, match="columns of 2 runs, a, b: export one run"):
        parse(b'"Step","a - train/loss","b - train/loss"\n1,2.0,3.0\n')


@pytest.mark.parametrize("tensors", [False, True])
def test_event_files_are_read_whether_numbers_are_plain_or_tensors(tensors):
    log = parse(logged.event_file(STEPS, tensors))
    assert (log.form, len(log.entries)) == ("TensorBoard", 60)
    assert log.entries[9].loss == pytest.approx(STEPS[9].loss, rel=1e-6)
    assert log.entries[9].time == STEPS[9].time


@pytest.mark.parametrize("seed", range(4))
def test_a_number_that_changed_in_an_event_file_is_told_with_its_record(seed):
    raw = bytearray(logged.event_file(STEPS))
    sound = parse(bytes(raw))
    places = [at for at in range(len(raw)) if raw[at : at + 4] == struct.pack("<f", STEPS[5].loss)]
    assert len(places) == 1
    raw[places[0] + seed] ^= 1 << seed
    damaged = parse(bytes(raw))
    assert [problem.what for problem in damaged.problems] == [
        "a record that is not what was written: its check sum is another"
    ]
    assert [e.loss for e in damaged.entries if e.step != 6] == [e.loss for e in sound.entries if e.step != 6]


def test_a_folder_of_event_files_is_a_run_that_was_started_again(tmp_path):
    for place, steps in enumerate((STEPS[:30], logged.moved(STEPS[20:40], 600))):
        (tmp_path / f"events.out.tfevents.{place}.host").write_bytes(logged.event_file(steps))
    found = Report(log=read(str(tmp_path)))
    assert [(one.before, one.after, one.lost_steps) for one in found.course.restarts] == [(30, 21, 10)]


def test_torchtitans_device_is_told():
    assert parse(logged.torchtitan(STEPS).encode()).accelerator == "NVIDIA H100 80GB HBM3"


def test_evaluation_and_summary_of_a_trainer_are_no_steps():
    log = parse(logged.trainer_state(STEPS).encode())
    assert [(event.kind, event.seconds) for event in log.events] == [("evaluation", 12.5)]
    assert log.entries[-1].loss == STEPS[-1].loss  # not the mean of the whole run, which the summary calls train_loss


@pytest.mark.parametrize("name", ["loss", "Train/Loss", "lm_loss", "learning/loss", "loss_metrics/global_avg_loss"])
def test_trainers_names_of_the_loss_are_known(name):
    assert field_of(name) == ("loss", 1)


def test_loss_and_speed_in_two_records_are_one_step():
    text = "".join(f'{{"step": {s}, "loss": 2.5}}\n{{"step": {s}, "tps": 7000}}\n' for s in range(1, 9))
    log = parse(text.encode())
    assert [(e.step, e.loss, e.tokens_per_second_per_gpu) for e in log.entries] == [(s, 2.5, 7000) for s in range(1, 9)]


def read_or_refused(raw):
    """The report of bytes and "", or None and the words of the refusal; any other error is one of the reader."""
    try:
        return Report(log=parse(raw, "cut.log")), ""
    except ValueError as error:
        return None, str(error)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(SHORT)), st.data())
def test_a_log_cut_at_any_byte_keeps_what_is_sound_or_says_why_not(form, data):
    raw = SHORT[form]
    whole = {entry.step: entry for entry in parse(raw).entries}
    cut = data.draw(st.integers(0, len(raw) - 1))
    found, refused = read_or_refused(raw[:cut])
    if found is None:
        assert refused.startswith("cut.log: ")
        return
    for entry in found.log.entries:
        told = [(one, other) for one, other in zip(entry[2:], whole[entry.step][2:], strict=True) if one is not None]
        assert all(one == other for one, other in told)
    at_a_line_end = raw[:cut].endswith((b"\n", b"}")) or form == "TensorBoard"
    assert at_a_line_end or found.problems


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(sorted(SHORT)), st.integers(0, 2000))
def test_bytes_thrown_in_raise_nothing_but_a_refusal(junk, form, at):
    raw = SHORT[form]
    found, refused = read_or_refused(raw[:at] + junk + raw[at:])
    assert "\n" not in refused
    assert found is None or [entry.step for entry in found.kept] == sorted({entry.step for entry in found.kept})


def test_a_gap_is_told_with_its_line():
    text = logged.megatron(STEPS[:20] + STEPS[25:])
    assert problems_of(text) == ["line 23: no line for the steps from 20 to 26"]


def test_another_interval_of_logging_is_no_gap():
    assert (
        problems_of(logged.json_lines([*logged.run(200)[9::10], *logged.run(60, first=201, start=logged.T0 + 400)]))
        == []
    )


def test_a_step_that_comes_twice_alone_is_told():
    text = logged.json_lines([*STEPS[:30], STEPS[29], *STEPS[30:]])
    assert problems_of(text) == ["line 31: step 30 again, as in line 30"]


def test_a_line_out_of_place_is_told_and_put_back():
    found = report_of(logged.json_lines([*STEPS[:20], *STEPS[21:25], STEPS[20], *STEPS[25:]]))
    assert [problem.text for problem in found.problems] == ["line 25: step 21 stands after step 25"]
    assert [entry.step for entry in found.kept] == [step.step for step in STEPS]
    assert not found.course.restarts


def test_a_step_without_a_loss_is_told():
    lines = logged.json_lines(STEPS).splitlines(keepends=True)
    lines[7] = '{"step": 8, "step_time": 2.0, "timestamp": 1795953616.0}\n'
    assert problems_of("".join(lines)) == ["line 8: step 8 without a loss"]


@pytest.mark.parametrize("form", ["JSON lines", "Megatron-LM", "CSV", "torchtitan"])
def test_losses_that_are_no_number_are_counted_with_their_lines(form):
    steps = [replace(step, loss=math.nan) if step.step in (30, 31) else step for step in STEPS]
    found = report_of(logged.TEXTS[form](steps))
    assert [entry.step for entry in found.nan_lines] == [30, 31]


def test_megatrons_own_count_of_nan_steps_counts():
    text = logged.megatron(STEPS).replace("nan iterations:   0 |", "nan iterations:   1 |", 1)
    assert [entry.step for entry in report_of(text).nan_lines] == [1]


def test_restarts_in_one_file_are_told_with_the_steps_that_they_cost():
    again = logged.moved(logged.run(40, first=41), 60 * 2 + 300)
    once_more = logged.moved(logged.run(30, first=71), 60 * 2 + 300 + 1000)
    found = report_of(logged.megatron(STEPS) + logged.megatron(again) + logged.megatron(once_more))
    assert [(one.before, one.after, one.lost_steps) for one in found.course.restarts] == [(60, 41, 20), (80, 71, 10)]
    assert [entry.step for entry in found.kept] == list(range(1, 101))
    assert found.resumed_loss_difference == 0
    assert found.problems == ()


def test_a_resume_that_is_another_run_shows_in_its_losses():
    again = logged.moved(logged.run(40, first=41, loss=lambda step: 2.1 + 8.0 * step**-0.3), 600)
    assert report_of(logged.json_lines(STEPS + again)).resumed_loss_difference == pytest.approx(0.1)


@given(st.integers(20, 50), st.integers(1, 19), st.integers(60, 5000))
@settings(max_examples=20, deadline=None)
def test_where_the_time_went_adds_up_to_the_clock(crash, back, down):
    first = logged.run(crash)
    again = logged.run(40, first=crash - back + 1, start=first[-1].time + down)
    found = report_of(logged.json_lines(first + again)).pace
    parts = found.kept_steps * 2.0, found.lost_seconds, found.restart_seconds, found.stall_seconds, found.uneven_seconds
    assert math.fsum(parts) == pytest.approx(found.wall_seconds)
    assert found.lost_seconds == pytest.approx(2.0 * back)
    assert found.restart_seconds == pytest.approx(down)


def test_checkpoints_and_evaluations_are_told_from_stalls_by_the_clock():
    def took(step):
        return 2.0 + {20: 30.0, 30: 12.0, 40: 50.0}.get(step, 0.0)

    lines = logged.megatron(logged.run(60, seconds=took)).splitlines(keepends=True)
    lines = [line.replace("(ms): 32000.0", "(ms): 2000.0").replace("(ms): 14000.0", "(ms): 2000.0") for line in lines]
    lines.insert(21, "  successfully saved checkpoint from iteration      19 to /run [ t 1/1, p 1/1 ]\n")
    lines.insert(32, " validation loss at iteration 29 | lm loss value: 2.5E+00 |\n")
    found = report_of("".join(lines)).pace
    assert (found.checkpoint_seconds, found.evaluation_seconds) == (30.0, 12.0)
    assert [(stall.step, stall.seconds) for stall in found.stalls] == [(40, 50.0)]


def test_without_a_checkpoint_in_the_log_its_share_is_not_nothing_but_unknown():
    assert report_of(logged.json_lines(STEPS)).pace.checkpoint_seconds is None


def test_the_slowest_rank_is_found_and_what_it_costs():
    lines = []
    for step in STEPS:
        for rank in range(4):
            one = replace(step, seconds=2.5 if rank == 2 else 2.0)
            lines.append(logged.json_lines([one], rank=rank))
    found = report_of("".join(lines))
    assert (found.pace.slowest_rank, found.pace.straggler_share) == (2, pytest.approx(0.2))
    assert len(found.kept) == 60


def test_waiting_for_data_is_a_share_of_the_step():
    assert report_of(logged.json_lines(STEPS, data_time=0.5)).pace.data_wait_share == pytest.approx(0.25)


def test_a_spike_that_recovers_and_one_that_does_not():
    def loss(step):
        return 2.0 + 8.0 * step**-0.3 + (1.5 if 200 <= step < 220 or step >= 380 else 0.0)

    found = report_of(logged.json_lines(logged.run(400, loss=loss, noise=0.03))).spikes
    assert [(spike.step, spike.until is None) for spike in found] == [(200, False), (380, True)]
    assert 220 <= found[0].until <= 225


@pytest.mark.parametrize("seed", range(5))
def test_noise_on_a_falling_loss_is_no_spike(seed):
    steps = logged.run(3000, noise=0.05, seed=seed)
    assert spikes(report_of(logged.json_lines(steps)).kept) == ()


@pytest.mark.parametrize(("growth", "words"), [(0.0, "steady"), (0.002, "rising"), (-0.002, "falling")])
def test_the_gradient_norm_has_a_trend_only_where_it_is_more_than_chance(growth, words):
    draw = random.Random(1)
    steps = [replace(s, grad_norm=math.exp(growth * s.step + 0.2 * draw.gauss(0, 1))) for s in logged.run(800)]
    assert report_of(logged.json_lines(steps)).gradient_trend.words == words


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "empty"),
        (b"hello\nworld\n", "no log that is known"),
        (b"a,b\n1,2\n", "no column is a step"),
        (b'{"epoch": 1}\n', "no step"),
        (b'{"log_history": []}', "no step"),
        (b"\x00\xff" * 100, "no log that is known"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(raw, told):
    with pytest.raises(ValueError, match=told) as refused:
        parse(raw, "x.log")
    assert "\n" not in str(refused.value)


def test_devices_and_missing_files_are_refused(tmp_path):
    for path, told in (
        ("/dev/zero", "no ordinary file"),
        (str(tmp_path / "no.log"), "No such file"),
        (str(tmp_path), "folder"),
    ):
        with pytest.raises(ValueError, match=told):
            read(path)


ODD = st.sampled_from(
    (None, True, [], {}, {"loss": 1.0}, "x", "nan", "7", math.nan, math.inf, -math.inf, 1e300, 10**40, -1)
)
NAMES = st.sampled_from(
    (
        "step",
        "loss",
        "time",
        "step_time",
        "tokens",
        "samples",
        "tps",
        "data_time",
        "rank",
        "eval_runtime",
        "save_time",
        "x",
    )
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 59), NAMES, ODD), min_size=1, max_size=8))
def test_odd_values_in_any_field_are_told_and_harm_no_other_line(odd):
    records = [json.loads(line) for line in logged.json_lines(STEPS).splitlines()]
    for place, name, value in odd:
        records[place][name] = value
    found = report_of("".join(f"{json.dumps(record)}\n" for record in records))
    spoilt = {place for place, *_ in odd}
    kept = {entry.line - 1 for entry in found.log.entries}
    assert set(range(60)) - spoilt <= kept
    assert json.dumps(log_dict(found), allow_nan=False)
    assert log_view(found).rows


@pytest.mark.parametrize("form", ["JSON lines", "CSV", "MaxText"])
def test_a_log_that_was_sorted_from_its_end_is_turned_round_and_not_sound(form):
    head, *lines = logged.TEXTS[form](STEPS).splitlines()
    turned = "\n".join([head, *lines[::-1]] if form == "CSV" else [*lines[::-1], head]) + "\n"
    found = report_of(turned)
    assert found.course.restarts == ()
    assert [entry.step for entry in found.kept] == [step.step for step in STEPS]
    assert [problem.what for problem in found.problems] == ["steps fall from line to line: read from the end"]


def test_a_run_that_crashes_again_and_again_was_not_sorted_from_its_end():
    lines = [json.dumps({"step": step, "loss": 2.0}) for step in (100, 110) * 8]
    assert "read from the end" not in " ".join(problems_of("\n".join(lines) + "\n"))


def test_a_clock_that_goes_back_is_told_with_its_line():
    early, late = STEPS[:40], logged.moved(STEPS[40:], -3600)
    assert problems_of(logged.json_lines([*early, *late])) == ["line 41: the time of day goes back by 59.97 min"]

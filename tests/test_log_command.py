"""`handbook log`: a person's way through a log, and a script's."""

import json
import os
import sys

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.description import parse as described
from lib.ladder import files
from tests import logged

TEXT = (
    'tokens = "1B"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64\n'
    "[layout]\nseq_len = 8192\nbatch_tokens = 4194304\nzero_stage = 1\n"
)
RUN = described(TEXT)  # 238 steps
STEP = RUN.batch_tokens / 64 / 8500


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(TEXT)
    steps = logged.run(238, seconds=lambda _: STEP, noise=0.01)
    (tmp_path / "train.log").write_text(logged.megatron(steps))
    return tmp_path


def handbook(*words, code=0):
    done = CliRunner().invoke(main, ["log", *words])
    assert done.exit_code == code, done.output
    return done.stdout if code != 2 else done.stderr


def test_a_log_is_told_in_words(folder):
    said = handbook("train.log")
    for told in ("Megatron-LM, steps 1 to 238", "usual step", "Where the time went", "loss spikes", "restarts", "PASS"):
        assert told in said


def test_json_has_numbers_in_full_and_no_nan(folder):
    text = logged.megatron([*logged.run(60), logged.Told(61, loss=float("nan"), time=logged.T0 + 122)])
    (folder / "train.log").write_text(text)
    plain = json.loads(handbook("train.log", "--json"), parse_constant=pytest.fail)
    assert plain["nan_losses"] == [{"line": 63, "step": 61, "loss": "nan"}]
    assert plain["pace"]["step_seconds"] == 2.0
    assert plain["limits"]["stall"]["ratio"] == 2


def test_the_plan_beside_it_forecasts_and_names_what_broke(folder):
    steps = logged.run(150, seconds=lambda _: 1.3 * STEP, noise=0.01)
    (folder / "train.log").write_text(logged.megatron(steps))
    said = handbook("train.log", "--run", "run.toml")
    for told in ("these have broken: utilization", "Forecast", "finish", "final loss", "FAIL       utilization"):
        assert told in said


def test_evidence_goes_into_the_file_and_the_exit_code_tells_whether_the_rung_passes(folder):
    said = handbook("train.log", "--run", "run.toml", "--rung", "7", "-o", "e.json", "--accelerator", "h100", code=1)
    assert "not shown: no checkpoint, or not what it took" in said
    piece = files.read("e.json").pieces[0]
    assert (piece.rung, piece.measured["log_problems"], piece.machine["accelerator"]) == (7, 0.0, "h100")


@pytest.mark.parametrize("spoil", [lambda lines: lines[:50] + lines[60:], lambda lines: [*lines[:-1], lines[-1][:90]]])
def test_a_rung_on_an_unsound_log_fails(folder, spoil):
    (folder / "train.log").write_text(
        "".join(spoil(logged.megatron(logged.run(200, seconds=9.0)).splitlines(keepends=True)))
    )
    said = handbook("train.log", "--run", "run.toml", "--rung", "6", "--accelerator", "h100", code=1)
    assert "FAIL  lines of the log that are not sound: 1" in said


def test_other_runs_logs_are_refused_and_the_evidence_is_left_as_it_was(folder):
    (folder / "train.log").write_text(logged.megatron(logged.run(60), batch=1024))
    words = ("train.log", "--run", "run.toml", "--rung", "7", "-o", "e.json")
    assert "batch_tokens = 4,194,304 in the description: 8,388,608 in the log" in handbook(*words, code=2)
    assert not (folder / "e.json").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no.log",), "No such file"),
        (("run.toml",), "no log that is known"),
        (("train.log", "--rung", "7"), "needs both --run"),
        (("train.log", "--run", "run.toml", "--rung", "4"), "3, 5, 6 or 7"),
        (("train.log", "--plot", "x.pdf"), ".svg or .png"),
        (("train.log", "--run", "run.toml", "--rung", "7", "--one-node-speed", "-5"), "one_node_speed"),
    ],
)
def test_slips_are_refused_in_one_line(folder, words, told):
    assert told in handbook(*words, code=2)


def test_it_is_drawn_with_the_thresholds_in(folder):
    handbook("train.log", "--run", "run.toml", "--plot", "train.svg")
    text = (folder / "train.svg").read_text()
    for told in ("usual step", "longest, as planned", "planned loss", "gradient norm", 'role="img"'):
        assert told in text
    handbook("train.log", "--plot", "train.png")
    assert (folder / "train.png").read_bytes().startswith(b"\x89PNG")


def test_a_log_with_nothing_to_draw_is_refused_and_no_file_is_left(folder):
    (folder / "speeds.jsonl").write_text("".join(f'{{"step": {s}, "tps": 7000}}\n' for s in range(9)))
    assert "nothing to draw" in handbook("speeds.jsonl", "--plot", "x.svg", code=2)
    assert not (folder / "x.svg").exists()


def test_an_evaluation_is_told_by_its_own_seconds_where_the_log_has_no_clock(folder):
    (folder / "state.json").write_text(logged.trainer_state(logged.run(60)))
    said = " ".join(handbook("state.json").split())
    assert "evaluations 12.5 s" in said
    assert "on the clock not shown: no times of day" in said


def test_tensorboard_missing_is_one_line_that_names_the_extra(folder, monkeypatch):
    (folder / "events.out.tfevents.1").write_bytes(logged.event_file(logged.run(60)))
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    assert "training-run-handbook[logs]" in handbook("events.out.tfevents.1", code=2)


def test_a_pipe_is_refused_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    assert "no ordinary file" in handbook("pipe", code=2)

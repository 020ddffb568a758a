"""Climbing here: what is run and what is not, what ends it, and what the evidence holds then."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lib import whole_files
from lib.cli import main
from lib.description import parse, to_toml, write
from lib.ladder import add, read, rungs
from lib.ladder.evidence import PLANTED
from lib.pilot import climb
from lib.pilot.pilot import scale_down

RUN = parse('tokens = "1T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64\n')
GPT = parse('layout.seq_len = 1024\ntokens = "1T"\nmodel.name = "gpt-2"\ncluster = { accelerator = "h100", n_gpus = 8}')
BAD = {2: {"one_batch_loss": 2.0, "one_batch_steps": 300.0}}


def sound(number):
    """Measurements that just meet a rung's thresholds, but for a person's look and the plan's own accelerator."""
    asked = (one for one in rungs(RUN)[number - 1].thresholds if not one.on_target and one.name != "batches_inspected")
    return {one.name: one.at_most if one.at_least is None else one.at_least for one in asked}


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """The rungs that were run, in a folder of their own, without a process: they measure what they should."""
    monkeypatch.chdir(tmp_path)
    write("run.toml", RUN)
    found, results = [], {number: sound(number) for number in climb.MODULES}

    def asked(words, report, limit_seconds):
        assert parse(words["run"]) == RUN
        found.append(words["rung"])
        if isinstance(results[words["rung"]], BaseException):
            raise results[words["rung"]]
        report("a word")
        return {"measured": results[words["rung"]], "versions": {"jax": "0"}, "machine": {"accelerator": "cpu"}}

    monkeypatch.setattr(climb, "_asked", asked)
    return found, results


def edit(file, old, new):
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")


def handbook(*words, **more):
    return CliRunner().invoke(main, ["pilot", "run.toml", *words], **more)


def test_all_four_rungs_are_climbed_and_say_what_a_person_still_has_to_do(ran):
    result = handbook()
    assert ran[0] == [1, 2, 3, 4]
    assert result.exit_code == 1
    assert "Rung 1: passed." in result.stdout
    assert "Rung 3: not passed: not measured: batches_inspected." in result.stdout
    assert "Rung 4: not passed: one device is not, below it." in result.stdout
    assert "--rungs 3 --inspected" in result.stderr


def test_both_shapes_and_the_rule_are_shown_first(ran):
    assert "115,008" in handbook().stdout.partition("Rung 1")[0]
    assert "8,030,261,248" in handbook().stdout.partition("Rung 1")[0]


def test_with_a_persons_word_they_are_passed_and_nothing_is_run_twice(ran):
    handbook()
    result = handbook("--inspected")
    assert (ran[0], result.exit_code) == ([1, 2, 3, 4], 0)
    assert "Who brings paper at night?" in result.stderr
    assert "Rung 4: passed; measured before, --again repeats it." in result.stdout
    again = handbook()
    assert (ran[0], again.exit_code) == ([1, 2, 3, 4], 0)
    assert "Nobody was asked" not in again.stderr


def test_again_and_another_seed_run_them_anew(ran):
    handbook("--rungs", "1")
    handbook("--rungs", "1", "--again")
    handbook("--rungs", "1", "--seed", "1")
    handbook("--rungs", "1", "--seed", "1")
    assert ran[0] == [1, 1, 1]


def test_each_piece_says_what_was_run_where_when_and_with_what(ran):
    handbook("--rungs", "2", "--seed", "7")
    (piece,) = read("evidence.json").pieces
    assert piece.what == scale_down(RUN, 7).what
    assert "115,008 parameters" in piece.what
    assert "seed 7" in piece.what
    assert (piece.run_digest, piece.versions, piece.machine) == (RUN.digest, {"jax": "0"}, {"accelerator": "cpu"})


def test_a_failed_rung_stops_the_climb_and_says_what_it_means(ran):
    ran[1].update(BAD)
    result = handbook()
    assert (ran[0], result.exit_code) == ([1, 2], 1)
    assert "Rung 2: failed: loss on the one batch." in result.stdout
    assert rungs(RUN)[1].failure in result.stdout


def test_a_rung_alone_is_not_passed_above_one_that_nobody_climbed(ran):
    result = handbook("--rungs", "2")
    assert result.exit_code == 1
    assert "Rung 2: not passed: unit is not, below it." in result.stdout


@pytest.mark.parametrize(("answer", "verdict"), [("y\n", "passed"), ("n\n", "failed")])
def test_a_person_at_a_terminal_is_asked(ran, monkeypatch, answer, verdict):
    monkeypatch.setattr("lib.cli.pilot_command._is_terminal", lambda: True)
    handbook("--rungs", "1-2")
    result = handbook("--rungs", "3", input=answer)
    assert "Is it what the model should read?" in result.stderr
    assert f"Rung 3: {verdict}" in result.stdout


def test_json_has_the_verdicts_alone_on_stdout(ran):
    found = json.loads(handbook("--json", "--inspected").stdout)
    assert found["highest_passed"] == 4
    assert found["pilot"] == scale_down(RUN).what
    assert found["shapes"]["width"]["pilot"] == "64"
    assert [one["passed"] for one in found["rungs"]][:5] == [True] * 4 + [False]


def test_a_planted_fault_fails_its_rung_and_leaves_no_evidence(ran):
    ran[1].update(BAD)
    result = handbook("--plant", "learning-rate-x100", "--json")
    assert (ran[0], result.exit_code) == ([1, 2], 1)
    assert "Rung 2: failed: loss on the one batch" in result.stderr
    assert "Planted: learning-rate-x100. The learning rate is a hundred times" in result.stderr
    assert json.loads(result.stdout)["planted"] == "learning-rate-x100"
    assert not Path("evidence.json").exists()


def test_the_mask_alone_is_asked_of_the_leaking_model_and_fails(monkeypatch):
    asked_for, leak = [], {"measured": {"mask_leak": 0.5}}
    monkeypatch.setattr(climb, "_asked", lambda asked, report, limit: asked_for.append(asked) or leak)
    found = climb.leaking(RUN, lambda line: None)
    assert [one.threshold.name for one in found.verdicts[0].failures] == ["mask_leak"]
    assert [(asked["rung"], asked["plant"], asked["part"]) for asked in asked_for] == [(1, "mask-leak", "mask")]


def test_what_a_planted_fault_did_is_written_into_no_file(ran):
    (found,) = climb.faulty(RUN, "mask-leak", [1], lambda line: None)
    assert found.highest == 1  # what is measured here is made up
    piece = climb._piece(RUN, 1, f"{PLANTED} mask-leak", {"measured": sound(1)})
    with pytest.raises(ValueError, match=r"pieces\[0\].what = 'planted fault mask-leak'"):
        add("evidence.json", RUN, piece)


@pytest.mark.parametrize(
    ("name", "said"), [("mask-leek", "did you mean 'mask-leak'"), ("tied-apart", "of a tied model")]
)
def test_a_fault_that_there_is_not_is_refused(ran, name, said):
    result = handbook("--plant", name)
    assert (ran[0], result.exit_code) == ([], 2)
    assert said in result.stderr


def test_stopped_by_ctrl_c_it_keeps_what_is_done_and_goes_on_from_there(ran):
    ran[1][2] = KeyboardInterrupt()
    result = handbook("--rungs", "1-2")
    assert result.exit_code == 130
    assert "stopped; evidence.json keeps what is done; the same command goes on" in result.stderr
    assert [piece.rung for piece in read("evidence.json").pieces] == [1]
    ran[1][2] = sound(2)
    assert handbook("--rungs", "1-2").exit_code == 0
    assert ran[0] == [1, 2, 2]


@pytest.mark.parametrize("error", [TimeoutError("rung 2 was not done after 1 s"), RuntimeError("rung 2 broke: word")])
def test_a_rung_that_broke_is_told_in_a_line_and_the_rest_is_kept(ran, error):
    ran[1][2] = error
    result = handbook()
    assert (ran[0], result.exit_code) == ([1, 2], 1)
    assert result.stderr.splitlines()[-1] == f"handbook: {error}"
    assert [piece.rung for piece in read("evidence.json").pieces] == [1]


def test_evidence_of_another_run_is_refused_before_anything_is_run(ran):
    handbook("--rungs", "1")
    write("run.toml", replace(RUN, goodput=0.8), replace=True)
    result = handbook()
    assert (ran[0], result.exit_code) == ([1], 2)
    assert "evidence.json: run.goodput = 0.9: 0.8 in the description" in result.stderr


def test_evidence_that_was_edited_is_refused(ran):
    handbook("--rungs", "1")
    edit("evidence.json", '"gradient_error": 0.0001', '"gradient_error": 1e-9')
    result = handbook()
    assert (ran[0], result.exit_code) == ([1], 2)
    assert "measured.gradient_error = 1e-09: edited since it was written" in result.stderr


def test_a_folder_that_is_not_there_is_told_before_anything_is_run(ran):
    result = handbook("-o", "nowhere/evidence.json")
    assert (ran[0], result.exit_code) == ([], 2)
    assert result.stderr.splitlines()[-1] == "handbook: nowhere/evidence.json: the folder does not exist"


def test_a_folder_that_cannot_be_written_is_told_by_the_file_that_was_asked_for(ran, monkeypatch):
    def refused(prefix, dir):
        raise OSError(errno.EROFS, "Read-only file system", f"{dir}/{prefix}x")

    monkeypatch.setattr(whole_files.tempfile, "mkstemp", refused)
    result = handbook()
    assert (ran[0], result.exit_code) == ([], 2)
    assert result.stderr.splitlines()[-1] == "handbook: evidence.json: Read-only file system"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--rungs", "5"), "rungs = '5': some of 1 to 4"),
        (("--rungs", "1-"), "rungs = '1-': some of 1 to 4"),
        (("--rungs", "4-1"), "rungs = '4-1': some of 1 to 4"),
        (("--seed", "-1"), "seed = -1: a whole number, 0 or more"),
        (("--limit", "0"), "limit_seconds = 0"),
    ],
)
def test_a_wrong_option_is_refused_in_a_line(ran, words, told):
    result = handbook(*words)
    assert (ran[0], result.exit_code) == ([], 2)
    assert told in result.stderr.splitlines()[-1]


def test_a_model_that_the_pilot_does_not_build_is_refused(ran):
    edit("run.toml", "Llama 3 8B", "Mixtral 8x7B")
    result = handbook()
    assert result.exit_code == 2
    assert "moe = " in result.stderr
    assert "the pilot builds no such part" in result.stderr


@pytest.mark.parametrize("package", ["jax", "optax", "orbax"])
def test_without_a_package_the_extra_is_named_in_a_line(ran, monkeypatch, package):
    find = climb.find_spec
    monkeypatch.setattr(climb, "find_spec", lambda name: None if name.startswith(package) else find(name))
    result = handbook()
    assert (ran[0], result.exit_code) == ([], 2)
    assert result.stderr.startswith('handbook: JAX is missing: pip install "training-run-handbook[pilot]"')
    assert result.stderr.count("\n") == 1


def test_a_rung_whose_process_breaks_passes_its_last_line_on():
    with pytest.raises(RuntimeError, match=r"^rung 1 broke: ValueError: .*text: tokens"):
        climb._asked({"run": "", "rung": 1, "seed": 0}, print, 60)


def test_a_rung_that_takes_too_long_is_ended():
    with pytest.raises(TimeoutError, match=r"^rung 1 was not done after 0\.2 s; --limit allows more"):
        climb._asked({"run": to_toml(RUN), "rung": 1, "seed": 0}, print, 0.2)


def test_a_rung_that_somebody_else_kills_was_not_too_slow(monkeypatch):
    monkeypatch.setattr(climb, "_heard", lambda child, asked, report: child.kill())
    with pytest.raises(RuntimeError, match=r"^rung 1 broke: its process was killed from outside"):
        climb._asked({"rung": 1}, print, 60)


def test_a_rung_ends_when_the_process_that_asked_is_gone(tmp_path):
    with open(tmp_path / "errors", "w+", encoding="utf-8") as errors, climb._process(1, errors) as child:
        print(json.dumps({"run": to_toml(RUN), "rung": 1, "seed": 0}), file=child.stdin, flush=True)
        child.stdin.close()  # as a killed process leaves it
        assert child.wait(30) == 1


@pytest.fixture(scope="module")
def really(tmp_path_factory):
    """The command stopped by Ctrl-C as its rung starts, and called again, here: (folder, both results)."""
    folder = tmp_path_factory.mktemp("climb")
    write(str(folder / "run.toml"), GPT)
    words = [sys.executable, "-P", "-c", "from lib.cli import main; main()", "pilot", "run.toml", "--rungs", "1"]
    env = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    piped = {"cwd": folder, "env": env, "text": True, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, **piped) as stopped, pytest.MonkeyPatch.context() as patch:
        first = stopped.stderr.readline()
        stopped.send_signal(signal.SIGINT)
        stopped.first = first + stopped.stderr.read()
        stopped.wait(60)
        patch.chdir(folder)
        return folder, stopped, handbook("--rungs", "1")


def test_ctrl_c_ends_the_command_and_its_process_at_once(really):
    _, stopped, _ = really
    assert stopped.returncode == 130
    assert "a process of its own starts" in stopped.first
    assert "stopped; evidence.json keeps what is done" in stopped.first


def test_a_rung_really_runs_in_a_process_of_its_own(really):
    folder, _, done = really
    assert done.exit_code == 0, done.stderr
    assert "Rung 1: passed." in done.stdout
    (piece,) = read(str(folder / "evidence.json")).pieces
    assert piece.machine["accelerator"] == "cpu"
    assert {"jax", "jaxlib", "optax", "numpy", "training-run-handbook"} <= piece.versions.keys()
    assert piece.time.startswith(time.strftime("%Y", time.gmtime()))

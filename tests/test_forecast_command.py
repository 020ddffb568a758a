"""The command `handbook forecast`: an answer, evidence that the ladder takes, exit codes, refusals in one line."""

import json

import pytest
from click.testing import CliRunner

from lib import ladder
from lib.cli import main
from lib.description import parse
from lib.pilot import climb
from lib.scaling import law

RUN = 'tokens = "1.41T"\n[model]\nname = "llama-3-70b"\n[cluster]\naccelerator = "h100"\nn_gpus = 64\n'


def csv(sizes, ratio=20):
    found = law("Besiroglu 2024")
    rows = (f"{n:.0f},{ratio * n:.0f},{found.loss(n, ratio * n):.5f}" for n in sizes)
    return "\n".join(["n_params,n_tokens,loss", *rows, ""])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(RUN)
    (tmp_path / "runs.csv").write_text(csv([1e8 * 1.5**k for k in range(8)]))
    (tmp_path / "near.csv").write_text(csv([1e8 * 1.5**k for k in range(12)]))
    (tmp_path / "few.csv").write_text(csv([1e8, 2e8, 4e8]))
    return tmp_path


def told(*words):
    return CliRunner().invoke(main, ["forecast", *words, "--resamples", "100"])


def test_the_handbooks_own_small_runs_forecast_the_larger_one():
    ran = told("--json")
    found = json.loads(ran.stdout)
    assert (ran.exit_code, found["measured_inside"]) == (0, True)
    assert found["E"]["error"] == 0


def test_a_forecast_is_evidence_for_the_sixth_rung(folder):
    ran = told("near.csv", "--run", "run.toml", "-o", "evidence.json", "--plot", "f.svg")
    assert ran.exit_code == 0, ran.output
    assert "expectation lies inside" in ran.stdout
    assert (folder / "f.svg").read_text().startswith(("<svg", "<?xml"))
    assert judged("evidence.json") == [True] * 5


def judged(evidence):
    """Whether rung 6 takes a forecast: runs, decades, both ends, width."""
    rung = ladder.evaluate(parse(RUN), ladder.read(evidence)).verdicts[5]
    found = {one.threshold.name: one.passed for one in rung.judgements}
    return [found[name] for name in found if name.startswith(("small_run", "forecast_loss"))]


def test_a_forecast_wider_than_the_law_decides_nothing(folder):
    """Eight runs to 1.7 billion parameters, on the law to the digit: E alone leaves more than the law's own range."""
    ran = told("runs.csv", "--run", "run.toml", "-o", "evidence.json")
    assert ran.exit_code == 1
    assert "expectation lies inside" in ran.stdout
    assert "too wide: larger small runs" in " ".join(ran.stdout.split())
    assert judged("evidence.json") == [True] * 4 + [None]
    found = json.loads(told("runs.csv", "--run", "run.toml", "--json").stdout)
    width = found["forecast"]["high"] - found["forecast"]["low"]
    assert width > found["most_width"] == pytest.approx(2 * found["expected"]["tolerance"])


def test_too_few_runs_end_with_1_and_fail_the_rung(folder):
    ran = told("few.csv", "--run", "run.toml", "-o", "evidence.json")
    assert ran.exit_code == 1
    assert ran.stdout.startswith("Not decidable")
    rung = ladder.evaluate(parse(RUN), ladder.read("evidence.json")).verdicts[5]
    assert {"small_runs", "small_run_decades"} <= {one.threshold.name for one in rung.failures}
    assert json.loads(told("few.csv", "--run", "run.toml", "--json").stdout)["forecast"]["loss"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--run", "run.toml"], "their text is generated"),
        (["--law", "besiroglu"], "law: not beside these small runs"),
        (["runs.csv"], "run: missing"),
        (["runs.csv", "--n-params", "8B", "--n-tokens", "160B"], "law: missing"),
        (["runs.csv", "--run", "run.toml", "--n-params", "8B"], "--run says it already"),
        (["runs.csv", "--run", "run.toml", "--law", "besiroglu", "--floor", "1.8"], "floor: it or --law"),
        (["runs.csv", "--run", "run.toml", "--floor-error", "0.1"], "floor_error: without --floor"),
        (["runs.csv", "--run", "run.toml", "--floor", "2.9"], "E = 2.9: below the lowest loss"),
        (["runs.csv", "--law", "besiroglu", "-o", "evidence.json"], "--run as well"),
        (["few.csv", "--run", "run.toml", "--plot", "f.svg"], "nothing to draw"),
        (["nosuch.csv", "--run", "run.toml"], "nosuch.csv"),
        (["."], "no logs of small runs"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(folder, words, message):
    ran = told(*words)
    assert ran.exit_code == 2, ran.output
    assert message in ran.stderr
    assert not (folder / "evidence.json").exists()


def test_without_jax_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setattr(climb, "_is_there", lambda package: False)
    ran = CliRunner().invoke(main, ["small-runs", "again"])
    assert ran.exit_code == 2
    assert "pilot" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1

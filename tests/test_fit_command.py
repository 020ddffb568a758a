"""`handbook fit` as a person and a script use it: a table in, a law with its doubts out, refusals in one line."""

import json
import os
import re
from itertools import product
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.runs import Runs, of_law, published
from lib.scaling import ScalingLaw

TRUTH = ScalingLaw(name="the truth", E=1.7, A=400.0, B=1500.0, alpha=0.33, beta=0.35)
SIZES, TOKENS = zip(*product((3e7, 1e8, 4e8, 2e9), (1e9, 8e9, 6e10, 5e11)), strict=True)
RUNS = of_law(TRUTH, SIZES, TOKENS, noise=0.003, seed=5)
FEW = ("--starts", "5")
QUICK = ("--resamples", "10", *FEW)


def table(folder, runs=RUNS, head="n_params,n_tokens,loss", **columns):
    """A CSV of runs with further columns, and its path."""
    rows = zip(runs.n_params, runs.n_tokens, runs.loss, *columns.values(), strict=True)
    lines = [",".join((head, *columns)), *(",".join(map(str, row)) for row in rows)]
    path = folder / "runs.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def path(tmp_path):
    return table(tmp_path)


def run(*words):
    return CliRunner().invoke(main, ["fit", *words])


def answered(*words):
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def refused(*words):
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("handbook: ")
    return done.stderr


def test_a_table_is_answered_with_constants_intervals_holdout_and_optimum(path):
    said = answered(path, *QUICK)
    for name in ("E", "A", "B", "alpha", "beta"):
        assert re.search(rf"^  {name} +[0-9.,]+( nats per token)?  \([0-9.,]+ to [0-9.,]+\)$", said, re.MULTILINE)
    assert "Constants (80% of 10 resamples)" in said
    assert "Hold-out: the 2 largest runs, predicted from the other 14" in said
    assert "PASS       the runs tell the constants apart: condition number" in said
    assert len(re.findall("^Best use of ", said, re.MULTILINE)) == 2
    assert "where that lies                  extrapolated: 10 times the compute of the" in said
    assert max(map(len, said.splitlines())) <= 80


def test_every_prediction_beyond_the_runs_is_labelled(path):
    said = answered(path, *QUICK, "--budget", "1e25")
    assert re.search(r"row 16 \(line 17\) .*extrapolated", said)
    assert re.search(r"where that lies +extrapolated: 1,700 times", said)


def test_the_answer_as_json_has_the_numbers_in_full(path):
    found = json.loads(
        answered(path, "--resamples", "12", *FEW, "--budget", "1e22", "--budget", "2.1e24 FLOP", "--json")
    )
    (fit,) = found["fits"]
    assert list(found) == ["table", "fits", "refused", "notes"]
    assert fit["constants"]["alpha"]["value"] == pytest.approx(0.33, abs=0.02)
    for constant in fit["constants"].values():
        assert constant["low"] <= constant["high"]
    assert [optimum["compute"] for optimum in fit["optima"]] == [1e22, 2.1e24]
    for optimum in fit["optima"]:
        assert 6 * optimum["n_params"]["value"] * optimum["n_tokens"]["value"] == pytest.approx(optimum["compute"])
        assert optimum["loss"]["low"] <= optimum["loss"]["high"]
        assert optimum["label"].startswith("extrapolated")
    assert fit["design"]["verdict"] == "ok"
    assert fit["hold_out"]["mean_abs_error"] < 0.02
    assert [row["loss"] for row in fit["runs"]] == list(RUNS.loss)
    assert fit["starts"] == {"n": 5, "at_best": 5}


def test_the_same_command_gives_the_same_answer_with_more_workers(path, monkeypatch):
    said = answered(path, *QUICK, "--json")
    assert said != answered(path, *QUICK, "--json", "--seed", "1")
    monkeypatch.setattr("lib.fit.resampling._BLOCK", 3)  # so that there are some for each worker
    assert said == answered(path, *QUICK, "--json", "--workers", "2")


def test_corpora_are_fitted_apart_and_one_that_cannot_be_is_said(tmp_path):
    line = published("Cerebras-GPT")
    both = Runs(
        n_params=[*RUNS.n_params, *line.n_params],
        n_tokens=[*RUNS.n_tokens, *line.n_tokens],
        loss=[*RUNS.loss, *line.loss],
    )
    where = table(tmp_path, both, corpus=["mine"] * 16 + ["The Pile"] * 7)
    said = answered(where, *QUICK)
    assert said.startswith("mine: loss = ")
    assert "REFUSED    runs.csv, The Pile: condition number 319,000: these runs cannot" in said
    found = json.loads(answered(where, *QUICK, "--json"))
    assert [fit["name"] for fit in found["fits"]] == ["mine"]
    assert list(found["refused"]) == ["The Pile"]


def test_runs_that_ended_in_warmup_are_named_and_can_be_left_out(tmp_path):
    where = table(tmp_path, warmup_tokens=[2e9] * 16)
    said = " ".join(answered(where, *QUICK).split())
    assert "4 of 16 runs ended inside warm-up, and a law does not describe those: row 1 (line 2), row 5" in said
    assert "fitted to 12 runs" in answered(where, *QUICK, "--without-warmup")


def test_columns_and_units_are_taken_from_flags(tmp_path):
    scaled = Runs(n_params=[n / 1e6 for n in SIZES], n_tokens=[d / 1e9 for d in TOKENS], loss=RUNS.loss)
    where = table(tmp_path, scaled, head="M,G,c4")
    flags = ("--n-params", "M", "--n-tokens", "G", "--loss", "c4", "--params-in", "millions", "--tokens-in", "billions")
    assert "beta" in answered(where, *flags, *QUICK)
    assert json.loads(answered(where, *flags, *QUICK, "--json"))["fits"][0]["runs"][0]["n_tokens"] == 1e9


def test_least_squares_and_no_resamples_are_answered(path):
    said = answered(path, "--objective", "least-squares", "--resamples", "0", *FEW)
    assert "(least squares)" in said
    assert re.search(r"^  alpha +0\.[0-9]+$", said, re.MULTILINE)


def test_too_few_runs_for_intervals_are_fitted_all_the_same(tmp_path):
    places = [0, 3, 5, 6, 9, 11, 12, 15]
    where = table(tmp_path, RUNS.take(places))
    said = " ".join(answered(where, *FEW).split())
    assert "Note: no intervals: runs.csv: 8 runs: at least 10 for intervals by resampling" in said
    five = table(tmp_path, RUNS.take([0, 3, 5, 9, 15]))
    said = " ".join(answered(five, *FEW).split())
    assert "Note: no hold-out: n_held = 1 of 5 runs: those that are left: runs.csv: 4 runs for 5 constants" in said


def test_all_runs_inside_warmup_leave_nothing_to_fit(tmp_path):
    where = table(tmp_path, warmup_share=[1] * len(RUNS))
    assert "runs.csv: all 16 runs ended inside warm-up; none is left" in refused(where, "--without-warmup", *FEW)


def test_an_answer_of_a_budget_far_away_shows_its_small_numbers(path):
    said = answered(path, "--budget", "1e60", "--budget", "1e5", "--resamples", "0", *FEW)
    ratios = re.findall(r"tokens per parameter +(\S+)", said)
    assert len(ratios) == 2
    assert all(float(ratio.replace(",", "")) > 0 for ratio in ratios)


def test_a_picture_that_cannot_be_written_leaves_the_old_one(tmp_path, path, monkeypatch):
    (tmp_path / "fit.svg").write_text("old", encoding="utf-8")

    def full(self, text, **given):
        with self.open("w", **given) as file:
            file.write(text[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    said = refused(path, *QUICK, "--plot", str(tmp_path / "fit.svg"))
    assert "fit.svg': cannot be written: No space left on device" in said
    assert (tmp_path / "fit.svg").read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.glob("fit*")] == ["fit.svg"]


def test_losses_like_bits_are_said(tmp_path):
    bits = Runs(n_params=SIZES, n_tokens=TOKENS, loss=[x / 0.6931 for x in of_law(TRUTH, SIZES, TOKENS).loss])
    said = " ".join(answered(table(tmp_path, bits), *QUICK).split())
    assert re.search(r"Note: runs\.csv, column loss: the losses are 1\.[45][0-9]* times", said)
    converted = answered(table(tmp_path, bits), "--loss-in", "bits", "--resamples", "0", *FEW)
    assert "loss = 1.7 + 400 / N^0.3300 + 1500 / D^0.3500" in converted
    assert "as if in bits" not in converted


def test_the_plot_is_one_sound_svg_with_both_pictures(tmp_path, path):
    answered(path, *QUICK, "--plot", str(tmp_path / "fit.svg"))
    root = ElementTree.fromstring((tmp_path / "fit.svg").read_text(encoding="utf-8"))
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"predicted loss (nats per token)", "predicted over measured (% of the loss)", "extrapolated"} <= texts
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "0"], "budget = 0: a number above 0"),
        (["--budget", "much"], "budget = 'much': a number"),
        (["--objective", "cosine"], "objective = 'cosine': one of huber, least squares"),
        (["--budget", "1e-5", *QUICK], "compute = 1e-5: too little for one parameter and one token"),
        (["--starts", "0"], "handbook: starts = 0: a whole number, 1 or more"),
        (["--starts", "1000000000"], "starts = 1000000000: at most 10,000"),
        (["--starts", "\uff14"], "a whole number"),
        (["--resamples", "-1", *FEW], "handbook: resamples = -1: a whole number, 0 or more"),
        (["--resamples", "1"], "resamples = 1: at least 10, or 0 for no intervals"),
        (["--resamples", "1000000000"], "resamples = 1000000000: at most 10,000"),
        (["--hold-out", "0", *FEW], "handbook: hold_out = 0: a whole number, 1 or more"),
        (["--hold-out", "100", *FEW], "handbook: hold_out = 100: fewer than the 16 runs of runs.csv"),
        (["--hold-out", "12", *FEW], "hold_out = 12 of 16 runs: those that are left: runs.csv: 4 runs for 5 constants"),
        (["--workers", "2000000000000"], "workers = 2000000000000: a whole number from 1 to 64"),
        (["--loss", ""], "loss = '': the name of a column"),
        (["--loss", "n_params"], "runs.csv, column n_params: taken for n_params and for loss"),
        (["--resamples", "many"], "resamples = 'many': a whole number"),
        (["--workers", "0"], "workers = 0: a whole number from 1 to 64"),
        (["--seed", "-1"], "seed = -1: a whole number, 0 or more"),
        (["--plot", "fit.png"], "--plot = 'fit.png': a file name that ends in .svg"),
        (["--plot", "nowhere/fit.svg"], "--plot = 'nowhere/fit.svg': the folder does not exist"),
        (["--loss", "los"], "runs.csv: no column 'los'; did you mean 'loss'?"),
        (["--params-in", "dozens"], "params_in = 'dozens': one of units, thousands"),
        (["--no-such"], "No such option '--no-such'"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(path, words, said):
    assert said in refused(path, *words)


def test_tables_that_no_law_can_be_fitted_to_are_refused(tmp_path):
    assert "runs.csv: condition number 319,000: these runs cannot tell" in refused(
        table(tmp_path, published("Cerebras-GPT"))
    )
    assert "runs.csv: 3 runs for 5 constants" in refused(table(tmp_path, RUNS.take([0, 5, 10])))
    assert "runs.csv, row 2 (line 3): repeats row 1 (line 2)" in refused(table(tmp_path, RUNS.take([0, 0, 5, 10, 15])))
    assert "missing.csv: cannot be read" in refused(str(tmp_path / "missing.csv"))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(device):
    assert f"{device}: cannot be read: a device or a pipe; save the table in a file" in refused(device)


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "runs.csv")
    assert "runs.csv: cannot be read: a device or a pipe" in refused(str(tmp_path / "runs.csv"))


def test_the_help_shows_how_to_call_it():
    said = answered("--help")
    assert "handbook fit runs.csv --loss val_loss --group corpus --budget 1e22" in said

"""The small runs: text whose entropy is what it says, logs that can be trusted, and a beginning made again."""

import json
import math
import shutil
from collections import Counter

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.pilot import small_train, words
from lib.pilot.small_logs import RECORDED, parse_log, read_logs, table
from lib.pilot.small_runs import RATES, RATIO, TUNED_WIDTH, WIDTHS, SmallRun, transferred


def test_the_entropy_is_that_of_the_words_over_their_tokens():
    total = sum(rank**-1.4 for rank in range(1, 10_001))
    nats = sum(-(rank**-1.4 / total) * math.log(rank**-1.4 / total) for rank in range(1, 10_001))
    assert words.entropy() == pytest.approx(nats / 5, rel=1e-12)


def test_text_is_drawn_with_these_chances():
    _, targets, nats = words.word_batch(3, 0, 500, 80)
    seen = Counter(tuple(row[k : k + 5]) for row in targets for k in range(0, 80, 5))
    assert seen[words.words()[0]] / 8000 == pytest.approx(words.chances()[0], abs=0.02)
    assert set(seen) <= set(words.words())
    assert nats == pytest.approx(words.entropy(), abs=0.02)


def test_a_sequence_depends_on_its_position_alone():
    together, _, _ = words.word_batch(0, 10, 4, 80)
    assert words.word_batch(0, 12, 1, 80)[0] == together[2:3]
    assert words.word_batch(1, 12, 1, 80)[0] != together[2:3]


def test_the_recorded_runs_are_those_of_the_design():
    logs = read_logs()
    roles = Counter(log.head["role"] for log in logs)
    assert roles == {"tuning": len(RATES), "small run": len(WIDTHS), "check": 2, "held out": 1}
    tuned = min((log for log in logs if log.head["role"] == "tuning"), key=lambda log: log.eval_loss)
    assert min(RATES) < tuned.head["peak_lr"] < max(RATES)  # the best is no end of the sweep
    for log in logs:
        head = log.head
        if head["role"] in ("small run", "held out"):
            run = transferred(tuned.head["peak_lr"], head["width"], head["role"])
            assert run.head == head
            assert head["n_tokens"] / head["n_params"] == pytest.approx(RATIO, rel=0.01)
        assert words.entropy() < log.eval_loss < log.steps[0]["loss"]


def test_the_recorded_runs_span_two_decades_and_fall():
    runs = table(read_logs())
    assert max(runs.compute) / min(runs.compute) > 100
    assert list(runs.loss) == sorted(runs.loss, reverse=True)


def test_the_beginning_of_the_smallest_run_made_again():
    """Compiles the real step, which takes most of its time: only so is the record known to be of this code."""
    log = next(log for log in read_logs() if log.head["role"] == "small run")
    run = SmallRun(width=log.head["width"], peak_lr=log.head["peak_lr"])
    _, lines = small_train.trained(run, most_steps=2)
    assert [line["lr"] for line in lines] == [line["lr"] for line in log.steps[:2]]
    assert [line["loss"] for line in lines] == pytest.approx([line["loss"] for line in log.steps[:2]], abs=2e-4)
    assert lines[0]["loss"] == pytest.approx(math.log(17), abs=0.01)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-1], "eval_loss: missing; the run did not end"),
        (lambda lines: lines[1:], "line 1: no log of a small run"),
        (lambda lines: [*lines[:-1], lines[-1][:9]], "no JSON; the log is cut or was edited"),
        (lambda lines: [], "line 1: no log"),
        (lambda lines: [lines[0].replace("entropy", "E"), *lines[1:]], "line 1: entropy: missing"),
        (lambda lines: [*lines[:-1], '{"eval_loss": -1}'], "eval_loss"),
    ],
)
def test_a_damaged_log_is_refused_with_its_line(damage, message):
    lines = read_logs()[0].to_text().splitlines()
    with pytest.raises(ValueError, match=message):
        parse_log("\n".join(damage(lines)), "log.jsonl")


def test_a_folder_without_logs_is_told_how_to_make_them(tmp_path):
    with pytest.raises(ValueError, match="handbook small-runs"):
        read_logs(tmp_path)


def test_a_making_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    recorded = {SmallRun(**{k: log.head[k] for k in ("width", "peak_lr", "role")}).file: log for log in read_logs()}
    made = []

    def train(run):
        made.append(run.file)
        return recorded[run.file]

    monkeypatch.setattr(small_train, "train", train)
    kept = [run for run in recorded if f"-{TUNED_WIDTH}-" in run]
    for file in kept:
        (tmp_path / file).write_text(recorded[file].to_text())
    logs = small_train.make(tmp_path)
    assert len(logs) == len(recorded) == 15
    assert not set(kept) & set(made)
    assert json.loads((tmp_path / made[0]).read_text().splitlines()[0]) == recorded[made[0]].head


@pytest.fixture
def again(tmp_path):
    """A folder with the recorded runs."""
    return shutil.copytree(RECORDED, tmp_path / "again")


def handbook(*words):
    return CliRunner().invoke(main, [f"{word}" for word in words])


def test_runs_that_are_made_are_not_made_again_and_can_be_forecast_from(again):
    ran = handbook("small-runs", again)
    assert ran.exit_code == 0, ran.output
    assert [line.rsplit("; ")[1] for line in ran.stdout.splitlines()] == ["is there"] * 15
    quick = ("--resamples", 100, "--json")
    assert handbook("forecast", again, *quick).stdout == handbook("forecast", *quick).stdout


def test_another_run_of_the_same_name_is_refused(again):
    first = again / "tuning-16-0.02.jsonl"
    first.write_text(first.read_text().replace('"seed": 0', '"seed": 1'))
    ran = handbook("small-runs", again)
    assert (ran.exit_code, "the log of another run" in ran.stderr) == (2, True)

"""The commands `handbook new-run` and `handbook ladder`: a file in a minute, and its ladder, in a real folder."""

import json

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.description import read
from lib.ladder import Evidence, Piece, files, rungs

GIVEN = ("--model", "llama-3-8b", "--tokens", "2T", "--accelerator", "h100", "--n-gpus", "256", "--zero-stage", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, answers=""):
    return CliRunner().invoke(main, list(words), input=answers)


def answered(*words):
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def refused(*words, answers=""):
    """The last line on stderr of a refused command."""
    done = run(*words, answers=answers)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "handbook: " in done.stderr.splitlines()[-1]
    return done.stderr.splitlines()[-1]


def test_four_options_make_a_file_and_tell_what_to_expect(folder):
    said = answered("new-run", *GIVEN, "--seq-len", "8k", "--recompute", "full", "--price-usd-per-gpu-hour", "2.5")
    assert said.startswith("Llama 3 8B on 256 x H100 SXM: 12.23 ± 0.86 days on the calendar")
    assert "PASS       fits the GPU's memory" in said
    assert max(map(len, said.splitlines())) <= 80
    described = read(str(folder / "run.toml"))
    assert (described.layout.seq_len, described.layout.recompute) == (8192, "full")
    assert described.price_usd_per_gpu_hour == 2.5


def test_what_is_not_given_is_asked_for(folder):
    done = run("new-run", answers="llama-3-8b\n2T\nh100\n256\n")
    assert done.exit_code == 0
    assert "Model, such as" in done.stderr
    assert read(str(folder / "run.toml")).n_tokens == 2e12


def test_a_configuration_may_stand_for_the_model(folder):
    config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 192, "num_attention_heads": 4}
    (folder / "config.json").write_text(json.dumps(config))
    answered("new-run", "--config", "config.json", *GIVEN[2:])
    assert read(str(folder / "run.toml")).shape.d_model == 64


SHAPE = "n_layers=2,d_model=64,n_heads=4,n_kv_heads=2,d_ff=192,vocab_size=1000,tied=true,gated=true,norm=rms"


@pytest.mark.parametrize(("words", "answers"), [(("--shape", SHAPE), ""), ((), f"{SHAPE}\n")])
def test_a_shape_may_stand_for_the_model(folder, words, answers):
    done = run("new-run", *words, *GIVEN[2:], answers=answers)
    assert done.exit_code == 0, done.stderr
    shape = read(str(folder / "run.toml")).shape
    assert (shape.n_layers, shape.d_model, shape.n_kv_heads, shape.tied, shape.norm) == (2, 64, 2, True, "rms")


def test_a_configuration_may_be_the_answer(folder):
    assert "none.json: cannot be read" in refused("new-run", *GIVEN[2:], answers="none.json\n")


def test_a_shape_changes_what_a_released_model_has(folder):
    answered("new-run", *GIVEN, "--shape", "n_layers=16")
    assert read(str(folder / "run.toml")).shape.n_layers == 16


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--shape", "n_layers=2"), "name: missing; a released model, or config, or all of n_layers, d_model"),
        (("--shape", SHAPE + ",colour=3"), "colour = 3: no field"),
        (("--shape", SHAPE.replace("=64", "=-64")), "d_model = -64"),
        (("--shape", "12 layers"), "shape = '12 layers': sizes as NAME=VALUE"),
        (("--shape", SHAPE + ",config=run.json"), "shape = 'config=run.json': not here"),
        (("--model", "gpt2", "--config", "config.json"), "model: it or --config"),
    ],
)
def test_a_shape_that_is_none_is_refused(folder, words, told):
    assert told in refused("new-run", *words, *GIVEN[2:])
    assert list(folder.iterdir()) == []


def test_a_layout_that_does_not_fit_is_told_with_the_smallest_change():
    said = " ".join(answered("new-run", *GIVEN[:8]).split())
    assert "FAIL fits the GPU's memory" in said
    assert "smallest change that fits: ZeRO 1" in said


def test_a_file_is_not_written_over_unless_told(folder):
    answered("new-run", *GIVEN)
    before = (folder / "run.toml").read_bytes()
    assert "run.toml: there is such a file; --replace writes over it" in refused("new-run", *GIVEN)
    assert (folder / "run.toml").read_bytes() == before
    answered("new-run", *GIVEN, "--mfu", "0.5", "--replace")
    assert read(str(folder / "run.toml")).mfu == 0.5


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mfu", "40"), "mfu = 40: a fraction above 0, at most 1; 40% is written 0.4"),
        (("--tensor", "3"), "tensor = 3, with pipeline and context 3 GPUs a copy: a divisor of the 256"),
        (("--recompute", "ful"), "recompute = 'ful': one of none, selective, full"),
        (("--law", "Hofmann"), "law = 'Hofmann': one of"),
        (("--goodput", "x"), "goodput = 'x': a number"),
        (("--batch-tokens", "3M"), "batch_tokens = 3,000,000: a multiple of the"),
        (("--framework", "mega"), "profile = 'mega': one of"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(folder, words, told):
    assert told in refused("new-run", *GIVEN, *words)
    assert list(folder.iterdir()) == []


def test_without_an_answer_the_option_is_named(folder):
    assert "tokens: missing; --tokens" in refused("new-run", "--model", "llama-3-8b")
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_in_one_line():
    assert refused("new-run", "none/run.toml", *GIVEN) == "handbook: none/run.toml: the folder does not exist"


def test_an_empty_name_is_no_file(folder):
    assert refused("new-run", "", *GIVEN) == "handbook: '': a file needs a name"
    assert list(folder.iterdir()) == []


def test_what_cannot_take_the_place_of_a_folder_is_named_as_it_was_asked_for(folder):
    (folder / "there").mkdir()
    assert refused("new-run", "there", *GIVEN, "--replace") == "handbook: there: Is a directory"
    assert [path.name for path in folder.iterdir()] == ["there"]


# The ladder


def evidence(path, *numbers, **changed):
    """A file of evidence in which these rungs pass, but for what is changed."""
    described = read("run.toml")
    pieces = []
    for rung in (rungs(described)[number - 1] for number in numbers):
        measured = {one.name: one.at_most if one.at_least is None else one.at_least for one in rung.thresholds}
        measured |= {name: value for name, value in changed.items() if name in measured}
        made = {"what": "seed 0", "machine": {"accelerator": "h100"}, "time": "2026-11-29T22:00:00+00:00"}
        pieces.append(Piece(rung=rung.number, measured=measured, run_digest=described.digest, **made))
    files.write(path, Evidence(run=described.plain, pieces=tuple(pieces)), replace=True)


def test_the_ladder_shows_every_threshold_and_cost():
    answered("new-run", *GIVEN, "--price-usd-per-gpu-hour", "2")
    said = answered("ladder", "run.toml")
    assert said.startswith("No rung is passed yet; next is rung 1, unit: ")
    assert max(map(len, said.splitlines())) <= 80
    for rung in rungs(read("run.toml")):
        assert f"{rung.number}. {rung.name}" in said
        assert all(one.label in said for one in rung.thresholds)
    assert "16 USD" in said


def test_evidence_is_judged_and_the_next_rung_named():
    answered("new-run", *GIVEN)
    evidence("evidence.json", 1, 2, 3)
    said = answered("ladder", "run.toml", "--evidence", "evidence.json")
    assert said.startswith("Passed to rung 3 of 7; next is rung 4, one node")
    assert "PASS       rung 3, one device: passed" in said
    evidence("evidence.json", 1, 2, 3, one_batch_loss=0.7)
    said = answered("ladder", "run.toml", "--evidence", "evidence.json")
    assert "FAIL       rung 2, one batch: loss on the one batch: 0.7000 nats per token" in said
    assert "UNDECIDED  rung 3, one device: not passed: one batch is not, below it" in " ".join(said.split()).replace(
        "UNDECIDED ", "UNDECIDED  "
    )


def test_json_has_every_number_in_full():
    answered("new-run", *GIVEN)
    evidence("evidence.json", 1, 2, one_batch_loss=float("inf"))
    found = json.loads(answered("ladder", "run.toml", "--evidence", "evidence.json", "--json"))
    assert found["highest_passed"] == 1
    assert found["digest"] == read("run.toml").digest
    loss = found["rungs"][1]["thresholds"][0]
    assert (loss["name"], loss["value"], loss["margin"], loss["passed"]) == ("one_batch_loss", "inf", "-inf", False)
    assert found["expected"][0]["source"]


def test_a_changed_description_makes_evidence_stale_and_says_so():
    answered("new-run", *GIVEN)
    evidence("evidence.json", 1)
    answered("new-run", *GIVEN, "--mfu", "0.5", "--replace")
    told = refused("ladder", "run.toml", "--evidence", "evidence.json")
    assert "evidence.json: run.speed.mfu = 0.4: 0.5 in the description" in told


def test_what_is_no_file_is_refused():
    assert "none.toml: cannot be read" in refused("ladder", "none.toml")
    answered("new-run", *GIVEN)
    assert "none.json: cannot be read" in refused("ladder", "run.toml", "--evidence", "none.json")


def test_where_thresholds_come_from_is_shown_when_asked():
    answered("new-run", *GIVEN)
    assert "Grattafiori et al. 2024" in answered("ladder", "run.toml", "--explain")

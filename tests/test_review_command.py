"""The command `handbook review`: an empty review, a filled one, and an exit code that a script can trust."""

import hashlib
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.description import parse, write
from lib.ladder import Evidence, Piece, files, rungs

RUN = parse(
    'tokens = "2T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "h100"\nn_gpus = 256\n'
    '[layout]\nzero_stage = 1\nrecompute = "full"'
)
HASH = hashlib.sha256(b"artefact").hexdigest()


def climbed():
    """Evidence of rungs that all pass."""
    pieces = []
    for rung in rungs(RUN):
        measured = {one.name: one.at_most if one.at_least is None else one.at_least for one in rung.thresholds}
        made = {"what": "seed 0", "machine": {"accelerator": "h100"}, "time": "2026-11-29T22:00:00+00:00"}
        pieces.append(Piece(rung=rung.number, measured=measured, run_digest=RUN.digest, **made))
    return Evidence(run=RUN.plain, pieces=tuple(pieces))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a run, sound evidence and an artefact."""
    monkeypatch.chdir(tmp_path)
    write("run.toml", RUN)
    files.write("evidence.json", climbed())
    (tmp_path / "artefact").write_bytes(b"artefact")
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, ["review", *words])


def filled():
    """The empty review, filled in as a person would."""
    said = {
        'sha256 = ""': f'sha256 = "{HASH}"',
        'artefact = ""': 'artefact = "artefact"',
        "# date =": "date = 2026-11-29",
        "# approved_gpu_hours =": "approved_gpu_hours = 1_000_000",
        ' = ""': ' = "yes"',
    }
    with open("review.toml", encoding="utf-8") as file:
        text = file.read()
    for old, new in said.items():
        text = text.replace(old, new)
    with open("review.toml", "w", encoding="utf-8") as file:
        file.write(text)


def test_an_empty_review_is_written_once_and_is_not_ready(folder):
    assert run("--new", "run.toml").exit_code == 0
    again = run("--new", "run.toml")
    assert again.exit_code == 2
    assert again.stderr == "handbook: review.toml: there is such a file; --replace writes over it\n"
    done = run("--evidence", "evidence.json")
    assert done.exit_code == 1
    assert done.stdout.startswith("Not ready: of 10 items 0 verified, 0 stated, 10 missing.")


def test_a_filled_review_with_evidence_succeeds_and_is_written(folder):
    run("--new", "run.toml")
    filled()
    done = run("--evidence", "evidence.json", "--markdown", "review.md", "--html", "review.html")
    assert done.exit_code == 0, done.stdout
    assert done.stdout.count("VERIFIED") == 10
    assert "10 verified" in (folder / "review.md").read_text(encoding="utf-8")
    assert "10 verified" in (folder / "review.html").read_text(encoding="utf-8")
    assert run("--evidence", "evidence.json", "--html", "review.html").exit_code == 2
    plain = json.loads(run("--evidence", "evidence.json", "--json").stdout)
    assert plain["ready"] is True


def test_a_changed_artefact_or_run_fails_the_command(folder):
    run("--new", "run.toml")
    filled()
    (folder / "artefact").write_bytes(b"another")
    done = run("--evidence", "evidence.json")
    assert done.exit_code == 1
    assert "artefact: changed since it was signed" in done.stdout
    (folder / "artefact").write_bytes(b"artefact")
    write("run.toml", replace(RUN, goodput=0.8), replace=True)
    done = run("--evidence", "evidence.json")
    assert done.exit_code == 1
    assert "stale: signed for run" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "review.toml: run: missing"),
        ("run = 3", "review.toml: run = 3 (int): text"),
        ("run = 'none.toml'", "none.toml: cannot be read"),
        ("run = 'run.toml'\n[config]", "review.toml: config = {}: no item of the review; did you mean 'configs'?"),
        ("run = 'run.toml'\nconfigs = 3", "review.toml: configs = 3 (int): a dict"),
        ("run = 'run.toml'\n[configs]\nowners = 'x'", "configs.owners = 'x': no field; did you mean 'owner'?"),
        ("run = 'run.toml'\n[configs]\nfound_sha256 = 'x'", "configs.found_sha256 = 'x': no field"),
        ("run = 'run.toml'\n[configs]\nowner = 3", "configs.owner = 3 (int): text"),
        ("run = 'run.toml'\n[configs]\ndate = '2026-11-29'", "configs.date = '2026-11-29' (str): a date"),
        ("run = 'run.toml'\n[budget]\napproved_gpu_hours = -1", "budget.approved_gpu_hours = -1: a finite number"),
        ("run = ", "review.toml: Invalid value"),
        ("[" * 10_000, "review.toml: nested too deep"),
    ],
)
def test_what_a_review_says_wrongly_is_refused_in_one_line(folder, text, told):
    (folder / "review.toml").write_text(text)
    done = run()
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("html", ["taken.html", "nowhere/review.html", "review.md", "."])
def test_markdown_and_page_are_written_both_or_neither(folder, html):
    run("--new", "run.toml")
    (folder / "taken.html").write_text("before")
    done = run("--markdown", "review.md", "--html", html)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert html in done.stderr
    assert not (folder / "review.md").exists()
    assert (folder / "taken.html").read_text() == "before"

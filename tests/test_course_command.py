"""The commands `handbook course ...`: answers on stdout, refusals in one line, nothing lost."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.exercises import assignment
from lib.exercises.masters import master
from lib.grading import doctor, release
from lib.grading.jail import jail as find

SECRET = "text that nobody else has seen\n"


def run(*words):
    return CliRunner().invoke(main, ["course", *map(str, words)])


def refused(*words):
    """The one line on stderr of a refused command."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("handbook: ")
    return done.stderr


@pytest.fixture
def place(tmp_path):
    """A folder with two submissions, and a secret beside it."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    cells = [text for kind, text in release.master_cells(master(assignment("start"))) if kind == "code"]
    (folder / "ada.py").write_text("\n".join(cell for cell in cells if "check" not in cell))
    (folder / "bob.ipynb").write_text("{")
    (tmp_path / "secret.txt").write_text(SECRET)
    return tmp_path


def graded(place, *more):
    words = ("-o", place / "results", "--assignment", "start", "--secret", place / "secret.txt")
    return "grade", place / "submitted", *words, *more


# Grading


def test_a_class_is_graded_and_summed_up(place, jail):
    done = run(*graded(place))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("2 graded, 1 of them could not be read: bob\n")
    assert "passed 1, unreadable 1" in done.stdout
    assert "Grading" in done.stderr
    again = json.loads(run(*graded(place, "--json")).stdout)
    assert (again["graded"], again["unreadable"], again["points"]) == (2, ["bob"], {"ada": 8, "bob": 0})
    assert {path.name for path in (place / "results").iterdir()} == {"grading.json", "ada.json", "bob.json"}


def test_without_a_jail_nothing_is_graded_unless_submissions_are_trusted(place, monkeypatch):
    monkeypatch.setattr("lib.grading.doctor.first_that_works", lambda: None)
    assert "no jail works here, so nothing is graded" in refused(*graded(place))
    assert not (place / "results").exists()
    assert run(*graded(place, "--trust-submissions", "--workers", 2)).exit_code == 0


def test_a_jail_that_does_not_start_is_no_fault_of_a_submission(place, tmp_path, monkeypatch):
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "podman").write_text("#!/bin/sh\necho podman: no image here >&2\nexit 125\n")
    (broken / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken}:/usr/bin:/bin")
    done = run(*graded(place, "--jail", "podman"))
    assert done.exit_code == 1
    assert "podman does not start: podman: no image here" in done.stderr
    assert {path.name for path in (place / "results").iterdir()} == {"grading.json", "bob.json"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--workers", "0"], "--workers 0: a whole number from 1 to 256"),
        (["--seconds", "soon"], "--seconds soon: a number"),
        (["--seconds", "-1"], "seconds = -1: a finite number above 0"),
        (["--executor", "slurm"], "--executor slurm: local or dask"),
        (["--executor", "dask"], "--executor dask goes with --scheduler ADDRESS"),
        (["--scheduler", "tcp://127.0.0.1:1"], "--executor dask goes with --scheduler ADDRESS"),
        (["--jail", "none"], "--trust-submissions says that you want that"),
        (["--jail", "bubblewrapp"], "did you mean 'bubblewrap'"),
        (["--secret", "no-such-file"], "no such file; make one and keep it"),
        (["--assignment", "starts"], "did you mean 'start'"),
    ],
)
def test_refusals_take_one_line_and_leave_nothing(place, words, why):
    at = graded(place, "--trust-submissions") if "--jail" not in words else graded(place)
    assert why in refused(*at, *words)
    assert not (place / "results").exists()


def test_other_folders_are_refused_and_stay_as_they_are(place):
    trusted = "--trust-submissions"
    (place / "empty").mkdir()
    (place / "short.txt").write_text("short")
    words = ("-o", place / "results", "--assignment", "start", trusted)
    secret = ("--secret", place / "secret.txt")
    assert "no submissions" in refused("grade", place / "empty", *words, *secret)
    assert "no folder with submissions" in refused("grade", place / "nowhere", *words, *secret)
    assert "at least 16 characters" in refused("grade", place / "submitted", *words, "--secret", place / "short.txt")
    assert run(*graded(place, trusted)).exit_code == 0
    before = {path.name: path.read_bytes() for path in (place / "results").iterdir()}
    other = ("grade", place / "submitted", "-o", place / "results", "--assignment", "recipe", *secret, trusted)
    assert "results of another assignment" in refused(*other)
    (place / "results/ada.json").write_text("[]")
    assert "no record of a submission" in refused(*graded(place, trusted))
    assert set(before) == {path.name for path in (place / "results").iterdir()}


# The other two


def test_the_doctor_tries_every_jail_and_says_how_to_get_one(jail):
    done = run("doctor")
    assert done.exit_code == 0
    assert f"yes  {jail}" in done.stdout
    found = {one["jail"]: one for one in json.loads(run("doctor", "--json").stdout)}
    assert list(found) == ["bubblewrap", "podman", "docker"]
    assert found[jail]["works"] is True


def test_the_doctor_fails_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}")
    done = run("doctor")
    assert done.exit_code == 1
    assert done.stdout.count("not installed: ") == 3
    assert "apt-get install bubblewrap" in done.stdout


def test_a_leaking_jail_is_seen(jail):

    held = find(jail)
    leaking = replace(held, command=lambda with_lib: [w for w in held.command(with_lib) if w != "--unshare-net"])
    if held.name == "bubblewrap":
        assert doctor.examine(leaking).sentence == "holds nobody: a probe reaches the network"


def test_an_assignment_is_handed_out_once(tmp_path):
    done = run("release", tmp_path / "handout", "--assignment", "Start")
    assert done.exit_code == 0
    assert [line.rsplit("/", 1)[1] for line in done.stdout.splitlines()] == [
        "start.ipynb",
        "checker.py",
        "requirements.txt",
        "README.md",
    ]
    assert "not empty" in refused("release", tmp_path / "handout", "--assignment", "start")
    assert "did you mean 'memory'" in refused("release", tmp_path / "other", "--assignment", "memories")


# Help


def commands(group, words=()):
    """(words, command) of a group and all that is under it."""
    for name, command in group.commands.items():
        yield (*words, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))


def test_every_command_of_a_course_is_listed_by_a_whole_sentence():
    found = dict(commands(main.commands["course"]))
    assert {("release",), ("grade",), ("export", "gradescope")} <= set(found)
    for words, command in found.items():
        assert not command.get_short_help_str(60).endswith("..."), words
        assert run(*words, "--help").exit_code == 0


def test_a_group_alone_lists_its_commands():
    for words in ((), ("export",)):
        done = run(*words)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "Commands:\n" in done.stdout

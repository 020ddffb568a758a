"""Exports: nbgrader takes the tree and grades by it; the zip grades as Gradescope runs it, as another user."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader import api
from nbgrader.apps import AutogradeApp, GenerateAssignmentApp

from lib.cli import main
from lib.exercises import assignment
from lib.exercises.assignments import Assignment
from lib.exercises.masters import cells_of
from lib.grading import gradescope_zip, nbgrader_tree, on_gradescope
from lib.grading.conversation import JailError
from lib.grading.jail import another_user, is_root

ROOT = Path(__file__).resolve().parent.parent
START = assignment("start")
SECRET = "a secret that is in no file of the handbook"


def solved(notebook, names):
    """A released notebook as text, with the solutions of these questions written where they belong."""
    written = {marks["grade_id"]: source for _, source, marks in cells_of(START) if marks and marks["solution"]}
    written = {grade_id: source for grade_id, source in written.items() if grade_id.replace("-", "_") in names}
    plain = json.loads(notebook)
    for cell in plain["cells"]:
        cell["source"] = written.get(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"])
    return json.dumps(plain)


# nbgrader

SOLVED = {asked.name for asked in START.questions[1::2]}  # after each that fails comes one that must not


def nbgrader(app):
    """One of its commands, run here."""
    app.instance().initialize(["start", "--log-level=ERROR"])
    app.instance().start()
    app.clear_instance()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """An exported tree in which nbgrader has released the assignment and graded a submission of `SOLVED` alone."""
    folder = tmp_path_factory.mktemp("nbgrader") / "course"
    nbgrader_tree.export(START, f"{folder}")
    own = dict.fromkeys(("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"), f"{folder.parent / 'own'}")
    Path(own["HOME"]).mkdir()
    own["PATH"] = os.pathsep.join([f"{Path(sys.executable).parent}", os.environ["PATH"]])  # the kernel is this Python
    own["PYTHONPATH"] = os.pathsep.join([f"{ROOT}", f"{ROOT / '.ci/light'}"])
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):  # its own
        for name, value in (own | {"HANDBOOK_SEED": SECRET}).items():
            patch.setenv(name, value)
        patch.setattr(api, "get_alembic_version", lambda: "")  # asks a Python for what its next version would read
        patch.chdir(folder)
        nbgrader(GenerateAssignmentApp)
        shutil.copytree("release/start", "submitted/ada/start")
        submitted = folder / "submitted/ada/start/start.ipynb"
        submitted.write_text(solved(submitted.read_text(), SOLVED))
        nbgrader(AutogradeApp)
        with api.Gradebook("sqlite:///gradebook.db", "training-run-handbook") as book:
            grades = book.find_submission_notebook("start", "start", "ada").grades
            return folder, {one.name: (one.score, one.max_score) for one in grades}


def test_nbgrader_grades_what_it_was_given(graded):
    assert graded[1] == {
        f"{asked.name.replace('_', '-')}-test": (asked.points * (asked.name in SOLVED), asked.points)
        for asked in START.questions
    }


def test_nbgrader_hands_out_neither_solutions_nor_hidden_tests(graded):
    handed_out = (graded[0] / "release/start/start.ipynb").read_text()
    assert "your answer" in handed_out
    assert not [word for word in ("HIDDEN", "graded(", "SOLUTION", "lib.exercises") if word in handed_out]
    for asked in START.questions:
        assert asked.kind == "value" or json.dumps(asked.body)[1:-1] not in handed_out


def test_the_tree_says_first_what_is_lost(graded):
    for name in ("README.md", "nbgrader_config.py"):
        assert "No jail" in (graded[0] / name).read_text().splitlines()[0]
    with pytest.raises(ValueError, match="not empty"):
        nbgrader_tree.export(START, f"{graded[0]}")


# Gradescope

CELLS = "\n".join(source for kind, source, marks in cells_of(START) if kind == "code" and marks and marks["solution"])
LOOK = """
import os, socket
def attempts(root):
    found = []
    for path in (root + "/private/course.json", root + "/private/lib/exercises/worked_example.py"):
        try:
            found.append(open(path).read())
        except OSError:
            pass
    for path in (root + "/results/results.json", root + "/results/own.json", root + "/run_autograder"):
        try:
            open(path, "w").write("{}")
            found.append(path)
        except OSError:
            pass
    return found
"""


@pytest.fixture(scope="module")
def container():
    """A folder as Gradescope's /autograder is once setup.sh has run: the zip in source, nothing submitted yet.

    It lies where another user may pass, as /autograder does.
    """
    with tempfile.TemporaryDirectory(prefix="handbook-autograder-") as name:
        root = Path(name)
        root.chmod(0o755)  # made just now
        for folder in ("source", "results", "submission"):
            (root / folder).mkdir()
        made = gradescope_zip.packed(gradescope_zip.files(START, SECRET))
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            archive.extractall(root / "source")  # at its root, not in a folder
        shutil.copy(root / "source/run_autograder", root / "run_autograder")
        (root / "submission_metadata.json").write_text('{"users": [{"id": 7, "email": "x", "name": "y"}]}')
        bash(root, "source/setup.sh")
        yield root


def bash(root, script, succeeds=True):
    """What a script of the zip says, run as Gradescope runs it: there, as root, nothing of ours in its environment."""
    path = os.pathsep.join(["/usr/bin", "/bin", f"{Path(sys._base_executable).parent}"])
    done = subprocess.run(
        ["bash", f"{root / script}"],
        cwd=root,
        env={"PATH": path, "AUTOGRADER_ROOT": f"{root}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) is succeeds, done.stderr
    return done.stderr


def hand_in(root, files):
    """Make these files what is submitted."""
    shutil.rmtree(root / "submission")
    (root / "submission").mkdir()
    for name, text in files.items():
        (root / "submission" / name).write_text(text)


def told_by(root):
    return json.loads((root / "results/results.json").read_text())


def results(root, files):
    """What a submission of these files is told."""
    hand_in(root, files)
    bash(root, "run_autograder")
    return told_by(root)


NEEDS_ROOT = pytest.mark.skipif(not is_root(), reason="NOT ROOT: Gradescope's autograder was not tried as it runs")


@NEEDS_ROOT
def test_gradescope_is_told_points_and_reasons_in_its_own_form(container):
    told = results(container, {"any name.py": CELLS.replace("return", "return 2 *", 1)})
    assert {"visibility", "stdout_visibility", "tests"} <= set(told)
    assert told["stdout_visibility"] == "hidden"
    assert sum(test["max_score"] for test in told["tests"]) == START.points
    first, *others = told["tests"]
    assert (first["score"], first["status"]) == (0, "failed")
    assert "Hint: " in first["output"]
    assert {(test["status"], test["score"] == test["max_score"], test["output"][:3]) for test in others} <= {
        ("passed", True, "All"),
        ("passed", True, "Rig"),
    }
    assert all(test["output_format"] == "text" and test["visibility"] == "visible" for test in told["tests"])


@NEEDS_ROOT
def test_a_submission_reads_no_answers_there_and_writes_no_results(container):
    name = START.questions[0].name
    cheat = f"{LOOK}\ntried = attempts({f'{container}'!r})\ndef {name}(*inputs): raise Exception if tried else KeyError"
    told = results(container, {"a.py": cheat})
    assert "It raised KeyError." in told["tests"][0]["output"]
    assert {path.name for path in (container / "results").iterdir()} == {"results.json"}


@NEEDS_ROOT
def test_nothing_submitted_is_said_to_the_student(container):
    hand_in(container, {"readme.txt": "sorry"})
    on_gradescope.main(f"{container}")
    told = told_by(container)
    assert {test["score"] for test in told["tests"]} == {0}
    assert told["output"] == "There is no notebook and no Python file in it."


@NEEDS_ROOT
def test_where_another_user_would_not_be_held_nothing_is_graded(container):
    hand_in(container, {"a.py": CELLS})
    folders = [container / "private", container / "results"]
    before = [folder.stat().st_mode for folder in folders]
    try:
        for folder in folders:
            folder.chmod(0o777)
        said = bash(container, "run_autograder", succeeds=False)
    finally:
        for folder, mode in zip(folders, before, strict=True):
            folder.chmod(mode)
    assert all(words in said for words in ("it reads the right answers", "it may write"))
    told = told_by(container)
    assert told["score"] == 0
    assert "no fault of your submission" in told["output"]


def test_who_is_not_root_grades_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(on_gradescope, "is_root", lambda: False)
    with pytest.raises(JailError, match="must be root"):
        on_gradescope.refuse_faults(another_user(), tmp_path)


def test_the_zip_says_first_what_is_lost_and_is_whole():
    made = gradescope_zip.files(START, SECRET)
    assert made["README.md"].decode().startswith("No jail")
    for name in ("setup.sh", "run_autograder"):
        lines = made[name].decode().splitlines()
        assert (lines[0], lines[1][:9]) == ("#!/usr/bin/env bash", "# No jail")
    assert not [name for name in made if SECRET.encode() in made[name] and name != "private/course.json"]
    allowing = Assignment(name="x", title="x", part="Compute", intro="x", names=("run_to_add",))
    with pytest.raises(ValueError, match="a question allows `lib`"):
        gradescope_zip.files(allowing, SECRET)


# The commands


def export(*words):
    return CliRunner().invoke(main, ["course", "export", *map(str, words), "--assignment", "start"])


def test_the_commands_say_first_what_is_lost_and_write_over_nothing(tmp_path):
    (tmp_path / "secret.txt").write_text(SECRET)
    words = ("gradescope", tmp_path / "a.zip", "--secret", tmp_path / "secret.txt")
    for done in (export("nbgrader", tmp_path / "course"), export(*words)):
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("No jail")
    before = (tmp_path / "a.zip").read_bytes()
    again = export(*words)
    assert (again.exit_code, again.stderr) == (2, f"handbook: {tmp_path / 'a.zip'}: File exists\n")
    assert (tmp_path / "a.zip").read_bytes() == before
    assert "not empty" in export("nbgrader", tmp_path / "course").stderr

"""The page for instructors: its commands run as they stand, its ten lines make a question, its plan has every part."""

import importlib.util
import re
import shlex
import subprocess
import sys

import jupytext
import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.course.decisions import read_decisions
from lib.course.roster import read_roster
from lib.exercises import ASSIGNMENTS, assignment, cases, judge
from lib.exercises.questions import PARTS
from lib.grading import release
from lib.grading.jail import NO_JAIL, jails

PAGE = "book/for_instructors.md"
NOT_HERE = ("make setup", ". .venv/bin/activate")  # what runs the tests has them done
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,start (4711)
    Points Possible,,,,,8
"Lovelace, Ada",101,,ada,Maths,
"""  # as Canvas exports it


@pytest.fixture(scope="module")
def page(root):
    return jupytext.read(root / PAGE)


@pytest.fixture(scope="module")
def text(page):
    return "\n".join(cell.source for cell in page.cells if cell.cell_type == "markdown")


def done(command):
    """Whether a command of the page succeeds here: the handbook's in this process, others in a shell."""
    first, *words = shlex.split(command)
    if first == "handbook":
        ran = CliRunner().invoke(main, words)
        return ran.exit_code == 0, ran.output
    ran = subprocess.run(
        command.replace("python ", f"{sys.executable} ", 1), shell=True, capture_output=True, timeout=60, check=False
    )
    return ran.returncode == 0, ran.stderr


def test_every_command_of_the_page_runs_one_after_another(text, jail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "downloads").mkdir()
    handed_in = release.files(assignment("start"))["start.ipynb"]
    (tmp_path / "downloads/ada.ipynb").write_text(handed_in)
    (tmp_path / "export.csv").write_text(GRADEBOOK)
    for name, kind in (("roster.csv", "text"), ("decisions.toml", "toml")):
        (tmp_path / name).write_text(re.search(rf"(?ms)^```{kind}\n(.*?)^```", text)[1])
    commands = "".join(re.findall(r"(?ms)^```sh\n(.*?)^```", text)).splitlines()
    assert len(commands) > 8
    for command in commands:
        succeeds, said = (True, "") if command in NOT_HERE else done(command)
        assert succeeds, f"{command}: {said}"


def test_the_pages_roster_and_decisions_say_what_they_seem_to(text, tmp_path):
    for kind in ("text", "toml"):
        (tmp_path / kind).write_text(re.search(rf"(?ms)^```{kind}\n(.*?)^```", text)[1])
    found, decided = read_roster(f"{tmp_path / 'text'}"), read_decisions(f"{tmp_path / 'toml'}")
    assert found.by("canvas_id", "101") == found.by("moodle_id", "77") == found.by_name("lovelaceada")
    assert (found.by("student", "bob").extra_days, decided.late.share_kept(1)) == (2, 0.9)
    questions = {one.name: one.points for one in assignment(decided.assignment).questions}
    assert {*decided.questions, *decided.manual["ada"]} <= questions.keys()
    assert decided.manual["ada"]["run_in_time"]["points"] <= questions["run_in_time"]


def test_setting_up_takes_five_commands(text):
    assert len(re.search(r"(?ms)^## Set up in five commands.*?^```sh\n(.*?)^```", text)[1].splitlines()) == 5


def test_the_page_tells_of_every_command_of_a_course(text):
    for name, command in main.commands["course"].commands.items():
        names = [f"{name} {one}" for one in command.commands] if hasattr(command, "commands") else [name]
        assert all(re.search(rf"handbook course {one}\b(?!-)", text) for one in names), names


def test_every_chapter_and_assignment_stands_in_the_plan_with_its_part(text):
    """An assignment comes with the last chapter of its part."""
    rows = [row for row in text.splitlines() if re.match(r"\| \d", row)]
    chapters = [re.findall(r"/notebooks/(\w+)", row) for row in rows]
    assert [name for row in chapters for name in row] == list(PARTS)
    last = {PARTS[name]: number for number, row in enumerate(chapters) for name in row}
    handed_out = {name: number for number, row in enumerate(rows) for name in re.findall(r"\| `(\w+)` \|", row)}
    assert handed_out == {name: last[one.part] for name, one in ASSIGNMENTS.items()}


def test_every_way_to_run_a_submission_has_its_row(text):
    names = {row.split("|")[1].strip(" `") for row in text.splitlines() if row.startswith("| ")}
    ways = {one.name for one in jails()} | {"Gradescope", "nbgrader", "--trust-submissions"}
    assert NO_JAIL.name not in names
    assert ways <= {name.split(",")[0] for name in names}


# The ten lines


@pytest.fixture(scope="module")
def asked(page, tmp_path_factory):
    """The page's question, from a file as a question has to be."""
    cells = [cell.source for cell in page.cells if cell.cell_type == "code"]
    at = next(i for i, cell in enumerate(page.cells) if "ten-lines" in cell.metadata.get("tags", ()))
    lines = page.cells[at].source
    assert len(lines.splitlines()) == 10
    imports = cells[cells.index(lines) - 1]
    path = tmp_path_factory.mktemp("own") / "own_question.py"
    path.write_text(f"{imports}\n\n\n{lines}\n")
    spec = importlib.util.spec_from_file_location("own_question", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.asked


@pytest.mark.parametrize("seed", [0, 1, "a seed that graders keep"])
def test_the_ten_lines_make_a_question_that_tells_right_from_each_mistake(asked, seed):
    for case in cases(asked, seed):
        assert judge(asked, case, asked.answer(case.inputs)).ok
        for slip in asked.slips:
            verdict = judge(asked, case, slip.gives(**case.inputs))
            assert (verdict.ok, verdict.slip) == (False, slip.name)
    names = {}
    exec(asked.stub_source, names)
    with pytest.raises(NotImplementedError):
        names[asked.name](**cases(asked, seed)[0].inputs)

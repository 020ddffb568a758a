"""Master notebooks: written from the questions, whole in nbgrader's eyes, and right from the first cell to the last."""

import re
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest
import yaml
from nbgrader.preprocessors import CheckCellMetadata, ClearHiddenTests, ClearSolutions
from nbgrader.utils import is_grade, is_solution

from lib.exercises import ASSIGNMENTS, QUESTIONS, check
from lib.exercises.assignments import Assignment
from lib.exercises.masters import master
from lib.exercises.questions import KINDS, PARTS, TASKS

ROOT = Path(__file__).resolve().parent.parent
MASTERS = ROOT / "notebooks/exercises"
EACH = pytest.mark.parametrize("name", ASSIGNMENTS)


@pytest.fixture(scope="module")
def notebook():
    """Reads a master notebook by its name."""
    return lambda name: jupytext.read(MASTERS / f"{name}.md")


def run(cells):
    """All cells in one namespace, as a kernel would."""
    names = {"__name__": "__main__"}
    for cell in cells:
        exec(cell.source, names)
    return names


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@EACH
def test_a_master_notebook_is_what_its_questions_say(name):
    text = (MASTERS / f"{name}.md").read_text(encoding="utf-8")
    assert text == master(ASSIGNMENTS[name]), "python -m lib.exercises.masters notebooks/exercises"


def test_no_other_file_lies_beside_them():
    assert {path.stem for path in MASTERS.iterdir() if path.name != ".ipynb_checkpoints"} == set(ASSIGNMENTS)


@EACH
def test_a_master_notebook_runs_through_and_passes_its_own_tests(name, notebook, monkeypatch):
    monkeypatch.setenv("HANDBOOK_SEED", "a seed that nobody knows")
    names = run(code(notebook(name)))
    for asked in ASSIGNMENTS[name].questions:
        assert asked.name in names


def released(notebook):
    """The notebook as nbgrader hands it out, by its own preprocessors."""
    for step in (CheckCellMetadata(), ClearSolutions(), ClearHiddenTests()):
        notebook, _ = step.preprocess(notebook, {})
    return notebook


@EACH
def test_nbgrader_takes_it_and_clears_solutions_and_hidden_tests(name, notebook):
    given = released(notebook(name))
    source = "\n".join(cell.source for cell in given.cells)
    assert "hidden=" not in source
    assert "BEGIN" not in source
    for asked in ASSIGNMENTS[name].questions:
        if asked.kind != "value":
            assert asked.body not in source
        else:
            assert not re.search(rf"^{asked.name} = ", source, re.MULTILINE)


@EACH
def test_each_question_has_one_cell_to_fill_in_and_one_that_gives_its_points(name, notebook):
    cells = code(notebook(name))
    points = [cell.metadata["nbgrader"]["points"] for cell in cells if is_grade(cell)]
    assert points == [asked.points for asked in ASSIGNMENTS[name].questions]
    assert sum(is_solution(cell) for cell in cells) == len(points)


@EACH
def test_an_empty_answer_earns_nothing(name, notebook):
    cells = code(released(notebook(name)))
    names = run(cells[:1])
    for cell in cells[1:]:
        try:
            exec(cell.source, names)
        except (NotImplementedError, NameError, AssertionError):
            continue
        assert not is_grade(cell), cell.source


@EACH
def test_an_assignment_has_five_to_eight_questions_of_its_part(name):
    found: Assignment = ASSIGNMENTS[name]
    assert 5 <= len(found.questions) <= 8
    assert {asked.part for asked in found.questions} == {found.part}
    assert found.minutes <= 75


def test_the_last_question_of_memory_is_a_whole_run():
    assert ASSIGNMENTS["memory"].names[-1] == "design_for_brief"
    assert ASSIGNMENTS["memory"].questions[-1].points == max(asked.points for asked in QUESTIONS.values())


def test_every_chapter_with_exercises_has_one_to_read_one_to_change_one_to_decide():
    for chapter in PARTS:
        tasks = [asked.task for asked in QUESTIONS.values() if asked.chapter == chapter]
        assert set(tasks) >= set(TASKS) - {"write"}, chapter
    assert {asked.kind for asked in QUESTIONS.values()} == set(KINDS)


def test_parts_are_those_of_the_book():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    book = {page["file"]: part["caption"] for part in toc["parts"] for page in part["chapters"]}
    for chapter, part in PARTS.items():
        assert book.get(f"notebooks/{chapter}", part) == part


def test_hidden_cases_follow_the_seed_of_the_environment(monkeypatch):
    monkeypatch.setenv("HANDBOOK_SEED", "one")
    wrong = SimpleNamespace(calls=[])

    def train_flops(n_params, n_tokens):
        wrong.calls.append((n_params, n_tokens))
        return 6 * n_params * n_tokens

    for _ in range(2):
        assert check("train_flops", train_flops, hidden=True).ok
    half = len(wrong.calls) // 2
    assert wrong.calls[:half] == wrong.calls[half:]
    monkeypatch.setenv("HANDBOOK_SEED", "two")
    check("train_flops", train_flops, hidden=True)
    assert wrong.calls[-1] != wrong.calls[half - 1]


def test_hidden_verdicts_show_no_inputs():
    report = check("train_flops", lambda n_params, n_tokens: n_params, hidden=True)
    assert "inputs not shown" in repr(report)
    assert not re.search(r"\d{3}|e\+", repr(report))

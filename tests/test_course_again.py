"""After grading: one question anew, submissions that are alike, and a student who is forgotten."""

import json
from dataclasses import replace

import pytest

from lib.course.collect import collect
from lib.course.decisions import read_decisions
from lib.course.feedback import write_feedback
from lib.course.keys import student_of
from lib.course.regrade import regrade, write
from lib.course.roster import pseudonym
from lib.course.scores import scores
from lib.course.sheet import scores_csv
from lib.course.similar import GRAM, WINDOW, alike, fingerprints, tokens
from lib.exercises import QUESTIONS, assignment
from lib.exercises.masters import master
from lib.grading import batch, results
from lib.grading.release import student_cells
from lib.grading.submissions import Source, submissions
from tests.course_class import CLASS, new_results, record, refused, run

ASKED = (QUESTIONS["train_flops"], QUESTIONS["chinchilla_optimal"])
RIGHT = "def train_flops(n_params, n_tokens):\n    return 6 * n_params * n_tokens\n"
WRONG = RIGHT.replace("6 *", "2 *")
SECRET = "a secret of some length"


def course(*asked, secret=SECRET):
    return batch.Course(assignment="compute", questions=asked or ASKED, secret=secret, jail="none")


@pytest.fixture
def graded(tmp_path):
    """Ada is right and Bob wrong, of two questions."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/ada.py").write_text(RIGHT)
    (tmp_path / "in/bob.py").write_text(WRONG)
    folder, found = f"{tmp_path / 'out'}", submissions(f"{tmp_path / 'in'}")
    batch.prepare(folder, course())
    batch.grade(found, folder, course())
    return folder, found


def mended():
    """The first question, as it is after somebody found that it should have asked for 2ND."""

    def solution(n_params, n_tokens):
        return 2 * n_params * n_tokens

    solution.__name__ = "train_flops"
    slip = replace(ASKED[0].slips[0], gives=lambda n_params, n_tokens: 6 * n_params * n_tokens)
    other = replace(ASKED[0].slips[0], name="other", gives=lambda n_params, n_tokens: 7 * n_params * n_tokens)
    return replace(ASKED[0], solution=solution, expected=solution, slips=(slip, other))


# One question graded anew


def test_a_mended_question_is_graded_anew_and_the_changes_are_listed(graded):
    folder, found = graded
    before = results.read_all(folder)
    new = course(mended(), ASKED[1])
    done = regrade(found, folder, new, "train_flops")
    points = ASKED[0].points
    assert [one.plain for one in done.changes] == [
        {"student": "ada", "before": points, "after": 0, "was": "passed", "is": "failed"},
        {"student": "bob", "before": 0, "after": points, "was": "failed", "is": "passed"},
    ]
    assert results.read_all(folder) == before  # nothing is written until it is wanted
    write(folder, new, done)
    after = results.read_all(folder)
    assert [after[name].questions[1] for name in after] == [before[name].questions[1] for name in before]
    batch.prepare(folder, new)  # the folder is one of the mended questions now
    again = []
    batch.grade(found, folder, new, on_record=lambda made, is_new: again.append(is_new))
    assert again == [False, False]
    assert regrade(found, folder, new, "train_flops").changes == ()


def test_what_cannot_be_graded_anew_stays_and_says_why(graded, tmp_path):
    folder, _ = graded
    (tmp_path / "in/bob.py").write_text(RIGHT)
    (tmp_path / "in/cy.py").write_text(RIGHT)
    done = regrade(submissions(f"{tmp_path / 'in'}")[1:], folder, course(mended(), ASKED[1]), "train_flops")
    assert [student for student, _ in done.left] == ["ada", "bob", "cy"]
    assert "not among the submissions" in done.left[0][1]
    assert "changed since it was graded" in done.left[1][1]
    assert "no record yet" in done.left[2][1]


def test_results_of_something_else_are_not_touched(graded, tmp_path):
    folder, found = graded
    with pytest.raises(ValueError, match="these changed as well: chinchilla_optimal"):
        regrade(found, folder, course(secret=SECRET + "2"), "train_flops")
    with pytest.raises(ValueError, match="these changed as well: train_flops"):
        regrade(found, folder, course(mended(), ASKED[1]), "chinchilla_optimal")
    with pytest.raises(ValueError, match="results of another assignment, 'compute'"):
        regrade(found, folder, replace(course(), assignment="start"), "train_flops")
    with pytest.raises(ValueError, match="did you mean 'train_flops'"):
        regrade(found, folder, course(), "train_flop")
    (tmp_path / "secret.txt").write_text(SECRET)
    words = ("regrade", tmp_path / "in", "--question", "run_in_time", "--secret", tmp_path / "secret.txt")
    words += ("--trust-submissions", "--assignment", "start", "-o")
    assert "results of another assignment" in refused(*words, folder)
    assert "no results folder" in refused(*words, tmp_path / "in")


def test_the_command_lists_the_changes_and_manual_points_survive(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/ada.py").write_text("balanced_params = 1")
    (tmp_path / "secret.txt").write_text(SECRET)
    common = (tmp_path / "in", "-o", tmp_path / "out", "--assignment", "start", "--secret", tmp_path / "secret.txt")
    assert run("grade", *common, "--trust-submissions").exit_code == 0
    made = results.read(tmp_path / "out", "ada")
    questions = tuple(replace(one, outcome="crash") for one in made.questions)  # a machine that was too busy
    results.write(tmp_path / "out", replace(made, questions=questions))
    words = ("regrade", *common, "--question", "balanced_params", "--trust-submissions")
    dry = run(*words, "--dry-run")
    assert (dry.exit_code, dry.stdout.splitlines()[-1]) == (0, "1 of 1 change, nothing written")
    assert json.loads(run(*words, "--json").stdout)["changes"][0]["was"] == "crash"
    assert run(*words).stdout == "0 of 1 change\n"
    (tmp_path / "d.toml").write_text('assignment = "start"\n[manual.ada.balanced_params]\npoints = 1')
    found, _ = scores(f"{tmp_path / 'out'}", read_decisions(f"{tmp_path / 'd.toml'}"))
    assert found[0].points == 1


# Submissions that are alike

LONG = "\n".join(
    f"def answer_{number}(a, b):\n    total = a * {number}\n    for step in range(b):\n        total {sign}= step\n"
    f"    return total if total > {number} else {call}(a)\n"
    for number, (sign, call) in enumerate([("+", "abs"), ("-", "int"), ("*", "float"), ("/", "round"), ("%", "str")])
)
OTHER = "\n".join(
    f"class Thing{number}:\n    rows = [row for row in {name} if row]\n    def area(self):\n"
    f"        with self.lock:\n            return self.rows[{number}:] or None\n"
    for number, name in enumerate(("left", "right", "top"))
)


def sources(**codes):
    return {
        name: Source(file="a.py", sha256=f"{hash(code)}", cells=(code,), main=False) for name, code in codes.items()
    }


def test_renamed_and_recommented_copies_are_found_and_others_are_not():
    renamed = LONG.replace("total", "summe").replace("answer", "f").replace("\n", "  # mine\n").replace("3", "30")
    found = alike(sources(ada=LONG, bob=renamed, cy=OTHER))
    assert [(one.first, one.second, one.share) for one in found] == [("ada", "bob", 1.0)]


@pytest.mark.parametrize("place", range(0, 40, 5))
def test_a_passage_of_gram_and_window_less_one_tokens_is_always_found(place):
    passage = " ".join(tokens(OTHER)[place : place + GRAM + WINDOW - 1])
    assert len(tokens(passage)) == 39  # t = w + k - 1 of the paper
    first, second = f"{LONG} {passage} (1)", f"{'[x, ' * place} {passage} {LONG[:200]}"
    assert fingerprints(first) & fingerprints(second)
    assert not fingerprints(LONG) & fingerprints(f"{'[x, ' * 99}")


def test_starter_code_and_what_everybody_writes_say_nothing():
    assert alike(sources(ada=OTHER, bob=OTHER + "\n"), starter=OTHER) == []
    many = sources(**{f"s{number}": OTHER + f"\n# {number}" for number in range(12)})
    assert alike(many) == []
    assert len(alike(many, common=12)) == 66


def test_many_attempts_of_one_student_do_not_make_a_passage_common():
    """Whoever hands a copy in eleven times is found as well as who does so once."""
    many = {f"eve#{number}": f"{LONG}\n# {number}" for number in range(1, 12)}
    found = alike(sources(ada=LONG, **many))
    assert {(one.first, student_of(one.second), one.share) for one in found} == {("ada", "eve", 1.0)}


def test_the_same_file_is_told_and_an_untouched_one_is_not(tmp_path):
    (tmp_path / "in").mkdir()
    handed_out = "\n".join(text for kind, text in student_cells(master(assignment("start"))) if kind == "code")
    for name, code in {
        "ada": LONG,
        "bob": LONG,
        "cy": handed_out,
        "di": handed_out,
        "ed#1": OTHER,
        "ed#2": OTHER,
    }.items():
        (tmp_path / f"in/{name}.py").write_text(code)
    (tmp_path / "in/fay.ipynb").write_text("{")
    done = run("similar", tmp_path / "in", "--assignment", "start")
    assert done.exit_code == 0
    (line,) = done.stdout.splitlines()  # Ed's two attempts are no pair
    assert line.split()[1:3] == ["ada", "bob"]
    assert "the same file" in line
    assert "no proof" in done.stderr
    assert "not read: fay" in done.stderr
    assert json.loads(run("similar", tmp_path / "in", "--assignment", "start", "--json").stdout)["not_read"] == ["fay"]
    assert "no folder with submissions" in refused("similar", tmp_path / "no", "--assignment", "start")
    assert "common = 1: 2 students" in refused("similar", tmp_path / "in", "--assignment", "start", "--common", 1)


def test_code_that_is_no_python_has_tokens_too():
    assert tokens("!pip install x\n%time f('a") == ["!", "n", "n", "n", "%", "n", "n", "(", "'", "n"]
    assert tokens('"""a\nb""" r"\\d" 1_000.5e3 # "x"') == ["s", "s", "0"]
    assert len(tokens("'''" + "\"'" * 100_000)) > 1  # and in a time that does not grow with the square


# A student who is forgotten


@pytest.fixture
def places(tmp_path):
    """Everything that is made of a class, of Ada two attempts."""
    (tmp_path / "dl").mkdir()
    for name in ("lovelaceada_1234_1_hw.py", "lovelaceada_1234_2_hw-1.py", "raobob_1235_3_hw.py"):
        (tmp_path / "dl" / name).write_text(name)
    collect([f"{tmp_path / 'dl'}"], f"{tmp_path / 'in'}", CLASS, attempts="best")
    folder = new_results(tmp_path / "out", record("ada#1", 4, 0), record("ada#2", 4, 4), record("bob", 0, 0))
    found, _ = scores(f"{folder}", roster=CLASS)
    write_feedback(f"{tmp_path / 'pages'}", "Start", found)
    (tmp_path / "s.csv").write_text(scores_csv(found))
    return [f"{tmp_path / name}" for name in ("in", "out", "pages", "s.csv")]


def names_in(folder):
    return {f"{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()}


def test_a_student_is_forgotten_everywhere_and_nobody_else(places, tmp_path):
    before = names_in(tmp_path)
    done = run("forget", "ada", *places)
    assert done.exit_code == 0, done.output
    gone = {"in/ada#1/hw.py", "in/ada#2/hw-1.py", "out/ada-1-", "out/ada-2-", "pages/ada.html", "pages/ada.md"}
    assert len(before - names_in(tmp_path)) == 6
    assert all(any(path.startswith(start) for start in gone) for path in before - names_in(tmp_path))
    made = [path for path in tmp_path.rglob("*") if path.is_file() and "dl" not in path.parts]
    assert not [path for path in made if "ada" in path.read_text().lower()]
    assert [line.split(": ")[0] for line in done.stdout.splitlines()].count("removed") == 8
    assert "not removed: the downloads, and what the learning platform itself holds" in done.stdout
    assert set(scores(f"{tmp_path / 'out'}")[0][0].plain) >= {"student"}
    assert "nothing of them in" in refused("forget", "ada", *places)


def test_nothing_is_removed_where_a_place_is_not_ours_or_a_name_is_wrong(places, tmp_path):
    before = names_in(tmp_path)
    assert "neither a folder of collect" in refused("forget", "ada", *places, tmp_path / "dl")
    assert "did you mean 'ada'" in refused("forget", "adda", *places)
    assert names_in(tmp_path) == before


def test_a_pseudonym_is_forgotten_by_the_name_on_the_roster(tmp_path):
    folder = new_results(tmp_path / "out", record(pseudonym(SECRET, "ada"), 4, 0))
    (tmp_path / "r.csv").write_text("student\nada\n")
    (tmp_path / "secret.txt").write_text(SECRET)
    words = ("--roster", tmp_path / "r.csv", "--pseudonyms", tmp_path / "secret.txt", "--json")
    assert len(json.loads(run("forget", "ada", folder, *words).stdout)["removed"]) == 1
    assert results.read_all(folder) == {}


def test_what_a_killed_run_left_of_a_student_is_removed_too(places, tmp_path):
    """Files that were being written are hidden, and begin with the name that they were to have."""
    left = ["in/.ada#3.a1b2c3d4/hw.py", "out/.ada.json.abcdefgh", "pages/.ada.html.abcd_123"]
    other = ["in/.adam.a1b2c3d4/hw.py", "out/.bob.json.abcdefgh"]
    for name in (*left, *other):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("ada" if name in left else "")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in/ada#2/hw-1.py").unlink()
    (tmp_path / "in/ada#2").rmdir()
    (tmp_path / "in/ada#2").symlink_to(tmp_path / "elsewhere")
    assert run("forget", "ada", *places).exit_code == 0
    assert not [name for name in left if (tmp_path / name).exists()]
    assert all((tmp_path / name).exists() for name in (*other, "elsewhere"))
    assert not [path for path in tmp_path.rglob("*ada*") if "dl" not in path.parts and "adam" not in path.name]


def test_what_was_kept_aside_is_forgotten_by_its_own_name(tmp_path):
    (tmp_path / "dl").mkdir()
    for name in ("dee", "lovelaceada_1234_1_hw"):
        (tmp_path / f"dl/{name}.py").write_text("x")
    collect([f"{tmp_path / 'dl'}"], f"{tmp_path / 'in'}", CLASS, form="plain")
    done = run("forget", "dee", tmp_path / "in")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, f"removed: {tmp_path / 'in/_not_on_the_roster/dee'}")
    assert not list(tmp_path.glob("in/**/dee*"))


def test_under_a_pseudonym_no_file_is_called_as_its_student_called_it(tmp_path):
    """What students call their files often holds their name, and the record tells which file was graded."""
    (tmp_path / "dl").mkdir()
    for name in ("Ada Lovelace's answers.py", "lovelace_notes.py"):
        (tmp_path / f"dl/lovelaceada_1234_1_{name}").write_text("def train_flops(n_params, n_tokens): return 0")
    hidden = replace(CLASS, secret=SECRET)
    collect([f"{tmp_path / 'dl'}"], f"{tmp_path / 'in'}", hidden)
    batch.prepare(f"{tmp_path / 'out'}", course())
    batch.grade(submissions(f"{tmp_path / 'in'}"), f"{tmp_path / 'out'}", course())
    made = [path for path in tmp_path.rglob("*") if "dl" not in path.parts]
    assert {path.name for path in made if path.suffix == ".py"} == {"1.py", "2.py"}
    told = " ".join([*(path.name for path in made), *(path.read_text() for path in made if path.suffix == ".json")])
    assert "lovelace" not in told.lower()

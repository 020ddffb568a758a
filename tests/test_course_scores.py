"""Scores as an accountant recomputes them: late days, hundredths, decisions by hand, and whose row is whose."""

import csv
import io
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis.strategies import integers

from lib.course.decisions import Decisions, Late, read_decisions
from lib.course.gradebook import fill
from lib.course.roster import Roster, Student
from lib.course.scores import UNKNOWN, hundredths, scores
from lib.course.sheet import safe_cell, scores_csv
from lib.grading.record import file_name
from tests.course_class import ADA, CLASS, new_results, record, refused, run
from tests.test_course import DECIDED, came
from tests.test_course_feedback import CANVAS, EXPORT, WORKSHEET


@pytest.fixture
def folder(tmp_path):
    """Ada has half of the points, Bob all, Cy handed nothing in."""
    return new_results(tmp_path / "results", record("ada", 4, 0), record("bob", 4, 4))


def decided(tmp_path, text):
    (tmp_path / "d.toml").write_text(text)
    return read_decisions(f"{tmp_path / 'd.toml'}")


# Points


@given(quarters=integers(0, 400), percent=integers(0, 100), days=integers(0, 9))
def test_points_are_rounded_as_they_are_by_hand(quarters, percent, days):
    """Half a hundredth counts as one, as in Python's own decimal arithmetic."""
    kept = Late(percent_a_day=percent).share_kept(days)
    exact = Decimal(quarters) / 4 * max(Decimal(0), 100 - Decimal(days) * percent) / 100
    assert hundredths(quarters / 4 * kept) == float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


def test_half_a_hundredth_is_given_and_the_share_is_told_in_full(folder, tmp_path):
    text = DECIDED.replace("= 10", "= 12.5") + "[manual.ada.run_in_time]\npoints = 1.5\n"
    known = came(tmp_path, ada="2026-12-02T12:00:00+01:00")
    found = scores(f"{folder}", decided(tmp_path, text), CLASS, known)[0][0]
    assert (found.points, found.notes) == (1.31, ("1 day late: 87.5% of the points count.",))  # 1.3125
    fifteen = decided(tmp_path, text.replace("12.5", "15"))
    assert scores(f"{folder}", fifteen, CLASS, known)[0][0].points == 1.28  # 1.275; as a float 1.2749999


def test_points_by_hand_count_without_a_submission(folder, tmp_path):
    by_hand = '[manual.cy.run_in_time]\npoints = 3\nreason = "Told at the board."\n'
    given_to_all = '[questions.balanced_params]\ndecision = "full"\n'
    found = scores(f"{folder}", decided(tmp_path, 'assignment = "start"\n' + by_hand + given_to_all), CLASS)[0][2]
    assert (found.student, found.points, found.max_points) == ("cy", 3, 8)  # "full" is for who handed something in
    assert found.questions[0].why == "3 points by hand. Told at the board."
    void = by_hand + '[questions.run_in_time]\ndecision = "void"\n'
    found = scores(f"{folder}", decided(tmp_path, 'assignment = "start"\n' + void), CLASS)[0]
    assert [(one.points, one.max_points) for one in found] == [(0, 4), (4, 4), (0, 4)]
    rows = list(csv.DictReader(io.StringIO(scores_csv(found))))
    assert [row["run_in_time"] for row in rows] == ["0", "0", "0"]
    assert list(rows[0])[6:8] == ["run_in_time", "balanced_params"]  # in the assignment's order for everybody


# What came when


def test_a_price_of_lateness_needs_to_know_what_came_when(folder, tmp_path):
    """Without it nobody would be late, and nothing would tell."""
    words = ("--decisions", tmp_path / "d.toml")
    for more in (
        "due = 2026-12-01T23:59:00Z",
        "[late]\npercent_a_day = 10",
        "[extensions]\nada = 2026-12-01T23:59:00Z",
    ):
        decided(tmp_path, f'assignment = "start"\n{more}\n')
        for command in (("scores", folder), ("feedback", folder, "-o", tmp_path / "pages")):
            assert "--collected DIR says what came when" in refused(*command, *words)
    assert not (tmp_path / "pages").exists()
    known = came(tmp_path, ada="2026-12-03T00:00:00Z")
    assert run("scores", folder, *words, "--collected", known).exit_code == 0
    decided(tmp_path, 'assignment = "start"\n[manual.ada.run_in_time]\npoints = 1\n')
    assert run("scores", folder, *words).exit_code == 0


def test_who_came_at_a_time_that_nobody_knows_is_told(folder, tmp_path):
    """Moodle's archive has no times: everybody is in time, and it says so."""
    known = came(tmp_path, bob=False)
    found = scores(f"{folder}", decided(tmp_path, DECIDED), CLASS, known)[0]
    assert [one.notes for one in found] == [(UNKNOWN,), (), ("Nothing was handed in.",)]
    assert scores(f"{folder}", Decisions(assignment="start"), CLASS, known)[0][0].notes == ()


# Formulas


@pytest.mark.parametrize("cell", ["=1+1", " =1+1", "\u00a0@x", "\t=1", "\n=1", "\uff1d1+1", "\uff20x", "+x", "-x"])
def test_what_a_spreadsheet_would_compute_is_text(cell):
    assert safe_cell(cell) == f"'{cell}"
    assert safe_cell(f"x{cell}") == f"x{cell}"


# Whose row is whose, without a roster


def test_the_number_behind_a_name_of_a_download_finds_its_row(tmp_path):
    folder = new_results(tmp_path / "results", record("lovelaceada_1234", 4, 0), record("raobob_1235", 4, 4))
    (tmp_path / "e.csv").write_text(CANVAS)
    done = run("gradebook", folder, tmp_path / "e.csv", "-o", tmp_path / "f.csv", "--column", "4711")
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'f.csv'}: 2 scores in 'Start, part 1 (4711)'\n")
    assert 'S 2,4.00,"7.00"' in (tmp_path / "f.csv").read_text()


def test_two_of_one_number_and_a_login_that_looks_like_one_find_no_row(tmp_path):
    folder = new_results(tmp_path / "results", record("x_1234", 4, 0), record("y_1234", 0, 0), record("z_1235", 4, 4))
    text = CANVAS.replace("1235,,bob@x", "9,,1235")  # a login that is somebody's number
    (tmp_path / "e.csv").write_text(text)
    done = run("gradebook", folder, tmp_path / "e.csv", "-o", tmp_path / "f.csv", "--column", "4711")
    assert done.exit_code == 1
    assert (tmp_path / "f.csv").read_bytes() == (tmp_path / "e.csv").read_bytes()
    assert "not in the gradebook: x_1234\nnot in the gradebook: y_1234\nnot in the gradebook: z_1235\n" in done.stderr
    assert "--roster FILE.CSV says it" in done.stderr


def test_a_worksheet_of_moodle_finds_its_rows_by_the_participant(tmp_path):
    folder = new_results(tmp_path / "results", record("Ada Lovelace_77", 4, 0), record("Bob Rao_78", 4, 4))
    (tmp_path / "e.csv").write_text(WORKSHEET)
    found = scores(f"{folder}")[0]
    assert fill(f"{tmp_path / 'e.csv'}", found).filled == ("Ada Lovelace_77", "Bob Rao_78")
    (tmp_path / "e.csv").write_text(EXPORT)  # where e-mail addresses alone say whose a row is
    assert fill(f"{tmp_path / 'e.csv'}", found, column="Assignment: Start (Real)").filled == ()


def test_a_name_that_moves_the_cursor_is_told_without_it(tmp_path):
    folder = new_results(tmp_path / "results", record("ada", 4, 0))
    (tmp_path / "e.csv").write_text(CANVAS.replace("Ng, Cy", "Ng\x1b[2K\rCy").replace("ada@x", "ada"))
    done = run("gradebook", folder, tmp_path / "e.csv", "-o", tmp_path / "f.csv", "--column", "4711")
    assert "\x1b" not in done.stderr
    assert "without a score: Ng [2K Cy\n" in done.stderr


def test_nobody_gets_nothing_while_a_record_is_nobodys(tmp_path):
    """Bob was graded as the download called him: on the roster he seems to have handed nothing in."""
    folder = new_results(tmp_path / "results", record("ada", 4, 0), record("raobob_1235", 4, 4))
    (tmp_path / "r.csv").write_text("student,canvas id\nada,1234\nbob,1235\n")
    (tmp_path / "e.csv").write_bytes(CANVAS.encode())
    words = ("gradebook", folder, tmp_path / "e.csv", "-o", tmp_path / "f.csv", "--column", "4711")
    done = run(*words, "--roster", tmp_path / "r.csv")
    assert done.exit_code == 1
    assert (tmp_path / "f.csv").read_bytes() == CANVAS.replace('S 2,,"7', 'S 2,4.00,"7').encode()
    assert 'without a score: Rao, "Bob"\n' in done.stderr
    assert "not on the roster: raobob_1235" in done.stderr
    (folder / file_name("raobob_1235")).unlink()
    assert run(*words, "--roster", tmp_path / "r.csv").exit_code == 0
    assert b"S 1,0.00" in (tmp_path / "f.csv").read_bytes()


def test_with_a_roster_the_roster_alone_decides(tmp_path):
    folder = new_results(tmp_path / "results", record("ada_99", 4, 0))
    roster = Roster(students=(Student(student="ada_99", canvas_id="1235"), ADA))
    (tmp_path / "e.csv").write_text(CANVAS.replace("1234", "99"))
    done = fill(f"{tmp_path / 'e.csv'}", scores(f"{folder}", roster=roster)[0], roster, column="4711")
    assert done.filled == ("ada_99",)
    assert "S 1,4.00" in done.text

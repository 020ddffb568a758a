"""What leaves a course: feedback without anything hidden, gradebooks that are changed in one column, statistics."""

import json
import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis.strategies import text

from lib.course.feedback import as_html, as_markdown
from lib.course.gradebook import cells, fill
from lib.course.items import items
from lib.course.roster import Roster, Student
from lib.course.scores import scores
from lib.exercises import QUESTIONS
from lib.grading import results
from lib.grading.grader import judged, tasks
from tests.course_class import ADA, BOB, CLASS, case, new_results, record, refused, run
from tests.page_checks import load_axe

EVIL = '<script>alert(1)</script>[x](javascript:1)"`*_'


@pytest.fixture
def folder(tmp_path):
    """Ada has half of the points, Bob all."""
    return new_results(tmp_path / "results", record("ada", 4, 0), record("bob", 4, 4))


def scored(folder, roster=CLASS):
    return scores(f"{folder}", roster=roster)[0]


# Feedback


def with_cases(student, *cases, **more):
    """A record whose first question failed with these cases."""
    made = record(student, 0, 4, **more)
    first = replace(made.questions[0], sentence="See case 1.", cases=cases, title="Weeks & days")
    return replace(made, questions=(first, *made.questions[1:]))


def test_a_page_says_question_verdict_and_hint(folder):
    cases = (
        case("slip", sentence="`9` where 7 was expected."),
        case(hidden=True),
        case("wrong value", True, "Not yet."),
    )
    results.write(folder, with_cases("ada", *cases))
    done = run("feedback", folder, "-o", folder.parent / "out")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 4)
    html = (folder.parent / "out/ada.html").read_text()
    for words in (
        "ada: 4 of 8 points.",
        "Weeks &amp; days",
        "<code>9</code> where 7",
        "hidden</td>",
        "4 of 4 points",
        "not right yet",
    ):
        assert words in html
    assert html.count('<th scope="row">') == 2  # a right answer to a hidden case has no row
    hint = QUESTIONS["run_in_time"].hint
    markdown = (folder.parent / "out/ada.md").read_text()
    assert "2. hidden Not yet." in markdown
    assert "Hint: " in markdown
    assert html.count("<details>") == 1
    assert hint[:20] in html


def test_what_a_student_made_is_text_and_nothing_else(folder):
    evil = replace(with_cases("ada", case("slip", sentence=EVIL + "\n# big\u202e")), file=EVIL)
    results.write(folder, evil)
    ((score, _, _),) = [scored(folder)]
    html, markdown = as_html("Start", score), as_markdown("Start", score)
    assert "<script" not in html
    assert "\u202e" not in html + markdown
    assert not re.search(r"(?<!\\)<", re.sub(r"(?<!\\)`[^`]*`", "", markdown))
    assert "[x](" not in markdown
    assert "\n# big" not in markdown


def test_nothing_hidden_can_be_told(folder):
    """The whole way: a wrong answer to hidden cases, and none of their numbers on the page."""
    asked = QUESTIONS["training_days"]
    (task,) = tasks([asked], "a secret of some length", "ada")
    result = judged(task, {"kind": "function", "names": [], "absent": []}, [{"value": 123.0}] * len(task.cases))
    results.write(folder, replace(record("ada", 0, 0), questions=(result,)))
    ((score, *_),) = [scored(folder)]
    told = as_html("Compute", score) + as_markdown("Compute", score)
    hidden = [one for one in task.cases if not one.visible]
    numbers = {value for one in hidden for value in (*one.inputs.values(), one.expected)}
    numbers -= {value for one in task.cases if one.visible for value in (*one.inputs.values(), one.expected)}
    shown = {f"{number:{form}}" for number in numbers for form in ("g", ".4g", ".6g", ",.0f", "")}
    assert len(hidden) > 1
    assert not [
        number for number in shown if len(number) > 3 and re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", told)
    ]


def test_a_student_without_a_record_has_a_page_too_and_other_folders_stay(folder, tmp_path):
    (tmp_path / "r.csv").write_text("student\nada\nbob\ncy\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/x").write_text("kept")
    words = ("feedback", folder, "--roster", tmp_path / "r.csv")
    assert "neither new nor written by" in refused(*words, "-o", tmp_path / "mine")
    assert run(*words, "-o", tmp_path / "out").exit_code == 0
    assert "Nothing was handed in." in (tmp_path / "out/cy.html").read_text()
    assert run(*words, "-o", tmp_path / "out").exit_code == 0


def test_the_pages_have_no_finding_in_light_and_dark_and_their_hints_open_by_key(folder, browser):
    results.write(folder, with_cases("ada", case("slip", sentence="No."), case("wrong value", True, "Not yet.")))
    found = items(results.read_all(folder))
    assert run("items", folder, "-o", folder.parent / "items.html").exit_code == 0
    assert len(found) == 2
    pages = [as_html("Start", scored(folder)[0]), (folder.parent / "items.html").read_text()]
    context = browser.new_context(bypass_csp=True, viewport={"width": 320, "height": 700})
    tab = context.new_page()
    try:
        for html in pages:
            tab.set_content(html)
            load_axe(tab)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                assert tab.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))") == []
        tab.set_content(pages[0])
        tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.querySelector('details').open")
    finally:
        context.close()


# Gradebooks

CANVAS = (
    '\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"Start, part 1 (4711)",Essay (4712),Final Score\r\n'
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,8.00,20.00,(read only)\r\n"
    '"Lovelace, Ada",1234,,ada@x,S 1 and S 2,,"7.00",35.0\r\n'
    '"Rao, ""Bob""",1235,,bob@x,S 1,3.00,,\r\n'
    '"Ng, Cy",,,cy,S 1,EX,,\r\n'
    '"Student, Test",9999,,test,S 1,,,\r\n'
)
WORKSHEET = (
    "Identifier;Full name;Email address;Status;Grade;Maximum grade;Grade can be changed;Last modified (grade)\n"
    'Participant 77;Ada Lovelace;x@y;"Submitted for grading - ";;"8,00";Yes;-\n'
    "Teilnehmer/in 78;Bob Rao;bob@uni.example;No submission;;8,00;Yes;-\n"
)
EXPORT = (
    '"First name",Surname,"ID number","Email address","Assignment: Start (Real)","Course total (Real)"\n'
    "Ada,Lovelace,,ADA@uni.example,-,-\n"
    "Bob,Rao,,bob@uni.example,-,-"
)


def filled(folder, tmp_path, text, roster=CLASS, **how):
    (tmp_path / "export.csv").write_bytes(text.encode())
    return fill(f"{tmp_path / 'export.csv'}", scored(folder), roster, **how)


def test_canvas_gradebook_keeps_every_byte_but_the_filled_cells(folder, tmp_path):
    done = filled(folder, tmp_path, CANVAS, column="4711")
    expected = CANVAS.replace('S 2,,"7.00"', 'S 2,4.00,"7.00"').replace("S 1,3.00", "S 1,8.00")
    assert done.text == expected
    assert (done.filled, done.kept) == (("ada", "bob"), (("cy", "EX"),))
    assert (done.without_row, done.without_score) == ((), ("Student, Test",))


@pytest.mark.parametrize(
    ("text", "cell"), [(WORKSHEET, '- ";4,00;"8,00"'), (WORKSHEET.replace(";", ","), '- ","4,00","8,00"')]
)
def test_a_worksheet_of_moodle_in_another_language_of_numbers(folder, tmp_path, text, cell):
    text = text.replace(";8,00;", ';"8,00";').replace(",8,00,", ',"8,00",')
    done = filled(folder, tmp_path, text)
    assert cell in done.text
    assert (done.form, done.column, done.filled, done.without_row) == (
        "moodle worksheet",
        "Grade",
        ("ada", "bob"),
        ("cy",),
    )
    assert re.sub('"?[48],00"?', "", done.text).replace(";", ",") == re.sub('"?8,00"?', "", text).replace(";", ",")


def test_a_gradebook_of_moodle_by_email(folder, tmp_path):
    with pytest.raises(ValueError, match="--column: name one of Assignment: Start"):
        filled(folder, tmp_path, EXPORT)
    done = filled(folder, tmp_path, EXPORT, column="Assignment: Start (Real)")
    assert done.text == EXPORT.replace("example,-,-", "example,4.00,-", 1).replace(
        "bob@uni.example,-", "bob@uni.example,8.00"
    )


def test_records_without_a_roster_find_their_rows_by_login(folder, tmp_path):
    text = CANVAS.replace("ada@x", "ada").replace("bob@x", "bob")
    (tmp_path / "export.csv").write_text(text)
    assert fill(f"{tmp_path / 'export.csv'}", scored(folder, None), None, column="4711").filled == ("ada", "bob")


def test_another_maximum_is_refused_unless_points_are_converted(folder, tmp_path):
    text = CANVAS.replace("8.00,20", "100.00,20")
    with pytest.raises(ValueError, match="100 points at most there, 8 here: --scale"):
        filled(folder, tmp_path, text, column="4711")
    assert 'S 2,50.00,"7.00"' in filled(folder, tmp_path, text, column="4711", scale=True).text


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        (CANVAS, None, "--column: name one of Start, part 1 (4711); Essay (4712)"),
        (CANVAS, "471", "--column: name one of"),
        ("a,b\n1,2\n", None, "no gradebook of Canvas"),
        ("", None, "no gradebook of Canvas"),
        ('ID,Section,"A (1)\n1,2,3\n', None, "row 1: a quote that does not end"),
    ],
)
def test_what_is_no_gradebook_is_refused(folder, tmp_path, text, column, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        filled(folder, tmp_path, text, column=column)


@pytest.mark.parametrize("text", [CANVAS, WORKSHEET, EXPORT, "a", "a,\r", '"a\n""b""",\n\n,', ""])
def test_a_csv_is_put_together_again_as_it_was(text):
    rows, mark = cells(text)
    assert "".join(mark.join(row[:-1]) + row[-1] for row in rows) == text


def test_the_export_itself_stays_and_who_is_missing_is_told(folder, tmp_path):
    (tmp_path / "e.csv").write_bytes(CANVAS.replace("1235", "1").encode())
    (tmp_path / "r.csv").write_text("student,canvas_id\nada,1234\nbob,1235\ncy,7\n")
    words = ("gradebook", folder, tmp_path / "e.csv", "--roster", tmp_path / "r.csv", "--column", "4711")
    assert "the export itself" in refused(*words, "-o", tmp_path / "e.csv")
    done = run(*words, "-o", tmp_path / "f.csv", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["filled"] == ["ada"]
    assert "not in the gradebook: bob\n" in done.stderr
    assert b"4.00" in (tmp_path / "f.csv").read_bytes()


def test_pseudonyms_find_their_rows_through_the_roster(tmp_path):
    hidden = Roster(students=(ADA, BOB, Student(student="cy")), secret="a secret of some length")
    made = new_results(tmp_path / "p", record(hidden.key("ada"), 4, 0))
    (tmp_path / "export.csv").write_bytes(CANVAS.encode())
    done = fill(f"{tmp_path / 'export.csv'}", scores(f"{made}", roster=hidden)[0], hidden, column="4711")
    assert 'S 2,4.00,"7.00"' in done.text


# Items


def test_wrong_answers_are_grouped_by_the_mistake_that_they_show(folder):
    slip = QUESTIONS["run_in_time"].slips[0]
    made = [with_cases(name, case("slip", slip=slip.name), case("wrong value")) for name in ("cy", "di")]
    made += [with_cases("ed", case("wrong value")), record("fay#1", 0, 0), record("fay#2", 4, 4)]
    for one in made:
        results.write(folder, one)
    first, second = items(results.read_all(folder))
    assert (first.n, first.right, first.share) == (6, 3, 0.5)  # of Fay the second attempt
    assert [(one.what, one.n) for one in first.wrong] == [(slip.name, 2), ("another value", 1)]
    assert first.wrong[0].sentence == slip.sentence
    assert first.right + sum(one.n for one in first.wrong) == first.n
    assert second.name == "balanced_params"


def test_items_are_listed_and_drawn(folder, tmp_path):
    done = run("items", folder, "-o", tmp_path / "i.html")
    assert "  100%  run_in_time (2 of 2)\n" in f"  {done.stdout.lstrip()}"
    assert "balanced_params: 50% right" in (tmp_path / "i.html").read_text()
    assert json.loads(run("items", folder, "--json").stdout)[1]["share"] == 0.5
    (folder / "ada.json").unlink()
    (folder / "bob.json").unlink()
    assert "no records in it yet" in refused("items", folder)


@given(text(alphabet='a1,;\t"\r\n', max_size=30))
def test_any_text_is_put_together_again_or_refused(written):
    with suppress(ValueError):
        rows, mark = cells(written)
        assert "".join(mark.join(row[:-1]) + row[-1] for row in rows) == written

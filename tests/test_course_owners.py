"""Whose a file is: names in any writing, two of one name, and names that a student makes up to hand in for another."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis.strategies import text

from lib.course.archives import Member
from lib.course.collect import collect, read_collected
from lib.course.downloads import form_of
from lib.course.keys import folder_name
from lib.course.roster import Roster, Student
from lib.course.scores import scores
from lib.grading.submissions import submissions
from tests.course_class import ADA, BOB, CLASS, new_results, record, refused, run
from tests.test_course import STRANGERS, tree, zipped


def written(folder, files):
    """A folder with files of these names."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return f"{folder}"


def students(*names, **more):
    return tuple(Student(student=f"s{n}", name=name, **more) for n, name in enumerate(names))


# Names in any writing

NAMES = ("Núñez, José", "Jose\u0301 Nu\u0301n\u0303ez", "สมชาย ใจดี", "शर्मा, हिन्दी", "李 明", "O'Neill, Seán")
NAMES += ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",)  # Ali-Reza, as Persian parts it


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_in_any_writing_finds_its_student(tmp_path, name, form):
    """On a Mac the accents of unpacked names stand beside their letters; the two look the same."""
    last, comma, first = name.partition(", ")
    full = unicodedata.normalize(form, f"{first} {last}" if comma else name)
    letters = "".join(mark for mark in unicodedata.normalize(form, name).lower() if mark not in ", '\u200c")
    roster = Roster(students=students(name, "Somebody Else"))
    moodle = zipped(tmp_path / "m.zip", {f"{full}_7_assignsubmission_file/h.py": "m"})
    canvas = zipped(tmp_path / "c.zip", {f"{letters}_LATE_7_9_h.py": "c"})
    numbered = Roster(students=(replace(roster.students[0], moodle_id="7"), roster.students[1]))
    for place, (archive, known) in enumerate(((moodle, roster), (canvas, roster), (moodle, numbered))):
        found = collect([archive], f"{tmp_path / f'in{place}'}", known)
        assert (list(found.students), found.faults, found.strangers) == (["s0"], (), ())


def test_names_that_differ_by_a_vowel_of_their_writing_are_two(tmp_path):
    """The vowels of Thai are marks: without them a bear is a pig."""
    roster = Roster(students=students("หมี"))
    found = collect([zipped(tmp_path / "c.zip", {"หมู_7_9_h.py": "x"})], f"{tmp_path / 'in'}", roster)
    assert found.strangers == ("หมู_7",)
    assert roster.by_name("หมี") is not None
    assert folder_name("สมชาย ใจดี") == "สมชาย ใจดี"
    with pytest.raises(ValueError, match="stands in two rows"):
        Roster(students=(Student(student="jos\u00e9"), Student(student="jose\u0301")))


# Two students of one name


def test_a_name_under_two_numbers_is_nobodys_where_the_roster_has_no_numbers(tmp_path):
    """One John Smith is on the roster, two handed in: which of them it is, nobody can tell from the names."""
    roster = Roster(students=(*students("John Smith"), BOB))
    files = {"smithjohn_7_1_h.py": "a", "smithjohn_8_2_h.py": "b", "raobob_1235_3_h.py": "c"}
    found = collect([zipped(tmp_path / "c.zip", files)], f"{tmp_path / 'in'}", roster)
    assert (list(found.students), found.strangers) == (["bob"], ("smithjohn_7", "smithjohn_8"))
    moodle = {f"John Smith_{n}_assignsubmission_file/h.py": f"{n}" for n in (7, 8)}
    found = collect([zipped(tmp_path / "m.zip", moodle)], f"{tmp_path / 'moodle'}", roster)
    assert (list(found.students), len(found.strangers)) == ([], 2)
    two = {"smithjohn_7_1_h.py": "a", "smithjohn_7_900_501_x.py": "b"}  # one of them, with two files
    assert list(collect([zipped(tmp_path / "t.zip", two)], f"{tmp_path / 'two'}", roster).students) == ["s0"]


def test_a_name_that_ends_like_a_number_hands_in_for_nobody_else(tmp_path):
    """Canvas takes `_77_` out of names, and leaves the `_77` at their end: the file's name reads in two ways."""
    files = {"mallory_1234_1235_501_hw.py": "evil"}  # of mallory_1234, whose number is 1235
    archive = zipped(tmp_path / "c.zip", files)
    found = collect([archive], f"{tmp_path / 'in'}", CLASS)
    assert (found.students, found.strangers) == ({}, ("mallory_1234",))
    honest = zipped(tmp_path / "h.zip", {"lovelaceada_1234_900_501_hw.py": "mine"})
    assert list(collect([honest], f"{tmp_path / 'honest'}", CLASS).students) == ["ada"]


def test_of_a_moodle_folder_the_last_number_is_the_systems(tmp_path):
    name = "Ada_77_assignsubmission_file__79_assignsubmission_file"
    roster = Roster(students=(ADA, replace(BOB, name="", moodle_id="79")))
    others = {"Cy Ng_80_assignsubmission_file/h.py": "c"}
    found = collect([zipped(tmp_path / "m.zip", {f"{name}/h.py": "evil"} | others)], f"{tmp_path / 'in'}", roster)
    assert list(found.students) == ["bob"]
    flat = {"Bob Rao_79_assignsubmission_file_Ada_77_assignsubmission_file": "evil", **others}
    assert "ada" not in collect([zipped(tmp_path / "f.zip", flat)], f"{tmp_path / 'flat'}", roster).students


@pytest.mark.parametrize("other", ["a\u200cda", "ADA", "ada@uni.example"])
def test_two_names_without_a_number_are_two_students(tmp_path, other):
    """They look the same, or are taken for the same: neither's work may pass for the other's."""
    folder = written(tmp_path / "dl", {"ada.py": "1", f"{other}.py": "2", "bob.py": "3"})
    assert len(collect([folder], f"{tmp_path / 'in'}").students) == 3
    found = collect([folder], f"{tmp_path / 'known'}", CLASS)
    assert (list(found.students), len(found.strangers)) == (["bob"], 2)


def test_a_name_of_nothing_that_is_seen_is_a_name(tmp_path):
    folder = written(tmp_path / "dl", {"\u200c/h.py": "1", "ada/h.py": "2"})
    found = collect([folder], f"{tmp_path / 'in'}")
    assert set(tree(tmp_path / "in").values()) == {"1", "2"}
    assert len(found.students) == 2
    assert folder_name("") != ""


@given(name=text(max_size=200))
@example("")
@example("\u200c")
@example("Collected.json")
@example("..")
@example("x" * 300 + ".py")
def test_whatever_a_student_is_called_it_is_the_name_of_one_folder(name):
    """Of none above it, none that grading passes over, and not of the list beside it."""
    made = folder_name(name)
    assert made == Path(made).name != ""
    assert made[0] not in "._"
    assert made.casefold() != "collected.json"
    assert len(made.encode()) <= 200
    assert folder_name(made) == made
    assert folder_name(f"{name}x") != made


# Forms


def test_one_student_does_not_decide_the_form_of_a_class(tmp_path):
    """What lies in a student's folder is of the student's making, however much it is."""
    evil = {f"mallory/lovelaceada_1234_{n}_h{n}.py": "evil" for n in range(20)}
    folder = written(tmp_path / "dl", {"ada/h.py": "1", "bob/h.py": "2"} | evil)
    found = collect([folder], f"{tmp_path / 'in'}")
    assert (found.form, list(found.students)) == ("plain", ["ada", "bob", "mallory"])
    submitted = {f"submitted/{name}".replace("/h", "/start/h").replace("/lov", "/start/lov"): "x" for name in evil}
    tree_of_course = written(tmp_path / "tree", submitted | {"submitted/ada/start/h.py": "1"})
    found = collect([tree_of_course], f"{tmp_path / 'in2'}", assignment="start")
    assert (found.form, list(found.students)) == ("nbgrader", ["ada", "mallory"])


def test_a_time_that_one_student_laid_down_makes_no_tree_of_a_class(tmp_path):
    evil = {"mallory/start/timestamp.txt": "2026-12-01 10:00 UTC", "mallory/start/h.py": "evil"}
    folder = written(tmp_path / "dl", {"ada/h.py": "1", "bob/h.py": "2"} | evil)
    why = refused("collect", folder, "-o", tmp_path / "in")
    assert "timestamp.txt as of nbgrader only of mallory: say --form nbgrader, or plain" in why
    found = collect([folder], f"{tmp_path / 'in'}", form="plain")
    assert list(found.students) == ["ada", "bob", "mallory"]


def test_a_team_of_moodle_with_a_number_in_its_name_is_no_canvas():
    flat = ("Team_9_77_assignsubmission_file_h.py", "Team_10_78_assignsubmission_file_h.py")
    assert form_of([Member(parts=(name,), read=bytes) for name in flat]) == "moodle"


def test_a_damaged_time_stops_nobody_else_and_what_lies_wrong_is_told(tmp_path):
    files = {"ada/start/h.py": "1", "ada/start/timestamp.txt": "soon", "bob/start/h.py": "2", "cy/h.py": "3"}
    files |= {"bob/start/timestamp.txt": "2026-12-01 10:00 UTC"}
    folder = written(tmp_path / "course", {f"submitted/{name}": text for name, text in files.items()})
    written(tmp_path / "course", {"source/start/start.ipynb": "{}", "release/start/start.ipynb": "{}"})
    done = run("collect", folder, "-o", tmp_path / "in")
    assert done.exit_code == 1
    known = read_collected(f"{tmp_path / 'in'}")
    assert list(known) == ["ada", "bob"]
    assert known["ada"]["submitted"] is None
    assert known["bob"]["submitted"] is not None
    assert "not taken: ada: timestamp.txt: 'soon': no time" in done.stderr
    assert "not taken: submitted/cy/h.py: in no folder of an assignment" in done.stderr


def test_files_beside_a_class_and_a_class_beside_files(tmp_path):
    folder = tmp_path / "dl"
    folder.mkdir()
    zipped(folder / "c.zip", {"lovelaceada_1234_1_h.py": "1", "raobob_1235_2_h.py": "2"})
    (folder / "roster.csv").write_text("student\n")
    assert list(collect([f"{folder}"], f"{tmp_path / 'in'}", CLASS).students) == ["ada", "bob"]
    (folder / "cy.py").write_text("3")
    found = collect([f"{folder}"], f"{tmp_path / 'in2'}")
    assert list(found.students) == ["c", "cy"]
    assert "c.zip: looks like the download of a whole class; taken as what one student handed in" in found.faults


# Files and attempts


@pytest.mark.parametrize("name", ["Ada_77_assignsubmission_file/hw-{}.py", "ada/hw-{}.py", "ada/part{}/hw.py"])
def test_files_of_one_student_are_kept_apart(tmp_path, name):
    """Only Canvas counts -1, -2 itself: elsewhere two files that differ by a number are two files."""
    archive = zipped(tmp_path / "x.zip", {name.format(n): f"{n}" for n in (1, 2)} | {"bob/h.py": ""})
    collect([archive], f"{tmp_path / 'in'}", form="moodle" if "77" in name else "plain")
    assert sorted(text for text in tree(tmp_path / "in").values() if text) == ["1", "2"]
    every = collect([archive], f"{tmp_path / 'all'}", form="moodle" if "77" in name else "plain", attempts="best")
    assert not [key for key in every.students if "#" in key]


def test_a_later_download_given_together_takes_the_place_of_all_before(tmp_path):
    """Whoever calls the file otherwise the second time is graded by the second, not by both."""
    name = "Ada Lovelace_77_assignsubmission_file/{}.py"
    archives = [zipped(tmp_path / f"{n}.zip", {name.format(f"v{n}"): f"{n}"}) for n in (1, 2)]
    collect(archives, f"{tmp_path / 'in'}", CLASS)
    assert tree(tmp_path / "in") == {"ada/v2.py": "2"}
    collect(archives, f"{tmp_path / 'all'}", CLASS, attempts="best")
    assert tree(tmp_path / "all") == {"ada#1/v1.py": "1", "ada#2/v2.py": "2"}
    again = [zipped(tmp_path / f"c{n}.zip", {"lovelaceada_1234_9_h.py": "same"}) for n in (1, 2)]
    assert list(collect(again, f"{tmp_path / 'c'}", CLASS, attempts="best").students) == ["ada"]


# Times


def test_times_reach_a_student_whose_name_no_folder_may_have(tmp_path):
    odd = Roster(students=(Student(student="o'neill", canvas_id="7"), ADA))
    (tmp_path / "t.csv").write_text("student,submitted\no'neill,2026-12-09T00:00:00Z\n")
    collect([zipped(tmp_path / "c.zip", {"x_7_1_h.py": ""})], f"{tmp_path / 'in'}", odd, times=f"{tmp_path / 't.csv'}")
    ((one,),) = [submissions(f"{tmp_path / 'in'}")]
    assert read_collected(f"{tmp_path / 'in'}")[one.student]["submitted"] is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("student,submitted\nadda,2026-12-01T10:00Z\n", "row 2: student = 'adda': nothing of theirs; did you mean"),
        ("student,submitted\nada\n", "row 2: '': no time"),
        ("submitted,student\n2026-12-01T10:00Z\n", "row 2: student = '': nothing of theirs"),
        ("student,submitted\nada,2026-12-01T10:00Z\nada,2026-12-02T10:00Z\n", "row 3: student = 'ada': stands in two"),
    ],
)
def test_times_of_nobody_are_refused(tmp_path, text, why):
    (tmp_path / "t.csv").write_text(text)
    written(tmp_path / "dl", {"ada.py": ""})
    assert why in refused("collect", tmp_path / "dl", "-o", tmp_path / "in", "--times", tmp_path / "t.csv")
    assert not (tmp_path / "in").exists()


def test_a_short_row_of_a_roster_is_told_by_its_number(tmp_path):
    (tmp_path / "r.csv").write_text("name,student\nAda\n")
    written(tmp_path / "dl", {"ada.py": ""})
    why = refused("collect", tmp_path / "dl", "-o", tmp_path / "in", "--roster", tmp_path / "r.csv")
    assert "row 2: student: empty" in why


def test_what_is_kept_aside_has_its_name(tmp_path):
    found = collect([zipped(tmp_path / "p.zip", {"dee.py": "x"})], f"{tmp_path / 'in'}", CLASS)
    assert found.strangers == ("dee",)
    assert tree(tmp_path / "in") == {f"{STRANGERS}/dee/dee.py": "x"}
    assert json.loads((tmp_path / "in/collected.json").read_text())["students"] == {}


def test_a_student_called_as_our_own_list_stops_nobody(tmp_path):
    found = collect([written(tmp_path / "dl", {"collected.json.py": "x", "ada.py": "y"})], f"{tmp_path / 'in'}")
    assert len(found.students) == 2
    assert set(read_collected(f"{tmp_path / 'in'}")) == set(found.students)
    assert [one.student for one in submissions(f"{tmp_path / 'in'}")] == list(found.students)


# Archives


@pytest.mark.parametrize("name", ["Núñez José_7_assignsubmission_file/Año.py", "สมชาย_7_assignsubmission_file/h.py"])
def test_names_of_an_archive_made_on_a_mac_are_read(tmp_path, name):
    """They are UTF-8 without the bit that says so, and would be taken for code page 437."""
    ascii_name = "x" * (len(name.encode()) - 1) + "y"
    zipped(tmp_path / "m.zip", {ascii_name: "mine"})
    packed = (tmp_path / "m.zip").read_bytes()
    (tmp_path / "m.zip").write_bytes(packed.replace(ascii_name.encode(), name.encode()))
    assert packed.count(ascii_name.encode()) == 2
    found = collect([f"{tmp_path / 'm.zip'}"], f"{tmp_path / 'in'}")
    assert list(tree(tmp_path / "in")) == [name.replace("_assignsubmission_file", "")]
    assert found.faults == ()


def test_what_could_not_be_taken_is_told_to_the_student(tmp_path, monkeypatch):
    """Otherwise the page would say that there is no notebook, to somebody who handed one in."""
    monkeypatch.setattr("lib.course.archives.LARGEST", 10)
    folder = written(tmp_path / "dl", {"lovelaceada_1234_1_ada_hw.py": "x" * 20})
    found = collect([folder], f"{tmp_path / 'in'}", CLASS)
    why = "ada_hw.py is no ordinary file of at most 10 bytes"
    assert (found.faults, found.students["ada"]["not_taken"]) == ((f"ada: {why}",), [why])
    results = new_results(tmp_path / "out", record("ada", 0, 0))
    ((score, *_), _) = scores(f"{results}", roster=CLASS, collected=f"{tmp_path / 'in'}")
    assert score.notes == (f"Not taken: {why}.",)
    collect([folder], f"{tmp_path / 'hidden'}", replace(CLASS, secret="a secret of some length"))
    assert "ada_hw" not in (tmp_path / "hidden/collected.json").read_text()


# Once more


def test_whoever_is_called_otherwise_now_does_not_stand_there_twice(tmp_path):
    """Without a roster first, then with one, then under pseudonyms; Dee was on no roster at first."""
    files = {"lovelaceada_1234_1_h.py": "1", "deed_9_2_h.py": "2", "raobob_1235_3_h.py": "3"}
    archive, folder = zipped(tmp_path / "c.zip", files), f"{tmp_path / 'in'}"
    collect([archive], folder)
    collect([archive], folder, CLASS)
    assert {name.split("/")[0] for name in tree(tmp_path / "in")} == {"ada", "bob", "deed_9", STRANGERS}
    more = Roster(students=(*CLASS.students, Student(student="dee", canvas_id="9")))
    collect([archive], folder, more)
    assert {name.split("/")[0] for name in tree(tmp_path / "in")} == {"ada", "bob", "dee"}
    assert set(read_collected(folder)) == {"ada", "bob", "dee"}
    hidden = replace(more, secret="a secret of some length")
    collect([archive], folder, hidden)
    assert set(read_collected(folder)) == {hidden.key(name) for name in ("ada", "bob", "dee")}
    assert {name.split("/")[0] for name in tree(tmp_path / "in")} == set(read_collected(folder))


def test_a_run_that_was_stopped_is_run_again(tmp_path, monkeypatch):
    archive, folder = zipped(tmp_path / "c.zip", {"a_1_1_h.py": "1", "b_2_2_h.py": "2"}), f"{tmp_path / 'in'}"

    def stopped(info, *rest):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lib.course.collect._known", stopped)  # after the first student's folder
        with pytest.raises(KeyboardInterrupt):
            collect([archive], folder)
        patch.setattr("lib.course.collect._filled", stopped)  # within one
        with pytest.raises(KeyboardInterrupt):
            collect([archive], folder)
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"a_1", "collected.json"}
    assert list(collect([archive], folder).students) == ["a_1", "b_2"]

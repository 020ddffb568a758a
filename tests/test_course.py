"""Running a course: what systems hand out is read as they write it, people's decisions are kept apart, nothing is lost.

Names of files and columns are those of Canvas, Moodle and nbgrader themselves; the modules name the source.
"""

import csv
import io
import json
import os
import re
import stat
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lib.course.archives import members
from lib.course.collect import STRANGERS, collect, read_collected
from lib.course.decisions import Late, read_decisions
from lib.course.downloads import handed_in, time_of
from lib.course.roster import Roster, Student, pseudonym, read_roster
from lib.course.scores import scores
from lib.course.sheet import scores_csv
from lib.grading import results
from lib.grading.submissions import submissions
from tests.course_class import ADA, BOB, CLASS, new_results, record, refused, run

SECRET = "a secret of some length"
DUE = datetime.fromisoformat("2026-12-01T23:59:00+01:00")
DECIDED = """
assignment = "start"
due = 2026-12-01T23:59:00+01:00

[late]
percent_a_day = 10
most_days = 3
grace_minutes = 15
"""


def zipped(path, files):
    """A zip file; a value that is no text or bytes is a `ZipInfo`'s external_attr of a link."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return f"{path}"


def tree(folder):
    """name -> text of all files below a folder but the list of what was collected."""
    found = {f"{path.relative_to(folder)}": path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {name: text for name, text in found.items() if name != "collected.json"}


# Downloads


def test_an_archive_of_canvas_is_told_apart_by_late_marks_and_attempts(tmp_path):
    files = {"lovelaceada_1234_501_hw.ipynb": "first", "lovelaceada_LATE_1234_502_hw-1.ipynb": "second"}
    archive = zipped(tmp_path / "c.zip", files | {"raobob_1235_503_my_hw 2.py": "b", "ngcy_1236_text.html": "words"})
    found = collect([archive], f"{tmp_path / 'in'}", CLASS)
    assert tree(tmp_path / "in") == {"ada/hw-1.ipynb": "second", "bob/my_hw 2.py": "b"}
    assert found.form == "canvas"
    assert {key: one["late"] for key, one in found.students.items()} == {"ada": True, "bob": False, "cy": False}
    assert [one.student for one in submissions(f"{tmp_path / 'in'}")] == ["ada", "bob", "cy"]  # cy has no notebook
    every = collect([archive], f"{tmp_path / 'all'}", CLASS, attempts="best")
    assert {key: one["late"] for key, one in every.students.items() if "ada" in key} == {"ada#1": False, "ada#2": True}
    assert tree(tmp_path / "all")["ada#1/hw.ipynb"] == "first"


@pytest.mark.parametrize(
    ("name", "label", "number", "file", "late"),
    [
        ("lovelaceada_1234_501_a_1_2_b.ipynb", "lovelaceada", "1234", "a_1_2_b.ipynb", False),
        ("de_la_cruz_LATE_9_10_x.py", "de_la_cruz", "9", "x.py", True),
        ("þórðursigrún_9_10_x.py", "þórðursigrún", "9", "x.py", False),
        ("LATE_anon_aB3x9_10_x.py", "anon", "aB3x9", "x.py", True),
        ("ngcy_LATE_1236_link.html", "ngcy", "1236", "link.html", True),
        ("ใจดีสมชาย_LATE_9_10_x.py", "ใจดีสมชาย", "9", "x.py", True),  # Ruby's [[:word:]] has marks, our \w has not
        ("शर्माहिन्दी_9_10_x.py", "शर्माहिन्दी", "9", "x.py", False),
        ("nu\u0301n\u0303ez_9_10_x.py", "n\u00fa\u00f1ez", "9", "x.py", False),
    ],
)
def test_names_of_canvas(tmp_path, name, label, number, file, late):
    ((one,), _) = handed_in(members(zipped(tmp_path / "c.zip", {name: "x"})), "canvas")
    assert (one.label, one.number, one.file, one.late) == (label, number, file, late)


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace_77_assignsubmission_file_/hw.ipynb",
        "Ada Lovelace_77_assignsubmission_file/hw.ipynb",
        "Ada Lovelace_77_assignsubmission_file_hw.ipynb",
        "export/Ada Lovelace_77_assignsubmission_file_/hw.ipynb",
    ],
)
def test_an_archive_of_moodle_packed_and_unpacked_with_folders_and_without(tmp_path, name):
    archive = zipped(tmp_path / "m.zip", {name: "x", name.replace("Ada Lovelace_77", "Cy Ng_78"): "y"})
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path / "unpacked")
    for place, download in enumerate((archive, f"{tmp_path / 'unpacked'}")):
        found = collect([download], f"{tmp_path / f'in{place}'}", CLASS)
        assert (found.form, found.strangers) == ("moodle", ())
        assert tree(tmp_path / f"in{place}") == {"ada/hw.ipynb": "x", "cy/hw.ipynb": "y"}  # cy by name


def test_the_tree_of_nbgrader_brings_its_times(tmp_path):
    files = {"start/start.ipynb": "x", "start/timestamp.txt": "2026-12-01 23:00:00.000000 UTC", "other/o.ipynb": "o"}
    for name, content in files.items():
        path = tmp_path / "submitted/ada" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    with pytest.raises(ValueError, match="the tree holds other, start: name one"):
        collect([f"{tmp_path / 'submitted'}"], f"{tmp_path / 'in'}", CLASS)
    assert not (tmp_path / "in").exists()
    collect([f"{tmp_path / 'submitted'}"], f"{tmp_path / 'in'}", CLASS, assignment="start")
    assert tree(tmp_path / "in") == {"ada/start.ipynb": "x"}
    known = read_collected(f"{tmp_path / 'in'}")["ada"]
    assert known == {"late": None, "submitted": datetime(2026, 12, 1, 23, tzinfo=UTC), "not_taken": ()}


def test_the_eighth_time_canvas_writes_a_uuid_and_the_number_of_the_file_tells_the_order(tmp_path):
    names = ("hw-7.py", "hw.py", "hw-0f8fad5b-d9cb-469f-a165-70867728950e.py")
    numbers = (9, 10, 11)  # as numbers, not as text
    files = {f"lovelaceada_1234_{n}_{name}": name for n, name in zip(numbers, names, strict=True)}
    collect([zipped(tmp_path / "c.zip", files)], f"{tmp_path / 'in'}", CLASS)
    assert list(tree(tmp_path / "in").values()) == [names[-1]]


def test_a_time_has_an_offset():
    assert time_of("2026-12-01T23:59:00+01:00") == time_of("2026-12-01 22:59:00.000000 UTC") == DUE
    assert time_of("2026-12-01 23:59 +0100") == time_of("2026-12-01 23:59:00 Europe/Berlin") == DUE
    for wrong in ("2026-12-01 23:59", "yesterday", "", "2026-12-01 23:59 Nowhere/Land"):
        with pytest.raises(ValueError, match=f"{wrong!r}: no"):
            time_of(wrong)


def test_a_later_download_takes_the_place_of_an_earlier_one_and_leaves_the_others(tmp_path):
    first = {"lovelaceada_1234_501_hw.py": "1", "raobob_1235_502_hw.py": "b"}
    collect([zipped(tmp_path / "1.zip", first)], f"{tmp_path / 'in'}", CLASS)
    second = zipped(tmp_path / "2.zip", {"lovelaceada_1234_504_hw-1.py": "2"})
    collect([second], f"{tmp_path / 'in'}", CLASS)
    assert tree(tmp_path / "in") == {"ada/hw-1.py": "2", "bob/hw.py": "b"}
    assert set(read_collected(f"{tmp_path / 'in'}")) == {"ada", "bob"}
    collect([f"{tmp_path / '1.zip'}", second], f"{tmp_path / 'in'}", CLASS, attempts="best")
    assert tree(tmp_path / "in") == {"ada#1/hw.py": "1", "ada#2/hw-1.py": "2", "bob/hw.py": "b"}


def test_who_is_not_on_the_roster_is_named_and_kept_aside(tmp_path):
    archive = zipped(tmp_path / "c.zip", {"lovelaceada_1234_501_hw.py": "1", "lovelaceada_999_502_hw.py": "2"})
    (tmp_path / "r.csv").write_text("Student,Name,Canvas ID\nada,Ada Lovelace,1234\n")
    done = run("collect", archive, "-o", tmp_path / "in", "--roster", tmp_path / "r.csv")
    assert done.exit_code == 1
    assert done.stderr == f"not on the roster: lovelaceada_999: kept in {tmp_path / 'in' / STRANGERS}\n"
    assert tree(tmp_path / "in") == {"ada/hw.py": "1", f"{STRANGERS}/lovelaceada_999/hw.py": "2"}
    assert [one.student for one in submissions(f"{tmp_path / 'in'}")] == ["ada"]


def test_a_hostile_archive_writes_nowhere_else(tmp_path):
    files = {
        "../../evil_1234_1_hw.py": "a",
        "/etc/evil_1235_2_..\\..\\hw.py": "b",
        f"x_1_3_{'n' * 300}.py": "c",
        "x_2_4_CON\n.py": "d",
        "../nobody.py": "e",
    }
    archive = zipped(tmp_path / "c.zip", files)
    with zipfile.ZipFile(archive, "a") as more:
        link = zipfile.ZipInfo("x_3_5_hw.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        more.writestr(link, "/etc/passwd")
    found = collect([archive], f"{tmp_path / 'deep/in'}", form="canvas")
    assert {path.name for path in tmp_path.iterdir()} == {"c.zip", "deep"}
    assert sorted(tree(tmp_path / "deep/in").values()) == ["a", "b", "c", "d"]
    assert found.faults == (
        "nobody.py: no name of the form canvas",
        "x_3: hw.py is a link, which is not followed",
    )
    assert all(len(name) < 120 and name.isprintable() for name in tree(tmp_path / "deep/in"))


def test_bombs_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("lib.course.archives.LARGEST", 10_000)
    archive = zipped(tmp_path / "c.zip", {"a_1_1_hw.py": "x" * 20_000, "b_2_2_hw.py": "y"})
    found = collect([archive], f"{tmp_path / 'in'}")
    assert found.faults == ("a_1: hw.py unpacks to more than 10,000 bytes",)
    assert tree(tmp_path / "in") == {"b_2/hw.py": "y"}
    monkeypatch.setattr("lib.course.archives.MOST_BYTES", 15_000)
    assert "15,000 bytes when unpacked" in refused("collect", archive, "-o", tmp_path / "other")


def test_what_is_no_download_is_refused_and_nothing_changes(tmp_path):
    (tmp_path / "cut.zip").write_bytes((tmp_path / zipped(tmp_path / "c.zip", {"a_1_1_h.py": ""})).read_bytes()[:-30])
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("kept")
    out = ("-o", tmp_path / "in")
    assert "no zip archive, or cut off" in refused("collect", tmp_path / "cut.zip", *out)
    assert "no submissions in it" in refused("collect", tmp_path / "empty", *out)
    assert "no such file or folder" in refused("collect", tmp_path / "nowhere", *out)
    assert "one of canvas, moodle" in refused("collect", tmp_path / "c.zip", *out, "--form", "blackboard")
    assert "written by handbook course collect" in refused("collect", tmp_path / "c.zip", "-o", tmp_path / "full")
    assert "--pseudonyms goes with --roster" in refused("collect", tmp_path / "c.zip", *out, "--pseudonyms", "x")
    assert not (tmp_path / "in").exists()
    assert tree(tmp_path / "full") == {"mine.txt": "kept"}


# Roster


def test_a_roster_is_read_and_its_faults_are_told_by_the_row(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes("\ufeffStudent;Name;Section;extra days\r\nada;Ada;1;2.5\r\n\r\nbob;Bob;2;\r\n".encode())
    assert [one.extra_days for one in read_roster(f"{path}").students] == [2.5, 0]
    for text, why in (
        ("name\nada\n", "no column `student`"),
        ("student,extra_days\nada,many\n", "row 2: extra_days = 'many': a number"),
        ("student\nada\nAda\n", "student = 'ada': stands in two rows"),
        ("student,name\n,Ada\n", "row 2: student: empty"),
        ("", "empty: its first row"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=why):
            read_roster(f"{path}")


def test_a_name_that_two_students_have_is_nobodys():
    twins = Roster(students=(Student(student="a", name="Cy Ng"), Student(student="b", name="Ng, Cy")))
    assert (twins.by_name("Cy Ng"), twins.by_name("ngcy")) == (None, None)
    assert CLASS.by_name("lovelaceada") == CLASS.by_name("Ada Lovelace") == ADA
    assert CLASS.by("email", "BOB@uni.example") == BOB
    assert CLASS.by("email", "") is None


def test_pseudonyms_are_stable_keyed_and_tell_nothing(tmp_path):
    hidden = replace(CLASS, secret=SECRET)
    archive = zipped(tmp_path / "c.zip", {"lovelaceada_1234_501_hw.py": "1"})
    found = collect([archive], f"{tmp_path / 'in'}", hidden)
    assert list(found.students) == [pseudonym(SECRET, "ada")] == [hidden.key("ada")]
    assert pseudonym(SECRET + "2", "ada") != pseudonym(SECRET, "ada") != pseudonym(SECRET, "bob")
    told = (tmp_path / "in/collected.json").read_text() + " ".join(tree(tmp_path / "in"))
    assert "ada" not in told.lower()
    with pytest.raises(ValueError, match="at least 16 characters"):
        replace(CLASS, secret="short")


# Scores


@pytest.fixture
def graded(tmp_path):
    """A results folder with Ada's and Bob's records, and a function that writes and reads decisions."""
    folder = new_results(tmp_path / "results", record("ada", 4, 0), record("bob", 4, 4))

    def decide(text):
        (tmp_path / "d.toml").write_text(text)
        return read_decisions(f"{tmp_path / 'd.toml'}")

    return folder, decide


def points(graded, text=DECIDED, roster=CLASS, collected=None):
    folder, decide = graded
    return {one.student: one.points for one in scores(f"{folder}", decide(text), roster, collected)[0]}


def came(tmp_path, **times):
    """A folder as `collect` leaves it, with what is known of each student."""
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    known = {
        key: {"late": one is True, "submitted": one if isinstance(one, str) else None} for key, one in times.items()
    }
    (folder / "collected.json").write_text(json.dumps({"format": 1, "form": "x", "students": known}))
    return f"{folder}"


def test_without_decisions_the_graded_points_stand_and_who_handed_in_nothing_has_none(graded):
    folder, _ = graded
    found, strangers = scores(f"{folder}", roster=CLASS)
    assert {one.student: (one.points, one.max_points) for one in found} == {"ada": (4, 8), "bob": (8, 8), "cy": (0, 8)}
    assert found[2].notes == ("Nothing was handed in.",)
    assert scores(f"{folder}", roster=Roster(students=(ADA,)))[1] == ["bob"]
    assert strangers == []


@pytest.mark.parametrize(
    ("time", "kept"),
    [
        ("2026-12-01T23:59:00+01:00", 4),
        ("2026-12-01T23:14:00+00:00", 4),  # a quarter of an hour, seen in London
        ("2026-12-01T23:14:01+00:00", 3.6),
        ("2026-12-02T23:59:00+01:00", 3.6),
        ("2026-12-02T23:59:01+01:00", 3.2),
        ("2026-12-04T23:59:00+01:00", 2.8),
        ("2026-12-05T00:00:00+01:00", 0),
    ],
)
def test_lateness_is_counted_in_days_begun_whatever_the_offset(graded, tmp_path, time, kept):
    assert points(graded, collected=came(tmp_path, ada=time))["ada"] == pytest.approx(kept)


def test_extensions_and_extra_days_move_the_due_time(graded, tmp_path):
    times = {"ada": "2026-12-03T12:00:00+01:00", "bob": "2026-12-03T12:00:00+01:00"}
    assert points(graded, collected=came(tmp_path, **times)) == {"ada": 3.2, "bob": 8, "cy": 0}
    extended = DECIDED + "[extensions]\nada = 2026-12-03T12:00:00Z\n"
    assert points(graded, extended, collected=came(tmp_path, **times))["ada"] == 4


def test_a_mark_without_a_time_counts_as_one_day_unless_more_time_was_granted(graded, tmp_path):
    marked = came(tmp_path, ada=True, bob=True)
    assert points(graded, collected=marked) == {"ada": 3.6, "bob": 8, "cy": 0}
    folder, decide = graded
    found, _ = scores(f"{folder}", decide(DECIDED), CLASS, marked)
    assert found[0].notes == ("Marked as late, without a time.", "1 day late: 90% of the points count.")
    assert "more time was granted" in found[1].notes[0]


def test_a_question_is_void_or_given_to_all_and_manual_points_survive_grading_anew(graded):
    void = DECIDED + '[questions.run_in_time]\ndecision = "void"\n'
    folder, decide = graded
    assert {one.student: (one.points, one.max_points) for one in scores(f"{folder}", decide(void), CLASS)[0]} == {
        "ada": (0, 4),
        "bob": (4, 4),
        "cy": (0, 4),
    }
    assert points(graded, void.replace("void", "full").replace("run_in_time", "balanced_params"))["ada"] == 8
    by_hand = DECIDED + '[manual.ada.balanced_params]\npoints = 2.5\nreason = "Right but for a slip."\n'
    assert points(graded, by_hand)["ada"] == 6.5
    results.write(folder, record("ada", 0, 0))
    found = scores(f"{folder}", decide(by_hand), CLASS)[0][0]
    assert (found.points, found.questions[1].why) == (2.5, "2.5 points by hand. Right but for a slip.")


def test_of_several_attempts_the_latest_or_the_best_counts_after_lateness(graded, tmp_path):
    folder, _ = graded
    (folder / "ada.json").unlink()
    for one in (record("ada#1", 4, 0), record("ada#2", 0, 0), record("ada#10", 4, 4)):
        results.write(folder, one)
    assert points(graded)["ada"] == 8  # the tenth comes after the second
    assert points(graded, 'attempts = "best"\n' + DECIDED)["ada"] == 8
    marked = came(tmp_path, **{"ada#10": "2026-12-09T00:00:00Z"})
    assert points(graded, collected=marked)["ada"] == 0  # the tenth, too late
    assert points(graded, 'attempts = "best"\n' + DECIDED, collected=marked)["ada"] == 4


def test_one_of_a_group_hands_in_for_all(graded):
    together = Roster(students=(replace(ADA, group="g"), replace(CLASS.students[2], group="g"), BOB))
    assert points(graded, roster=together)["cy"] == 0
    assert points(graded, "groups = true\n" + DECIDED, roster=together) == {"ada": 4, "bob": 8, "cy": 4}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('assignment = "memory"', "results of 'start', and the decisions are about 'memory'"),
        ("due = 2026-12-01T23:59:00", "no line `assignment"),
        ('assignment = "start"\ndue = 2026-12-01T23:59:00', "due = 2026-12-01 23:59:00: a time with its offset"),
        ('assignment = "start"\nattempts = "last"', "one of latest, best"),
        ('assignment = "start"\ngrace = 5', "key = 'grace': one of assignment"),
        ('assignment = "start"\n[late]\npercent_a_day = 110', "at most 100"),
        ('assignment = "start"\n[late]\npercent = 10', "did you mean 'percent_a_day'"),
        ('assignment = "start"\n[extensions]\nadda = 2026-12-01T23:59:00Z', "'adda': decided about, and neither"),
        ('assignment = "start"\n[questions.run_in_tim]\ndecision = "void"', "did you mean 'run_in_time'"),
        ('assignment = "start"\n[questions.run_in_time]\ndecision = "skip"', "one of void, full"),
        ('assignment = "start"\n[manual.ada.run_in_time]\npoints = 15', "points = 15: at most 4"),
        ('assignment = "start"\n[manual.ada]\nrun_in_time = 1', "manual.ada.run_in_time = 1: a table"),
        ('assignment = "start"\ndue = 9999-12-31T23:59:59Z', "due = 9999-12-31"),
        ("assignment = ", "Invalid value"),
    ],
)
def test_decisions_that_cannot_be_meant_are_refused(graded, tmp_path, text, why):
    folder, _ = graded
    (tmp_path / "d.toml").write_text(text)
    assert why in refused("scores", folder, "--decisions", tmp_path / "d.toml")


def test_late_work_never_has_less_than_nothing():
    assert Late(percent_a_day=40).share_kept(3) == 0
    assert Late().share_kept(400) == 1


def test_scores_are_listed_written_and_told_of_whom_they_lack(graded, tmp_path):
    folder, _ = graded
    (tmp_path / "r.csv").write_text("student,section\nada,=1+1\n")
    words = ("scores", folder, "--roster", tmp_path / "r.csv", "-o", tmp_path / "s.csv", "--json")
    done = run(*words)
    assert done.exit_code == 1
    assert done.stderr == "not on the roster: bob: has a record, and no score\n"
    assert json.loads(done.stdout)["scores"][0]["points"] == 4
    rows = list(csv.DictReader(io.StringIO((tmp_path / "s.csv").read_text())))
    assert (rows[0]["student"], rows[0]["section"], rows[0]["run_in_time"]) == ("ada", "'=1+1", "4")
    assert "no results folder" in refused("scores", tmp_path)


def test_a_student_whose_name_no_folder_may_have_is_found_again(tmp_path):
    odd = Roster(students=(Student(student="uni/o'neill", canvas_id="7"), ADA))
    collect([zipped(tmp_path / "c.zip", {"x_7_1_hw.py": "x"})], f"{tmp_path / 'in'}", odd)
    ((one,),) = [submissions(f"{tmp_path / 'in'}")]
    folder = new_results(tmp_path / "results", record(one.student, 4, 4))
    found, strangers = scores(f"{folder}", roster=odd)
    assert strangers == []
    assert {score.student: score.points for score in found} == {"uni/o'neill": 8, "ada": 0}
    assert run("forget", "uni/o'neill", folder, tmp_path / "in").exit_code == 0
    assert (results.read_all(folder), tree(tmp_path / "in")) == ({}, {})


def test_scores_of_one_section(graded, tmp_path):
    (tmp_path / "r.csv").write_text("student,section\nada,north\nbob,south\n")
    words = ("scores", graded[0], "--roster", tmp_path / "r.csv", "--section")
    assert [one["student"] for one in json.loads(run(*words, "south", "--json").stdout)["scores"]] == ["bob"]
    assert "--section east: one of north, south" in refused(*words, "east")


def test_no_cell_of_the_csv_is_a_formula(graded):
    folder, _ = graded
    risky = Roster(students=tuple(Student(student=f"{mark}x", section=mark) for mark in "=+-@"))
    rows = list(csv.reader(io.StringIO(scores_csv(scores(f"{folder}", roster=risky)[0]))))
    assert all(cell.startswith("'") for row in rows[1:] for cell in row[:2])


def test_a_given_time_is_that_of_the_last_attempt(tmp_path):
    archive = zipped(tmp_path / "c.zip", {"lovelaceada_1234_1_h.py": "1", "lovelaceada_LATE_1234_2_h-1.py": "2"})
    (tmp_path / "t.csv").write_text("student,submitted\nADA,2026-12-02T08:00:00+01:00\n")
    times = f"{tmp_path / 't.csv'}"
    collect([archive], f"{tmp_path / 'in'}", CLASS, attempts="best", times=times)
    known = read_collected(f"{tmp_path / 'in'}")
    assert (known["ada#1"]["late"], known["ada#1"]["submitted"]) == (False, None)
    assert known["ada#2"]["late"] is True
    assert known["ada#2"]["submitted"] == datetime.fromisoformat("2026-12-02T08:00:00+01:00")
    (tmp_path / "t.csv").write_text("student,submitted\nadda,2026-12-02 08:00Z\n")
    with pytest.raises(ValueError, match="row 2: student = 'adda': not on the roster"):
        collect([archive], f"{tmp_path / 'in'}", CLASS, times=times)
    (tmp_path / "t.csv").write_text("student,submitted\nada,2026-12-02 08:00\n")
    with pytest.raises(ValueError, match="row 2: '2026-12-02 08:00': no offset"):
        collect([archive], f"{tmp_path / 'in'}", CLASS, times=times)


def test_names_that_mean_something_to_us_are_written_otherwise(tmp_path):
    files = {
        "_hidden/h.py": "1",
        "ada#2/h.py": "2",
        'a:b?"/h.py': "3",
        "ada.py": "4",
        "Aux/nul.py": "5",
        "com1.py": "6",
    }
    found = collect([zipped(tmp_path / "p.zip", files)], f"{tmp_path / 'in'}", form="plain")
    assert len(found.students) == len(submissions(f"{tmp_path / 'in'}")) == 6
    assert not [key for key in found.students if re.search(r'^[._]|[#:?"]', key)]
    names = {part.partition(".")[0].lower() for path in (tmp_path / "in").rglob("*") for part in path.parts}
    assert not names & {"con", "prn", "aux", "nul", "com1", "lpt1"}  # devices, on Windows
    assert "ada" in found.students


@pytest.mark.parametrize(
    "one",
    [
        "5",
        '{"not_taken": 5}',
        '{"other": 5}',
        '{"submitted": 5}',
        '{"submitted": "2026-12-01"}',
        '{"submitted": "soon"}',
    ],
)
def test_a_damaged_list_of_what_was_collected_is_refused(graded, tmp_path, one):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/collected.json").write_text(f'{{"format": 1, "students": {{"ada": {one}}}}}')
    assert "handbook: " in refused("scores", graded[0], "--collected", tmp_path / "in")


def test_a_team_of_moodle_is_not_taken_for_the_participant_of_the_same_number(tmp_path):
    together = Roster(students=(ADA, replace(BOB, group="Team 9"), Student(student="cy", name="Cy Ng", moodle_id="78")))
    names = ("Team 9_77", "Others_78", "Cy Ng_78")
    archive = zipped(tmp_path / "m.zip", {f"{name}_assignsubmission_file/hw.py": name for name in names})
    found = collect([archive], f"{tmp_path / 'in'}", together)
    assert tree(tmp_path / "in") == {
        "bob/hw.py": "Team 9_77",
        "cy/hw.py": "Cy Ng_78",
        f"{STRANGERS}/Others_78/hw.py": "Others_78",
    }
    assert found.strangers == ("Others_78",)
    blind = zipped(tmp_path / "b.zip", {f"Teilnehmer_{n}_assignsubmission_file_/hw.py": n for n in ("77", "78")})
    collect([blind], f"{tmp_path / 'blind'}", together)
    assert tree(tmp_path / "blind") == {"ada/hw.py": "77", "cy/hw.py": "78"}


def test_archives_of_a_class_are_found_in_a_folder(tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    early = zipped(folder / "z.zip", {"lovelaceada_1234_501_hw.py": "1", "raobob_1235_502_hw.py": "b"})
    os.utime(early, (1, 1))
    zipped(folder / "a.zip", {"lovelaceada_1234_504_hw-1.py": "2"})
    collect([f"{folder}"], f"{tmp_path / 'in'}", CLASS)
    assert tree(tmp_path / "in") == {"ada/hw-1.py": "2", "bob/hw.py": "b"}


def test_a_students_archive_that_looks_like_a_class_hands_in_for_nobody_else(tmp_path):
    folder = tmp_path / "submitted"
    folder.mkdir()
    zipped(folder / "bob.zip", {"lovelaceada_1234_999_hw.py": "evil"})
    (folder / "ada.py").write_text("mine")
    collect([f"{folder}"], f"{tmp_path / 'in'}", CLASS)
    paths = {f"{one.relative_to(tmp_path / 'in')}" for one in (tmp_path / "in").rglob("*.*")}
    assert paths == {"collected.json", "ada/ada.py", "bob/bob.zip"}


@pytest.mark.parametrize(
    "name",
    [
        "Bob Rao_79_assignsubmission_file_/Lovelace Ada_77_assignsubmission_file_/hw.py",
        "Bob Rao_79_assignsubmission_file_Lovelace Ada_77_assignsubmission_file_hw.py",
        "raobob_1235_502_lovelaceada_1234_999_hw.py",
        "raobob_1235_502_hw/lovelaceada_1234_999_hw.py",
    ],
)
def test_names_of_a_students_making_hand_in_for_nobody_else(tmp_path, name):
    found = collect([zipped(tmp_path / "x.zip", {name: "evil"})], f"{tmp_path / 'in'}", CLASS)
    assert list(found.students) == ["bob"]

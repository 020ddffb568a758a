"""A small class, its records and the command, for the tests of `lib.course`."""

from click.testing import CliRunner

from lib.cli import main
from lib.course.roster import Roster, Student
from lib.grading import results
from lib.grading.record import CaseResult, QuestionResult, Record

ADA = Student(
    student="ada", name="Lovelace, Ada", email="ada@uni.example", section="1", canvas_id="1234", moodle_id="77"
)
BOB = Student(student="bob", name="Bob Rao", email="bob@uni.example", section="2", canvas_id="1235", extra_days=2)
CLASS = Roster(students=(ADA, BOB, Student(student="cy", name="Cy Ng")))


def run(*words):
    return CliRunner().invoke(main, ["course", *map(str, words)])


def refused(*words):
    """The one line on stderr of a refused command."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def case(outcome="right", hidden=False, sentence="", slip=""):
    return CaseResult(hidden=hidden, outcome=outcome, sentence=sentence, slip=slip)


def record(student, *points, outcome="graded", **more):
    """A record of two questions of the first assignment, of which some points were reached."""
    names = ("run_in_time", "balanced_params")
    made = tuple(
        QuestionResult(
            name=name, title=name, outcome="passed" if got else "failed", sentence="", points=got, max_points=4
        )
        for name, got in zip(names, points, strict=True)
    )
    about = {"assignment": "start", "file": "hw.py", "sha256": "0", "grading": "g", "outcome": outcome}
    return Record(student=student, questions=made, **about | more)


def new_results(folder, *records):
    """A results folder with some records."""
    folder.mkdir()
    (folder / "grading.json").write_text('{"format": 1, "assignment": "start", "grading": "g"}')
    for one in records:
        results.write(folder, one)
    return folder

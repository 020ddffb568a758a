"""Scores: what was graded, what people decided, and when it came, joined anew each time. Nothing here is stored."""

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lib import check
from lib.course.collect import read_collected
from lib.course.decisions import Decisions
from lib.course.keys import folder_name, student_of
from lib.course.roster import Roster
from lib.grading import results
from lib.grading.record import ABOUT, Record
from lib.whole_files import read_text

UNKNOWN = "When it came is not known; taken as in time."


@dataclass(frozen=True, kw_only=True)
class QuestionScore:
    """What one question gave one student.

    Args:
        name: of the question.
        points: reached, after decisions.
        max_points: what there was; 0 for a question that is void.
        graded_points: reached, as graded.
        why: what was decided, in a sentence; empty where nothing was.
    """

    name: str
    points: float
    max_points: float
    graded_points: int
    why: str = ""

    def __post_init__(self):
        check.text(name=self.name, why=self.why)
        check.non_negative(points=self.points, max_points=self.max_points, graded_points=self.graded_points)


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one student reached.

    Args:
        student: as the records call them.
        section, group: empty where there are none.
        record: the `Record` that counts; None if nothing was handed in.
        questions: of `QuestionScore`.
        days_late: days begun.
        share_kept: of the points, after lateness, 0 to 1.
        notes: sentences, for the student.
    """

    student: str
    section: str = ""
    group: str = ""
    record: Record | None
    questions: tuple
    days_late: int = 0
    share_kept: float = 1.0
    notes: tuple = ()

    def __post_init__(self):
        check.text(student=self.student, section=self.section, group=self.group)
        check.instance(tuple, questions=self.questions, notes=self.notes)
        check.natural(days_late=self.days_late)
        check.share(share_kept=self.share_kept)

    @property
    def points(self):
        """Reached, after decisions and lateness, to a hundredth."""
        return hundredths(sum(one.points for one in self.questions) * self.share_kept)

    @property
    def max_points(self):
        """What there was."""
        return sum(one.max_points for one in self.questions)

    @property
    def plain(self):
        """The score as dicts, lists, numbers and text."""
        about = {name: getattr(self, name) for name in ("student", "section", "group", "points", "max_points")}
        about |= {"days_late": self.days_late, "notes": list(self.notes)}
        return about | {"questions": [asdict(one) for one in self.questions]}


def hundredths(points):
    """Points to a hundredth, halves upwards, as they are rounded by hand; of floats 1.275 is a little less than that.

    Args:
        points: >= 0.

    >>> hundredths(1.5 * 0.85), round(1.5 * 0.85, 2)
    (1.28, 1.27)
    """
    check.non_negative(points=points)
    return math.floor(points * 100 + 0.5 + 1e-6) / 100


def about(folder):
    """What a results folder says of itself: a dict with "assignment" and "grading".

    Args:
        folder: its path.

    Raises:
        ValueError: if it is none.
    """
    check.text(folder=folder)
    path = Path(folder) / ABOUT
    if not path.exists():
        raise ValueError(f"{folder}: no results folder: there is no {ABOUT} in it; handbook course grade makes one")
    try:
        found = json.loads(read_text(f"{path}"))
        check.text(assignment=found["assignment"], grading=found["grading"])
    except (TypeError, KeyError, ValueError, RecursionError):
        raise ValueError(f"{path}: damaged; the records beside it are as they were") from None
    return found


def scores(folder, decisions=None, roster=None, collected=None):
    """The scores of everybody on the roster, or, without one, of everybody with a record.

    Args:
        folder: of the results.
        decisions: a `Decisions`, or None for points as they were graded.
        roster: a `Roster`, or None.
        collected: the folder that `collect` wrote, which knows what came when; or None.

    Returns:
        (a list of `Score` by student, the students with a record who are not on the roster).

    Raises:
        ValueError: for decisions about another assignment, or about questions and students that there are not.
    """
    is_for = about(folder)["assignment"]
    decisions = decisions or Decisions(assignment=is_for)
    if check.plain_name(decisions.assignment) != check.plain_name(is_for):
        raise ValueError(f"{folder}: results of {is_for!r}, and the decisions are about {decisions.assignment!r}")
    records = results.read_all(f"{folder}")
    known = read_collected(collected) if collected else {}
    roster = roster or Roster(students=tuple(_nobody(records)))
    _refuse_unknown(decisions, records, roster)
    attempts = {}
    for key in sorted(records):
        attempts.setdefault(student_of(key), []).append((records[key], known.get(key, {})))
    for key in roster.by_key:  # a folder may not be called as a student is
        if key not in attempts and folder_name(key) in attempts:
            attempts[key] = attempts.pop(folder_name(key))
    found = [_score(one, roster, decisions, attempts) for one in roster.students]
    strangers = sorted(attempts.keys() - roster.by_key.keys())
    return sorted(found, key=lambda score: score.student), strangers


def _nobody(records):
    from lib.course.roster import Student

    return [Student(student=key) for key in sorted({student_of(key) for key in records})]


def _refuse_unknown(decisions, records, roster):
    names = {one.name: one.max_points for record in records.values() for one in record.questions}
    students = {one.student for one in roster.students}
    for student in (*decisions.extensions, *decisions.manual):
        if student not in students:
            near = check.did_you_mean(student, students)
            raise ValueError(f"{student!r}: decided about, and neither on the roster nor among the records{near}")
    asked = [*decisions.questions, *(name for given in decisions.manual.values() for name in given)]
    for name in asked if names else ():
        check.choice(tuple(names), question=name)
    for student, given in decisions.manual.items():
        for name, one in given.items():
            if names and one["points"] > names[name]:
                raise ValueError(f"manual.{student}.{name}.points = {one['points']:g}: at most {names[name]}")


def _score(student, roster, decisions, attempts):
    """The score of one student: of several attempts the one that the decisions say."""
    about = {"student": roster.key(student.student), "section": student.section, "group": student.group}
    mine = _own_or_group(student, roster, decisions, attempts)
    if not mine:
        questions = _nothing(student, decisions, attempts)
        return Score(**about, record=None, questions=questions, notes=("Nothing was handed in.",))
    made = [_of_attempt(about, student, decisions, *attempt) for attempt in mine]
    return max(made, key=lambda score: score.points) if decisions.attempts == "best" else made[-1]


def _own_or_group(student, roster, decisions, attempts):
    key = roster.key(student.student)
    if not decisions.groups or not student.group:
        return _in_order(attempts.get(key, []))
    others = [roster.key(one.student) for one in roster.students if one.group == student.group]
    return _in_order([attempt for other in others for attempt in attempts.get(other, [])])


def _in_order(mine):
    """Attempts, earliest first: by their number; those with a time, as of several members of a group, by that."""

    def when(attempt):
        time = attempt[1].get("submitted")
        number = attempt[0].student.rpartition("#")[2]
        return (time.timestamp() if time else 0.0, int(number) if number.isdigit() else 0)

    return sorted(mine, key=when)


def _nothing(student, decisions, attempts):
    """Of who handed nothing in: points by hand count, and what was given to those who handed something in does not."""
    records = [attempt[0] for mine in attempts.values() for attempt in mine]
    given = decisions.manual.get(student.student, {})
    void = {name: one for name, one in decisions.questions.items() if one["decision"] == "void"}
    asked = [replace(one, points=0) for one in (records[0].questions if records else ())]
    return tuple(_question(one, void.get(one.name), given.get(one.name)) for one in asked)


def _of_attempt(about, student, decisions, record, known):
    given = decisions.manual.get(student.student, {})
    questions = tuple(
        _question(one, decisions.questions.get(one.name), given.get(one.name)) for one in record.questions
    )
    days, notes = _lateness(student, decisions, known)
    notes = (*notes, *(f"Not taken: {words}." for words in known.get("not_taken", ())))
    share = decisions.late.share_kept(days)
    if share < 1:
        notes = (*notes, f"{_days(days)} late: {share * 100:g}% of the points count.")
    return Score(**about, record=record, questions=questions, days_late=days, share_kept=share, notes=notes)


def _question(graded, ruling, given):
    about = {"name": graded.name, "graded_points": graded.points}
    if ruling and ruling["decision"] == "void":
        return QuestionScore(**about, points=0, max_points=0, why=_because("Void: it counts for nobody.", ruling))
    if ruling:
        points = graded.max_points
        return QuestionScore(**about, points=points, max_points=points, why=_because("Given to all.", ruling))
    if given:
        words = _because(f"{given['points']:g} points by hand.", given)
        return QuestionScore(**about, points=given["points"], max_points=graded.max_points, why=words)
    return QuestionScore(**about, points=graded.points, max_points=graded.max_points)


def _because(words, decided):
    return f"{words} {decided['reason']}" if decided.get("reason") else words


def _lateness(student, decisions, known):
    """(days begun, notes): of the time where it is known, else of the mark of the download."""
    due = decisions.due_for(student.student, student.extra_days)
    submitted = known.get("submitted")
    if submitted and due:
        return decisions.late.days(submitted, due), ()
    if not known.get("late"):
        return 0, (UNKNOWN,) if due and known.get("late") is None else ()
    if student.student in decisions.extensions or student.extra_days:
        return 0, ("Marked as late, without a time; more time was granted, so it is taken as in time.",)
    return decisions.late.days_without_time, ("Marked as late, without a time.",)


def _days(days):
    return f"{days} day{'' if days == 1 else 's'}"

"""Removes what was made of one student from the folders of a course, and says what it cannot reach."""

import csv
import io
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lib import check
from lib.course import collect, feedback, keys
from lib.course.keys import folder_name, student_of
from lib.course.sheet import safe_cell
from lib.grading import record, results
from lib.grading.record import file_name
from lib.whole_files import read_text, write_text

KINDS = {record.ABOUT: "results", keys.ABOUT: "submitted", feedback.ABOUT: "feedback"}
TAIL = 9  # a dot, and what `tempfile` puts behind the name of a file that is being written
BEYOND = (
    "the downloads, and what the learning platform itself holds",
    "rows of the roster, of decisions and of times: people keep those files",
    "gradebooks that were filled, and what was imported from them",
    "what collect kept aside under another name, because it was on no roster",
    "names that stand within files, and in archives that students packed",
    "folders that were not named here, copies and backups",
    "pages of a group's other members, if they were made from this student's submission",
)


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What was removed.

    Args:
        removed: paths; of files that hold others too, "PATH: a row" or "PATH: an entry".
        beyond: sentences about what is out of reach.
    """

    removed: tuple
    beyond: tuple = BEYOND

    def __post_init__(self):
        check.instance(tuple, removed=self.removed, beyond=self.beyond)


def forget(student, places, roster=None):
    """Remove a student's submissions, records, feedback and rows of scores.

    Args:
        student: as the roster or the records have it.
        places: folders that `collect`, `grade` and `feedback` wrote, and CSV files that `scores` wrote.
        roster: a `Roster` with the secret, where records carry pseudonyms; None else.

    Returns:
        A `Forgotten`.

    Raises:
        ValueError: for a place that is none of these, and if nothing of the student is in any; nothing is removed.
    """
    check.text(student=student)
    check.several(places=places)
    names = {student} if roster is None else {student, roster.key(student)}
    names |= {folder_name(name) for name in names}
    plans = [step for place in places for step in _plan(place, names)]
    if not plans:
        near = check.did_you_mean(student, _everybody(places))
        raise ValueError(f"student = {student!r}: nothing of them in {check.listed(places)}{near}")
    for _, step in plans:
        step()
    return Forgotten(removed=tuple(told for told, _ in plans))


def _kind(place):
    if os.path.isfile(place) and read_text(place).startswith("student,section,group,points,"):
        return "scores"
    kind = next((kind for name, kind in KINDS.items() if (Path(place) / name).is_file()), None)
    if kind is None:
        raise ValueError(f"{place}: neither a folder of collect, grade or feedback nor scores as CSV")
    return kind


def _plan(place, names):
    """(what is told, what is done) for everything in a place that is a student's."""
    kind = _kind(place)
    if kind == "results":
        mine = [file_name(key) for key in results.read_all(place) if student_of(key) in names]
        return _removals(place, mine, {file_name(name) for name in names} - {*mine})
    if kind == "feedback":
        stems = [file_name(name).removesuffix(".json") for name in sorted(names)]
        return _removals(place, [f"{stem}{suffix}" for stem in stems for suffix in (".html", ".md")])
    return _of_submitted(place, names) if kind == "submitted" else _of_scores(place, names)


def _removals(place, wanted, others=()):
    """Files and folders of these names, and what a run that was killed left of them: hidden, with a tail."""
    starts = {name[:40] for name in (*wanted, *others)}  # as `collect` and `lib.whole_files` begin them
    left = [path for path in sorted(Path(place).glob(".*")) if student_of(path.name[1:-TAIL]) in starts]
    found = [path for path in (*(Path(place) / name for name in wanted), *left) if os.path.lexists(path)]
    return [(f"{path}", lambda path=path: _remove(path)) for path in found]


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _of_submitted(place, names):
    path = Path(place) / keys.ABOUT
    about = json.loads(read_text(f"{path}"))
    mine = sorted(key for key in collect.read_collected(place) if student_of(key) in names)
    plan = _removals(place, mine, names) + _removals(Path(place) / collect.STRANGERS, sorted(names))
    if mine:
        left = about | {"students": {key: one for key, one in about["students"].items() if key not in mine}}
        text = json.dumps(left, indent=1) + "\n"
        plan.append((f"{path}: an entry", lambda: write_text(f"{path}", text, replace=True)))
    return plan


def _of_scores(place, names):
    rows = list(csv.reader(io.StringIO(read_text(place))))
    kept = [row for row in rows if row[:1] and row[0] not in {safe_cell(name) for name in names}]
    if len(kept) == len(rows):
        return []
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(kept)
    return [(f"{place}: a row", lambda: write_text(place, file.getvalue(), replace=True))]


def _everybody(places):
    found = set()
    for place in places:
        kind = _kind(place)
        if kind == "results":
            found |= {student_of(key) for key in results.read_all(place)}
        elif kind == "submitted":
            found |= {student_of(key) for key in collect.read_collected(place)}
    return sorted(found)

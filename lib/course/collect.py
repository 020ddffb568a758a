"""Downloads into one folder for each student, which `handbook course grade` reads, and a list of what came when."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from lib import check
from lib.course.downloads import downloads_of, form_of, handed_in, time_of
from lib.course.roster import csv_rows
from lib.grading.submissions import SUFFIXES
from lib.whole_files import read_text, refuse_depth, write_text

ABOUT = "collected.json"
FORMAT = 1
STRANGERS = "_not_on_the_roster"  # grading leaves out names that begin like this
ATTEMPTS = ("latest", "best")
_ATTEMPT = re.compile(r"#\d+$")


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What a download held.

    Args:
        form: one of `lib.course.downloads.FORMS`.
        students: dict from the key of each submission to what is known of it: "late" and "submitted".
        strangers: what the download calls those who are not on the roster.
        faults: sentences about files that could not be taken.
    """

    form: str
    students: dict
    strangers: tuple = ()
    faults: tuple = ()

    def __post_init__(self):
        check.text(form=self.form)
        check.instance(dict, students=self.students)
        check.instance(tuple, strangers=self.strangers, faults=self.faults)


def student_of(key):
    """The student whose submission a key names: attempts carry their number behind a #.

    Args:
        key: of a submission.

    >>> student_of("ada#2"), student_of("ada")
    ('ada', 'ada')
    """
    check.text(key=key)
    return _ATTEMPT.sub("", key)


def folder_name(name):
    """A name that is that of one file in one folder, on any system; different ones stay different.

    Args:
        name: any text, such as a student's.

    >>> folder_name("ada@uni.example"), folder_name("../o'neill")
    ('ada@uni.example', '--o-neill-2481cb50')
    """
    check.text(name=name)
    suffix = Path(name).suffix if len(Path(name).suffix) <= 10 else ""
    clean = re.sub(r"[^\w.@+ -]|^[._]+|[. ]+$", "-", name)
    if clean == name and len(name.encode()) <= 120:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean.removesuffix(suffix)[:40]}-{mark}{suffix if suffix in clean else ''}"


def collect(downloads, folder, roster=None, attempts="latest", times=None, form=None, assignment=None):
    """Write a folder for each student from downloads; students who are in none stay as they are.

    Args:
        downloads: paths of archives and folders, the earliest first.
        folder: where to; new, empty, or written by this function before.
        roster: a `Roster`, or None to call students as the download does.
        attempts: "latest" keeps the last of each file; "best" keeps each attempt, as STUDENT#1, STUDENT#2.
        times: the path of a CSV file with the columns student and submitted, or None.
        form: one of `FORMS`; None finds out.
        assignment: the folder's name in a tree of several assignments.

    Returns:
        A `Collected`.

    Raises:
        ValueError: if a download cannot be read or is empty, or the folder holds something else; nothing is changed.
    """
    check.several(downloads=downloads)
    check.choice(ATTEMPTS, attempts=attempts)
    before = _about(folder)
    files, form, faults = _all_files(downloads, form, assignment)
    owners, strangers = _owners(files, roster)
    stamps = _times(times, roster) if times else {}
    os.makedirs(folder, exist_ok=True)
    students = {}
    for key, mine in owners.items():
        made = _versions(mine) if attempts == "best" else _versions(mine)[-1:]
        stale = [old for old in before["students"] if student_of(old) == key]
        for name, version in _named(key, made):
            faults += _written(Path(folder) / name, version)
            students[name] = _known(version, stamps.get(key) if version is made[-1] else None)  # the last one's time
        _remove(folder, [old for old in stale if old not in students])
    for label, mine in strangers.items():
        faults += _written(Path(folder) / STRANGERS / folder_name(label), _versions(mine)[-1])
    kept = {name: one for name, one in before["students"].items() if student_of(name) not in owners}
    about = {"format": FORMAT, "form": form, "students": kept | students}
    write_text(f"{Path(folder) / ABOUT}", json.dumps(about, indent=1) + "\n", replace=True)
    return Collected(form=form, students=students, strangers=tuple(strangers), faults=tuple(faults))


def read_collected(folder):
    """What is known of each submission of a folder that `collect` wrote: dicts with "late" and "submitted".

    Args:
        folder: its path.

    Raises:
        ValueError: if it was not written by `collect`.
    """
    check.text(folder=folder)
    if not (Path(folder) / ABOUT).exists():
        raise ValueError(f"{folder}: no {ABOUT} in it: not written by handbook course collect")
    try:
        found = {key: (one.get("late"), one.get("submitted")) for key, one in _about(folder)["students"].items()}
        return {
            key: {"late": late, "submitted": time_of(time) if time else None} for key, (late, time) in found.items()
        }
    except TypeError as error:
        raise ValueError(f"{Path(folder) / ABOUT}: {error}") from None


def _about(folder):
    path = Path(folder) / ABOUT
    if not path.exists():
        if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
            raise ValueError(f"{folder}: neither new nor written by handbook course collect: there is no {ABOUT} in it")
        return {"students": {}}
    text = read_text(f"{path}")
    try:
        refuse_depth(text)
        found = json.loads(text)
        is_ours = found["format"] == FORMAT and all(isinstance(one, dict) for one in found["students"].values())
    except (ValueError, TypeError, KeyError, AttributeError):
        is_ours = False
    if not is_ours:
        raise ValueError(f"{path}: damaged, or of another format; nothing was changed")
    return found


def _all_files(downloads, form, assignment):
    files, forms, faults = [], set(), []
    each = [pair for path in downloads for pair in downloads_of(path)]
    for place, (path, found) in enumerate(each):
        its = form or form_of(found)
        mine = handed_in(found, its, place, assignment) if found else []
        if not mine:
            raise ValueError(
                f"{path}: no submissions in it: files of Canvas, Moodle, nbgrader, or one for each student"
            )
        if its != "nbgrader":  # whose other files belong to other assignments
            taken = {id(one.member) for one in mine}
            left = ["/".join(member.parts) for member in found if id(member) not in taken]
            faults += [f"{name[:80]}: no name of the form {its}" for name in left]
        forms.add(its)
        files += mine
    return files, "+".join(sorted(forms)), faults


def _owners(files, roster):
    """Files by key for those on the roster, and by label for the others."""
    owners, strangers = {}, {}
    labels = {one.label for one in files}
    for one in files:
        label = f"{one.label}_{one.number}" if one.number else one.label
        if roster is None:
            owners.setdefault(folder_name(label), []).append(one)
        elif student := _student(one, roster, labels):
            owners.setdefault(folder_name(roster.key(student.student)), []).append(one)
        else:
            strangers.setdefault(label, []).append(one)
    return dict(sorted(owners.items())), dict(sorted(strangers.items()))


def _student(one, roster, labels):
    if not one.number:
        return roster.by("student", one.label) or roster.by("email", one.label)
    if one.late is not None:
        return roster.by("canvas_id", one.number) or _without("canvas_id", roster.by_name(one.label))
    return _of_moodle(one, roster, is_blind=len(labels) == 1)


def _of_moodle(one, roster, is_blind):
    """Of a team Moodle writes the group and its number, which may be that of another participant: names decide."""
    found = roster.by("moodle_id", one.number)
    if found and (is_blind or not found.name or _words(found.name) & _words(one.label)):
        return found
    team = [student for student in roster.students if student.group.casefold() == one.label.casefold()]
    return team[0] if team else _without("moodle_id", roster.by_name(one.label))


def _words(name):
    return set(re.findall(r"\w+", name.casefold()))


def _without(column, student):
    """A student found by name, unless the roster has another number for them: then it is somebody else."""
    return student if student and not getattr(student, column) else None


def _versions(files):
    """The attempts of one student, earliest first: each has the newest version of every file that it came after."""
    stems = {}
    for stem, same in groupby(sorted(files, key=lambda one: (one.stem, one.order, one.file)), lambda one: one.stem):
        stems[stem] = list(same)
    longest = max(map(len, stems.values()))
    return [[same[min(place, len(same) - 1)] for same in stems.values()] for place in range(longest)]


def _named(key, made):
    return [(key if len(made) == 1 else f"{key}#{number}", version) for number, version in enumerate(made, 1)]


def _known(version, stamp):
    late = {one.late for one in version} - {None}
    times = [one.submitted for one in version if one.submitted]
    submitted = stamp or max(times, default=None)
    return {"late": any(late) if late else None, "submitted": submitted.isoformat() if submitted else None}


def _written(folder, version):
    """Put the files of an attempt into its folder, all at once; sentences about those that could not be taken."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside, faults = tempfile.mkdtemp(prefix=".", dir=folder.parent), []
    os.chmod(beside, 0o755)
    for one in version:
        if Path(one.file).suffix.lower() not in SUFFIXES:
            continue
        try:
            (Path(beside) / folder_name(one.file)).write_bytes(one.member.read())
        except ValueError as error:
            faults.append(f"{folder.name}: {one.file} {error}")
    _remove(folder.parent, [folder.name])
    os.replace(beside, folder)
    return faults


def _remove(folder, names):
    for name in names:
        path = Path(folder) / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)


def _times(path, roster):
    rows = csv_rows(path)
    columns = [name.strip().lower() for name in rows[0]]
    if not {"student", "submitted"} <= set(columns):
        raise ValueError(f"{path}: its first row must name the columns student and submitted")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        cells = dict(zip(columns, row, strict=False))
        try:
            found[_key(cells["student"].strip(), roster)] = time_of(cells.get("submitted", ""))
        except ValueError as error:
            raise ValueError(f"{path}, row {number}: {error}") from None
    return found


def _key(student, roster):
    if roster is None:
        return student
    if (known := roster.by("student", student)) is None:
        raise ValueError(f"student = {student[:40]!r}: not on the roster")
    return roster.key(known.student)

"""Downloads into one folder for each student, which `handbook course grade` reads, and a list of what came when."""

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from lib import check
from lib.course.downloads import downloads_of, form_of, handed_in, of_a_class, time_of
from lib.course.keys import ABOUT, folder_name, student_of
from lib.course.owners import label, owners
from lib.course.roster import csv_rows
from lib.grading.submissions import SUFFIXES
from lib.whole_files import read_text, refuse_depth, write_text

FORMAT = 1
STRANGERS = "_not_on_the_roster"  # grading leaves out names that begin like this
ATTEMPTS = ("latest", "best")
LIKE_A_CLASS = "looks like the download of a whole class; taken as what one student handed in"


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What a download held.

    Args:
        form: one of `lib.course.downloads.FORMS`.
        students: dict from the key of each submission to what is known of it: "late", "submitted", and sentences
            about files that were "not_taken".
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
    known, strangers = owners(files, roster)
    mine_by_key = {folder_name(key): mine for key, mine in known.items()}
    stamps = _times(times, roster, mine_by_key.keys()) if times else {}
    former = _former(known, roster)
    os.makedirs(folder, exist_ok=True)
    _write_about(folder, form, before["students"])  # first: a run that is stopped leaves a folder of ours
    students = {}
    for key, mine in mine_by_key.items():
        made = _versions(mine) if attempts == "best" else _versions(mine)[-1:]
        for name, version in _named(key, made):
            left = _written(Path(folder) / name, version, is_hidden=bool(roster and roster.secret))
            faults += [f"{name}: {words}" for words in left]
            stamp = stamps.get(key) if version is made[-1] else None  # the last one's time
            students[name] = _known(version, stamp) | {"not_taken": left}
    for unknown, mine in strangers.items():
        left = _written(Path(folder) / STRANGERS / folder_name(unknown), _versions(mine)[-1])
        faults += [f"{folder_name(unknown)}: {words}" for words in left]
    stale = {name for name in before["students"] if student_of(name) in former | mine_by_key.keys()}
    _remove(folder, stale - students.keys())
    _remove(Path(folder) / STRANGERS, former)
    kept = {name: one for name, one in before["students"].items() if name not in stale}
    _write_about(folder, form, kept | students)
    return Collected(form=form, students=students, strangers=tuple(strangers), faults=tuple(faults))


def _write_about(folder, form, students):
    about = {"format": FORMAT, "form": form, "students": students}
    write_text(f"{Path(folder) / ABOUT}", json.dumps(about, indent=1) + "\n", replace=True)


def _former(known, roster):
    """What else the students may have been called here: without a roster, without pseudonyms, or as no one on it."""
    if roster is None:
        return set()
    names, by_key = {folder_name(label(one)) for mine in known.values() for one in mine}, roster.by_key
    if roster.secret:
        names |= {folder_name(by_key[key].student) for key in known}
    return names - {folder_name(key) for key in by_key}


def read_collected(folder):
    """What is known of each submission of a folder that `collect` wrote: "late", "submitted", "not_taken".

    Args:
        folder: its path.

    Raises:
        ValueError: if it was not written by `collect`.
    """
    check.text(folder=folder)
    if not (Path(folder) / ABOUT).exists():
        raise ValueError(f"{folder}: no {ABOUT} in it: not written by handbook course collect")
    try:
        return {key: _read(**one) for key, one in _about(folder)["students"].items()}
    except TypeError as error:
        raise ValueError(f"{Path(folder) / ABOUT}: {error}") from None


def _read(late=None, submitted=None, not_taken=()):
    time = time_of(submitted) if submitted else None
    return {"late": late, "submitted": time, "not_taken": tuple(map(str, not_taken))}


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
        mine, left = handed_in(found, its, place, assignment) if found else ([], [])
        if not mine:
            raise ValueError(
                f"{path}: no submissions in it: files of Canvas, Moodle, nbgrader, or one for each student"
            )
        at_top = [one.parts[0] for one in found if its == "plain" and len(one.parts) == 1]
        faults += [*left, *(f"{name}: {LIKE_A_CLASS}" for name in at_top if of_a_class(os.path.join(path, name)))]
        forms.add(its)
        files += mine
    return files, "+".join(sorted(forms)), faults


def _versions(files):
    """The attempts of one student, earliest first: what a later download holds takes the place of all before."""
    made = []
    for _, mine in groupby(sorted(files, key=lambda one: one.place), lambda one: one.place):
        for version in _of_one_download(list(mine)):
            if made and all(one.order for one in version) and _numbers(version) == _numbers(made[-1]):
                made.pop()  # the same files of Canvas, downloaded again
            made.append(version)
    return made


def _numbers(version):
    return sorted(one.order for one in version)


def _of_one_download(files):
    """The attempts in one download: each has the newest version of every file that it came after."""
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


def _written(folder, version, is_hidden=False):
    """Put the files of an attempt into its folder, all at once; sentences about those that could not be taken.

    Under a pseudonym files are numbered: their names are the students' own, and often hold theirs.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name[:40]}.", dir=folder.parent) as top:
        beside = Path(top) / "new"
        beside.mkdir()
        faults = _filled(beside, version, is_hidden)
        _remove(folder.parent, [folder.name])
        os.replace(beside, folder)
    return faults


def _filled(beside, version, is_hidden):
    faults = []
    for number, one in enumerate(version, 1):
        suffix = Path(one.file).suffix.lower()
        if suffix not in SUFFIXES:
            continue
        name = f"{number}{suffix}" if is_hidden else folder_name(one.file)
        try:
            (beside / name).write_bytes(one.member.read())
        except ValueError as error:
            faults.append(f"{name if is_hidden else one.file} {error}")
    return faults


def _remove(folder, names):
    for name in names:
        path = Path(folder) / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)


def _times(path, roster, collected):
    rows = csv_rows(path)
    columns = [name.strip().lower() for name in rows[0]]
    if not {"student", "submitted"} <= set(columns):
        raise ValueError(f"{path}: its first row must name the columns student and submitted")
    found = {}
    for number, row in enumerate(rows[1:], 2):
        cells = dict.fromkeys(columns, "") | dict(zip(columns, row, strict=False))
        try:
            key = _key(cells["student"].strip(), roster, collected)
            if key in found:
                raise ValueError(f"student = {cells['student'][:40]!r}: stands in two rows")
            found[key] = time_of(cells["submitted"])
        except ValueError as error:
            raise ValueError(f"{path}, row {number}: {error}") from None
    return found


def _key(student, roster, collected):
    known = roster.by("student", student) if roster else None
    key = folder_name(roster.key(known.student) if known else student)
    if known is None and (roster or key not in collected):
        near = "" if roster else check.did_you_mean(key, collected)
        raise ValueError(f"student = {student[:40]!r}: {'not on the roster' if roster else 'nothing of theirs'}{near}")
    return key

"""Whose a file of a download is: the forms of Canvas, Moodle, nbgrader, and a folder or a file for each student.

Sources: Canvas, `lib/content_zipper.rb` (`get_filename`, `add_upload_submission`): name, LATE, number of the user,
number of the file, name of the file; `app/models/attachment.rb` (`make_unique_filename`): a file handed in again
gets -1, -2, ... before its suffix, after the seventh a UUID; of names Ruby's `[[:word:]]` is kept, to which marks such
as the vowels of Thai and Hindi belong. Moodle, `mod/assign` (`classes/downloader.php`, in older
versions `locallib.php`): full name, number of the participant, plugin; the underscore at the end of a folder is that of
older versions, and a download without folders has the file's name behind it.
nbgrader 0.9, `coursedir.py`: STUDENT/ASSIGNMENT/ with `timestamp.txt`, read as `utils.parse_utc` does.
"""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lib import check
from lib.course.archives import Member, members
from lib.course.roster import composed
from lib.grading.submissions import SUFFIXES

FORMS = ("canvas", "moodle", "nbgrader", "plain")
STAMP = "timestamp.txt"
_TREE = "submitted"  # nbgrader's folder
_NAME = r"(?P<name>[\w\x80-\U0010ffff]*?)"  # beyond ASCII any: \w lacks the marks
_CANVAS = re.compile(_NAME + r"(?P<late>_LATE)?_(?P<number>\d+)_(?P<order>\d+)_(?P<file>.+)")
_CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<name>anon)_(?P<number>[A-Za-z0-9]+)_(?P<order>\d+)_(?P<file>.+)")
_CANVAS_TEXT = re.compile(_NAME + r"(?P<late>_LATE)?_(?P<number>\d+)_(?P<file>(text|link)\.html)")
_MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>)")
# The end of a file's name is of the student's making, that of a folder's is not.
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)")
_JOINERS = re.compile(r"\\x(200[cd])")  # as `shown` writes what joins letters or parts them, in Persian names, say
_AGAIN = re.compile(r"-(\d{1,3}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\.[^.]+$)")


@dataclass(frozen=True, kw_only=True)
class HandedIn:
    """One file that somebody handed in.

    Args:
        label: what the download calls the student.
        number: of the student in the download's system; empty where it has none.
        file: its name, without what the system put before it.
        place: of the download among several; what came in a later one takes the place of all before.
        order: within a download: Canvas' number of the file, else 0.
        late: whether the system marked it as late; None where it does not say.
        submitted: a time with its offset, or None.
        member: the `Member`.
    """

    label: str
    number: str
    file: str
    place: int
    order: int
    late: bool | None
    submitted: datetime | None
    member: Member

    def __post_init__(self):
        check.text(label=self.label, number=self.number, file=self.file)
        check.instance(Member, member=self.member)

    @property
    def stem(self):
        """The file's name; of Canvas without its count of how often it was handed in."""
        return self.file if self.late is None else _AGAIN.sub("", self.file).casefold()


def form_of(found):
    """The form that most entries of a download have; what lies within them is of the students' making.

    Args:
        found: of `Member`.

    Raises:
        ValueError: if some students have times as nbgrader writes them, and most have not.
    """
    entries = {member.parts[: _depth(found) + 1] for member in found}
    for form, reader in (("moodle", _moodle), ("canvas", _canvas)):  # Moodle's mark is the plainer one
        if sum(map(bool, map(reader, entries))) * 2 > len(entries):
            return form
    if any(member.parts[0] == _TREE for member in found):
        return "nbgrader"
    students = {member.parts[0] for member in found}
    stamped = sorted({member.parts[0] for member in found if member.parts[2:] == (STAMP,)})
    if stamped and len(stamped) * 2 <= len(students):
        raise ValueError(f"{STAMP} as of nbgrader only of {check.listed(stamped[:5])}: say --form nbgrader, or plain")
    return "nbgrader" if stamped else "plain"


def _depth(found):
    """How many folders all files of a download lie in."""
    together = [len(set(names)) == 1 for names in zip(*(member.parts[:-1] for member in found), strict=False)]
    return [*together, False].index(False)


def downloads_of(path):
    """What a path holds: itself, or, of a folder with nothing but archives of whole classes, each of those.

    Nothing but, of what can be handed in: a student's own archive that looks like a class's must not do so for others.

    Args:
        path: of a download, or of a folder into which downloads were put as they are.

    Returns:
        A list of (path, list of `Member`), the oldest archive first.

    Raises:
        ValueError: if it cannot be read.
    """
    found = members(path)
    if not os.path.isdir(path) or not all(len(one.parts) == 1 for one in found):
        return [(path, found)]
    handed = [os.path.join(path, *one.parts) for one in found if Path(one.parts[0]).suffix.lower() in SUFFIXES]
    inner = {one: of_a_class(one) for one in handed}
    if not all(inner.values()) or not inner:
        return [(path, found)]
    return [(one, inner[one]) for one in sorted(inner, key=lambda one: (os.path.getmtime(one), one))]


def of_a_class(path):
    """The members of an archive of a whole class; None for another file, such as a student's.

    Args:
        path: of a file.
    """
    check.text(path=path)
    if not path.lower().endswith(".zip") or not os.path.isfile(path) or os.path.islink(path):
        return None
    try:
        found = members(path)
        return found if form_of(found) in ("canvas", "moodle") else None
    except ValueError:
        return None


def handed_in(found, form, place=0, assignment=None):
    """The files of a download, each with whose it is.

    Args:
        found: of `Member`.
        form: one of `FORMS`.
        place: of the download among several.
        assignment: the name of a folder, of a tree with several assignments.

    Returns:
        (a list of `HandedIn`, sentences about what is not of the form).

    Raises:
        ValueError: for a tree of several assignments where none is named.
    """
    check.choice(FORMS, form=form)
    if form == "nbgrader":
        return _of_tree(found, place, assignment)
    reader = {"canvas": _canvas, "moodle": _moodle, "plain": _plain}[form]
    read = [(member, reader(member.parts)) for member in found]
    faults = [f"{_path(member)}: no name of the form {form}" for member, match in read if not match]
    return [_made(member, match, place) for member, match in read if match], faults


def _path(member):
    return "/".join(member.parts)[:80]


def _made(member, match, place):
    late = bool(match["late"]) if "late" in match else None
    name, number = _JOINERS.sub(lambda found: chr(int(found[1], 16)), match["name"]), match.get("number", "")
    about = {"label": composed(name) if number else name, "number": number, "file": match["file"]}  # else names alone
    about |= {"place": place, "order": int(match.get("order") or 0)}  # tell students apart, and all of them count
    return HandedIn(**about, late=late, submitted=match.get("submitted"), member=member)


def _canvas(parts):
    match, inner = _first(parts, (_CANVAS_TEXT, _CANVAS_ANONYMOUS, _CANVAS))
    return {"order": None} | match | {"file": "_".join((match["file"], *inner))} if match else None


def _moodle(parts):
    match, inner = _first(parts, (_MOODLE,), of_folders=(_MOODLE_FOLDER,))
    return match | {"file": match["file"] or "_".join(inner)} if match else None


def _first(parts, patterns, of_folders=()):
    """The outermost name that has a form, with what lies in it: the names within are of the student's making."""
    for place, part in enumerate(parts):
        for pattern in (*of_folders, *patterns) if part is not parts[-1] else patterns:
            if match := pattern.fullmatch(part):
                return match.groupdict(), parts[place + 1 :]
    return None, ()


def _plain(parts):
    suffix = Path(parts[0]).suffix
    if len(parts) > 1:
        return {"name": parts[0], "file": "_".join(parts[1:])}
    return {"name": parts[0].removesuffix(suffix), "file": parts[0]} if suffix.lower() in SUFFIXES else None


def _of_tree(found, place, assignment):
    top = [(member.parts[1:], member) for member in found if member.parts[0] == _TREE]
    top = top or [(member.parts, member) for member in found]
    inside = [(parts, member) for parts, member in top if len(parts) >= 3]
    names = sorted({parts[1] for parts, _ in inside})
    wanted = [name for name in names if assignment is None or check.plain_name(name) == check.plain_name(assignment)]
    if len(wanted) != 1:
        raise ValueError(f"assignment: the tree holds {check.listed(names) or 'none'}: name one with --assignment")
    faults = [f"{_path(member)}: in no folder of an assignment" for parts, member in top if len(parts) < 3]
    stamps, files = {}, []
    for parts, member in inside:
        if parts[1:] == (wanted[0], STAMP):
            stamps[parts[0]], fault = _stamp(parts[0], member)
            faults += fault
        elif parts[1] == wanted[0]:
            files.append((parts, member))
    about = [{"name": parts[0], "file": "_".join(parts[2:]), "submitted": stamps.get(parts[0])} for parts, _ in files]
    return [_made(member, one, place) for (_, member), one in zip(files, about, strict=True)], faults


def _stamp(student, member):
    """(time, sentences): one student's damaged file stops nobody else."""
    try:
        text = member.read()[:200].decode("utf-8", "replace").strip()
        return time_of(text, UTC), []  # nbgrader takes a time without a zone as UTC
    except ValueError as error:
        return None, [f"{student}: {STAMP}: {error}: when it came is not known"]


def time_of(text, without=None):
    """A time with its offset: ISO 8601, or with the name of a zone behind it, as nbgrader writes it.

    Args:
        text: such as "2026-12-01 23:59:00 +0100".
        without: the zone of a time that names none; None refuses it.

    Raises:
        ValueError: for what is no time, and for one without an offset.

    >>> time_of("2026-12-01 22:59:00.000000 UTC").isoformat()
    '2026-12-01T22:59:00+00:00'
    >>> time_of("2026-12-01 22:59")
    Traceback (most recent call last):
    ...
    ValueError: '2026-12-01 22:59': no offset: add one, such as +01:00
    """
    check.text(text=text)
    words = text.strip().split()
    name = words.pop() if len(words) > 1 and re.match(r"[A-Za-z]", words[-1]) else None
    try:
        time = datetime.fromisoformat(words[0] + "T" + "".join(words[1:]) if len(words) > 1 else text.strip())
        zone = _zone(name) if name else without
    except (ValueError, IndexError, ZoneInfoNotFoundError, OSError):
        raise ValueError(f"{text[:40]!r}: no time, such as 2026-12-01T23:59:00+01:00") from None
    if time.tzinfo is None and zone is None:
        raise ValueError(f"{text[:40]!r}: no offset: add one, such as +01:00")
    return time if time.tzinfo else time.replace(tzinfo=zone)


def _zone(name):
    return UTC if name.upper() in ("UTC", "GMT") else ZoneInfo(name)  # some systems have no list of zones

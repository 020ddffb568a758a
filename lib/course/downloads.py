"""Whose a file of a download is: the forms of Canvas, Moodle, nbgrader, and a folder or a file for each student.

Sources: Canvas, `lib/content_zipper.rb` (`get_filename`, `add_upload_submission`): name, LATE, number of the user,
number of the file, name of the file; `app/models/attachment.rb` (`make_unique_filename`): a file handed in again
gets -1, -2, ... before its suffix, after the seventh a UUID. Moodle, `mod/assign` (`classes/downloader.php`, in older
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
from lib.grading.submissions import SUFFIXES

FORMS = ("canvas", "moodle", "nbgrader", "plain")
STAMP = "timestamp.txt"
_CANVAS = re.compile(r"(?P<name>\w*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<order>\d+)_(?P<file>.+)")
_CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<name>anon)_(?P<number>[A-Za-z0-9]+)_(?P<order>\d+)_(?P<file>.+)")
_CANVAS_TEXT = re.compile(r"(?P<name>\w*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<file>(text|link)\.html)")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)")
_AGAIN = re.compile(r"-(\d{1,3}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\.[^.]+$)")


@dataclass(frozen=True, kw_only=True)
class HandedIn:
    """One file that somebody handed in.

    Args:
        label: what the download calls the student.
        number: of the student in the download's system; empty where it has none.
        file: its name, without what the system put before it.
        order: later ones count more: Canvas' number of the file, else the place among the downloads.
        late: whether the system marked it as late; None where it does not say.
        submitted: a time with its offset, or None.
        member: the `Member`.
    """

    label: str
    number: str
    file: str
    order: int
    late: bool | None
    submitted: datetime | None
    member: Member

    def __post_init__(self):
        check.text(label=self.label, number=self.number, file=self.file)
        check.instance(Member, member=self.member)

    @property
    def stem(self):
        """The file's name without Canvas' count of how often it was handed in."""
        return _AGAIN.sub("", self.file).casefold()


def form_of(found):
    """The form that most files of a download have.

    Args:
        found: of `Member`.
    """
    counts = {"canvas": sum(map(bool, map(_canvas, found))), "moodle": sum(map(bool, map(_moodle, found)))}
    most = max(counts, key=counts.get)
    if counts[most] * 2 > len(found):
        return most
    stamped = any(member.parts[-1] == STAMP and len(member.parts) >= 3 for member in found)
    return "nbgrader" if stamped or any(member.parts[0] == "submitted" for member in found) else "plain"


def downloads_of(path):
    """What a path holds: itself, or, of a folder with nothing but archives of whole classes, each of those.

    Nothing but: a student's own archive that looks like a class's must not hand in for others.

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
    inner = {os.path.join(path, *one.parts): _of_a_class(os.path.join(path, *one.parts)) for one in found}
    if not all(inner.values()) or not inner:
        return [(path, found)]
    return [(one, inner[one]) for one in sorted(inner, key=lambda one: (os.path.getmtime(one), one))]


def _of_a_class(path):
    """The members of an archive of a whole class; None for another one, such as a student's."""
    if not path.lower().endswith(".zip") or not os.path.isfile(path) or os.path.islink(path):
        return None
    try:
        found = members(path)
    except ValueError:
        return None
    return found if form_of(found) in ("canvas", "moodle") else None


def handed_in(found, form, place=0, assignment=None):
    """The files of a download, each with whose it is.

    Args:
        found: of `Member`.
        form: one of `FORMS`.
        place: of the download among several.
        assignment: the name of a folder, of a tree with several assignments.

    Returns:
        A list of `HandedIn`; files that are not of the form are left out.

    Raises:
        ValueError: for a tree of several assignments where none is named, and for a time that is none.
    """
    check.choice(FORMS, form=form)
    if form == "nbgrader":
        return _of_tree(found, place, assignment)
    reader = {"canvas": _canvas, "moodle": _moodle, "plain": _plain}[form]
    return [_made(member, match, place) for member in found if (match := reader(member))]


def _made(member, match, place):
    late = bool(match["late"]) if "late" in match else None
    about = {"label": match["name"], "number": match.get("number", ""), "file": match["file"]}
    return HandedIn(**about, order=int(match.get("order") or place), late=late, submitted=None, member=member)


def _canvas(member):
    match, inner = _first(member, (_CANVAS_TEXT, _CANVAS_ANONYMOUS, _CANVAS))
    return {"order": None} | match | {"file": "_".join((match["file"], *inner))} if match else None


def _moodle(member):
    match, inner = _first(member, (_MOODLE,))
    return match | {"file": match["file"] or "_".join(inner)} if match else None


def _first(member, patterns):
    """The outermost name that has a form, with what lies in it: the names within are of the student's making."""
    for place, part in enumerate(member.parts):
        for pattern in patterns:
            if match := pattern.fullmatch(part):
                return match.groupdict(), member.parts[place + 1 :]
    return None, ()


def _plain(member):
    name = member.parts[0]
    suffix = Path(name).suffix
    is_file = len(member.parts) == 1
    if is_file and suffix.lower() not in SUFFIXES:
        return None
    return {"name": name.removesuffix(suffix) if is_file else name, "file": member.parts[-1]}


def _of_tree(found, place, assignment):
    cut = 1 if all(member.parts[0] == "submitted" for member in found) else 0
    inside = [(member.parts[cut:], member) for member in found if len(member.parts) - cut >= 3]
    names = sorted({parts[1] for parts, _ in inside})
    wanted = [name for name in names if assignment is None or check.plain_name(name) == check.plain_name(assignment)]
    if len(wanted) != 1:
        raise ValueError(f"assignment: the tree holds {check.listed(names) or 'none'}: name one with --assignment")
    inside = [(parts, member) for parts, member in inside if parts[1] == wanted[0]]
    stamps = {parts[0]: _stamp(parts[0], member) for parts, member in inside if parts[2:] == (STAMP,)}
    files = [(parts, member) for parts, member in inside if parts[2:] != (STAMP,)]
    return [
        HandedIn(
            label=parts[0],
            number="",
            file="_".join(parts[2:]),
            order=place,
            late=None,
            submitted=stamps.get(parts[0]),
            member=member,
        )
        for parts, member in files
    ]


def _stamp(student, member):
    text = member.read()[:200].decode("utf-8", "replace").strip()
    try:
        return time_of(text, UTC)  # nbgrader takes a time without a zone as UTC
    except ValueError as error:
        raise ValueError(f"{student}: {STAMP}: {error}") from None


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

"""Who is in the course: a CSV file that a person keeps, one row for each student."""

import csv
import hashlib
import hmac
import io
import unicodedata
from dataclasses import dataclass, field, fields
from functools import lru_cache

from lib import check
from lib.whole_files import read_text

_JOINERS = {0x200C: None, 0x200D: None}
NAMES = 10_000  # kept with their spellings: each is compared with every other
SHORTEST_SECRET = 16  # characters; what is shorter could be tried out


@dataclass(frozen=True, kw_only=True)
class Student:
    """One student.

    Args:
        student: the name that records and decisions carry, such as a login.
        name: in full, "First Last" or "Last, First".
        email: as the gradebook has it.
        section, group: empty where there are none; a group's name is that of one group in the whole course.
        canvas_id: the number in the column ID of Canvas' gradebook.
        moodle_id: the participant's number in Moodle's worksheet and download.
        sis_id: the number of the student's card: SIS User ID in Canvas, ID number in Moodle.
        extra_days: added to every due date for this student, from 0 to 3650.
    """

    student: str
    name: str = ""
    email: str = ""
    section: str = ""
    group: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    sis_id: str = ""
    extra_days: float = 0.0

    def __post_init__(self):
        check.text(**{one.name: getattr(self, one.name) for one in fields(self) if one.type is str})
        check.non_negative(extra_days=self.extra_days)
        check.at_most(3650, extra_days=self.extra_days)
        if not self.student:
            raise ValueError("student: empty: every row needs a name of its own")


@dataclass(frozen=True, kw_only=True)
class Roster:
    """All students of a course.

    Args:
        students: of `Student`, no two of the same name.
        secret: makes pseudonyms, at least `SHORTEST_SECRET` characters; empty for none.
    """

    students: tuple
    secret: str = field(default="", repr=False)

    def __post_init__(self):
        check.instance(tuple, students=self.students)
        check.text(secret=self.secret)
        if self.secret and len(self.secret) < SHORTEST_SECRET:
            raise ValueError(f"secret: at least {SHORTEST_SECRET} characters, so that nobody finds it by trying")
        for name in ("student", "canvas_id", "moodle_id", "email"):
            _refuse_twice(name, [_folded(getattr(one, name)) for one in self.students])

    def key(self, student):
        """What records call a student: the name on the roster, or a pseudonym where there is a secret.

        Args:
            student: the name on the roster.
        """
        return pseudonym(self.secret, student) if self.secret else student

    @property
    def by_key(self):
        """The students by what records call them."""
        return {self.key(one.student): one for one in self.students}

    def by(self, name, value):
        """The one student with this value in a column, or None.

        Args:
            name: of a column.
            value: text, compared without regard to case, and to how accents are written.
        """
        check.text(name=name, value=value)
        wanted = _folded(value)
        found = [one for one in self.students if value and _folded(getattr(one, name)) == wanted]
        return found[0] if len(found) == 1 else None

    def by_name(self, full_name):
        """The one student of this full name, in either order; None for nobody, and for two.

        Args:
            full_name: "First Last", "Last, First", or in Canvas' form "lastfirst".
        """
        check.text(full_name=full_name)
        found = [one for one in self.students if _spellings(full_name) & _spellings(one.name)]
        return found[0] if len(found) == 1 else None


def composed(name):
    """A name with its accents in the letters and without joiners, which some systems write and others do not.

    Args:
        name: text.

    Source: Unicode Standard Annex 15, form C; U+200C and U+200D, which alter the shape of letters beside them.

    >>> composed("Jose\u0301") == "Jos\u00e9"
    True
    """
    check.text(name=name)
    return unicodedata.normalize("NFC", name.translate(_JOINERS))


def is_letter(mark):
    """Whether a character belongs to a word: a letter, a digit, or a mark that a letter carries, as vowels of Thai.

    Args:
        mark: one character.
    """
    return mark.isalnum() or unicodedata.category(mark)[0] == "M"


def words(name):
    """The words of a name, without regard to case and to how accents are written.

    Args:
        name: text.

    >>> words("O'Neill, Sea\u0301n") == ["o", "neill", "se\u00e1n"]
    True
    """
    check.text(name=name)
    return "".join(mark if is_letter(mark) else " " for mark in _folded(name)).split()


@lru_cache(NAMES)
def _folded(name):
    return composed(composed(name).casefold())


@lru_cache(NAMES)
def _spellings(name):
    """A name's letters, first name first and last name first."""
    last, comma, first = name.partition(",")
    letters = ["".join(words(word)) for word in (f"{first} {last}" if comma else name).split()]
    if comma:
        return frozenset(("".join(letters), "".join(words(name)))) - {""}
    return frozenset("".join(letters[cut:] + letters[:cut]) for cut in (0, 1, -1)) - {""}


def _refuse_twice(name, values):
    twice = {value for value in values if value and values.count(value) > 1}
    if twice:
        raise ValueError(f"{name} = {min(twice)!r}: stands in two rows")


def pseudonym(secret, student):
    """A name that tells nothing and is always the same: of the keyed hash HMAC-SHA-256 48 bits.

    Args:
        secret: text.
        student: the name on the roster.

    Source: RFC 2104 (HMAC), FIPS 180-4 (SHA-256).

    >>> pseudonym("a secret of some length", "ada")
    'p-ed7d546691db'
    """
    check.text(secret=secret, student=student)
    return "p-" + hmac.digest(secret.encode(), student.encode(), hashlib.sha256).hex()[:12]


def read_roster(path, secret=""):
    """The roster in a CSV file.

    Args:
        path: of a UTF-8 file; its first row names the columns, as `Student` does. `student` must be among them;
            columns of other names are not read.
        secret: as `Roster` has it.

    Raises:
        ValueError: for a file that is none, with the row.
    """
    rows = csv_rows(path)
    columns = [name.strip().lower().replace(" ", "_") for name in rows[0]]
    if "student" not in columns:
        raise ValueError(f"{path}: no column `student` in its first row: {check.listed(columns[:12])}")
    known = {one.name for one in fields(Student)}
    students = []
    for number, row in enumerate(rows[1:], 2):
        cells = {name: cell.strip() for name, cell in zip(columns, row, strict=False) if name in known}
        try:
            students.append(Student(**{"student": ""} | cells | {"extra_days": _days(cells.get("extra_days", ""))}))
        except ValueError as error:
            raise ValueError(f"{path}, row {number}: {error}") from None
    try:
        return Roster(students=tuple(students), secret=secret)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _days(cell):
    try:
        return float(cell or 0)
    except ValueError:
        raise ValueError(f"extra_days = {cell[:20]!r}: a number of days") from None


def csv_rows(path):
    """The rows of a CSV file with commas, semicolons or tabs; empty rows are left out.

    Args:
        path: of a UTF-8 file.

    Raises:
        ValueError: if it cannot be read, or is empty.
    """
    text = read_text(path).removeprefix("\ufeff")
    head = text.partition("\n")[0]
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=max(",;\t", key=head.count)) if any(row)]
    except csv.Error as error:
        raise ValueError(f"{path}: no CSV file: {error}") from None
    if not rows:
        raise ValueError(f"{path}: empty: its first row names the columns")
    return rows

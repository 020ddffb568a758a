"""Submissions as they come: notebooks and Python files, renamed, damaged, huge, hostile. Nothing is run or unpacked."""

import hashlib
import io
import json
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from lib import check

SUFFIXES = (".ipynb", ".py", ".zip")
LARGEST = 200_000_000  # bytes of a file, and of all that a submission's archives unpack to; outputs of 100 MB happen
LARGEST_SOURCE = 1_000_000  # characters of all cells together
MOST_MARKS = 20_000_000  # commas, brackets, quotes of a notebook's JSON: one or two for each value in memory
LARGEST_DIRECTORY = 1_000_000  # bytes of an archive's list of contents
MOST_FILES = 1000  # in one student's folder
LEFT_OUT = {"__MACOSX", ".ipynb_checkpoints", "__pycache__"}
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError)
DAMAGED += (RuntimeError, NotImplementedError, ValueError, LookupError)  # of archives that are locked or forged


class UnreadableError(Exception):
    """A submission that cannot be read: why, in a sentence for its student."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What one student handed in: the files among which the one to grade is chosen.

    Args:
        student: as the file or the folder is called.
        paths: of files that may be it.
    """

    student: str
    paths: tuple

    def __post_init__(self):
        check.text(student=self.student)
        check.instance(tuple, paths=self.paths)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The code of a submission.

    Args:
        file: its name.
        sha256: of its bytes.
        cells: texts of its code cells, in order; of a Python file one.
        main: whether it is a notebook, whose cells run as `__main__`.
    """

    file: str
    sha256: str
    cells: tuple
    main: bool

    def __post_init__(self):
        check.text(file=self.file, sha256=self.sha256)
        check.boolean(main=self.main)
        check.instance(tuple, cells=self.cells)


def submissions(folder):
    """All submissions of a folder: a file, an archive or a folder for each student, by name.

    Args:
        folder: its path.

    Returns:
        A list of `Submission`.

    Raises:
        ValueError: if there is no such folder, or nothing in it.
    """
    check.text(folder=folder)
    if not os.path.isdir(folder):
        raise ValueError(f"{folder}: no folder with submissions")
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        suffix = Path(entry.name).suffix.lower()
        if entry.name[0] in "._" or entry.name in LEFT_OUT:
            continue
        if entry.is_dir(follow_symlinks=False):
            found.setdefault(entry.name, []).extend(_inside(entry.path))
        elif suffix in SUFFIXES:
            found.setdefault(entry.name[: -len(suffix)], []).append(entry.path)
        elif entry.is_symlink():
            found.setdefault(entry.name, []).append(entry.path)
    if not found:
        raise ValueError(f"{folder}: no submissions: .ipynb, .py or .zip files, or a folder for each student")
    return [Submission(student=shown(student), paths=tuple(paths)) for student, paths in sorted(found.items())]


def one_submission(folder, student):
    """A whole folder as one student's submission.

    Args:
        folder: its path.
        student: whose it is.
    """
    check.text(folder=folder)
    return Submission(student=student, paths=tuple(_inside(folder)))


def shown(name):
    """A file's name as text that can be written and shown in a line, whatever bytes it has.

    Args:
        name: text, as the file system or an archive has it.

    >>> shown("a\\nb")
    'a\\\\x0ab'
    """
    check.text(name=name)
    plain = name.replace("\\", "\\x5c")  # so that different names are shown as different texts
    text = plain.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(mark if mark.isprintable() else f"\\x{ord(mark):02x}" for mark in text)


def member_name(info):
    """The name of an archive's member. Archives made on a Mac hold UTF-8 and do not say so.

    Args:
        info: a `zipfile.ZipInfo`.

    Source: PKWARE, APPNOTE.TXT 6.3.10, appendix D: without bit 11 a name is in code page 437.
    """
    check.instance(zipfile.ZipInfo, info=info)
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _inside(folder):
    paths = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and name[0] != ".")
        paths += [os.path.join(here, name) for name in sorted(files) if Path(name).suffix.lower() in SUFFIXES]
        if len(paths) > MOST_FILES:
            break
    return paths[:MOST_FILES]


def read(submission, names=()):
    """The code of a submission: of several files the one that seems to define most of the names.

    Args:
        submission: a `Submission`.
        names: of functions and values that are asked for.

    Returns:
        A `Source`.

    Raises:
        UnreadableError: if there is none that can be read.
    """
    check.instance(Submission, submission=submission)
    sources, reading = [], _Reading()
    for path in submission.paths:
        try:
            sources += _sources(shown(os.path.basename(path)), _bytes(path), reading)
        except UnreadableError as error:
            reading.faults.append(f"{error}")
    if not sources:
        raise UnreadableError([*reading.faults, "There is no notebook and no Python file in it."][0])
    return max(sources, key=lambda source: _seeming(source, names))  # the first of equals


class _Reading:
    """What is wrong with the files of a submission, and how many bytes its archives may still unpack to."""

    def __init__(self):
        self.faults, self.room = [], LARGEST

    def unpacked(self, name, archive, member):
        """The bytes of an archive's member, where there is room."""
        with archive.open(member) as file:
            inner = file.read(self.room + 1)
        self.room -= len(inner)
        if self.room < 0:
            self.room = 0
            raise UnreadableError(f"{name} unpacks to more than {LARGEST:,} bytes.")
        return inner


def _seeming(source, names):
    text = "\n".join(source.cells)
    return sum(bool(re.search(rf"^[ \t]*(def[ \t]+)?{re.escape(name)}[ \t]*[=(]", text, re.M)) for name in names)


def _bytes(path):
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        raise UnreadableError(f"{shown(os.path.basename(path))} cannot be opened; a link is not followed.") from None
    with open(number, "rb") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            raise UnreadableError(f"{shown(os.path.basename(path))} is no ordinary file.")
        if about.st_size > LARGEST:
            raise UnreadableError(f"{shown(os.path.basename(path))} has more than {LARGEST:,} bytes.")
        return file.read(LARGEST)


def _sources(name, raw, reading):
    if name.lower().endswith(".zip"):
        return list(_unzipped(name, raw, reading))
    main = name.lower().endswith(".ipynb")
    if not main and len(raw) > 4 * LARGEST_SOURCE:  # bytes that a character may have
        raise UnreadableError(_too_much_code(name))
    cells = _notebook(name, raw) if main else (_decoded(raw),)
    if sum(map(len, cells)) > LARGEST_SOURCE:
        raise UnreadableError(_too_much_code(name))
    return [Source(file=name, sha256=hashlib.sha256(raw).hexdigest(), cells=cells, main=main)]


def _too_much_code(name):
    return f"{name} has more than {LARGEST_SOURCE:,} characters of code."


def _unzipped(name, raw, reading):
    try:
        end = raw.rfind(b"PK\5\6")
        if end < 0 or int.from_bytes(raw[end + 12 : end + 16], "little") > LARGEST_DIRECTORY:
            raise UnreadableError(f"{name} is no archive, or lists too many files.")
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for member in [member for member in archive.infolist() if _is_source(member)][:MOST_FILES]:
                inner = reading.unpacked(name, archive, member)
                try:
                    yield from _sources(_base(member), inner, reading)
                except UnreadableError as error:
                    reading.faults.append(f"{error}")
    except DAMAGED:
        raise UnreadableError(f"{name} is a damaged or locked archive.") from None


def _base(member):
    return member_name(member).replace("\\", "/").rsplit("/", 1)[-1]


def _is_source(member):
    parts = set(member.filename.replace("\\", "/").split("/"))
    return Path(_base(member)).suffix.lower() in (".ipynb", ".py") and not parts & LEFT_OUT and _base(member)[0] != "."


def _decoded(raw):
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


def _notebook(name, raw):
    text = _decoded(raw)
    if _is_swarm(text):
        raise UnreadableError(f"{name} holds too many values to be read: clear its outputs.")
    try:
        notebook = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableError(f"{name} is no notebook: its JSON is damaged{where}.") from None
    sheets = [notebook] if isinstance(notebook, dict) else []
    for one in list(sheets):  # notebooks of old kept their cells in sheets
        sheets += [sheet for sheet in _list(one.get("worksheets")) if isinstance(sheet, dict)]
    if not any("cells" in sheet for sheet in sheets):
        raise UnreadableError(f"{name} is no notebook: it has no cells.")
    cells = [cell for sheet in sheets for cell in _list(sheet.get("cells")) if isinstance(cell, dict)]
    return tuple(_text(cell) for cell in cells if cell.get("cell_type") == "code")


def _is_swarm(text):
    """Whether JSON has more values than there is room for: `[],` are three bytes and become sixty-four."""
    if _marks(text) <= MOST_MARKS:
        return False
    plain = re.sub(r'"[^"]*"', '"', re.sub(r"\\.", "", text, flags=re.S))  # what stands in texts is no mark
    return _marks(plain) > MOST_MARKS


def _marks(text):
    return sum(text.count(mark) for mark in ',[{"')


def _list(value):
    return value if isinstance(value, list) else []


def _text(cell):
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""

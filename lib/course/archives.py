"""The files of a downloaded archive or folder, one at a time. Nothing is unpacked by a name that an archive gives."""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from lib import check
from lib.grading.submissions import LARGEST, LARGEST_DIRECTORY, LEFT_OUT, member_name, shown

MOST_BYTES = 10_000_000_000  # that all files of a download say they have, unpacked
MOST_MEMBERS = 20_000
_END = 22  # bytes of the last record of an archive, before its comment
_DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, EOFError, ValueError)


@dataclass(frozen=True, kw_only=True)
class Member:
    """One file of a download.

    Args:
        parts: the folders it lies in, and its name; "." and ".." are left out.
        read: gives its bytes; raises ValueError, in a sentence, where there are none.
    """

    parts: tuple
    read: Callable

    def __post_init__(self):
        check.instance(tuple, parts=self.parts)
        check.instance(Callable, read=self.read)


def members(path):
    """All files of an archive or a folder, in the order of their names.

    Args:
        path: of a zip file or a folder. Links in it are not followed.

    Returns:
        A list of `Member`.

    Raises:
        ValueError: if there is no such thing, or it cannot be read.
    """
    check.text(path=path)
    if os.path.isdir(path):
        found = list(_of_folder(path))
    elif not os.path.exists(path):
        raise ValueError(f"{path}: no such file or folder")
    else:
        found = list(_of_archive(path))
    return sorted(found, key=lambda member: member.parts)


def _of_folder(top):
    n_files = 0
    for here, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if _is_wanted(name))
        for name in filter(_is_wanted, files):
            n_files += 1
            if n_files > MOST_MEMBERS:
                raise ValueError(f"{top}: more than {MOST_MEMBERS:,} files")
            inner = os.path.relpath(os.path.join(here, name), top).split(os.sep)
            yield Member(parts=tuple(map(shown, inner)), read=_opener(os.path.join(here, name)))


def _is_wanted(name):
    return name not in LEFT_OUT and not name.startswith(".")


def _opener(path):
    def read():
        try:
            number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            raise ValueError("cannot be opened; a link is not followed") from None
        with open(number, "rb") as file:
            about = os.fstat(number)
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                raise ValueError(f"is no ordinary file of at most {LARGEST:,} bytes")
            return file.read(LARGEST)

    return read


def _of_archive(path):
    _refuse_odd(path)
    try:
        archive = zipfile.ZipFile(path)  # stays open for the members, which read from it
    except _DAMAGED:
        raise ValueError(f"{path}: a damaged archive: download it again") from None
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise ValueError(f"{path}: more than {MOST_MEMBERS:,} files, or {MOST_BYTES:,} bytes when unpacked")
    for info in infos:
        parts = [part for part in member_name(info).replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if parts and all(map(_is_wanted, parts)):
            yield Member(parts=tuple(map(shown, parts)), read=_unzipper(archive, info))


def _refuse_odd(path):
    """Refuse what is no archive, and one whose list of contents alone would fill the memory."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - _END - 65_535))
            tail = file.read()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    end = tail.rfind(b"PK\5\6")
    if end < 0:
        raise ValueError(f"{path}: no zip archive, or cut off: download it again, or unpack it and give the folder")
    if int.from_bytes(tail[end + 12 : end + 16], "little") > LARGEST_DIRECTORY:
        raise ValueError(f"{path}: lists too many files: unpack it yourself and give the folder")


def _unzipper(archive, info):
    def read():
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError("is a link, which is not followed")
        if info.file_size > LARGEST:
            raise ValueError(f"unpacks to more than {LARGEST:,} bytes")
        try:
            with archive.open(info) as file:
                return file.read(LARGEST)
        except _DAMAGED:
            raise ValueError("is damaged or locked") from None

    return read

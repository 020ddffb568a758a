"""What submissions and their files are called in a course's folders: one name for each student, on any system."""

import hashlib
import re
from pathlib import Path

from lib import check
from lib.course.roster import composed, is_letter

ABOUT = "collected.json"  # the list beside them, which no student is called as
_ATTEMPT = re.compile(r"#\d+$")
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])(\..*)?", re.IGNORECASE)  # no file's name on Windows


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
    """A name that is that of one file in one folder, on any system, and not `ABOUT`; different ones stay different.

    Args:
        name: any text, such as a student's.

    Source: Microsoft Learn, Win32, "Naming Files, Paths, and Namespaces" (names of devices).

    >>> folder_name("ada@uni.example"), folder_name("../o'neill")
    ('ada@uni.example', '--o-neill-2481cb50')
    """
    check.text(name=name)
    suffix = Path(name).suffix if len(Path(name).suffix) <= 10 else ""
    clean = "".join(mark if is_letter(mark) or mark in "_.@+ -" else "-" for mark in composed(name))
    clean = re.sub(r"^[._]+|[. ]+$", "-", clean)
    is_ours = name.casefold() == ABOUT or _DEVICE.fullmatch(name)
    if name and clean == name and not is_ours and len(name.encode()) <= 120:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = clean.removesuffix(suffix)[:40].encode()[:70].decode("utf-8", "ignore")  # so that all of it is short enough
    return f"{stem}-{mark}{suffix if suffix in clean else ''}"

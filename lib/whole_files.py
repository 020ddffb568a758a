"""Small files: text read with a limit, text and bytes written whole or not at all."""

import errno
import os
import re
import stat
import tempfile
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from lib import check

LARGEST = 10_000_000  # bytes; what is read here has some thousand
DEEPEST = 100  # brackets within brackets: more would overflow the stack of a browser, which ends the worker


def read_text(path):
    """The text of an ordinary file.

    Args:
        path: of a UTF-8 file of at most `LARGEST` bytes; no device and no pipe, on which a reader would wait.

    Raises:
        TypeError: if the path is no text.
        ValueError: if it cannot be read: one sentence that names the file and says why.

    >>> read_text("no-such-file.toml")
    Traceback (most recent call last):
    ...
    ValueError: no-such-file.toml: cannot be read: No such file or directory
    """
    check.text(path=path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError(f"{path}: cannot be read: no ordinary file")
        raw = Path(path).read_bytes() if os.path.getsize(path) <= LARGEST else None
        if raw is None:
            raise ValueError(f"{path}: more than {LARGEST:,} bytes: no such file is so long")
        return raw.decode("utf-8")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is no UTF-8 text") from None


def nesting(text):
    """How deep brackets are nested in a text, those in strings included.

    Args:
        text: of JSON or TOML.

    >>> nesting('{"a": [1, [2]]}')
    3
    """
    check.text(text=text)
    steps = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[][{}]", text))
    return max(accumulate(steps), default=0)


def refuse_depth(text):
    """Refuse a text that is nested deeper than any of our files, before a parser follows it.

    Args:
        text: of JSON or TOML.

    Raises:
        ValueError: for more than `DEEPEST` brackets within brackets.

    >>> refuse_depth("[" * 101)
    Traceback (most recent call last):
    ...
    ValueError: nested too deep: at most 100 brackets within brackets
    """
    if nesting(text) > DEEPEST:
        raise ValueError(f"nested too deep: at most {DEEPEST} brackets within brackets")


def write_text(path, text, replace=False):
    """Write a text file whole or not at all.

    Args:
        path: where to; its folder must exist.
        text: what to.
        replace: True to take the place of a file that is there.

    Raises:
        TypeError: for what is no text, no switch.
        FileExistsError: if there is a file and `replace` is False; it is left as it is.
        OSError: if it cannot be written; what was there is left as it was.
    """
    check.text(text=text)
    write_bytes(path, text.encode("utf-8"), replace)


def write_bytes(path, data, replace=False):
    """Write a file whole or not at all.

    The bytes go to a file of another name beside it, which then takes the name in one step.

    Args:
        path: where to; its folder must exist.
        data: what to.
        replace: True to take the place of a file that is there.

    Raises:
        TypeError, FileExistsError, OSError: as `write_text`.
    """
    check.text(path=path)
    check.instance(bytes, data=data)
    check.boolean(replace=replace)
    if not path:
        raise FileNotFoundError(errno.ENOENT, "a file needs a name", "''")
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", path)
    try:
        number, beside = tempfile.mkstemp(prefix=f".{name[:40]}.", dir=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())  # a temporary file is its owner's alone
        if not replace:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))  # claims the name, or refuses
        os.replace(beside, path)
    except OSError as error:
        error.filename, error.filename2 = path, None  # of the file that was asked for, not of the one beside it
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)


def _umask():
    now = os.umask(0)
    os.umask(now)
    return now

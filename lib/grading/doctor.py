"""Tries each jail for real: a probe goes in, looks for ways out, and tells which ones it found."""

import os
import secrets
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lib import check
from lib.grading.conversation import Conversation, JailError
from lib.grading.jail import Jail, jails

SECONDS = 5.0
PROBE = """
import os, socket

def _can(attempt):
    try:
        attempt()
    except (OSError, MemoryError, ValueError):
        return False
    return True

def _fork():
    if os.fork() == 0:
        os._exit(0)

def _sure(fact):
    if not fact:
        raise ValueError

def ways_out(path, port):
    ways = {
        "reads files outside": lambda: open(path).close(),
        "writes files outside": lambda: open(path + ".new", "w").close(),
        "writes into shared memory": lambda: open("/dev/shm/probe", "w").close(),
        "writes into the system": lambda: _sure(os.access("/usr", os.W_OK)),
        "reaches the network": lambda: socket.create_connection(("127.0.0.1", port), 1).close(),
        "starts processes": _fork,
        "takes memory without end": lambda: bytearray(3 * 2**30),
        "fills the temporary folder": lambda: open("/tmp/much", "wb").write(bytes(2**25)),
        "is root": lambda: os.setuid(0),
        "sees other processes": lambda: _sure(sum(name.isdigit() for name in os.listdir("/proc")) > 8),
    }
    return [name for name, attempt in ways.items() if _can(attempt)]
"""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What came of trying a jail.

    Args:
        jail: its name.
        works: whether the probe ran and found no way out.
        sentence: what was found, or how to get it.
    """

    jail: str
    works: bool
    sentence: str

    def __post_init__(self):
        check.fields(self, text="jail sentence", boolean="works")


def examine(jail):
    """Start a jail, and let a probe look for ways out of it.

    Args:
        jail: a `Jail`.

    Returns:
        A `Finding`.
    """
    check.instance(Jail, jail=jail)
    if not jail.installed:
        return Finding(jail=jail.name, works=False, sentence=f"not installed: {jail.advice}")
    try:
        ways = _ways_out(jail)
    except JailError as error:
        return Finding(jail=jail.name, works=False, sentence=f"{error}; {jail.advice}")
    if ways:
        return Finding(jail=jail.name, works=False, sentence=f"holds nobody: a probe {', '.join(ways)}")
    return Finding(jail=jail.name, works=True, sentence="works: a probe found no way out")


def _ways_out(jail):
    with (
        tempfile.TemporaryDirectory(prefix="handbook-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as door,
    ):
        os.chmod(folder, 0o777)  # ours, and fresh: only the jail may stand in the probe's way
        secret = Path(folder) / secrets.token_hex(8)
        secret.write_text("outside")
        with Conversation(jail, [PROBE], seconds=SECONDS) as inside:
            inside.load("ways_out")
            answer = inside.call([f"{secret}", door.getsockname()[1]])
    if "value" not in answer:
        raise JailError(f"{jail.name}: the probe did not answer")
    return answer["value"]


def first_that_works():
    """The name of the best jail that holds; None without any.

    Returns:
        A name, or None.
    """
    return next((jail.name for jail in jails() if jail.installed and examine(jail).works), None)

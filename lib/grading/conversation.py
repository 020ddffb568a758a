"""The grader's end of a jail: start it, ask line by line, believe nothing that comes back, end it."""

import json
import os
import secrets
import signal
import subprocess
import tempfile
import time
from contextlib import suppress

from lib.grading.jail import LIBRARY, NO_JAIL
from lib.grading.jailed.lines import EndedError, Lines, send
from lib.grading.jailed.values import LONGEST, UnfitError, thawed

START_SECONDS = 30  # a container may take seconds
CELLS_SECONDS = 30  # beyond what the warden allows; it answers before, unless it was stopped
CALL_SECONDS = 10  # the same, of a call: nothing is parsed meanwhile
RESTARTS = 2  # of a jail whose warden is gone; a submission that ends it again and again has had its time
MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError, UnfitError)  # of what may be anything
LEAVE_SECONDS = 1  # for a jail to end by itself; then it is killed
SECONDS = 4.0  # for one statement, and for one call
LONGEST_LINE = 10 * LONGEST
# What tools of containers look for; nothing else of the grader's environment goes near a submission.
ENVIRONMENT = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "CONTAINER_HOST", "DOCKER_HOST")
COMPLAINT = 2000  # bytes of what a jail that does not start says


class JailError(Exception):
    """A jail that does not start: no fault of the submission, so nothing is graded."""


class Conversation:
    """One jail with one submission in it.

    >>> with Conversation(NO_JAIL, ["def double(x): return 2 * x"]) as jail:
    ...     jail.survey(["double"])["kinds"], jail.load("double"), jail.call([21])
    ({'double': 'function'}, {'found': True}, {'value': 42})
    """

    def __init__(self, jail, cells, *, main=True, seconds=SECONDS, with_lib=False):
        self.jail, self.cells, self.main, self.seconds, self.with_lib = jail, cells, main, seconds, with_lib
        self.process, self.restarts = None, RESTARTS

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="handbook-jail-", ignore_cleanup_errors=True)
        self.complaints = tempfile.TemporaryFile()
        try:
            self._start()
        except JailError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *about):
        self._stop()
        self.complaints.close()
        self.folder.cleanup()

    def survey(self, names):
        """Run the cells once, and tell what became of the names.

        Args:
            names: of functions and values that are asked for.

        Returns:
            {"kinds": name -> what it is, "faults": name -> what went wrong, "names": functions that are there,
            "absent": modules that are not}, or {"ended": how}.
        """
        return self._ask({"survey": list(names)}, _survey, CELLS_SECONDS + 6 * self.seconds)

    def load(self, name):
        """Run the cells in a fresh process, and keep the one that is asked for.

        Args:
            name: of the function or value.
        """
        return self._ask({"load": name}, _loaded, CELLS_SECONDS + 6 * self.seconds)

    def call(self, arguments):
        """Call what was loaded.

        Args:
            arguments: as `frozen` makes them, in order.

        Returns:
            {"value": plain}, {"raised": the error's type}, {"unfit": the value's type} or {"ended": how}.
        """
        return self._ask({"call": arguments}, _returned, CALL_SECONDS + self.seconds)

    def read(self):
        """The value that was loaded; as `call`."""
        return self._ask({"read": True}, _returned, CALL_SECONDS + self.seconds)

    def _ask(self, request, understood, seconds):
        if self.process is None and not self._restarted():  # the last request ended it
            return {"ended": "crash"}
        try:
            answer = self._line(request, time.monotonic() + seconds)
            if "ended" in answer:
                how = answer["ended"]
                return {"ended": how if how in ("timeout", "flood", "crash", "exit", "gone") else "crash"}
            return understood(_json(answer["line"]))
        except (EndedError, OSError) as error:
            self._stop()
            return {"ended": f"{error}" if isinstance(error, EndedError) and f"{error}" else "crash"}
        except MALFORMED:
            self._stop()
            return {"ended": "forged"}

    def _restarted(self):
        if not self.restarts:
            return False
        self.restarts -= 1
        self._start()
        return True

    def _line(self, request, until):
        send(self.process.stdin.fileno(), request)
        answer = _json(self.lines.next(until).decode("ascii"))
        if answer.pop("nonce") != self.nonce:
            raise ValueError("an answer that is not the warden's")
        return answer

    def _start(self):
        self.nonce = secrets.token_hex(16)
        try:
            self.process = self._opened()
        except OSError as error:
            raise JailError(f"{self.jail.name} does not start: {error.strerror}") from None
        self.lines = Lines(self.process.stdout.fileno(), LONGEST_LINE)
        paths = [f"{LIBRARY.parent}" if self.jail is NO_JAIL else "/allowed"] if self.with_lib else []
        job = {"nonce": self.nonce, "uid": self.jail.uid, "main": self.main, "cells": self.cells}
        try:
            ready = self._line(job | {"paths": paths, "seconds": self.seconds}, time.monotonic() + START_SECONDS)
            self.uid = ready["uid"]
        except (EndedError, OSError, ValueError, KeyError, AttributeError):
            self._stop()
            raise JailError(f"{self.jail.name} does not start: {self._complaint()}") from None

    def _opened(self):
        if self.jail.uid is not None:
            os.chown(self.folder.name, self.jail.uid, self.jail.uid)  # made just now, for the submission alone
        return subprocess.Popen(
            self.jail.command(self.with_lib),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            cwd=self.folder.name,
            start_new_session=True,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
        )

    def _complaint(self):
        self.complaints.seek(0)
        lines = self.complaints.read(COMPLAINT).decode("utf-8", "replace").strip().split("\n")
        return lines[-1 if lines[0].startswith("Traceback") else 0] or "it says nothing"

    def _stop(self):
        if self.process is None:
            return
        with self.process as process:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()  # the warden ends its inmate, and itself
                process.wait(LEAVE_SECONDS)
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
        self.process = None


def _json(text):
    """An object of JSON; `NaN` and numbers of thousands of digits are none."""
    answer = json.loads(text, parse_constant=_refused)
    if type(answer) is not dict:
        raise ValueError("no object")
    return answer


def _refused(word):
    raise ValueError(f"{word} is no JSON")


def _returned(answer):
    if "value" in answer:
        return {"value": thawed(answer["value"])}
    kind = "raised" if "raised" in answer else "unfit"
    return {kind: _words(answer[kind], 80)}


def _loaded(answer):
    return {"found": answer["found"] is True}


def _survey(answer):
    faults = {_words(name, 80): _fault(fault) for name, fault in answer["faults"].items()}
    kinds = {_words(name, 80): _words(kind, 80) for name, kind in answer["kinds"].items()}
    names, absent = ([_words(name, 80) for name in answer[key][:50]] for key in ("names", "absent"))
    return {"kinds": kinds, "faults": faults, "names": names, "absent": absent}


def _fault(fault):
    how = fault["how"]
    plain = {"how": how if how in ("syntax", "raised", "timeout", "flood", "exit") else "crash"}
    plain |= {key: fault[key] for key in ("cell", "line") if type(fault.get(key)) is int and 0 < fault[key] < 10**6}
    return plain | {key: _words(fault[key], 200) for key in ("type", "text") if key in fault}


def _words(text, most):
    """Text of one line that shows as it is."""
    if type(text) is not str:
        raise TypeError("no text")
    return "".join(mark if mark.isprintable() else " " for mark in text[:most])

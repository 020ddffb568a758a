"""The first process in the jail: it forks an inmate for each question, keeps time, and passes lines on."""

import json
import os
import signal
import time

from .cells import parts
from .inmate import limit, live
from .lines import EndedError, Lines, send
from .values import LONGEST

LOAD_SECONDS = 5  # all cells may take so many times what one statement may
WARDEN_BYTES = 1024**3  # of memory: it parses what a submission made up
SKIPS = 4  # statements that are left out of a submission because they never come to an end
GRACE_SECONDS = 0.2  # for an inmate that closed its pipe to be gone by itself


def main():
    """Answer the grader's lines until there are no more."""
    source, channel = os.dup(0), os.dup(1)
    lines = Lines(source)
    job = json.loads(lines.next())
    become(job["uid"])
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # what a submission prints goes nowhere
        os.dup2(nothing, stream)
    send(channel, {"nonce": job["nonce"], "ready": True, "uid": os.getuid()})  # before the submission is looked at
    limit({"AS": WARDEN_BYTES})
    warden = Warden(job, (source, channel))
    while True:
        try:
            line = lines.next()
        except EndedError:
            break
        send(channel, {"nonce": job["nonce"], **warden.answer(json.loads(line))})
    warden.end("")


def become(uid):
    """Give up being root for good.

    Args:
        uid: whom to become; None to stay.
    """
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


class Warden:
    """Keeps at most one inmate at a time."""

    def __init__(self, job, private):
        self.job, self.private = job, private
        self.parts = parts(job["cells"])
        self.skipped = {}  # part -> how it ended
        self.pid = None

    def answer(self, request):
        """The inmate's line, or how the inmate ended.

        Args:
            request: as the package says.
        """
        try:
            if "survey" in request or "load" in request:
                return self._load(request)
            if self.pid is None:
                return {"ended": "gone"}
            send(self.pipes[0], request)
            return {"line": self._line(time.monotonic() + self.job["seconds"])}
        except (EndedError, OSError) as error:
            return {"ended": self.end(f"{error}" if isinstance(error, EndedError) else "")}

    def _load(self, request):
        """Run the cells anew; a statement that never comes to an end is left out from then on."""
        for _ in range(SKIPS):
            try:
                return self._loaded(request)
            except EndedError as error:
                how = self.end(f"{error}")
                if self.at is None or self.at in self.skipped:
                    return {"ended": how}
                self.skipped[self.at] = how
        return self._loaded(request)

    def _loaded(self, request):
        self.end("")
        self._fork(request)
        seconds, self.at = self.job["seconds"], None
        last = time.monotonic() + LOAD_SECONDS * seconds
        while True:
            line = self._line(min(last, time.monotonic() + seconds))
            if not line.startswith("@"):
                return {"line": line}
            self.at = int(line[1:]) if line[1:].isdigit() and len(line) < 9 else None

    def _line(self, until):
        return self.lines.next(until).decode("ascii", "replace")

    def _fork(self, request):
        inner, to = os.pipe()
        answers, outer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for number in (*self.private, to, answers):
                os.close(number)
            live(self.job, self.parts, self.skipped, request, (inner, outer))
        os.close(inner)
        os.close(outer)
        self.lines, self.pipes = Lines(answers, 4 * LONGEST), (to, answers)

    def end(self, why):
        """End the inmate, if there is one, and say how it ended.

        Args:
            why: `timeout`, `flood`, or nothing where the inmate closed its pipe.
        """
        if self.pid is None:
            return "gone"
        if not why:
            self._wait()
        for kill in (os.killpg, os.kill):  # the group too: a member of it may live on
            try:
                kill(self.pid, signal.SIGKILL)
            except OSError:  # it has no group of its own yet
                continue
        status = os.waitpid(self.pid, 0)[1]
        for number in self.pipes:
            os.close(number)
        self.pid = None
        return why or how_ended(status)

    def _wait(self):
        """Give it time to end by itself; it stays unreaped, so that its number is nobody else's."""
        os.close(self.pipes[0])
        self.pipes = self.pipes[1:]
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until and not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.0005)


def how_ended(status):
    """The end of a process in a word.

    Args:
        status: as `os.waitpid` gives it.

    >>> how_ended(9)
    'crash'
    """
    if not os.WIFSIGNALED(status):
        return "exit"
    return {signal.SIGXCPU: "timeout", signal.SIGXFSZ: "flood"}.get(os.WTERMSIG(status), "crash")

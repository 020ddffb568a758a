"""Lines over a pipe, with limits of time and length."""

import json
import os
import select
import time


class EndedError(Exception):
    """The other end stopped: `timeout`, `flood`, or nothing where the pipe was closed."""


class Lines:
    """Reads lines from a pipe."""

    def __init__(self, number, longest=None):
        self.number, self.longest, self.kept = number, longest, b""

    def next(self, until=None):
        """The next line, without its end.

        Args:
            until: when to give up, by `time.monotonic`; None to wait.

        Raises:
            EndedError: for a line that is late or too long, and at the end of the pipe.
        """
        while b"\n" not in self.kept:
            wait = None if until is None else max(0, until - time.monotonic())
            if not select.select([self.number], [], [], wait)[0]:
                raise EndedError("timeout")
            piece = os.read(self.number, 65536)
            if not piece:
                raise EndedError("")
            self.kept += piece
            if self.longest is not None and len(self.kept) > self.longest:
                raise EndedError("flood")
        line, _, self.kept = self.kept.partition(b"\n")
        return line


def send(number, message, dumps=json.dumps):
    """Write a message as one line of JSON.

    Args:
        number: of the pipe.
        message: plain data.
        dumps: what makes JSON of it, held here as a submission may put another in its place.
    """
    data = dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(number, data) :]

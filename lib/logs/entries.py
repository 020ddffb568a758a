"""What every reader of a log makes of it: entries of steps, events beside them, and problems with their lines."""

from dataclasses import dataclass
from typing import NamedTuple

from lib import check

CHECKPOINT, EVALUATION, START = "checkpoint", "evaluation", "start"  # kinds of event


class Entry(NamedTuple):
    """One line of a log that tells of a step; None where it does not say. A long log has a million of them.

    `loss` may be NaN or infinite: that is what the run said.
    """

    line: int  # of the file, from 1; of what has no lines, the record
    step: int
    loss: float | None = None  # nats per token, as the run prints it
    seconds: float | None = None  # of one step
    time: float | None = None  # of day, seconds since 1970
    tokens_per_second: float | None = None  # of the whole cluster
    tokens_per_second_per_gpu: float | None = None
    tokens: float | None = None  # trained so far
    samples: float | None = None  # sequences read so far
    grad_norm: float | None = None
    learning_rate: float | None = None
    data_seconds: float | None = None  # of one step, spent on waiting for data
    reserved_bytes: float | None = None  # of the fullest GPU that is told
    nan_steps: float | None = None  # since the line before
    rank: int | None = None


class Event(NamedTuple):
    """A checkpoint, an evaluation or a start that a log tells of."""

    line: int
    kind: str
    step: int | None = None
    seconds: float | None = None  # that it took
    time: float | None = None


class Problem(NamedTuple):
    """What is not sound in a log, and in which line."""

    line: int
    what: str

    @property
    def text(self):
        """The problem in words: "line 17: ..."."""
        return f"line {self.line:,}: {self.what}"


@dataclass(frozen=True, kw_only=True)
class Log:
    """A log as it was read.

    Args:
        file: its name; any text.
        form: what wrote it: "Megatron-LM", "JSON lines", ...
        entries: a tuple of `Entry`, in the order of the file.
        events: a tuple of `Event`, in the order of the file.
        problems: a tuple of `Problem`: lines that could not be read.
        accelerator: the device that it names, "" for none.
        n_lines: lines, or records, of the file.
        digest: of its content: eight hexadecimal digits.

    Raises:
        TypeError, ValueError: for a value of the wrong kind; a log without an entry.

    >>> Log(form="JSON lines", entries=(Entry(line=1, step=10, loss=2.5),)).last_step
    10
    """

    file: str = ""
    form: str = ""
    entries: tuple[Entry, ...]
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
    accelerator: str = ""
    n_lines: int = 0
    digest: str = ""

    def __post_init__(self):
        check.fields(self, text="file form accelerator digest", natural="n_lines")
        check.instance(tuple, entries=self.entries, events=self.events, problems=self.problems)
        if not self.entries:
            raise ValueError("entries = (): at least one step")
        check.instance(Entry, **{"entries[0]": self.entries[0]})

    @property
    def last_step(self):
        """The highest step that it tells of."""
        return max(entry.step for entry in self.entries)

    @property
    def ranks(self):
        """Ranks that it tells of, in order; () where it does not say."""
        return tuple(sorted({entry.rank for entry in self.entries if entry.rank is not None}))

"""A log from its file: what wrote it is told by what it says; read line by line, so that its length hardly matters."""

import hashlib
import io
import os
import re
import stat
from pathlib import Path

from lib import check
from lib.logs import plain, tensorboard
from lib.logs.entries import Entry, Log, Problem
from lib.logs.records import Table, json_line, trainer_state
from lib.whole_files import DEEPEST, nesting

LARGEST = 4_000_000_000  # bytes; a log of a million steps has some hundred million
_LARGEST_STATE = 400_000_000  # of a file that is read in one piece
_HEAD = 200_000  # bytes in which a log must show what it is
_MOST_PROBLEMS = 1000  # that are kept of one kind: more say nothing new
_LONGEST = 100_000  # characters of a line that is looked at: records of steps have some hundred
MEGATRON, TITAN, MAXTEXT = "Megatron-LM", "torchtitan", "MaxText"
JSON_LINES, TABLE, STATE, EVENTS = "JSON lines", "CSV", "Hugging Face trainer_state.json", "TensorBoard"
_PLAIN = {MEGATRON: plain.megatron, TITAN: plain.torchtitan, MAXTEXT: plain.maxtext}
_SPREAD = re.compile(r"\s*\[\s*\{|\s*\{\s*\n")  # JSON that is written over many lines, or a list
FORMS = (JSON_LINES, TABLE, STATE, EVENTS, *_PLAIN)
_SHOWN = (
    "JSON lines, CSV, trainer_state.json, TensorBoard's event files, or a log of Megatron-LM, torchtitan or MaxText"
)


def read(path):
    """The log of a file, or of a folder of TensorBoard's event files.

    Args:
        path: of an ordinary file of at most 4 GB in one of `FORMS`; the form is told from what stands in it.

    Returns:
        A `Log`: what is sound in it, and problems with their lines.

    Raises:
        TypeError: if the path is no text.
        ValueError: in one sentence, if it cannot be read, is of no known form or tells of no step.

    Source: the modules `lib.logs.plain`, `records` and `tensorboard` name those of each form.
    """
    check.text(path=path)
    try:
        if os.path.isdir(path):
            return _folder(path)
        _refuse_others(path)
        with open(path, "rb") as file:
            head = file.read(_HEAD)
            file.seek(0)
            return _read(file, head, path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(f"{path}: ") else f"{path}: {error}") from None


def parse(raw, file="log"):
    """The log of the bytes of a file; see `read`.

    Args:
        raw: bytes.
        file: what to call it.

    >>> parse(b'{"step": 1, "loss": 9.5}\\n{"step": 2, "loss": 9.4}\\n').last_step
    2
    """
    check.instance(bytes, raw=raw)
    check.text(file=file)
    try:
        return _read(io.BytesIO(raw), raw[:_HEAD], file)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _refuse_others(path):
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("cannot be read: no ordinary file")
    if os.path.getsize(path) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} bytes: cut it into parts")


def _read(file, head, path):
    if not head.strip():
        raise ValueError("empty: no step in it")
    if tensorboard.speaks(head):
        return _event_files((file.read(),), path)
    text = head.decode("utf-8", errors="replace")
    if '"log_history"' in text or _SPREAD.match(text):
        found = _state(file.read(_LARGEST_STATE), path)
        if found is not None:
            return found
        file.seek(0)
    return _lines(file, _form(text), path)


def _form(text):
    """What wrote a log: the form that reads most lines of its head."""
    lines = text.split("\n")[:2000]
    first = next((line for line in lines if line.strip()), "")
    counts = {form: sum(of(1, line)[0] is not None for line in lines) for form, of in _PLAIN.items()}
    best = max(counts, key=counts.get)
    if counts[best]:
        return best
    if any(line.lstrip().startswith("{") for line in lines):
        return JSON_LINES
    if "," in first:
        return TABLE
    raise ValueError(f"no log that is known: {_SHOWN}; no step in its first {len(lines):,} lines")


class _Gathering:
    """What has been read so far."""

    def __init__(self):
        self.entries, self.events, self.problems = [], [], []

    def add(self, line, found):
        """Keep what a line gave."""
        entry, events, wrong = found
        if entry is not None:
            self._put(entry)
        self.events.extend(events)
        if wrong and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(Problem(line, wrong))

    def _put(self, entry):
        """A step that is told in two records, loss in one and speed in the other, is one."""
        before = self.entries[-1] if self.entries else None
        if before is not None and before.step == entry.step and before.rank == entry.rank:
            told = [(one, other) for one, other in zip(before[3:], entry[3:], strict=True)]
            apart = entry.loss is None or before.loss is None
            if apart and all(None in pair or pair[0] == pair[1] for pair in (*told[:1], *told[2:])):
                both = (one if one is not None else other for one, other in zip(before, entry, strict=True))
                self.entries[-1] = Entry(*both)
                return
        self.entries.append(entry)

    def log(self, form, path, n_lines, digest, accelerator=""):
        """The `Log`, or a refusal that says what was wrong with its lines."""
        if not self.entries:
            first = f"; {self.problems[0].text}" if self.problems else ""
            raise ValueError(f"read as {form}: no step in {n_lines:,} lines{first}")
        found = {"entries": tuple(self.entries), "events": tuple(self.events), "problems": tuple(self.problems)}
        more = {"accelerator": accelerator, "n_lines": n_lines, "digest": digest.hexdigest()[:8]}
        return Log(file=path, form=form, **found, **more)


def _lines(file, form, path):
    """Read line by line; the last one counts only if it is whole."""
    gathered, digest, line, device, raw = _Gathering(), hashlib.sha256(), 0, "", b""
    of = _PLAIN.get(form, json_line)
    for line, raw in enumerate(file, 1):
        digest.update(raw)
        text = raw[:_LONGEST].decode("utf-8", errors="replace").replace("\x00", "")
        if line == 1:
            text = text.removeprefix("\ufeff")
        if form == TABLE and line == 1:
            of = Table(text).row
            continue
        if form == TITAN and not device and "capacity: " in text:
            named = plain.DEVICE.search(text)
            device = named[1] if named else ""
        found = of(line, text)
        if raw[-1:] != b"\n" and form != JSON_LINES:
            found = (None, found[1], "the file ends here without a line end: the last line may be cut off")
        gathered.add(line, found)
    return gathered.log(form, path, line, digest, device)


def _state(raw, path):
    text = raw.decode("utf-8", errors="replace")
    if nesting(text) > DEEPEST:
        raise ValueError(f"nested too deep: at most {DEEPEST} brackets within brackets")
    found = trainer_state(text)
    if found is None:
        return None
    gathered = _Gathering()
    for place, one in enumerate(found, 1):
        gathered.add(place, one)
    return gathered.log(STATE, path, len(found), hashlib.sha256(raw))


def _folder(path):
    files = sorted(Path(path).glob("events.out.tfevents.*"))
    if not files:
        raise ValueError("a folder without event files (events.out.tfevents.*)")
    if sum(file.stat().st_size for file in files) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} bytes")
    return _event_files([file.read_bytes() for file in files], path)


def _event_files(raws, path):
    """Event files one behind the other, as a run that was started again writes them."""
    gathered, digest, before = _Gathering(), hashlib.sha256(), 0
    for raw in raws:
        entries, problems = tensorboard.entries(raw)
        digest.update(raw)
        gathered.entries += [entry._replace(line=entry.line + before) for entry in entries]
        gathered.problems += [Problem(line + before, what) for line, what in problems]
        before += sum(1 for _ in tensorboard.frames(raw))
    return gathered.log(EVENTS, path, before, digest)

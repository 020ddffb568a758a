"""Logs of the small runs: written whole, read with refusals that name file and line, made a table of runs.

    {"small_run": 1, "role": "small run", "width": 16, "peak_lr": 0.02, "n_params": 6240, "n_tokens": 249600, ...}
    {"step": 1, "tokens": 960, "loss": 2.83, "lr": 0.0}
    ...
    {"eval_loss": 0.97, "seconds": 7.4}

One JSON object a line; those of the handbook's own runs are in lib/data/small_runs.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from lib import check, whole_files
from lib.pilot.small_runs import FORM, ROLES
from lib.runs import Runs

_FIELDS = ("role", "width", "peak_lr", "n_params", "n_tokens", "corpus", "entropy")  # that a first line needs
RECORDED = Path(__file__).parent.parent / "data" / "small_runs"


@dataclass(frozen=True, kw_only=True)
class Log:
    """A small run that was made.

    Args:
        head: its first line.
        steps: lines of steps, each with step, tokens, loss and lr.
        eval_loss: on text that nobody trained on, nats per token, > 0.
        seconds: that it took, > 0.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    head: dict = field(hash=False)
    steps: tuple
    eval_loss: float
    seconds: float

    def __post_init__(self):
        check.instance(dict, head=self.head)
        check.instance(tuple, steps=self.steps)
        check.fields(self, positive="eval_loss seconds")

    def to_text(self):
        """The lines of its file."""
        lines = (self.head, *self.steps, {"eval_loss": self.eval_loss, "seconds": self.seconds})
        return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def parse_log(text, file="log"):
    """A log from its text.

    Args:
        text: as `Log.to_text` gives it.
        file: what a message calls it.

    Raises:
        TypeError: for no text.
        ValueError: for what is no whole log, with the line.

    >>> from lib.pilot.small_runs import SmallRun
    >>> log = Log(head=SmallRun(width=16, peak_lr=0.02).head, steps=(), eval_loss=0.97, seconds=7.4)
    >>> parse_log(log.to_text()) == log
    True
    """
    check.text(text=text, file=file)
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(json.loads(line))
        except ValueError:
            raise ValueError(f"{file}, line {number}: no JSON; the log is cut or was edited") from None
    if not lines or not isinstance(lines[0], dict) or lines[0].get("small_run") != FORM:
        raise ValueError(f"{file}, line 1: no log of a small run, {{'small_run': {FORM}, ...}}")
    for name in _FIELDS:
        if name not in lines[0]:
            raise ValueError(f"{file}, line 1: {name}: missing")
    last = lines[-1] if isinstance(lines[-1], dict) else {}
    if "eval_loss" not in last:
        raise ValueError(f"{file}, line {len(lines)}: eval_loss: missing; the run did not end")
    return Log(head=lines[0], steps=tuple(lines[1:-1]), eval_loss=last["eval_loss"], seconds=last.get("seconds", 1.0))


def read_logs(folder=RECORDED):
    """The logs of a folder, the smallest run first.

    Args:
        folder: with files *.jsonl; the recorded runs unless said.

    Returns:
        A tuple of `Log`.

    Raises:
        ValueError: for a folder without logs, and for a damaged one.

    >>> sorted({log.head["role"] for log in read_logs()}) == sorted(ROLES)
    True
    """
    files = sorted(Path(os.fspath(folder)).glob("*.jsonl"))
    if not files:
        raise ValueError(f"{folder}: no logs of small runs in it; handbook small-runs {folder} makes them")
    found = [parse_log(whole_files.read_text(str(path)), path.name) for path in files]
    return tuple(sorted(found, key=lambda log: (log.head["n_params"], log.head["peak_lr"])))


def table(logs, role="small run"):
    """The runs of one role, as a fit takes them.

    Args:
        logs: a sequence of `Log`.
        role: one of `ROLES`.

    Returns:
        `lib.runs.Runs`.

    Raises:
        ValueError: where there is none of that role.

    >>> len(table(read_logs()))
    7
    """
    check.several(logs=logs)
    for place, log in enumerate(logs):
        check.instance(Log, **{f"logs[{place}]": log})
    check.choice(ROLES, role=role)
    heads = [(log.head, log.eval_loss) for log in logs if log.head["role"] == role]
    if not heads:
        raise ValueError(f"role = {role!r}: {', '.join(sorted({log.head['role'] for log in logs}))}")
    return Runs(
        n_params=[float(head["n_params"]) for head, _ in heads],
        n_tokens=[float(head["n_tokens"]) for head, _ in heads],
        loss=[loss for _, loss in heads],
        groups=[head["corpus"] for head, _ in heads],
        places=[f"{head['width']} wide" for head, _ in heads],
        name="small runs",
    )

"""Records with named values: JSON lines, comma-separated tables, and the state of a Hugging Face Trainer.

Sources: transformers, trainer_state.json: "log_history", a list of records with step, loss, grad_norm, learning_rate,
num_input_tokens_seen, or eval_loss and eval_runtime; Weights & Biases: the export of a panel names its columns
"RUN - METRIC", with "__MIN" and "__MAX" beside each, as seen in public exports.
"""

import csv
import json

from lib import check
from lib.logs.entries import START, Event
from lib.logs.fields import entry_of, field_of

_ENDS = ("__MIN", "__MAX")
_STARTS = ("start", "started", "run_start", "resume", "restart", "init")


def json_line(line, text):
    """The entry, the events and what is wrong in a line of JSON.

    Args:
        line: its number.
        text: the line; one that holds no object is no record of a step.

    >>> json_line(1, '{"step": 10, "loss": 2.5, "grad_norm": NaN}')[0].loss
    2.5
    """
    text = text.strip()
    if not text.startswith("{"):  # what a program prints between its records
        return None, (), "JSON that begins in the middle" if text.endswith("}") else ""
    try:
        return of_record(line, json.loads(text))
    except (ValueError, RecursionError):
        return None, (), "JSON that is cut off or broken"


def of_record(line, named):
    """The same for a record that a parser has read; values of records within it go by "outer/inner".

    Args:
        line: of the file.
        named: name -> value.
    """
    if any(type(value) is dict for value in named.values()):
        named = _flat(named)
    kind = named.get("event")
    if isinstance(kind, str) and kind.lower() in _STARTS:
        return None, (Event(line, START, None, None, None),), ""
    entry, events, wrong = entry_of(line, named)
    if not events and isinstance(kind, str):
        entry, events, wrong = entry_of(line, named | {f"{kind.lower()}_seconds": named.get("seconds")})
        entry = None if events else entry
    return entry, events, wrong


def _flat(named):
    """Values within values beside the others; what stands outside goes before what stands within."""
    found = {name: value for name, value in named.items() if not isinstance(value, dict)}
    for name, inner in named.items():
        if isinstance(inner, dict):
            told = {(str(k) if field_of(str(k)) else f"{name}/{k}"): v for k, v in inner.items()}
            found = told | found
    return found


def trainer_state(text):
    """The records of a `trainer_state.json`, or of a JSON list, as (entry, events, what is wrong); None if it is none.

    Args:
        text: of the file.
    """
    check.text(text=text)
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        return _cut_state(text)
    history = state.get("log_history") if isinstance(state, dict) else state
    return list(_of_history(history)) if isinstance(history, list) else None


def _of_history(history):
    for place, named in enumerate(history, 1):
        yield of_record(place, dict(named)) if isinstance(named, dict) else (None, (), "no record")


def _cut_state(text):
    """What a state that was cut off still holds: the records of its history that are whole."""
    start = text.find('"log_history"')
    start = text.find("[", start) if start >= 0 else -1
    if start < 0:
        return None
    history, decoder, at = [], json.JSONDecoder(), text.find("{", start)
    while at >= 0:
        try:
            named, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        history.append(named)
        if text[at:].lstrip()[:1] != ",":
            break
        at = text.find("{", at)
    return [*_of_history(history), (None, (), "the file is cut off here")]


class Table:
    """A comma-separated table, read row by row: what each column stands for follows from its head.

    Args:
        head: the first line.

    Raises:
        ValueError: if no column is a step, or columns of several runs are.
    """

    def __init__(self, head):
        self.names = _row(head)
        self.columns = {}
        runs = set()
        for place, name in enumerate(self.names):
            run, dash, metric = name.rpartition(" - ")
            if name.endswith(_ENDS) or field_of(metric) is None:
                continue
            if dash and field_of(metric)[0] != "step":
                runs.add(run)
            self.columns.setdefault(metric, place)
        if len(runs) > 1:
            raise ValueError(f"columns of {len(runs)} runs, {check.listed(sorted(runs)[:4])}: export one run")
        if not any(field_of(name)[0] == "step" for name in self.columns):
            raise ValueError(f"line 1: no column is a step, such as step or Step: {check.listed(self.names[:8])}")

    def row(self, line, text):
        """The entry, the events and what is wrong in a row.

        Args:
            line: its number.
            text: the line.
        """
        if not text.strip():
            return None, (), ""
        cells = text.split(",") if '"' not in text else _row(text)
        if len(cells) != len(self.names):
            return None, (), f"{len(cells)} cells, {len(self.names)} columns"
        named = {name: cells[place].strip() for name, place in self.columns.items() if cells[place].strip()}
        entry, events, wrong = entry_of(line, named)
        return entry, events, "" if named and len(named) == 1 and entry is None else wrong


def _row(text):
    try:
        return next(csv.reader([text.rstrip("\r\n")]), [])
    except csv.Error:  # a quote that is never closed, a cell without end
        return []

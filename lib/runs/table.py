"""A table of training runs from a CSV file, as people write such files: columns by many names, slips named.

Every refusal is one message that names the file, the row and the column. Rows are counted from 1 below the head; the
line of the file, as an editor counts, stands beside.
"""

import csv
import io
import math
import os
import re
import stat
from pathlib import Path

from lib import check
from lib.compute import train_flops
from lib.runs import Runs
from lib.runs.doubts import bits_for_nats, refuse_bits, refuse_perplexities, refuse_units

NAMES = {  # what people call each column; matched without regard to case, spaces, hyphens and underscores
    "n_params": "n_params params parameters n_parameters num_params num_parameters total_params model_size N",
    "n_tokens": "n_tokens tokens train_tokens training_tokens num_tokens total_tokens tokens_seen D",
    "compute": "compute flops flop train_flops training_flops training_flop total_flops C",
    "loss": "loss final_loss val_loss validation_loss valid_loss eval_loss test_loss cross_entropy L",
    "group": "group corpus dataset training_set train_set data_set corpus_name",
    "warmup": "warmup warmup_tokens warmup_share warmup_fraction warm_up",
}
UNITS = {"units": 1.0, "thousands": 1e3, "millions": 1e6, "billions": 1e9, "trillions": 1e12}
LOSS_UNITS = {"nats": 1.0, "bits": math.log(2)}
MOST_RUNS = 10_000  # rows of a table: a hundred times the largest that we know
_MOST_BYTES = 20_000_000  # of a file: what is larger is no table of runs, or it never ends
_NEEDED = ("n_params", "n_tokens", "loss")
_THOUSANDS = re.compile(
    r"[+-]?[0-9]{1,3}(?:(?:[, '_\u00a0\u2009\u202f\u2019][0-9]{3})+(?:\.[0-9]*)?|(?:\.[0-9]{3}){2,}(?:,[0-9]*)?)"
)
_LETTERED = re.compile(r"([0-9.]+)\s*([kKmMbBgGtT])")
_POWERS = {"k": 3, "m": 6, "b": 9, "g": 9, "t": 12}


def read_runs(path, *, params_in="", tokens_in="", loss_in="", **columns):
    """The runs of a CSV file, and what is odd about them.

    Args:
        path: of an ordinary file in UTF-8 with a head, at most 10,000 rows; commas, semicolons or tabs part the cells.
        params_in, tokens_in: "units", "thousands", "millions", "billions" or "trillions"; "" for units, unless the
            values look otherwise, which is refused.
        loss_in: "nats" or "bits" a token; "" for nats, unless the values look otherwise.
        columns: n_params, n_tokens, compute, loss, group, warmup -> what the file calls them; found by the usual names
            where left out. compute, in FLOP by 6 N D, gives the tokens of a file that has no column of them. warmup
            holds tokens or shares of the run, as its name says; shares if it says nothing and no value is above 1.

    Returns:
        (`Runs`, notes): the notes say what was suspected but let pass.

    Raises:
        ValueError: for a file that cannot be read, a missing column, a cell that is no number or out of range, a
            repeated row, values of another unit than the rest; in one message.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path = {check.short(path)} ({type(path).__name__}): the path of a CSV file")
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise ValueError(f"path = {check.short(path)}: the path of a CSV file")
    file = Path(path).name
    head, rows = _cells(path, file)
    places = _columns(file, head, columns)
    called = {column: head[place] for column, place in places.items()}
    scales = {
        "n_params": UNITS[_unit(UNITS, params_in=params_in)],
        "n_tokens": UNITS[_unit(UNITS, tokens_in=tokens_in)],
        "loss": LOSS_UNITS[_unit(LOSS_UNITS, loss_in=loss_in)],
    }
    if not loss_in and re.search(r"bits|bpb|bpt", called["loss"], re.IGNORECASE):
        raise ValueError(
            f"{file}, column {called['loss']}: nats a token are meant; --loss-in bits converts bits a token"
        )
    runs = _runs(file, rows, places, called, scales)
    _refuse_repeated(runs)
    refuse_units(runs, called, units_said=bool(params_in and tokens_in))
    notes = () if loss_in else _loss_notes(runs, called["loss"])
    return runs, (*notes, *_unread(file, head, places))


def _unit(table, **given):
    check.text(**given)
    (word,) = given.values()
    return check.lookup({unit: unit for unit in table}, **given) if word else next(iter(table))


def _text(path, file):
    """The text of an ordinary file: a device may never end, and a pipe may keep one waiting for ever."""
    try:
        kind = os.stat(path).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise ValueError(f"{path}: cannot be read: a device or a pipe; save the table in a file")
        with open(path, "rb") as table:
            data = table.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise ValueError(f"{file}: more than {_MOST_BYTES / 1e6:g} MB; a table of at most {MOST_RUNS:,} runs")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"{file}, line {line}: no text in UTF-8; save the table as CSV in UTF-8") from None


def _cells(path, file):
    text = _text(path, file)
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    table = [(line, [cell.strip() for cell in row]) for line, row in _lines(file, text, delimiter) if any(row)]
    if not table:
        raise ValueError(f"{file}: empty; a head and a row for each run")
    (_, head), *rows = table
    if not rows:
        raise ValueError(f"{file}: a head without a row; one for each run")
    if len(rows) > MOST_RUNS:
        raise ValueError(f"{file}: {len(rows):,} rows: at most {MOST_RUNS:,}, one for each run")
    for number, (line, row) in enumerate(rows, 1):
        _refuse_ragged(f"{file}, {_place(number, line)}", row, head, delimiter)
    return head, [(_place(number, line), row) for number, (line, row) in enumerate(rows, 1)]


def _refuse_ragged(where, row, head, delimiter):
    if len(row) == len(head):
        return
    slip = "; is there a comma inside a number?" if len(row) > len(head) > 1 and delimiter == "," else ""
    named = f", {check.short(head[0])}, has 1" if len(head) == 1 else f" has {len(head)}"
    raise ValueError(f"{where}: {len(row)} cells, the head{named}{slip}")


def _lines(file, text, delimiter):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: no CSV: {error}") from None


def _place(number, line):
    return f"row {number} (line {line})"


def _columns(file, head, given):
    """Column -> place in the head."""
    for name, called in given.items():
        check.choice(tuple(NAMES), column=name)
        check.text(**{name: called})
        if not called.strip():
            raise ValueError(f"{name} = {called!r}: the name of a column")
    found = {column: _find(file, head, column, given.get(column)) for column in NAMES}
    found = {column: place for column, place in found.items() if place is not None}
    _refuse_twice(file, head, found)
    if "compute" in found and "n_tokens" not in found:
        found["n_tokens"] = found["compute"]
    for column in _NEEDED:
        if column not in found:
            raise ValueError(_missing(file, head, column, None))
    return found


def _find(file, head, column, wanted):
    """The place of a column; one that is named exactly goes before others that are spelled alike."""
    names = [check.plain_name(name) for name in ([wanted] if wanted else NAMES[column].split())]
    places = [k for k, cell in enumerate(head) if check.plain_name(cell) in names]
    exact = [k for k in places if head[k] == wanted]
    places = exact or places
    if not places and wanted:
        raise ValueError(_missing(file, head, column, wanted))
    if len(places) > 1:
        both = [head[k] for k in places[:2]]
        mend = "give one another name" if both[0] == both[1] else f"name one with {_option(column)}"
        raise ValueError(f"{file}: the columns {' and '.join(both)} may both be {column}; {mend}")
    return places[0] if places else None


def _refuse_twice(file, head, found):
    taken = {}
    for column, place in found.items():
        if place in taken:
            raise ValueError(f"{file}, column {head[place]}: taken for {taken[place]} and for {column}")
        taken[place] = column


def _missing(file, head, column, wanted):
    what = f"no column {wanted!r}" if wanted else f"no column for {column}"
    near = check.did_you_mean(wanted, head) if wanted else ""
    alike = [cell for cell in head if column.removeprefix("n_") in cell.lower()]
    listed = ", ".join((alike or head)[:8])
    return f"{file}: {what}{near}; name it with {_option(column)}, such as one of: {listed}"


def _option(column):
    return f"--{column.replace('_', '-')} COLUMN"


def _runs(file, rows, places, called, scales):
    numbers = {
        column: [scale * _number(file, place, called[column], row[places[column]]) for place, row in rows]
        for column, scale in scales.items()
    }
    if places["n_tokens"] == places.get("compute"):
        flops = zip(numbers["n_tokens"], numbers["n_params"], strict=True)
        numbers["n_tokens"] = [value / train_flops(n, 1.0) for value, n in flops]
    more = {}
    if "group" in places:
        more["groups"] = _words(file, called["group"], [(place, row[places["group"]]) for place, row in rows])
    if "warmup" in places:
        warmup = [(place, row[places["warmup"]]) for place, row in rows]
        shares, warmup = _warmup(file, called["warmup"], warmup)
        factors = numbers["n_tokens"] if shares else [scales["n_tokens"]] * len(rows)
        more["warmup_tokens"] = [value * factor for value, factor in zip(warmup, factors, strict=True)]
    return Runs(**numbers, **more, name=file, places=[place for place, _ in rows])


def _warmup(file, called, cells):
    """Whether a column of warm-up holds shares of the run, by its name or else by its values, and the values."""
    values = [_number(file, place, called, cell, least=0.0) for place, cell in cells]
    says_tokens, says_share = "token" in called.lower(), re.search("share|frac|ratio", called, re.IGNORECASE)
    shares = not says_tokens and (bool(says_share) or max(values) <= 1)
    for (place, _), value in zip(cells, values, strict=True):
        where = f"{file}, {place}, column {called} = {value:g}"
        if shares and value > 1:
            raise ValueError(f"{where}: a share of the run, at most 1; name a column of tokens warmup_tokens")
        if not shares and 0 < value <= 1:
            raise ValueError(f"{where}: tokens, as the rest of the column; name a column of shares warmup_share")
    return shares, values


def _unread(file, head, places):
    """A note on each column that seems to hold warm-up and is not read."""
    columns = [name for name in head if name.lower().startswith("warm")] if "warmup" not in places else []
    said = "not read; --warmup takes a column of tokens, or of shares of the run"
    return tuple(f"{file}, column {name}: {said}" for name in columns)


def _number(file, place, called, cell, least=None):
    where = f"{file}, {place}, column {called} = {check.short(cell)}"
    try:
        number = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number) or math.isinf(number):
        raise ValueError(f"{where}: a plain number, such as 1300000000 or 1.3e9{_slip(cell)}")
    if number < 0 or (number == 0 and least is None):
        raise ValueError(f"{where}: a number {'above 0' if least is None else 'of 0 or more'}")
    return number


def _words(file, called, cells):
    """The corpus of each run; two spellings of one name would part its runs without a word."""
    first = {}
    for place, cell in cells:
        if not cell:
            raise ValueError(f"{file}, {place}, column {called}: empty; the name of the corpus")
        spelled, there = first.setdefault(check.plain_name(cell), (cell, place))
        if spelled != cell:
            raise ValueError(f"{file}, {place}, column {called} = {cell!r}: {spelled!r} in {there}; one spelling")
    return [cell for _, cell in cells]


def _slip(cell):
    either = re.fullmatch(r"[+-]?([0-9]{1,3}),([0-9]{3})", cell)
    if either:
        return f"; a decimal point is written {cell.replace(',', '.')}, a thousand {cell.replace(',', '')}"
    if re.fullmatch(r"[0-9.]+ ?%", cell):
        return "; a share, such as 0.05 for 5%"
    if _THOUSANDS.fullmatch(cell):
        plain = cell if cell.count(".") < 2 else cell.replace(".", "").replace(",", ".")
        return f"; without thousands separators: {re.sub('[^0-9.+-]', '', plain)}"
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+(e[+-]?[0-9]+)?", cell, re.IGNORECASE):
        return f"; a decimal point is written {cell.replace(',', '.')}"
    lettered = _LETTERED.fullmatch(cell)
    return f"; write {lettered[1]}e{_POWERS[lettered[2].lower()]}" if lettered else ""


def _refuse_repeated(runs):
    groups = runs.groups or [""] * len(runs)
    seen = {}
    for place, row in enumerate(zip(groups, runs.n_params, runs.n_tokens, runs.loss, strict=True)):
        if row in seen:
            raise ValueError(
                f"{runs.name}, {runs.places[place]}: repeats {runs.places[seen[row]]} in every column that is read; "
                f"a run counts once"
            )
        seen[row] = place


def _loss_notes(runs, called):
    refuse_perplexities(runs, called)
    parts = [part for part in runs.by_group().values() if len(part) >= 3]
    for part in parts:
        refuse_bits(part, called)
    if "nats" in called.lower():  # then a whole column is believed
        return ()
    return tuple(dict.fromkeys(note for part in parts if (note := bits_for_nats(part, called))))

"""A table of training runs from a CSV file, as people write such files: columns by many names, slips named.

Every refusal is one message that names the file, the row and the column. Rows are counted from 1 below the head; the
line of the file, as an editor counts, stands beside.
"""

import csv
import io
import math
import os
import re
from pathlib import Path

from lib import check
from lib.compute import train_flops
from lib.runs import Runs
from lib.runs.doubts import bits_for_nats, refuse_bits, refuse_units

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
_NEEDED = ("n_params", "n_tokens", "loss")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[, '_\u00a0\u2009\u202f\u2019][0-9]{3})+(?:\.[0-9]*)?")
_LETTERED = re.compile(r"([0-9.]+)\s*([kKmMbBgGtT])")
_POWERS = {"k": 3, "m": 6, "b": 9, "g": 9, "t": 12}


def read_runs(path, *, params_in="", tokens_in="", loss_in="", **columns):
    """The runs of a CSV file, and what is odd about them.

    Args:
        path: of the file, with a head; commas, semicolons or tabs part the cells.
        params_in, tokens_in: "units", "thousands", "millions", "billions" or "trillions"; "" for units, unless the
            values look otherwise, which is refused.
        loss_in: "nats" or "bits" a token; "" for nats, unless the values look otherwise.
        columns: n_params, n_tokens, compute, loss, group, warmup -> what the file calls them; found by the usual names
            where left out. compute, in FLOP by 6 N D, gives the tokens of a file that has no column of them. warmup
            holds tokens, or a share of the run if no value is above 1.

    Returns:
        (`Runs`, notes): the notes say what was suspected but let pass.

    Raises:
        ValueError: for a file that cannot be read, a missing column, a cell that is no number or out of range, a
            repeated row, values of another unit than the rest; in one message.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path = {check.short(path)} ({type(path).__name__}): the path of a CSV file")
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
    return runs, () if loss_in else _loss_notes(runs, called["loss"])


def _unit(table, **given):
    check.text(**given)
    (word,) = given.values()
    return check.lookup({unit: unit for unit in table}, **given) if word else next(iter(table))


def _cells(path, file):
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file}: no text in UTF-8; save the table as CSV") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        table = [(line, [cell.strip() for cell in row]) for line, row in _lines(text, delimiter) if any(row)]
    except csv.Error as error:
        raise ValueError(f"{file}: no CSV: {error}") from None
    if not table:
        raise ValueError(f"{file}: empty; a head and a row for each run")
    (_, head), *rows = table
    if not rows:
        raise ValueError(f"{file}: a head without a row; one for each run")
    for number, (line, row) in enumerate(rows, 1):
        if len(row) != len(head):
            slip = "; is there a comma inside a number?" if len(row) > len(head) and delimiter == "," else ""
            raise ValueError(f"{file}, {_place(number, line)}: {len(row)} cells, the head has {len(head)}{slip}")
    return head, [(_place(number, line), row) for number, (line, row) in enumerate(rows, 1)]


def _lines(text, delimiter):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    for row in reader:
        yield reader.line_num, row


def _place(number, line):
    return f"row {number} (line {line})"


def _columns(file, head, given):
    """Column -> place in the head."""
    for name in given:
        check.choice(tuple(NAMES), column=name)
    found = {}
    for column, usual in NAMES.items():
        wanted = given.get(column)
        names = [wanted] if wanted else usual.split()
        places = [k for k, cell in enumerate(head) if check.plain_name(cell) in map(check.plain_name, names)]
        if len(places) > 1:
            both = " and ".join(head[k] for k in places[:2])
            raise ValueError(f"{file}: the columns {both} may both be {column}; name one with {_option(column)}")
        if places:
            found[column] = places[0]
        elif wanted:
            raise ValueError(_missing(file, head, column, wanted))
    if "compute" in found and "n_tokens" not in found:
        found["n_tokens"] = found["compute"]
    for column in _NEEDED:
        if column not in found:
            raise ValueError(_missing(file, head, column, None))
    return found


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
        more["groups"] = [_word(file, place, called["group"], row[places["group"]]) for place, row in rows]
    if "warmup" in places:
        warmup = [_number(file, place, called["warmup"], row[places["warmup"]], least=0.0) for place, row in rows]
        are_shares = all(value <= 1 for value in warmup)
        factors = numbers["n_tokens"] if are_shares else [scales["n_tokens"]] * len(rows)
        more["warmup_tokens"] = [value * factor for value, factor in zip(warmup, factors, strict=True)]
    return Runs(**numbers, **more, name=file, places=[place for place, _ in rows])


def _number(file, place, called, cell, least=None):
    where = f"{file}, {place}, column {called} = {cell!r}"
    try:
        number = float(cell) if "_" not in cell else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number) or math.isinf(number):
        raise ValueError(f"{where}: a plain number, such as 1300000000 or 1.3e9{_slip(cell)}")
    if number < 0 or (number == 0 and least is None):
        raise ValueError(f"{where}: a number {'above 0' if least is None else 'of 0 or more'}")
    return number


def _word(file, place, called, cell):
    if not cell:
        raise ValueError(f"{file}, {place}, column {called}: empty; the name of the corpus")
    return cell


def _slip(cell):
    if _THOUSANDS.fullmatch(cell):
        return f"; without thousands separators: {re.sub('[^0-9.+-]', '', cell)}"
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
    parts = [part for part in runs.by_group().values() if len(part) >= 3]
    for part in parts:
        refuse_bits(part, called)
    return tuple(dict.fromkeys(note for part in parts if (note := bits_for_nats(part, called))))

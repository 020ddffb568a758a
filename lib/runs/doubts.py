"""Values of a table of runs that are numbers but hardly what they are taken for: another unit, bits for nats.

Nothing here is certain, so every message says what gave rise to it, and what to write if the value is right.
"""

import math
from collections.abc import Mapping
from statistics import median

from lib import check
from lib.compute import train_flops
from lib.runs import Runs
from lib.scaling import law

NOMINAL_LAW = "Besiroglu 2024"  # what losses of such runs mostly look like, within a few tenths
_FEWEST = 1_000.0  # parameters or tokens: below this a number is a count of thousands, millions or billions
_MOST = 1e16  # above this a number in full was multiplied once more
_GUESSING = math.log(1e6)  # nats a token: what guessing costs among a million tokens, more than any tokenizer has
_RATIOS = (1e-3, 1e7)  # tokens a parameter between which every run known to us lies, with room
_DECADES = 4.0  # by which the tokens a parameter of one run may differ from the middle of its table
_GAP = 4.5  # decades without a run inside one column
_BITS = math.log(1 / math.log(2))  # a loss in bits is this much larger, in logarithms
_NEAR = 0.1  # of the logarithm of a loss


def refuse_units(runs, columns, units_said=False):
    """Refuse a table whose sizes or tokens seem to be in thousands, millions or billions, as a whole or in a row.

    Args:
        runs: `lib.runs.Runs`.
        columns: "n_params" and "n_tokens" -> what the table calls them.
        units_said: True where a person has said the units: then a whole column is believed.

    Raises:
        ValueError: naming table, row and column.
    """
    check.instance(Runs, runs=runs)
    check.boolean(units_said=units_said)
    if not isinstance(columns, Mapping) or not {"n_params", "n_tokens"} <= columns.keys():
        raise TypeError(f"columns = {check.short(columns)}: n_params and n_tokens -> what the table calls them")
    for column in ("n_params", "n_tokens"):
        check.text(**{f"columns[{column!r}]": columns[column]})
        _refuse_many(runs, column, columns[column])
        _refuse_gap(runs, column, columns[column])
    _refuse_ratios(runs, columns)
    if not units_said:
        _refuse_whole(runs, columns)


def bits_for_nats(runs, column):
    """A sentence if a table's losses, taken together, look like bits a token; nothing otherwise.

    Args:
        runs: `lib.runs.Runs` of one corpus.
        column: what the table calls the loss.

    >>> from lib.runs import of_law
    >>> runs = of_law(law("besiroglu"), [1e8, 1e9, 1e10], [2e9, 2e10, 2e11])
    >>> bits_for_nats(runs, "loss")
    ''
    """
    check.instance(Runs, runs=runs)
    check.text(column=column)
    ratio = math.exp(median(_excess(runs)))
    if abs(math.log(ratio) - _BITS) > _NEAR:
        return ""
    return (
        f"{runs.name}, column {column}: the losses are {ratio:.2f} times what {NOMINAL_LAW} gives for such runs, as if "
        f"in bits (1.44 bits are a nat); --loss-in bits converts them, --loss-in nats says that they are right"
    )


def refuse_bits(runs, column):
    """Refuse a table in which some losses seem to be in bits and the others in nats.

    Args:
        runs: `lib.runs.Runs` of one corpus.
        column: what the table calls the loss.

    Raises:
        ValueError: naming table, row and column of the first.
    """
    check.instance(Runs, runs=runs)
    check.text(column=column)
    excess = _excess(runs)
    middle = median(excess)
    for way, unit, other in ((1, "bits", "nats"), (-1, "nats", "bits")):
        odd = [k for k, e in enumerate(excess) if abs(way * (e - middle) - _BITS) < _NEAR]
        rest = [abs(e - middle) for k, e in enumerate(excess) if k not in odd]
        if odd and 3 * len(odd) <= len(rest) and max(rest) < _BITS - 1.5 * _NEAR:
            times = math.exp(excess[odd[0]] - middle)
            raise ValueError(
                f"{_cell(runs, odd[0], column)} = {runs.loss[odd[0]]:g}: {times:.2f} times what the other rows lead "
                f"one to expect, as if it were in {unit} and they in {other}; --loss-in nats says that it is right"
            )


def refuse_perplexities(runs, column):
    """Refuse a loss that is larger than guessing would cost.

    Args:
        runs: `lib.runs.Runs`.
        column: what the table calls the loss.

    Raises:
        ValueError: naming table, row and column of the first.
    """
    check.instance(Runs, runs=runs)
    check.text(column=column)
    for place, loss in enumerate(runs.loss):
        if loss > _GUESSING:
            raise ValueError(
                f"{_cell(runs, place, column)} = {loss:g}: guessing among a million tokens costs {_GUESSING:.1f} nats; "
                f"is it a perplexity, whose logarithm is the loss? --loss-in nats says that it is right"
            )


def _excess(runs):
    nominal = law(NOMINAL_LAW)
    columns = zip(runs.n_params, runs.n_tokens, runs.loss, strict=True)
    return [math.log(loss / nominal.loss(n, d)) for n, d, loss in columns]


def _cell(runs, place, column):
    return f"{runs.name}, {runs.places[place]}, column {column}"


def _refuse_many(runs, column, called):
    for place, value in enumerate(getattr(runs, column)):
        if value > _MOST:
            raise ValueError(
                f"{_cell(runs, place, called)} = {value:g}: more than any run has; is it written in full already?"
            )


def _refuse_gap(runs, column, called):
    values = getattr(runs, column)
    order = sorted(range(len(values)), key=lambda k: values[k])
    for rank in range(1, len(order)):
        low, high = values[order[rank - 1]], values[order[rank]]
        if math.log10(high / low) >= _GAP:
            odd, others = sorted((order[:rank], order[rank:]), key=len)
            _refuse_cell(runs, odd[0], column, called, [values[k] for k in others])


def _refuse_ratios(runs, columns):
    ratios = [math.log10(d / n) for n, d in zip(runs.n_params, runs.n_tokens, strict=True)]
    middle = median(ratios)
    for place, ratio in enumerate(ratios):
        if abs(ratio - middle) < _DECADES:
            continue
        away = {column: _away(getattr(runs, column), place) for column in ("n_params", "n_tokens")}
        column = max(away, key=away.get)
        others = [v for k, v in enumerate(getattr(runs, column)) if abs(ratios[k] - middle) < _DECADES]
        _refuse_cell(runs, place, column, columns[column], others)


def _away(values, place):
    return abs(math.log10(values[place] / median(values)))


def _refuse_cell(runs, place, column, called, others):
    value = getattr(runs, column)[place]
    raise ValueError(
        f"{_cell(runs, place, called)} = {value:g}: the other rows lie between {min(others):g} and {max(others):g}; "
        f"are thousands, millions or billions meant in one of them? Write every number in full, such as 2e10"
    )


def _refuse_whole(runs, columns):
    for column, option in (("n_params", "--params-in"), ("n_tokens", "--tokens-in")):
        low, high = min(getattr(runs, column)), max(getattr(runs, column))
        if low < _FEWEST:
            raise ValueError(
                f"{runs.name}, column {columns[column]} = {low:g} to {high:g}: too few to be a count; are they "
                f"millions or billions? Say so with {option} millions (or billions)"
            )
    ratio = median(d / n for n, d in zip(runs.n_params, runs.n_tokens, strict=True))
    if not _RATIOS[0] <= ratio <= _RATIOS[1]:
        flops = train_flops(median(runs.n_params), median(runs.n_tokens))
        raise ValueError(
            f"{runs.name}, columns {columns['n_params']} and {columns['n_tokens']}: {ratio:.2g} tokens a parameter and "
            f"{flops:.1g} FLOP in the middle of the table; is one of them in millions or billions? "
            f"Say so with --params-in or --tokens-in"
        )

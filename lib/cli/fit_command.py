"""The command `handbook fit`: a table of runs in, a law with what speaks for and against it out."""

import json
import os
import re
from contextlib import nullcontext
from pathlib import Path
from textwrap import fill

import click

COLUMNS = ("n_params", "n_tokens", "compute", "loss", "group", "warmup")
MOST_WORKERS = 64  # each a Python of its own with SciPy in it


@click.command()
@click.argument("path", metavar="RUNS.CSV")
@click.option("--n-params", metavar="COLUMN", help="The column of parameters, if it has no usual name.")
@click.option("--n-tokens", metavar="COLUMN", help="The column of training tokens.")
@click.option("--compute", metavar="COLUMN", help="Or the column of compute, FLOP by 6 N D.")
@click.option("--loss", metavar="COLUMN", help="The column of the loss, nats per token.")
@click.option("--group", metavar="COLUMN", help="The column of the corpus: each is fitted apart.")
@click.option("--warmup", metavar="COLUMN", help="The column of warm-up, in tokens or as a share of the run.")
@click.option("--params-in", metavar="UNIT", default="", help="units, thousands, millions, billions or trillions.")
@click.option("--tokens-in", metavar="UNIT", default="", help="The same for tokens.")
@click.option("--loss-in", metavar="UNIT", default="", help="nats or bits, per token.")
@click.option("--budget", metavar="FLOP", multiple=True, help="Compute to find the optimum for; may be repeated.")
@click.option("--objective", metavar="WORD", default="huber", show_default=True, help="huber or least-squares.")
@click.option("--starts", metavar="NUMBER", default="100", show_default=True, help="Random starts of each fit.")
@click.option("--resamples", metavar="NUMBER", default="200", show_default=True, help="For the intervals; 0 for none.")
@click.option("--hold-out", metavar="NUMBER", help="How many of the largest runs; one in eight unless said.")
@click.option("--without-warmup", is_flag=True, help="Leave out the runs that ended inside warm-up.")
@click.option("--seed", metavar="NUMBER", default="0", show_default=True, help="Of starts and resamples.")
@click.option("--workers", metavar="NUMBER", default="1", show_default=True, help="Processes for the resamples.")
@click.option("--plot", metavar="FILE.SVG", help="Draw loss against prediction, and the residuals.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
def fit(path, as_json, plot, **given):
    """Fit a scaling law to a table of runs, and say how far to believe it.

    The table has a column each for parameters, tokens and loss; the usual names are found.

    \b
    handbook fit runs.csv
    handbook fit runs.csv --loss val_loss --group corpus --budget 1e22
    handbook fit runs.csv --json --plot fit.svg
    """
    from lib.runs.table import read_runs

    try:
        columns = {name: given.pop(name) for name in COLUMNS}
        units = {name: given.pop(name) for name in ("params_in", "tokens_in", "loss_in")}
        runs, notes = read_runs(path, **units, **{name: word for name, word in columns.items() if word is not None})
        check_plot(plot)
        reports, refused = _reports(runs, **given)
    except (TypeError, ValueError) as error:
        raise click.UsageError(" ".join(_as_options(str(error)).split())) from None
    if plot is not None:
        _draw(plot, reports)
    click.echo(_as_json(runs, notes, reports, refused) if as_json else _as_text(notes, reports, refused))


def _as_options(message):
    """A refusal of the library in the command's words: n_starts is --starts here."""
    return re.sub(r"\bn_(starts|resamples) = ", r"\1 = ", message).replace("n_held = ", "hold_out = ")


def check_plot(plot):
    """Refuse a name that no picture can be written to, before any work is done."""
    if plot is not None and Path(plot).suffix.lower() != ".svg":
        raise ValueError(f"--plot = {plot!r}: a file name that ends in .svg")
    if plot is not None and not Path(plot).absolute().parent.is_dir():
        raise ValueError(f"--plot = {plot!r}: the folder does not exist")


def _reports(runs, budget, objective, starts, resamples, hold_out, without_warmup, seed, workers):
    """A report for each corpus, and the reason for each that has none; refused if all are."""
    from lib.fit.law import OBJECTIVES
    from lib.fit.report import report
    from lib.names import lookup

    settings = {
        "budgets": tuple(_number("budget", text) for text in budget),
        "objective": lookup({word: word for word in OBJECTIVES}, objective=objective),
        "n_starts": _whole("starts", starts),
        "n_resamples": _whole("resamples", resamples),
        "n_held": None if hold_out is None else _whole("hold_out", hold_out),
        "seed": _whole("seed", seed),
    }
    reports, refused = [], {}
    with _workers(_whole("workers", workers)) as executor:
        for name, part in runs.by_group().items():
            try:
                kept = _out_of_warmup(part) if without_warmup else part
                reports.append(report(kept, executor=executor, **settings))
            except ValueError as error:
                refused[name] = str(error)
    if not reports:
        raise ValueError("; ".join(refused.values()))
    return reports, refused


def _out_of_warmup(runs):
    warm = runs.in_warmup()
    if len(warm) == len(runs):
        raise ValueError(f"{runs.name}: all {len(runs)} runs ended inside warm-up; none is left")
    return runs.without(warm)


def _workers(number):
    if not 1 <= number <= MOST_WORKERS:
        raise ValueError(f"workers = {number}: a whole number from 1 to {MOST_WORKERS}")
    if number == 1:
        return nullcontext()
    from concurrent.futures import ProcessPoolExecutor  # a sixth of the start of every command
    from multiprocessing import get_context

    return ProcessPoolExecutor(number, mp_context=get_context("spawn"))


def _number(name, text):
    from lib.units import parse

    try:
        value = parse(text, "FLOP")
    except ValueError as error:
        raise ValueError(f"{name} = {error}") from None
    if not value > 0:
        raise ValueError(f"{name} = {text}: a number above 0")
    return value


def _whole(name, text):
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise ValueError(f"{name} = {text!r}: a whole number")
    return int(text)


def _draw(plot, reports):
    from lib.plots.fits import fit_sheet

    write_plot(plot, fit_sheet([(found.name if len(reports) > 1 else "", found.fit, found.held) for found in reports]))


def write_plot(plot, text):
    """Write a picture, whole or not at all: a full disk leaves no half of one, and keeps the old one."""
    beside = Path(f"{plot}.part")
    try:
        if Path(plot).is_dir():
            raise IsADirectoryError(None, "Is a directory")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, plot)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise click.UsageError(f"--plot = {plot!r}: cannot be written: {error.strerror}") from None


def _as_json(runs, notes, reports, refused):
    found = {"table": runs.name, "fits": [each.to_dict() for each in reports]}
    return json.dumps(found | {"refused": refused, "notes": list(notes)}, indent=2, allow_nan=False, ensure_ascii=False)


def _as_text(notes, reports, refused):
    from lib.whatif.text import WIDTH, view_text

    more = [f"REFUSED    {reason}" for reason in refused.values()] + [f"Note: {note}" for note in notes]
    return "\n\n".join([view_text(found.view) for found in reports] + [fill(line, WIDTH) for line in more])

"""The commands `handbook forecast` and `handbook small-runs`: a large run's loss from small ones; small ones."""

import json
import os
from datetime import UTC, datetime

import click

from lib.cli.run_commands import refusals


@click.command()
@click.argument("path", metavar="[RUNS.CSV or FOLDER]", required=False)
@click.option("--law", metavar="NAME", help="The law whose E is taken; that of the description unless said.")
@click.option("--floor", metavar="NATS", type=float, help="Or E itself, where you know better.")
@click.option("--floor-error", metavar="NATS", type=float, help="And its standard error; 0 unless said.")
@click.option("--run", "described", metavar="RUN.TOML", help="The large run, described.")
@click.option("--n-params", metavar="NUMBER", help="Or its size,")
@click.option("--n-tokens", metavar="NUMBER", help="and its tokens.")
@click.option("-o", "--evidence", metavar="FILE.JSON", help="Keep it as evidence for rung 6 of --run.")
@click.option("--resamples", metavar="NUMBER", type=int, default=400, show_default=True, help="Of runs and of E.")
@click.option("--seed", metavar="NUMBER", type=int, default=0, show_default=True, help="Of the resamples.")
@click.option("--plot", metavar="FILE.SVG", help="Draw the runs, the curve and the interval.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show where each number comes from.")
@click.pass_context
def forecast(context, path, described, evidence, plot, as_json, explain, **given):
    """Forecast a large run's loss from a table of small runs: L = E + a / C^b, with E from a named law.

    Without a table: the handbook's own small runs, on text whose E is known, and one larger to be forecast. Exits with
    1 where nothing can be decided, or where the described run's expectation lies outside.

    \b
    handbook forecast
    handbook forecast small_runs.csv --law besiroglu --run run.toml -o evidence.json
    handbook forecast small_runs.csv --floor 1.7 --floor-error 0.05 --n-params 8B --n-tokens 160B
    """
    from lib.cli.fit_command import check_plot
    from lib.whatif import forecast_card, text

    with refusals():
        check_plot(plot)
        run = _description(described, evidence)
        if path is None or os.path.isdir(path):
            found, told = _recorded(path, run, given)
        else:
            found, told = _of_table(path, run, given)
        if evidence is not None:
            _keep(evidence, run, found)
        if plot is not None:
            _draw(plot, found, told)
    view = forecast_card.forecast_view(found, **told)
    if as_json:
        click.echo(json.dumps(forecast_card.forecast_dict(found, **told), indent=2, allow_nan=False))
    else:
        click.echo(text.view_text(view, explain))
    context.exit(0 if all(one.passed for one in view.checks) else 1)


def _description(described, evidence):
    from lib.description import read

    if evidence is not None and described is None:
        raise ValueError("evidence: --run as well, the description that it is evidence for")
    return None if described is None else read(described)


def _recorded(path, run, given):
    """The forecast of small runs on generated text, and the larger one that was held out."""
    from lib.fit.forecast import recorded
    from lib.pilot import small_logs

    for name in ("law", "floor", "floor_error", "n_params", "n_tokens"):
        if given[name] is not None:
            raise ValueError(f"{name}: not beside these small runs, for the E of their text and their target are known")
    if run is not None:
        raise ValueError(
            "run: not beside these small runs: their text is generated and their tokenizer knows 17 letters, so they "
            "say nothing of its loss; give a table of small runs on its own text"
        )
    logs = small_logs.read_logs(small_logs.RECORDED if path is None else path)
    found, measured = recorded(logs, given["resamples"], given["seed"])
    return found, {"measured": measured}


def _of_table(path, run, given):
    """The forecast from a person's own table, and what the description expects."""
    from lib.description import Expectations
    from lib.fit.forecast import forecast as of_runs
    from lib.runs.table import read_runs

    target, floor = _target(run, given), _floor(run, given)
    runs, notes = read_runs(path)
    for note in notes:
        click.echo(f"handbook: {note}", err=True)
    found = of_runs(runs, floor, target, given["resamples"], given["seed"])
    return found, {"expected": None if run is None else Expectations(run=run).loss}


def _target(run, given):
    from lib.scaling.allocations import Allocation
    from lib.units import parse

    sizes = {name: given[name] for name in ("n_params", "n_tokens") if given[name] is not None}
    if run is not None:
        if sizes:
            raise ValueError(f"{next(iter(sizes))}: --run says it already")
        return Allocation(n_params=float(run.shape.n_params_active), n_tokens=float(run.n_tokens))
    if len(sizes) < 2:
        raise ValueError("run: missing; --run, or --n-params and --n-tokens, is what the small runs are to forecast")
    units = {"n_params": "parameters", "n_tokens": "tokens"}
    return Allocation(**{name: parse(text, units[name]) for name, text in sizes.items()})


def _floor(run, given):
    from lib.fit.floor import Floor, law_floor

    if given["floor"] is not None:
        if given["law"] is not None:
            raise ValueError("floor: it or --law")
        return Floor(value=given["floor"], error=given["floor_error"] or 0.0, source="given by hand")
    if given["floor_error"] is not None:
        raise ValueError("floor_error: without --floor; a law has an error of its own")
    if given["law"] is None and run is None:
        raise ValueError("law: missing; --law, --floor or --run says which E no model gets below")
    return law_floor(given["law"] or run.law_name)


def _keep(path, run, found):
    """One piece of evidence for rung 6."""
    import platform
    from importlib.metadata import version

    from lib import ladder

    piece = ladder.Piece(
        rung=6,
        what=f"loss forecast from {len(found.runs)} small runs of {found.runs.name}, E of {found.floor.source}",
        measured=found.measured,
        versions={package: version(package) for package in ("numpy", "scipy")},
        machine={"accelerator": "cpu", "system": platform.platform()},
        run_digest=run.digest,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    ladder.add(path, run, piece)
    click.echo(f"{path}: evidence for rung 6 added", err=True)


def _draw(plot, found, told):
    from lib.cli.fit_command import write_plot
    from lib.plots import loss_forecast, to_svg

    if found.interval is None:
        raise ValueError(f"plot: nothing to draw; {'; '.join(found.undecidable)}")
    write_plot(plot, to_svg(loss_forecast(found, told.get("measured"))))


@click.command("small-runs")
@click.argument("folder", metavar="FOLDER")
def small_runs(folder):
    """Make the handbook's small runs again: fifteen logs on generated text, minutes on two cores.

    Ctrl-C stops it; the same command goes on with the logs that are missing.

    \b
    handbook small-runs again
    handbook forecast again
    """
    from lib.pilot.climb import refuse_without_jax

    with refusals():
        try:
            refuse_without_jax()
        except ModuleNotFoundError as error:
            raise click.UsageError(str(error)) from None
        from lib.pilot.small_train import make

        make(folder, click.echo)

"""The command `handbook pilot`: climbs rungs 1 to 4 of a described run on this machine, and keeps the evidence."""

import json
import math
import re
import sys

import click

from lib.cli.run_commands import refusals


@click.command()
@click.argument("path", metavar="RUN.TOML")
@click.option("--rungs", metavar="1-4", default="1-4", show_default=True, help="Which to climb, such as 2 or 1,3-4.")
@click.option("-o", "--evidence", metavar="FILE.JSON", default="evidence.json", show_default=True, help="Kept there.")
@click.option("--seed", metavar="NUMBER", type=int, default=0, show_default=True, help="Of weights, text and dropout.")
@click.option("--again", is_flag=True, help="Repeat rungs that there is evidence of.")
@click.option("--inspected", is_flag=True, help="Say that you looked at the sample text: it is as it should be.")
@click.option("--plant", metavar="FAULT", help="Plant one, such as mask-leak, to see it caught; nothing is kept.")
@click.option("--limit", metavar="SECONDS", type=float, default=600.0, show_default=True, help="Longest for a rung.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.pass_context
def pilot(context, path, evidence, as_json, **given):
    """Climb rungs 1 to 4 of a run's pilot ladder here, with a small model of its kind.

    Ctrl-C stops it, and the same command goes on with what is left. Exits with 1 unless every rung asked for is passed.

    \b
    handbook pilot run.toml
    handbook pilot run.toml --rungs 1-2 -o evidence.json
    handbook pilot run.toml --rungs 3 --inspected
    handbook pilot run.toml --plant mask-leak
    """
    from lib.description import read
    from lib.pilot.climb import refuse_without_jax

    with refusals():
        run, numbers = read(path), _numbers(given["rungs"])
        try:
            refuse_without_jax()
            if given["plant"] is None:
                verdicts = _climbed(run, evidence, numbers, as_json, given)
            else:
                verdicts = _planted(run, numbers, as_json, given)
        except ModuleNotFoundError as error:
            raise click.UsageError(str(error)) from None
        except (TimeoutError, RuntimeError) as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            kept = f"{evidence} keeps what is done; the same command goes on"
            click.echo(f"\nhandbook: stopped; {'nothing is kept' if given['plant'] else kept}", err=True)
            raise click.Abort from None
    if as_json and given["plant"] is None:
        from lib import ladder

        _print_json(run, ladder.evaluate(run, ladder.read(evidence)), given["seed"])
    context.exit(0 if len(verdicts) == len(numbers) and all(one.passed for one in verdicts) else 1)


def _numbers(text):
    """The rungs of a text such as 1,3-4, in order."""
    parts = [re.fullmatch(r"([1-4])(?:-([1-4]))?", part.strip()) for part in text.split(",")]
    ranges = [range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part]
    if not all(parts) or not all(ranges):
        raise click.UsageError(
            f"rungs = {text[:40]!r}: some of 1 to 4, such as 1-4 or 2; 5 to 7 are the cluster's: handbook ladder"
        )
    return sorted({number for numbers in ranges for number in numbers})


def _climbed(run, evidence, numbers, as_json, given):
    """The verdicts of the rungs, told one by one."""
    from lib.pilot import climb
    from lib.pilot.pilot import scale_down

    say = _to_stderr if as_json else click.echo
    pilot = scale_down(run, given["seed"])
    say(f"{pilot.table}\n")
    more = {"seed": given["seed"], "again": given["again"], "limit_seconds": given["limit"]}
    verdicts = []
    for number, verdict, is_new in climb.climb(run, evidence, numbers, lambda line: _to_stderr(f"  {line}"), **more):
        if number == climb.TEXT_RUNG and any(one.threshold.name == "batches_inspected" for one in verdict.missing):
            seen = _look(pilot, given["inspected"], not as_json)
            verdict = verdict if seen is None else climb.looked_at(run, evidence, seen, seed=given["seed"])
        say(_told(verdict, is_new))
        verdicts.append(verdict)
    return verdicts


def _planted(run, numbers, as_json, given):
    """The verdicts of the rungs while the pilot has a fault, told one by one."""
    from lib.pilot import climb, faults

    say, more = _to_stderr if as_json else click.echo, {"seed": given["seed"], "limit_seconds": given["limit"]}
    verdicts = []
    for found in climb.faulty(run, given["plant"], numbers, lambda line: _to_stderr(f"  {line}"), **more):
        verdicts.append(found.verdicts[numbers[len(verdicts)] - 1])
        say(_told(verdicts[-1], is_new=True))
    fault = faults.FAULTS[given["plant"]]
    say(f"Planted: {fault.name}. {fault.sentence} Rung {fault.rung} is there to catch it. Nothing is kept.")
    if as_json:
        _print_json(run, found, given["seed"], planted=fault.name)
    return verdicts


def _look(pilot, inspected, may_ask):
    """Show what the model reads. True or False by a person's word; None where nobody is there to give it."""
    _to_stderr("  What the model reads, decoded; looking at it is a person's part of this rung:")
    for line in pilot.samples:
        _to_stderr(f"    {line!r}")
    if inspected:
        return True
    if may_ask and _is_terminal():
        return click.confirm("  Is it what the model should read?", default=None, err=True)
    _to_stderr("  Nobody was asked. If it is what the model should read, say so: --rungs 3 --inspected")
    return None


def _is_terminal():
    return sys.stdin.isatty() and sys.stderr.isatty()


def _told(verdict, is_new):
    from lib.tables import Table

    rung = verdict.rung
    rows = tuple((one.threshold.label, _measured(one), one.threshold.text) for one in verdict.judgements if one.asked)
    lines = [str(Table(head=(f"Rung {rung.number}, {rung.name}", "measured", "may be"), rows=rows))]
    lines.append(f"Rung {rung.number}: {_words(verdict)}{'' if is_new else '; measured before, --again repeats it'}.")
    return "\n".join([*lines, *([rung.failure] if verdict.failures else []), ""])


def _words(verdict):
    if verdict.failures:
        return f"failed: {', '.join(one.threshold.label for one in verdict.failures)}"
    left = "; what only the run itself on the plan's accelerator can tell is left open" if verdict.untested else ""
    return f"passed{left}" if verdict.passed else verdict.words


def _measured(one):
    from lib.units import show

    if one.value is None:
        return "-"
    return show(one.value, one.threshold.unit) if math.isfinite(one.value) else str(one.value)


def _print_json(run, climb, seed, **more):
    from lib.pilot.pilot import scale_down
    from lib.whatif import run_card

    pilot = scale_down(run, seed)
    shapes = {label: {"run": there, "pilot": here, "rule": rule} for label, there, here, rule in pilot.table.rows}
    plain = {"pilot": pilot.what, "shapes": shapes} | more | run_card.ladder_dict(climb)
    click.echo(json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False))


def _to_stderr(line):
    click.echo(line, err=True)

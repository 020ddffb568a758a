"""The command `handbook log`: what a training log shows, beside the plan, as evidence and as pictures."""

import json

import click

from lib.cli.run_commands import refusals


@click.command()
@click.argument("path", metavar="TRAIN.LOG")
@click.option("--run", "run_path", metavar="RUN.TOML", help="The run that it is of: forecasts, and what has broken.")
@click.option("--rung", metavar="NUMBER", help="3, 5, 6 or 7: the rung that the evidence is for.")
@click.option("-o", "--output", metavar="FILE.JSON", help="Add the evidence to this file; needs --run and --rung.")
@click.option("--accelerator", metavar="NAME", help="What it ran on, if the log does not say.")
@click.option("--n-gpus", metavar="NUMBER", help="GPUs that it is of, if not all of the run's.")
@click.option(
    "--batch-tokens", metavar="TOKENS", help="Tokens of a step, if those GPUs took fewer and it does not say."
)
@click.option("--one-node-speed", metavar="SPEED", help="Tokens/s of one GPU when one node trains alone.")
@click.option("--measured", metavar="NAME=NUMBER", multiple=True, help="What no log shows, measured by hand.")
@click.option("--plot", metavar="FILE", help="Draw it: .svg, or .png.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show what counts as what.")
@click.pass_context
def log(context, path, run_path, rung, output, plot, as_json, explain, **given):
    """Read a training log: steps, loss, speed, pauses, spikes, restarts, and what is not sound in it.

    JSON lines, CSV, trainer_state.json, TensorBoard's event files, and logs of Megatron-LM, torchtitan and MaxText are
    told apart by what stands in them. Exits with 1 if a rung is asked for and the log does not pass it.

    \b
    handbook log train.log
    handbook log train.log --run run.toml --plot train.svg
    handbook log train.log --run run.toml --rung 7 -o evidence.json
    """
    from lib.whatif import log_card, text

    if (output or rung or given["measured"]) and not (run_path and rung):
        raise click.UsageError("evidence needs both --run RUN.TOML and --rung 3, 5, 6 or 7")
    with refusals():
        report, beside = _read(path, run_path, given)
        found = None if rung is None else _evidence(beside, rung, given)
        plain = log_card.log_dict(report, beside) if as_json else None
        said = text.view_text(log_card.log_view(report, beside), explain) if plain is None else ""
        if plot is not None:
            _draw(plot, report, beside)
        if output is not None:
            from lib import ladder

            ladder.add(output, beside.run, found[0])
            click.echo(f"{output}: evidence of rung {rung} added", err=True)
    if found is not None:
        plain = plain and plain | {"evidence": _rung_dict(beside, *found)}
        said += "" if plain else "\n\n" + _rung_text(beside, *found)
    click.echo(json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False) if as_json else said)
    if found is not None:
        context.exit(0 if _passes(beside, *found) else 1)


def _read(path, run_path, given):
    from lib import description, logs

    log_read = logs.read(path)
    if run_path is None:
        return logs.Report(log=log_read), None
    run = description.read(run_path)
    of = {name: given[name] and _whole(name, given[name]) for name in ("n_gpus", "batch_tokens")}
    beside = logs.AgainstPlan(report=logs.Report(log=log_read), run=run, **of)
    # A log that tells speeds and no times needs the tokens of a step to tell its time.
    report = logs.Report(log=log_read, step_tokens_per_gpu=beside.step_tokens_per_gpu)
    return report, logs.AgainstPlan(report=report, run=run, **of)


def _whole(name, text):
    from lib.units import parse

    value = parse(text)
    if value != int(value):
        raise ValueError(f"{name} = {text}: a whole number, 1 or more")
    return int(value)


def _evidence(beside, rung, given):
    from lib import logs
    from lib.logs.measured import RUNGS
    from lib.units import parse

    speed = None if given["one_node_speed"] is None else parse(given["one_node_speed"], "tokens/s")
    by_hand = dict(_by_hand(text) for text in given["measured"])
    number = parse(rung)
    if number not in RUNGS:
        raise ValueError(f"rung = {rung}: 3, 5, 6 or 7, of which a log can tell")
    return logs.evidence(beside, int(number), speed, given["accelerator"] or "", by_hand=by_hand)


def _by_hand(text):
    from lib.units import parse

    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"measured = {text!r}: written NAME=NUMBER, such as spare_nodes=2")
    return name.strip().replace("-", "_"), float(parse(value))


def _judgements(beside, piece):
    from lib.ladder import Evidence, evaluate
    from lib.logs.measured import asked

    climb = evaluate(beside.run, Evidence(run=beside.run.plain, pieces=(piece,)))
    names = asked(piece.rung, beside.expected)
    return tuple(one for one in climb.verdicts[piece.rung - 1].judgements if one.threshold.name in names)


def _passes(beside, piece, missing):
    return not missing and all(one.passed for one in _judgements(beside, piece))


def _rung_text(beside, piece, missing):
    """What the log says of a rung: each threshold, or why it is not told."""
    lines = [f"Rung {piece.rung}, on {piece.machine['accelerator']}, as this log shows it:"]
    for one in _judgements(beside, piece):
        verdict = {True: "pass", False: "FAIL", None: "----"}[one.passed]
        name = one.threshold.name
        told = f"{piece.measured[name]:.4g}" if name in piece.measured else f"not shown: {missing[name]}"
        if name in piece.measured and one.value is None:
            told += ", but counts only on the plan's own accelerator (--accelerator)"
        lines.append(f"  {verdict}  {one.threshold.label}: {told} ({one.threshold.text})")
    return "\n".join(lines)


def _rung_dict(beside, piece, missing):
    passed = {one.threshold.name: one.passed for one in _judgements(beside, piece)}
    return {"rung": piece.rung, "measured": piece.plain["measured"], "passed": passed, "not_shown": missing}


def _draw(path, report, beside):
    from lib.plots.logs import log_pictures, log_sheet
    from lib.whole_files import write_text

    ends = {}
    if beside is not None:
        speed, run = beside.expected.tokens_per_second_per_gpu, beside.run
        ends["most_step_seconds"] = run.batch_tokens / run.cluster.n_gpus / speed.range[0]
        ends["loss_ends"] = beside.expected.loss.range
    if path.lower().endswith(".svg"):
        write_text(path, log_sheet(report, **ends), replace=True)
    elif path.lower().endswith(".png"):
        from lib.plots.logs import save_png

        save_png(path, log_pictures(report, **ends))
    else:
        raise ValueError(f"plot = {path!r}: a name that ends in .svg or .png")
    click.echo(f"{path}: written", err=True)

"""The commands `handbook new-run` and `handbook ladder`: describe a run, then climb its pilot ladder."""

import json
import os
import re
from contextlib import contextmanager

import click

from lib import check

_ASKED = {
    "model": "Model, such as llama-3-8b, or a config.json, or its shape (n_layers=32,d_model=4096,...)",
    "tokens": "Training tokens, such as 2T",
    "accelerator": "Accelerator, such as h100",
    "n_gpus": "How many of them",
}
_SECTION = {
    **dict.fromkeys(("accelerator", "n_gpus"), "cluster"),
    **dict.fromkeys(("tensor", "pipeline", "context", "zero_stage", "micro_batch", "seq_len"), "layout"),
    **dict.fromkeys(("batch_tokens", "recompute"), "layout"),
    **dict.fromkeys(("schedule", "peak_lr", "warmup_steps"), "recipe"),
    **dict.fromkeys(("mfu", "convention", "dtype"), "speed"),
}


@click.command("new-run")
@click.argument("path", metavar="[RUN.TOML]", default="run.toml")
@click.option("--model", metavar="NAME", help="A released model, such as llama-3-8b.")
@click.option("--config", metavar="FILE", help="Or a config.json as Hugging Face's hub has it.")
@click.option("--shape", metavar="SIZES", help="Or its sizes, as below; beside a model they change what it has.")
@click.option("--tokens", metavar="NUMBER", help="Training tokens, such as 2T.")
@click.option("--accelerator", metavar="NAME", help="What it runs on, such as h100.")
@click.option("--n-gpus", metavar="NUMBER", help="How many of them.")
@click.option("--name", metavar="TEXT", help="What to call the run.")
@click.option("--seq-len", metavar="TOKENS", help="Tokens in a sequence; 4096 unless said.")
@click.option("--batch-tokens", metavar="TOKENS", help="Tokens of a step; the handbook's recipe unless said.")
@click.option("--micro-batch", metavar="NUMBER", help="Sequences that one GPU takes at a time; 1 unless said.")
@click.option("--tensor", metavar="NUMBER", help="Tensor-parallel degree; 1 unless said.")
@click.option("--pipeline", metavar="NUMBER", help="Pipeline-parallel degree; 1 unless said.")
@click.option("--context", metavar="NUMBER", help="Context-parallel degree; 1 unless said.")
@click.option("--zero-stage", metavar="NUMBER", help="0 to 3; 0 unless said.")
@click.option("--recompute", metavar="WORD", help="none, selective or full; none unless said.")
@click.option("--framework", metavar="NAME", help="megatron, torchtitan, deepspeed, ...; megatron unless said.")
@click.option("--schedule", metavar="NAME", help="cosine, linear, wsd or 1-sqrt; cosine unless said.")
@click.option("--peak-lr", metavar="NUMBER", help="Peak learning rate; the handbook's recipe unless said.")
@click.option("--warmup-steps", metavar="NUMBER", help="Steps of warm-up; the handbook's recipe unless said.")
@click.option("--mfu", metavar="FRACTION", help="Assumed utilization, such as 0.4 or 40%.")
@click.option("--convention", metavar="NAME", help="What it counts: 6N unless said.")
@click.option("--dtype", metavar="TYPE", help="Whose peak it divides by; bf16 unless said.")
@click.option("--goodput", metavar="FRACTION", help="Share of the calendar that makes progress; 0.9 unless said.")
@click.option("--law", metavar="NAME", help="The law that predicts the loss.")
@click.option("--price-usd-per-gpu-hour", metavar="NUMBER", help="What an hour of one GPU costs.")
@click.option("--replace", is_flag=True, help="Write over a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show how each number comes about.")
def new_run(path, replace, as_json, explain, **given):
    """Describe a run in a small file, and say what to expect of it.

    What is needed and not given is asked for. The file can be changed with any editor.

    \b
    handbook new-run
    handbook new-run big.toml --model llama-3-8b --tokens 2T --accelerator h100 --n-gpus 256
    handbook new-run --shape n_layers=12,d_model=768,n_heads=12,d_ff=3072,vocab_size=50257,tied=true ...
    """
    from lib.description import write

    if os.path.lexists(path) and not replace:
        raise click.UsageError(f"{path}: there is such a file; --replace writes over it")
    given = {name: value for name, value in given.items() if value is not None}
    with refusals():
        run = _described(given | _answers(given))
        said = _said(run, as_json, explain)
        try:
            write(path, run, replace)
        except FileExistsError:
            raise click.UsageError(f"{path}: there is such a file; --replace writes over it") from None
    click.echo(f"{path}: written", err=True)
    click.echo(said)


@click.command()
@click.argument("path", metavar="RUN.TOML")
@click.option("--evidence", metavar="FILE.JSON", help="What was measured so far.")
@click.option("--commands", "rung", metavar="RUNG", help="3, 5, 6 or 7: what to run for it on your cluster.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show where each threshold comes from.")
def ladder(path, evidence, rung, as_json, explain):
    """Show the pilot ladder of a described run: thresholds, cost, and which rungs the evidence passes.

    \b
    handbook ladder run.toml
    handbook ladder run.toml --evidence evidence.json
    handbook ladder run.toml --commands 5
    """
    if rung is not None:
        with refusals():
            said = _tasks_said(path, rung, as_json, explain)
        click.echo(said)
        return
    from lib import ladder as pilot
    from lib.description import read
    from lib.whatif import run_card, text

    with refusals():
        run = read(path)
        found = None if evidence is None else pilot.read(evidence)
        try:
            climb = pilot.evaluate(run, found)
        except ValueError as error:
            raise ValueError(f"{evidence or path}: {error}") from None
        if as_json:
            said = _json(run_card.run_dict(run) | run_card.ladder_dict(climb))
        else:
            said = text.view_text(run_card.ladder_view(climb), explain)
    click.echo(said)


def _tasks_said(path, rung, as_json, explain):
    from lib.description import read
    from lib.units import parse
    from lib.whatif import tasks_card

    whole = parse(rung)
    if whole not in (3, 5, 6, 7):
        raise ValueError(f"commands = {rung}: 3, 5, 6 or 7; rungs 1 to 4 are run by: handbook pilot")
    run = read(path)
    return _json(tasks_card.tasks_dict(run, int(whole))) if as_json else tasks_card.tasks_text(run, int(whole), explain)


def _answers(given):
    """What a person says to the questions that no option has answered."""
    has_model = any(name in given for name in ("model", "config", "shape"))
    answers = {name: _ask(name) for name in _ASKED if name not in given and not (name == "model" and has_model)}
    word = answers.get("model", "")
    if "=" in word or word.endswith(".json"):
        answers["shape" if "=" in word else "config"] = answers.pop("model")
    return answers


def _ask(name):
    try:
        return click.prompt(_ASKED[name], err=True)
    except click.Abort:
        raise click.UsageError(f"{name}: missing; --{name.replace('_', '-')}, or an answer to the question") from None


def _described(given):
    from lib.description.files import from_table

    if "model" in given and "config" in given:
        raise ValueError("model: it or --config")
    table = {"model": {}, "framework": {}}
    for name, value in given.items():
        if name in ("model", "config"):
            table["model"]["name" if name == "model" else name] = value
        elif name == "shape":
            table["model"] |= dict(map(_size, value.split(",")))
        elif name == "framework":
            table["framework"] = {"name": value}
        elif name in _SECTION:
            table.setdefault(_SECTION[name], {})[name] = value
        else:
            table[name] = value
    return from_table(table)


def _size(text):
    """One of the sizes of a shape: a number, true or false, or a word such as rms."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise ValueError(f"shape = {check.short(text)}: sizes as NAME=VALUE with commas between, such as n_layers=32")
    if name in ("name", "config", "source", "windows", "moe", "latent"):
        raise ValueError(f"shape = {check.short(text)}: not here; write it into the file")
    words = {"true": True, "false": False}
    try:
        return name, words[value] if value in words else int(value) if value.isdecimal() else float(value)
    except ValueError:
        return name, value


def _said(run, as_json, explain):
    from lib.whatif import run_card, text

    return _json(run_card.run_dict(run)) if as_json else text.view_text(run_card.run_view(run), explain)


def _json(plain):
    return json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False)


@contextmanager
def refusals():
    """Refusals of the library in one line, in the words of the command."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = " ".join(str(error).split())
        raise click.UsageError(re.sub(r"^(model|cluster|layout|recipe|framework|speed)\.", "", message)) from None

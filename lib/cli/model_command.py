"""The command `handbook model`: a configuration or a known name in, exact counts out."""

import json
import sys
from pathlib import Path

import click


@click.command()
@click.argument("config_or_name", metavar="CONFIG_OR_NAME")
@click.option("--context", metavar="TOKENS", default="8192", show_default=True, help="Tokens in a sequence.")
@click.option("--cache-dtype", metavar="TYPE", default="bf16", show_default=True, help="Of the cache: fp32, bf16, fp8.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show how each number comes about.")
def model(config_or_name, context, cache_dtype, as_json, explain):
    """Count a model: parameters, FLOPs of a token, cache.

    CONFIG_OR_NAME is a config.json as Hugging Face's hub has it, - for standard input, or a released model's name.

    \b
    handbook model config.json
    handbook model mixtral-8x7b --context 32k
    handbook model - --json < config.json
    """
    from lib.whatif import model_card, text  # after --help, which needs none of it

    try:
        found, tokens = _found(config_or_name), _tokens(context)
        cache_dtype = cache_dtype.lower()
        notes, counted_by = (*_assumed(found), *found.notes), found.code and f"as {found.code} allocates them"
        view = model_card.model_view(found.shape, tokens, cache_dtype, notes, counted_by)
    except (TypeError, ValueError) as error:
        raise click.UsageError(" ".join(str(error).split())) from None
    if as_json:
        plain = model_card.to_dict(found.shape, tokens, cache_dtype, view)
        click.echo(json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False))
    else:
        click.echo(text.view_text(view, explain))


def _found(given):
    """The shape that a word means: standard input, a file, or a released model."""
    from lib.architecture import huggingface, released

    if given == "-":
        return huggingface.parse_config(sys.stdin.buffer.read(huggingface.LARGEST_FILE + 1))
    if _is_path(given):
        return huggingface.read_config(given)
    _, slash, name = given.rpartition("/")  # as the hub calls it: mistralai/Mixtral-8x7B-v0.1
    try:
        return huggingface.Imported(shape=released.model(name), code="")
    except ValueError as error:
        raise ValueError(f"{given}: no such file; {error}" if slash else str(error)) from None


def _is_path(given):
    try:
        return given != "" and ("\\" in given or given.endswith(".json") or Path(given).exists())
    except (OSError, ValueError):  # too long for a name of a file, or with a NUL in it
        return False


def _tokens(text):
    from lib.units import SEQUENCE, parse

    try:
        value = parse(text, SEQUENCE)
    except ValueError as error:
        raise ValueError(f"context = {error}") from None
    if value != value // 1 or not 1 <= value <= 2**53:
        raise ValueError(f"context = {text}: a whole number of tokens, from 1 to {2**53:,}")
    return int(value)


def _assumed(found):
    if found.assumed:
        yield f"Not in the file, taken as the class takes it: {', '.join(found.assumed)}."

"""The file of a run description, TOML that a person writes in a minute: read, with refusals that name file and field.

    tokens = "2T"

    [model]
    name = "llama-3-8b"          # or config = "config.json", or n_layers, d_model, n_heads, d_ff, vocab_size, ...

    [cluster]
    accelerator = "h100"
    n_gpus = 256

Everything else has a value that is taken where the file says nothing; `lib.description.writing` writes them all out.
"""

import os
import tomllib
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace

from lib import check, whole_files
from lib.architecture import LatentAttention, MixtureOfExperts, Transformer, huggingface, model
from lib.description.defaults import full_layout, full_schedule
from lib.description.run import RunDescription
from lib.description.writing import to_toml
from lib.hardware import Cluster
from lib.layout import Layout
from lib.memory import Profile, profile
from lib.units import SEQUENCE
from lib.units import parse as parse_number

# Numbers that people write with a unit, as text: "2T", "8k", "40%".
_UNITS = {"tokens": "tokens", "seq_len": SEQUENCE, "batch_tokens": "tokens", "n_gpus": "GPUs", "mfu": "MFU"}
_UNITS |= {"goodput": "", "peak_lr": "", "min_lr": "", "warmup_steps": "steps", "decay_steps": "steps"}
_UNITS |= {"price_usd_per_gpu_hour": "USD"}
_COUNTS = ("data", "tensor", "pipeline", "context", "expert", "zero_stage", "micro_batch", "micro_batches")
_UNITS |= dict.fromkeys(_COUNTS, "")
_WHOLE = ("seq_len", "n_gpus", "batch_tokens", *_COUNTS)


def _names(kind, *without):
    return tuple(field.name for field in fields(kind) if field.name not in without)


# The file's word for a field -> the field of `RunDescription`.
_TOP = {"name": "name", "tokens": "n_tokens", "goodput": "goodput", "law": "law_name"}
_TOP |= {"price_usd_per_gpu_hour": "price_usd_per_gpu_hour"}
SPEED = {"mfu": "mfu", "convention": "convention_name", "dtype": "dtype"}
SECTIONS = {
    "model": ("name", "config", *_names(Transformer, "name")),
    "cluster": ("accelerator", "n_gpus"),
    "layout": (*_names(Layout), "batch_tokens"),
    "framework": ("name", *_names(Profile, "name")),
    "recipe": ("schedule", "peak_lr", "min_lr", "warmup_steps", "decay_steps"),
    "speed": tuple(SPEED),
}
_NEEDED = ("n_layers", "d_model", "n_heads", "d_ff", "vocab_size")  # a shape of one's own says at least these
_PARTS = {"moe": MixtureOfExperts, "latent": LatentAttention}


def read(path):
    """The run that a file describes.

    Args:
        path: of a TOML file; a `config` that it names is looked for beside it.

    Returns:
        A `RunDescription`.

    Raises:
        TypeError: if the path is no text.
        ValueError: if the file cannot be read, or for what it says: one sentence with file, field and value.

    Source: the form stands at the head of this module.
    """
    return parse(whole_files.read_text(path), path)


def parse(text, file="text"):
    """The run that a TOML text describes; see `read`.

    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> run = parse(text)
    >>> run.layout.data, f"{run.batch_tokens:,}", run.steps
    (64, '3,145,728', 317891)
    >>> parse(text.replace("64", "0"), "run.toml")
    Traceback (most recent call last):
    ...
    ValueError: run.toml: cluster.n_gpus = 0: a whole number, 1 or more
    """
    check.text(text=text, file=file)
    try:
        whole_files.refuse_depth(text)
        given = tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    with _at(f"{file}: "):
        return from_table(given, os.path.dirname(file))


def from_table(given, folder=""):
    """The run that a table describes whose sections are those of the file; see `read`.

    Args:
        given: a mapping; numbers may be text such as "2T".
        folder: where a `config` is looked for.

    Raises:
        TypeError, ValueError: for what it says, with section, field and value.

    >>> table = {"tokens": "1T", "model": {"name": "GPT-2"}, "cluster": {"accelerator": "h100", "n_gpus": 8}}
    >>> from_table(table).layout.n_gpus
    8
    """
    check.instance(dict, given=given)
    check.text(folder=folder)
    _known("", given, (*_TOP, *SECTIONS))
    part = {name: _numbers(_section(given, name)) for name in SECTIONS}
    n_tokens = _tokens(given)
    with _at("model."):
        shape = _shape(part["model"], folder)
    with _at("cluster."):
        _refuse_missing(part["cluster"], "accelerator", "n_gpus")
        cluster = Cluster(**part["cluster"])
    with _at("layout."):
        layout = full_layout(part["layout"], shape, n_tokens, cluster.n_gpus)
    with _at("recipe."):
        schedule = full_schedule(part["recipe"], shape, n_tokens, layout)
    with _at("framework."):
        used = _framework(part["framework"])
    made = {"shape": shape, "cluster": cluster, "layout": layout, "profile": used, "schedule": schedule}
    return RunDescription(n_tokens=n_tokens, **made, **_named(_numbers(given), _TOP), **_named(part["speed"], SPEED))


def _named(table, names):
    """Fields of a run from those of the file, whose words are a little shorter."""
    return {names[name]: value for name, value in table.items() if name in names and name != "tokens"}


def _tokens(given):
    _refuse_missing(given, "tokens")
    n_tokens = _number("tokens", given["tokens"])
    check.scalar(tokens=n_tokens)
    check.positive(tokens=n_tokens)
    return float(n_tokens)


def _refuse_missing(table, *names):
    for name in names:
        if name not in table:
            raise ValueError(f"{name}: missing, and nothing follows without it")


def _section(given, name):
    table = given.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} = {check.short(table)}: a section, [{name}]")
    _known(f"{name}.", table, SECTIONS[name])
    return table


def _known(place, table, allowed):
    for field, value in table.items():
        if field not in allowed:
            raise ValueError(f"{place}{field} = {check.short(value)}: no field{check.did_you_mean(field, allowed)}")


def _numbers(table):
    """The table with numbers for texts such as "2T", where a number is meant."""
    return {name: _number(name, value) for name, value in table.items()}


def _number(name, value):
    if name not in _UNITS or not isinstance(value, str):
        return value
    try:
        number = parse_number(value, _UNITS[name])
    except ValueError as error:
        raise ValueError(f"{name} = {error}") from None
    return int(number) if name in _WHOLE and number == number // 1 else number


def _shape(table, folder):
    """A released model, a configuration beside the file, or sizes; sizes beside either change what it has."""
    sizes = {name: _part(name, value) for name, value in table.items() if name not in ("name", "config", "source")}
    if "config" in table:
        check.text(config=table["config"])
        return replace(huggingface.read_config(os.path.join(folder, table["config"])).shape, **sizes)
    if all(name in table for name in _NEEDED):
        return Transformer(name=table.get("name", ""), source=table.get("source", ""), **sizes)
    if "name" not in table:
        raise ValueError(f"name: missing; a released model, or config, or all of {', '.join(_NEEDED)}")
    return replace(model(table["name"]), **sizes)


def _part(name, value):
    if name == "windows" and isinstance(value, list):
        return tuple(window or None for window in value)  # TOML has no None: 0 looks at everything
    if name not in _PARTS:
        return value
    check.instance(dict, **{name: value})
    with _at(f"{name}."):
        _known("", value, _names(_PARTS[name]))
        lists = {key: tuple(inside) if isinstance(inside, list) else inside for key, inside in value.items()}
        for field in fields(_PARTS[name]):
            if field.default is MISSING and field.name not in value:
                raise ValueError(f"{field.name}: missing")
        return _PARTS[name](**lists)


def _framework(table):
    known = profile(table.get("name", "megatron"))
    changed = {name: value for name, value in table.items() if name not in ("name", "source")}
    return replace(known, **changed) if changed else known


@contextmanager
def _at(place):
    """Put a place before the refusals of what is inside; whatever a file says wrongly is a ValueError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}{error}") from None


def write(path, run, replace=False):
    """Write a run's file, whole or not at all.

    Args:
        path: where to.
        run: a `RunDescription`.
        replace: True to take the place of a file that is there.

    Raises:
        TypeError: for something else.
        FileExistsError: if there is a file and `replace` is False.
        OSError: if it cannot be written.

    Source: as `read`.
    """
    check.instance(RunDescription, run=run)
    whole_files.write_text(path, to_toml(run), replace=replace)

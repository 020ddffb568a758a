"""The file of a review: TOML with a section for each item, and an empty one to fill in."""

import hashlib
import os
import tomllib
from dataclasses import fields

from lib import check, whole_files
from lib.description.run import RunDescription
from lib.readiness.items import ITEMS
from lib.readiness.review import Statement

_HEAD = """# Readiness review of a training run. Fill in every field that stands in a section. An artefact is a file
# beside this one, its sha256 is what `sha256sum` prints. A date is written 2026-11-29, without quotes.
"""
_NUMBERS = ("approved_gpu_hours",)
_FIELDS = tuple(field.name for field in fields(Statement) if field.name != "found_sha256")


def read(path):
    """The run's file that a review names, and what it states of each item.

    Args:
        path: of a TOML file with `run`, a path beside it, and a section for each item of `ITEMS`.

    Returns:
        (path of the run description, key of an item -> `Statement`). Artefacts are hashed as they are now.

    Raises:
        TypeError: if the path is no text.
        ValueError: if it cannot be read, or for what it says: one sentence with file, field and value.

    Source: `template` writes the form.
    """
    text = whole_files.read_text(path)
    try:
        whole_files.refuse_depth(text)
        return _statements(tomllib.loads(text), os.path.dirname(path))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _statements(given, folder):
    for name, value in given.items():
        if name not in ("run", *ITEMS):
            near = check.did_you_mean(name, ("run", *ITEMS))
            raise ValueError(f"{name} = {check.short(value)}: no item of the review{near}")
    if "run" not in given:
        raise ValueError('run: missing; run = "run.toml", the description that is reviewed')
    check.text(run=given["run"])
    sections = {name: value for name, value in given.items() if name != "run"}
    return os.path.join(folder, given["run"]), {key: _statement(key, value, folder) for key, value in sections.items()}


def _statement(key, section, folder):
    check.instance(dict, **{key: section})
    for name, value in section.items():
        if name not in _FIELDS:
            raise ValueError(f"{key}.{name} = {check.short(value)}: no field{check.did_you_mean(name, _FIELDS)}")
    said = {name: value for name, value in section.items() if value != ""}
    try:
        made = Statement(**said)
        return Statement(**said, found_sha256=_sha256(folder, made.artefact)) if made.artefact.strip() else made
    except (TypeError, ValueError) as error:
        raise ValueError(f"{key}.{error}") from None


def _sha256(folder, artefact):
    """The hash of an ordinary file as it is now; "" where there is none."""
    path = os.path.join(folder, artefact)
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def template(run, path):
    """The text of an empty review of a run.

    Args:
        run: a `RunDescription`.
        path: of its file, as seen from where the review will be.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> [line.split()[0] for line in template(parse(text), "run.toml").splitlines() if line.startswith("[")][:2]
    ['[configs]', '[manifests]']
    """
    check.instance(RunDescription, run=run)
    check.text(path=path)
    lines = [_HEAD, f"run = {_quoted(path)}"]
    for key, item in ITEMS.items():
        lines += ["", f"[{key}]  # {item.label}", *(_line(name, run) for name in item.required)]
        lines += [f"# verified by rung {number}: {name}" for number, name in item.measures]
    return "\n".join([*lines, ""])


def _line(name, run):
    if name == "run_digest":
        return f'run_digest = "{run.digest}"  # of the description that is signed for'
    if name == "date" or name in _NUMBERS:
        return f"# {name} ="
    return f'{name} = ""'


def _quoted(path):
    if "'" in path or not path.isprintable():
        raise ValueError(f"path = {check.short(path)}: a path without quotes and control characters")
    return f"'{path}'"

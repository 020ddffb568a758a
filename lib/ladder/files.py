"""The file of evidence: read with refusals that name the field, written whole or not at all."""

import json
import math
import os
from dataclasses import fields

from lib import check, whole_files
from lib.description.run import RunDescription
from lib.ladder.evidence import FORM, MAPPINGS, Evidence, Piece, flat, seal

_ENDLESS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # JSON has none of them


def read(path):
    """The evidence of a file.

    Args:
        path: of a JSON file as `Evidence.to_json` writes it.

    Raises:
        TypeError: if the path is no text.
        ValueError: if it cannot be read, is of another form or was edited: one sentence with file and field.

    Source: the form stands at the head of `lib.ladder.evidence`.
    """
    return parse(whole_files.read_text(path), path)


def parse(text, file="text"):
    """The evidence of a text; see `read`.

    >>> parse('{"evidence": 2}', "evidence.json")
    Traceback (most recent call last):
    ...
    ValueError: evidence.json: evidence = 2: 1, the form that is read here
    """
    check.text(text=text, file=file)
    try:
        whole_files.refuse_depth(text)
        given = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
        return _evidence(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def _evidence(given):
    check.instance(dict, evidence=given)
    _exactly("", given, ("evidence", "run", "pieces"))
    check.instance(dict, run=given["run"])
    check.instance(list, pieces=given["pieces"])
    return Evidence(
        run=given["run"], pieces=tuple(_piece(f"pieces[{i}]", one) for i, one in enumerate(given["pieces"]))
    )


def _piece(place, given):
    check.instance(dict, **{place: given})
    names = tuple(f.name for f in fields(Piece))
    _exactly(f"{place}.", given, (*names, "seals"))
    for name in (*MAPPINGS, "seals"):
        check.instance(dict, **{f"{place}.{name}": given[name]})
    _refuse_edits(place, {name: given[name] for name in names}, given["seals"])
    measured = {name: _ENDLESS.get(v, v) if isinstance(v, str) else v for name, v in given["measured"].items()}
    try:
        return Piece(**{name: given[name] for name in names} | {"measured": measured})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}.{error}") from None


def _refuse_edits(place, given, seals):
    found = flat(given)
    for path in dict.fromkeys((*found, *seals)):
        if path not in found:
            raise ValueError(f"{place}.{path}: taken out since it was written")
        if seals.get(path) != seal(path, found[path]):
            raise ValueError(f"{place}.{path} = {check.short(found[path])}: edited since it was written")


def _exactly(place, given, names):
    if not place and given.get("evidence", FORM) != FORM:
        raise ValueError(f"evidence = {check.short(given['evidence'])}: {FORM}, the form that is read here")
    for name in names:
        if name not in given:
            raise ValueError(f"{place}{name}: missing")
    for name, value in given.items():
        if name not in names:
            raise ValueError(f"{place}{name} = {check.short(value)}: no field{check.did_you_mean(name, names)}")


def write(path, evidence, replace=False):
    """Write a file of evidence, whole or not at all.

    Args:
        path: where to.
        evidence: an `Evidence`.
        replace: True to take the place of a file that is there.

    Raises:
        TypeError: for something else.
        FileExistsError: if there is a file and `replace` is False.
        OSError: if it cannot be written.

    Source: as `read`.
    """
    check.instance(Evidence, evidence=evidence)
    whole_files.write_text(path, evidence.to_json(), replace=replace)


def add(path, run, *pieces):
    """Put pieces behind those of a file of evidence, whole or not at all; a new file where there is none.

    Args:
        path: of the file.
        run: the `RunDescription` that they were measured for.
        pieces: each a `Piece`.

    Returns:
        The `Evidence` that the file now holds.

    Raises:
        TypeError: for something else.
        ValueError: for a file that is of another run, was edited or cannot be read; it is left as it is.
        OSError: if it cannot be written.

    Source: as `read`.
    """
    check.instance(RunDescription, run=run)
    known = read(path) if os.path.lexists(path) else Evidence(run=run.plain)
    try:
        known.refuse_other(run)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    found = Evidence(run=run.plain, pieces=(*known.pieces, *pieces))
    write(path, found, replace=True)
    return found


def _refuse_constant(word):
    raise ValueError(f"{word}: no JSON; such a number is written as text")


def _once(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)}: given twice")
    return found

"""Evidence of the rungs: what was measured, of which run, by which versions, where and when; as JSON on disk.

    {"evidence": 1,
     "run": {...},                         the description in its plain form, as `RunDescription.plain`
     "pieces": [{"rung": 2, "what": "300 steps on 8 sequences of 64 tokens, seed 0",
                 "measured": {"one_batch_loss": 0.012, "one_batch_steps": 214},
                 "versions": {"jax": "0.4.38"}, "machine": {"accelerator": "cpu", "devices": 1},
                 "run_digest": "1b5c2294d8b421a1", "time": "2026-11-29T22:30:00+00:00",
                 "seals": {"rung": "9f2c11d0", ...}}]}

A seal is a short hash of one field, made when it was written: it shows that a field was edited, and which one. It
guards against slips and against convenient corrections, not against someone who computes the seal as well.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from lib import check
from lib.description.run import RunDescription, differences, digest

FORM = 1  # of the file; a reader refuses another
PLANTED = "planted fault"  # what a piece begins with that was measured while a fault was planted: it is never written
_TEXTS = ("what", "run_digest", "time")
MAPPINGS = ("measured", "versions", "machine")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What one rung, or part of it, was seen to do.

    Args:
        rung: 1 to 7.
        what: what was run, in words: the shape, the seed, the steps.
        measured: quantity -> number; NaN and the infinities are told, and fail. Names are those of `Threshold`.
        versions: package -> version.
        machine: "accelerator" and whatever else describes it; text or numbers.
        run_digest: of the description that it was measured for.
        time: when, in ISO 8601 with its offset from UTC.

    Raises:
        TypeError: for a value of the wrong kind.
        ValueError: for a rung or a time that is none; for a piece that measured nothing.

    >>> Piece(rung=2, what="seed 0", measured={"one_batch_loss": 0.01}, machine={"accelerator": "cpu"},
    ...       run_digest="1b5c2294d8b421a1", time="2026-11-29T22:30:00+00:00").measured["one_batch_loss"]
    0.01
    """

    rung: int
    what: str
    measured: Mapping[str, float] = field(hash=False)
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    machine: Mapping[str, str | float] = field(default_factory=dict, hash=False)
    run_digest: str
    time: str

    def __post_init__(self):
        check.integer(rung=self.rung)
        if self.rung > 7:
            raise ValueError(f"rung = {self.rung}: 1 to 7")
        check.text(**{name: getattr(self, name) for name in _TEXTS})
        check.instance(Mapping, **{name: getattr(self, name) for name in MAPPINGS})
        if not self.measured:
            raise ValueError("measured = {}: at least one quantity")
        for name, value in self.measured.items():
            check.text(measured=name)
            check.scalar(**{f"measured[{name!r}]": value})
        for kind in ("versions", "machine"):
            for name, value in getattr(self, kind).items():
                check.text(**{kind: name})
                if not isinstance(value, str | int | float):
                    check.text(**{f"{kind}[{name!r}]": value})
        _check_time(self.time)

    @property
    def plain(self):
        """The piece as plain data for JSON, with a seal for each of its fields."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain |= {name: dict(getattr(self, name)) for name in ("versions", "machine")}
        plain["measured"] = {name: _finite(value) for name, value in self.measured.items()}
        return plain | {"seals": {path: seal(path, value) for path, value in flat(plain).items()}}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that was measured for one described run.

    Args:
        run: the description in its plain form, as `RunDescription.plain` gives it.
        pieces: a tuple of `Piece`, in any order: of a quantity that was measured twice, the later time counts.

    Raises:
        TypeError: for something else.
        ValueError: for a piece that carries the hash of another description.
    """

    run: Mapping[str, object] = field(hash=False)
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self):
        check.instance(Mapping, run=self.run)
        check.instance(tuple, pieces=self.pieces)
        expected = digest(self.run)
        for place, piece in enumerate(self.pieces):
            check.instance(Piece, pieces=piece)
            if piece.run_digest != expected:
                raise ValueError(
                    f"pieces[{place}].run_digest = {check.short(piece.run_digest)}: {expected!r}, the hash of the run "
                    f"that this evidence is of"
                )

    def refuse_other(self, run):
        """Refuse evidence of another run: the field that differs is named with both values.

        Args:
            run: the `RunDescription` that it should be of.

        Raises:
            TypeError: for something else.
            ValueError: if it is of another one.
        """
        check.instance(RunDescription, run=run)
        other = differences(self.run, run.plain)
        for path, (there, here) in other.items():
            more = f" ({len(other)} fields differ)" if len(other) > 1 else ""
            raise ValueError(
                f"run.{path} = {check.short(there)}: {check.short(here)} in the description; the evidence is of "
                f"another run, or the description was changed since{more}"
            )

    def of_rung(self, number):
        """Pieces of a rung, the latest last.

        Args:
            number: 1 to 7.
        """
        check.integer(number=number)
        found = (piece for piece in self.pieces if piece.rung == number)
        return tuple(sorted(found, key=lambda piece: datetime.fromisoformat(piece.time)))

    def to_json(self):
        """The text of its file.

        Raises:
            ValueError: for a piece that was measured with a planted fault: it is no evidence of the run.

        >>> from lib.ladder.files import parse
        >>> parse(Evidence(run={"tokens": 1e12}).to_json()).run
        {'tokens': 1000000000000.0}
        """
        for place, piece in enumerate(self.pieces):
            if piece.what.startswith(PLANTED):
                raise ValueError(f"pieces[{place}].what = {check.short(piece.what)}: what a sound pilot did")
        plain = {"evidence": FORM, "run": dict(self.run), "pieces": [piece.plain for piece in self.pieces]}
        return json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def flat(plain):
    """The fields of a piece by their path, one level deep.

    Args:
        plain: a mapping, some of whose values may be mappings.

    >>> flat({"rung": 2, "measured": {"one_batch_loss": 0.01}})
    {'rung': 2, 'measured.one_batch_loss': 0.01}
    """
    check.instance(Mapping, plain=plain)
    found = {}
    for name, value in plain.items():
        inside = value if isinstance(value, Mapping) else None
        found |= {name: value} if inside is None else {f"{name}.{key}": one for key, one in inside.items()}
    return found


def seal(path, value):
    """Eight hexadecimal digits of a field and its value.

    Args:
        path: of the field.
        value: text, a number, or what JSON has else.
    """
    check.text(path=path)
    return hashlib.sha256(f"{path}={json.dumps(value, sort_keys=True)}".encode()).hexdigest()[:8]


def _finite(value):
    return float(value) if math.isfinite(value) else str(float(value))


def _check_time(text):
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise ValueError(f"time = {check.short(text)}: a time such as 2026-11-29T22:30:00+00:00, with its offset")

"""Published readings of memory beside the ledger: the same counter on the same rank, nothing fitted to a row."""

import math
import statistics
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

from lib import check, facts
from lib.architecture import LatentAttention, MixtureOfExperts, Transformer, model
from lib.layout import Layout
from lib.memory.entries import COUNTERS, Ledger, ledger
from lib.memory.profiles import Profile, profile

GIB = 2**30
SHOWN_FROM = 0.1  # an error from which its cause is named
_STATES = ("weights", "gradients", "optimizer states")
_FIGURES = {"peak_gib": "GiB", "static_gib": "GiB", "reserved_gib": "GiB", "first_gib": "GiB"}
_WORDS = dict.fromkeys(("shape", "layout", "profile", "changes", "counter", "rank"), str) | dict.fromkeys(
    ("fits", "seen", "last_stage"), bool
)
_LABELS = ("other", "doubt", "cause")
_PARTS = {"moe": MixtureOfExperts, "latent": LatentAttention}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One published reading, and what the ledger says of the same job.

    Args:
        name: what the job is called.
        found: the `Ledger` of its configuration.
        other: the `Ledger` of the other end, where the source leaves something open; None where it does not.
        counter: who counted: "allocated", "reserved" or "driver".
        rank: whose memory was read, in words.
        peak_bytes: the reading; None where only is known whether it fits.
        static_bytes: what stays behind a step, where that was read too.
        reserved_bytes: what the allocator held at most, where that was read beside what it had given out.
        first_bytes: what the ledger said before anyone looked at the reading; None where profiles were written with it.
        fits: False for a job that ran out of memory.
        seen: True where the profiles were written with the reading at hand; False where it came after.
        last_stage: True where the last pipeline stage was read, not the largest of all.
        source: where the reading is published.
        doubt: what the source leaves open, in words.
        cause: of an error above a tenth, in words.
    """

    name: str
    found: Ledger
    other: Ledger | None
    counter: str
    rank: str
    peak_bytes: float | None
    static_bytes: float | None
    reserved_bytes: float | None
    first_bytes: float | None
    fits: bool
    seen: bool
    last_stage: bool
    source: str
    doubt: str
    cause: str

    def __post_init__(self):
        check.instance(Ledger, found=self.found)
        check.choice(COUNTERS, counter=self.counter)
        check.boolean(fits=self.fits, seen=self.seen, last_stage=self.last_stage)
        check.text(name=self.name, rank=self.rank, source=self.source, doubt=self.doubt, cause=self.cause)
        for name in ("peak_bytes", "static_bytes", "reserved_bytes", "first_bytes"):
            if getattr(self, name) is not None:
                check.scalar(**{name: getattr(self, name)})
                check.positive(**{name: getattr(self, name)})
        if self.other is not None:
            check.instance(Ledger, other=self.other)

    @property
    def predicted_bytes(self):
        """The ledger's peak by the same counter."""
        return self._needed(self.found)

    @property
    def range_bytes(self):
        """The lowest and highest prediction; equal where the source leaves nothing open."""
        ends = [self._needed(found) for found in (self.found, self.other) if found]
        return min(ends), max(ends)

    @property
    def range_errors(self):
        """Lowest and highest prediction over the reading, less 1; None without a reading."""
        return tuple(end / self.peak_bytes - 1 for end in self.range_bytes) if self.peak_bytes else None

    @property
    def states_bytes(self):
        """Weights, gradients and optimizer states of the stage that was read: what is arithmetic, not modelling."""
        groups = self._stage.phases[2].by_group
        return math.fsum(groups.get(group, 0.0) for group in _STATES)

    @property
    def error(self):
        """Predicted over measured, less 1; None without a reading."""
        return _of(self.predicted_bytes, self.peak_bytes)

    @property
    def first_error(self):
        """The same for what the ledger said before it was looked at; None where there is no such word."""
        return _of(self.first_bytes, self.peak_bytes) if self.first_bytes else None

    @property
    def error_above_states(self):
        """The same for peak minus states."""
        if not self.peak_bytes:
            return None
        return (self.predicted_bytes - self.peak_bytes) / (self.peak_bytes - self.states_bytes)

    @property
    def static_error(self):
        """Of what stays behind a step, predicted over measured, less 1; None where that was not read."""
        return _of(self._stage.static_bytes, self.static_bytes)

    @property
    def reserved_error(self):
        """Of what the allocator held at most, predicted over measured, less 1; None where that was not read."""
        return _of(self.found.bytes("reserved"), self.reserved_bytes)

    @property
    def _stage(self):
        return self.found.stages[-1] if self.last_stage else self.found.heaviest

    def _needed(self, found):
        return found.stages[-1].bytes(self.counter) if self.last_stage else found.bytes(self.counter)


def _of(predicted, read):
    return predicted / read - 1 if read else None


def median_error(rows, above_states=False, first=False):
    """The median absolute error of readings, as a fraction; rows without a reading are left out.

    Args:
        rows: an iterable of `Measured`.
        above_states: True for the errors of peak minus states.
        first: True for what the ledger said before a reading was looked at, over the rows where that is known.

    >>> asked = [row for row in MEASURED.values() if row.counter != "driver"]
    >>> 0 < median_error(asked) < 0.05, 0 < median_error(asked, first=True) < 0.05
    (True, True)
    """
    check.boolean(above_states=above_states, first=first)
    which = "first_error" if first else "error_above_states" if above_states else "error"
    known = [abs(error) for error in (getattr(row, which) for row in rows) if error is not None]
    if not known:
        raise ValueError("rows (empty): at least one row with a reading")
    return statistics.median(known)


def _read(entry):
    counted = profile(entry["profile"])
    used = replace(counted, **_fields(Profile, entry.get("changes", ""), ";"))
    shape, layout = _shape(entry["shape"]), Layout(**_fields(Layout, entry["layout"]))
    peak, static, reserved, first = (entry.get(f"{name}_gib") for name in ("peak", "static", "reserved", "first"))
    return Measured(
        name=entry.name,
        found=ledger(shape, layout, used),
        other=_other(shape, layout, used, entry.get("other", "")),
        counter=entry["counter"],
        rank=entry["rank"],
        peak_bytes=peak * GIB if peak else None,
        static_bytes=static * GIB if static else None,
        reserved_bytes=reserved * GIB if reserved else None,
        first_bytes=first * GIB if first else None,
        fits=entry.get("fits", True),
        seen=entry.get("seen", True),
        last_stage=entry.get("last_stage", False),
        source=entry.facts["shape"].source,
        doubt=entry.get("doubt", ""),
        cause=entry.get("cause", ""),
    )


def _other(shape, layout, used, changes):
    """The ledger with one field of the layout or of the profile at its other end."""
    if not changes:
        return None
    if changes.partition("=")[0] in {field.name for field in fields(Layout)}:
        return ledger(shape, replace(layout, **_fields(Layout, changes)), used)
    return ledger(shape, layout, replace(used, **_fields(Profile, changes, ";")))


def _shape(text):
    """A known model with changed sizes, or all sizes: "llama-3-70b n_layers=12"."""
    known = [word for word in text.split() if "=" not in word]
    sizes = _values(Transformer, [word for word in text.split() if "=" in word and "." not in word])
    for part, kind in _PARTS.items():
        words = [word.removeprefix(f"{part}.") for word in text.split() if word.startswith(f"{part}.")]
        if words:
            sizes[part] = kind(**_values(kind, words))
    return replace(model(known[0]), **sizes) if known else Transformer(**sizes)


def _fields(kind, text, between=None):
    return _values(kind, [word.strip() for word in text.split(between) if word.strip()])


def _values(kind, words):
    kinds = {field.name: str(field.type) for field in fields(kind)}
    return {name: _value(value, kinds[name]) for name, _, value in (word.partition("=") for word in words)}


def _value(text, kind):
    if "tuple" in kind:
        return tuple(int(number) for number in text.split(","))
    if text in ("yes", "no"):
        return text == "yes"
    if "int" in kind:
        return int(text)
    return float(text) if "float" in kind else text


MEASURED = MappingProxyType(
    {name: _read(entry) for name, entry in facts.load("measured_memory", _FIGURES, _WORDS, _LABELS).items()}
)

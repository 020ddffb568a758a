"""Tables that the memory chapter shows: a ledger line by line, its stages, ZeRO's stages, profiles, readings."""

from lib.memory.entries import ledger
from lib.memory.measured import SHOWN_FROM
from lib.tables import Table
from lib.units import GIB, show

_STATES = ("weights", "gradients", "optimizer states")


def _gib(value):
    return f"{value / GIB:,.2f}"


def terms(phase, caption, least=0.0):
    """The lines of one phase, group by group, with what makes each and what shrinks it.

    Args:
        phase: a `Phase` of a ledger.
        caption: what is seen, in a sentence.
        least: bytes below which lines are added up into one.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> table = terms(ledger(model("gpt2"), Layout()).heaviest.phases[0], "At rest.")
    >>> table.rows[1][:2]
    ('weights', '0.23')
    """
    rows, group, small = [], "", []
    for term in phase.terms:
        if term.bytes < least:
            small.append(term)
            continue
        if term.group != group:
            group = term.group
            rows.append((f"{group}: {_gib(phase.by_group[group])} GiB",))
        rows.append((term.name, _gib(term.bytes), term.formula, term.shrinks_with))
    if small:
        rows.append((f"{len(small)} small ones", _gib(sum(term.bytes for term in small)), "", ""))
    rows.append(("in all", _gib(phase.bytes()), "", ""))
    return Table(head=("line", "GiB", "made of", "shrinks with"), rows=tuple(rows), caption=caption)


def stages(found):
    """What one GPU of each pipeline stage needs, and where it peaks.

    Args:
        found: a `Ledger`.
    """
    rows = []
    for one in found.stages:
        peak = one.peak
        states = sum(peak.by_group.get(group, 0.0) for group in _STATES)
        kept = peak.by_group.get("activations", 0.0)
        rest = peak.bytes() - states - kept
        layers, waits = f"{one.stage.n_layers}", f"{one.stage.waiting:g}"
        rows.append((f"{one.stage.index}", layers, waits, *map(_gib, (states, kept, rest, peak.bytes())), peak.event))
    head = ("stage", "layers", "batches waiting", "states", "activations", "the rest", "needed", "highest at")
    return Table(head=head, rows=tuple(rows), caption=f"{found.layout.text}. GiB a GPU; {found.profile.name}.")


def zero_stages(shape, layouts, profile):
    """The same job under several ZeRO stages: what is kept, and what is put together again for use.

    Args:
        shape: a `Transformer`.
        layouts: `Layout`, one a row, that differ in their ZeRO stage.
        profile: a `Profile`.
    """
    groups = (*_STATES, "gathered weights", "reduction buffers")
    rows = []
    for layout in layouts:
        found = ledger(shape, layout, profile)
        parts = found.heaviest.peak.by_group
        rows.append((f"ZeRO {layout.zero_stage}", *(_gib(parts.get(g, 0.0)) for g in groups), _gib(found.peak_bytes)))
    caption = f"{shape.name} on {layouts[0].n_gpus} GPUs, GiB a GPU at the peak; {profile.name}."
    return Table(head=("stage", *groups, "needed"), rows=tuple(rows), caption=caption)


def profiles(known, fields):
    """What frameworks set, side by side.

    Args:
        known: `Profile` of each.
        fields: names of the fields to show.
    """
    rows = tuple((field.replace("_", " "), *(_said(getattr(one, field)) for one in known)) for field in fields)
    return Table(head=("setting", *(one.name for one in known)), rows=rows)


def _said(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else show(value)


def readings(rows):
    """Published readings beside the ledger.

    Args:
        rows: an iterable of `lib.memory.measured.Measured`.
    """
    return Table(
        head=("job", "counter", "read", "predicted", "error", "above the states"),
        rows=tuple((r.name, r.counter, *_read(r)) for r in rows),
        caption="GiB a GPU. Above the states: the error as a part of what is not weights, gradients and optimizer.",
    )


def _read(row):
    low, high = (_gib(end) for end in row.range_bytes)
    predicted = low if low == high else f"{low} to {high}"
    if row.error is None:
        return ("fits" if row.fits else "ran out", predicted, "", "")
    return _gib(row.peak_bytes), predicted, f"{row.error:+.1%}", f"{row.error_above_states:+.1%}"


def causes(rows):
    """Why readings lie far from the ledger, for those beyond a tenth.

    Args:
        rows: an iterable of `lib.memory.measured.Measured`.
    """
    far = [row for row in rows if row.error is not None and abs(row.error) > SHOWN_FROM]
    return Table(head=("job", "error", "cause"), rows=tuple((r.name, f"{r.error:+.1%}", r.cause) for r in far))

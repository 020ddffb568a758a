"""Tables that the memory chapter shows: a ledger line by line, its stages, ZeRO's stages, profiles, readings."""

from dataclasses import replace

from lib import check
from lib.layout import Layout
from lib.memory.entries import Ledger, ledger
from lib.memory.measured import SHOWN_FROM
from lib.tables import Table
from lib.units import GIB, show

_STATES = ("weights", "gradients", "optimizer states")


def _gib(value):
    return f"{value / GIB:,.2f}"


def setting(found):
    """What a ledger was asked: model, layout and the framework's profile, in a few sentences that stand above it.

    Args:
        found: a `Ledger`.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> setting(ledger(model("llama-3-8b"), Layout(tensor=2)))[:42]
    'Llama 3 8B: DP 1, TP 2 + SP, PP 1, CP 1, Z'
    """
    check.instance(Ledger, found=found)
    layout, used = found.layout, found.profile
    by_rows = used.sequence_parallel if layout.sequence_parallel is None else layout.sequence_parallel
    words = replace(layout, sequence_parallel=by_rows).text
    return f"{found.shape.name or 'Model'}: {words}. {used.text}{_ahead(found)}"


def _ahead(found):
    """What ZeRO 3 gathers at once, where there is something to gather."""
    most = found.profile.most_gathered_params
    if found.layout.zero_stage < 3 or found.profile.simple:
        return ""
    what = f"up to {most / 1e9:g}B parameters" if most else f"{found.profile.gathered_layers} layers"
    return f" Gathered at once: {what}."


def terms(found, least=0.0):
    """The heaviest GPU's lines at its peak, group by group, with what each is made of.

    Args:
        found: a `Ledger`.
        least: bytes below which lines are added up into one.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> terms(ledger(model("gpt2"), Layout())).rows[1][:2]
    ('weights', '0.23')
    """
    check.instance(Ledger, found=found)
    check.non_negative(least=least)
    peak = found.heaviest.peak
    rows, small = [], [term for term in peak.terms if term.bytes < least]
    for group, total in peak.by_group.items():
        lines = [term for term in peak.terms if term.group == group and term.bytes >= least]
        if lines:
            rows.append((f"{group}: {_gib(total)} GiB",))
            rows.extend((term.name, _gib(term.bytes), term.formula) for term in lines)
    if small:
        rows.append((f"{len(small)} lines below {_gib(least)}", _gib(sum(term.bytes for term in small)), ""))
    rows.append(("in all", _gib(peak.bytes()), f"at its highest: {peak.event}"))
    return Table(head=("line", "GiB", "made of"), rows=tuple(rows), caption=setting(found))


def about(found, least=0.0):
    """What the same lines grow and shrink with, and where their form is written; alike ones in one row.

    Args:
        found: a `Ledger`.
        least: bytes below which lines are left out.
    """
    check.instance(Ledger, found=found)
    check.non_negative(least=least)
    alike = {}
    for term in found.heaviest.peak.terms:
        if term.bytes >= least:
            alike.setdefault((term.grows_with, term.shrinks_with, term.source), []).append(term.name)
    rows = tuple(("; ".join(names), *known) for known, names in alike.items())
    return Table(head=("lines", "grow with", "shrink with", "source"), rows=rows)


def side_by_side(cases):
    """Several ledgers in one table: states, activations and the rest of the heaviest GPU at its peak.

    Args:
        cases: (words, `Ledger`) of each; the first is the one that the caption names.

    Raises:
        ValueError: if there is none.
    """
    cases = tuple(cases)
    check.integer(cases=len(cases))
    rows = tuple((words, *map(_gib, _parts(found.heaviest.peak))) for words, found in cases)
    head = ("", "states", "activations", "the rest", "needed")
    return Table(head=head, rows=rows, caption=f"GiB on the heaviest GPU. First row: {setting(cases[0][1])}")


def _parts(peak):
    states = sum(peak.by_group.get(group, 0.0) for group in _STATES)
    kept = peak.by_group.get("activations", 0.0)
    return states, kept, peak.bytes() - states - kept, peak.bytes()


def optimizers(shape, profile, pairs):
    """Bytes a parameter of several precisions and optimizers, where one GPU holds all.

    Args:
        shape: a `Transformer`.
        profile: a `Profile`, whose other fields are kept.
        pairs: (precision, optimizer) of each row, names of `states.PRECISIONS` and `states.OPTIMIZERS`.
    """
    rows = []
    for precision, optimizer in pairs:
        used = replace(profile, precision=precision, optimizer=optimizer)
        step = ledger(shape, Layout(), used).heaviest.phases[2].by_group
        states = sum(step.get(group, 0.0) for group in _STATES)
        rows.append((precision, optimizer, f"{states / shape.n_params:.2f}", _gib(states)))
    caption = f"{shape.name} on one GPU, nothing shared: weights, gradients and optimizer states."
    return Table(head=("precision", "optimizer", "bytes a parameter", "GiB"), rows=tuple(rows), caption=caption)


def stages(found):
    """What one GPU of each pipeline stage needs, and where it peaks.

    Args:
        found: a `Ledger`.
    """
    rows = []
    for one in found.stages:
        parts = map(_gib, _parts(one.peak))
        rows.append((f"{one.stage.index}", f"{one.stage.n_layers}", f"{one.stage.waiting:g}", *parts, one.peak.event))
    head = ("stage", "layers", "waiting", "states", "activations", "the rest", "needed", "highest at")
    return Table(head=head, rows=tuple(rows), caption=f"GiB on one GPU of each stage. {setting(found)}")


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
        rows.append((f"{layout.zero_stage}", *(_gib(parts.get(g, 0.0)) for g in groups), _gib(found.peak_bytes)))
    caption = (
        f"GiB on each of {layouts[0].n_gpus} GPUs at its peak. First row: {setting(ledger(shape, layouts[0], profile))}"
    )
    return Table(head=("ZeRO", *groups, "needed"), rows=tuple(rows), caption=caption)


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
        head=("job", "counter", "read", "said first", "predicted", "error", "above the states"),
        rows=tuple((r.name, r.counter, *_read(r)) for r in rows),
        caption="GiB a GPU. Said first: what the ledger said before anyone looked at a reading that came after the "
        "profiles. Above the states: the error as a part of what is not weights, gradients and optimizer.",
    )


def _read(row):
    low, high = (_gib(end) for end in row.range_bytes)
    predicted = low if low == high else f"{low} to {high}"
    if row.error is None:
        return ("fits" if row.fits else "ran out", "", predicted, "", "")
    first = _gib(row.first_bytes) if row.first_bytes else ""
    return _gib(row.peak_bytes), first, predicted, f"{row.error:+.1%}", f"{row.error_above_states:+.1%}"


def causes(rows):
    """Why readings lie far from the ledger, for those beyond a tenth; one row for each cause.

    Args:
        rows: an iterable of `lib.memory.measured.Measured`.
    """
    alike = {}
    for row in rows:
        if row.error is not None and abs(row.error) > SHOWN_FROM:
            alike.setdefault(row.cause, []).append(row)
    shown = (("; ".join(row.name for row in far), _span(far), cause) for cause, far in alike.items())
    return Table(head=("jobs", "error", "cause"), rows=tuple(shown))


def _span(rows):
    low, high = min(row.error for row in rows), max(row.error for row in rows)
    return f"{low:+.1%}" if low == high else f"{low:+.1%} to {high:+.1%}"

"""The what-ifs on memory: the ledger by stage, what would make it fit, and memory over one step."""

from dataclasses import dataclass, replace
from functools import cached_property

from lib import check
from lib.architecture import model as find_model
from lib.hardware import accelerator as find_accelerator
from lib.layout import Layout
from lib.memory import changes, fit, ledger, profile
from lib.memory.timeline import timeline
from lib.units import GIB, show
from lib.whatif.memory_controls import AS_PROFILE, memory_controls
from lib.whatif.model import Axis, Chart, Check, Reference, Row, Series, View, WhatIf

# What a chart can tell apart; the rest of the groups is its last band.
_BANDS = ("weights", "gradients", "optimizer states", "activations", "logits and loss")
_REST = "everything else"
_SMALL = 0.002  # of the total: lines below it are added up
_LEVERS = ("recomputation", "ZeRO", "tensor", "pipeline", "context", "micro-batch", "sequence parallelism")
_FRAMEWORK = "a setting of the framework"  # whatever else a change may name: states, loss, kernels
_DRIVER = "the driver's counter, as nvidia-smi shows it"


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A model, a layout, a framework and a device, from the controls of the three what-ifs."""

    model: str
    data: int
    tensor: int
    pipeline: int
    zero_stage: int
    recompute: str
    micro_batch: int
    micro_batches: int
    seq_len: int
    context: int
    expert: int
    framework: str
    precision: str
    optimizer: str
    accelerator: str
    headroom: float

    @cached_property
    def ledger(self):
        names = ("data", "tensor", "pipeline", "zero_stage", "micro_batch", "micro_batches", "seq_len", "context")
        layout = Layout(**{n: getattr(self, n) for n in (*names, "expert")}, recompute=self.recompute)
        return ledger(find_model(self.model), layout, self.profile)

    @cached_property
    def profile(self):
        chosen = {"precision": self.precision, "optimizer": self.optimizer}
        return replace(profile(self.framework), **{k: v for k, v in chosen.items() if v != AS_PROFILE})

    @cached_property
    def device(self):
        """The device, with the number on its sheet read as GB where nobody was seen to read the driver's."""
        chip = find_accelerator(self.accelerator)
        return replace(chip, memory_bytes=chip.memory_bytes or chip.memory_gb * 1e9)

    @cached_property
    def fit(self):
        return fit(self.ledger, self.device, self.headroom)

    @property
    def spare(self):
        """GiB left under the headroom; below 0 where it does not fit."""
        return self.fit.margin_bytes / GIB

    @property
    def verdict(self):
        return "fits" if self.fit.fits else "does not fit"

    @property
    def check(self):
        words = f"{show(abs(self.spare), 'GiB')} {'to spare' if self.fit.fits else 'too much'}"
        label = f"fits {self.device.name} with {self.headroom:.0%} kept free"
        return Check(label=label, passed=self.fit.fits, margin=words)

    @property
    def notes(self):
        used = self.profile
        half = f"{self.device.name} has no bf16: fp16 takes as many bytes."
        return (
            *((half,) if "bf16" in used.precision and "bf16" not in self.device.peaks else ()),
            f"{used.text} Sequence parallelism {'on' if used.sequence_parallel else 'off'}. {self.ledger.layout.text}.",
        )


def _job(**given):
    check.share(headroom=given["headroom"])
    return _Job(**given | {name: int(given[name]) for name in ("tensor", "zero_stage")})


def ledger_view(**given):
    """What does every GPU hold, by pipeline stage, and does the heaviest fit?"""
    job = _job(**given)
    found, heaviest = job.ledger, job.ledger.heaviest
    where = f"stage {heaviest.stage.index}, " if len(found.stages) > 1 else ""
    return View(
        title=f"The heaviest GPU needs {_gib(found.peak_bytes)} ({where}{heaviest.peak.event}): it {job.verdict}.",
        rows=(*_asked(job), *_terms(heaviest.peak), *_totals(job)),
        chart=_stages(job),
        checks=(job.check,),
        notes=job.notes,
    )


def _gib(value):
    return show(value / GIB, "GiB")


def _asked(job):
    """The setting above the lines: how the job is cut, and what the framework fixes."""
    used = job.profile
    layout = replace(job.ledger.layout, sequence_parallel=used.sequence_parallel)
    cut = f"DP {layout.data}, TP {layout.tensor}, PP {layout.pipeline}"
    yield Row(label="layout", value=cut, group="setting", formula=layout.text)
    yield Row(label="framework", value=used.name, group="setting", formula=used.text, sources=(used.source,))


def _terms(peak):
    """A row for each term of the peak, group by group; those too small to matter are added up."""
    total, small, groups = peak.bytes(), [], tuple(peak.by_group)
    for term in sorted(peak.terms, key=lambda term: groups.index(term.group)):
        if term.bytes < _SMALL * total:
            small.append(term)
            continue
        yield Row(
            label=term.name,
            value=term.bytes / GIB,
            unit="GiB",
            group=term.group,
            formula=term.formula,
            sources=(term.source,),
            convention=f"one GPU; grows with {term.grows_with}; shrinks with {term.shrinks_with}",
        )
    if small:
        names = ", ".join(term.name for term in small)
        value = sum(term.bytes for term in small) / GIB
        yield Row(label=f"{len(small)} small ones", value=value, unit="GiB", group="the rest", formula=names)


def _totals(job):
    found, layout = job.ledger, job.ledger.layout
    row = {"unit": "GiB", "group": "in all"}
    yield Row(label="needed", value=found.peak_bytes / GIB, convention=_DRIVER, formula="sum of the above", **row)
    for counter, words in (("reserved", "held by the allocator"), ("allocated", "given out by the allocator")):
        counts = f"PyTorch's counter: {counter}"
        yield Row(
            label=words, value=found.bytes(counter) / GIB, convention=counts, formula=_most(found, counter), **row
        )
    known = find_accelerator(job.accelerator).memory_bytes
    sheet = "reported by the driver" if known else "from the sheet, read as GB: nobody was seen to read the driver"
    sources = tuple(
        dict.fromkeys(fact.source for name, fact in job.device.facts.items() if name.startswith("memory_m"))
    )
    yield Row(label=job.device.name, value=job.device.memory_bytes / GIB, convention=sheet, sources=sources[:1], **row)
    free = job.device.memory_bytes * job.headroom / GIB
    yield Row(label="kept free", value=free, formula=f"{_gib(job.device.memory_bytes)} x {show(job.headroom)}", **row)
    degrees = f"{layout.data} data x {layout.tensor} tensor x {layout.pipeline} pipeline x {layout.context} context"
    yield Row(label="GPUs", value=float(layout.n_gpus), formula=degrees, group="in all")
    tokens = f"{layout.global_batch} sequences x {layout.seq_len:,}"
    yield Row(label="tokens a step", value=float(layout.global_batch_tokens), formula=tokens, group="in all")


def _most(found, counter):
    """The moments of which a counter shows the highest."""
    held = 0 if counter == "allocated" else 1
    events = ", ".join(f"{show(both[held] / GIB)} at {event}" for event, both in found.heaviest.event_bytes.items())
    return f"the most of {events}"


def _banded(by_group):
    """GiB of each band: the groups that have one, and the rest."""
    found = {band: by_group.get(band, 0.0) / GIB for band in _BANDS}
    found["activations"] += by_group.get("recomputation", 0.0) / GIB
    return found | {_REST: sum(by_group.values()) / GIB - sum(found.values())}


def _series(bands, kind):
    x = tuple(float(place) for place in range(len(bands)))
    names = [name for name in (*_BANDS, _REST) if any(band[name] > 0 for band in bands)]
    return tuple(Series(label=n, x=x, y=tuple(max(0.0, band[n]) for band in bands), kind=kind) for n in names)


def _lines(job):
    return (Reference(label=f"{job.device.name} less {job.headroom:.0%}", value=job.fit.usable_bytes / GIB, axis="y"),)


def _stages(job):
    found = job.ledger
    bands = [_banded(one.peak.by_group) for one in found.stages]
    heaviest = found.heaviest.stage.index
    return Chart(
        title=f"Stage {heaviest} is the heaviest and {job.verdict}.",
        alt=f"Stacked bars of memory, one for each of {len(bands)} pipeline stages; the highest is stage {heaviest}.",
        x=Axis(label="pipeline stage (from 0)"),
        y=Axis(label="memory of one GPU at its peak (GiB)"),
        series=_series(bands, "bars"),
        references=_lines(job),
        stacked=True,
    )


def fit_view(**given):
    """Which single change would make it fit?"""
    job = _job(**given)
    ways = () if job.fit.fits else changes(job.ledger, job.device, job.headroom)
    return View(
        title=_fit_title(job, _first(ways)),
        rows=(*_ways(job, _first(ways)), *_totals(job)),
        checks=(job.check,),
        notes=(*job.notes, "Each line changes one thing. The GPUs and the batch stay as they are."),
    )


def _fit_title(job, ways):
    needs = f"The heaviest GPU needs {_gib(job.ledger.peak_bytes)}"
    if job.fit.fits:
        return f"{needs}: it fits as it is, with {show(job.spare, 'GiB')} to spare."
    if not ways:
        return f"{needs}, {show(-job.spare, 'GiB')} too much, and no single change makes it fit: change two."
    return f"{needs}, {show(-job.spare, 'GiB')} too much; {_counted(ways)} would make it fit."


def _counted(ways):
    return "one single change" if len(ways) == 1 else f"{len(ways)} single changes"


def _first(ways):
    """Lever -> its smallest change that is enough; the changes come with the smallest first."""
    found = {}
    for way in ways:
        lever = next((lever for lever in _LEVERS if way.label.startswith(lever)), _FRAMEWORK)
        found.setdefault(lever, way)
    return found


def _ways(job, first):
    """A row for each lever, whether it is enough alone or not: rows must not jump about while a control is moved."""
    row = {"group": "single changes", "convention": _DRIVER}
    for lever in (*_LEVERS, _FRAMEWORK):
        way = first.get(lever)
        if way:
            after = way.fit.found
            yield Row(label=lever, value=f"{way.label}: {_gib(after.peak_bytes)}", formula=after.layout.text, **row)
        else:
            yield Row(label=lever, value="fits already" if job.fit.fits else "not enough alone", **row)


def timeline_view(**given):
    """When in a step is memory highest?"""
    job = _job(**given)
    if job.profile.simple:
        raise ValueError(
            f"framework = {job.profile.name}: one that knows the moments of a step; the seed's model has none"
        )
    found = job.ledger.heaviest
    moments = timeline(found)
    highest = max(moments, key=lambda moment: moment.bytes)
    has = f"{job.device.name} has {_gib(job.device.memory_bytes)}"
    return View(
        title=f"Memory is highest at {highest.name}: {_gib(highest.bytes)} given out, and {has}.",
        rows=tuple(_moment_rows(moments, highest)),
        chart=Chart(
            title=f"Highest at {highest.name}.",
            alt="Bands of memory over the moments of one step: they rise layer by layer, peak, and fall again.",
            x=Axis(label="moments of one step (in order)"),
            y=Axis(label="memory given out on the heaviest GPU (GiB)"),
            series=_series([_banded(moment.by_group) for moment in moments], "line"),
            references=_lines(job),
            stacked=True,
        ),
        checks=(job.check,),
        notes=job.notes,
    )


def _moment_rows(moments, highest):
    shown = (moments[0], *(m for m in moments if m.name.endswith("layer 1")), *moments[-2:])
    named = {m.name: m for m in (*shown, *(m for m in moments if "loss" in m.name or "head" in m.name), highest)}
    for moment in moments:
        if moment.name in named:
            formula = " + ".join(f"{show(size / GIB)} {group}" for group, size in moment.by_group.items())
            yield Row(
                label=moment.name,
                value=moment.bytes / GIB,
                unit="GiB",
                formula=formula,
                sources=("the terms of the ledger, each of which names its own",),
                convention="PyTorch's counter: allocated",
            )


WHAT_IFS = (
    WhatIf(
        name="memory-ledger",
        title="The memory of every GPU",
        question="Three of four stages have room: what fills the first, and which micro-batch fits?",
        view=ledger_view,
        controls=memory_controls(recompute="none", micro_batch=3),
    ),
    WhatIf(
        name="memory-fit",
        title="What would make it fit",
        question="Which single change makes it fit, and which of them costs no speed?",
        view=fit_view,
        controls=memory_controls(data=256, pipeline=1, recompute="none", micro_batch=2, micro_batches=1),
    ),
    WhatIf(
        name="memory-timeline",
        title="Memory over one step",
        question="Recompute everything: how much of the peak goes away, and what is the rest of it?",
        view=timeline_view,
        controls=memory_controls(
            model="GPT-2",
            data=1,
            tensor=1,
            pipeline=1,
            zero_stage=0,
            recompute="none",
            micro_batch=8,
            micro_batches=1,
            seq_len=1024,
            framework="torchtitan 2024-12, compiled",
            accelerator="T4",
        ),
    ),
)

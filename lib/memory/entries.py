"""The memory ledger: every byte on every GPU, named, for each pipeline stage and phase.

`ledger(shape, layout, profile)` places the model and adds up. A fit is judged by the heaviest stage at its peak.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check, units
from lib.architecture import Transformer
from lib.layout import Layout, Stage, place
from lib.memory import events, pools, rank, resident, simple
from lib.memory.about import about
from lib.memory.profiles import MEGATRON, Profile
from lib.memory.terms import Product, Term

PHASES = ("after initialisation", "forward and backward", "optimizer step")
COUNTERS = ("allocated", "reserved", "driver")
_ABOVE = {"allocated": ("allocator", "driver"), "reserved": ("driver",), "driver": ()}


@dataclass(frozen=True, kw_only=True)
class Phase:
    """What one GPU holds at the worst moment of a phase.

    Args:
        name: one of `PHASES`.
        event: the moment, such as "head, backward".
        products: the terms before they are shown, each a `terms.Product`.
    """

    name: str
    event: str
    products: tuple

    def __post_init__(self):
        check.choice(PHASES, name=self.name)
        check.text(event=self.event)

    def bytes(self, counter="driver"):
        """Bytes by a counter: "allocated" and "reserved" by PyTorch's allocator, "driver" as nvidia-smi shows them."""
        check.choice(COUNTERS, counter=counter)
        above = _ABOVE[counter]
        return math.fsum(p.value for p in self.products if about(p.name).group not in above)

    @property
    def terms(self):
        """The ledger's lines, one `Term` each, in order; what is 0 is left out."""
        found = ((product, product.value) for product in self.products)
        return tuple(Term(name=p.name, bytes=n, times=p.times, over=p.over) for p, n in found if n)

    @property
    def by_group(self):
        """Group -> bytes, for stacked bars; the values sum to `bytes()`."""
        found = {}
        for product in self.products:
            group = about(product.name).group
            found[group] = found.get(group, 0.0) + product.value
        return {group: total for group, total in found.items() if total}


@dataclass(frozen=True, kw_only=True)
class StageLedger:
    """One GPU of one pipeline stage: its phases, and its memory at each event of forward and backward."""

    shape: Transformer
    layout: Layout
    profile: Profile
    stage: Stage

    def __post_init__(self):
        check.instance(Transformer, shape=self.shape)
        check.instance(Layout, layout=self.layout)
        check.instance(Profile, profile=self.profile)
        check.instance(Stage, stage=self.stage)

    @cached_property
    def event_bytes(self):
        """Event of forward and backward -> (bytes allocated, bytes that the allocator holds)."""
        if self.profile.simple:
            needed = rank.total(simple.products(self.shape, self.layout))
            return {PHASES[1]: (needed, needed)}
        return {event: (allocated, reserved) for event, allocated, reserved in events.totals(self.rank)}

    @cached_property
    def phases(self):
        """After initialisation, the worst event of forward and backward, the optimizer step."""
        return self._initialised(), self.at(self._worst), self._stepped()

    @property
    def peak(self):
        """The phase that needs most."""
        if self.profile.simple:
            return self.at(self._worst)
        step = self._step_bytes * (1 + self.profile.fragmentation)
        return self._stepped() if step > self.event_bytes[self._worst][1] else self.at(self._worst)

    @property
    def static_bytes(self):
        """Bytes allocated when a step is over: states and constant buffers."""
        r = self.rank
        return rank.total(resident.states(r, gradients=self.profile.gradients_stay * 1)) + rank.total(
            resident.constant(r)
        )

    def at(self, event):
        """The ledger at one event of forward and backward, one of `event_bytes`."""
        check.choice(tuple(self.event_bytes), event=event)
        if self.profile.simple:
            return self._simple(PHASES[1])
        r = self.rank
        products = (*events.event_terms(r, event), *pools.cached(r, event))
        return _phase(PHASES[1], event, products, r, self.event_bytes[event][0])

    def bytes(self, counter="driver"):
        """The most that the stage needs by a counter: over all events of forward and backward, and the step."""
        check.choice(COUNTERS, counter=counter)
        held = 0 if counter == "allocated" else 1
        most = max(found[held] for found in self.event_bytes.values())
        if self.profile.simple:
            return most
        step = self._step_bytes * (1 + self.profile.fragmentation * held)
        return max(most, step) + (rank.total(resident.driver(self.rank)) if counter == "driver" else 0.0)

    @cached_property
    def rank(self):
        """Model, degrees and parameters on this GPU, as the terms are made of them."""
        return rank.rank(self.shape, self.layout, self.profile, _part(self.shape, self.stage))

    @property
    def _worst(self):
        return max(self.event_bytes, key=lambda event: self.event_bytes[event][1])

    @cached_property
    def _step_bytes(self):
        return rank.total((*resident.states(self.rank), *resident.constant(self.rank), *resident.step_extra(self.rank)))

    def _initialised(self):
        if self.profile.simple:
            return self._simple(PHASES[0])
        products = tuple(resident.states(self.rank, gradients=self.profile.gradients_stay * 1, moments=False))
        return _phase(PHASES[0], PHASES[0], products, self.rank, rank.total(products))

    def _stepped(self):
        if self.profile.simple:
            return self._simple(PHASES[2])
        r = self.rank
        products = (*resident.states(r), *resident.constant(r), *resident.step_extra(r))
        return _phase(PHASES[2], PHASES[2], products, r, self._step_bytes)

    def _simple(self, name):
        return Phase(name=name, event=name, products=tuple(simple.products(self.shape, self.layout)))


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Memory of a model under a layout and a profile, one entry for each pipeline stage.

    >>> from lib.architecture import model
    >>> found = ledger(model("llama-3-8b"), Layout(data=8, zero_stage=1))
    >>> found.heaviest.stage.index, found.heaviest.peak.name
    (0, 'forward and backward')
    """

    shape: Transformer
    layout: Layout
    profile: Profile
    stages: tuple[StageLedger, ...]

    def __post_init__(self):
        check.instance(Transformer, shape=self.shape)
        check.instance(Layout, layout=self.layout)
        check.instance(Profile, profile=self.profile)
        check.several(stages=self.stages)

    @cached_property
    def heaviest(self):
        """The stage that needs most: by it a fit is judged."""
        first, *others = self._candidates
        return max((first, *others), key=lambda found: found.bytes()) if others else first

    @cached_property
    def peak_bytes(self):
        """Bytes of the heaviest stage at its peak, as the driver counts."""
        return self.heaviest.bytes()

    def bytes(self, counter="driver"):
        """The most that any stage needs by a counter."""
        check.choice(COUNTERS, counter=counter)
        return max(found.bytes(counter) for found in self._candidates)

    @property
    def text(self):
        """Model, layout, profile and peak in three lines."""
        peak, index = self.heaviest.peak, self.heaviest.stage.index
        return "\n".join(
            (
                f"{self.shape.name or 'model'}: {self.shape.text}",
                f"{self.layout.text}; {self.profile.name}",
                f"stage {index}, {peak.event}: {units.show_bytes(self.peak_bytes, binary=True)}",
            )
        )

    @property
    def _candidates(self):
        """Stages that can be the heaviest: the ends, and of equal ones between the first, where most passes wait."""
        between = {}
        for found in self.stages[1:-1]:
            between.setdefault((found.stage.pieces, _n_expert_layers(self.shape, found.stage)), found)
        return {id(found): found for found in (self.stages[0], *between.values(), self.stages[-1])}.values()


def ledger(shape, layout, profile=MEGATRON):
    """Every byte on every GPU of a model under a layout, by stage and phase.

    Args:
        shape: a `Transformer`.
        layout: a `Layout`.
        profile: a `Profile`; Megatron core unless given.

    Returns:
        A `Ledger`.

    Raises:
        TypeError: for what is none of these.
        ValueError: for a layout that the model or the framework cannot have.

    Source: each term names its own.

    >>> from lib.architecture import model
    >>> found = ledger(model("llama-3-70b"), Layout(data=64, tensor=8, zero_stage=1, seq_len=8192, recompute="full"))
    >>> {term.name: round(term.bytes / 2**30, 2) for term in found.heaviest.phases[1].terms}["layer input"]
    1.25
    """
    check.instance(Transformer, shape=shape)
    check.instance(Layout, layout=layout)
    check.instance(Profile, profile=profile)
    _refuse_zero(layout, profile)
    stages = place(shape, layout)[: 1 if profile.simple else None]
    found = tuple(StageLedger(shape=shape, layout=layout, profile=profile, stage=one) for one in stages)
    return Ledger(shape=shape, layout=layout, profile=profile, stages=found)


def _refuse_zero(layout, profile):
    most = profile.most_zero_with_pipeline
    if layout.pipeline > 1 and layout.zero_stage > most:
        raise ValueError(
            f"zero_stage = {layout.zero_stage}: at most {most} with pipeline = {layout.pipeline} under {profile.name}; "
            f"or a pipeline of 1"
        )


def _part(shape, one):
    experts = _n_expert_layers(shape, one)
    return rank.Part(one.n_layers - experts, experts, one.waiting, len(one.pieces), one.first * 1, one.last * 1)


def _n_expert_layers(shape, one):
    if not shape.moe:
        return 0
    before = shape.moe.n_layers_of(one.first_layer) if one.first_layer else 0
    return shape.moe.n_layers_of(one.first_layer + one.n_layers) - before


def _phase(name, event, products, r, allocated):
    lost = r.profile.fragmentation
    if lost:
        products = (*products, Product("fragmentation", (("bytes allocated", allocated), ("lost", lost))))
    return Phase(name=name, event=event, products=(*products, *resident.driver(r)))

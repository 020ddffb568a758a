"""Does it fit, by how much, and what is the smallest single change that would make it fit."""

from dataclasses import dataclass, replace

from lib import check, hardware, units
from lib.memory.entries import Ledger, ledger
from lib.memory.profiles import Profile

HEADROOM = 0.1  # share of a device that a plan leaves free: for evaluation, checkpoints, a longer batch, a new driver


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A ledger beside a device: the heaviest stage at its peak against what the driver reports, less the headroom.

    Args:
        found: a `Ledger`.
        memory_bytes: what the device's driver reports in all, bytes, > 0; not the sheet's GB.
        headroom: share of it that is to stay free, from 0 to 1.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> Fit(found=ledger(model("llama-3-8b"), Layout()), memory_bytes=80e9).fits
    False
    """

    found: Ledger
    memory_bytes: float
    headroom: float = HEADROOM

    def __post_init__(self):
        check.instance(Ledger, found=self.found)
        check.fields(self, positive="memory_bytes", share="headroom")

    @property
    def usable_bytes(self):
        """What a plan may use: memory_bytes * (1 - headroom)."""
        return self.memory_bytes * (1 - self.headroom)

    @property
    def headroom_bytes(self):
        """What is kept free."""
        return self.memory_bytes * self.headroom

    @property
    def needed_bytes(self):
        """What the heaviest stage needs at its peak, as the driver counts."""
        return self.found.peak_bytes

    @property
    def margin_bytes(self):
        """Usable less needed; below 0 by what is missing."""
        return self.usable_bytes - self.needed_bytes

    @property
    def fits(self):
        """True if nothing is missing."""
        return self.margin_bytes >= 0

    @property
    def text(self):
        """The verdict in one line."""
        shown = [
            units.show_bytes(abs(n), binary=True) for n in (self.needed_bytes, self.usable_bytes, self.margin_bytes)
        ]
        return (
            f"needs {shown[0]} of {shown[1]}: {'fits, ' + shown[2] + ' left' if self.fits else shown[2] + ' too much'}"
        )


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change to a plan, and what it makes of the fit."""

    label: str
    fit: Fit
    saved_bytes: float  # below 0 where the change needs more

    def __post_init__(self):
        check.text(label=self.label)
        check.instance(Fit, fit=self.fit)
        check.fields(self, finite="saved_bytes")


def fit(found, accelerator, headroom=HEADROOM):
    """The verdict of a ledger on a device.

    Args:
        found: a `Ledger`.
        accelerator: an `Accelerator`, or a name that `hardware.accelerator` knows.
        headroom: share of the device that is to stay free, from 0 to 1.

    Returns:
        A `Fit`; a layout that does not fit is a result, no error.

    Raises:
        TypeError: for what is none of these.
        ValueError: for a device whose driver's total nobody read, or a share outside its range.

    Source: `Accelerator.memory_bytes` names where the driver's total was read.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> layout = Layout(data=8, tensor=8, zero_stage=1, seq_len=8192, recompute="full")
    >>> fit(ledger(model("llama-3-70b"), layout), "h100").fits
    True
    """
    chip = hardware.accelerator(accelerator) if isinstance(accelerator, str) else accelerator
    check.instance(hardware.Accelerator, accelerator=chip)
    if chip.memory_bytes is None:
        raise ValueError(
            f"accelerator = {check.short(chip.name)}: a device whose driver's total was read; its sheet says "
            f"{chip.memory_gb:g} GB, from which it does not follow"
        )
    return Fit(found=found, memory_bytes=chip.memory_bytes, headroom=headroom)


def largest(found, field, values, accelerator, headroom=HEADROOM):
    """The largest value of one field of the layout with which it still fits.

    Args:
        found: a `Ledger`, of which model, profile and all other fields are taken.
        field: a field of `Layout`, such as "micro_batch" or "seq_len".
        values: what to try, in any order.
        accelerator: an `Accelerator`, or a name.
        headroom: share of the device that is to stay free.

    Returns:
        One of `values`, or None if none fits.

    Raises:
        TypeError, ValueError: as `fit`; for a field that a layout has not, a value that it refuses.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> eight = ledger(model("llama-3-8b"), Layout(data=8, zero_stage=1, seq_len=4096, recompute="full"))
    >>> largest(eight, "micro_batch", (1, 2, 4, 8), "h100")
    4
    """
    check.instance(Ledger, found=found)
    check.choice(tuple(vars(found.layout)), field=field)
    tried = ((value, replace(found.layout, **{field: value})) for value in sorted(values))
    fitting = [
        value for value, layout in tried if fit(ledger(found.shape, layout, found.profile), accelerator, headroom).fits
    ]
    return fitting[-1] if fitting else None


def changes(found, accelerator, headroom=HEADROOM):
    """Single changes that would make it fit, the one that frees least first; the step's batch and the GPUs stay.

    Args:
        found: a `Ledger`.
        accelerator: an `Accelerator`, or a name.
        headroom: share of the device that is to stay free.

    Returns:
        A tuple of `Change`, each of which fits; empty where no single one does.

    Raises:
        TypeError, ValueError: as `fit`.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> tight = ledger(model("llama-3-8b"), Layout(data=8, zero_stage=1, micro_batch=2, seq_len=8192))
    >>> [change.label for change in changes(tight, "h100")][:3]
    ['context 8', 'recomputation full', 'tensor 4']
    """
    now = fit(found, accelerator, headroom)
    tried = (_tried(now, label, layout, profile) for label, layout, profile in _options(found.layout, found.profile))
    passing = (change for change in tried if change and change.fit.fits)
    return tuple(sorted(passing, key=lambda change: change.saved_bytes))


def expert_band(shape, layout, profile, worst_load):
    """Two ledgers: experts balanced, and the rank whose experts read so many times the mean.

    Args:
        shape: a `Transformer` with experts.
        layout: a `Layout`.
        profile: a `Profile`.
        worst_load: tokens of the fullest rank over the mean, > 0; a dropless run may see 2 early on.

    Returns:
        A pair of `Ledger`.

    Raises:
        TypeError, ValueError: as `ledger`; for a load that is not above 0.

    Source: Gale et al. 2022, arXiv:2211.15841, section 3, on dropless experts and their imbalance.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> from lib.memory.profiles import MEGATRON
    >>> balanced, worst = expert_band(model("llama-3-8b"), Layout(), MEGATRON, 2.0)
    >>> balanced.peak_bytes == worst.peak_bytes  # no experts, no band
    True
    """
    check.instance(Profile, profile=profile)
    check.scalar(worst_load=worst_load)
    check.positive(worst_load=worst_load)
    return tuple(ledger(shape, layout, replace(profile, expert_load=load)) for load in (1.0, worst_load))


def _tried(now, label, layout, profile):
    """The change, or None where the model or the framework cannot have it."""
    if layout == now.found.layout and profile == now.found.profile:
        return None
    try:
        found = ledger(now.found.shape, layout, profile)
    except ValueError:
        return None
    saved = now.needed_bytes - found.peak_bytes
    return Change(label=label, fit=replace(now, found=found), saved_bytes=saved)


def _options(layout, profile):
    """(label, layout, profile) of each single change, possible or not."""
    yield from ((f"recomputation {kind}", _with(layout, recompute=kind), profile) for kind in ("selective", "full"))
    yield from (
        (f"ZeRO {stage}", _with(layout, zero_stage=stage), profile) for stage in range(layout.zero_stage + 1, 4)
    )
    for name in ("tensor", "pipeline", "context"):
        for times in (2, 4, 8):
            yield f"{name} {getattr(layout, name) * times}", _traded(layout, name, times), profile
    if layout.micro_batch % 2 == 0:
        half = _with(layout, micro_batch=layout.micro_batch // 2, micro_batches=layout.micro_batches * 2)
        yield f"micro-batch {layout.micro_batch // 2}", half, profile
    if layout.tensor > 1:
        yield "sequence parallelism", _with(layout, sequence_parallel=True), profile
    for label, change in _PROFILE_CHANGES:
        yield label, layout, replace(profile, **change)


_PROFILE_CHANGES = (
    ("gradients in BF16", {"precision": "bf16"}),
    ("moments in BF16", {"optimizer": "adamw, bf16 moments"}),
    ("8-bit moments", {"optimizer": "adamw, 8 bit"}),
    ("optimizer states in the host's memory", {"offload_optimizer": True}),
    ("loss in 8 parts", {"loss_chunks": 8}),
    ("flash attention", {"attention": "flash"}),
    ("fused MLP", {"mlp": "fused"}),
)


def _with(layout, **fields):
    """The layout with other fields, which keep what they do not contradict."""
    if fields.get("recompute", "full") != "full":
        fields["recompute_layers"] = None
    return _or_same(layout, **fields)


def _traded(layout, name, times):
    """More of one degree for less data parallelism: as many GPUs, and the same batch a step."""
    if layout.data % times:
        return layout
    fields = {name: getattr(layout, name) * times, "data": layout.data // times}
    fields["micro_batches"] = layout.micro_batches * times
    if name == "pipeline":
        fields["layers_per_stage"] = None
    return _or_same(layout, **fields)


def _or_same(layout, **fields):
    try:
        return replace(layout, **fields)
    except ValueError:
        return layout

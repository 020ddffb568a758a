"""Accelerators and clusters: dense peaks per data type, memory, links and power, each with its source.

`accelerator("h100")` gives one from `lib/data/accelerators.toml`; `Cluster` is a number of them. Figures that could not
be verified are absent there, and `left_out` says which.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lib import check
from lib.facts import Fact, Later, load

# From the widest type to the narrowest: the order in which tables show them.
DTYPES = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4")
OTHER_DTYPE_NAMES = {"float32": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float8": "fp8"}
_MIB = 1024**2

_FIGURES = {
    **{f"peak_{dtype}": "OP/s" if dtype == "int8" else "FLOP/s" for dtype in DTYPES},
    "memory_gb": "GB",
    "memory_mib": "MiB",
    "memory_bytes_per_second": "bytes/s",
    "link_bytes_per_second": "bytes/s",
    "power_watts": "W",
    "devices_per_module": "devices",
    "cores_per_chip": "cores",
}


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """One device that computes: a GPU, a TPU or Trainium chip, one of the two dies of an MI250X.

    Args:
        name: what it is called here, "H100 SXM".
        peaks: data type -> FLOP/s of dense matrix products (OP/s for int8), each > 0; the types it has, and no other.
        memory_gb: the number on the sheet, GB, > 0; sheets mean GiB more often than GB.
        memory_bytes_per_second: peak rate of the memory, bytes/s, > 0.
        memory_bytes: what the driver reports in all, bytes; None where nobody was seen to read it.
        link_bytes_per_second: to its neighbours in one direction, all its links together, bytes/s; None if unknown.
        power_watts: the most it draws, W; None if not published.
        devices_per_module: devices that are sold and cooled as one part, 1 or more.
        vendor, aliases, note: who makes it, what else it is called, what to know.
        left_out: figures that could not be verified, and why.
        facts: field -> `facts.Fact`, for what comes from the data file: as printed, with source and date.

    Raises:
        TypeError, ValueError: for a figure that is no number above 0, or a data type that is not in `DTYPES`.

    >>> chip = Accelerator(name="X1", peaks={"bf16": 5e14}, memory_gb=80, memory_bytes_per_second=3e12)
    >>> chip.peak_flops("bf16")
    500000000000000.0
    """

    name: str
    peaks: Mapping[str, float] = field(hash=False)
    memory_gb: float
    memory_bytes_per_second: float
    memory_bytes: float | None = None
    link_bytes_per_second: float | None = None
    power_watts: float | None = None
    devices_per_module: int = 1
    vendor: str = ""
    aliases: tuple[str, ...] = ()
    note: str = ""
    left_out: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict, hash=False, repr=False)

    def __post_init__(self):
        check.instance(Mapping, peaks=self.peaks, facts=self.facts)
        if not self.peaks:
            raise ValueError(f"peaks = {self.peaks!r}: at least one data type, of {', '.join(DTYPES)}")
        for dtype, peak in self.peaks.items():
            check.choice(DTYPES, dtype=dtype)
            check.positive(**{f"peaks[{dtype!r}]": peak})
        rates = "memory_bytes_per_second link_bytes_per_second"
        check.fields(self, positive=f"memory_gb memory_bytes power_watts {rates}", integer="devices_per_module")
        check.fields(self, text="name vendor note left_out")
        object.__setattr__(self, "peaks", MappingProxyType(dict(self.peaks)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    @property
    def sources(self):
        """Field -> where it was read, for every figure from the data file ("peak_bf16", "memory_gb", ...)."""
        return {name: fact.source for name, fact in self.facts.items()}

    def peak_flops(self, dtype="bf16"):
        """Most FLOP/s in dense matrix products of a data type.

        Args:
            dtype: one of `DTYPES`, or a longer name such as "bfloat16".

        Returns:
            FLOP/s as a float (operations per second for int8).

        Raises:
            ValueError: for a data type that this device lacks; what it has is named.

        Source: `self.sources["peak_bf16"]`, and so on.

        >>> accelerator("h100").peak_flops("bf16")
        989400000000000.0
        >>> accelerator("v100").peak_flops("bf16")
        Traceback (most recent call last):
        ...
        ValueError: dtype = 'bf16': V100 SXM 32GB has no bf16; it has fp32, fp16
        """
        known = {name: name for name in DTYPES} | OTHER_DTYPE_NAMES
        name = check.lookup(known, dtype=dtype)
        if name not in self.peaks:
            raise ValueError(f"dtype = {dtype!r}: {self.name} has no {name}; it has {', '.join(self.peaks)}")
        return float(self.peaks[name])


def _read(entry):
    optional = ("link_bytes_per_second", "power_watts")
    return Accelerator(
        name=entry.name,
        peaks={dtype: entry[f"peak_{dtype}"] for dtype in DTYPES if f"peak_{dtype}" in entry.facts},
        memory_gb=entry["memory_gb"],
        memory_bytes_per_second=entry["memory_bytes_per_second"],
        memory_bytes=float(entry["memory_mib"] * _MIB) if "memory_mib" in entry.facts else None,
        devices_per_module=entry.get("devices_per_module", 1),
        **{name: entry.get(name) for name in optional},
        **{name: entry.get(name, "") for name in ("vendor", "note", "left_out")},
        aliases=entry.get("aliases", ()),
        facts=entry.facts,
    )


def _names(chip):
    """What a chip is called: its name and its aliases, each without and with its maker's name."""
    names = (chip.name, *chip.aliases)
    return (*names, *(f"{chip.vendor} {name}" for name in names))


def _named(accelerators):
    """Plain name or alias -> accelerator; a name that means two is refused."""
    names = {}
    for chip in accelerators.values():
        for name in _names(chip):
            if names.setdefault(check.plain_name(name), chip) is not chip:
                raise ValueError(f"{name!r} names both {names[check.plain_name(name)].name} and {chip.name}")
    return names


def _load():
    labels = ("vendor", "aliases", "note", "left_out")
    return {name: _read(entry) for name, entry in load("accelerators", _FIGURES, {"slice_counts": str}, labels).items()}


ACCELERATORS = Later(_load)
_BY_NAME = Later(lambda: _named(ACCELERATORS))
# Other name -> name: what else a control takes for one of the names in `ACCELERATORS`.
SYNONYMS = Later(lambda: {name: chip.name for chip in ACCELERATORS.values() for name in _names(chip)[1:]})


def accelerator(name):
    """The accelerator that a name means, whatever its case, spaces, hyphens and underscores.

    Args:
        name: "H100 SXM", "h100", "tpu-v5e", "trn2", "NVIDIA A100-SXM4-80GB", ...: a name, an alias, with or without
            the vendor. "h100" means the SXM, "a100" the 80 GB SXM.

    Raises:
        TypeError: if the name is no text.
        ValueError: if nothing has it; the nearest name is offered.

    >>> accelerator("h100").name, accelerator("tpu-v5e").name
    ('H100 SXM', 'TPU v5e')
    """
    if not isinstance(name, str):
        raise TypeError(f"accelerator = {check.short(name)} ({type(name).__name__}): a name, such as 'h100'")
    plain = check.plain_name(name)
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    near = check.did_you_mean(name, [known.lower() for known in (*ACCELERATORS, *SYNONYMS)])
    raise ValueError(f"accelerator = {check.short(name)}: one of {check.listed(ACCELERATORS)}{near}")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A number of equal accelerators that train one model.

    Args:
        accelerator: an `Accelerator`, or a name that `accelerator` knows.
        n_gpus: how many devices, a whole number of at least 1.

    >>> cluster = Cluster(accelerator="a100", n_gpus=128)
    >>> cluster.total_peak_flops("bf16")
    3.9936e+16
    """

    accelerator: Accelerator
    n_gpus: int

    def __post_init__(self):
        if isinstance(self.accelerator, str):
            object.__setattr__(self, "accelerator", accelerator(self.accelerator))
        if not isinstance(self.accelerator, Accelerator):
            raise TypeError(f"accelerator = {check.short(self.accelerator)}: an Accelerator, or a name such as 'h100'")
        check.integer(n_gpus=self.n_gpus)

    def peak_flops(self, dtype="bf16"):
        """Dense peak of one device, FLOP/s; see `Accelerator.peak_flops`."""
        return self.accelerator.peak_flops(dtype)

    def total_peak_flops(self, dtype="bf16"):
        """Dense peak of all devices together, FLOP/s."""
        return self.n_gpus * self.peak_flops(dtype)


def tpu_slice(name):
    """The cluster that the name of a Cloud TPU slice means: v4, v5p and v7 names count cores, v5e and v6e names chips.

    Args:
        name: generation, hyphen, number: "v5p-512", "v5litepod-16", "v6e-256".

    Returns:
        A `Cluster`, whose `n_gpus` are chips.

    Raises:
        TypeError: if the name is no text.
        ValueError: if it is no such name, or if its cores do not make whole chips.

    Source: Google Cloud documentation, TPU v5p, AcceleratorType: v5p-32 is 16 chips; TPU v5e: the number
        counts chips.

    >>> tpu_slice("v5p-512").n_gpus, tpu_slice("v5e-256").n_gpus
    (256, 256)
    """
    if not isinstance(name, str):
        raise TypeError(f"slice = {check.short(name)} ({type(name).__name__}): a name such as 'v5p-512'")
    match = re.fullmatch(r"(.*\w)-([1-9][0-9]{0,8})", name.strip())
    if not match:
        raise ValueError(f"slice = {check.short(name)}: a generation and a number, such as 'v5p-512'")
    chip, number = accelerator(match[1]), int(match[2])
    if "slice_counts" not in chip.facts:
        raise ValueError(f"slice = {name!r}: the name of a TPU slice, such as 'v5p-512'")
    cores = chip.facts["cores_per_chip"].value if chip.facts["slice_counts"].value == "cores" else 1
    if number % cores:
        raise ValueError(f"slice = {name!r}: {chip.name} names count cores, so a multiple of {cores}")
    return Cluster(accelerator=chip, n_gpus=number // cores)

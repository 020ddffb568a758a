"""`RunDescription`: one run that is planned, as a value; its plain form, and the hash of that form."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cached_property

from lib import check
from lib.architecture import Transformer
from lib.compute import GOODPUT, train_flops
from lib.compute.mfu import convention
from lib.hardware import DTYPES, OTHER_DTYPE_NAMES, Cluster
from lib.layout import Layout
from lib.layout.rules import check_layout
from lib.memory import Profile, ledger
from lib.memory.profiles import MEGATRON, PROFILES
from lib.recipe.schedules import Schedule
from lib.scaling import law

MFU = 0.40  # assumed until it is measured: within the 38 to 43% of Llama 3, arXiv:2407.21783, Table 4
LAW = "Besiroglu 2024"


@dataclass(frozen=True, kw_only=True)
class RunDescription:
    """What is trained, on what, how, and what is assumed of it.

    Args:
        name: what the run is called; any text. It is not part of the hash.
        shape: the `Transformer` that is trained.
        n_tokens: training tokens, repeated ones included, > 0.
        cluster: a `Cluster`.
        layout: a `Layout` of as many GPUs; it holds sequence length and batch as well.
        profile: how the framework keeps states and activations, a `Profile`.
        schedule: the learning rate at every step, a `Schedule` of `steps` steps.
        mfu: utilization that is assumed until it is measured, above 0, at most 1.
        convention_name: what that utilization counts, a name in `lib.compute.mfu.CONVENTIONS`.
        dtype: the data type whose dense peak it divides by.
        goodput: share of the calendar that makes progress which is kept, above 0, at most 1.
        law_name: the law that predicts the loss, a name in `lib.scaling.LAWS`.
        price_usd_per_gpu_hour: what an hour of one GPU costs, USD, > 0; None where nobody has said.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range; a layout that the model cannot be cut
            into, or of another number of GPUs; a schedule of another number of steps.

    >>> from lib.architecture import model
    >>> run = RunDescription(
    ...     shape=model("llama-3-8b"),
    ...     n_tokens=1e12,
    ...     cluster=Cluster(accelerator="h100", n_gpus=64),
    ...     layout=Layout(data=64, zero_stage=1, seq_len=8192, micro_batches=8, recompute="full"),
    ...     schedule=Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=238418.0),
    ... )
    >>> run.steps, run.digest
    (238418, 'fb0b49376cc0c02c')
    """

    name: str = ""
    shape: Transformer
    n_tokens: float
    cluster: Cluster
    layout: Layout
    profile: Profile = MEGATRON
    schedule: Schedule
    mfu: float = MFU
    convention_name: str = "6N"
    dtype: str = "bf16"
    goodput: float = GOODPUT
    law_name: str = LAW
    price_usd_per_gpu_hour: float | None = None

    def __post_init__(self):
        check.fields(self, text="name", positive="n_tokens price_usd_per_gpu_hour", fraction="mfu goodput")
        check.instance(Transformer, shape=self.shape)
        check.instance(Cluster, cluster=self.cluster)
        check.instance(Layout, layout=self.layout)
        check.instance(Profile, profile=self.profile)
        check.instance(Schedule, schedule=self.schedule)
        self._settle_names()
        _check_devices(self)
        if self.schedule.total_steps != self.steps:
            raise ValueError(
                f"schedule = {self.schedule.total_steps:,.12g} steps: {self.steps:,}, which is n_tokens over the "
                f"{self.batch_tokens:,} tokens of a step"
            )

    def _settle_names(self):
        """One spelling for each name: two files that mean the same run have the same hash."""
        self.cluster.peak_flops(self.dtype)
        names = {dtype: dtype for dtype in DTYPES} | OTHER_DTYPE_NAMES
        object.__setattr__(self, "dtype", check.lookup(names, dtype=self.dtype))
        object.__setattr__(self, "convention_name", convention(self.convention_name).name)
        object.__setattr__(self, "law_name", law(self.law_name).name)

    @property
    def batch_tokens(self):
        """Tokens of one step."""
        return self.layout.global_batch_tokens

    @property
    def steps(self):
        """Updates in the whole run."""
        return int(self.n_tokens // self.batch_tokens)

    @property
    def compute_flops(self):
        """6 N D, N being the parameters that a token meets  [FLOP]."""
        return train_flops(float(self.shape.n_params_active), self.n_tokens)

    @property
    def plain(self):
        """The description as nested plain data: the sections of its file, without what is as it usually is.

        A field that the library gains later, and that is off where nobody asks for it, changes no hash.
        """
        return {
            "name": self.name,
            "tokens": float(self.n_tokens),
            "goodput": float(self.goodput),
            "law": self.law_name,
            "price_usd_per_gpu_hour": self.price_usd_per_gpu_hour and float(self.price_usd_per_gpu_hour),
            "model": changed_fields(self.shape, None, "name", "source"),
            "cluster": {"accelerator": self.cluster.accelerator.name, "n_gpus": self.cluster.n_gpus},
            "layout": changed_fields(self.layout, None),
            "framework": _framework(self.profile),
            "recipe": plain_schedule(self.schedule),
            "speed": {"mfu": float(self.mfu), "convention": self.convention_name, "dtype": self.dtype},
        }

    @cached_property
    def digest(self):
        """Sixteen hexadecimal digits that change with everything in the description but its name."""
        return digest(self.plain)


def digest(plain):
    """Sixteen hexadecimal digits of a description in its plain form; what the run is called does not count.

    Args:
        plain: a mapping as `RunDescription.plain` gives it.

    >>> digest({"tokens": 1e12, "name": "one"}) == digest({"name": "other", "tokens": 1e12})
    True
    """
    check.instance(Mapping, plain=plain)
    text = json.dumps(_unnamed(plain), sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain_schedule(schedule):
    """A schedule as a file has it: the number of steps follows from tokens and batch.

    Args:
        schedule: a `Schedule`.

    >>> plain_schedule(Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=1e5, warmup_steps=2e3))
    {'schedule': 'cosine', 'peak_lr': 0.0003, 'min_lr': 3e-05, 'warmup_steps': 2000.0}
    """
    check.instance(Schedule, schedule=schedule)
    numbers = {f.name: getattr(schedule, f.name) for f in fields(schedule) if f.name not in ("kind", "total_steps")}
    return {"schedule": schedule.kind} | {name: float(value) for name, value in numbers.items() if value is not None}


def changed_fields(value, usual, *without):
    """Fields of a dataclass that are not as they usually are, as plain data.

    Args:
        value: an instance.
        usual: another of its class, or None for the defaults of the class.
        without: fields that are left out.

    >>> changed_fields(Layout(data=8, tensor=2), None, "tensor")
    {'data': 8}
    """
    known = {f.name: f.default for f in fields(value)} if usual is None else vars(usual)
    given = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in without}
    return {name: _plain(one) for name, one in given.items() if one is not None and one != known[name]}


def _framework(profile):
    """The profile's name with what was changed of it."""
    known = PROFILES.get(profile.name, MEGATRON)
    return {"name": known.name} | changed_fields(profile, known, "name", "source")


def differences(one, other):
    """Fields in which the plain forms of two descriptions differ, by their path, with both values; its name aside.

    Args:
        one, other: mappings as `RunDescription.plain` gives them.

    Returns:
        path -> (value in one, value in other), in the order of the file; None where there is no such field.

    >>> differences({"tokens": 1e12, "model": {"n_layers": 32}}, {"tokens": 1e12, "model": {"n_layers": 36}})
    {'model.n_layers': (32, 36)}
    """
    check.instance(Mapping, one=one, other=other)
    left, right = _flat(_unnamed(one)), _flat(_unnamed(other))
    paths = dict.fromkeys((*left, *right))
    return {path: (left.get(path), right.get(path)) for path in paths if left.get(path) != right.get(path)}


def _check_devices(run):
    check_layout(run.shape, run.layout)
    if run.layout.n_gpus != run.cluster.n_gpus:
        raise ValueError(
            f"layout = data x tensor x pipeline x context = {run.layout.n_gpus:,}: {run.cluster.n_gpus:,}, as many "
            f"as the cluster has GPUs"
        )
    ledger(run.shape, run.layout, run.profile)


def _plain(value):
    """Lists for tuples, so that the form is the same before and after JSON; parts without what they have not."""
    if is_dataclass(value):
        value = asdict(value)
    if isinstance(value, dict):
        return {name: _plain(inside) for name, inside in value.items() if inside not in (None, ())}
    return list(map(_plain, value)) if isinstance(value, tuple | list) else value


def _unnamed(plain):
    """Without what the run is called, which changes nothing of it."""
    return {name: value for name, value in plain.items() if name != "name"}


def _flat(plain, before=""):
    found = {}
    for name, value in plain.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return found

"""The compiler's word: a training step compiled for virtual devices, and its bytes and FLOPs beside the closed forms.

Nothing is run and no array is made, so a step may be far larger than the machine. The step is the last micro-batch of
several: its arguments are weights, the gradients so far, optimizer states and the words, so that they hold every state
that the ledger names.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from lib import check
from lib.architecture import Transformer
from lib.compute import train_flops_exact
from lib.layout import Layout
from lib.memory import PRECISIONS as LEDGER_PRECISIONS
from lib.memory import ledger, profile
from lib.pilot import cuts
from lib.pilot.tensors import refuse_length
from lib.tables import Table
from lib.units import show_bytes

MOST_DEVICES = 64
PRECISIONS = tuple(name for name in cuts.PRECISIONS if name in LEDGER_PRECISIONS)
_GROUPS = dict(zip(cuts.KINDS, ("weights", "gradients", "optimizer states"), strict=True))  # of the ledger
_WORD_BYTES = 4
_COUNTER_BYTES = 4  # AdamW's count of steps
# Quick code instead of fast code, for it is never run: under a third of the time, the same bytes and products.
_FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)


@dataclass(frozen=True, kw_only=True)
class CompiledStep:
    """What the compiler says of a step, on one device; FLOPs of all devices together.

    Args:
        shape, layout, precision: what was compiled.
        argument_bytes: bytes of the program's arguments on each device.
        temporary_bytes: bytes of its temporaries, as a CPU would need them: no prediction for a GPU.
        dot_flops: FLOPs of all matrix products.
        cost_flops: XLA's own count: elementwise operations too, and a loop's body once.
        versions: of JAX and what belongs to it.
        seconds: how long it took, the start of JAX included.
    """

    shape: Transformer
    layout: Layout
    precision: str
    argument_bytes: int
    temporary_bytes: int
    dot_flops: int
    cost_flops: float
    versions: str
    seconds: float

    def __post_init__(self):
        check.instance(Transformer, shape=self.shape)
        check.instance(Layout, layout=self.layout)
        check.choice(PRECISIONS, precision=self.precision)
        check.text(versions=self.versions)
        check.fields(self, integer="argument_bytes", natural="temporary_bytes")
        check.fields(self, positive="dot_flops", non_negative="cost_flops seconds")

    @property
    def ledger_bytes(self):
        """Bytes of weights, gradients and optimizer states by the ledger: `ledger_bytes`."""
        return ledger_bytes(self.shape, self.layout, self.precision)

    @property
    def slice_bytes(self):
        """The same, of the slices that devices hold: `cuts.device_bytes`."""
        return cuts.device_bytes(self.shape, self.layout, self.precision)

    @property
    def rounding_bytes(self):
        """Bytes of the slices above the ledger's equal shares: tensors that the data ranks do not divide."""
        return sum(self.slice_bytes.values()) - sum(self.ledger_bytes.values())

    @property
    def batch_bytes(self):
        """Bytes of words and targets, four a word, and of the step's number."""
        return 2 * _WORD_BYTES * self.layout.micro_batch * self.layout.seq_len + _COUNTER_BYTES

    @property
    def unexplained_bytes(self):
        """Compiler minus closed forms: 0, to the byte, if both are right."""
        return self.argument_bytes - sum(self.slice_bytes.values()) - self.batch_bytes

    @property
    def exact_flops(self):
        """FLOPs of the micro-batch by `lib.compute.flops`: full attention, nothing computed twice."""
        n_tokens = self.layout.data * self.layout.micro_batch * self.layout.seq_len
        return train_flops_exact(self.shape, n_tokens, self.layout.seq_len, "full")

    @property
    def table(self):
        """The closed forms, line by line, and the compiler's sum."""
        rows = [(f"{_GROUPS[kind]}, ledger", n) for kind, n in self.ledger_bytes.items()]
        rows += [("rounding of slices", self.rounding_bytes), ("words and step number", self.batch_bytes)]
        rows += [("sum", sum(n for _, n in rows)), ("compiler's arguments", self.argument_bytes)]
        return Table(
            head=("bytes on each device", "bytes", ""),
            rows=tuple((name, f"{n:,.0f}", show_bytes(n)) for name, n in rows),
            caption=f"{self.layout.text}; {self.precision}; {self.versions}.",
        )


def ledger_bytes(shape, layout, precision):
    """Bytes of the states on one device by the ledger: equal shares, no rounding but the rows'.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` of one pipeline stage.
        precision: a name in `PRECISIONS`, with AdamW.

    Returns:
        {"weights": ..., "gradients": ..., "optimizer": ...}.

    >>> from lib.architecture import model
    >>> sum(ledger_bytes(model("llama-3-8b"), Layout(data=8, zero_stage=3), "fp32").values()) * 8 / 8030261248
    16.0
    """
    counted = replace(profile("torchtitan"), precision=precision, vocab_multiple=1)
    (stage,) = ledger(shape, layout, counted).stages
    groups = stage.phases[-1].by_group
    return {kind: groups[group] for kind, group in _GROUPS.items()}


def compile_step(shape, layout, precision="bf16", timeout_seconds=120.0):
    """Compile a training step of a shape and a layout for as many virtual devices, in a process of its own.

    Args:
        shape: a `Transformer` that `lib.pilot.tensors` can build; its layers are one loop, so many take no longer.
        layout: a `Layout` of data and tensor degrees, up to 64 devices, with ZeRO stage, sequence parallelism (None
            means no), micro-batch and sequence; recomputation none.
        precision: a name in `PRECISIONS`, with AdamW.
        timeout_seconds: after so long the process is ended, > 0.

    Returns:
        A `CompiledStep`.

    Raises:
        TypeError, ValueError: for what is out of range, or what the pilot does not build.
        ModuleNotFoundError: without JAX; the extra to install is named.
        TimeoutError: if it took longer.
        RuntimeError: if JAX refused it; its last line is passed on.

    Source: JAX, ahead-of-time lowering and compilation: Compiled.memory_analysis, Compiled.as_text.
    """
    _refuse(shape, layout, precision, timeout_seconds)
    if find_spec("jax") is None or find_spec("optax") is None:
        raise ModuleNotFoundError("JAX is missing: install the extra `pilot` (make setup does)")
    started = time.monotonic()
    asked = {"shape": asdict(shape), "layout": asdict(layout), "precision": precision}
    found = _ask(asked, layout.n_gpus, timeout_seconds)
    return CompiledStep(shape=shape, layout=layout, precision=precision, seconds=time.monotonic() - started, **found)


def _refuse(shape, layout, precision, timeout_seconds):
    cuts.padded(shape, layout)
    cuts.degrees(shape, layout)
    refuse_length(shape, layout.seq_len)
    check.choice(PRECISIONS, precision=precision)
    check.scalar(timeout_seconds=timeout_seconds)
    check.positive(timeout_seconds=timeout_seconds)
    if layout.recompute != "none":
        raise ValueError(f"layout.recompute = {layout.recompute!r}: 'none', for the pilot keeps all activations")
    if layout.n_gpus > MOST_DEVICES:
        raise ValueError(f"layout.n_gpus = {layout.n_gpus}: at most {MOST_DEVICES} virtual devices")


def _ask(asked, n_devices, timeout_seconds):
    root = str(Path(__file__).resolve().parents[2])
    flags = " ".join((f"--xla_force_host_platform_device_count={n_devices}", *_FLAGS))
    env = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": root}
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "lib.pilot.lower"],
            input=json.dumps(asked),
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(
            f"timeout_seconds = {timeout_seconds:g}: the compiler was not done; more, or a smaller shape"
        ) from None
    if ran.returncode:
        raise RuntimeError(f"JAX: {(ran.stderr.strip().splitlines() or ['no word'])[-1]}")
    return json.loads(ran.stdout)

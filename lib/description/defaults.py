"""What a run description takes where a person's file says nothing: batch and learning rate as `lib.recipe` has them."""

from dataclasses import MISSING, fields

from lib import check
from lib.architecture import Transformer
from lib.layout import Layout
from lib.recipe import DECAY_SHARE, END_SHARE, WARMUP_SHARE, Recipe, Setup
from lib.recipe.published_runs import habit
from lib.recipe.schedules import COSINE, KINDS, LINEAR, WSD, WSD_SQRT, Schedule
from lib.scaling.allocations import Allocation

SEQ_LEN = 4096  # as most published runs begin
_USUAL = {"micro_batch": 1, "seq_len": SEQ_LEN}
_COPY = ("tensor", "pipeline", "context")
_KINDS = {kind: kind for kind in KINDS} | {"wsd": WSD, "1-sqrt": WSD_SQRT}


def full_layout(given, shape, n_tokens, n_gpus):
    """A layout of all GPUs: what is left of them after the model's own cut reads different text.

    Args:
        given: fields of `Layout`, and batch_tokens in place of micro_batches.
        shape: a `Transformer`.
        n_tokens: training tokens, > 0.
        n_gpus: devices, a whole number of at least 1.

    Raises:
        TypeError, ValueError: for a field out of range; a cut or a batch that does not divide.

    >>> from lib.architecture import model
    >>> full_layout({"tensor": 8, "batch_tokens": 2**22}, model("llama-3-8b"), 1e12, 256).global_batch
    1024
    """
    check.instance(dict, given=given)
    check.instance(Transformer, shape=shape)
    check.scalar(n_tokens=n_tokens)
    check.positive(n_tokens=n_tokens)
    check.integer(n_gpus=n_gpus)
    chosen = {f.name: f.default for f in fields(Layout) if f.default is not MISSING} | _USUAL | given
    batch = chosen.pop("batch_tokens", None)
    check.integer(**{name: chosen[name] for name in (*_COPY, "micro_batch", "seq_len")})
    if "data" not in given:
        chosen["data"] = _data(chosen, n_gpus)
    if "micro_batches" not in given:
        chosen["micro_batches"] = _micro_batches(chosen, batch) if batch else _usual_batches(chosen, shape, n_tokens)
    elif batch is not None:
        raise ValueError(f"batch_tokens = {check.short(batch)}: it or micro_batches, which follows from it")
    return Layout(**chosen)


def _data(chosen, n_gpus):
    copy = chosen["tensor"] * chosen["pipeline"] * chosen["context"]
    if n_gpus % copy:
        near = check.nearest_divisors(n_gpus, copy)
        raise ValueError(
            f"tensor = {chosen['tensor']}, with pipeline and context {copy:,} GPUs a copy: a divisor of the "
            f"{n_gpus:,} GPUs of the cluster; nearest {near}"
        )
    return n_gpus // copy


def _micro_batches(chosen, batch):
    check.integer(batch_tokens=batch, data=chosen["data"])
    once = chosen["data"] * chosen["micro_batch"] * chosen["seq_len"]
    if batch % once:
        down = batch // once * once
        near = " or ".join(f"{n:,}" for n in (down, down + once) if n)
        raise ValueError(
            f"batch_tokens = {batch:,}: a multiple of the {once:,} tokens that all data ranks read at once; nearest "
            f"{near}"
        )
    return batch // once


def _usual_batches(chosen, shape, n_tokens):
    check.integer(data=chosen["data"])
    return _recipe(shape, n_tokens, chosen, COSINE).accumulation


def _recipe(shape, n_tokens, split, kind):
    """The handbook's recipe for this run on copies of the model that read different text."""
    run = Allocation(n_params=float(shape.n_params_active), n_tokens=n_tokens)
    setup = Setup(seq_len=split["seq_len"], n_gpus=split["data"], micro_batch=split["micro_batch"], kind=kind)
    return Recipe(run=run, setup=setup, given_shape=shape)


def full_schedule(given, shape, n_tokens, layout):
    """A schedule over the whole run: what is not given is as `lib.recipe` has it.

    Args:
        given: schedule (a kind), peak_lr, min_lr, warmup_steps, decay_steps; each may be left out.
        shape: a `Transformer`.
        n_tokens: training tokens, > 0.
        layout: a `Layout`, whose batch makes the steps.

    Raises:
        TypeError, ValueError: for a number out of range, or fewer than two steps.

    >>> from lib.architecture import model
    >>> layout = Layout(data=64, seq_len=8192, micro_batches=8)
    >>> found = full_schedule({}, model("llama-3-8b"), 1e12, layout)
    >>> f"{found.kind} from {found.peak_lr:.1e}, warm-up {found.warmup_steps:g} of {found.total_steps:,.0f} steps"
    'cosine from 2.3e-04, warm-up 2000 of 238,418 steps'
    """
    check.instance(dict, given=given)
    check.instance(Transformer, shape=shape)
    check.instance(Layout, layout=layout)
    check.scalar(n_tokens=n_tokens)
    check.positive(n_tokens=n_tokens)
    steps = float(n_tokens // layout.global_batch_tokens)
    if steps < 2:
        raise ValueError(f"n_tokens = {n_tokens:g}: at least two steps of {layout.global_batch_tokens:,} tokens")
    kind = check.lookup(_KINDS, schedule=given.get("schedule", COSINE))
    peak = given["peak_lr"] if "peak_lr" in given else _recipe(shape, n_tokens, vars(layout), kind).peak_lr
    warmup = given.get("warmup_steps", max(1.0, float(int(min(habit("warmup_steps").value, WARMUP_SHARE * steps)))))
    check.scalar(peak_lr=peak, warmup_steps=warmup)
    check.positive(peak_lr=peak)
    check.non_negative(warmup_steps=warmup)
    usual = {"peak_lr": peak, "min_lr": 0.0, "warmup_steps": warmup}
    if kind == COSINE:
        usual["min_lr"] = float(f"{END_SHARE * peak:.6g}")  # no digits that the peak has not
    elif kind != LINEAR:
        usual["decay_steps"] = max(1.0, DECAY_SHARE * (steps - warmup))
    chosen = usual | {name: value for name, value in given.items() if name != "schedule"}
    return Schedule(kind=kind, total_steps=steps, **chosen)

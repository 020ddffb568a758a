"""Questions of the chapter *The memory ledger*, and the sizing of a run against a brief."""

import math

from lib import compute
from lib.architecture import model
from lib.exercises.amounts import doubled, spread
from lib.exercises.choices import named, ranked
from lib.exercises.question import Question, Slip
from lib.exercises.verdict import Ruling
from lib.memory import state_bytes
from lib.memory.states import shard_counts
from lib.scaling import law
from lib.units import GB, GIB, show

_KINDS = (2.0, 2.0, 12.0)  # weights, gradients, optimizer states: Rajbhandari et al. 2020, section 3.1
_LAW = law("Besiroglu 2024, rounded")
_CONSTANTS = {name: getattr(_LAW, name) for name in ("E", "A", "B", "alpha", "beta")}
_SMALL, _MIDDLE, _LARGE = (model(f"llama-3-{size}") for size in ("8b", "70b", "405b"))


def bytes_each(zero_stage, data):
    """Bytes of states for each parameter, on one GPU."""
    return 2 + (2 / data if zero_stage == 2 else 2) + 12 / data


def state_gb(n_params, data, zero_stage):
    """GB of weights, gradients and optimizer states on one GPU; a float."""
    weights = 2 / (data if zero_stage >= 3 else 1)
    gradients = 2 / (data if zero_stage >= 2 else 1)
    optimizer = 12 / (data if zero_stage >= 1 else 1)
    return n_params * (weights + gradients + optimizer) / 1e9


def layer_inputs_gb(n_layers, d_model, seq_len, micro_batch):
    """GB of the layers' inputs in BF16, which full recomputation keeps; a float."""
    return 2 * n_layers * micro_batch * seq_len * d_model / 1e9


def fewest_gpus(n_params, free_gb):
    """The fewest GPUs that hold a model's states under ZeRO 3; a whole number."""
    import math

    return math.ceil(16 * n_params / (free_gb * 1e9))


def zero_stage_to_take(n_params, data, free_gb):
    """The lowest ZeRO stage with which the states fit; 0, 1, 2 or 3."""
    for weights, gradients, optimizer, stage in ((1, 1, 1, 0), (1, 1, data, 1), (1, data, data, 2)):
        if n_params * (2 / weights + 2 / gradients + 12 / optimizer) <= free_gb * 1e9:
            return stage
    return 3


def design_for_brief(designs, brief, law):
    """Name of the design that keeps every limit of the brief and has the lowest loss; text."""

    def loss(run):
        return law["E"] + law["A"] / run["n_params"] ** law["alpha"] + law["B"] / run["n_tokens"] ** law["beta"]

    def days(run):
        useful = brief["n_gpus"] * brief["peak_flops"] * brief["mfu"]
        return 6 * run["n_params"] * run["n_tokens"] / useful / 86_400

    def gb(run):
        cut, stage = run["tensor"] * run["pipeline"], run["zero_stage"]
        copies = brief["n_gpus"] // cut
        each = sum(size / (copies if stage >= first else 1) for size, first in ((2, 3), (2, 2), (12, 1)))
        inputs = 2 * run["n_layers"] * run["d_model"] * brief["seq_len"]
        return (run["n_params"] * each + inputs) / cut / 1e9

    fits = [run for run in designs if days(run) <= brief["days_at_most"] and gb(run) <= brief["gb_at_most"]]
    return min((run for run in fits if loss(run) <= brief["loss_at_most"]), key=loss)["name"]


def _bytes_each(n_params, data, zero_stage):
    counts = shard_counts(float(zero_stage), float(data))
    return math.fsum(state_bytes(n_params, size, count) for size, count in zip(_KINDS, counts, strict=True))


def _models(rng):
    edges = [(7.5e9, 64, 1), (7.5e9, 64, 0), (7.5e9, 64, 2), (7.5e9, 64, 3), (1e9, 1, 3)]
    drawn = [(spread(rng, 1e9, 5e11), doubled(rng, 8, 1024), stage) for stage in range(4)]
    return [dict(zip(("n_params", "data", "zero_stage"), row, strict=True)) for row in edges + drawn]


def _shapes(rng):
    edges = [(1, 64, 1, 1), (_SMALL.n_layers, _SMALL.d_model, 8192, 1)]
    drawn = [
        (rng.randrange(12, 128), 128 * rng.randrange(8, 128), doubled(rng, 1024, 32_768), doubled(rng, 2, 8))
        for _ in range(4)
    ]
    return [dict(zip(("n_layers", "d_model", "seq_len", "micro_batch"), row, strict=True)) for row in edges + drawn]


def _layer_inputs_gb(n_layers, d_model, seq_len, micro_batch):
    # Whatever holds one number for each token and channel: the library's states, of so many "parameters" of 2 bytes.
    return state_bytes(1.0 * n_layers * d_model * seq_len * micro_batch, 2.0) / GB


def _sizes(rng):
    edges = [(1e9, 16.0), (70e9, 60.0), (1e8, 72.0)]
    return [
        {"n_params": n_params, "free_gb": free}
        for n_params, free in (*edges, *((spread(rng, 1e10, 2e12), float(rng.randrange(20, 80))) for _ in range(4)))
    ]


def _rooms(rng):
    return [_room(rng, stage) for stage in (0, 1, 2, 3, *(rng.randrange(4) for _ in range(2)))]


def _room(rng, stage):
    """Room that lies between what a stage needs and what the stage before it needs."""
    n_params, data = spread(rng, 1e9, 7e10), doubled(rng, 8, 256)
    least = _bytes_each(n_params, data, stage)
    before = _bytes_each(n_params, data, stage - 1) if stage else 1.5 * least
    free = (least + (before - least) * (0.2 + 0.6 * rng.random())) / GB
    return {"n_params": n_params, "data": data, "free_gb": float(f"{free:.4g}")}


def _stages(n_params, data, free_gb):
    needs = [_bytes_each(n_params, data, stage) / GB for stage in range(4)]
    first = next((stage for stage, need in enumerate(needs) if need <= free_gb), 3)
    return [*(_stage(stage, need, first, free_gb) for stage, need in enumerate(needs)), _no_stage()]


def _stage(stage, need, first, free_gb):
    if need > free_gb:
        sentence, margin = "The states do not fit.", f"{show(need - free_gb, 'GB')} too much."
    else:
        sentence = "The lowest that fits." if stage == first else "It fits, but a lower stage does too, and sends less."
        margin = f"{show(free_gb - need, 'GB')} to spare."
    return Ruling(low=float(stage), high=float(stage), ok=stage == first, sentence=sentence, margin=margin)


def _no_stage():
    return Ruling(ok=False, sentence="There is no such stage: 0, 1, 2 or 3.")


def _briefs(rng):
    return [
        _brief(rng, 2048, 30),
        *(_brief(rng, 1024 * rng.choice((1, 2, 4)), rng.randrange(25, 60)) for _ in range(3)),
    ]


def _brief(rng, n_gpus, days):
    """Six designs: one that is right, and others that break one limit each or lose more."""
    peak, mfu = 989e12, 0.4
    budget = compute.compute_budget(n_gpus, float(days), peak, mfu)
    rows = [
        (_SMALL, 0.98, 1, 1, 1),
        (_MIDDLE, 0.97, 8, 1, 1),
        (_MIDDLE, 0.99, 1, 1, 0),
        (_MIDDLE, 1.2, 8, 1, 1),
        (_MIDDLE, 0.9, 8, 1, 3),
        (_LARGE, 1.35, 8, 16, 1),
    ]
    limits = {"days_at_most": days, "gb_at_most": 72.0, "loss_at_most": _target(budget)}
    brief = {"n_gpus": n_gpus, "peak_flops": peak, "mfu": mfu, "seq_len": 8192} | limits
    designs = named(rng, [_design(budget, *row) for row in rows])
    return {"designs": designs, "brief": brief, "law": dict(_CONSTANTS)}


def _target(budget):
    return round(_LAW.loss_at_budget(0.85 * budget, _MIDDLE.n_params), 4)


def _design(budget, shape, share, tensor, pipeline, zero_stage):
    return {
        "n_params": shape.n_params,
        "n_layers": shape.n_layers,
        "d_model": shape.d_model,
        "n_tokens": float(f"{share * budget / (6 * shape.n_params):.3e}"),
        "tensor": tensor,
        "pipeline": pipeline,
        "zero_stage": zero_stage,
    }


def _days(run, brief):
    rest = (brief["n_gpus"], brief["peak_flops"], brief["mfu"])
    return compute.training_days(run["n_params"], run["n_tokens"], *rest)


def _gb(run, brief):
    cut = run["tensor"] * run["pipeline"]
    states = _bytes_each(1.0 * run["n_params"], brief["n_gpus"] // cut, run["zero_stage"]) / GB
    return (states + _layer_inputs_gb(run["n_layers"], run["d_model"], brief["seq_len"], 1)) / cut


def _within_brief(designs, brief, law):
    def loss(run):
        return _LAW.loss(run["n_params"], run["n_tokens"])

    def fault(run):
        over = (
            ("It does not fit into memory.", _gb(run, brief) - brief["gb_at_most"], "GB"),
            ("It does not end in time.", _days(run, brief) - brief["days_at_most"], "days"),
            ("It misses the loss.", loss(run) - brief["loss_at_most"], "nats"),
        )
        return next(((words, f"{show(much, unit)} too much.") for words, much, unit in over if much > 0), None)

    right = "It keeps every limit, and has the lowest loss of those that do."
    return ranked(designs, fault, loss, right, "It keeps every limit, but another that does has a lower loss.")


def _without(limit):
    """The choice of somebody who forgets one limit."""
    return lambda designs, brief, law: design_for_brief(designs, brief | {limit: math.inf}, law)


QUESTIONS = (
    Question(
        solution=bytes_each,
        title="Bytes for each parameter",
        prompt="Mixed precision with Adam keeps 2 bytes of weights, 2 of gradients and 12 of optimizer states for "
        "each parameter. {data} GPUs hold the same weights under ZeRO stage {zero_stage}. How many bytes of states "
        "for each parameter are on one GPU? To 1%.",
        chapter="memory_ledger",
        task="read",
        kind="value",
        inputs=lambda rng: [{"zero_stage": rng.choice((1, 2)), "data": doubled(rng, 8, 64)}],
        expected=lambda zero_stage, data: _bytes_each(1.0, data, zero_stage),
        tolerance=0.01,
        unit="bytes",
        visible=False,
        hint="Stage 1 splits the optimizer states, stage 2 the gradients too, stage 3 the weights too.",
        minutes=4,
        slips=(
            Slip(
                name="nothing split",
                sentence="Nothing was split: that is ZeRO stage 0.",
                gives=lambda zero_stage, data: 16.0,
            ),
            Slip(
                name="all split",
                sentence="Everything was split: that is ZeRO stage 3.",
                gives=lambda zero_stage, data: 16.0 / data,
            ),
            Slip(
                name="other stage",
                sentence="Stages 1 and 2 were mixed up: stage 1 leaves the gradients whole, stage 2 splits them.",
                gives=lambda zero_stage, data: bytes_each(3 - zero_stage, data),
            ),
        ),
    ),
    Question(
        solution=state_gb,
        title="States under ZeRO",
        prompt="Weights take 2 bytes for each parameter, gradients 2, optimizer states 12. `data` GPUs hold the same "
        "weights. ZeRO stage 1 splits the optimizer states over them, stage 2 gradients too, stage 3 weights too. "
        "Return the GB (of 1000^3 bytes) on one GPU. Then change the stage: which step frees most?",
        chapter="memory_ledger",
        task="change",
        kind="function",
        inputs=_models,
        expected=lambda **asked: _bytes_each(**asked) / GB,
        unit="GB",
        hint="Three terms; each is divided by `data` from its stage on.",
        points=2,
        minutes=8,
        slips=(
            Slip(
                name="GiB",
                sentence="That is GiB, of 1024^3 bytes: GB were asked for, of 1000^3.",
                gives=lambda **asked: state_gb(**asked) * GB / GIB,
            ),
            Slip(
                name="nothing split",
                sentence="ZeRO was left out: nothing is divided by `data`.",
                gives=lambda data, **asked: state_gb(data=1, **asked),
            ),
            Slip(
                name="all split",
                sentence="Everything was divided by `data`, whatever the stage: only stage 3 does that.",
                gives=lambda n_params, data, zero_stage: 16 * n_params / data / GB,
            ),
            Slip(
                name="bytes",
                sentence="That is in bytes: a GB has 1000^3.",
                gives=lambda **asked: state_gb(**asked) * GB,
            ),
        ),
    ),
    Question(
        solution=layer_inputs_gb,
        title="What full recomputation keeps",
        prompt="With full recomputation each of `n_layers` layers keeps its input alone: one BF16 number for every "
        "token of the micro-batch and each of `d_model` channels. `micro_batch` sequences have `seq_len` tokens. "
        "Return the GB.",
        chapter="memory_ledger",
        task="write",
        kind="function",
        inputs=_shapes,
        expected=_layer_inputs_gb,
        unit="GB",
        hint="A BF16 number has two bytes.",
        minutes=5,
        slips=(
            Slip(
                name="one byte",
                sentence="A BF16 number has two bytes, not one.",
                gives=lambda **shape: layer_inputs_gb(**shape) / 2,
            ),
            Slip(
                name="four bytes",
                sentence="A BF16 number has two bytes, not the four of FP32.",
                gives=lambda **shape: layer_inputs_gb(**shape) * 2,
            ),
            Slip(
                name="one sequence",
                sentence="That is one sequence: the micro-batch has `micro_batch` of them.",
                gives=lambda micro_batch, **shape: layer_inputs_gb(micro_batch=1, **shape),
            ),
            Slip(
                name="GiB",
                sentence="That is GiB, of 1024^3 bytes: GB were asked for, of 1000^3.",
                gives=lambda **shape: layer_inputs_gb(**shape) * GB / GIB,
            ),
        ),
    ),
    Question(
        solution=fewest_gpus,
        title="The fewest GPUs",
        prompt="A parameter has 16 bytes of states, and ZeRO 3 splits all of them over all GPUs. Each GPU has "
        "`free_gb` GB (of 1000^3 bytes) for them. Return the fewest GPUs that hold the model.",
        chapter="memory_ledger",
        task="write",
        kind="function",
        inputs=_sizes,
        expected=lambda n_params, free_gb: max(1, math.ceil(state_bytes(n_params, 16.0) / (free_gb * GB))),
        unit="GPUs",
        hint="Part of a GPU cannot be had: which way is rounded?",
        minutes=5,
        slips=(
            Slip(
                name="rounded down",
                sentence="Rounded down, the last bytes have no place: round up.",
                gives=lambda n_params, free_gb: int(16 * n_params / (free_gb * GB)),
            ),
            Slip(
                name="not rounded",
                sentence="That is no whole number: part of a GPU cannot be had.",
                gives=lambda n_params, free_gb: 16 * n_params / (free_gb * GB),
            ),
            Slip(
                name="weights alone",
                sentence="Those are the weights alone, of 2 bytes: gradients and optimizer states need a place too.",
                gives=lambda n_params, free_gb: math.ceil(2 * n_params / (free_gb * GB)),
            ),
        ),
    ),
    Question(
        solution=zero_stage_to_take,
        title="Which ZeRO stage?",
        prompt="A higher ZeRO stage sends more over the network. `data` GPUs hold the same weights; each has "
        "`free_gb` GB (of 1000^3 bytes) for 2 bytes of weights, 2 of gradients and 12 of optimizer states for each "
        "parameter. Return the lowest stage (0 to 3) with which they fit.",
        chapter="memory_ledger",
        task="decide",
        kind="decision",
        inputs=_rooms,
        rulings=_stages,
        hint="Go up from stage 0, and stop at the first that fits.",
        points=2,
        minutes=10,
        difficulty="medium",
        slips=(
            Slip(
                name="always 3",
                sentence="Stage 3 always needs least, but it also sends most: a lower one fits here.",
                gives=lambda **_: 3,
            ),
            Slip(
                name="no optimizer",
                sentence="It fits only without the optimizer states: they are 12 of the 16 bytes.",
                gives=lambda n_params, data, free_gb: 0 if 4 * n_params <= free_gb * GB else None,
            ),
        ),
    ),
    Question(
        solution=design_for_brief,
        title="Size a run against a brief",
        prompt="`brief` is a dict: `n_gpus` of `peak_flops` at `mfu`, `days_at_most`, `gb_at_most` on each GPU, "
        "`loss_at_most`, `seq_len`. `designs` are dicts: `name`, `n_params`, `n_layers`, `d_model`, `n_tokens`, "
        "`tensor`, `pipeline`, `zero_stage`. Days go by 6ND, the loss by the constants in `law`. On a GPU are the "
        "states (2, 2 and 12 bytes, split by ZeRO over n_gpus / (tensor x pipeline) copies) and one sequence's "
        "layer inputs in BF16, both cut by tensor x pipeline. Return the name of the design with the lowest loss "
        "of those that keep every limit.",
        chapter="memory_ledger",
        task="decide",
        kind="decision",
        inputs=_briefs,
        rulings=_within_brief,
        hint="Three small functions first: days, GB, loss. Then drop what breaks a limit, and take the lowest loss.",
        points=6,
        minutes=30,
        difficulty="hard",
        slips=(
            Slip(
                name="no memory",
                sentence="It has the lowest loss, but fits on no GPU: hold the memory against its limit.",
                gives=_without("gb_at_most"),
            ),
            Slip(
                name="no deadline",
                sentence="It has a lower loss, but does not end in time: hold the days against their limit.",
                gives=_without("days_at_most"),
            ),
            Slip(
                name="most tokens",
                sentence="It sees the most tokens, but for its size that does not help: compare losses.",
                gives=lambda designs, brief, law: max(designs, key=lambda run: run["n_tokens"])["name"],
            ),
        ),
    ),
)

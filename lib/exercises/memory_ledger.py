"""Questions of the chapter *The memory ledger*: states under ZeRO, and what fits."""

import math

from lib.exercises.amounts import doubled, spread
from lib.exercises.case import Ruling
from lib.exercises.questions import Question, Slip
from lib.memory import state_bytes
from lib.memory.states import shard_counts
from lib.units import GB, GIB, show

_KINDS = (2.0, 2.0, 12.0)  # weights, gradients, optimizer states: Rajbhandari et al. 2020, section 3.1


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


def states_each(n_params, data, zero_stage):
    """Bytes of the states of so many parameters on one of the GPUs that share them.

    Args:
        n_params, data, zero_stage: as in `lib.memory.states`.
    """
    counts = shard_counts(float(zero_stage), float(data))
    return math.fsum(state_bytes(n_params, size, count) for size, count in zip(_KINDS, counts, strict=True))


def _models(rng):
    edges = [(7.5e9, 64, 1), (7.5e9, 64, 0), (7.5e9, 64, 2), (7.5e9, 64, 3), (1e9, 1, 3)]
    drawn = [(spread(rng, 1e9, 5e11), doubled(rng, 8, 1024), stage) for stage in range(4)]
    return [dict(zip(("n_params", "data", "zero_stage"), row, strict=True)) for row in edges + drawn]


def _shapes(rng):
    edges = [(1, 64, 1, 1), (32, 4096, 8192, 1)]
    drawn = [
        (rng.randrange(12, 128), 128 * rng.randrange(8, 128), doubled(rng, 1024, 32_768), rng.choice((3, 5, 6, 7, 12)))
        for _ in range(4)
    ]
    return [dict(zip(("n_layers", "d_model", "seq_len", "micro_batch"), row, strict=True)) for row in edges + drawn]


def input_gb(n_layers, d_model, seq_len, micro_batch):
    """GB of the layers' inputs in BF16.

    Args:
        n_layers, d_model, seq_len, micro_batch: of the model and its batch.
    """
    # Whatever holds one number for each token and channel: the library's states, of so many "parameters" of 2 bytes.
    return state_bytes(1.0 * n_layers * d_model * seq_len * micro_batch, 2.0) / GB


def _sizes(rng):
    edges = [(1e9, 16.0), (70e9, 60.0), (1e8, 72.0)]
    return [
        {"n_params": n_params, "free_gb": free}
        for n_params, free in (*edges, *((spread(rng, 1e10, 2e12), float(rng.randrange(20, 80))) for _ in range(4)))
    ]


def _rooms(rng):
    stages = [0, 1, 2, 3, *(rng.randrange(4) for _ in range(2))]
    return [_room(rng, stage) for stage in rng.sample(stages, len(stages))]  # no answer from the number of the call


def _room(rng, stage):
    """Room that lies between what a stage needs and what the stage before it needs."""
    n_params, data = spread(rng, 1e9, 7e10), doubled(rng, 8, 256)
    least = states_each(n_params, data, stage)
    before = states_each(n_params, data, stage - 1) if stage else 1.5 * least
    free = (least + (before - least) * (0.2 + 0.6 * rng.random())) / GB
    return {"n_params": n_params, "data": data, "free_gb": float(f"{free:.4g}")}


def _stages(n_params, data, free_gb):
    needs = [states_each(n_params, data, stage) / GB for stage in range(4)]
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
        expected=lambda zero_stage, data: states_each(1.0, data, zero_stage),
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
        expected=lambda **asked: states_each(**asked) / GB,
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
        expected=input_gb,
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
)

"""Questions of the chapter *The pilot ladder*: what a rung measures, and what the run does with it."""

import math

from lib import compute
from lib.description.limits import limit
from lib.exercises.amounts import doubled, spread
from lib.exercises.case import Ruling
from lib.exercises.questions import Question, Slip
from lib.scaling import law
from lib.units import HOURS_PER_DAY, show

_RATE = float(limit("GPU-hours between interruptions", "gpu_hours").value)
_REPAIR = float(limit("repair", "hours").value)
_LAW = law("Besiroglu 2024")
_CONSTANTS = {name: getattr(_LAW, name) for name in ("E", "A", "B", "alpha", "beta")}


def loss_at_start(vocab_size):
    """Loss of a model that knows nothing."""
    return math.log(vocab_size)


def hours_between_interruptions(n_gpus, gpu_hours):
    """Mean hours between interruptions of the whole job; a float."""
    return gpu_hours / n_gpus


def spare_nodes(n_gpus, gpu_hours, repair_hours):
    """Nodes that break while one is repaired, at least one; a whole number."""
    import math

    return max(1, math.ceil(repair_hours * n_gpus / gpu_hours))


def tokens_to_train(n_params, n_gpus, peak_flops, planned_mfu, measured_mfu, goodput, days_at_most, target_loss, law):
    """Tokens with which the run reaches its loss and ends in time; a float."""
    useful = n_gpus * peak_flops * measured_mfu * goodput * days_at_most * 86_400
    return useful / (6 * n_params)


def _vocabularies(rng):
    return [{"vocab_size": rng.choice((32_000, 50_257, 100_352, 128_256, 151_936))}]


def _jobs(rng):
    edges = [(1, _RATE), (16_384, _RATE)]
    return _rows(("n_gpus", "gpu_hours"), edges + [(doubled(rng, 64, 32_768), spread(rng, 2e4, 2e5)) for _ in range(4)])


def _repairs(rng):
    edges = [(8, _RATE, _REPAIR), (16_384, _RATE, _REPAIR)]
    drawn = [(1024 * rng.randrange(4, 64), spread(rng, 2e4, 8e4), float(rng.randrange(12, 120))) for _ in range(4)]
    return _rows(("n_gpus", "gpu_hours", "repair_hours"), edges + drawn)


def _rows(names, rows):
    return [dict(zip(names, row, strict=True)) for row in rows]


def _pilots(rng):
    return [_pilot(rng, doubled(rng, 256, 8192)) for _ in range(5)]


def _pilot(rng, n_gpus):
    """A run whose measured utilization is below the planned one, and still leaves room between loss and deadline."""
    peak, days = 989e12, rng.randrange(20, 60)
    measured, goodput = round(0.3 + 0.1 * rng.random(), 2), round(0.8 + 0.12 * rng.random(), 2)
    best, _ = _LAW.optimum(compute.compute_budget(n_gpus, float(days), peak, measured))
    asked = {"n_params": float(f"{best * (0.4 + 0.5 * rng.random()):.2e}"), "n_gpus": n_gpus, "peak_flops": peak}
    asked |= {"planned_mfu": round(1.25 * measured, 2), "measured_mfu": measured, "goodput": goodput}
    asked |= {"days_at_most": days}
    most = _most(**asked)
    target = float(f"{_LAW.loss((asked['n_params']), 0.85 * most):.5g}")
    return asked | {"target_loss": target, "law": dict(_CONSTANTS)}


def _most(n_params, n_gpus, peak_flops, measured_mfu, goodput, days_at_most, **_):
    useful = compute.compute_budget(n_gpus, days_at_most * goodput, peak_flops, measured_mfu)
    return useful / compute.train_flops(n_params, 1.0)


def _enough(target_loss, n_params, **asked):
    least, most = _LAW.fewest_tokens(target_loss, n_params), _most(n_params, **asked)
    room = f"From {show(least, 'tokens')} to {show(most, 'tokens')} is possible."
    return [
        Ruling(low=least, high=most, ok=True, sentence="It reaches the loss and ends in time.", margin=room),
        Ruling(high=least, ok=False, sentence="Too few tokens: it misses the loss.", margin=room),
        Ruling(low=most, ok=False, sentence="Too many tokens: it does not end in time.", margin=room),
    ]


QUESTIONS = (
    Question(
        solution=loss_at_start,
        title="The loss before the first step",
        prompt="A new model gives every one of {vocab_size:,} tokens nearly the same probability. What is its loss "
        "in nats per token? To 0.5%.",
        chapter="pilot_ladder",
        task="read",
        kind="value",
        inputs=_vocabularies,
        expected=lambda vocab_size: math.log(vocab_size),
        tolerance=0.005,
        unit="nats per token",
        visible=False,
        hint="The loss is minus the natural logarithm of the right token's probability.",
        minutes=3,
        slips=(
            Slip(
                name="bits",
                sentence="That is in bits: a nat takes the natural logarithm.",
                gives=lambda vocab_size: math.log2(vocab_size),
            ),
            Slip(
                name="decimal",
                sentence="That is the logarithm to the base 10: a nat takes the natural one.",
                gives=lambda vocab_size: math.log10(vocab_size),
            ),
            Slip(
                name="sign",
                sentence="The sign is wrong: the logarithm of a probability is negative, the loss is minus that.",
                gives=lambda vocab_size: -math.log(vocab_size),
            ),
        ),
    ),
    Question(
        solution=hours_between_interruptions,
        title="How often does the job stop?",
        prompt="A cluster loses its job once in `gpu_hours` GPU-hours. Return the hours between interruptions of a "
        "job on `n_gpus` GPUs. Then double the GPUs.",
        chapter="pilot_ladder",
        task="change",
        kind="function",
        inputs=_jobs,
        expected=lambda n_gpus, gpu_hours: gpu_hours / n_gpus,
        unit="hours",
        hint="A job on many GPUs collects GPU-hours faster.",
        minutes=3,
        slips=(
            Slip(
                name="multiplied",
                sentence="More GPUs fail more often, not more rarely: divide.",
                gives=lambda n_gpus, gpu_hours: gpu_hours * n_gpus,
            ),
            Slip(
                name="one GPU",
                sentence="That is the time of one GPU: the job stops when any of its GPUs does.",
                gives=lambda n_gpus, gpu_hours: gpu_hours,
            ),
            Slip(
                name="days",
                sentence="That is in days: hours were asked for.",
                gives=lambda n_gpus, gpu_hours: gpu_hours / n_gpus / HOURS_PER_DAY,
            ),
        ),
    ),
    Question(
        solution=spare_nodes,
        title="How many spare nodes?",
        prompt="The job on `n_gpus` GPUs is interrupted once in `gpu_hours` GPU-hours, each time by a node that "
        "then is away for `repair_hours`. Return as many spare nodes as break in that time: a whole number, "
        "rounded up, at least 1.",
        chapter="pilot_ladder",
        task="write",
        kind="function",
        inputs=_repairs,
        expected=lambda n_gpus, gpu_hours, repair_hours: max(1, math.ceil(repair_hours / (gpu_hours / n_gpus))),
        unit="nodes",
        hint="Hours of repair over the hours between interruptions.",
        points=2,
        minutes=6,
        slips=(
            Slip(
                name="rounded down",
                sentence="Rounded down: the last failure finds no spare node.",
                gives=lambda n_gpus, gpu_hours, repair_hours: int(repair_hours * n_gpus / gpu_hours),
            ),
            Slip(
                name="not rounded",
                sentence="Part of a node cannot be had: round up.",
                gives=lambda n_gpus, gpu_hours, repair_hours: repair_hours * n_gpus / gpu_hours,
            ),
            Slip(
                name="one GPU",
                sentence="The job has `n_gpus` GPUs, and stops when any of them does.",
                gives=lambda n_gpus, gpu_hours, repair_hours: math.ceil(repair_hours / gpu_hours),
            ),
        ),
    ),
    Question(
        solution=tokens_to_train,
        title="How many tokens, now that it was measured?",
        prompt="The plan assumed `planned_mfu`, the short run measured `measured_mfu`, and progress is made in "
        "`goodput` of the time. Size and cluster stay; nobody extends `days_at_most`. Return a number of tokens "
        "with which the run ends in time, by 6ND, and reaches `target_loss` by the constants in the dict `law`.",
        chapter="pilot_ladder",
        task="decide",
        kind="decision",
        inputs=_pilots,
        rulings=_enough,
        unit="tokens",
        hint="The deadline gives the most tokens, the loss the fewest. Anything between is a plan.",
        points=3,
        minutes=15,
        difficulty="medium",
        slips=(
            Slip(
                name="planned",
                sentence="That is what the planned utilization would allow: plan with the measured one.",
                gives=lambda planned_mfu, measured_mfu, **asked: tokens_to_train(
                    planned_mfu=planned_mfu, measured_mfu=planned_mfu, **asked
                ),
            ),
            Slip(
                name="no goodput",
                sentence="It ends in time only if nothing ever fails: the goodput was left out.",
                gives=lambda goodput, **asked: tokens_to_train(goodput=1.0, **asked),
            ),
            Slip(
                name="no factor 6",
                sentence="A token costs 6N FLOPs: the 6 was left out.",
                gives=lambda **asked: 6 * tokens_to_train(**asked),
            ),
        ),
    ),
)

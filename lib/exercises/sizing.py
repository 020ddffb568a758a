"""The sizing of a run against a brief: seed 003's three limits, with one right design among six."""

import math

from lib import compute
from lib.architecture import model
from lib.exercises.choices import named, ranked
from lib.exercises.memory_ledger import input_gb, states_each
from lib.exercises.questions import Question, Slip
from lib.scaling import law
from lib.units import GB, show

_LAW = law("Besiroglu 2024, rounded")
_CONSTANTS = {name: getattr(_LAW, name) for name in ("E", "A", "B", "alpha", "beta")}
_SMALL, _MIDDLE, _LARGE = (model(f"llama-3-{size}") for size in ("8b", "70b", "405b"))


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


def _briefs(rng):
    return [
        _brief(rng, 2048, 30, 72.0),
        *(_brief(rng, 1024 * rng.choice((1, 2, 4)), rng.randrange(25, 60), rng.choice((30.0, 72.0))) for _ in range(3)),
    ]


def _brief(rng, n_gpus, days, gb):
    """Six designs: one that is right, and others that break one limit each or lose more.

    With 30 GB ZeRO 1 is out and the design with ZeRO 3 is right; with 72 GB both fit, and the longer run is.
    """
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
    limits = {"days_at_most": days, "gb_at_most": gb, "loss_at_most": _target(budget)}
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
    states = states_each(1.0 * run["n_params"], brief["n_gpus"] // cut, run["zero_stage"]) / GB
    return (states + input_gb(run["n_layers"], run["d_model"], brief["seq_len"], 1)) / cut


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
                sentence="It ends in time with the lowest loss, but fits on no GPU: hold the memory against its limit.",
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

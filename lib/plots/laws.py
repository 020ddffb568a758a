"""Scaling laws beside each other: lines over budgets and sizes, dotted where a law is extrapolated."""

import numpy as np

from lib import check
from lib.plots.reach import draw_reach
from lib.whatif.model import Axis, Chart, Reference, Series

_POINTS = 60


def tokens_per_param(laws, budgets=(1e18, 1e26), rule=20.0, runs=()):
    """Best tokens per parameter over compute, a line for each law: only where a = b is it a constant.

    Args:
        laws: `lib.scaling.ScalingLaw`s or `lib.scaling.budget_laws.BudgetLaw`s.
        budgets: smallest and largest compute, FLOP.
        rule: the constant ratio to show as a line; None for none.
        runs: (label, compute, tokens per parameter) of each published run to mark.
    """
    low, high = budgets
    check.positive(low=low, high=high)
    laws, compute = list(laws), np.geomspace(low, high, _POINTS)
    lines = [_line(law.name, compute, law.tokens_per_param(compute)) for law in laws]
    points = [Series(label=name, x=(at,), y=(ratio,), kind="points") for name, at, ratio in runs]
    return _picture(
        [law.inside_range(*law.optimum(compute)) for law in laws],
        x=Axis(label="training compute (FLOP)", scale="log"),
        y=Axis(label="best data for the size (tokens per parameter)", scale="log"),
        series=(*lines, *points),
        references=(Reference(label=f"{rule:g} tokens per parameter", value=rule, axis="y"),) if rule else (),
    )


def valley(laws, compute, factors=(1 / 16, 16.0)):
    """What a wrong size costs at one budget: loss above the least, over size as a multiple of the best.

    Args:
        laws: `lib.scaling.ScalingLaw`s.
        compute: the budget, FLOP, > 0.
        factors: smallest and largest multiple of the best size.
    """
    low, high = factors
    check.positive(compute=compute, low=low, high=high)
    laws, sizes = list(laws), np.geomspace(low, high, _POINTS + 1)
    runs = [(law, sizes * law.optimum(compute)[0], law.optimum(compute)[1] / sizes) for law in laws]
    return _picture(
        [law.inside_range(n_params, n_tokens) for law, n_params, n_tokens in runs],
        x=Axis(label="size (multiples of the best size)", scale="log"),
        y=Axis(label="loss above the least (nats per token)"),
        series=tuple(_line(law.name, sizes, np.maximum(law.size_penalty(compute, sizes), 0.0)) for law in laws),
        references=(Reference(label="best size", value=1.0),),
    )


def _line(label, x, y):
    return Series(label=label, x=tuple(map(float, x)), y=tuple(map(float, y)))


def _picture(insides, **parts):
    return draw_reach(Chart(title="", alt="", **parts), insides)

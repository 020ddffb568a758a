"""Where runs lie, and what a parabola makes of those on one budget."""

import numpy as np

from lib import check
from lib.plots.chart import chart_picture
from lib.whatif.model import Axis, Chart, Reference, Series

_POINTS = 60


def run_plane(parts):
    """Tokens against parameters, a point for each run: runs on one line cannot tell a law's constants apart.

    Args:
        parts: (label, `lib.runs.Runs`) of each group of runs.
    """
    return _picture(
        x=Axis(label="model size N (parameters)", scale="log"),
        y=Axis(label="data D (tokens)", scale="log"),
        series=tuple(Series(label=label, x=runs.n_params, y=runs.n_tokens, kind="points") for label, runs in parts),
    )


def isoflop_parabola(law, runs, parabola):
    """A law's loss at one budget, the parabola through runs on it, and the two minima.

    Args:
        law: the `lib.scaling.ScalingLaw` that made the runs.
        runs: `lib.runs.Runs` of one budget.
        parabola: the `lib.fit.Parabola` through them.
    """
    compute = runs.compute[0]
    check.positive(compute=compute)
    best = Reference(label="the law's best size", value=law.optimum(compute)[0])
    lowest = Reference(label="the parabola's", value=parabola.n_params)
    sizes = np.geomspace(min(runs.n_params), max(runs.n_params), _POINTS)
    return _picture(
        x=Axis(label="model size N (parameters)", scale="log"),
        y=Axis(label="loss (nats per token)"),
        series=(
            _line("the law", sizes, law.loss_at_budget(compute, sizes)),
            _line("the parabola", sizes, parabola.at(sizes)),
            Series(label="runs", x=runs.n_params, y=runs.loss, kind="points"),
        ),
        # From the right: the label of each then finds its own side free.
        references=tuple(sorted((best, lowest), key=lambda line: -line.value)),
    )


def _line(label, x, y):
    return Series(label=label, x=tuple(map(float, x)), y=tuple(map(float, y)))


def _picture(**parts):
    return chart_picture(Chart(title="", alt="", **parts))

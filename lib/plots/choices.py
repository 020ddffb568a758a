"""What the choice of a size depends on: which law is right, how much the model is used, how much text there is."""

import numpy as np

from lib import check
from lib.compute import train_flops
from lib.plots.reach import draw_reach
from lib.scaling.overtraining import Lifetime, inference_flops
from lib.scaling.repeated_data import R_D_STAR, effective_tokens
from lib.units import show_count
from lib.whatif.model import Axis, Chart, Reference, Series

_POINTS = 80


def regrets(ensemble, margin=2.0, at_most=0.03):
    """What a size loses under each law against that law's own best, and the size whose worst loss is least.

    Args:
        ensemble: a `lib.scaling.ensemble.Ensemble` with at least one law that predicts a loss.
        margin: how far beyond the smallest and largest best size the lines go, a factor > 1.
        at_most: nats per token where the picture ends.
    """
    check.positive(margin=margin, at_most=at_most)
    best = ensemble.least_regret
    low, high = ensemble.sizes
    sizes = np.geomspace(low / margin, high * margin, _POINTS)
    tokens = ensemble.compute / train_flops(sizes, 1.0)
    lines, insides = [], []
    for law in ensemble.judges:
        lost = law.loss_at_budget(ensemble.compute, sizes) - law.optimal_loss(ensemble.compute)
        seen = lost <= at_most
        lines.append(_line(law.name, sizes[seen], np.maximum(lost[seen], 0.0)))
        insides.append(law.inside_range(sizes[seen], tokens[seen]))
    point = Series(label="least regret", x=(best.n_params,), y=(best.worst_nats,), kind="points")
    return _picture(
        insides,
        x=Axis(label="model size (parameters)", scale="log"),
        y=Axis(label="loss above the law's own least (nats per token)"),
        series=(*lines, point),
    )


def life_costs(law, compute, uses, span=(1 / 12, 2.0)):
    """Cost of training and use over model size, all sizes trained to the same loss: use moves the valley to the left.

    Args:
        law: a `lib.scaling.parametric.ScalingLaw`.
        compute: training compute whose best loss is the target, FLOP, > 0.
        uses: tokens in and out over the model's use, each 0 or more.
        span: smallest and largest size, as multiples of the cheapest to train.
    """
    low, high = span
    check.positive(compute=compute, low=low, high=high)
    target, best = law.optimal_loss(compute), law.optimum(compute)[0]
    sizes = best * np.geomspace(low, high, _POINTS)
    sizes = sizes[law.floor(sizes) < target]
    tokens = law.fewest_tokens(target, sizes)
    lines, ends, insides = [], [], []
    for use in uses:
        life = Lifetime(law=law, target_loss=target, inference_tokens=float(use))
        total = (train_flops(sizes, tokens) + inference_flops(sizes, float(use))) / compute
        seen = total <= 4 * life.total_flops / compute
        words = f"{show_count(use)} tokens in use" if use else "training alone"
        lines.append(_line(words, sizes[seen] / best, total[seen]))
        ends.append((life.size_ratio, life.total_flops / compute))
        insides.append(law.inside_range(sizes[seen], tokens[seen]))
    x, y = zip(*ends, strict=True)
    return _picture(
        insides,
        x=Axis(label="size (multiples of the cheapest to train)", scale="log"),
        y=Axis(label="cost of a whole life (multiples of the cheapest training)", scale="log"),
        series=(*lines, Series(label="least cost", x=x, y=y, kind="points")),
    )


def repeated(passes=(1.0, 100.0)):
    """What reading the same text again is worth, against new text of the same length.

    Args:
        passes: fewest and most passes, each >= 1.
    """
    low, high = passes
    check.positive(low=low, high=high)
    epochs = np.geomspace(low, high, _POINTS)
    return _picture(
        (),
        x=Axis(label="times that the text is read (passes)", scale="log"),
        y=Axis(label="worth as much new text (multiples of the text)"),
        series=(
            _line("the same text again", epochs, effective_tokens(1.0, epochs)),
            _line("new text", epochs[epochs <= R_D_STAR + 4], epochs[epochs <= R_D_STAR + 4]),
        ),
        references=(Reference(label="endless passes", value=1.0 + R_D_STAR, axis="y"),),
    )


def _line(label, x, y):
    return Series(label=label, x=tuple(map(float, x)), y=tuple(map(float, y)))


def _picture(insides, **parts):
    return draw_reach(Chart(title="", alt="", **parts), insides)

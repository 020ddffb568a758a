"""The loss surface of a scaling law, seen from above."""

import numpy as np

from lib import check
from lib.compute import train_flops
from lib.plots.axes import add_axes, tick_text
from lib.plots.labels import Labels
from lib.plots.style import BLUE, FAINT, GREEN, GREY, INK, VERMILION, house_style, new_picture

_GRID = 160  # points along a line


def loss_surface(law, budgets=(1e20, 1e21, 1e22, 1e23, 1e24), runs=(), n_params=(1e8, 1e12), n_tokens=(1e9, 1e13)):
    """Parameters against tokens: isoFLOP lines, the isoloss curve that touches each, and the ridge of touching points.

    The runs that the law was fitted to are shaded.

    Args:
        law: a `lib.scaling.ScalingLaw`.
        budgets: compute of the isoFLOP lines, FLOP, ascending.
        runs: (label, n_params, n_tokens) of each run to mark.
        n_params, n_tokens: lowest and highest value of the axes.

    Raises:
        TypeError, ValueError: for a budget that is no positive, finite number.
    """
    for compute in budgets:
        check.positive(compute=compute)
    losses = [law.optimal_loss(compute) for compute in budgets]
    with house_style():
        picture = new_picture(height=3.9)
        axes = _plane(picture, n_params, n_tokens, [_loss_text(loss) for loss in losses])
        labels = Labels(axes)
        sizes = np.geomspace(*n_params, _GRID)
        _fitted(axes, labels, law)
        ends = [_isoloss(axes, labels, law, loss, sizes) for loss in losses]
        labels.at_line_ends(ends)
        _ridge(axes, labels, law, budgets)
        for label, size, tokens in runs:
            axes.plot([size], [tokens], "D", color=INK, markersize=6, zorder=6)
            labels.avoid_line([size], [tokens])
            labels.beside(label, size, tokens, weight="bold")
        for compute in budgets:
            _isoflop(axes, labels, compute, sizes)
    return picture


def _plane(picture, n_params, n_tokens, ends):
    names = {"x_label": "model size N (parameters)", "y_label": "data D (tokens)"}
    scales = {"x_scale": "log", "y_scale": "log"}
    axes = add_axes(picture, x_limits=n_params, y_limits=n_tokens, margin_labels=ends, **names, **scales)
    axes.grid(False)
    return axes


def _fitted(axes, labels, law):
    """Shade the runs that the law was fitted to: everything outside is extrapolated."""
    fitted = law.origin and law.origin.fitted
    if not fitted or None in (fitted.n_params, fitted.n_tokens, fitted.compute_at_most):
        return
    (n_low, n_high), (d_low, d_high) = fitted.n_params, fitted.n_tokens
    sizes = np.geomspace(max(n_low, axes.get_xlim()[0]), n_high, _GRID)
    top = np.minimum(d_high, fitted.compute_at_most / train_flops(sizes, 1.0))
    bottom = max(d_low, axes.get_ylim()[0])
    seen = top > bottom
    axes.fill_between(sizes[seen], bottom, top[seen], color=GREY, alpha=FAINT, linewidth=0, zorder=0)
    labels.beside("runs that the law was fitted to", sizes[_GRID // 3], bottom * 1.6)


def _isoflop(axes, labels, compute, sizes):
    tokens = compute / train_flops(sizes, 1.0)
    axes.plot(sizes, tokens, color=BLUE, linewidth=1.3, zorder=2)
    labels.on_line(f"{tick_text(compute)} FLOP", (sizes[0], tokens[0]), (sizes[-1], tokens[-1]))


def _isoloss(axes, labels, law, loss, sizes):
    able = sizes[law.floor(sizes) < loss]  # smaller models never get there
    tokens = law.fewest_tokens(loss, able)
    seen = tokens <= axes.get_ylim()[1]
    axes.plot(able[seen], tokens[seen], color=VERMILION, linewidth=1.3, zorder=3)
    labels.avoid_line(able[seen], tokens[seen], steps=2)
    return _loss_text(loss), able[-1], tokens[-1], VERMILION


def _loss_text(loss):
    return f"loss {loss:.2f}"


def _ridge(axes, labels, law, budgets):
    sizes, tokens = zip(*(law.optimum(compute) for compute in budgets), strict=True)
    axes.plot(sizes, tokens, "o-", color=GREEN, linewidth=3, markersize=7, zorder=4)
    labels.avoid_line(sizes, tokens)
    middle = len(budgets) // 2
    labels.beside("least loss\nfor a budget", sizes[middle], tokens[middle])

"""Fits against the runs that they were made from: predicted loss, and what is left over."""

from textwrap import fill

import numpy as np
from matplotlib.lines import Line2D

from lib.plots.axes import add_axes
from lib.plots.style import COLOURS, INK, SMALL, SOFT, house_style, new_picture, to_svg

_AIR = 0.06  # of a span, kept free at either end
_LETTERS = 16  # of a line of the key
_MARKS = {"markersize": 5.5, "linestyle": "none", "clip_on": False, "zorder": 4}
_HOLLOW = _MARKS | {"markerfacecolor": "none", "markeredgewidth": 1.6}


def loss_against_prediction(fits):
    """Measured over predicted loss, a point for each run; hollow where the run was held out, so extrapolated.

    Args:
        fits: (label, `Fit`, `HoldOut` or None) of each corpus.
    """
    points = [(label, *_split(fit, held)) for label, fit, held in fits]
    losses = [v for _, *parts in points for part in parts for column in part[:2] for v in column]
    room = _AIR * (max(losses) - min(losses)) or 0.1
    ends = min(losses) - room, max(losses) + room
    key = _key(fits)
    with house_style():
        picture = new_picture(height=3.6)
        names = {"x_label": "predicted loss (nats per token)", "y_label": "measured loss (nats per token)"}
        axes = add_axes(picture, x_limits=ends, y_limits=ends, margin_labels=_room(key), **names)
        axes.plot(ends, ends, color=INK, alpha=SOFT, linewidth=1)
        _mark(axes, [(label, *(part[:2] for part in parts)) for label, *parts in points], key)
    return picture


def residuals(fits):
    """Predicted over measured loss, minus 1, against compute; hollow where the run was held out, so extrapolated.

    Args:
        fits: (label, `Fit`, `HoldOut` or None) of each corpus.
    """
    points = []
    for label, fit, held in fits:
        parts = _split(fit, held)
        points.append((label, *((part[2], 100 * (part[0] / part[1] - 1)) for part in parts)))
    compute = [v for _, *parts in points for part in parts for v in part[0]]
    room = (max(compute) / min(compute)) ** _AIR if max(compute) > min(compute) else 1.1
    x_limits = min(compute) / room, max(compute) * room
    far = max(abs(v) for _, *parts in points for part in parts for v in part[1]) * (1 + 2 * _AIR) or 1.0
    key = _key(fits)
    with house_style():
        picture = new_picture()
        names = {"x_label": "training compute (FLOP)", "y_label": "predicted over measured (% of the loss)"}
        axes = add_axes(
            picture, x_limits=x_limits, y_limits=(-far, far), x_scale="log", margin_labels=_room(key), **names
        )
        axes.axhline(0.0, color=INK, alpha=SOFT, linewidth=1)
        _mark(axes, points, key)
    return picture


def fit_sheet(fits):
    """Both pictures under one another, as the text of one SVG file on paper.

    Args:
        fits: (label, `Fit`, `HoldOut` or None) of each corpus.
    """
    pictures = [loss_against_prediction(fits), residuals(fits)]
    texts, below = [], 0.0
    for picture in pictures:
        texts.append(to_svg(picture).replace("<svg ", f'<svg y="{below:g}" ', 1))
        below += picture.bbox.height + 12
    width = pictures[0].bbox.width
    # Their own width and height are for a page: on the sheet a point is a unit.
    sized = [_sized(text, p.bbox.width, p.bbox.height) for text, p in zip(texts, pictures, strict=True)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {below:g}" width="{1.5 * width:g}" '
        f'height="{1.5 * below:g}" style="background:#ffffff;color:#1a1a1a" role="img" '
        f'aria-label="Measured against predicted loss, and the residuals over compute.">{"".join(sized)}</svg>\n'
    )


def _sized(text, width, height):
    head, rest = text.split(">", 1)
    parts = [part for part in head.split('" ') if not part.startswith(("width=", "height="))]
    return '" '.join([parts[0], f'width="{width:g}', f'height="{height:g}', *parts[1:]]) + ">" + rest


def _split(fit, held):
    """(predicted, measured, compute) of the fitted runs and of those held out."""
    out = set(held.held.places) if held else set()
    kept = [k for k, place in enumerate(fit.runs.places) if place not in out]
    columns = (fit.predicted, fit.runs.loss, fit.runs.compute)
    inside = tuple(np.array([column[k] for k in kept]) for column in columns)
    outside = (held.predicted, held.held.loss, held.held.compute) if held else ((), (), ())
    return inside, tuple(map(np.array, outside))


def _key(fits):
    """(text, colour, hollow) of each line of the key: the corpora by colour, the hollow points by what they are."""
    names = [label or "fitted" for label, *_ in fits]
    lines = [(fill(name, _LETTERS), COLOURS[k % len(COLOURS)], False) for k, name in enumerate(names)]
    held = any(held for *_, held in fits)
    return [*lines, ("held out,\nextrapolated", INK if len(fits) > 1 else COLOURS[0], True)] if held else lines


def _room(key):
    return [f"oo{line}" for text, *_ in key for line in text.split("\n")]


def _mark(axes, points, key):
    for place, (_, inside, outside) in enumerate(points):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(*inside, "o", color=colour, **_MARKS)
        axes.plot(*outside, "o", color=colour, **_HOLLOW)
    box, figure = axes.get_window_extent(), axes.figure
    x, y = box.x1 + 12, box.y1 - 4
    for text, colour, hollow in key:
        height = 12 * (1 + text.count("\n"))
        at = figure.transFigure.inverted().transform([(x, y), (x + 8, y)])
        style = _HOLLOW if hollow else _MARKS
        figure.add_artist(Line2D([at[0][0]], [at[0][1]], marker="o", color=colour, **style))
        figure.text(*at[1], text, size=SMALL, va="center" if height == 12 else "top", linespacing=1.05)
        y -= height + 5

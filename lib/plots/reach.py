"""Where a law was fitted and where it only goes on: solid lines and dotted ones."""

import numpy as np

from lib.plots.chart import chart_picture
from lib.plots.style import house_style

BEYOND = (0, (1, 1.6))
UNKNOWN = (0, (5, 2))


def draw_reach(chart, insides):
    """A chart whose lines are solid where their law was fitted, dotted beyond, dashed where no range is printed.

    Args:
        chart: a `lib.whatif.model.Chart`.
        insides: for each of its line series, in order, an array of truth values over its points, or None.
    """
    picture = chart_picture(chart)
    (axes,) = picture.axes
    with house_style():
        for line, inside in zip(axes.lines[: len(insides)], insides, strict=True):
            line.set_linestyle(UNKNOWN if inside is None else BEYOND)
            if inside is not None and np.any(inside):
                x, y = (np.where(inside, values, np.nan) for values in line.get_data())
                axes.plot(x, y, color=line.get_color(), linestyle="-", clip_on=False, zorder=line.get_zorder())
    return picture

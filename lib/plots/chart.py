"""A what-if's chart as a picture: the still page and the notebook show it, the live page draws the same data."""

from itertools import pairwise

from matplotlib.ticker import FixedLocator

from lib.plots.axes import add_axes, wrapped
from lib.plots.labels import Labels
from lib.plots.style import COLOURS, DASHES, INK, SOFT, house_style, new_picture, to_svg

_MOST_BARS = 8  # with a tick each


def draw_chart(chart):
    """A chart as SVG text, with its alt text, ready to stand in a page.

    >>> from lib.whatif.model import Axis, Chart, Series
    >>> line = Series(label="loss", x=(1.0, 10.0), y=(3.0, 2.0))
    >>> axes = {"x": Axis(label="tokens (billions)", scale="log"), "y": Axis(label="loss (nats per token)")}
    >>> draw_chart(Chart(title="Loss falls", alt="A falling line.", series=(line,), **axes))[:4]
    '<svg'
    """
    return to_svg(chart_picture(chart), label=chart.alt)


def chart_picture(chart):
    """A `lib.whatif.model.Chart` as a picture: lines, points and bars, log axes, reference lines, labels in place."""
    with house_style():
        picture = new_picture()
        lines = _led_to_the_margin(chart)
        ends = [wrapped(label, picture) for label, *_ in lines]
        axes = add_axes(
            picture,
            x_label=chart.x.label,
            y_label=chart.y.label,
            x_limits=_limits(chart, "x"),
            y_limits=_limits(chart, "y"),
            x_scale=chart.x.scale,
            y_scale=chart.y.scale,
            margin_labels=ends,
        )
        if bars := {v for s in chart.series if s.kind == "bars" for v in s.x}:
            _tick_bars(axes, sorted(bars))
        labels = Labels(axes)
        if chart.stacked:
            _draw_piles(axes, chart)
        for place, series in enumerate(() if chart.stacked else chart.series):
            _draw_series(axes, labels, series, place)
        labels.at_line_ends([(text, *line[1:]) for text, line in zip(ends, lines, strict=True)])
        _draw_references(axes, labels, chart.references)
        for series in () if chart.stacked else chart.series:
            if series.kind == "points" or (series.kind == "bars" and len(chart.series) > 1):
                _label_marks(labels, series)
    return picture


def _led_to_the_margin(chart):
    """(label, x, y, colour) of each series that is named in the right margin: lines, and whatever is stacked."""
    found = []
    for place, (series, top) in enumerate(zip(chart.series, chart.tops, strict=True)):
        if series.x and (chart.stacked or series.kind == "line"):
            y = top[-1] - series.y[-1] / 2 if chart.stacked else series.y[-1]
            found.append((series.label, series.x[-1], y, COLOURS[place % len(COLOURS)]))
    return found


def _draw_piles(axes, chart):
    for place, (series, top) in enumerate(zip(chart.series, chart.tops, strict=True)):
        colour, below = COLOURS[place % len(COLOURS)], [a - b for a, b in zip(top, series.y, strict=True)]
        if series.kind == "bars":
            axes.bar(series.x, series.y, width=_bar_width(axes, series), bottom=below, color=colour, zorder=2)
        else:
            axes.fill_between(series.x, below, top, color=colour, alpha=0.8, linewidth=0, zorder=2)


def _tick_bars(axes, places):
    """A tick under each bar, or under every so many: between two bars there is nothing to read."""
    axes.xaxis.set_major_locator(FixedLocator(places[:: -(-len(places) // _MOST_BARS)]))


def _draw_series(axes, labels, series, place):
    colour = COLOURS[place % len(COLOURS)]
    if series.kind == "bars":
        axes.bar(series.x, series.y, width=_bar_width(axes, series), color=colour, zorder=2)
        return
    labels.avoid_line(series.x, series.y, steps=12 if series.kind == "line" else 1)
    if series.kind == "line":
        axes.plot(series.x, series.y, color=colour, linestyle=DASHES[place % len(DASHES)], clip_on=False, zorder=3)
    else:
        axes.plot(series.x, series.y, "o", color=colour, markersize=7, clip_on=False, zorder=4)


def _bar_width(axes, series):
    low, high = axes.get_xlim()
    gaps = [b - a for a, b in pairwise(sorted(series.x))]
    return 0.7 * min(gaps, default=(high - low) / 8)


def _draw_references(axes, labels, references):
    for reference in references:
        line = {"color": INK, "alpha": SOFT, "linewidth": 1, "linestyle": (0, (3, 2)), "zorder": 1}
        if reference.axis == "x":
            axes.axvline(reference.value, **line)
            labels.avoid_line((reference.value,) * 2, axes.get_ylim(), steps=40)
        else:
            axes.axhline(reference.value, **line)
            labels.avoid_line(axes.get_xlim(), (reference.value,) * 2, steps=60)
    for reference in references:
        place = labels.along_x if reference.axis == "x" else labels.along_y
        place(wrapped(reference.label, axes.figure), reference.value)


def _label_marks(labels, series):
    # One name for a group of points: at the one that stands highest.
    top = max(range(len(series.x)), key=lambda k: series.y[k])
    labels.beside(wrapped(series.label, labels.axes.figure), series.x[top], series.y[top])


def _limits(chart, axis):
    scale = getattr(chart, axis).scale
    values = [v for s in chart.series for v in s.x] if axis == "x" else [v for top in chart.tops for v in top]
    values += [r.value for r in chart.references if r.axis == axis]
    low, high = min(values), max(values)
    bars = any(s.kind == "bars" for s in chart.series)
    air = 0.0 if axis == "x" and any(s.kind == "line" for s in chart.series) else 0.08
    if scale == "log":
        factor = max((high / low) ** air, 1.1 if low == high else 1.0)
        return low / factor, high * factor
    span = (high - low) or abs(high) or 1.0
    if axis == "y" and (bars or chart.stacked):
        return min(0.0, low), high + air * span
    if axis == "x" and bars:
        return low - 0.6 * _gap(chart), high + 0.6 * _gap(chart)
    return low - air * span, high + air * span


def _gap(chart):
    places = sorted({v for s in chart.series for v in s.x})
    return min((b - a for a, b in pairwise(places)), default=1.0)

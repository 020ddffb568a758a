"""Bars under their names: a handful of values of one quantity, compared."""

from matplotlib.patches import Rectangle

from lib import check
from lib.plots.axes import text_width
from lib.plots.style import BLUE, COLOURS, INK, SMALL, SOFT, TEXT, house_style, new_picture

_ROW, _BAR, _WIDE, _TOP = 38.0, 14.0, 372.0, 20.0


def compare(rows, unit, limit=None, marked=None):
    """One bar a row, its name above it and its value behind it; a line where the limit is.

    Args:
        rows: (name, value) of each, values of 0 or more, all in the same unit.
        unit: written behind each value: "days".
        limit: (name, value) of a line across all bars, such as a deadline; or None.
        marked: the name of the row to draw in colour, the others being grey; None colours all.

    Raises:
        TypeError, ValueError: for a value that is no number of 0 or more.

    >>> picture = compare([("6N", 14.0), ("6N and full attention", 15.6)], "days", ("deadline", 14.0))
    """
    for _, value in rows:
        check.non_negative(value=value)
    most = max([value for _, value in rows] + ([limit[1]] if limit else []))
    with house_style():
        head = _TOP if limit else 0
        picture = new_picture(height=(len(rows) * _ROW + head + 2) / 72)
        values = [f"{value:,.4g} {unit}" for _, value in rows]
        scale = (_WIDE - max(text_width(picture, v, TEXT, "bold") for v in values) - 8) / (most or 1.0)
        for place, ((name, value), text) in enumerate(zip(rows, values, strict=True)):
            colour = BLUE if marked in (None, name) else COLOURS[-1]
            _bar(picture, picture.bbox.height - head - (place + 1) * _ROW + 2, value * scale, colour, (name, text))
        if limit:
            _limit(picture, 1 + limit[1] * scale, limit[0], len(rows) * _ROW)
    return picture


def _bar(picture, y, length, colour, texts):
    name, value = texts
    picture.add_artist(Rectangle((1, y), length, _BAR, transform=None, facecolor=colour, linewidth=0))
    picture.text(1, y + _BAR + 4, name, transform=None, size=SMALL, va="baseline")
    picture.text(length + 8, y + _BAR / 2, value, transform=None, size=TEXT, weight="bold", va="center")


def _limit(picture, x, name, height):
    picture.add_artist(Rectangle((x - 0.6, 2), 1.2, height, transform=None, facecolor=INK, alpha=SOFT, linewidth=0))
    ha = "right" if x > _WIDE / 2 else "left"
    picture.text(x, height + 6, name, transform=None, size=SMALL, ha=ha, va="baseline")

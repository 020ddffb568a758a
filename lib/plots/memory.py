"""How far the ledger lies from what was read, job by job."""

from matplotlib.patches import Rectangle

from lib.plots.axes import text_width
from lib.plots.style import BLUE, FAINT, INK, OCHRE, SMALL, SOFT, TEXT, VERMILION, house_style, new_picture

_ROW, _WIDE, _TOP, _BOTTOM = 16.0, 372.0, 6.0, 34.0
_COLOURS = {"allocated": BLUE, "reserved": OCHRE, "driver": VERMILION}


def reading_errors(rows, most=0.25):
    """How far each prediction lies from its reading, one line a job; a band of ten percent to either side.

    Args:
        rows: (job, counter, lowest error, highest error) of each, errors as fractions.
        most: the error at the ends of the axis, a fraction above every row's.

    Raises:
        ValueError: for an error beyond the ends.
    """
    if any(max(abs(low), abs(high)) > most for _, _, low, high in rows):
        raise ValueError(f"most = {most:g}: at least the largest error")
    with house_style():
        picture = new_picture(height=(len(rows) * _ROW + _TOP + _BOTTOM) / 72)
        left = max(text_width(picture, name) for name, *_ in rows) + 10
        scale = _Scale(left, _WIDE - 8, most)
        _band(picture, scale, len(rows) * _ROW)
        for place, row in enumerate(rows):
            _mark(picture, scale, _BOTTOM + (len(rows) - place - 0.5) * _ROW, row)
        _key(picture)
    return picture


class _Scale:
    """Where an error lies, in points."""

    def __init__(self, left, right, most):
        self.left, self.right, self.most = left, right, most

    def at(self, error):
        return self.left + (error + self.most) / (2 * self.most) * (self.right - self.left)


def _band(picture, scale, height):
    low, zero, high = scale.at(-0.1), scale.at(0.0), scale.at(0.1)
    picture.add_artist(
        Rectangle((low, _BOTTOM), high - low, height, transform=None, facecolor=INK, alpha=FAINT / 2, linewidth=0)
    )
    picture.add_artist(
        Rectangle((zero - 0.5, _BOTTOM), 1, height, transform=None, facecolor=INK, alpha=SOFT, linewidth=0)
    )
    for at, words in ((low, "-10%"), (zero, "0"), (high, "+10%")):
        picture.text(at, _BOTTOM - 3, words, transform=None, size=SMALL, ha="center", va="top")


def _mark(picture, scale, middle, row):
    name, counter, low, high = row
    picture.text(scale.left - 6, middle, name, transform=None, size=SMALL, ha="right", va="center")
    width = max(scale.at(high) - scale.at(low), 7.0)
    start = (scale.at(low) + scale.at(high) - width) / 2
    picture.add_artist(
        Rectangle((start, middle - 3.5), width, 7, transform=None, facecolor=_COLOURS[counter], linewidth=0)
    )


def _key(picture):
    at = 60.0
    for counter, colour in _COLOURS.items():
        picture.add_artist(Rectangle((at, 3), 8, 8, transform=None, facecolor=colour, linewidth=0))
        picture.text(at + 11, 7, counter, transform=None, size=SMALL, va="center")
        at += text_width(picture, counter, TEXT) + 30

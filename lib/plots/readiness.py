"""The items of a readiness review under several cases: missing, stated, verified."""

from matplotlib.patches import Rectangle

from lib import check
from lib.plots.axes import text_width
from lib.plots.style import GREEN, INK, OCHRE, SMALL, SOFT, TEXT, house_style, new_picture
from lib.readiness import Review

_ROW, _COLUMN, _BOX, _TOP, _BOTTOM, _LEFT = 20.0, 56.0, 13.0, 22.0, 24.0, 96.0
_FILLED = {"missing": (0.0, INK), "stated": (0.5, OCHRE), "verified": (1.0, GREEN)}


def review_states(cases):
    """A square for each item and case: empty is missing, half is stated, full is verified.

    Args:
        cases: (name, `lib.readiness.Review`) of each, the name short.

    Raises:
        TypeError: for what is no review.
    """
    cases = tuple(cases)
    for _, found in cases:
        check.instance(Review, found=found)
    rows = [one.item.key for one in cases[0][1].states]
    with house_style():
        picture = new_picture(height=(len(rows) * _ROW + _TOP + _BOTTOM) / 72)
        top = picture.bbox.height - _TOP
        for place, key in enumerate(rows):
            middle = top - (place + 0.5) * _ROW
            picture.text(_LEFT - 8, middle, key, transform=None, size=TEXT, ha="right", va="center")
        for column, (name, found) in enumerate(cases):
            x = _LEFT + (column + 0.5) * _COLUMN
            picture.text(x, top + 6, name, transform=None, size=TEXT, weight="bold", ha="center", va="baseline")
            for place, one in enumerate(found.states):
                _square(picture, x - _BOX / 2, top - (place + 0.5) * _ROW - _BOX / 2, one.state)
        _key(picture)
    return picture


def _square(picture, x, y, state):
    part, colour = _FILLED[state]
    if part:
        picture.add_artist(Rectangle((x, y), _BOX, part * _BOX, transform=None, facecolor=colour, linewidth=0))
    edge = {"edgecolor": colour, "linewidth": 1.0, "alpha": 1.0 if part else SOFT}
    picture.add_artist(Rectangle((x, y), _BOX, _BOX, transform=None, facecolor="none", **edge))


def _key(picture):
    at = _LEFT
    for state in _FILLED:
        _square(picture, at, 3, state)
        picture.text(at + _BOX + 5, 3 + _BOX / 2, state, transform=None, size=SMALL, va="center")
        at += _BOX + text_width(picture, state, SMALL) + 24

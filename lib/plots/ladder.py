"""The pilot ladder as a ladder: what each rung takes, and which are passed."""

import math

from matplotlib.patches import Rectangle

from lib import check
from lib.ladder import Climb
from lib.plots.axes import text_width
from lib.plots.style import BLUE, GREEN, INK, SMALL, SOFT, TEXT, VERMILION, house_style, new_picture
from lib.units import show

_ROW, _BAR, _LEFT, _WIDE, _BOTTOM = 30.0, 13.0, 24.0, 372.0, 24.0
_MARKS = {"passed": GREEN, "failed": VERMILION, "not passed": INK}


def ladder(climb):
    """Seven rungs, the lowest at the bottom: a mark for the verdict, and a bar for GPU-hours on a log scale.

    Args:
        climb: a `lib.ladder.Climb`.

    Raises:
        TypeError: for something else.
    """
    check.instance(Climb, climb=climb)
    with house_style():
        picture = new_picture(height=(len(climb.verdicts) * _ROW + _BOTTOM + 4) / 72)
        texts = [_takes(verdict.rung) for verdict in climb.verdicts]
        longest = max(text_width(picture, text, TEXT, "bold") for text in texts)
        most = max(_length(verdict.rung) for verdict in climb.verdicts)
        scale = (_WIDE - _LEFT - longest - 8) / (most or 1.0)
        for place, (verdict, text) in enumerate(zip(climb.verdicts, texts, strict=True)):
            _rung(picture, _BOTTOM + place * _ROW, verdict, (_length(verdict.rung) * scale, text))
        _key(picture)
    return picture


def _takes(rung):
    return show(rung.gpu_hours, "GPU-hours") if rung.gpu_hours else "none: a laptop"


def _length(rung):
    return math.log10(1 + rung.gpu_hours)


def _rung(picture, y, verdict, bar):
    length, text = bar
    _mark(picture, 2, y + 1, _word(verdict))
    picture.add_artist(Rectangle((_LEFT, y), length, _BAR, transform=None, facecolor=BLUE, linewidth=0))
    name = f"{verdict.rung.number}. {verdict.rung.name}"
    picture.text(_LEFT, y + _BAR + 3, name, transform=None, size=SMALL, va="baseline")
    picture.text(_LEFT + length + 6, y + _BAR / 2, text, transform=None, size=TEXT, weight="bold", va="center")


def _word(verdict):
    return "passed" if verdict.passed else "failed" if verdict.failures else "not passed"


def _mark(picture, x, y, word):
    """Full for passed, crossed for failed, empty for not passed: colour is not alone."""
    face = GREEN if word == "passed" else "none"
    edge = {"edgecolor": _MARKS[word], "linewidth": 1.2, "alpha": SOFT if word == "not passed" else 1.0}
    picture.add_artist(Rectangle((x, y), 11, 11, transform=None, facecolor=face, **edge))
    if word == "failed":
        cross = {"transform": None, "size": TEXT, "weight": "bold", "color": VERMILION}
        picture.text(x + 5.5, y + 5.5, "x", ha="center", va="center", **cross)


def _key(picture):
    at = 2.0
    for word in _MARKS:
        _mark(picture, at, 3, word)
        picture.text(at + 16, 8.5, word, transform=None, size=SMALL, va="center")
        at += text_width(picture, word, SMALL) + 36

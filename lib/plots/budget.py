"""Where a cluster's time goes: from the data sheet's peak to the FLOPs that count."""

from matplotlib.patches import Rectangle

from lib import check
from lib.plots.axes import text_width, tick_text
from lib.plots.style import BLUE, FAINT, GREY, INK, SMALL, TEXT, house_style, new_picture

_ROW, _BAR, _WIDE = 62.0, 20.0, 372.0


def where_the_fortnight_goes(stages):
    """Bars from peak to useful FLOPs, each shorter by what was lost on the way to it.

    Args:
        stages: (name, flop, what is known or assumed) from the largest to the smallest; the first is the peak.

    Raises:
        ValueError: if a stage has more FLOPs than the one before it.

    >>> stages = [("peak", 4.8e22, "data sheet"), ("while it runs", 2.2e22, "MFU 0.45, assumed")]
    >>> len(where_the_fortnight_goes(stages).artists)
    3
    """
    flops = [flop for _, flop, _ in stages]
    for before, flop in zip([flops[0], *flops], flops, strict=False):
        check.positive(flop=flop)
        if flop > before:
            raise ValueError(f"flop = {flop:g}: at most what the stage before has, {before:g}")
    with house_style():
        picture = new_picture(height=(len(stages) * _ROW + 4) / 72)
        for place, stage in enumerate(stages):
            before = flops[max(0, place - 1)]
            _stage(picture, picture.bbox.height - (place + 1) * _ROW + 8, stage, flops[0], before)
    return picture


def _stage(picture, y, stage, peak, before):
    name, flop, known = stage
    length, lost = _WIDE * flop / peak, _WIDE * (before - flop) / peak
    colour = BLUE if lost else GREY
    picture.add_artist(Rectangle((1, y), length, _BAR, transform=None, facecolor=colour, linewidth=0))
    if lost:
        ghost = {"facecolor": INK, "alpha": FAINT, "linewidth": 0}
        picture.add_artist(Rectangle((1 + length, y), lost, _BAR, transform=None, **ghost))
        _lost(picture, y, length, lost, flop / before)
    _name(picture, y + _BAR + 4, name, known)
    _amount(picture, y + _BAR / 2, length, f"{tick_text(flop, 2)} FLOP")


def _name(picture, y, name, known):
    picture.text(1, y, name, transform=None, size=TEXT, weight="bold", va="baseline")
    after = text_width(picture, name, TEXT, "bold") + 8
    picture.text(after, y, known, transform=None, size=SMALL, va="baseline")


def _amount(picture, y, length, amount):
    inside = text_width(picture, amount, TEXT, "bold") + 12 < length
    at = {"x": length - 6, "ha": "right", "color": "#ffffff"} if inside else {"x": length + 6, "ha": "left"}
    picture.text(y=y, s=amount, transform=None, size=TEXT, weight="bold", va="center", **at)


def _lost(picture, y, length, lost, kept):
    text = f"{1 - kept:.0%} lost"
    inside = text_width(picture, text) + 8 < lost
    at = {"x": length + lost - 5, "ha": "right"} if inside else {"x": length + lost + 6, "ha": "left"}
    picture.text(y=y + _BAR / 2, s=text, transform=None, size=SMALL, va="center", **at)

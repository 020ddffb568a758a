"""Axes in the house style: the y label lies flat above the axis, ticks are few and read like amounts."""

import math
from textwrap import fill

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import IdentityTransform

from lib.plots.style import FAINT, INK, SMALL, TEXT

_LETTERS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_RIGHT_SHARE = 0.34  # of the width, at most, for labels at line ends


def tick_text(value, decimals=1):
    """A tick as people write it: K to T up to 10¹⁴, powers of ten beyond, with so many decimals at most.

    >>> [tick_text(v) for v in (0, 0.45, 20, 5000, 2e9, 1e12, 1e22, 5e21, 0.0002)]
    ['0', '0.45', '20', '5K', '2B', '1T', '10²²', '5·10²¹', '2·10⁻⁴']
    """
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.4g}"
    if abs(value) < 1e15 and abs(value) >= 1e3:
        scale, letter = next(pair for pair in _LETTERS if abs(value) >= 0.9999 * pair[0])
        return f"{value / scale:.4g}{letter}"
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    power = "10" + str(int(exponent)).translate(_RAISED)
    return power if float(mantissa) == 1 else f"{float(mantissa):g}·{power}"


def ticks(low, high, scale="linear", at_most=6):
    """Few round numbers between two ends.

    >>> ticks(1e18, 1e24, "log"), ticks(2e9, 7e10, "log")
    ([1e+18, 1e+20, 1e+22, 1e+24], [2000000000.0, 5000000000.0, 10000000000.0, 20000000000.0, 50000000000.0])
    """
    if scale == "linear":
        found = MaxNLocator(at_most - 1, steps=[1, 2, 5, 10]).tick_values(low, high)
        return [float(v) for v in found if low - 1e-12 <= v <= high + 1e-12]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors, step in (((1, 2, 3, 5), 1), ((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 3), ((1,), 6)):
        found = [f * 10.0**e for e in range(first, last + 1, step) for f in factors]
        found = [v for v in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if len(found) <= at_most:
            return found
    return found


def add_axes(picture, *, x_label, y_label, x_limits, y_limits, x_scale="linear", y_scale="linear", margin_labels=()):
    """Axes with margins that hold the tick labels and the labels at line ends.

    Args:
        picture: from `new_picture`.
        x_label, y_label: "quantity (unit)".
        x_limits, y_limits: (low, high) in data.
        x_scale, y_scale: "linear" or "log".
        margin_labels: texts that will stand to the right of the axes.

    Returns:
        The axes. Every data limit is final: labels are placed in points.
    """
    width, height = picture.bbox.width, picture.bbox.height
    y_ticks, x_ticks = ticks(*y_limits, y_scale), ticks(*x_limits, x_scale)
    left = max((text_width(picture, tick_text(v)) for v in y_ticks), default=0) + 14
    last = text_width(picture, tick_text(x_ticks[-1])) / 2 if x_ticks else 0
    right = max([last + 4, *(text_width(picture, t) + 18 for t in margin_labels)])
    top, bottom = 26 + 12 * y_label.count("\n"), 38 + 12 * x_label.count("\n")
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    axes = picture.add_axes(box, xscale=x_scale, yscale=y_scale, xlim=x_limits, ylim=y_limits)
    for axis, places in ((axes.xaxis, x_ticks), (axes.yaxis, y_ticks)):
        axis.set_major_locator(FixedLocator(places))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda v, _: tick_text(v)))
    axes.tick_params(length=3, width=0.8, pad=3)
    axes.grid(color=INK, alpha=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label, loc="right", labelpad=3, fontsize=TEXT)
    axes.set_ylabel(y_label, rotation=0, ha="left", va="bottom", fontsize=TEXT)
    axes.yaxis.set_label_coords(2, height - 16 - 12 * y_label.count("\n"), transform=IdentityTransform())
    return axes


def text_width(picture, text, size=SMALL, weight="normal"):
    """Width of a text in points, the widest of its lines."""
    probe = picture.text(0, 0, text, size=size, weight=weight)
    width = probe.get_window_extent().width
    probe.remove()
    return width


def wrapped(text, picture, share=_RIGHT_SHARE):
    """A label broken into lines that take at most a share of the picture's width."""
    letters = max(9, int(share * picture.bbox.width / 5.4))
    return fill(text, letters, break_long_words=False)

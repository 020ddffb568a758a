"""Where the FLOPs of a token go as its sequence grows."""

from itertools import accumulate

from lib import check
from lib.plots.axes import add_axes, wrapped
from lib.plots.labels import Labels
from lib.plots.style import COLOURS, INK, SMALL, SOFT, house_style, new_picture

_GIGA = 1e9


def token_flops(lengths, parts, rule=None):
    """Stacked areas of FLOPs a token over the sequence length; a line where a rule of thumb stands.

    Args:
        lengths: sequence lengths in tokens, rising, each above 0.
        parts: (name, FLOPs a token at each length) from the bottom up.
        rule: (name, FLOPs a token) of a level line, such as 6N; or None.

    Raises:
        TypeError, ValueError: for a length or an amount that is no positive number.

    >>> picture = token_flops([1024, 8192], [("layers", [4e10, 4e10]), ("attention", [1e9, 6e9])], ("6N", 4.8e10))
    """
    for value in [*lengths, *(v for _, values in parts for v in values)]:
        check.positive(flops=value)
    tops = list(accumulate((values for _, values in parts), lambda a, b: [x + y for x, y in zip(a, b, strict=True)]))
    highest = max(tops[-1]) / _GIGA
    with house_style():
        picture = new_picture()
        ends = [wrapped(name, picture) for name, _ in parts]
        axes = add_axes(
            picture,
            x_label="sequence length (tokens)",
            y_label="FLOPs a token, forward and backward (GFLOP)",
            x_limits=(lengths[0], lengths[-1]),
            y_limits=(0, 1.04 * highest),
            x_scale="log",
            margin_labels=ends,
        )
        _fill(axes, lengths, tops, ends)
        if rule:
            _rule(axes, rule[0], rule[1] / _GIGA)
    return picture


def _fill(axes, lengths, tops, names):
    below, ends = [0.0] * len(lengths), []
    for place, (name, top) in enumerate(zip(names, tops, strict=True)):
        low, high = [v / _GIGA for v in below], [v / _GIGA for v in top]
        axes.fill_between(lengths, low, high, color=COLOURS[place], alpha=0.75, linewidth=0, zorder=2)
        ends.append((name, lengths[-1], (low[-1] + high[-1]) / 2, COLOURS[place]))
        below = top
    Labels(axes).at_line_ends(ends)


def _rule(axes, name, value):
    axes.axhline(value, color=INK, linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
    at = axes.get_yaxis_transform()
    axes.text(0.02, value, name, transform=at, size=SMALL, va="bottom", ha="left", alpha=1 - SOFT / 4, zorder=5)

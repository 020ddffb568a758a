"""Labels in place of legends: text beside what it names, where it covers neither other text nor lines."""

import math

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from lib.plots.style import INK, SMALL, SOFT

_AIR = 2.0  # points kept free around a label
_NEAR = 9.0  # points from which a label needs a line to what it names
_SIDES = [(0, 8), (0, -8), (6, 6), (-6, 6), (6, -6), (-6, -6), (9, 0), (-9, 0)]
_BESIDE = _SIDES + [(k * dx, k * dy) for k in (2, 3) for dx, dy in _SIDES]  # where a label may stand, best first


class Labels:
    """The labels of one set of axes. Limits and margins must be set before: places are chosen in points."""

    def __init__(self, axes):
        self.axes = axes
        self.taken = _around(axes)  # boxes of labels
        self.crossed = np.empty((0, 2))  # points along lines

    def avoid_line(self, x, y, steps=12):
        """Keep labels off a line through these data points."""
        points = self.axes.transData.transform(np.column_stack((x, y)))
        shares = np.arange(steps + 1)[:, None]
        between = points[:-1, None] + np.diff(points, axis=0)[:, None] * shares / steps
        self._cross(points if len(points) == 1 else between.reshape(-1, 2))

    def _cross(self, points):
        self.crossed = np.concatenate((self.crossed, points))

    def beside(self, text, x, y, **style):
        """Label a point, on whichever side is free."""
        at = self.axes.transData.transform((x, y))
        places = [(at[0] + dx, at[1] + dy, _ha(dx), _va(dy)) for dx, dy in _BESIDE]
        label = self._first_free(text, places, style)
        to = self.axes.figure.transFigure.transform(label.get_position())
        if abs(to - at).max() > _NEAR:
            self._leader(at, to, INK)
        return label

    def along_x(self, text, x, **style):
        """Label a vertical line, near its top, to the right or to the left of it."""
        box = self.axes.get_window_extent()
        at = self.axes.transData.transform((x, self.axes.get_ylim()[0]))[0]
        rows = [box.y1 - _AIR - k * 13 for k in range(int(box.height // 13))]
        return self._first_free(text, [(at + dx, y, _ha(dx), "top") for y in rows for dx in (5, -5)], style)

    def along_y(self, text, y, **style):
        """Label a horizontal line, above or below it, at its right or left end or between."""
        box = self.axes.get_window_extent()
        at = self.axes.transData.transform((self.axes.get_xlim()[0], y))[1]
        ends = [(box.x1, "right"), (box.x0 + 4, "left")]
        ends += [(box.x0 + box.width * share, "center") for share in (0.75, 0.25, 0.5)]
        return self._first_free(text, [(x, at + dy, ha, _va(dy)) for dy in (3, -3) for x, ha in ends], style)

    def on_line(self, text, start, end, **style):
        """Write along a straight line between two data points, on the stretch and side that are freest."""
        (x0, y0), (x1, y1) = self.axes.transData.transform([start, end])
        slope = (y1 - y0) / (x1 - x0)
        figure, box = self.axes.figure, self.axes.get_window_extent()
        label = figure.text(0, 0, text, **({"size": SMALL, "color": INK} | style))
        width, height = label.get_window_extent().size
        centres = np.array([(x0 + (x1 - x0) * k / 40, y0 + (y1 - y0) * k / 40) for k in range(41)])
        centres = centres[_holding(box.extents[None], centres)[0]]
        turned = _Turned(math.atan(slope), width + 2 * _AIR, height)
        above, below = (turned.shifted(centres, side * (height / 2 + 1)) for side in (1, -1))
        places = np.stack((above, below), axis=1).reshape(-1, 2)
        best = places[np.argmin(self._costs_turned(turned, places, box))]
        at = figure.transFigure.inverted().transform(best)
        turn = {"rotation": math.degrees(turned.angle), "rotation_mode": "anchor"}
        label.set(position=at, ha="center", va="center_baseline", **turn)
        self._cross(turned.spots(best[None])[0])
        return label

    def _costs_turned(self, turned, places, box):
        spots = turned.spots(places)
        off = ~_holding(box.extents[None], spots)
        over = _holding(_extents(self.taken, _AIR), spots)
        bad = (off.sum(axis=0) + over.sum(axis=0)).sum(axis=1)
        return 1000 * bad + turned.covers(places, self.crossed).sum(axis=1)

    def at_line_ends(self, ends):
        """Label lines in the right margin, pushed apart where they would touch.

        Args:
            ends: (text, x, y, colour) for each line, x and y its last point.
        """
        figure, box = self.axes.figure, self.axes.get_window_extent()
        texts = [figure.text(0, 0, text, size=SMALL, va="center", linespacing=1.05) for text, *_ in ends]
        wanted = [self.axes.transData.transform((x, y)) for _, x, y, _ in ends]
        heights = [t.get_window_extent().height + _AIR for t in texts]
        heights_at = _spread([w[1] for w in wanted], heights, box.y0 - 8, box.y1 + 8)
        for text, (x, y), to, (*_, colour) in zip(texts, wanted, heights_at, ends, strict=True):
            text.set_position(figure.transFigure.inverted().transform((box.x1 + 12, to)))
            self._leader((x, y), (box.x1 + 9, to), colour)
            self.taken.append(text.get_window_extent())
        return texts

    def _leader(self, start, end, colour):
        figure = self.axes.figure
        (x0, y0), (x1, y1) = figure.transFigure.inverted().transform([start, end])
        figure.add_artist(Line2D([x0, x1], [y0, y1], color=colour, linewidth=1.2, alpha=SOFT))

    def _first_free(self, text, places, style):
        figure = self.axes.figure
        label = figure.text(0, 0, text, **({"size": SMALL, "color": INK, "linespacing": 1.05} | style))
        boxes = _boxes(places, label.get_window_extent().size)
        x, y, ha, va = places[np.argmin(self._costs(boxes))]
        label.set(ha=ha, va=va, position=figure.transFigure.inverted().transform((x, y)))
        self.taken.append(label.get_window_extent())
        return label

    def _costs(self, boxes):
        # Text over text is worst, then text off the picture, then text over a line.
        over = _shared(boxes, _extents(self.taken)).sum(axis=1)
        off = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - _shared(boxes, self.axes.figure.bbox.extents[None])[:, 0]
        return 1000 * over + 1000 * off + 20 * _holding(boxes, self.crossed).sum(axis=1)


def _around(axes):
    # The strips of the tick labels: below and left of the axes.
    box, page = axes.get_window_extent(), axes.figure.bbox
    return [Bbox([[page.x0, page.y0], [page.x1, box.y0]]), Bbox([[page.x0, page.y0], [box.x0, box.y1]])]


class _Turned:
    """A box of text at an angle."""

    def __init__(self, angle, width, height):
        self.angle, self.width, self.height = angle, width, height
        self.cos, self.sin = math.cos(angle), math.sin(angle)

    def shifted(self, points, across):
        return np.add(points, (-across * self.sin, across * self.cos))

    def covers(self, centres, points):
        dx, dy = (points - centres[:, None]).transpose(2, 0, 1)
        along, across = dx * self.cos + dy * self.sin, dy * self.cos - dx * self.sin
        return (abs(along) < self.width / 2) & (abs(across) < self.height / 2)

    def spots(self, centres):
        grid = [(u * self.width / 2, v * self.height / 2) for u in (-1, -0.5, 0, 0.5, 1) for v in (-1, 0, 1)]
        return centres[:, None] + [(u * self.cos - v * self.sin, u * self.sin + v * self.cos) for u, v in grid]


# Dozens of places for a label against thousands of points and all labels before: counted as arrays of (x0, y0, x1, y1).


def _boxes(places, extent):
    """Where text of an extent lies at each place, with air around it."""
    width, height = extent
    x = [x - {"left": 0, "center": width / 2, "right": width}[ha] for x, _, ha, _ in places]
    y = [y - {"bottom": 0, "center": height / 2, "top": height}[va] for _, y, _, va in places]
    low = np.column_stack((x, y)) - _AIR
    return np.hstack((low, low + extent + 2 * _AIR))


def _extents(boxes, air=0.0):
    return np.array([box.padded(air).extents for box in boxes])


def _holding(boxes, points):
    """Which boxes hold which points."""
    x, y = np.moveaxis(points, -1, 0)
    x0, y0, x1, y1 = boxes.T.reshape(4, -1, *(1,) * x.ndim)
    return (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)


def _shared(boxes, others):
    """The area that each box shares with each other."""
    low = np.maximum(boxes[:, None, :2], others[:, :2])
    return np.maximum(np.minimum(boxes[:, None, 2:], others[:, 2:]) - low, 0).prod(axis=2)


def _ha(dx):
    return "left" if dx > 0 else "right" if dx < 0 else "center"


def _va(dy):
    return "bottom" if dy > 0 else "top" if dy < 0 else "center"


def _spread(wanted, heights, low, high):
    """Centres as near to the wanted ones as fits, in order, without overlap, between low and high."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    centre = dict.fromkeys(order, 0.0)
    floor = low
    for k in order:
        centre[k] = max(wanted[k], floor + heights[k] / 2)
        floor = centre[k] + heights[k] / 2
    ceiling = high
    for k in reversed(order):
        centre[k] = min(centre[k], ceiling - heights[k] / 2)
        ceiling = centre[k] - heights[k] / 2
    return [centre[k] for k in range(len(wanted))]

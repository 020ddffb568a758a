"""Pictures: each function turns values into one figure and computes nothing.

Titles are not inside a picture: the caption states the finding, the alt text says what an eye would see.
"""

from lib.plots.chart import chart_picture, draw_chart
from lib.plots.style import COLOURS, Picture, contrast, house_style, new_picture, to_svg

__all__ = [
    "COLOURS",
    "Picture",
    "chart_picture",
    "contrast",
    "draw_chart",
    "house_style",
    "new_picture",
    "to_svg",
]

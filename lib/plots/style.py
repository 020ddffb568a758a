"""The house style: one size, few lines, labels in place, colours that work on white, on dark and for the colour-blind.

Text and axes are drawn in one sentinel colour, `INK`. `to_svg` turns it into `currentColor`, so that a picture inside a
page takes the page's own text colour, light or dark. The background is transparent.
"""

import hashlib
import os
import re
from io import StringIO

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

INK = "#010203"  # becomes currentColor: nothing else may be drawn in it
BLUE, VERMILION, GREEN, PURPLE, OCHRE, GREY = "#1b7abf", "#d55e00", "#0b9069", "#b8579a", "#997500", "#7a7a7a"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, OCHRE, GREY)  # each at least 3:1 against white and against the dark page
DASHES = ("-", "-", "-", (0, (5, 2)), (0, (5, 2)), (0, (1, 1.4)))
WIDTH, HEIGHT = 5.2, 3.3  # inches: at a phone's 340 px the 10-point text is still 9 px high
FAINT, SOFT = 0.14, 0.55  # opacity of grid lines, of secondary lines and text
TEXT, SMALL = 10, 9  # points

_SHOWN_WIDTH = 560  # px in the page's column
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_RC = {
    "font.family": "DejaVu Sans",  # wider than the page's own fonts: what fits here fits there
    "font.size": TEXT,
    "figure.dpi": 72,  # a point is a unit of the picture
    "text.parse_math": False,  # $5 is a price
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "lines.linewidth": 2.0,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.8,
    "svg.fonttype": "none",  # text stays text: searchable, and in the page's font
    "svg.hashsalt": "handbook",  # the same picture gives the same bytes
    "path.simplify": False,
}


class Picture(Figure):
    """A figure that shows itself as SVG, in the book and in a notebook, and leaves no state behind."""

    def _repr_mimebundle_(self, include=None, exclude=None):
        # Outside the book a picture stands in an <img>, cut off from the page's colour: it brings its own paper.
        paper = "" if os.environ.get("HANDBOOK_BUILD") else "#ffffff"
        return {"image/svg+xml": to_svg(self, paper=paper), "text/plain": "<Picture>"}, {}


def house_style():
    """The settings under which every picture is made and written: `with house_style(): ...`."""
    return mpl.rc_context(_RC)


def new_picture(width=WIDTH, height=HEIGHT):
    """An empty picture in inches, without axes. Make and fill it inside `house_style`."""
    picture = Picture(figsize=(width, height), dpi=72)
    FigureCanvasAgg(picture)  # measures text
    return picture


def to_svg(figure, label="", paper=""):
    """A figure as SVG text that can stand inside an HTML page: same input, same bytes.

    Text and axes take the colour of the text around them; the picture shrinks with a narrow page.

    Args:
        figure: a figure of this package.
        label: what an eye would see, for a screen reader; without one the caller must say it.
        paper: a background colour, for places that have no text colour to take over.

    Returns:
        An `<svg>` element without XML declaration; ids are unique to the picture.
    """
    buffer = StringIO()
    with house_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _for_the_page(buffer.getvalue(), label, paper)


def _for_the_page(text, label, paper):
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'<path d="[^"]*" style="fill: none"/>| transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(
        r' d="[^"]*"', lambda d: re.sub(r"(\.\d\d)\d+", r"\1", d[0]), body
    )  # a hundredth of a point is enough
    # The font stands once, at the root, and so does what the removed <style> said: it would leak into the page.
    body = body.replace(INK, "currentColor").replace("; font-family: 'DejaVu Sans'", "")
    return _root(float(width), float(height), label, paper) + _own_ids(re.sub(r"\s*\n\s*", " ", body))


def _root(width, height, label, paper):
    shown = min(_SHOWN_WIDTH, round(width * 1.5))
    style = f"max-width:100%;height:auto;stroke-linejoin:round;font-family:{_FONT}"
    style += f";color:#1a1a1a;background:{paper}" if paper else ""
    said = f' role="img" aria-label="{_attribute(label)}"' if label else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="plot"{said} '
        f'width="{shown}" height="{shown * height / width:.0f}" viewBox="0 0 {width:g} {height:g}" style="{style}">'
    )


def _own_ids(body):
    # Several pictures share a page: ids that nothing refers to go, the others get a prefix from the content.
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', body))
    prefix = "p" + hashlib.sha256(body.encode()).hexdigest()[:8]
    body = re.sub(r' id="([^"]+)"', lambda m: f' id="{prefix}-{m[1]}"' if m[1] in used else "", body)
    return re.sub(r'(href="#|url\(#)([\w-]+)', rf"\1{prefix}-\2", body)


def _attribute(text):
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def contrast(colour, background):
    """Contrast ratio of two colours by WCAG 2.2, from 1 to 21.

    Source: W3C, Web Content Accessibility Guidelines 2.2, definitions of contrast ratio and relative luminance.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    dark, light = sorted((_luminance(colour), _luminance(background)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

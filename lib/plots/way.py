"""The way of a plan, with 'you are here'."""

from matplotlib.patches import Polygon

from lib import check
from lib.plan import STEPS
from lib.plots.style import BLUE, FAINT, INK, SMALL, TEXT, house_style, new_picture

_ASKS = (
    "what is asked",
    "FLOPs to spend",
    "size and tokens",
    "a shape to train",
    "tokens to find",
    "what each GPU holds",
    "who computes what",
    "how it learns",
    "what will break",
    "money and energy",
    "small runs first",
    "go or wait",
)
_COLUMNS, _STEP_WIDTH, _STEP_HEIGHT, _ROW, _TIP, _LEFT = 3, 124.0, 36.0, 52.0, 10.0, 1.0


def way_of_a_plan(here):
    """The twelve steps of a plan in order; the steps of this chapter stand out.

    Args:
        here: one step, or several, by name: "compute" or ("compute", "allocation").

    Raises:
        ValueError: for a step that the way does not have.
    """
    here = (here,) if isinstance(here, str) else tuple(here)
    for step in here:
        check.choice(STEPS, here=step)
    rows = -(-len(STEPS) // _COLUMNS)
    with house_style():
        picture = new_picture(height=(rows * _ROW + 4) / 72)
        for place, (step, asks) in enumerate(zip(STEPS, _ASKS, strict=True)):
            row, column = divmod(place, _COLUMNS)
            corner = (_LEFT + column * _STEP_WIDTH, picture.bbox.height - (row + 1) * _ROW + 1)
            _step(picture, corner, step, asks, step in here)
            if step == here[0]:
                _pointer(picture, corner)
    return picture


def _step(picture, corner, step, asks, is_here):
    x, y = corner
    right, top, middle = x + _STEP_WIDTH - 3, y + _STEP_HEIGHT, y + _STEP_HEIGHT / 2
    outline = [(x, y), (right - _TIP, y), (right, middle), (right - _TIP, top), (x, top)]
    face = {"facecolor": BLUE} if is_here else {"facecolor": INK, "alpha": FAINT / 2}
    picture.add_artist(Polygon(outline, transform=None, linewidth=0, **face))
    text = {"transform": None, "color": "#ffffff" if is_here else INK}
    picture.text(x + 7, top - 5, step, size=TEXT, weight="bold", va="top", **text)
    picture.text(x + 7, y + 6, asks, size=SMALL, va="baseline", **text)


def _pointer(picture, corner):
    x, top = corner[0] + 12, corner[1] + _STEP_HEIGHT + 2
    picture.add_artist(
        Polygon([(x, top), (x - 4, top + 6), (x + 4, top + 6)], transform=None, facecolor=BLUE, linewidth=0)
    )
    picture.text(x + 8, top, "you are here", transform=None, size=SMALL, weight="bold", va="baseline")

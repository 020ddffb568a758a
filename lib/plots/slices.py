"""Which GPU holds which slice: one row a scheme, one square for each thing that must lie somewhere."""

from matplotlib.patches import Rectangle

from lib import check
from lib.layout.slices import N_GPUS, SCHEMES, owners
from lib.plots.style import BLUE, GREEN, GREY, OCHRE, SMALL, TEXT, VERMILION, house_style, new_picture

_CELL, _ROW, _TOP, _FIRST, _STEP = 12.0, 64.0, 44.0, 108.0, 68.0
_COLOURS = (BLUE, VERMILION, GREEN, OCHRE)
_THINGS = (("weights", "weights"), ("gradients", "gradients"), ("optimizer", "optimizer\nstates"), ("tokens", "tokens"))


def gpu_slices(schemes=SCHEMES):
    """Squares of cells, each with the number of the GPU that holds it; grey where all do.

    Args:
        schemes: `lib.layout.slices.Slices`, one a row.

    Raises:
        ValueError: if there is none.
    """
    check.integer(schemes=len(schemes))
    with house_style():
        picture = new_picture(height=(len(schemes) * _ROW + _TOP) / 72)
        top = picture.bbox.height - _TOP
        for place, (_, name) in enumerate(_THINGS):
            middle = _FIRST + place * _STEP + N_GPUS * _CELL / 2
            picture.text(middle, top + 8, name, transform=None, size=SMALL, ha="center", va="bottom", linespacing=1.1)
        for place, scheme in enumerate(schemes):
            _scheme(picture, scheme, top - place * _ROW)
    return picture


def _scheme(picture, scheme, top):
    middle = top - N_GPUS * _CELL / 2
    picture.text(2, middle, scheme.name.replace(" ", "\n", 1), transform=None, size=TEXT, weight="bold", va="center")
    for place, (thing, _) in enumerate(_THINGS):
        cells = owners(getattr(scheme, thing))
        for row, gpus in enumerate(cells):
            left = _FIRST + place * _STEP - (len(gpus) - N_GPUS) * _CELL / 2
            for column, gpu in enumerate(gpus):
                _cell(picture, left + column * _CELL, top - (row + 1) * _CELL, gpu)


def _cell(picture, x, y, gpu):
    shade = {"facecolor": GREY, "alpha": 0.45} if gpu is None else {"facecolor": _COLOURS[gpu]}
    picture.add_artist(Rectangle((x, y), _CELL - 1, _CELL - 1, transform=None, linewidth=0, **shade))
    if gpu is not None:
        middle = {"ha": "center", "va": "center_baseline", "color": "#ffffff", "weight": "bold"}
        picture.text(x + _CELL / 2 - 0.5, y + _CELL / 2 - 0.5, str(gpu), transform=None, size=SMALL, **middle)

"""One matrix multiplication, forward and backward: why 2 + 4 = 6."""

from matplotlib.patches import Rectangle

from lib import check
from lib.plots.style import BLUE, FAINT, GREEN, INK, SMALL, TEXT, VERMILION, house_style, new_picture

_ROW = 92.0
_COLOURS = {"X": BLUE, "W": GREEN, "Y": VERMILION}
_MEANING = {"X": "X inputs", "W": "W weights", "Y": "Y outputs"}  # said once, in the first row


def matmul_six(n_tokens=6, d_in=4, d_out=5):
    """The three products that a weight matrix takes part in, as blocks to scale: 2 + 2 + 2 FLOPs.

    Forward Y = X W; backward dX = dY Wᵀ and dW = Xᵀ dY. Each multiplies and adds once for every pair of a token and a
    weight.

    Args:
        n_tokens: rows of X; a small whole number, as each is drawn.
        d_in: columns of X and rows of W, likewise.
        d_out: columns of W, likewise.

    Raises:
        TypeError, ValueError: for sizes that are not whole numbers of at least 1.
    """
    check.integer(n_tokens=n_tokens, d_in=d_in, d_out=d_out)
    x, w, y = ("X", n_tokens, d_in), ("W", d_in, d_out), ("Y", n_tokens, d_out)
    products = (
        ("forward", "the layer's\noutput", x, w, y),
        ("backward", "the input's\ngradient", _gradient(y), _flipped(w), _gradient(x)),
        ("backward", "the weights'\ngradient", _flipped(x), _gradient(y), _gradient(w)),
    )
    with house_style():
        picture = new_picture(height=(3 * _ROW + 34) / 72)
        cell = min(11.0, 62.0 / max(n_tokens, d_in, d_out))
        for place, product in enumerate(products):
            _product(picture, picture.bbox.height - (place + 0.5) * _ROW, cell, product)
        _sum(picture)
    return picture


def _gradient(block):
    name, rows, columns = block
    return "d" + name, rows, columns


def _flipped(block):
    name, rows, columns = block
    return name + "ᵀ", columns, rows


def _product(picture, middle, cell, product):
    when, what, left, right, answer = product
    picture.text(2, middle + 5, when, transform=None, size=TEXT, weight="bold", va="bottom")
    picture.text(2, middle + 3, what, transform=None, size=SMALL, va="top", linespacing=1.1)
    for block, centre in ((left, 120), (right, 196), (answer, 272)):
        _block(picture, block, centre, middle, cell)
    sign = {"transform": None, "size": TEXT + 2, "ha": "center", "va": "center"}
    picture.text(158 + (left[2] - right[2]) * cell / 4, middle + 4, "\u00d7", **sign)
    picture.text(234 + (right[2] - answer[2]) * cell / 4, middle + 4, "=", **sign)
    picture.text(372, middle + 5, "2 FLOPs", transform=None, size=TEXT, weight="bold", ha="right", va="bottom")
    picture.text(
        372, middle + 3, "per weight\nand token", transform=None, size=SMALL, ha="right", va="top", linespacing=1.1
    )


def _block(picture, block, centre, middle, cell):
    name, rows, columns = block
    colour = _COLOURS[name.strip("dᵀ")]
    left, top = centre - columns * cell / 2, middle + 4 + rows * cell / 2
    for row in range(rows):
        for column in range(columns):
            at = (left + column * cell, top - (row + 1) * cell)
            shade = {"facecolor": colour, "alpha": 0.45 if name.startswith("d") else 0.9}
            picture.add_artist(Rectangle(at, cell - 1.2, cell - 1.2, transform=None, linewidth=0, **shade))
    picture.text(
        centre, top - rows * cell - 3, _MEANING.get(name, name), transform=None, size=SMALL, ha="center", va="top"
    )


def _sum(picture):
    picture.add_artist(Rectangle((2, 28), 370, 0.8, transform=None, facecolor=INK, alpha=3 * FAINT, linewidth=0))
    total = {"transform": None, "size": TEXT, "va": "center"}
    picture.text(2, 12, "training = forward 2 + backward 4", **total)
    picture.text(372, 12, "6 FLOPs per weight and token", ha="right", weight="bold", **total)

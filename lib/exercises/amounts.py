"""Amounts that questions draw: round numbers over several orders of magnitude, as plans have them."""

import math


def spread(rng, low, high, digits=2):
    """A number of few digits between two ends, drawn evenly over the orders of magnitude.

    Args:
        rng: a `random.Random`.
        low, high: the ends, above 0.
        digits: significant digits.

    >>> import random
    >>> 1e9 <= spread(random.Random(1), 1e9, 1e11) <= 1e11
    True
    """
    value = math.exp(math.log(low) + rng.random() * (math.log(high) - math.log(low)))
    return float(f"{value:.{digits - 1}e}")


def doubled(rng, low, high):
    """A power of two between two powers of two, both included.

    >>> import random
    >>> doubled(random.Random(1), 8, 8)
    8
    """
    return low * 2 ** rng.randrange((high // low).bit_length())

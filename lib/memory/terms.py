"""One line of a ledger: a name, its bytes, and the factors that make them.

A term's text is made from the factors that were multiplied, so the formula on the page is the one that was computed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from lib import check, units
from lib.memory.about import ABOUT, about, is_known

_NOBODY_COUNTS = 1e14  # bytes: no GPU holds as many, and nobody reads their digits


class Product(NamedTuple):
    """A term before it is one: factors as (name, number or array), and divisors."""

    name: str
    times: tuple
    over: tuple = ()

    @property
    def value(self):
        """Bytes, a number or an array."""
        found = 1.0
        for factor in self.times:
            found = found * factor[1]
        for factor in self.over:
            found = found / factor[1]
        return found


@dataclass(frozen=True, kw_only=True)
class Term:
    """One named part of a GPU's memory.

    Args:
        name: one of `about.ABOUT`, such as "queries", or that with ", recomputed" behind it.
        bytes: how many, >= 0.
        times: (name, number) of each factor.
        over: (name, number) of each divisor.

    Raises:
        TypeError, ValueError: for an unknown name, for bytes that are no number of at least 0.

    >>> factors = (("parameters", 8e9), ("bytes", 2))
    >>> weights = Term(name="weights", bytes=2e9, times=factors, over=(("tensor", 8),))
    >>> weights.formula
    '8,000,000,000 parameters * 2 bytes / 8 tensor'
    """

    name: str
    bytes: float
    times: tuple = ()
    over: tuple = ()

    def __post_init__(self):
        if not is_known(self.name):
            check.choice(tuple(ABOUT), name=self.name)
        if type(self.bytes) is not float or not 0 <= self.bytes < math.inf:
            check.fields(self, non_negative="bytes")

    @property
    def group(self):
        """What it belongs to, one of `about.GROUPS`."""
        return about(self.name).group

    @property
    def grows_with(self):
        """What makes it larger, in words."""
        return about(self.name).grows_with

    @property
    def shrinks_with(self):
        """What makes it smaller, in words."""
        return about(self.name).shrinks_with

    @property
    def source(self):
        """Where its form is written."""
        return about(self.name).source

    @property
    def formula(self):
        """The factors with their numbers, in the order of the product; those that say nothing are left out."""
        times = [factor for factor in self.times if factor[1] != 1] or self.times[:1]
        over = (factor for factor in self.over if factor[1] != 1)
        return " * ".join(_shown(*factor) for factor in times) + "".join(f" / {_shown(*factor)}" for factor in over)

    @property
    def text(self):
        """The term in one line.

        >>> Term(name="weights", bytes=2e9).text
        'weights: 2 GB'
        """
        return f"{self.name}: {units.show_bytes(self.bytes)}"


def _shown(name, number):
    if number >= _NOBODY_COUNTS:
        return f"{units.show_power(number)} {name}"
    whole = int(number) if number == int(number) else None
    figure = f"{whole:,}" if whole is not None else f"{number:,.0f}" if number >= 1000 else f"{number:.6g}"
    return f"{figure} {name}"

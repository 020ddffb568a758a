"""One line of a ledger: a name, its bytes, and the factors that make them.

A term's text is made from the factors that were multiplied, so the formula on the page is the one that was computed.
"""

from dataclasses import dataclass
from typing import NamedTuple

from lib import check, units

GROUPS = (
    "weights",
    "gradients",
    "optimizer states",
    "activations",
    "recomputation",
    "logits and loss",
    "gathered weights",
    "reduction buffers",
    "temporaries",
    "workspace",
    "allocator",
    "driver",
)


class About(NamedTuple):
    """What stays the same for a term wherever it appears."""

    group: str
    grows_with: str
    shrinks_with: str
    source: str


class Product(NamedTuple):
    """A term before it is one: factors as (name, number or array), and divisors."""

    name: str
    times: tuple
    over: tuple = ()

    @property
    def value(self):
        """Bytes, a number or an array."""
        found = 1.0
        for _, number in self.times:
            found = found * number
        for _, number in self.over:
            found = found / number
        return found


@dataclass(frozen=True, kw_only=True)
class Term:
    """One named part of a GPU's memory.

    Args:
        name: what it is, such as "queries".
        bytes: how many, >= 0.
        group: one of `GROUPS`.
        times: (name, number) of each factor.
        over: (name, number) of each divisor.
        grows_with: what makes it larger, in words.
        shrinks_with: what makes it smaller, in words.
        source: where its form is written.

    >>> weights = Term(name="weights", bytes=2e9, group="weights", times=(("parameters", 8e9), ("bytes", 2)),
    ...                over=(("tensor", 8),))
    >>> weights.formula
    '8,000,000,000 parameters * 2 bytes / 8 tensor'
    """

    name: str
    bytes: float
    group: str
    times: tuple = ()
    over: tuple = ()
    grows_with: str = ""
    shrinks_with: str = ""
    source: str = ""

    def __post_init__(self):
        check.text(name=self.name, grows_with=self.grows_with, shrinks_with=self.shrinks_with, source=self.source)
        check.scalar(bytes=self.bytes)
        check.non_negative(bytes=self.bytes)
        check.choice(GROUPS, group=self.group)

    @property
    def formula(self):
        """The factors with their numbers, in the order in which they were multiplied."""
        products = " * ".join(_shown(*factor) for factor in self.times)
        return products + "".join(f" / {_shown(*factor)}" for factor in self.over)

    @property
    def text(self):
        """The term in one line.

        >>> Term(name="weights", bytes=2e9, group="weights").text
        'weights: 2 GB'
        """
        return f"{self.name}: {units.show_bytes(self.bytes)}"


def _shown(name, number):
    whole = int(number) if number == int(number) else None
    figure = f"{whole:,}" if whole is not None else f"{number:,.0f}" if number >= 1000 else f"{number:.6g}"
    return f"{figure} {name}"

"""Power laws in size and tokens, fitted to published runs by least squares on logarithms; standard library only.

A fit through what people chose is a law of habit: it says what the next team would probably have chosen. It is judged
on whole families that took no part in it, because runs of one family copy each other.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lib import check
from lib.compute import TRAIN_FLOPS_PER_PARAM
from lib.elementwise import power
from lib.names import short
from lib.recipe.published_runs import COMPARABLE, PublishedRun

QUANTITIES = ("peak_lr", "global_batch_tokens")
TERMS = ("nothing", "params", "tokens", "compute", "params and tokens")
_TINY = 1e-9  # of a pivot, where logs of size and tokens vary by several units


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """coefficient * N^params_exponent * D^tokens_exponent.

    Args:
        name: what it is called; any text.
        coefficient: > 0.
        params_exponent, tokens_exponent: finite; 0 where the law does not ask.
        source: where the constants come from.

    Raises:
        TypeError, ValueError: for a number that is not finite, or a coefficient that is not positive.

    >>> PowerLaw(name="twice", coefficient=2.0, tokens_exponent=0.5).at(1e9, 100.0)
    20.0
    """

    name: str
    coefficient: float
    params_exponent: float = 0.0
    tokens_exponent: float = 0.0
    source: str = ""

    def __post_init__(self):
        check.fields(self, positive="coefficient", finite="params_exponent tokens_exponent", text="name source")

    def at(self, n_params, n_tokens):
        """The law's value for a run.

        Args:
            n_params: parameters, > 0; float or array.
            n_tokens: tokens, > 0; float or array.

        Raises:
            TypeError, ValueError: if either is no positive, finite number.
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        factors = power(n_params, self.params_exponent) * power(n_tokens, self.tokens_exponent)
        return check.positive_result(value=self.coefficient * factors)

    @property
    def formula(self):
        """The law in one line.

        >>> PowerLaw(name="twice", coefficient=2.0, tokens_exponent=0.5).formula
        '2 D^0.5'
        """
        powers = ((letter, p) for letter, p in (("N", self.params_exponent), ("D", self.tokens_exponent)) if p)
        return " ".join([f"{self.coefficient:.4g}", *(f"{letter}^{power:.3g}" for letter, power in powers)])


def fit(quantity, terms, runs=None):
    """The power law that lies nearest to published runs: least squares on the logarithm, each run counting once.

    Args:
        quantity: "peak_lr" or "global_batch_tokens".
        terms: what it depends on: "nothing" (a constant), "params", "tokens", "compute" (6 N D) or "params and tokens".
        runs: instances of `PublishedRun`; those that do not print the quantity take no part. None: all comparable ones.

    Returns:
        A `PowerLaw`.

    Raises:
        TypeError, ValueError: for a word that is not known, or runs that do not tell the terms apart.

    >>> fit("peak_lr", "params and tokens").formula
    '0.003978 N^-0.312 D^0.154'
    """
    check.choice(QUANTITIES, quantity=quantity)
    check.choice(TERMS, terms=terms)
    runs = COMPARABLE if runs is None else runs
    check.instance(Iterable, runs=runs)
    used = [(run, value) for run in runs if (value := _published(run).get(quantity)) is not None]
    if not used:
        raise ValueError(f"runs = {short(runs)}: at least one that prints {quantity}")
    constant, powers = _least_squares(
        [_logs(run.n_params, run.n_tokens, terms) for run, _ in used], [math.log(value) for _, value in used], terms
    )
    if terms == "compute":  # 6 N D: the factor goes into the coefficient, the power to both
        constant, powers = constant + powers[0] * math.log(TRAIN_FLOPS_PER_PARAM), powers * 2
    names = {"compute": ("params", "tokens"), "nothing": ()}.get(terms, terms.split(" and "))
    return PowerLaw(
        name=f"fit to {terms}",
        coefficient=power(math.e, constant),
        source=f"least squares on the logarithm of {len(used)} published runs",
        **{f"{name}_exponent": power for name, power in zip(names, powers, strict=True)},
    )


def _published(run):
    check.instance(PublishedRun, runs=run)
    return run


def _logs(n_params, n_tokens, terms):
    size, tokens = math.log(n_params), math.log(n_tokens)
    if terms == "compute":
        return [math.log(TRAIN_FLOPS_PER_PARAM) + size + tokens]
    return [value for name, value in (("params", size), ("tokens", tokens)) if name in terms.split(" and ")]


def _least_squares(rows, wanted, terms):
    """The constant and the slopes; about their means the normal equations lose no digits."""
    centre, middle = (
        [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)],
        math.fsum(wanted) / len(rows),
    )
    moved = [[value - c for value, c in zip(row, centre, strict=True)] for row in rows]
    width = len(centre)
    equations = [
        [math.fsum(row[i] * row[j] for row in moved) for j in range(width)]
        + [math.fsum(row[i] * (w - middle) for row, w in zip(moved, wanted, strict=True))]
        for i in range(width)
    ]
    slopes = _solve(equations, len(rows), terms)
    return middle - math.fsum(b * c for b, c in zip(slopes, centre, strict=True)), slopes


def _solve(equations, n_runs, terms):
    """Gauss and Jordan, each equation scaled by its own pivot."""
    for k in range(len(equations)):
        pivot = equations[k][k]
        if pivot <= _TINY:
            raise ValueError(f"runs = {n_runs} runs: enough of them, unlike in what the law asks for: {terms}")
        equations[k] = [value / pivot for value in equations[k]]
        for i, row in enumerate(equations):
            if i != k:
                equations[i] = [a - row[k] * b for a, b in zip(row, equations[k], strict=True)]
    return [row[-1] for row in equations]

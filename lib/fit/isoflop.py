"""The second method of Hoffmann et al.: at each budget a parabola through the losses, and a line through its minima.

It needs no law. But a law's curve at one budget is no parabola, so the minima come out shifted, even without noise:
Czech et al. 2026, arXiv:2603.22339, take the shifts apart.
"""

import math
from dataclasses import dataclass

import numpy as np

from lib import check
from lib.compute import train_flops
from lib.elementwise import log
from lib.fit.law import refuse_pooling
from lib.runs import Runs, of_law
from lib.scaling import ScalingLaw

SAME_BUDGET = 0.05  # runs whose compute differs by less belong together
FEWEST_BUDGETS = 2  # a line has two
FEWEST_SIZES = 3  # a parabola has three constants
MOST_SIZES = 1_000  # of a budget
_FAR = 3.0  # half-widths of the sizes that were run: a minimum beyond is no finding
_FACTORS = (1e-6, 1e6)


@dataclass(frozen=True, kw_only=True)
class IsoflopFit:
    """Best size over compute: ln N* = ln N_1 + a (ln C - ln C_1). Made by `approach_2`."""

    budgets: tuple[float, ...]  # FLOP, ascending
    n_params: tuple[float, ...]  # the minimum of each parabola
    losses: tuple[float, ...]  # the loss there, nats per token
    inside: tuple[bool, ...]  # whether the minimum lies among the sizes that were run

    def __post_init__(self):
        for name in ("budgets", "n_params", "losses", "inside"):
            column = getattr(self, name)
            if not isinstance(column, tuple) or len(column) < FEWEST_BUDGETS:
                raise TypeError(f"{name} = {check.short(column)}: a tuple, one entry for each of at least two budgets")
            if len(column) != len(self.budgets):
                raise ValueError(f"{name} = {len(column)} entries: {len(self.budgets)}, one for each budget")
            for place, entry in enumerate(column):
                (check.boolean if name == "inside" else check.positive)(**{f"{name}[{place}]": entry})
        if len(set(self.budgets)) < FEWEST_BUDGETS:
            raise ValueError(f"budgets = {self.budgets[0]:g} only: at least two for a line through their minima")

    @property
    def _line(self):
        slope, level = np.polyfit(np.log(self.budgets), np.log(self.n_params), 1)
        return float(slope), float(level)

    @property
    def params_exponent(self):
        """a in N* proportional to C^a."""
        return self._line[0]

    def optimum(self, compute):
        """The best size and number of tokens on the line.

        Args:
            compute: training compute, FLOP, > 0.
        """
        check.scalar(compute=compute)
        check.positive(compute=compute)
        slope, level = self._line
        log_params = level + slope * math.log(compute)
        check.exponent(log_params=log_params)
        n_params = math.exp(log_params)
        return n_params, check.result(n_tokens=compute / train_flops(n_params, 1.0))

    def size_ratio(self, law, compute):
        """The best size by this line over that of a known law: 1 would be no bias.

        Args:
            law: the `ScalingLaw` that is the truth.
            compute: training compute, FLOP, > 0.
        """
        check.instance(ScalingLaw, law=law)
        check.scalar(compute=compute)
        return self.optimum(compute)[0] / law.optimum(compute)[0]


@dataclass(frozen=True, kw_only=True)
class Parabola:
    """The loss at one budget near its best size: loss + curvature * ln(N / n_params)^2. Made by `parabola`."""

    n_params: float  # where it is lowest
    loss: float  # there, nats per token
    curvature: float  # nats per token

    def __post_init__(self):
        check.fields(self, positive="n_params curvature", finite="loss")

    def at(self, n_params):
        """The loss of a size, nats per token.

        Args:
            n_params: parameters, > 0; float or array.
        """
        check.positive(n_params=n_params)
        return self.loss + self.curvature * (log(n_params) - log(self.n_params)) ** 2


def parabola(n_params, loss):
    """The parabola in ln N through the losses of runs at one budget, by least squares.

    Args:
        n_params: sizes, > 0, at least three different ones; sequences of plain numbers.
        loss: the loss of each, nats per token, > 0.

    Raises:
        ValueError: for too few sizes, or losses that have no minimum near them.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, section 3.2 (approach 2).

    >>> found = parabola([1e8, 1e9, 1e10], [3.0, 2.0, 3.0])
    >>> f"{found.n_params:.4g} {found.loss:.4f}"
    '1e+09 2.0000'
    """
    runs = Runs(n_params=n_params, n_tokens=n_params, loss=loss)  # checks both columns
    sizes = sorted(set(runs.n_params))
    if len(sizes) < FEWEST_SIZES:
        raise ValueError(
            f"n_params = {len(sizes)} different sizes at one budget: at least {FEWEST_SIZES} for a parabola"
        )
    middle = math.log(sizes[0] * sizes[-1]) / 2
    curvature, slope, level = map(float, np.polyfit(np.log(runs.n_params) - middle, runs.loss, 2))
    at = -slope / (2 * curvature) if curvature > 0 else math.inf
    if abs(at) > _FAR * math.log(sizes[-1] / sizes[0]) / 2:
        low, high = min(runs.loss), max(runs.loss)
        raise ValueError(f"loss = {low:g} to {high:g}: no minimum near these sizes; others are needed at this budget")
    return Parabola(n_params=math.exp(middle + at), loss=level - curvature * at * at, curvature=curvature)


def approach_2(runs):
    """Parabolas through the runs of each budget, and the line through their minima.

    Args:
        runs: `lib.runs.Runs` of one corpus, several sizes at each of at least two budgets.

    Raises:
        ValueError: for runs of several corpora, and for runs that do not lie on budgets.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, section 3.2.
    """
    check.instance(Runs, runs=runs)
    refuse_pooling(runs)
    minima = []
    for places in _budgets(runs.compute):
        part = runs.take(places)
        try:
            found = parabola(part.n_params, part.loss)
        except ValueError as refused:
            raise ValueError(f"{runs.name}, near {part.compute[0]:.3g} FLOP: {refused}") from None
        inside = min(part.n_params) <= found.n_params <= max(part.n_params)
        minima.append((math.exp(float(np.mean(np.log(part.compute)))), found.n_params, found.loss, inside))
    if len(minima) < FEWEST_BUDGETS:
        raise ValueError(f"{runs.name}: {len(minima)} budget: at least 2 for a line through their minima")
    budgets, sizes, losses, inside = zip(*minima, strict=True)
    return IsoflopFit(budgets=budgets, n_params=sizes, losses=losses, inside=inside)


def _budgets(compute):
    """Places of the runs of each budget, budgets ascending."""
    parts = []
    for place in sorted(range(len(compute)), key=lambda k: compute[k]):
        if parts and compute[place] <= compute[parts[-1][0]] * (1 + SAME_BUDGET):
            parts[-1].append(place)
        else:
            parts.append([place])
    return parts


def isoflop_runs(law, budgets, n_sizes=7, factor=4.0, centre=1.0, drift=1.0):
    """Runs without noise on isoFLOP lines of a known law, spread evenly in ln N about the best size.

    Args:
        law: the `ScalingLaw` that is the truth.
        budgets: FLOP, > 0; a sequence of at least one.
        n_sizes: sizes a budget, a whole number from 1 to 1,000.
        factor: the largest size over the middle one, from 1e-6 to 1e6.
        centre: the middle size over the best one at the first budget, likewise: 1 is a sweep that was guessed right.
        drift: what the centre is multiplied by from one budget to the next, likewise: 1 is a guess that stays right.

    >>> from lib.scaling import law as named
    >>> len(isoflop_runs(named("besiroglu"), (1e19, 1e20)))
    14
    """
    check.instance(ScalingLaw, law=law)
    for name, value in (("factor", factor), ("centre", centre), ("drift", drift)):
        check.scalar(**{name: value})
        check.positive(**{name: value})
        if not _FACTORS[0] <= value <= _FACTORS[1]:
            raise ValueError(f"{name} = {check.figure(value)}: from {_FACTORS[0]:g} to {_FACTORS[1]:g}")
    check.integer(n_sizes=n_sizes)
    check.at_most(MOST_SIZES, n_sizes=n_sizes)
    check.several(budgets=budgets)
    sizes, tokens = [], []
    for step, compute in enumerate(budgets):
        check.scalar(**{f"budgets[{step}]": compute})
        check.positive(**{f"budgets[{step}]": compute})
        best, _ = law.optimum(compute)
        for size in best * centre * drift**step * np.geomspace(1 / factor, factor, n_sizes):
            sizes.append(float(size))
            tokens.append(compute / train_flops(float(size), 1.0))
    return of_law(law, sizes, tokens)

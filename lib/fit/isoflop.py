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
from lib.runs import Runs, of_law
from lib.scaling import ScalingLaw

SAME_BUDGET = 0.05  # runs whose compute differs by less belong together
FEWEST_SIZES = 3  # a parabola has three constants


@dataclass(frozen=True, kw_only=True)
class IsoflopFit:
    """Best size over compute: ln N* = ln N_1 + a (ln C - ln C_1). Made by `approach_2`."""

    budgets: tuple[float, ...]  # FLOP, ascending
    n_params: tuple[float, ...]  # the minimum of each parabola
    losses: tuple[float, ...]  # the loss there, nats per token
    inside: tuple[bool, ...]  # whether the minimum lies among the sizes that were run

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
        check.positive(compute=compute)
        slope, level = self._line
        n_params = math.exp(level + slope * math.log(compute))
        return n_params, check.result(n_tokens=compute / train_flops(n_params, 1.0))

    def size_ratio(self, law, compute):
        """The best size by this line over that of a known law: 1 would be no bias.

        Args:
            law: the `ScalingLaw` that is the truth.
            compute: training compute, FLOP, > 0.
        """
        check.instance(ScalingLaw, law=law)
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
        return self.loss + self.curvature * log(n_params / self.n_params) ** 2


def parabola(n_params, loss):
    """The parabola in ln N through the losses of runs at one budget, by least squares.

    Args:
        n_params: sizes, > 0, at least three different ones; sequences of plain numbers.
        loss: the loss of each, nats per token, > 0.

    Raises:
        ValueError: for too few sizes, or losses that have no minimum.

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
    if curvature <= 0:
        low, high = min(runs.loss), max(runs.loss)
        raise ValueError(f"loss = {low:g} to {high:g}: no minimum at this budget; other sizes are needed")
    at = -slope / (2 * curvature)
    return Parabola(n_params=math.exp(middle + at), loss=level - curvature * at * at, curvature=curvature)


def approach_2(runs):
    """Parabolas through the runs of each budget, and the line through their minima.

    Args:
        runs: `lib.runs.Runs` of one corpus, several sizes at each of at least two budgets.

    Raises:
        ValueError: for runs that do not lie on budgets.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, section 3.2.
    """
    check.instance(Runs, runs=runs)
    minima = []
    for places in _budgets(runs.compute):
        part = runs.take(places)
        found = parabola(part.n_params, part.loss)
        inside = min(part.n_params) <= found.n_params <= max(part.n_params)
        minima.append((math.exp(float(np.mean(np.log(part.compute)))), found.n_params, found.loss, inside))
    if len(minima) < 2:
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
        budgets: FLOP, > 0.
        n_sizes: sizes a budget, a whole number of at least 1.
        factor: the largest size over the middle one, > 0.
        centre: the middle size over the best one at the first budget, > 0: 1 is a sweep that was guessed right.
        drift: what the centre is multiplied by from one budget to the next, > 0: 1 is a guess that stays right.

    >>> from lib.scaling import law as named
    >>> len(isoflop_runs(named("besiroglu"), (1e19, 1e20)))
    14
    """
    check.instance(ScalingLaw, law=law)
    check.positive(factor=factor, centre=centre, drift=drift)
    check.integer(n_sizes=n_sizes)
    sizes, tokens = [], []
    for step, compute in enumerate(budgets):
        check.positive(**{f"budgets[{step}]": compute})
        best, _ = law.optimum(compute)
        for size in best * centre * drift**step * np.geomspace(1 / factor, factor, n_sizes):
            sizes.append(float(size))
            tokens.append(compute / train_flops(float(size), 1.0))
    return of_law(law, sizes, tokens)

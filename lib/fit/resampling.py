"""How sure a fit is: the same fit to runs drawn again and again from the table, with replacement."""

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from lib import check
from lib.fit.descent import Rows
from lib.fit.law import CONSTANTS, MOST_STARTS, Fit
from lib.fit.surface import Surface
from lib.runs.identifiability import FEWEST_DISTINCT, N_CONSTANTS
from lib.scaling import ScalingLaw
from lib.scaling.evidence import Errors

LEVEL = 0.80
FEWEST_RESAMPLES, MOST_RESAMPLES = 10, 10_000  # of fewer, the middle 80% has no ends
FEWEST_RUNS = 2 * N_CONSTANTS  # our choice: of fewer, a resample keeps too few different ones to say anything
WIDE = 0.25  # of an exponent: a half-width beyond which it should not be believed
_MIDDLE = 0.68  # from the 16th to the 84th percentile, one standard error to either side if all were normal
_BLOCK = 50  # resamples that are refitted together, wherever that is
_DRAWS = 1000  # until a resample can be fitted at all


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """The constants of every refit. Made by `bootstrap`.

    A and B spread over orders of magnitude, so that their mean and standard deviation say nothing: intervals are
    percentiles, and the standard error is that of their logarithm.
    """

    fit: Fit
    constants: tuple[tuple[float, ...], ...]  # (E, A, B, alpha, beta) of each resample

    def __post_init__(self):
        check.instance(Fit, fit=self.fit)
        check.several(constants=self.constants)
        whole = all(isinstance(row, tuple) and len(row) == N_CONSTANTS for row in self.constants)
        if len(self.constants) < FEWEST_RESAMPLES or not whole:
            named = check.short(self.constants)
            raise ValueError(f"constants = {named}: at least {FEWEST_RESAMPLES} tuples of {', '.join(CONSTANTS)}")
        for place, row in enumerate(self.constants):
            for name, value in zip(CONSTANTS, row, strict=True):
                check.positive(**{f"constants[{place}][{name}]": value})

    def __len__(self):
        return len(self.constants)

    def _values(self, constant):
        check.choice(CONSTANTS, constant=constant)
        return [row[CONSTANTS.index(constant)] for row in self.constants]

    def interval(self, constant, level=LEVEL):
        """The middle share of the refits' values of a constant: (low, high).

        Args:
            constant: one of E, A, B, alpha, beta.
            level: share of the refits inside, above 0, at most 1.
        """
        return _middle(self._values(constant), level)

    def standard_error(self, constant):
        """Standard deviation over the refits; for A and B that of the natural logarithm."""
        values = self._values(constant)
        return float(np.std(np.log(values) if constant in ("A", "B") else values, ddof=1))

    @property
    def law(self):
        """The fitted law with its standard errors, as later steps of a plan take it."""
        names = {"E": "E", "A": "ln_A", "B": "ln_B", "alpha": "alpha", "beta": "beta"}
        errors = Errors(**{names[constant]: self.standard_error(constant) for constant in CONSTANTS})
        return replace(self.fit.law, origin=replace(self.fit.law.origin, errors=errors))

    @property
    def laws(self):
        """The law of each refit."""
        rows = (dict(zip(CONSTANTS, row, strict=True)) for row in self.constants)
        return tuple(ScalingLaw(name=f"resample {k}", **row) for k, row in enumerate(rows))

    def loss(self, n_params, n_tokens, level=LEVEL):
        """The interval of the loss that the refits predict for a run, nats per token.

        Args:
            n_params, n_tokens: of the run, > 0.
            level: share of the refits inside, above 0, at most 1.
        """
        check.scalar(n_params=n_params, n_tokens=n_tokens)
        return _middle([law.loss(n_params, n_tokens) for law in self.laws], level)

    def optimum(self, compute, level=LEVEL):
        """Intervals of the best size, the best number of tokens and the least loss at a budget, by name.

        Args:
            compute: training compute, FLOP, > 0.
            level: share of the refits inside, above 0, at most 1.
        """
        check.scalar(compute=compute)
        optima = [law.optimum(compute) for law in self.laws]
        n_params, n_tokens = zip(*optima, strict=True)
        losses = [law.optimal_loss(compute) for law in self.laws]
        columns = {"n_params": n_params, "n_tokens": n_tokens, "loss": losses}
        columns["tokens_per_param"] = [d / n for n, d in optima]
        return {name: _middle(values, level) for name, values in columns.items()}

    @property
    def warnings(self):
        """The exponents whose interval is too wide to be believed, in sentences."""
        found = []
        for name in ("alpha", "beta"):
            low, high = self.interval(name, _MIDDLE)
            half = (high - low) / 2 / getattr(self.fit.law, name)
            if half > WIDE:
                found.append(f"{name} is known to {half:.0%} only (half of the 16-84% interval; {WIDE:.0%} at most)")
        return tuple(found)


def _middle(values, level):
    check.scalar(level=level)
    check.fraction(level=level)
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)


def bootstrap(fit, n_resamples=200, seed=0, executor=None, n_starts=3):
    """Refit resampled runs, each from several starts and from the constants of the fit itself.

    Args:
        fit: a `Fit` of at least ten runs.
        n_resamples: how many, a whole number from 10 to 10,000.
        seed: a whole number of at least 0; with it the resamples are the same whatever computes them, and wherever.
        executor: any `concurrent.futures.Executor`: of processes on one machine, or Dask's `client.get_executor()` on
            a cluster; None computes here.
        n_starts: random starts of each refit, a whole number from 1 to 10,000.

    Raises:
        ValueError: for too few runs, or runs of which no resample can be fitted.

    Source: Efron 1979, *Bootstrap Methods: Another Look at the Jackknife*, Annals of Statistics 7(1): the resampling.
    """
    check.instance(Fit, fit=fit)
    check.integer(n_resamples=n_resamples, n_starts=n_starts)
    check.at_most(MOST_RESAMPLES, n_resamples=n_resamples)
    check.at_most(MOST_STARTS, n_starts=n_starts)
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples = {n_resamples}: at least {FEWEST_RESAMPLES}")
    check.natural(seed=seed)
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(
            f"executor = {check.short(executor)} ({type(executor).__name__}): a concurrent.futures.Executor"
        )
    if len(fit.runs) < FEWEST_RUNS:
        raise ValueError(f"{fit.runs.name}: {len(fit.runs)} runs: at least {FEWEST_RUNS} for intervals by resampling")
    run = map if executor is None else executor.map
    blocks = [list(range(n_resamples))[k : k + _BLOCK] for k in range(0, n_resamples, _BLOCK)]
    same = ([value] * len(blocks) for value in (fit, seed, n_starts))  # Dask asks for lists
    return Bootstrap(fit=fit, constants=tuple(row for block in run(refits, blocks, *same) for row in block))


def refits(numbers, fit, seed, n_starts):
    """The constants fitted to each of some resamples: E, A, B, alpha and beta.

    Args:
        numbers: of the resamples, whole numbers of at least 0; with the seed each determines what is drawn.
        fit: the `Fit` whose runs are drawn from.
        seed, n_starts: as in `bootstrap`.
    """
    check.several(numbers=numbers)
    for place, number in enumerate(numbers):
        check.natural(**{f"numbers[{place}]": number})
    check.natural(seed=seed)
    check.instance(Fit, fit=fit)
    check.integer(n_starts=n_starts)
    check.at_most(MOST_STARTS, n_starts=n_starts)
    surfaces, starts = [], []
    for number in numbers:
        rng = np.random.default_rng([seed, number])
        surface = Surface(*_resample(fit.runs, rng), fit.objective)
        surfaces.append(surface)
        starts.append([surface.theta(fit.law), *surface.starts(n_starts, rng)])
    found = zip(surfaces, _lowest(surfaces, np.array(starts)), strict=True)
    rows = (surface.constants(theta) for surface, theta in found)
    return [tuple(constants[name] for name in CONSTANTS) for constants in rows]


def _lowest(surfaces, starts):
    """The constants at the lowest end of each surface, from as many starts each."""
    some = starts.shape[1]
    values, ends = Rows.ends([one for one in surfaces for _ in range(some)], starts.reshape(-1, N_CONSTANTS))
    return ends.reshape(starts.shape)[range(len(surfaces)), values.reshape(-1, some).argmin(axis=1)]


def _resample(runs, rng):
    """Columns of as many runs, drawn with replacement; drawn again while too few of them differ."""
    columns = [np.array(column) for column in (runs.n_params, runs.n_tokens, runs.loss)]
    for _ in range(_DRAWS):
        places = rng.integers(len(runs), size=len(runs))
        n_params, n_tokens, loss = (column[places] for column in columns)
        different = (len(set(n_params.tolist())), len(set(n_tokens.tolist())))
        if min(different) >= FEWEST_DISTINCT and math.prod(different) > N_CONSTANTS:
            return n_params, n_tokens, loss
    raise ValueError(f"{runs.name}: hardly a resample has {FEWEST_DISTINCT} different sizes and numbers of tokens")

"""The loss of a large run, forecast from small ones: L = E + a / C^b, with E from a named law and all that is not sure.

    runs, notes = read_runs("small_runs.csv")                       # lib.runs.table
    found = forecast(runs, law_floor("Besiroglu 2024"), full_run)   # full_run: an Allocation
    found.interval, found.undecidable

Small runs cannot tell E: at their end of the curve almost all of the loss is still to be had. So E is not fitted but
taken from elsewhere, with its error, and each resample draws an E as well as runs.

A law's E is that of its own text and its own tokenizer. For other text it says nothing, however well the curve fits.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from lib import check
from lib.description.limits import limit
from lib.fit.descent import FLOOR_TERM, LEAST_EXPONENT, LOWER, UPPER, Rows
from lib.fit.floor import Floor
from lib.fit.law import refuse_pooling
from lib.fit.surface import Surface
from lib.pilot.small_logs import table
from lib.runs import Runs
from lib.scaling.allocations import Allocation

LEVEL = 0.90
FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
SAME_RATIO = 2.0  # our choice: runs whose tokens per parameter differ by more lie on different curves
_FEWEST_DISTINCT = 3  # runs of a resample: two always fit
_DRAWS = 1000
_OBJECTIVE = "least squares"
_LEAST = 0.1  # of E: no draw of it is lower
_FIRST_EXPONENT = 0.2  # where the fit begins


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What small runs say of a large one. Made by `forecast`.

    Args:
        runs: the small runs.
        floor: E, a `Floor`.
        target: the large run, an `Allocation`.
        constants: (E, a, b) of the fit itself and then of every resample; none where nothing can be decided.

    Raises:
        TypeError, ValueError: for a value of the wrong kind.
    """

    runs: Runs
    floor: Floor
    target: Allocation
    constants: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self):
        check.instance(Runs, runs=self.runs)
        check.instance(Floor, floor=self.floor)
        check.instance(Allocation, target=self.target)
        check.instance(tuple, constants=self.constants)
        for place, row in enumerate(self.constants):
            check.instance(tuple, **{f"constants[{place}]": row})
            for value in row:
                check.positive(**{f"constants[{place}]": value})

    @property
    def decades(self):
        """Decades of compute from the smallest run to the largest."""
        return math.log10(max(self.runs.compute) / min(self.runs.compute))

    @property
    def reach(self):
        """Decades of compute from the largest small run to the large one."""
        return math.log10(self.target.compute_flops / max(self.runs.compute))

    @property
    def undecidable(self):
        """Why the runs decide nothing, and what would help, in sentences; none if they do."""
        return (*self._too_few(), *self._other_ratio())

    def _too_few(self):
        fewest, span = limit("small runs", "runs").value, limit("small runs", "decades").value
        distinct, least = len(set(self.runs.compute)), min(self.runs.compute)
        if distinct < fewest:
            yield f"{distinct} runs of different compute: {fewest - distinct:g} more, for at least {fewest:g}"
        if self.decades < span:
            yield (
                f"{self.decades:.2f} decades of compute: another {span - self.decades:.2f}, a run of at least "
                f"{least * 10**span:.3g} FLOP"
            )

    def _other_ratio(self):
        ratios = [d / n for n, d in zip(self.runs.n_params, self.runs.n_tokens, strict=True)]
        if max(ratios) > SAME_RATIO * min(ratios):
            ends = f"{min(ratios):.3g} to {max(ratios):.3g}"
            yield f"{ends} tokens per parameter: runs of one ratio, within a factor of {SAME_RATIO:g}, lie on a curve"
        elif not 1 / SAME_RATIO <= self.target.tokens_per_param / self.ratio <= SAME_RATIO:
            yield (
                f"{self.ratio:.3g} tokens per parameter in the small runs, {self.target.tokens_per_param:.3g} in the "
                f"large one: small runs of its ratio, within a factor of {SAME_RATIO:g}"
            )

    @property
    def ratio(self):
        """Tokens per parameter of the small runs, their geometric mean."""
        return ratio_of(self.runs)

    def curve(self, compute):
        """The fitted loss at some compute: E + a / C^b  [nats per token].

        Args:
            compute: FLOP, > 0.

        Raises:
            ValueError: where nothing can be decided.
        """
        self._refuse_undecidable()
        return self._losses(compute)[0]

    def ends(self, compute, level=LEVEL):
        """The interval of the loss at some compute: (low, high)  [nats per token].

        Percentiles of the resamples, stretched away from the fit by sqrt(n / (n - 2)), two constants being fitted to n
        runs, and by Student's quantile over the normal one: without it, six runs hold the truth 80 times of 100
        where 90 are asked.

        Args:
            compute: FLOP, > 0.
            level: how often the interval is to hold the truth, above 0, below 1.

        Raises:
            ValueError: where nothing can be decided.
        """
        check.scalar(level=level)
        check.fraction(level=level)
        if level == 1:
            raise ValueError("level = 1: below 1; no interval is sure")
        self._refuse_undecidable()
        fitted, *resampled = self._losses(compute)
        free, side = len(self.runs) - 2, 0.5 + level / 2
        stretch = (len(self.runs) / free) ** 0.5 * float(stdtrit(free, side) / ndtri(side))
        return tuple(fitted + stretch * (float(end) - fitted) for end in np.quantile(resampled, [1 - side, side]))

    def _refuse_undecidable(self):
        if not self.constants:
            raise ValueError(f"runs = {self.runs.name}: nothing to be decided: {'; '.join(self.undecidable)}")

    def _losses(self, compute):
        check.scalar(compute=compute)
        check.positive(compute=compute)
        compute = float(compute)  # a number of NumPy's would make all of them NumPy's
        return [e + a * compute**-b for e, a, b in self.constants]

    @property
    def level(self):
        """How often `interval` is to hold the truth."""
        return LEVEL

    @property
    def loss(self):
        """The forecast of the large run's loss; None where nothing can be decided."""
        return self.curve(self.target.compute_flops) if self.constants else None

    @property
    def interval(self):
        """Its interval at `LEVEL`; None where nothing can be decided."""
        return self.ends(self.target.compute_flops) if self.constants else None

    @property
    def measured(self):
        """What it is to the ladder's sixth rung: quantity -> number, as evidence names them."""
        found = {"small_runs": float(len(set(self.runs.compute))), "small_run_decades": self.decades}
        if self.interval:
            low, high = self.interval
            found |= {"forecast_loss_low": low, "forecast_loss_high": high, "forecast_loss_width": high - low}
        return found

    def holds(self, loss):
        """Whether a loss lies inside the interval: True, False, or None where nothing can be decided.

        Args:
            loss: nats per token, > 0.
        """
        check.scalar(loss=loss)
        check.positive(loss=loss)
        return None if self.interval is None else bool(self.interval[0] <= loss <= self.interval[1])


def ratio_of(runs):
    """Tokens per parameter of runs, the geometric mean.

    Args:
        runs: `lib.runs.Runs`.

    >>> round(ratio_of(Runs(n_params=[1e9, 1e9], n_tokens=[1e10, 4e10], loss=[2.6, 2.4])), 6)
    20.0
    """
    check.instance(Runs, runs=runs)
    return math.exp(
        math.fsum(map(math.log, runs.n_tokens)) / len(runs) - math.fsum(map(math.log, runs.n_params)) / len(runs)
    )


def forecast(runs, floor, target, n_resamples=400, seed=0):
    """Fit a / C^b above E to small runs and forecast a large one, with an interval by resampling runs and E.

    Args:
        runs: `lib.runs.Runs` of one corpus, with as many tokens a parameter as the large run.
        floor: E, a `Floor`.
        target: the large run, an `Allocation`.
        n_resamples: a whole number from 100 to 10,000.
        seed: a whole number of at least 0.

    Returns:
        A `Forecast`; it decides nothing with fewer than six runs, two decades, or another ratio.

    Raises:
        TypeError: for something else.
        ValueError: for runs of several corpora; for an E that a run got below.

    Source: Kaplan et al. 2020, arXiv:2001.08361, equation 1.3 (form); Henighan et al. 2020, arXiv:2010.14701, equation
        1.1 (with a floor); Efron 1979, Annals of Statistics 7(1) (resampling).

    >>> sizes = [1e6 * 2**k for k in range(7)]
    >>> losses = [2 + 300 * (6 * n * 20 * n) ** -0.15 for n in sizes]
    >>> runs = Runs(n_params=sizes, n_tokens=[20 * n for n in sizes], loss=losses)
    >>> known = Floor(value=2.0, error=0.0, source="known")
    >>> found = forecast(runs, known, Allocation(n_params=1e9, n_tokens=2e10), n_resamples=100)
    >>> f"{found.loss:.4f}, in truth {2 + 300 * (6 * 1e9 * 2e10) ** -0.15:.4f}"
    '2.2919, in truth 2.2919'
    """
    check.instance(Runs, runs=runs)
    check.instance(Floor, floor=floor)
    check.instance(Allocation, target=target)
    check.integer(n_resamples=n_resamples)
    check.at_most(MOST_RESAMPLES, n_resamples=n_resamples)
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples = {n_resamples}: at least {FEWEST_RESAMPLES}")
    check.natural(seed=seed)
    refuse_pooling(runs)
    _refuse_floor(runs, floor)
    found = Forecast(runs=runs, floor=floor, target=target)
    if found.undecidable:
        return found
    rng = np.random.default_rng(seed)
    compute, loss = np.array(runs.compute), np.array(runs.loss)
    (fitted,) = _fits([compute], [loss], [floor.value])
    drawn = [_resample(compute, floor, rng) for _ in range(n_resamples)]
    rows = _fits(*zip(*((compute[places], loss[places], e) for places, e in drawn), strict=True), fitted)
    return Forecast(runs=runs, floor=floor, target=target, constants=(fitted, *rows))


def recorded(logs, n_resamples=400, seed=0):
    """The forecast of the run that was held out, from the small runs of the same making, and what it reached.

    Args:
        logs: a sequence of `lib.pilot.small_logs.Log`, as `read_logs` gives it.
        n_resamples, seed: as in `forecast`.

    Returns:
        (`Forecast`, loss of the run that was held out, nats per token).

    Raises:
        ValueError: for logs without small runs, or without one that was held out.

    >>> from lib.pilot.small_logs import read_logs
    >>> found, measured = recorded(read_logs(), n_resamples=100)
    >>> found.holds(measured)
    True
    """
    held = table(logs, "held out")
    floor = Floor(value=logs[0].head["entropy"], error=0.0, source=f"entropy of {logs[0].head['corpus']}, computed")
    target = Allocation(n_params=held.n_params[0], n_tokens=held.n_tokens[0])
    return forecast(table(logs), floor, target, n_resamples, seed), held.loss[0]


def _refuse_floor(runs, floor):
    if floor.value >= min(runs.loss):
        raise ValueError(
            f"E = {floor.value:.4g}: below the lowest loss of the runs, {min(runs.loss):.4g}; this E is of other text "
            f"or another tokenizer: {floor.source}"
        )


def _resample(compute, floor, rng):
    """Places of as many runs, drawn with replacement and again while too few of them differ, and an E."""
    for _ in range(_DRAWS):
        places = rng.integers(len(compute), size=len(compute))
        if len(set(compute[places].tolist())) >= _FEWEST_DISTINCT:
            break
    return places, max(rng.normal(floor.value, floor.error), _LEAST * floor.value)


def _fits(computes, losses, floors, near=None):
    """(E, a, b) of the curves that lose least squares of log loss above given E, sought near other constants."""
    surfaces, starts = [], np.tile((LOWER + UPPER) / 2, (len(floors), 1))
    for start, compute, loss, floor in zip(starts, computes, losses, floors, strict=True):
        surface = Surface(compute, compute, loss, _OBJECTIVE)
        surfaces.append(surface)
        start[[0, 3]] = math.log(max(1e-3, 1 - floor / float(loss.mean()))), _FIRST_EXPONENT
        start[[1, 2, 4]] = math.log(FLOOR_TERM), math.log(floor) - surface.unit, LEAST_EXPONENT
        if near is not None:
            _, a, b = near
            start[[0, 3]] = math.log(a) - b * surface.means[0] - surface.unit, b
    lower, upper = starts.copy(), starts.copy()  # one term alone: the other is too small to be seen
    lower[:, [0, 3]], upper[:, [0, 3]] = LOWER[[0, 3]], UPPER[[0, 3]]
    _, ends = Rows.ends(surfaces, starts, lower, upper)
    found = (surface.constants(theta) for surface, theta in zip(surfaces, ends, strict=True))
    return [(constants["E"], constants["A"], constants["alpha"]) for constants in found]

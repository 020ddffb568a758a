"""A law fitted to runs, with what it rests on and what speaks against it."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lib import check
from lib.fit.descent import LARGEST_EXPONENT, LEAST_EXPONENT
from lib.fit.surface import Surface, at_bounds
from lib.runs import LONG_WARMUP, Runs
from lib.runs.identifiability import Design
from lib.scaling import ScalingLaw
from lib.scaling.evidence import Origin

CONSTANTS = ("E", "A", "B", "alpha", "beta")
OBJECTIVES = ("huber", "least squares")
MOST_STARTS = 10_000
SMALL_E = 0.5  # nats a token; less than any text is known to have
_SAME = 1e-6  # relative: objectives this close are one optimum


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A law and the runs that it was fitted to. Made by `fit_law`."""

    runs: Runs
    law: ScalingLaw
    objective: str
    objective_sum: float  # over the runs: of Huber's function of the residual, or of its square
    n_starts: int
    n_at_best: int  # starts that ended in the same optimum
    stuck: tuple[str, ...] = ()  # constants at the end of what was allowed

    def __post_init__(self):
        check.instance(Runs, runs=self.runs)
        check.instance(ScalingLaw, law=self.law)
        check.choice(OBJECTIVES, objective=self.objective)
        check.fields(self, non_negative="objective_sum", integer="n_starts n_at_best")
        if not isinstance(self.stuck, tuple):
            raise TypeError(f"stuck = {check.short(self.stuck)} ({type(self.stuck).__name__}): a tuple of names")
        for name in self.stuck:
            check.choice(CONSTANTS, stuck=name)

    @property
    def predicted(self):
        """The fitted law's loss of each run, nats per token."""
        return tuple(self.law.loss(n, d) for n, d in zip(self.runs.n_params, self.runs.n_tokens, strict=True))

    @property
    def residuals(self):
        """ln(predicted / measured) of each run: 0.01 is a prediction 1% too high."""
        return tuple(math.log(p / loss) for p, loss in zip(self.predicted, self.runs.loss, strict=True))

    @property
    def rms(self):
        """Root mean square of the residuals."""
        return math.sqrt(math.fsum(r * r for r in self.residuals) / len(self.runs))

    @cached_property
    def design(self):
        """What the runs can tell, by fixed constants and by the fitted ones."""
        return Design(runs=self.runs, law=self.law)

    @property
    def warnings(self):
        """What should stop one from believing the constants, in sentences; empty if nothing does."""
        found = []
        if self.design.verdict != "ok":
            found.append(self.design.explanation)
        if self.law.E < SMALL_E:
            found.append(f"E = {self.law.E:.2g}: below {SMALL_E:g} nats, less than any text is known to have")
        if any(name in self.stuck for name in ("alpha", "beta")):
            found.append(f"an exponent ended at its bound, {LEAST_EXPONENT:g} or {LARGEST_EXPONENT:g}")
        if len(self.runs) == len(CONSTANTS):
            found.append("as many runs as constants: nothing is left to judge the fit by")
        return (*found, *self._warmup_warnings())

    def _warmup_warnings(self):
        runs = self.runs
        for places, what in (
            (runs.in_warmup(), "ended inside warm-up"),
            ([k for k in runs.in_warmup(LONG_WARMUP) if k not in runs.in_warmup()], "spent half or more in warm-up"),
        ):
            if places:
                named = ", ".join(runs.places[k] for k in places)
                yield f"{len(places)} of {len(runs)} runs {what}, and a law does not describe those: {named}"


def fit_law(runs, objective="huber", n_starts=100, seed=0):
    """The law E + A / N^alpha + B / D^beta that fits runs best in log loss, from many random starts.

    huber: sum of H(ln predicted - ln measured), H(r) = r^2 / 2 up to 0.001 and linear beyond, so that a few runs that
    went wrong do not bend the law. least squares: sum of the squares.

    Args:
        runs: `lib.runs.Runs` of one corpus, at least five.
        objective: one of `OBJECTIVES`.
        n_starts: random starts, a whole number from 1 to 10,000; 100 find the optimum of any set that passes the
            design.
        seed: of the starts, a whole number of at least 0.

    Returns:
        `Fit`.

    Raises:
        ValueError: for runs of several corpora, and for runs that cannot tell the constants apart.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 3 and section D.2.

    >>> from lib.runs import of_law
    >>> from lib.scaling import law
    >>> sizes = [1e8, 1e8, 1e8, 1e9, 1e9, 1e9, 1e10, 1e10, 1e10]
    >>> fit = fit_law(of_law(law("besiroglu"), sizes, [2e9, 2e10, 2e11] * 3), n_starts=5)
    >>> round(fit.law.alpha, 4), round(fit.law.beta, 4)
    (0.3478, 0.3658)
    """
    check.instance(Runs, runs=runs)
    check.choice(OBJECTIVES, objective=objective)
    check.integer(n_starts=n_starts)
    check.at_most(MOST_STARTS, n_starts=n_starts)
    check.natural(seed=seed)
    _refuse(runs)
    surface = surface_of(runs, objective)
    (value, theta), ends = surface.minimum(surface.starts(n_starts, np.random.default_rng(seed)))
    fit = Fit(
        runs=runs,
        law=_named(runs, surface.constants(theta), objective),
        objective=objective,
        objective_sum=value,
        n_starts=n_starts,
        n_at_best=int((ends <= value * (1 + _SAME) + 1e-15).sum()),
        stuck=at_bounds(theta),
    )
    if fit.design.verdict == "refuse":
        raise ValueError(f"{runs.name}: {fit.design.explanation}")
    return fit


def surface_of(runs, objective):
    """The objective over the constants of a law, for these runs.

    Args:
        runs: `lib.runs.Runs`.
        objective: one of `OBJECTIVES`.
    """
    check.instance(Runs, runs=runs)
    check.choice(OBJECTIVES, objective=objective)
    return Surface(np.array(runs.n_params), np.array(runs.n_tokens), np.array(runs.loss), objective)


def refuse_pooling(runs):
    """Refuse runs of several corpora.

    Args:
        runs: `lib.runs.Runs`.

    Raises:
        ValueError: naming the corpora.
    """
    check.instance(Runs, runs=runs)
    names = runs.group_names
    if len(names) > 1:
        raise ValueError(
            f"{runs.name}: runs of {len(names)} corpora, {'; '.join(names)}: losses on different text are not on one "
            f"scale, so one E cannot serve them; fit each apart"
        )


def _refuse(runs):
    refuse_pooling(runs)
    if min(runs.loss) == max(runs.loss):
        raise ValueError(f"{runs.name}: loss = {runs.loss[0]:g} in every run: nothing that size or data could explain")
    design = Design(runs=runs)
    if design.verdict == "refuse":
        raise ValueError(f"{runs.name}: {design.explanation}")


def _named(runs, constants, objective):
    corpus = runs.group_names[0]
    origin = Origin(
        source=f"fitted to {len(runs)} runs of {runs.name}, {objective} on log loss",
        n_counts="as in the table",
        tokenizer="as in the table",
        corpus=corpus,
        n_runs=float(len(runs)),
        fitted=runs.range,
    )
    return ScalingLaw(name=f"fit of {corpus}", origin=origin, **constants)

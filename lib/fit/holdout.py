"""The test of a law that matters: does it predict runs that are larger than those it was fitted to?"""

import math
from dataclasses import dataclass

from lib import check
from lib.fit.law import MOST_STARTS, OBJECTIVES, Fit, fit_law
from lib.runs import Runs

SHARE = 8  # one run in eight is held out


@dataclass(frozen=True, kw_only=True)
class HoldOut:
    """A fit to the smaller runs, and the larger ones that it was not shown. Made by `hold_out`."""

    fit: Fit  # of the runs that were left
    held: Runs

    def __post_init__(self):
        check.instance(Fit, fit=self.fit)
        check.instance(Runs, held=self.held)

    @property
    def predicted(self):
        """The loss that the fit predicts for each run held out, nats per token."""
        return tuple(self.fit.law.loss(n, d) for n, d in zip(self.held.n_params, self.held.n_tokens, strict=True))

    @property
    def errors(self):
        """Predicted over measured, minus 1, for each run held out: -0.02 is a prediction 2% too low."""
        return tuple(p / loss - 1 for p, loss in zip(self.predicted, self.held.loss, strict=True))

    @property
    def mean_abs_error(self):
        """Mean of the errors without their sign."""
        return math.fsum(map(abs, self.errors)) / len(self.held)

    @property
    def reach(self):
        """Compute of the largest run held out, over that of the largest run that was fitted."""
        return max(self.held.compute) / max(self.fit.runs.compute)

    @property
    def labels(self):
        """What must stand beside each prediction: within the fitted range, or extrapolated and how far."""
        return tuple(self.fit.law.label(n, d) for n, d in zip(self.held.n_params, self.held.n_tokens, strict=True))


def hold_out(runs, n_held=None, objective="huber", n_starts=100, seed=0):
    """Fit all runs but those of the largest compute, and predict these.

    Args:
        runs: `lib.runs.Runs` of one corpus.
        n_held: how many to hold out, a whole number of at least 1; None for one in eight.
        objective, n_starts, seed: as in `fit_law`.

    Raises:
        ValueError: if the runs that are left cannot be fitted.
    """
    check.instance(Runs, runs=runs)
    check.choice(OBJECTIVES, objective=objective)
    check.integer(n_starts=n_starts)
    check.at_most(MOST_STARTS, n_starts=n_starts)
    check.natural(seed=seed)
    if n_held is None:
        n_held = max(1, len(runs) // SHARE)
    check.integer(n_held=n_held)
    if n_held >= len(runs):
        raise ValueError(f"n_held = {check.figure(n_held)}: fewer than the {len(runs)} runs of {runs.name}")
    compute = runs.compute
    largest = sorted(range(len(runs)), key=lambda k: (-compute[k], k))[:n_held]
    try:
        fit = fit_law(runs.without(largest), objective, n_starts, seed)
    except ValueError as refused:
        raise ValueError(f"n_held = {n_held} of {len(runs)} runs: those that are left: {refused}") from None
    return HoldOut(fit=fit, held=runs.take(sorted(largest)))

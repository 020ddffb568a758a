"""Scaling laws from runs: the fit, how sure it is, and what it makes of runs that it has not seen. Needs SciPy.

runs, notes = read_runs("runs.csv")          # lib.runs.table
fit = fit_law(runs)                          # refuses runs that cannot tell the constants apart
bootstrap(fit).interval("beta")              # from refits of resampled runs
hold_out(runs).mean_abs_error                # the largest runs, predicted from the others
"""

from lib.fit.holdout import HoldOut, hold_out
from lib.fit.isoflop import IsoflopFit, Parabola, approach_2, isoflop_runs, parabola
from lib.fit.law import OBJECTIVES, Fit, fit_law
from lib.fit.resampling import Bootstrap, bootstrap

__all__ = [
    "OBJECTIVES",
    "Bootstrap",
    "Fit",
    "HoldOut",
    "IsoflopFit",
    "Parabola",
    "approach_2",
    "bootstrap",
    "fit_law",
    "hold_out",
    "isoflop_runs",
    "parabola",
]

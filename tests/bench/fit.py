"""Times of fitting a law in CPython. Each function gives (what, value, target, unit) as it is measured."""

from itertools import product

from lib.fit import OBJECTIVES, bootstrap, fit_law
from lib.runs import of_law
from lib.scaling import law

from .memory import best

SIZES, TOKENS = zip(*product((3e7, 1e8, 4e8, 2e9, 1e10), (1e9, 3e9, 1e10, 3e10, 1e11, 3e11, 1e12)), strict=True)


def fits():
    """A fit of 35 runs from 100 starts, by each objective, and its intervals by 200 resamples, on one core."""
    runs = of_law(law("Besiroglu 2024"), SIZES, TOKENS, noise=0.02, seed=1)
    for objective in OBJECTIVES:
        seconds = best(lambda kind=objective: fit_law(runs, kind), repeats=1)
        yield f"a fit of {len(runs)} runs from 100 starts, {objective}", seconds, 1, "s"
    found = fit_law(runs)
    yield "intervals of that by 200 resamples", best(lambda: bootstrap(found, 200), repeats=1), 10, "s"

"""The objective of a fit over the constants of a law, and its minimum, which is sought from many places.

The constants are varied as (ln a, ln b, ln E, alpha, beta), where a and b are A / N^alpha and B / D^beta at the
geometric means of N and D, all three in units of the losses' geometric mean. In A and B themselves the valley is so
narrow that most starts end far from its bottom.
"""

import math

import numpy as np
from threadpoolctl import ThreadpoolController

from lib.fit.descent import LOWER, UPPER, Rows

# L-BFGS-B stops once a step gains less than ftol x max(|f|, 1). Losses fit to 1% give an f of 1e-3, so that this "1"
# would end most runs early: the objective is multiplied until f is far above it.
_SCALE = 1e6
_THREADS = ThreadpoolController()
_OPTIONS = {"maxiter": 1000, "maxfun": 5000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20}


class Surface:
    """The objective over the constants of a law, for one set of runs."""

    def __init__(self, n_params, n_tokens, loss, objective):
        x, y = np.log(n_params), np.log(n_tokens)
        self.means = float(x.mean()), float(y.mean())
        self.unit = float(np.log(loss).mean())
        self.log_loss = np.log(loss) - self.unit
        self.x, self.y, self.objective = x - self.means[0], y - self.means[1], objective

    def __call__(self, theta):
        """The objective and its gradient, as L-BFGS-B takes them."""
        (value,), (gradient,), _ = Rows.of([self])(theta[np.newaxis])
        return _SCALE * value, _SCALE * gradient

    def minimum(self, starts):
        """(objective, theta) at the lowest end, and the objective at the end of every start.

        L-BFGS-B goes on from the lowest end: were it no minimum, that would not stay there.
        """
        from scipy.optimize import Bounds, minimize  # half a second, for which workers that refit need not wait

        values, ends = Rows.ends([self] * len(starts), starts)
        best = values.argmin()
        # Matrices of five by twenty are too small to share out: with several threads it takes ten times as long.
        with _THREADS.limit(limits=1):
            options = {"method": "L-BFGS-B", "bounds": Bounds(LOWER, UPPER), "options": _OPTIONS}
            last = minimize(self, ends[best], jac=True, **options)
        values[best] = float(last.fun) / _SCALE
        return (float(values[best]), last.x), values

    def starts(self, number, rng):
        """Random places to start from: an exponent each, and the mean loss dealt out among the three terms."""
        loss = np.exp(self.log_loss)
        floor = loss.min() * rng.uniform(0.05, 0.98, number)
        rest, share = loss.mean() - floor, rng.uniform(0.1, 0.9, number)
        exponents = rng.uniform(0.1, 0.8, (number, 2))
        return np.column_stack([np.log(rest * share), np.log(rest * (1 - share)), np.log(floor), exponents])

    def theta(self, law):
        """A law's constants as the minimiser varies them, moved inside its bounds."""
        size = math.log(law.A) - law.alpha * self.means[0]
        data = math.log(law.B) - law.beta * self.means[1]
        terms = [term - self.unit for term in (size, data, math.log(law.E))]
        return np.clip([*terms, law.alpha, law.beta], LOWER, UPPER)

    def constants(self, theta):
        """E, A, B, alpha and beta by name, as plain floats."""
        ln_a, ln_b, ln_e, alpha, beta = map(float, theta)
        logs = (ln_e, ln_a + alpha * self.means[0], ln_b + beta * self.means[1])
        floor, size, data = (math.exp(value + self.unit) for value in logs)
        return {"E": floor, "A": size, "B": data, "alpha": alpha, "beta": beta}


def at_bounds(theta):
    """The names of the constants that the minimiser would have moved further."""
    names = ("A", "B", "E", "alpha", "beta")
    room = 1e-6 * (UPPER - LOWER)
    stuck = (theta <= LOWER + room) | (theta >= UPPER - room)
    return tuple(name for name, here in zip(names, stuck, strict=True) if here)

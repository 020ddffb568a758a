"""The objective of a fit with its gradient, and the minimiser that is started from many places.

The constants are varied as (ln a, ln b, ln E, alpha, beta), where a and b are A / N^alpha and B / D^beta at the
geometric means of N and D, all three in units of the losses' geometric mean. In A and B themselves the valley is so
narrow that most starts end far from its bottom.
"""

import math

import numpy as np
from scipy.optimize import Bounds, minimize
from threadpoolctl import ThreadpoolController

HUBER_DELTA = 1e-3  # of log loss; Hoffmann et al. 2022, section D.2
FLOOR_E, FLOOR_TERM, CEILING_TERM = 1e-5, 1e-8, 1e4  # of the mean loss
LEAST_EXPONENT, LARGEST_EXPONENT = 0.01, 3.0

# L-BFGS-B stops once a step gains less than ftol x max(|f|, 1). Losses fit to 1% give an f of 1e-3, so that this "1"
# would end most runs early: the objective is multiplied until f is far above it.
_SCALE = 1e6
_THREADS = ThreadpoolController()
_OPTIONS = {"maxiter": 1000, "maxfun": 5000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20}
_BOUNDS = Bounds(
    np.array([math.log(FLOOR_TERM)] * 2 + [math.log(FLOOR_E)] + [LEAST_EXPONENT] * 2),
    np.array([math.log(CEILING_TERM)] * 2 + [math.log(CEILING_TERM)] + [LARGEST_EXPONENT] * 2),
)


class Surface:
    """The objective over the constants of a law, for one set of runs."""

    def __init__(self, n_params, n_tokens, loss, objective):
        x, y = np.log(n_params), np.log(n_tokens)
        self.means = float(x.mean()), float(y.mean())
        self.x, self.y = x - self.means[0], y - self.means[1]
        self.unit = float(np.log(loss).mean())
        self.log_loss = np.log(loss) - self.unit
        self.ones = np.ones_like(x)
        self.objective = objective

    def __call__(self, theta):
        """The objective and its gradient."""
        ln_a, ln_b, ln_e, alpha, beta = theta
        size, data, floor = np.exp(ln_a - alpha * self.x), np.exp(ln_b - beta * self.y), math.exp(ln_e)
        predicted = size + data + floor
        residual = np.log(predicted) - self.log_loss
        value, slope = self._sum(residual)
        # Products with ones, for a sum over so few runs takes five times as long.
        weight = _SCALE * slope / predicted
        size, data, ones = weight * size, weight * data, self.ones
        gradient = (ones @ size, ones @ data, floor * (ones @ weight), -(self.x @ size), -(self.y @ data))
        return _SCALE * value, np.array(gradient)

    def _sum(self, residual):
        """The sum over the runs, and its derivative by each residual."""
        if self.objective == "huber":
            clipped = np.minimum(np.maximum(residual, -HUBER_DELTA), HUBER_DELTA)
            return clipped @ (residual - 0.5 * clipped), clipped
        return residual @ residual, 2 * residual

    def minimum(self, starts, bounds=_BOUNDS):
        """(objective, theta) of every start, each run to its end; the best first."""
        # Matrices of five by twenty are too small to share out: with several threads a fit takes ten times as long.
        with _THREADS.limit(limits=1):
            found = [minimize(self, s, jac=True, method="L-BFGS-B", bounds=bounds, options=_OPTIONS) for s in starts]
        return sorted(((float(o.fun) / _SCALE, o.x) for o in found), key=lambda pair: pair[0])

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
        return np.clip([*terms, law.alpha, law.beta], _BOUNDS.lb, _BOUNDS.ub)

    def one_term(self, floor):
        """Bounds that leave E + A / N^alpha alone, E being given; the other term is too small to be seen."""
        fixed = {1: math.log(FLOOR_TERM), 2: math.log(floor) - self.unit, 4: LEAST_EXPONENT}
        ends = [[fixed.get(k, end) for k, end in enumerate(side)] for side in (_BOUNDS.lb, _BOUNDS.ub)]
        return Bounds(*map(np.array, ends))

    def constants(self, theta):
        """E, A, B, alpha and beta by name, as plain floats."""
        ln_a, ln_b, ln_e, alpha, beta = map(float, theta)
        logs = (ln_e, ln_a + alpha * self.means[0], ln_b + beta * self.means[1])
        floor, size, data = (math.exp(value + self.unit) for value in logs)
        return {"E": floor, "A": size, "B": data, "alpha": alpha, "beta": beta}


def at_bounds(theta):
    """The names of the constants that the minimiser would have moved further."""
    names = ("A", "B", "E", "alpha", "beta")
    room = 1e-6 * (_BOUNDS.ub - _BOUNDS.lb)
    stuck = (theta <= _BOUNDS.lb + room) | (theta >= _BOUNDS.ub - room)
    return tuple(name for name, here in zip(names, stuck, strict=True) if here)

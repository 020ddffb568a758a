"""Many descents of the objective at once: damped Gauss-Newton steps, all rows of an array together.

A row is a set of runs and a place to start from. Each takes its own steps and stops for itself, so that it ends where
it would have ended alone. SciPy has no minimiser for many small problems; one after another it takes ten to thirty
times as long, most of that between the evaluations.
"""

import math

import numpy as np

HUBER_DELTA = 1e-3  # of log loss; Hoffmann et al. 2022, section D.2
FLOOR_E, FLOOR_TERM, CEILING_TERM = 1e-5, 1e-8, 1e4  # of the mean loss
LEAST_EXPONENT, LARGEST_EXPONENT = 0.01, 3.0
LOWER = np.array([*[math.log(FLOOR_TERM)] * 2, math.log(FLOOR_E), *[LEAST_EXPONENT] * 2])
UPPER = np.array([*[math.log(CEILING_TERM)] * 3, *[LARGEST_EXPONENT] * 2])
_ENTRIES = 100_000  # runs in all rows together: a step of so many takes 10 MB
_MOST_STEPS = 3000
_LEAST_GAIN = 1e-12  # of the objective
_STRAIGHT = 0.25  # of the weight of a run whose residual is beyond HUBER_DELTA
_FIRST, _LEAST, _MOST = 1e-2, 1e-10, 1e8  # damping, of the curvature
_LONGEST = 1.0  # step of any constant: longer ones may make a term so small that no slope leads back
_EASED, _RAISED = 0.2, 5.0  # after a step down, and after one that was none


class Rows:
    """The objective over the constants of a law, for a set of runs in each row: ln N, ln D and ln loss, centred."""

    def __init__(self, x, y, log_loss, objective):
        self.x, self.y, self.log_loss, self.objective = x, y, log_loss, objective

    @classmethod
    def of(cls, surfaces):
        """A row for each of some `lib.fit.surface.Surface`, all of as many runs."""
        columns = (np.stack([getattr(one, name) for one in surfaces]) for name in ("x", "y", "log_loss"))
        return cls(*columns, surfaces[0].objective)

    @classmethod
    def ends(cls, surfaces, starts, lower=LOWER, upper=UPPER):
        """(objectives, constants) where the descent on each surface ends, from its start and within its bounds."""
        given = starts, *(np.broadcast_to(bound, starts.shape) for bound in (lower, upper))
        size = max(1, _ENTRIES // len(surfaces[0].x))
        parts = [slice(k, k + size) for k in range(0, len(surfaces), size)]
        found = [cls.of(surfaces[part]).descend(*(array[part] for array in given)) for part in parts]
        return tuple(map(np.concatenate, zip(*found, strict=True)))

    def at(self, places):
        """The rows at these places."""
        return Rows(self.x[places], self.y[places], self.log_loss[places], self.objective)

    def __call__(self, theta):
        """The objective, its gradient, and a curvature that is never negative, at constants of each row.

        The curvature is Gauss and Newton's, with weights as of Holland and Welsch 1977, Comm. Stat. A6(9). They count
        runs on the straight part of Huber's function fully, though it does not curve there: with a quarter of it, steps
        are longer and half as many.
        """
        ln_a, ln_b, ln_e, alpha, beta = theta.T[:, :, np.newaxis]
        size, data = np.exp(ln_a - alpha * self.x), np.exp(ln_b - beta * self.y)
        predicted = size + data + np.exp(ln_e)
        residual = np.log(predicted) - self.log_loss
        weight = self._weight(residual)
        size, data, floor = size / predicted, data / predicted, np.exp(ln_e) / predicted
        slopes = np.stack([size, data, floor, -self.x * size, -self.y * data], axis=1)
        gradient = (slopes @ (weight * residual)[:, :, np.newaxis])[:, :, 0]
        curving = np.where(weight < 1, _STRAIGHT * weight, weight)[:, np.newaxis]
        return self._sum(residual, weight), gradient, (curving * slopes) @ slopes.swapaxes(1, 2)

    def _weight(self, residual):
        """The objective's derivative by each residual, over the residual."""
        if self.objective == "huber":
            return HUBER_DELTA / np.maximum(np.abs(residual), HUBER_DELTA)
        return np.full_like(residual, 2.0)

    def _sum(self, residual, weight):
        if self.objective == "huber":
            clipped = weight * residual
            return (clipped * (residual - 0.5 * clipped)).sum(axis=1)
        return (residual * residual).sum(axis=1)

    def descend(self, starts, *bounds):
        """(objectives, constants) where each row ends, from its start and within its bounds, lower and upper.

        Source: Marquardt 1963, J. SIAM 11(2):431-441, the damping; Bertsekas 1982, SIAM J. Control Optim.
            20(2):221-246, the constants that are held at a bound.
        """
        ends = np.clip(starts, *bounds)
        rows, here, damping = self, [ends.copy(), *self(ends)], np.full(len(ends), _FIRST)
        values, going = here[1].copy(), np.arange(len(ends))
        for _ in range(_MOST_STEPS):
            place = np.clip(here[0] + _step(*here, *bounds, damping), *bounds)
            there = [place, *rows(place)]
            better = there[1] < here[1]
            done = np.where(better, here[1] - there[1] <= _LEAST_GAIN * here[1], damping > _MOST)
            for old, new in zip(here, there, strict=True):
                old[better] = new[better]
            damping = np.maximum(_LEAST, damping * np.where(better, _EASED, _RAISED))
            ends[going], values[going] = here[0], here[1]
            if done.any():
                left = ~done
                rows, going, damping = rows.at(left), going[left], damping[left]
                here, bounds = [part[left] for part in here], tuple(end[left] for end in bounds)
            if not len(going):
                break
        return values, ends


def _step(theta, _, gradient, curvature, lower, upper, damping):
    """Marquardt's step of the constants that no bound holds."""
    held = (theta <= lower) & (gradient > 0) | (theta >= upper) & (gradient < 0)
    free = ~held
    matrix = curvature * (free[:, :, np.newaxis] & free[:, np.newaxis])
    diagonal = np.einsum("...ii->...i", matrix)  # a view
    diagonal += np.where(held, 1.0, np.maximum(damping[:, np.newaxis] * diagonal, 1e-12))
    step = np.linalg.solve(matrix, np.where(held, 0.0, -gradient)[:, :, np.newaxis])[:, :, 0]
    return step / np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / _LONGEST)

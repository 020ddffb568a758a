"""How sure a law is of a loss, of a difference of two losses and of its exponents: errors that move together.

The constants of a fit are correlated: a resample that makes E larger makes alpha and beta larger too. So the error of a
loss is not that of E, and in the difference of two losses of one law E drops out altogether. To first order the
variance of any of these is g C g, with g its derivatives by the constants and C their covariance.
"""

from dataclasses import dataclass
from itertools import combinations
from math import fsum, log
from types import MappingProxyType

from lib import check, facts
from lib.scaling import LAWS
from lib.scaling.allocations import Allocation
from lib.scaling.parametric import ScalingLaw

CONSTANTS = ("E", "ln_A", "ln_B", "alpha", "beta")
LEVEL = 0.95
_NORMAL = 1.96  # standard errors to either side that hold so much


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its standard error.

    >>> [f"{end:.3f}" for end in Estimate(value=0.004, error=0.006).interval]
    ['-0.008', '0.016']
    """

    value: float
    error: float

    def __post_init__(self):
        check.fields(self, finite="value", non_negative="error")

    @property
    def interval(self):
        """The middle 95 %, as for a normal distribution."""
        return check.result(low=self.value - _NORMAL * self.error), check.result(high=self.value + _NORMAL * self.error)

    @property
    def settled(self):
        """Whether the sign is known at that level: 0 lies outside the interval."""
        return abs(self.value) > _NORMAL * self.error


def _covariance(entry):
    errors = {name: entry[f"{name}_error"] for name in CONSTANTS}
    found = {(name, name): error**2 for name, error in errors.items()}
    for one, other in combinations(CONSTANTS, 2):
        found[one, other] = found[other, one] = entry[f"{one}_with_{other}"] * errors[one] * errors[other]
    return MappingProxyType(found)


_FIGURES = {f"{name}_error": "nats/token" if name == "E" else "" for name in CONSTANTS} | {"n_resamples": "refits"}
_FIGURES |= {f"{one}_with_{other}": "" for one, other in combinations(CONSTANTS, 2)}
FACTS = facts.load("spreads", _FIGURES, labels=("aliases",))
# By the law itself: another one of the same name has other errors.
SPREADS = MappingProxyType(
    {LAWS[name]: _covariance(entry) for row, entry in FACTS.items() for name in (row, *entry.get("aliases", ()))}
)


def loss(law, run):
    """The loss of a run by a law, with the standard error that all constants together give it  [nats per token].

    Args:
        law: a `ScalingLaw` whose constants' joint errors are known, one of `SPREADS`.
        run: an `Allocation`.

    Raises:
        ValueError: for a law whose joint errors nobody has computed.

    Source: lib/data/spreads.toml.

    >>> from lib.scaling import law
    >>> from lib.scaling.allocations import published
    >>> found = loss(law("Besiroglu 2024"), published("Chinchilla"))
    >>> f"{found.value:.3f}, standard error {found.error:.3f}"
    '1.974, standard error 0.013'
    """
    covariance = _spread(law)
    check.instance(Allocation, run=run)
    return _estimate(law.loss(run.n_params, run.n_tokens), _gradient(law, run), covariance)


def gap(law, run, other):
    """How much more one run loses than another by the same law, with its standard error: E drops out.

    Args:
        law: as in `loss`.
        run: an `Allocation`.
        other: the `Allocation` that it is held against.

    >>> from lib.scaling import law
    >>> from lib.scaling.allocations import published
    >>> found = gap(law("Besiroglu 2024"), published("Gopher"), published("Chinchilla"))
    >>> f"{found.value:.3f}, standard error {found.error:.3f}, {'settled' if found.settled else 'not settled'}"
    '0.026, standard error 0.006, settled'
    """
    covariance = _spread(law)
    check.instance(Allocation, run=run, other=other)
    slopes, others = _gradient(law, run), _gradient(law, other)
    change = {name: slopes[name] - others[name] for name in CONSTANTS}
    value = law.loss(run.n_params, run.n_tokens) - law.loss(other.n_params, other.n_tokens)
    return _estimate(value, change, covariance)


def ratio_exponent(law):
    """The power of compute that the best tokens per parameter grow with: (alpha - beta) / (alpha + beta).

    Args:
        law: as in `loss`.

    >>> from lib.scaling import law
    >>> found = ratio_exponent(law("Besiroglu 2024"))
    >>> f"{found.value:.3f}, standard error {found.error:.3f}"
    '-0.025, standard error 0.039'
    """
    covariance = _spread(law)
    together = law.alpha + law.beta
    slopes = dict.fromkeys(CONSTANTS, 0.0)
    slopes |= {"alpha": 2 * law.beta / together**2, "beta": -2 * law.alpha / together**2}
    return _estimate((law.alpha - law.beta) / together, slopes, covariance)


def _spread(law):
    check.instance(ScalingLaw, law=law)
    if law not in SPREADS:
        known = check.listed([one.name for one in SPREADS])
        raise ValueError(f"law = {law.name!r}: {known}; how the constants of others vary together is not known")
    return SPREADS[law]


def _gradient(law, run):
    """Derivatives of the loss by E, ln A, ln B, alpha and beta."""
    floor = law.floor(run.n_params)
    size_debt, data_debt = floor - law.E, law.loss(run.n_params, run.n_tokens) - floor
    slopes = (1.0, size_debt, data_debt, -size_debt * log(run.n_params), -data_debt * log(run.n_tokens))
    return dict(zip(CONSTANTS, slopes, strict=True))


def _estimate(value, slopes, covariance):
    variance = fsum(slopes[one] * slopes[other] * both for (one, other), both in covariance.items())
    return Estimate(value=value, error=max(variance, 0.0) ** 0.5)

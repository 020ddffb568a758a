"""Allocations of published runs, and what a law would have made of the same compute."""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check, facts
from lib.compute import train_flops
from lib.scaling import ScalingLaw


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """Parameters and tokens of a run.

    Args:
        name: whose; any text.
        n_params: parameters, > 0.
        n_tokens: training tokens, > 0.
        source: where both were read, or the rule that gave them.

    Raises:
        TypeError, ValueError: if a number is not positive and finite.

    >>> round(published("chinchilla").tokens_per_param)
    20
    """

    name: str = ""
    n_params: float
    n_tokens: float
    source: str = ""

    def __post_init__(self):
        check.fields(self, positive="n_params n_tokens", text="name source")

    @property
    def compute_flops(self):
        """6 N D  [FLOP]."""
        return train_flops(self.n_params, self.n_tokens)

    @property
    def tokens_per_param(self):
        """D / N."""
        return check.positive_result(tokens_per_param=self.n_tokens / self.n_params)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A run beside the best use of the same compute, by one law.

    >>> from lib.scaling import law
    >>> beside = Comparison(run=published("chinchilla"), law=law("hoffmann"))
    >>> round(beside.size_ratio, 2), round(beside.cost, 4)
    (1.72, 0.0032)
    """

    run: Allocation
    law: ScalingLaw

    def __post_init__(self):
        check.instance(Allocation, run=self.run)
        check.instance(ScalingLaw, law=self.law)

    @property
    def best(self):
        """The allocation that the law prefers for the same compute."""
        n_params, n_tokens = self.law.optimum(self.run.compute_flops)
        return Allocation(name=self.law.name, n_params=n_params, n_tokens=n_tokens, source=self.law.source)

    @property
    def size_ratio(self):
        """Size of the run over the best size."""
        return check.positive_result(size_ratio=self.run.n_params / self.best.n_params)

    @property
    def loss(self):
        """Loss of the run as the law predicts it, nats per token; never compare it with that of another law."""
        return self.law.loss(self.run.n_params, self.run.n_tokens)

    @property
    def cost(self):
        """What the run's size costs against the best size, nats per token, 0 or more."""
        return max(self.loss - self.law.optimal_loss(self.run.compute_flops), 0.0)

    @property
    def compute_share(self):
        """Part of the run's compute that the best size would have needed for the same loss, at most 1."""
        return min(self.law.least_compute(self.loss) / self.run.compute_flops, 1.0)


def _allocation(entry):
    source = "; ".join(dict.fromkeys(entry.sources.values()))
    sizes = {"n_params": float(entry["n_params"]), "n_tokens": float(entry["n_tokens"])}
    return Allocation(name=entry.name, source=source, **sizes)


_ENTRIES = facts.load("allocations", {"n_params": "parameters", "n_tokens": "tokens"}, labels=("aliases",))
PUBLISHED = MappingProxyType({name: _allocation(entry) for name, entry in _ENTRIES.items()})
_NAMES = dict(PUBLISHED) | {alias: PUBLISHED[n] for n, entry in _ENTRIES.items() for alias in entry.get("aliases", ())}


def published(name):
    """How a published run spent its compute, by the model's name.

    Raises:
        TypeError: if the name is no text.
        ValueError: if none has it; the nearest name is offered.

    >>> published("llama-3-405b").n_tokens
    15600000000000.0
    """
    return check.lookup(_NAMES, allocation=name)

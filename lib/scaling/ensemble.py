"""Many laws beside each other: how far they spread, and the size that no law finds very wrong.

Laws may be compared by the sizes and tokens that they prefer. Their losses may not: tokenizers and corpora differ. What
a size loses against the best of the same law stays inside that law, and so does the part of the compute it wastes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from lib import check
from lib.compute import TRAIN_FLOPS_PER_PARAM
from lib.elementwise import power
from lib.scaling import LAWS
from lib.scaling import NAMES as LOSS_NAMES
from lib.scaling.budget_laws import BUDGET_LAWS, RULE_OF_20, BudgetLaw
from lib.scaling.budget_laws import NAMES as BUDGET_NAMES
from lib.scaling.parametric import ScalingLaw

# Every published law of dense models that turns a budget into a size, and the rule that is quoted most.
DENSE = MappingProxyType({law.name: law for law in (*BUDGET_LAWS.values(), *LAWS.values(), RULE_OF_20)})
_NAMES = dict(LOSS_NAMES) | dict(BUDGET_NAMES) | {RULE_OF_20.name: RULE_OF_20, "rule of 20": RULE_OF_20}
_OF_HOFFMANNS_RUNS = tuple(law for name, law in DENSE.items() if name.startswith(("Hoffmann", "Besiroglu")))
GROUPS = MappingProxyType(
    {
        "every law": tuple(DENSE.values()),
        "laws with a loss": tuple(LAWS.values()),
        "fits of Hoffmann's MassiveText runs": _OF_HOFFMANNS_RUNS,
        "fits of other runs": tuple(
            law for law in DENSE.values() if law not in _OF_HOFFMANNS_RUNS and law is not RULE_OF_20
        ),
    }
)
_STEPS = 45  # halvings of a range of a few decades: to a dozen digits
_WIDEST = 60.0  # in ln N: a valley that is wider than 26 decades is none


def dense_law(name):
    """A published law of dense models, with or without a loss, by its name.

    Args:
        name: such as "Kaplan 2020", "besiroglu", "20 tokens per parameter".

    Raises:
        ValueError: if no law has it; the nearest name is offered.

    >>> dense_law("kaplan").name
    'Kaplan 2020'
    """
    return check.lookup(_NAMES, law=name)


def _a_law(name, law):
    if not isinstance(law, (ScalingLaw, BudgetLaw)):
        check.instance(ScalingLaw, **{name: law})


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What one law makes of a budget: size and tokens, counted as that law counts them."""

    law: ScalingLaw | BudgetLaw
    n_params: float
    n_tokens: float

    def __post_init__(self):
        _a_law("law", self.law)
        check.fields(self, positive="n_params n_tokens")

    @cached_property
    def tokens_per_param(self):
        """D / N."""
        return check.positive_result(tokens_per_param=self.n_tokens / self.n_params)

    @cached_property
    def label(self):
        """How far the law is stretched to give this answer."""
        return self.law.label(self.n_params, self.n_tokens)


@dataclass(frozen=True, kw_only=True)
class Regret:
    """What a size loses under each law against that law's own best size, at one budget."""

    compute: float
    n_params: float
    nats: Mapping[str, float]  # law -> nats per token above its least loss, each in the law's own nats
    wasted: Mapping[str, float]  # law -> part of the compute that its best size would not have needed, 0 to 1

    def __post_init__(self):
        check.fields(self, positive="compute n_params")
        for name in ("nats", "wasted"):
            check.instance(Mapping, **{name: getattr(self, name)})

    @property
    def n_tokens(self):
        """What the size can see in this budget."""
        return check.positive_result(n_tokens=self.compute / (TRAIN_FLOPS_PER_PARAM * self.n_params))

    @property
    def worst(self):
        """The law under which the size loses most nats."""
        return max(self.nats, key=self.nats.get)

    @property
    def worst_nats(self):
        """What it loses there  [nats per token]."""
        return self.nats[self.worst]


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """Several laws asked about one budget.

    Args:
        compute: training compute, FLOP, > 0.
        laws: a tuple of `ScalingLaw` and `BudgetLaw`, at least one; every published one if left out.

    >>> low, high = Ensemble(compute=1e21).ratios
    >>> f"{low:.1f} to {high:.1f} tokens a parameter"
    '2.8 to 50.1 tokens a parameter'
    """

    compute: float
    laws: tuple = GROUPS["every law"]

    def __post_init__(self):
        check.fields(self, positive="compute")
        check.instance(tuple, laws=self.laws)
        if not self.laws:
            raise ValueError("laws = (): at least one law")
        for place, law in enumerate(self.laws):
            _a_law(f"laws[{place}]", law)

    @cached_property
    def votes(self):
        """What each law makes of the budget, from the fewest tokens per parameter to the most."""
        pairs = ((law, law.optimum(self.compute)) for law in self.laws)
        votes = [Vote(law=law, n_params=n_params, n_tokens=n_tokens) for law, (n_params, n_tokens) in pairs]
        return tuple(sorted(votes, key=lambda vote: vote.tokens_per_param))

    @property
    def ratios(self):
        """Fewest and most tokens per parameter."""
        return self.votes[0].tokens_per_param, self.votes[-1].tokens_per_param

    @property
    def sizes(self):
        """Smallest and largest best size."""
        return self.votes[-1].n_params, self.votes[0].n_params

    @property
    def tokens(self):
        """Fewest and most best tokens."""
        return self.votes[0].n_tokens, self.votes[-1].n_tokens

    @cached_property
    def n_extrapolated(self):
        """How many of the laws are stretched beyond the runs that they were fitted to.

        >>> Ensemble(compute=1e21).n_extrapolated, Ensemble(compute=2.1e24).n_extrapolated
        (2, 12)
        """
        return sum(vote.label.startswith("extrapolated") for vote in self.votes)

    @property
    def judges(self):
        """The laws that predict a loss, and so can say what a size costs."""
        return tuple(law for law in self.laws if isinstance(law, ScalingLaw))

    def regret(self, n_params):
        """What a size loses under each law that predicts a loss.

        Args:
            n_params: parameters, > 0.

        Raises:
            ValueError: if none of the laws predicts a loss.

        >>> asked = Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"]).regret(70.55e9)
        >>> f"{asked.worst}: {asked.worst_nats:.4f}, {asked.wasted[asked.worst]:.0%} of the compute"
        'Gadre 2024, RedPajama: 0.0232, 42% of the compute'
        """
        check.scalar(n_params=n_params)
        nats, wasted = {}, {}
        for law in self._asked():
            loss = law.loss_at_budget(self.compute, n_params)
            nats[law.name] = max(loss - law.optimal_loss(self.compute), 0.0)
            wasted[law.name] = max(1 - law.least_compute(loss) / self.compute, 0.0)
        return Regret(compute=self.compute, n_params=float(n_params), nats=nats, wasted=wasted)

    @cached_property
    def least_regret(self):
        """The size that loses least under the worst of the laws.

        The loss of each law is convex in log N along a budget, and so is the largest of their regrets: halving finds
        its lowest point, always moving towards the best size of the law that is worst off.

        >>> best = Ensemble(compute=1e21, laws=GROUPS["laws with a loss"]).least_regret
        >>> f"{best.n_params / 1e9:.2f}B loses at most {best.worst_nats:.4f} nats"
        '3.11B loses at most 0.0086 nats'
        """
        laws = self._asked()
        best = [math.log(law.optimum(self.compute)[0]) for law in laws]
        least = [law.optimal_loss(self.compute) for law in laws]
        low, high = min(best), max(best)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            n_params = math.exp(middle)
            n_tokens = self.compute / (TRAIN_FLOPS_PER_PARAM * n_params)
            # Unchecked: every value was made here from one that was checked.
            lost = [law._loss(n_params, n_tokens) - floor for law, floor in zip(laws, least, strict=True)]
            low, high = (middle, high) if best[lost.index(max(lost))] > middle else (low, middle)
        return self.regret(math.exp(low))

    def _asked(self):
        if not self.judges:
            raise ValueError("laws: at least one that predicts a loss; the others give sizes alone")
        return self.judges


def valley(law, compute, tolerance):
    """The smallest and the largest size that lose at most so much against the best, at one budget.

    Args:
        law: a `ScalingLaw`.
        compute: training compute, FLOP, > 0.
        tolerance: nats per token that may be lost, > 0.

    Returns:
        (n_params, n_params).

    >>> from lib.scaling import law
    >>> besiroglu = law("Besiroglu 2024")
    >>> [f"{size / besiroglu.optimum(2.1e24)[0]:.2f}" for size in valley(besiroglu, 2.1e24, 0.01)]
    ['0.33', '3.04']
    """
    check.instance(ScalingLaw, law=law)
    check.scalar(compute=compute, tolerance=tolerance)
    check.positive(compute=compute, tolerance=tolerance)
    best, least = law.optimum(compute)[0], law.optimal_loss(compute)

    def lost(steps):
        return law.loss_at_budget(compute, check.positive_result(n_params=best * power(math.e, steps))) - least

    ends = []
    for widest in (-_WIDEST, _WIDEST):
        inside, outside = 0.0, widest
        if lost(outside) <= tolerance:
            raise ValueError(f"tolerance = {check.figure(tolerance)}: less, or the valley has no end within 26 decades")
        for _ in range(_STEPS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if lost(middle) <= tolerance else (inside, middle)
        ends.append(best * math.exp(inside))
    return tuple(ends)

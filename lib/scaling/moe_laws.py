"""Scaling laws of mixtures of experts: what E experts a layer, of which each token uses one, are worth.

Both laws count the experts after a transformation that saturates, E^, because the first expert and the hundredth do not
help alike. The joint law of Ludziejewski et al. becomes an ordinary law of N and D for every E: all that `ScalingLaw`
can do, it can do for it. The law of Clark et al. compares sizes at one number of tokens and allocates nothing.
"""

from dataclasses import dataclass, replace
from types import MappingProxyType

from lib import check, facts
from lib.elementwise import log, power
from lib.scaling.evidence import FIGURES, LABELS, WORDS, Origin, read_origin
from lib.scaling.parametric import ScalingLaw

_LN_10 = 2.302585092994046


def effective_experts(n_experts, E_start, E_max):  # noqa: N803
    """The experts that count, E^: 1/E^ = 1 / (E - 1 + 1 / (1/E_start - 1/E_max)) + 1/E_max.

    One expert counts as E_start; however many there are, they count as less than E_max.

    Args:
        n_experts: experts in a layer, >= 1; 1 is a dense model.
        E_start: what a dense model counts as, > 0 and below E_max.
        E_max: what endless experts count as, > 0.

    Raises:
        ValueError: if E_start is not below E_max.

    Source: Clark et al. 2022, arXiv:2202.01169, equation 4; Ludziejewski et al. 2025, arXiv:2502.05172, equation 4.

    >>> round(effective_experts(1, 2.0, 300.0), 9), round(effective_experts(8, 2.0, 300.0), 1)
    (2.0, 8.8)
    """
    check.whole(n_experts=n_experts)
    check.positive(E_start=E_start, E_max=E_max)
    if E_start >= E_max:
        raise ValueError(f"E_start = {E_start}: below E_max, {E_max}")
    first = check.positive_result(first_expert=E_start / (1 - E_start / E_max))  # 1 / (1/E_start - 1/E_max)
    counted = n_experts - 1 + first
    return check.positive_result(experts=counted / (1 + counted / E_max))


@dataclass(frozen=True, kw_only=True)
class JointLaw:
    """L = a E^^delta N^(alpha + gamma ln E^) + b E^^omega D^(beta + zeta ln E^) + c  [nats per token].

    N is the active parameters. Source: Ludziejewski et al. 2025, arXiv:2502.05172, equation 6.

    >>> dense, moe = moe_law("Ludziejewski 2025").at(1), moe_law("Ludziejewski 2025").at(32)
    >>> f"{dense.optimum(1e21)[0] / 1e9:.1f}B dense, {moe.optimum(1e21)[0] / 1e9:.2f}B active"
    '5.7B dense, 2.88B active'
    """

    name: str
    a: float
    alpha: float
    delta: float
    gamma: float
    b: float
    beta: float
    omega: float
    zeta: float
    c: float
    E_start: float
    E_max: float
    most_experts: int
    origin: Origin

    def __post_init__(self):
        check.fields(self, positive="a b c E_start E_max", finite="alpha delta gamma beta omega zeta", text="name")
        check.fields(self, integer="most_experts")
        check.instance(Origin, origin=self.origin)

    def at(self, n_experts):
        """The law for a number of experts, as a `ScalingLaw` of active parameters and tokens.

        Args:
            n_experts: experts in a layer, a whole number of at least 1; 1 is a dense model.

        Raises:
            ValueError: if the law gives no loss that falls with size and tokens at so many experts.

        >>> eight = moe_law("Ludziejewski 2025").at(8)
        >>> f"{eight.E:.4f} + {eight.A:.1f} / N^{eight.alpha:.4f} + {eight.B:.0f} / D^{eight.beta:.4f}"
        '1.3637 + 21.8 / N^0.1676 + 120 / D^0.2339'
        """
        check.integer(n_experts=n_experts)
        counted = effective_experts(n_experts, self.E_start, self.E_max)
        size, data = -(self.alpha + self.gamma * log(counted)), -(self.beta + self.zeta * log(counted))
        if min(size, data) <= 0:
            raise ValueError(f"n_experts = {n_experts}: fewer; {self.name} has no falling loss there")
        experts = "dense" if n_experts == 1 else f"{n_experts} experts"
        return ScalingLaw(
            name=f"{self.name}, {experts}",
            E=self.c,
            A=check.positive_result(A=self.a * power(counted, self.delta)),
            B=check.positive_result(B=self.b * power(counted, self.omega)),
            alpha=size,
            beta=data,
            origin=replace(self.origin, n_experts=n_experts, stretch=self._stretch(n_experts)),
        )

    def _stretch(self, n_experts):
        return "" if n_experts <= self.most_experts else f"{self.most_experts} experts were the most that were fitted"


@dataclass(frozen=True, kw_only=True)
class RoutedLaw:
    """log L = of_params log N + of_experts log E^ + of_both log N log E^ + constant, for one number of tokens.

    Logarithms to base 10; N is the parameters of the dense model that a token passes through. The constants are the
    paper's a, b, c and d. Source: Clark et al. 2022, arXiv:2202.01169, equation 1.

    >>> routed = moe_law("Clark 2022")
    >>> f"5M with 128 experts are worth {routed.effective_params(5e6, 128) / 1e6:.0f}M dense"
    '5M with 128 experts are worth 52M dense'
    """

    name: str
    of_params: float
    of_experts: float
    of_both: float
    constant: float
    E_start: float
    E_max: float
    most_experts: int
    n_tokens: float
    origin: Origin

    def __post_init__(self):
        check.fields(self, finite="of_params of_experts of_both constant", text="name")
        check.fields(self, positive="E_start E_max n_tokens", integer="most_experts")
        check.instance(Origin, origin=self.origin)

    def loss(self, n_params, n_experts):
        """Loss after the law's own number of tokens  [nats per token].

        Args:
            n_params: parameters of the dense model, > 0; float or array.
            n_experts: experts in a layer, a whole number of at least 1.

        >>> round(moe_law("Clark 2022").loss(1e9, 1), 2), round(moe_law("Clark 2022").loss(1e9, 64), 2)
        (2.28, 2.09)
        """
        check.positive(n_params=n_params)
        size, experts = _log10(n_params), self._log_experts(n_experts)
        log_loss = self.of_params * size + self.of_experts * experts + self.of_both * size * experts + self.constant
        return check.positive_result(loss=power(10.0, check.result(log10_loss=log_loss)))

    def effective_params(self, n_params, n_experts):
        """Size of the dense model with the same loss: the law's *effective parameter count*.

        Args:
            n_params: parameters of the dense model, > 0; float or array.
            n_experts: experts in a layer, a whole number of at least 1.

        Source: Clark et al. 2022, arXiv:2202.01169, equation 11.
        """
        check.positive(n_params=n_params)
        one, many = self._log_experts(1), self._log_experts(n_experts)
        dense_slope, slope = (self.of_params + self.of_both * counted for counted in (one, many))
        if dense_slope == 0:
            raise ValueError(f"{self.name}: a loss that changes with the size of a dense model")
        size = (slope * _log10(n_params) + self.of_experts * (many - one)) / dense_slope
        return check.positive_result(n_params=power(10.0, check.result(log10_params=size)))

    @property
    def cutoff_params(self):
        """The size from which on experts no longer help: where of_experts + of_both log N is 0.

        The paper prints 937 billion, from constants with more digits.

        >>> f"{moe_law('Clark 2022').cutoff_params:.2g}"
        '1e+12'
        """
        if self.of_both == 0:
            raise ValueError(f"of_both = 0: not 0; experts help {self.name} alike at every size")
        return check.positive_result(cutoff_params=power(10.0, -self.of_experts / self.of_both))

    def _log_experts(self, n_experts):
        check.integer(n_experts=n_experts)
        return _log10(effective_experts(n_experts, self.E_start, self.E_max))


def _log10(value):
    return log(value) / _LN_10


_JOINT = ("a", "alpha", "delta", "gamma", "b", "beta", "omega", "zeta", "c", "E_start", "E_max")
_ROUTED = ("of_params", "of_experts", "of_both", "constant", "E_start", "E_max", "n_tokens")
_UNITS = dict.fromkeys(("a", "b", "c"), "nats/token") | dict.fromkeys(("E_start", "E_max", "most_experts"), "experts")
_UNITS |= {"n_tokens": "tokens"}


def _law(entry):
    kind, names = (JointLaw, _JOINT) if "alpha" in entry.facts else (RoutedLaw, _ROUTED)
    constants = {name: float(entry[name]) for name in names}
    origin = read_origin(entry, entry.facts[names[0]].source)
    return kind(name=entry.name, origin=origin, most_experts=int(entry["most_experts"]), **constants)


FACTS = facts.load("moe_laws", dict.fromkeys((*_JOINT, *_ROUTED), "") | _UNITS | FIGURES, WORDS, LABELS)
MOE_LAWS = MappingProxyType({name: _law(entry) for name, entry in FACTS.items()})
_NAMES = dict(MOE_LAWS) | {alias: MOE_LAWS[name] for name, e in FACTS.items() for alias in e.get("aliases", ())}


def moe_law(name):
    """A published law of mixtures of experts by its name.

    Args:
        name: "Ludziejewski 2025" (`JointLaw`) or "Clark 2022" (`RoutedLaw`), or another name of theirs.

    Raises:
        ValueError: if no law has it; the nearest name is offered.

    >>> moe_law("clark").n_tokens
    130000000000.0
    """
    return check.lookup(_NAMES, law=name)

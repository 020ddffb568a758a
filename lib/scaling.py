"""Scaling laws: the loss that a model of N parameters reaches on D tokens, and what follows for a budget.

    L(N, D) = E + A / N^alpha + B / D^beta          loss in nats per token

A law holds for its own tokenizer, corpus and way of counting N. Compare N and D between laws, never losses.
Compute is 6 N D throughout (`lib.compute.train_flops`); N counts all parameters unless the law says otherwise.
"""

from dataclasses import dataclass
from functools import cached_property

from lib import check, facts
from lib.compute import TRAIN_FLOPS_PER_PARAM, train_flops
from lib.elementwise import every, is_array
from lib.evidence import Errors, LossVerdict, Origin, Range
from lib.units import show_number


@dataclass(frozen=True, kw_only=True)
class ScalingLaw:
    """L(N, D) = E + A / N^alpha + B / D^beta  [nats per token].

    Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 2 (form) and equation 4 (optimum).

    >>> chinchilla = law("Besiroglu 2024")
    >>> round(chinchilla.loss(70e9, 1.4e12), 4)
    1.9739
    """

    name: str
    E: float  # nats per token: what no model gets below
    A: float
    B: float
    alpha: float
    beta: float
    origin: Origin | None = None

    def __post_init__(self):
        check.fields(self, positive="E A B alpha beta", text="name")
        if self.origin is not None:
            check.instance(Origin, origin=self.origin)

    @property
    def source(self):
        """Where the constants come from, down to table or equation."""
        return self.origin.source if self.origin else "constants given by hand"

    @cached_property
    def _balance(self):
        """G of equation 4: how far the optimum leans towards parameters."""
        return (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))

    @property
    def params_exponent(self):
        """a in N* proportional to C^a.

        >>> round(law("Besiroglu 2024").params_exponent, 3)
        0.513
        """
        return self.beta / (self.alpha + self.beta)

    def loss(self, n_params, n_tokens):
        """Loss of a run: E + A / N^alpha + B / D^beta  [nats per token].

        Args:
            n_params: parameters, as the law counts them, > 0; float or array.
            n_tokens: training tokens, each seen once, > 0; float or array.

        Raises:
            TypeError, ValueError: if either is no positive, finite number.

        >>> round(law("Besiroglu 2024, rounded").loss(70_553_706_496, 15e12), 4)
        1.9322
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        return check.result(loss=self._loss(n_params, n_tokens))

    def _loss(self, n_params, n_tokens):
        return self.E + self.A / n_params**self.alpha + self.B / n_tokens**self.beta

    def optimum(self, compute):
        """The parameters and tokens that lose least for a budget: N* = G (C/6)^(beta/(alpha+beta)), D* = C / (6 N*).

        Args:
            compute: training compute, FLOP, > 0; float or array.

        Returns:
            (n_params, n_tokens).

        Raises:
            TypeError, ValueError: if compute is no positive, finite number.

        Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 4.

        >>> n_params, n_tokens = law("Besiroglu 2024").optimum(1e24)
        >>> f"{n_params:.4g} {n_tokens:.4g}"
        '9.586e+10 1.739e+12'
        """
        check.positive(compute=compute)
        n_params = check.result(n_params=self._balance * (compute / TRAIN_FLOPS_PER_PARAM) ** self.params_exponent)
        return n_params, _tokens_within(compute, n_params)

    def tokens_per_param(self, compute):
        """D* / N* at a budget.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        >>> round(law("Hoffmann 2022").tokens_per_param(5.76e23), 1)
        58.9
        >>> round(law("Hoffmann 2022, rounded").tokens_per_param(5.76e23), 1)
        92.6
        """
        n_params, n_tokens = self.optimum(compute)
        return n_tokens / n_params

    def optimal_loss(self, compute):
        """The least loss that a budget buys.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        >>> round(law("Besiroglu 2024").optimal_loss(1e24), 4)
        1.9597
        """
        return self.loss(*self.optimum(compute))

    def loss_at_budget(self, compute, n_params):
        """Loss of a model of given size that spends the whole budget: D = C / (6 N). The isoFLOP curve.

        Args:
            compute: training compute, FLOP, > 0; float or array.
            n_params: parameters, > 0; float or array.

        >>> round(law("Besiroglu 2024, rounded").loss_at_budget(2.1000093696e24, 405_853_388_800), 4)
        1.9532
        """
        check.positive(compute=compute, n_params=n_params)
        return self.loss(n_params, _tokens_within(compute, n_params))

    def size_penalty(self, compute, factor):
        """What it costs to miss the best size: the loss with factor x N*, minus the least loss, at one budget.

        Args:
            compute: training compute, FLOP, > 0; float or array.
            factor: size over best size, > 0; float or array.

        >>> round(law("Besiroglu 2024, rounded").size_penalty(2.1e24, 0.5), 4)
        0.0038
        """
        check.positive(compute=compute, factor=factor)
        n_params, _ = self.optimum(compute)
        return self.loss_at_budget(compute, factor * n_params) - self.optimal_loss(compute)

    def floor(self, n_params):
        """The loss that a size approaches with endless tokens: E + A / N^alpha  [nats per token].

        Args:
            n_params: parameters, > 0; float or array.

        >>> round(law("Besiroglu 2024, rounded").floor(8_030_261_248), 4)
        1.9923
        """
        check.positive(n_params=n_params)
        return check.result(floor=self.E + self.A / n_params**self.alpha)

    def fewest_tokens(self, target_loss, n_params):
        """Tokens with which a size reaches a loss: (B / (L - E - A / N^alpha))^(1/beta). The isoloss curve.

        Args:
            target_loss: nats per token, above the floor of that size; float or array.
            n_params: parameters, > 0; float or array.

        Raises:
            ValueError: if the size cannot reach the loss with any number of tokens; its floor is named. For arrays,
                `target_loss > law.floor(n_params)` is the mask beforehand.

        >>> f"{law('Besiroglu 2024, rounded').fewest_tokens(1.955, 70_553_706_496):.4g}"
        '3.381e+12'
        """
        check.positive(target_loss=target_loss, n_params=n_params)
        floor = self.floor(n_params)
        if not every(target_loss > floor):
            _refuse(floor, target_loss, f"the floor of this size under {self.name}, with endless tokens")
        return check.result(n_tokens=(self.B / (target_loss - floor)) ** (1 / self.beta))

    def least_compute(self, target_loss):
        """The smallest budget that reaches a loss, spent at the optimum  [FLOP].

        At the optimum alpha A / N^alpha = beta B / D^beta, so each term is a fixed part of L - E.

        Args:
            target_loss: nats per token, above E; float or array.

        Raises:
            ValueError: if the loss is not above E, which is named.

        >>> besiroglu = law("Besiroglu 2024")
        >>> f"{besiroglu.least_compute(besiroglu.optimal_loss(1e24)):.6g}"
        '1e+24'
        """
        check.positive(target_loss=target_loss)
        if not every(target_loss > self.E):
            _refuse(self.E, target_loss, f"E of {self.name}, which no model gets below")
        n_params = (self.A * (1 + self.alpha / self.beta) / (target_loss - self.E)) ** (1 / self.alpha)
        n_tokens = (self.B * (1 + self.beta / self.alpha) / (target_loss - self.E)) ** (1 / self.beta)
        return train_flops(n_params, n_tokens)

    def inside_range(self, n_params, n_tokens):
        """Whether a run lies among those that the law was fitted to; None where the paper does not say.

        Args:
            n_params: parameters, > 0; float or array.
            n_tokens: tokens, > 0; float or array.

        >>> law("Besiroglu 2024").inside_range(1e9, 20e9), law("Besiroglu 2024").inside_range(70e9, 1.4e12)
        (True, False)
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        fitted = self.origin.fitted if self.origin else None
        return None if fitted is None else fitted.holds(n_params, n_tokens)

    def label(self, n_params, n_tokens):
        """What a table must say beside a loss of this run: fitted, extrapolated, or range unknown.

        >>> law("Besiroglu 2024").label(70e9, 1.4e12)
        'extrapolated: 45 times the compute of the largest fitted run'
        """
        inside = self.inside_range(n_params, n_tokens)
        if inside is None:
            return "range of the fit not printed"
        if inside:
            return "within the fitted range"
        beyond = train_flops(n_params, n_tokens) / self.origin.fitted.compute_at_most
        if beyond <= 1:
            return "extrapolated: no fitted run has this shape"
        times = show_number(float(f"{beyond:.2g}"))
        return f"extrapolated: {times} times the compute of the largest fitted run"

    def judge(self, loss, target_loss):
        """Is the target met? Undecided where the margin lies inside the law's own standard error.

        Args:
            loss: predicted by this law, nats per token, > 0.
            target_loss: at most this much, nats per token, > 0.

        Returns:
            `LossVerdict`.

        >>> rounded = law("Besiroglu 2024, rounded")
        >>> rounded.judge(1.9532, 1.955).words
        'undecided'
        """
        error = self.origin.errors.E if self.origin and self.origin.errors else None
        return LossVerdict(loss=loss, target_loss=target_loss, error=error)


def _tokens_within(compute, n_params):
    """D = C / (6 N), for values that were checked."""
    return check.result(n_tokens=compute / (TRAIN_FLOPS_PER_PARAM * n_params))


def _refuse(floor, target_loss, what):
    if is_array(target_loss) or is_array(floor):
        raise ValueError(f"target_loss: above {what}, in every entry")
    raise ValueError(f"target_loss = {target_loss}: above {floor:.4f}, {what}")


_CONSTANTS = {"E": "nats/token", "A": "nats/token", "B": "nats/token", "alpha": "", "beta": ""}
_FIGURES = {f"{name}{end}": unit for end in ("", "_error", "_error_fine") for name, unit in _CONSTANTS.items()}
_FIGURES |= {f"n_params_{end}": "parameters" for end in ("low", "high")}
_FIGURES |= {f"n_tokens_{end}": "tokens" for end in ("low", "high")}
_FIGURES |= {"compute_high": "FLOP", "n_runs": "runs", "R_D_star": "", "R_N_star": ""}


def _errors(entry, ending):
    if f"E{ending}" not in entry.facts:
        return None
    return Errors(**{name: entry[f"{name}{ending}"] for name in _CONSTANTS})


def _range(entry):
    if "compute_high" not in entry.facts:
        return None
    ends = {name: (entry[f"{name}_low"], entry[f"{name}_high"]) for name in ("n_params", "n_tokens")}
    return Range(**ends, compute_at_most=entry["compute_high"])


def _law(entry):
    origin = Origin(
        source=entry.facts["E"].source,
        n_counts=entry["n_counts"],
        tokenizer=entry["tokenizer"],
        corpus=entry["corpus"],
        n_runs=entry.get("n_runs"),
        fitted=_range(entry),
        errors=_errors(entry, "_error"),
        fine_errors=_errors(entry, "_error_fine"),
        remark=entry.get("remark", ""),
    )
    return ScalingLaw(name=entry.name, origin=origin, **{name: float(entry[name]) for name in _CONSTANTS})


_WORDS = {"n_counts": str, "tokenizer": str, "corpus": str}
FACTS = facts.load("laws", _FIGURES, _WORDS, labels=("aliases", "remark"))
LAWS = {name: _law(entry) for name, entry in FACTS.items()}
_NAMES = LAWS | {alias: LAWS[name] for name, entry in FACTS.items() for alias in entry.get("aliases", ())}


def law(name):
    """A published law by its name, whatever its case, spaces, hyphens and underscores.

    Args:
        name: such as "Besiroglu 2024", "hoffmann", "chinchilla".

    Raises:
        ValueError: if no law has it; the nearest name is offered.

    >>> law("besiroglu").beta
    0.3658
    """
    return check.lookup(_NAMES, law=name)

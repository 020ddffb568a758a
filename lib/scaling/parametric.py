"""The parametric scaling law, and what follows from it for a budget, a size or a target loss.

    L(N, D) = E + A / N^alpha + B / D^beta          loss in nats per token

A law holds for its own tokenizer, corpus and way of counting N. Compare N and D between laws, never losses.
Compute is 6 N D throughout (`lib.compute.train_flops`); N counts all parameters unless the law says otherwise.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.compute import TRAIN_FLOPS_PER_PARAM, train_flops
from lib.elementwise import every, is_array, power
from lib.scaling.evidence import LossVerdict, Origin

_FLATTEST, _STEEPEST = 1e-3, 10.0  # exponents: of no use beyond either end, and powers of 1/exponent leave the floats
UNKNOWN = Origin(source="constants given by hand", n_counts="not said", tokenizer="not said", corpus="not said")


@dataclass(frozen=True, kw_only=True)
class ScalingLaw:
    """L(N, D) = E + A / N^alpha + B / D^beta  [nats per token].

    Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 2 (form) and equation 4 (optimum).

    >>> from lib.scaling import law
    >>> round(law("Besiroglu 2024").loss(70e9, 1.4e12), 4)
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
        for name in ("alpha", "beta"):
            if not _FLATTEST <= getattr(self, name) <= _STEEPEST:
                shown = check.figure(getattr(self, name))
                raise ValueError(f"{name} = {shown}: an exponent from {_FLATTEST:g} to {_STEEPEST:g}")
        if self.origin is not None:
            check.instance(Origin, origin=self.origin)

    @property
    def source(self):
        """Where the constants come from, down to table or equation."""
        return (self.origin or UNKNOWN).source

    @cached_property
    def _balance(self):
        """G of equation 4: how far the optimum leans towards parameters."""
        lean = power(self.alpha / self.beta * (self.A / self.B), 1 / (self.alpha + self.beta))
        return check.positive_result(balance=lean)

    @property
    def params_exponent(self):
        """a in N* proportional to C^a.

        >>> from lib.scaling import law
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

        >>> from lib.scaling import law
        >>> round(law("Besiroglu 2024, rounded").loss(70_553_706_496, 15e12), 4)
        1.9322
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        return self._checked_loss(n_params, n_tokens)

    def _checked_loss(self, n_params, n_tokens):
        """The loss of a run that was checked already."""
        return check.positive_result(loss=self._loss(n_params, n_tokens))

    def _loss(self, n_params, n_tokens):
        """The loss of what was checked: a search asks for it thousands of times."""
        try:
            return self.E + self.A * n_params**-self.alpha + self.B * n_tokens**-self.beta
        except (OverflowError, ZeroDivisionError):
            return math.inf

    @staticmethod
    def _debt(coefficient, amount, exponent):
        """A / N^alpha, or B / D^beta, of what was checked."""
        try:
            return coefficient * amount**-exponent
        except (OverflowError, ZeroDivisionError):
            return math.inf

    def optimum(self, compute):
        """The parameters and tokens that lose least for a budget: N* = G (C/6)^(beta/(alpha+beta)), D* = C / (6 N*).

        Args:
            compute: training compute, FLOP, > 0; float or array.

        Returns:
            (n_params, n_tokens).

        Raises:
            TypeError, ValueError: if compute is no positive, finite number.

        Source: Hoffmann et al. 2022, arXiv:2203.15556, equation 4.

        >>> from lib.scaling import law
        >>> n_params, n_tokens = law("Besiroglu 2024").optimum(1e24)
        >>> f"{n_params:.4g} {n_tokens:.4g}"
        '9.586e+10 1.739e+12'
        """
        check.positive(compute=compute)
        n_params = check.positive_result(
            n_params=self._balance * power(compute / TRAIN_FLOPS_PER_PARAM, self.params_exponent)
        )
        return n_params, _tokens_within(compute, n_params)

    def params_for(self, n_tokens):
        """The size for which so many tokens are the best: N = G (G D)^(beta / alpha), the optimum read from D.

        >>> from lib.scaling import law
        >>> f"{law('Muennighoff 2023').params_for(1e10):.3g}"
        '5.1e+08'
        """
        check.positive(n_tokens=n_tokens)
        matched = power(self._balance * n_tokens, self.beta / self.alpha)
        return check.positive_result(n_params=self._balance * matched)

    def tokens_per_param(self, compute):
        """D* / N* at a budget.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(law("Hoffmann 2022").tokens_per_param(5.76e23), 1)
        58.9
        >>> round(law("Hoffmann 2022, rounded").tokens_per_param(5.76e23), 1)
        92.6
        """
        n_params, n_tokens = self.optimum(compute)
        return check.positive_result(tokens_per_param=n_tokens / n_params)

    def optimal_loss(self, compute):
        """The least loss that a budget buys.

        Args:
            compute: training compute, FLOP, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(law("Besiroglu 2024").optimal_loss(1e24), 4)
        1.9597
        """
        return self._checked_loss(*self.optimum(compute))

    def loss_at_budget(self, compute, n_params):
        """Loss of a model of given size that spends the whole budget: D = C / (6 N). The isoFLOP curve.

        Args:
            compute: training compute, FLOP, > 0; float or array.
            n_params: parameters, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(law("Besiroglu 2024, rounded").loss_at_budget(2.1000093696e24, 405_853_388_800), 4)
        1.9532
        """
        check.positive(compute=compute, n_params=n_params)
        return self._checked_loss(n_params, _tokens_within(compute, n_params))

    def isoflop(self, compute, sizes):
        """`loss_at_budget` of many sizes, as a tuple: a what-if draws such a curve with every move.

        Args:
            compute: training compute, FLOP, > 0; one number.
            sizes: a tuple of parameters, each > 0; at least one.

        Raises:
            TypeError, ValueError: if compute or a size is no positive, finite number.

        >>> from lib.scaling import law
        >>> [round(loss, 4) for loss in law("Besiroglu 2024").isoflop(1e24, (5e10, 1e11, 2e11))]
        [1.9636, 1.9597, 1.9647]
        """
        check_isoflop(compute, sizes)
        budget = float(compute)
        _tokens_within(budget, min(sizes))  # the most: those of other sizes are fewer
        losses = tuple([self._loss(size, budget / (TRAIN_FLOPS_PER_PARAM * size)) for size in sizes])
        check.result(loss=sum(losses))  # infinite where one of them is
        return losses

    def size_penalty(self, compute, factor):
        """What it costs to miss the best size: the loss with factor x N*, minus the least loss, at one budget.

        Args:
            compute: training compute, FLOP, > 0; float or array.
            factor: size over best size, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(law("Besiroglu 2024, rounded").size_penalty(2.1e24, 0.5), 4)
        0.0038
        """
        check.positive(compute=compute, factor=factor)
        best = self.optimum(compute)
        other = check.positive_result(n_params=factor * best[0])
        return self._checked_loss(other, _tokens_within(compute, other)) - self._checked_loss(*best)

    def floor(self, n_params):
        """The loss that a size approaches with endless tokens: E + A / N^alpha  [nats per token].

        Args:
            n_params: parameters, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(law("Besiroglu 2024, rounded").floor(8_030_261_248), 4)
        1.9923
        """
        check.positive(n_params=n_params)
        return check.positive_result(floor=self.E + self._debt(self.A, n_params, self.alpha))

    def fewest_tokens(self, target_loss, n_params):
        """Tokens with which a size reaches a loss: (B / (L - E - A / N^alpha))^(1/beta). The isoloss curve.

        Args:
            target_loss: nats per token, above the floor of that size; float or array.
            n_params: parameters, > 0; float or array.

        Raises:
            ValueError: if the size cannot reach the loss with any number of tokens; its floor is named. For arrays,
                `target_loss > law.floor(n_params)` is the mask beforehand.

        >>> from lib.scaling import law
        >>> f"{law('Besiroglu 2024, rounded').fewest_tokens(1.955, 70_553_706_496):.4g}"
        '3.381e+12'
        """
        check.positive(target_loss=target_loss, n_params=n_params)
        floor = self.floor(n_params)
        if not every(target_loss > floor):
            _refuse(floor, target_loss, f"the floor of this size under {self.name}, with endless tokens")
        return check.positive_result(n_tokens=power(self.B / (target_loss - floor), 1 / self.beta))

    def fewest_params(self, target_loss, n_tokens):
        """The smallest size that reaches a loss on so many tokens: (A / (L - E - B / D^beta))^(1/alpha).

        Args:
            target_loss: nats per token, above what endless parameters reach on these tokens; float or array.
            n_tokens: training tokens, > 0; float or array.

        Raises:
            ValueError: if no size reaches the loss on so few tokens; what the largest would reach is named.

        >>> from lib.scaling import law
        >>> f"{law('Besiroglu 2024').fewest_params(1.9739, 1.4e12):.3g}"
        '7e+10'
        """
        check.positive(target_loss=target_loss, n_tokens=n_tokens)
        floor = check.positive_result(floor=self.E + self._debt(self.B, n_tokens, self.beta))
        if not every(target_loss > floor):
            _refuse(floor, target_loss, f"the floor of these tokens under {self.name}, with endless parameters")
        return check.positive_result(n_params=power(self.A / (target_loss - floor), 1 / self.alpha))

    def least_compute(self, target_loss):
        """The smallest budget that reaches a loss, spent at the optimum  [FLOP].

        At the optimum alpha A / N^alpha = beta B / D^beta, so each term is a fixed part of L - E.

        Args:
            target_loss: nats per token, above E; float or array.

        Raises:
            ValueError: if the loss is not above E, which is named.

        >>> from lib.scaling import law
        >>> besiroglu = law("Besiroglu 2024")
        >>> f"{besiroglu.least_compute(besiroglu.optimal_loss(1e24)):.6g}"
        '1e+24'
        """
        check.positive(target_loss=target_loss)
        if not every(target_loss > self.E):
            _refuse(self.E, target_loss, f"E of {self.name}, which no model gets below")
        n_params, n_tokens = self._cheapest(target_loss - self.E)
        return train_flops(check.positive_result(n_params=n_params), check.positive_result(n_tokens=n_tokens))

    def _cheapest(self, spare):
        """Size and tokens of the smallest budget that leaves so much of the loss above E."""
        n_params = power(self.A / spare * (1 + self.alpha / self.beta), 1 / self.alpha)
        return n_params, power(self.B / spare * (1 + self.beta / self.alpha), 1 / self.beta)

    def inside_range(self, n_params, n_tokens):
        """Whether a run lies among those that the law was fitted to; None where the paper does not say.

        Args:
            n_params: parameters, > 0; float or array.
            n_tokens: tokens, > 0; float or array.

        >>> from lib.scaling import law
        >>> law("Besiroglu 2024").inside_range(1e9, 20e9), law("Besiroglu 2024").inside_range(70e9, 1.4e12)
        (True, False)
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        fitted = (self.origin or UNKNOWN).fitted
        return None if fitted is None else fitted.holds(n_params, n_tokens)

    def label(self, n_params, n_tokens, n_experts=1):
        """What a table must say beside a loss of this run: fitted, extrapolated, or range unknown; see `Origin.label`.

        >>> from lib.scaling import law
        >>> law("Besiroglu 2024").label(70e9, 1.4e12)
        'extrapolated: 45 times the compute of the largest fitted run'
        """
        return (self.origin or UNKNOWN).label(n_params, n_tokens, n_experts)

    def judge(self, loss, target_loss):
        """Is the target met? Undecided where the margin lies inside the law's own standard error.

        Args:
            loss: predicted by this law, nats per token, > 0.
            target_loss: at most this much, nats per token, > 0.

        >>> from lib.scaling import law
        >>> rounded = law("Besiroglu 2024, rounded")
        >>> rounded.judge(1.9532, 1.955).words
        'undecided'
        """
        errors = (self.origin or UNKNOWN).errors
        return LossVerdict(loss=loss, target_loss=target_loss, error=errors.E if errors else None)


def check_isoflop(compute, sizes):
    """Refuse a budget that is no positive, finite number, and sizes that are no tuple of such numbers, at least one.

    Args:
        compute: training compute, FLOP.
        sizes: parameters of several models.

    Raises:
        TypeError, ValueError: naming what is wrong, such as sizes[2].

    >>> check_isoflop(1e22, (1e9, 2e9, -4e9))
    Traceback (most recent call last):
    ...
    ValueError: sizes[2] = -4000000000: a finite number above 0
    """
    check.scalar(compute=compute)
    check.positive(compute=compute)
    check.instance(tuple, sizes=sizes)
    if not sizes:
        raise ValueError("sizes = (): at least one size")
    if set(map(type, sizes)) == {float} and all(map(math.isfinite, sizes)) and min(sizes) > 0:
        return  # hardly ever not, and in a tenth of the time
    for place, size in enumerate(sizes):
        check.scalar(**{f"sizes[{place}]": size})
        check.positive(**{f"sizes[{place}]": size})


def _tokens_within(compute, n_params):
    """D = C / (6 N), for values that were checked."""
    return check.positive_result(n_tokens=compute / (TRAIN_FLOPS_PER_PARAM * n_params))


def _refuse(floor, target_loss, what):
    if is_array(target_loss) or is_array(floor):
        raise ValueError(f"target_loss: above {what}, in every entry")
    shown = f"{floor:.5g}"
    if float(shown) <= target_loss:  # rounded below what was asked for, the message would contradict itself
        shown = check.figure(floor)
    raise ValueError(f"target_loss = {check.figure(target_loss)}: above {shown}, {what}")

"""Repeated data: what a second pass over the same text is worth, and the best run when unique text runs out.

Both inputs are discounted. Tokens beyond the unique ones count less with each pass, and parameters beyond those that
the unique tokens can feed count less too; each discount is an exponential with a constant of its own.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.compute import TRAIN_FLOPS_PER_PARAM
from lib.elementwise import every, exp, minimum
from lib.scaling import FACTS, law
from lib.scaling.parametric import ScalingLaw, check_isoflop

# From 182 runs of up to 9B parameters and 500 passes: Muennighoff et al. 2023, arXiv:2305.16264, appendix A.
R_D_STAR = FACTS["Muennighoff 2023"]["R_D_star"]
R_N_STAR = FACTS["Muennighoff 2023"]["R_N_star"]
_STEPS = 60  # halvings of a range of a few decades: to the last digit of a float


def effective_tokens(unique_tokens, n_tokens, decay=R_D_STAR):
    """Tokens read for the first time that would help as much: U + U R* (1 - exp(-(D / U - 1) / R*)).

    Less than one pass over the unique tokens is not repeated at all: then U is D.

    Args:
        unique_tokens: tokens that there are, U, > 0; float or array.
        n_tokens: tokens that the run reads, D, repeated ones included, > 0; float or array.
        decay: R*, passes after which a repeated token has lost all but 1/e of its worth, > 0.

    Source: Muennighoff et al. 2023, arXiv:2305.16264, equation 5.

    >>> f"{effective_tokens(1e11, 4e11):.4g}"
    '3.726e+11'
    """
    check.positive(unique_tokens=unique_tokens, n_tokens=n_tokens, decay=decay)
    return check.result(effective_tokens=_discounted(minimum(unique_tokens, n_tokens), n_tokens, decay))


def effective_params(matched_params, n_params, decay=R_N_STAR):
    """Parameters that help: U_N + U_N R* (1 - exp(-(N / U_N - 1) / R*)), where U_N is at most N.

    Args:
        matched_params: the compute-optimal size for the unique tokens, > 0; float or array.
        n_params: parameters of the model, N, > 0; float or array.
        decay: R*, > 0.

    Source: Muennighoff et al. 2023, arXiv:2305.16264, equation 6.

    >>> f"{effective_params(1e9, 5e9):.3g}"
    '3.81e+09'
    """
    check.positive(matched_params=matched_params, n_params=n_params, decay=decay)
    return check.result(effective_params=_discounted(minimum(matched_params, n_params), n_params, decay))


def token_worth(epochs, decay=R_D_STAR):
    """What a token of the last pass is worth, 1 for the first time it is read: exp(-(epochs - 1) / R*).

    Args:
        epochs: passes over the unique tokens, >= 1; float or array.
        decay: R*, > 0.

    Raises:
        ValueError: for less than one pass, which repeats nothing.

    >>> round(token_worth(4), 2), round(token_worth(16), 2)
    (0.82, 0.38)
    """
    check.positive(epochs=epochs, decay=decay)
    if not every(epochs >= 1):
        raise ValueError(f"epochs = {epochs}: 1 or more; less than one pass repeats nothing")
    return exp(-(epochs - 1) / decay)


def _discounted(first, amount, decay):
    return first * (1 + decay * (1 - exp(-(amount / first - 1) / decay)))


@dataclass(frozen=True, kw_only=True)
class DataLimitedLaw:
    """A parametric law for a run that has only so many unique tokens: L = E + A / N_eff^alpha + B / D_eff^beta.

    The two decays were fitted with Muennighoff's law. Under another law they are borrowed, and `label` says so.

    Args:
        law: a `ScalingLaw` of unique tokens.
        unique_tokens: tokens that there are, > 0.
        tokens_decay: R* of the tokens, > 0.
        params_decay: R* of the parameters, > 0.

    Source: Muennighoff et al. 2023, arXiv:2305.16264, section 3 and appendix A.

    >>> from lib.scaling import law
    >>> limited = DataLimitedLaw(law=law("Muennighoff 2023"), unique_tokens=25e9)
    >>> n_params, n_tokens = limited.optimum(1e22)
    >>> f"{n_params / 1e9:.2f}B, {limited.epochs(n_tokens):.1f} passes, loss {limited.loss(n_params, n_tokens):.3f}"
    '7.03B, 9.5 passes, loss 2.222'
    """

    law: ScalingLaw
    unique_tokens: float
    tokens_decay: float = R_D_STAR
    params_decay: float = R_N_STAR

    def __post_init__(self):
        check.instance(ScalingLaw, law=self.law)
        check.fields(self, positive="unique_tokens tokens_decay params_decay")

    @cached_property
    def matched_params(self):
        """The size for which one pass over all unique tokens is compute-optimal."""
        return self.law.params_for(self.unique_tokens)

    def epochs(self, n_tokens):
        """Passes over the unique tokens, D / U; below 1 some are left unread."""
        check.positive(n_tokens=n_tokens)
        return check.result(epochs=n_tokens / self.unique_tokens)

    def loss(self, n_params, n_tokens):
        """Loss of a run that repeats what it must  [nats per token].

        Args:
            n_params: parameters, > 0; float or array.
            n_tokens: tokens read, repeated ones included, > 0; float or array.

        >>> from lib.scaling import law
        >>> round(DataLimitedLaw(law=law("Muennighoff 2023"), unique_tokens=25e9).loss(6.34e9, 242e9), 6)
        2.225644
        """
        check.positive(n_params=n_params, n_tokens=n_tokens)
        unique = minimum(self.unique_tokens, n_tokens)
        matched = minimum(self.law.params_for(unique), n_params)
        params = check.positive_result(effective_params=_discounted(matched, n_params, self.params_decay))
        tokens = check.positive_result(effective_tokens=_discounted(unique, n_tokens, self.tokens_decay))
        return self.law.loss(params, tokens)

    def loss_at_budget(self, compute, n_params):
        """Loss of a size that spends the whole budget, repeating what it must.

        Args:
            compute: training compute, FLOP, > 0; float or array.
            n_params: parameters, > 0; float or array.
        """
        check.positive(compute=compute, n_params=n_params)
        return self.loss(n_params, check.positive_result(n_tokens=compute / (TRAIN_FLOPS_PER_PARAM * n_params)))

    def isoflop(self, compute, sizes):
        """`loss_at_budget` of many sizes, as a tuple.

        Args:
            compute: training compute, FLOP, > 0; one number.
            sizes: a tuple of parameters, each > 0; at least one.

        Raises:
            TypeError, ValueError: if compute or a size is no positive, finite number.

        >>> from lib.scaling import law
        >>> limited = DataLimitedLaw(law=law("Muennighoff 2023"), unique_tokens=1e10)
        >>> [round(loss, 4) for loss in limited.isoflop(1e21, (1e9, 2e9, 4e9))]
        [2.4144, 2.3859, 2.3975]
        """
        check_isoflop(compute, sizes)
        return tuple(self.loss_at_budget(float(compute), size) for size in sizes)

    def optimum(self, compute):
        """The parameters and tokens that lose least for a budget, given the unique tokens.

        With enough unique tokens it is the law's own optimum. Otherwise the best size lies below it, where one more
        parameter and one more pass are worth the same.

        Args:
            compute: training compute, FLOP, > 0; one number.

        Returns:
            (n_params, n_tokens).

        >>> from lib.scaling import law
        >>> limited = DataLimitedLaw(law=law("Muennighoff 2023"), unique_tokens=1e10)
        >>> f"{limited.optimum(1e21)[0]:.4g}"
        '2.306e+09'
        """
        check.scalar(compute=compute)
        n_params, n_tokens = self.law.optimum(compute)
        if n_tokens <= self.unique_tokens:
            return n_params, n_tokens
        # Between the size that one pass feeds and the size that leaves time for one pass: see `_leans_larger`.
        low = math.log(self.matched_params)
        one_pass = check.positive_result(n_params=compute / (TRAIN_FLOPS_PER_PARAM * self.unique_tokens))
        high = math.log(one_pass)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._leans_larger(compute, math.exp(middle)) else (low, middle)
        n_params = math.exp(low)
        return n_params, check.positive_result(n_tokens=compute / (TRAIN_FLOPS_PER_PARAM * n_params))

    def _leans_larger(self, compute, n_params):
        """Whether one per cent more parameters would lower the loss more than the tokens that they cost raise it.

        Both sides in logarithms, for the discounts shrink beyond a float. The left one falls with size and the right
        one rises, so there is one place where they meet.
        """
        law, n_tokens = self.law, check.positive_result(n_tokens=compute / (TRAIN_FLOPS_PER_PARAM * n_params))
        size, size_slope = _log_effective(self.matched_params, n_params, self.params_decay)
        data, data_slope = _log_effective(self.unique_tokens, n_tokens, self.tokens_decay)
        gain = math.log(law.alpha) + math.log(law.A) - law.alpha * size + size_slope
        return gain > math.log(law.beta) + math.log(law.B) - law.beta * data + data_slope

    def label(self, n_params, n_tokens, n_experts=1):
        """What must stand beside this law's answer: what its law says, and where the discount comes from."""
        words = self.law.label(n_params, n_tokens, n_experts)
        fitted_with = n_tokens <= self.unique_tokens or self.law is law("Muennighoff 2023")
        return words if fitted_with else f"{words}; the discount for repeating was fitted with Muennighoff's law"


def _log_effective(first, amount, decay):
    """ln of the discounted amount, and ln of how much of a small relative change gets through to it."""
    left = max(amount / first - 1, 0.0) / decay  # the amount is never less, but for rounding
    effective = math.log(first) + math.log1p(decay * -math.expm1(-left))
    return effective, math.log(amount) - left - effective

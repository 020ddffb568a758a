"""Over-training: the model that costs least over its whole life, training and use together.

A run of the smallest training cost leaves a model that is larger than it need be. A smaller one, trained on more
tokens, reaches the same loss and is cheaper each time it is used. How much smaller pays depends on the use.
"""

from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.compute import TRAIN_FLOPS_PER_PARAM, train_flops
from lib.elementwise import power
from lib.scaling.parametric import ScalingLaw

INFERENCE_FLOPS_PER_PARAM = 2.0  # a forward pass, without attention
_CLOSE = 1e-15
_STEPS = 200


def inference_flops(n_params, n_tokens):
    """FLOPs to read and write tokens with a trained model: 2 * n_params * n_tokens  [FLOP].

    Leaves out attention, and that a server uses its chips less well than a training run.

    Args:
        n_params: parameters, > 0; float or array. Mixtures of experts: those active for a token.
        n_tokens: tokens in and out, 0 or more; float or array.

    Source: Sardana et al. 2024, arXiv:2401.00448, equation 3.

    >>> inference_flops(7e9, 1e12)
    1.4e+22
    """
    check.positive(n_params=n_params)
    check.non_negative(n_tokens=n_tokens)
    return check.result(inference_flops=n_params * n_tokens * INFERENCE_FLOPS_PER_PARAM)


@dataclass(frozen=True, kw_only=True)
class Lifetime:
    """A model that must reach a loss and will then be used: minimise 6 N D + 2 N D_inference.

    At the minimum (D + D_inference / 3) beta B / D^(beta+1) = alpha A / N^alpha, which has one solution.

    Args:
        law: a `ScalingLaw`, which says what size and tokens reach the loss.
        target_loss: nats per token by that law, above its E.
        inference_tokens: tokens in and out over the model's whole use, 0 or more.

    Raises:
        ValueError: if the loss is not above E, which is named.

    Source: Sardana et al. 2024, arXiv:2401.00448, equation 3.

    >>> from lib.scaling import law
    >>> life = Lifetime(law=law("Hoffmann 2022"), target_loss=2.023872, inference_tokens=1e13)
    >>> f"{life.n_params / 1e9:.2f}B on {life.n_tokens / 1e12:.2f}T instead of {life.cheapest_run[0] / 1e9:.0f}B"
    '4.64B on 2.81T instead of 13B'
    """

    law: ScalingLaw
    target_loss: float
    inference_tokens: float

    def __post_init__(self):
        check.instance(ScalingLaw, law=self.law)
        check.fields(self, positive="target_loss", non_negative="inference_tokens")
        _ = self.cheapest_run  # refuses a loss that no model reaches

    @cached_property
    def cheapest_run(self):
        """(n_params, n_tokens) that reach the loss with the least training compute."""
        return self.law.optimum(self.law.least_compute(self.target_loss))

    @cached_property
    def _data_debt(self):
        """B / D^beta of the model that is cheapest over its life; A / N^alpha is what that leaves of L - E.

        Newton's steps from the cheapest run downwards: the slope only rises, so none overshoots.
        """
        law, spare = self.law, self.target_loss - self.law.E
        data = check.positive_result(data_debt=law.B * power(self.cheapest_run[1], -law.beta))
        for _ in range(_STEPS):
            used = self.inference_tokens / 3 * data * power(data / law.B, 1 / law.beta)
            used = check.result(inference_over_training=used)
            excess = law.beta * (data + used) - law.alpha * (spare - data)
            step = excess / (law.beta + law.alpha + (1 + law.beta) * (used / data))
            data -= step
            if step <= _CLOSE * data:
                break
        return data

    @property
    def n_tokens(self):
        """Training tokens of the model that is cheapest over its life."""
        return check.positive_result(n_tokens=power(self.law.B / self._data_debt, 1 / self.law.beta))

    @property
    def n_params(self):
        """Its parameters: the size that reaches the loss on those tokens."""
        size_debt = check.positive_result(size_debt=self.target_loss - self.law.E - self._data_debt)
        return check.positive_result(n_params=power(self.law.A / size_debt, 1 / self.law.alpha))

    @property
    def train_flops(self):
        """What its training costs  [FLOP]."""
        return train_flops(self.n_params, self.n_tokens)

    @property
    def inference_flops(self):
        """What its use costs  [FLOP]."""
        return inference_flops(self.n_params, self.inference_tokens)

    @property
    def total_flops(self):
        """What its life costs  [FLOP]."""
        return check.positive_result(total_flops=self.train_flops + self.inference_flops)

    @property
    def total_flops_of_cheapest_run(self):
        """What the life of the model with the least training compute would cost  [FLOP]."""
        n_params, n_tokens = self.cheapest_run
        total = train_flops(n_params, n_tokens) + inference_flops(n_params, self.inference_tokens)
        return check.positive_result(total_flops=total)

    @property
    def saving(self):
        """Part of that cost which the smaller model saves, 0 to 1.

        >>> from lib.scaling import law
        >>> life = Lifetime(law=law("Hoffmann 2022"), target_loss=2.023872, inference_tokens=1e12)
        >>> round(life.saving, 3)
        0.078
        """
        return max(1 - self.total_flops / self.total_flops_of_cheapest_run, 0.0)

    @property
    def size_ratio(self):
        """Its size over that of the cheapest run, at most 1: how far use moves the answer."""
        return min(self.n_params / self.cheapest_run[0], 1.0)

    @property
    def tokens_ratio(self):
        """Its tokens over those of the cheapest run, at least 1."""
        return check.result(tokens_ratio=max(self.n_tokens / self.cheapest_run[1], 1.0))


def implied_inference_tokens(law, n_params, n_tokens):
    """The use for which a run was the cheapest choice: 3 D (alpha A / N^alpha / (beta B / D^beta) - 1)  [tokens].

    Read backwards from `Lifetime`: negative for a run larger than compute-optimal, which no use justifies.

    Args:
        law: a `ScalingLaw`.
        n_params: parameters of the run, > 0; float or array.
        n_tokens: its training tokens, > 0; float or array.

    >>> from lib.scaling import law
    >>> f"{implied_inference_tokens(law('Besiroglu 2024'), 8.03e9, 15e12):.2g}"
    '1.9e+14'
    """
    check.instance(ScalingLaw, law=law)
    check.positive(n_params=n_params, n_tokens=n_tokens)
    size = check.positive_result(size_debt=law.A * power(n_params, -law.alpha))
    data = check.positive_result(data_debt=law.B * power(n_tokens, -law.beta))
    lean = law.alpha / law.beta * (size / data) - 1
    return check.result(inference_tokens=n_tokens * lean * (TRAIN_FLOPS_PER_PARAM / INFERENCE_FLOPS_PER_PARAM))

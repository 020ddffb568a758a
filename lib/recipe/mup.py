"""Maximal-update parametrization: how initialization and learning rate of each kind of weight change with the width.

With these rules the best learning rate of a narrow model is the best one of a wide model too, so that it can be found
in a sweep of small runs. Table 1 of Yang et al. 2022 says what carries over: learning rate and its schedule, momentum,
the betas, initialization and multipliers do; dropout and weight decay do not. It carries over from width to width by
theory, and by experiment, for Transformers, over depth, batch, sequence length and training time.
"""

from dataclasses import dataclass
from types import MappingProxyType

from lib import check
from lib.compute import train_flops
from lib.elementwise import power

KINDS = ("input", "hidden", "output")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How one kind of weight scales with the width, for Adam: powers of width over base width.

    >>> RULES["hidden"].lr_factor(16.0), RULES["input"].lr_factor(16.0)
    (0.0625, 1.0)
    """

    kind: str
    lr_power: float  # of the learning rate
    std_power: float  # of the standard deviation at the start
    what: str  # which weights these are

    def __post_init__(self):
        check.choice(KINDS, kind=self.kind)
        check.fields(self, finite="lr_power std_power", text="what")

    def lr_factor(self, width_factor):
        """What the base learning rate is multiplied by.

        Args:
            width_factor: width over base width, > 0; float or array.
        """
        check.positive(width_factor=width_factor)
        return check.positive_result(lr_factor=power(width_factor, self.lr_power))

    def std_factor(self, width_factor):
        """What the base standard deviation is multiplied by.

        Args:
            width_factor: width over base width, > 0; float or array.

        >>> RULES["output"].std_factor(16.0), RULES["hidden"].std_factor(16.0)
        (0.0625, 0.25)
        """
        check.positive(width_factor=width_factor)
        return check.positive_result(std_factor=power(width_factor, self.std_power))


# Variances of Table 3: 1/fan_in for input and hidden weights, 1/fan_in^2 for output ones; the fan-in of an input weight
# is the vocabulary, which the width does not change. Attention scores are divided by head_dim, not by its root.
RULES = MappingProxyType(
    {
        rule.kind: rule
        for rule in (
            Rule(kind="input", lr_power=0.0, std_power=0.0, what="the table of embeddings, all biases, the norms"),
            Rule(kind="hidden", lr_power=-1.0, std_power=-0.5, what="the matrices of attention and MLP"),
            Rule(kind="output", lr_power=-1.0, std_power=-1.0, what="the output head"),
        )
    }
)


def hidden_lr(base_lr, d_model, base_width):
    """The learning rate of the layers' matrices at a width: base_lr * base_width / d_model.

    Args:
        base_lr: best rate of the narrow model, > 0; float or array.
        d_model: width of the model, > 0; float or array.
        base_width: width of the narrow model, > 0; float or array.

    Raises:
        TypeError, ValueError: if one is no positive, finite number.

    Source: Yang et al. 2022, arXiv:2203.03466, Table 3.

    >>> hidden_lr(6e-3, 768, 256)
    0.002
    """
    check.positive(base_lr=base_lr, d_model=d_model, base_width=base_width)
    return check.positive_result(hidden_lr=base_lr * (base_width / d_model))


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A search for settings on small runs, and what it costs of the large one.

    Args:
        n_trials: runs of the search, a whole number of at least 1.
        n_params: parameters of each, > 0.
        n_tokens: tokens of each, > 0.

    Raises:
        TypeError, ValueError: for a number out of range.

    >>> search = Sweep(n_trials=100, n_params=40e6, n_tokens=4e9)
    >>> f"{search.share_of(train_flops(6.7e9, 300e9)):.2%}"
    '0.80%'
    """

    n_trials: int
    n_params: float
    n_tokens: float

    def __post_init__(self):
        check.integer(n_trials=self.n_trials)
        check.fields(self, positive="n_params n_tokens")

    @property
    def compute_flops(self):
        """Compute of all trials  [FLOP]."""
        return check.positive_result(compute_flops=self.n_trials * train_flops(self.n_params, self.n_tokens))

    def share_of(self, compute):
        """The sweep's compute over that of the run it is for.

        Args:
            compute: of the run, FLOP, > 0; float or array.
        """
        check.positive(compute=compute)
        return check.positive_result(share=self.compute_flops / compute)


# What Yang et al. report of their largest case, section 7.4: GPT-3 6.7B, tuned on a model a sixteenth as wide.
GPT3_SWEEP_SHARE = 0.07
GPT3_WIDTHS = (256, 4096)
GPT3_PROXY_PARAMS = 40e6

"""From a model and its tokens to FLOPs, from FLOPs to days, and back from a measured speed to utilization.

These functions need numbers only: the rule 6ND and what follows from it. What a `Transformer` costs to the last FLOP is
counted in `lib.compute.flops` and offered here as well; how publishers count is the business of `lib.compute.mfu`.
"""

from lib import check
from lib.compute.flops import (
    ATTENTION,
    RECOMPUTE,
    attention_flops,
    forward_flops,
    head_flops,
    layer_flops,
    recomputed_flops,
    train_flops_exact,
    train_flops_per_token,
)
from lib.elementwise import every, is_array
from lib.units import SECONDS_PER_DAY

__all__ = [
    "ATTENTION",
    "GOODPUT",
    "RECOMPUTE",
    "attention_flops",
    "calendar_days",
    "chinchilla_optimal",
    "compute_budget",
    "forward_flops",
    "head_flops",
    "layer_flops",
    "model_flops_utilization",
    "possible_utilization",
    "recomputed_flops",
    "train_flops",
    "train_flops_exact",
    "train_flops_per_token",
    "training_days",
]

TRAIN_FLOPS_PER_PARAM = 6.0  # forward 2, backward 4: the gradients of the input and of the weight cost 2 each
TOKENS_PER_PARAM = 20.0
GOODPUT = 0.90  # assumed until the failure chapter computes it; Llama 3 reports "more than 90%", section 3.3.4
_ROUNDING = 1e-9


def train_flops(n_params, n_tokens):
    """FLOPs of a training run by the rule of thumb: 6 * n_params * n_tokens  [FLOP].

    Two a parameter and token forward, four backward. Leaves out attention and recomputation, and counts the input
    table, which multiplies nothing: `train_flops_exact` has the true count.

    Args:
        n_params: parameters, > 0; float or array. Mixtures of experts: those active for a token.
        n_tokens: training tokens, repeated ones included, > 0; float or array.

    Returns:
        A float, or an array of the inputs' common shape.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is not positive and finite, or the product too large for a float.

    Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1; Hoffmann et al. 2022, arXiv:2203.15556, section 3.3.

    >>> train_flops(1e9, 2e10)
    1.2e+20
    """
    check.positive(n_params=n_params, n_tokens=n_tokens)
    return check.positive_result(train_flops=TRAIN_FLOPS_PER_PARAM * n_params * n_tokens)


def chinchilla_optimal(compute):
    """Size and tokens for a compute budget at 20 tokens a parameter: sqrt(compute / 120) and 20 times that.

    From compute = 6 * N * 20 N. The ratio 20 is a rule: the laws of `lib.scaling` give other ratios, which also change
    with the budget.

    Args:
        compute: training FLOPs, > 0; float or array.

    Returns:
        A tuple of two floats (or arrays): n_params, n_tokens.

    Raises:
        TypeError: if the argument is no number.
        ValueError: if it is not positive and finite.

    Source: Hoffmann et al. 2022, arXiv:2203.15556, Table 3 (its sizes get 20 to 22 tokens a parameter).

    >>> n_params, n_tokens = chinchilla_optimal(1e21)
    >>> f"{n_params:.3g} parameters, {n_tokens:.3g} tokens"
    '2.89e+09 parameters, 5.77e+10 tokens'
    """
    check.positive(compute=compute)
    n_params = (compute / (TRAIN_FLOPS_PER_PARAM * TOKENS_PER_PARAM)) ** 0.5
    return check.positive_result(n_params=n_params), check.positive_result(n_tokens=TOKENS_PER_PARAM * n_params)


def training_days(n_params, n_tokens, n_gpus, peak_flops, mfu):
    """Compute days of a run by 6ND: 6 * n_params * n_tokens / (n_gpus * peak_flops * mfu) / 86,400  [days].

    Time in which the job makes progress; `calendar_days` adds what failures and restarts take.

    Args:
        n_params: parameters, > 0; float or array.
        n_tokens: training tokens, > 0; float or array.
        n_gpus: devices, a whole number of at least 1; float or array.
        peak_flops: dense peak of one device for the data type in use, FLOP/s, > 0; float or array.
        mfu: model FLOPs utilization counted as 6N a token, above 0, at most 1; float or array.

    Returns:
        A float, or an array of the inputs' common shape.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is out of its range; a percentage is called one.

    Source: Kaplan et al. 2020 for 6ND; Chowdhery et al. 2022, arXiv:2204.02311, appendix B, for the utilization.

    >>> round(training_days(1e9, 2e10, 8, 1e15, 0.4), 3)
    0.434
    >>> training_days(1e9, 2e10, 8, 1e15, 40)
    Traceback (most recent call last):
    ...
    ValueError: mfu = 40: a fraction above 0, at most 1; 40% is written 0.4
    """
    check.positive(n_params=n_params, n_tokens=n_tokens, peak_flops=peak_flops)
    check.whole(n_gpus=n_gpus)
    check.fraction(mfu=mfu)
    useful = check.positive_result(useful_flops_per_second=n_gpus * peak_flops * mfu)
    return check.positive_result(training_days=train_flops(n_params, n_tokens) / useful / SECONDS_PER_DAY)


def model_flops_utilization(n_params, tokens_per_second, n_gpus, peak_flops):
    """MFU of a running job by 6N: 6 * n_params * tokens_per_second / (n_gpus * peak_flops).

    Args:
        n_params: parameters, > 0; float or array.
        tokens_per_second: speed of the whole cluster, not of one device, > 0; float or array.
        n_gpus: devices, a whole number of at least 1; float or array.
        peak_flops: dense peak of one device for the data type in use, FLOP/s, > 0; float or array.

    Returns:
        A fraction above 0, at most 1 (up to rounding).

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is out of its range, or if the result is above 1: no machine beats its peak, so an input
            is wrong, and the likely one is named.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, section 4.1 and appendix B, without the attention term.

    >>> model_flops_utilization(1e9, 2e5, 8, 1e15)
    0.15
    >>> model_flops_utilization(1e9, 2e5, 8, 1000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: model_flops_utilization = 1.5e+11: ...; peak_flops is in FLOP/s: 1000 TFLOP/s is written 1e+15
    """
    check.positive(n_params=n_params, tokens_per_second=tokens_per_second, peak_flops=peak_flops)
    check.whole(n_gpus=n_gpus)
    useful = train_flops(n_params, tokens_per_second)
    return possible_utilization(peak_flops, model_flops_utilization=useful / (n_gpus * peak_flops))


def possible_utilization(peak_flops, **utilization):
    """Pass on a computed utilization; refuse one above 1 and name the likely slip.

    Args:
        peak_flops: the peak that was divided by, FLOP/s; float or array.
        utilization: one keyword, the name of the result and its value; float or array.

    Raises:
        ValueError: if the utilization is above 1 by more than rounding.

    >>> possible_utilization(989e12, hfu=0.55)
    0.55
    """
    check.positive(peak_flops=peak_flops)
    ((name, value),) = utilization.items()
    value = check.positive_result(**utilization)
    if every(value <= 1 + _ROUNDING):
        return value
    shown = f" = {value:.4g}" if isinstance(value, float) else " (array)"
    if not (is_array(value) or is_array(peak_flops)) and value > 1e6 > peak_flops:
        slip = f"peak_flops is in FLOP/s: {peak_flops:g} TFLOP/s is written {peak_flops * 1e12:g}"
    else:
        slip = "tokens_per_second and n_gpus must be of the same cluster, peak_flops of the data type in use"
    raise ValueError(f"{name}{shown}: at most 1, for no machine beats its peak; {slip}")


def compute_budget(n_gpus, days, peak_flops, mfu):
    """Useful FLOPs that a cluster gives in a time: n_gpus * days * 86,400 * peak_flops * mfu  [FLOP].

    Args:
        n_gpus: devices, a whole number of at least 1; float or array.
        days: compute days, > 0; float or array.
        peak_flops: dense peak of one device, FLOP/s, > 0; float or array.
        mfu: model FLOPs utilization, above 0, at most 1; float or array.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is out of its range.

    Source: the definition of utilization, Chowdhery et al. 2022, arXiv:2204.02311, appendix B.

    >>> f"{compute_budget(128, 14, 312e12, 0.45):.4g}"
    '2.174e+22'
    """
    check.whole(n_gpus=n_gpus)
    check.positive(days=days, peak_flops=peak_flops)
    check.fraction(mfu=mfu)
    return check.positive_result(compute_budget=n_gpus * days * SECONDS_PER_DAY * peak_flops * mfu)


def calendar_days(compute_days, goodput=GOODPUT):
    """Days on the calendar: compute_days / goodput  [days].

    Args:
        compute_days: days in which the job makes progress that is kept, > 0; float or array.
        goodput: share of the time for which the cluster is held that is such progress, above 0, at most 1. The rest
            goes to failures, restarts, checkpoints and work that was lost. 0.90 is an assumption.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if one is out of its range.

    Source: Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.4: more than 90% effective training time.

    >>> calendar_days(18.0)
    20.0
    """
    check.positive(compute_days=compute_days)
    check.fraction(goodput=goodput)
    return check.positive_result(calendar_days=compute_days / goodput)

"""Batches: how devices share one and accumulate it, how it may grow, and beyond which size it stops paying."""

import math
from dataclasses import dataclass

from lib import check
from lib.elementwise import minimum, power

CRITICAL_TOKENS = 2e8  # B* of Kaplan's law, tokens
CRITICAL_POWER = 0.21  # alpha_B
GROWTH = 0.47  # with tokens, Zhang et al. 2024


def global_batch(data, micro_batch, accumulation):
    """Sequences that one update sees: data * micro_batch * accumulation  [sequences].

    Args:
        data: copies of the model that read different sequences, a whole number of at least 1; float or array.
        micro_batch: sequences that one copy reads at once, a whole number of at least 1; float or array.
        accumulation: how often it does so before the update, a whole number of at least 1; float or array.

    Raises:
        TypeError, ValueError: if one is no whole number of at least 1.

    Source: Narayanan et al. 2021, arXiv:2104.04473, section 2.1.

    >>> global_batch(128, 2, 4)
    1024.0
    """
    check.whole(data=data, micro_batch=micro_batch, accumulation=accumulation)
    return check.result(global_batch=data * micro_batch * accumulation)


def accumulation_steps(global_batch, data, micro_batch):
    """How often each copy must read a micro-batch before an update: global_batch / (data * micro_batch).

    Args:
        global_batch: sequences an update is to see, a whole number of at least 1.
        data: copies of the model, a whole number of at least 1.
        micro_batch: sequences that one copy reads at once, a whole number of at least 1.

    Returns:
        An int.

    Raises:
        TypeError: for another kind of number.
        ValueError: if it does not divide; the nearest batches that do are named.

    >>> accumulation_steps(1024, 128, 2)
    4
    >>> accumulation_steps(1000, 128, 2)
    Traceback (most recent call last):
    ...
    ValueError: global_batch = 1000: a multiple of 128 x 2 = 256; nearest 768 or 1024
    """
    check.integer(global_batch=global_batch, data=data, micro_batch=micro_batch)
    unit = data * micro_batch
    if global_batch % unit:
        below, above = global_batch // unit * unit, -(-global_batch // unit) * unit
        near = " or ".join(str(batch) for batch in (below, above) if batch)
        wanted = f"a multiple of {data} x {micro_batch} = {unit}"
        raise ValueError(f"global_batch = {global_batch}: {wanted}; nearest {near}")
    return global_batch // unit


def data_parallel(n_gpus, model_parallel):
    """Copies of the model that read different sequences: n_gpus / model_parallel.

    Args:
        n_gpus: devices, a whole number of at least 1.
        model_parallel: devices that share one copy (tensor x pipeline x context), a divisor of n_gpus.

    Returns:
        An int.

    Raises:
        TypeError, ValueError: if it does not divide; the nearest numbers that do are named.

    >>> data_parallel(2048, 64)
    32
    """
    check.integer(n_gpus=n_gpus, model_parallel=model_parallel)
    if n_gpus % model_parallel:
        near = check.nearest_divisors(n_gpus, model_parallel)
        raise ValueError(f"model_parallel = {model_parallel}: a divisor of n_gpus = {n_gpus}; nearest {near}")
    return n_gpus // model_parallel


def critical_batch_tokens(loss):
    """The batch at which a run takes twice the fewest steps and twice the fewest tokens: 2e8 / loss^(1/0.21)  [tokens].

    It grows as the loss falls, and does not ask for the size of the model. The loss is that of Kaplan's tokenizer and
    text; one per cent of it moves the answer by five.

    Args:
        loss: nats per token, > 0; float or array.

    Raises:
        TypeError, ValueError: if the loss is no positive, finite number.

    Source: Kaplan et al. 2020, arXiv:2001.08361, section 5.1, equation 5.3; McCandlish et al. 2018, arXiv:1812.06162.

    >>> f"{critical_batch_tokens(2.5):.2e}, {critical_batch_tokens(2.0):.2e}"
    '2.55e+06, 7.37e+06'
    """
    check.positive(loss=loss)
    return check.positive_result(critical=CRITICAL_TOKENS * power(loss, -1 / CRITICAL_POWER))


def steps_over_fewest(batch, critical):
    """Steps to a loss, over the fewest that any batch takes: 1 + critical / batch.

    Args:
        batch: tokens a step, > 0; float or array.
        critical: the critical batch at that loss, tokens, > 0; float or array.

    Raises:
        TypeError, ValueError: if either is no positive, finite number.

    Source: Kaplan et al. 2020, arXiv:2001.08361, equations 5.1 and 5.4.

    >>> steps_over_fewest(4e6, 4e6)
    2.0
    """
    check.positive(batch=batch, critical=critical)
    return check.result(steps=1 + critical / batch)


def tokens_over_fewest(batch, critical):
    """Tokens (and so compute) to a loss, over the fewest that any batch takes: 1 + batch / critical.

    Args:
        batch: tokens a step, > 0; float or array.
        critical: the critical batch at that loss, tokens, > 0; float or array.

    Raises:
        TypeError, ValueError: if either is no positive, finite number.

    Source: Kaplan et al. 2020, arXiv:2001.08361, equations 5.1 and 5.5.

    >>> tokens_over_fewest(1e6, 4e6)
    1.25
    """
    check.positive(batch=batch, critical=critical)
    return check.result(tokens=1 + batch / critical)


def critical_growth(tokens_factor):
    """How the critical batch grows with the tokens of a run: tokens_factor^0.47.

    Measured for 85M to 1.2B parameters on C4; there a batch is critical once it takes a fifth more steps than its
    share. The size of the model hardly mattered.

    Args:
        tokens_factor: tokens over tokens, > 0; float or array.

    Raises:
        TypeError, ValueError: if it is no positive, finite number.

    Source: Zhang et al. 2024, arXiv:2410.21676.

    >>> round(critical_growth(10.0), 2)
    2.95
    """
    check.positive(tokens_factor=tokens_factor)
    return check.positive_result(growth=tokens_factor**GROWTH)


def lr_share_of_batch(batch, noise_tokens):
    """The part of the largest useful rate that a batch allows: 1 / (1 + noise_tokens / batch).

    For small batches the rate grows in step with the batch, for large ones not at all. Derived for plain gradient
    descent.

    Args:
        batch: tokens a step, > 0; float or array.
        noise_tokens: the gradient noise scale, near the critical batch, tokens, > 0; float or array.

    Raises:
        TypeError, ValueError: if either is no positive, finite number.

    Source: McCandlish et al. 2018, arXiv:1812.06162, section 2.2.

    >>> lr_share_of_batch(4e6, 4e6)
    0.5
    """
    check.positive(batch=batch, noise_tokens=noise_tokens)
    return check.positive_result(lr_share=1 / (1 + noise_tokens / batch))


@dataclass(frozen=True, kw_only=True)
class Ramp:
    """A batch that grows in proportion to the tokens seen, from a first size to the full one.

    Args:
        first_tokens: tokens a step at the start, > 0.
        batch_tokens: tokens a step at the end, at least as many.
        ramp_tokens: tokens over which it grows, > 0.

    Raises:
        TypeError, ValueError: for a number out of range.

    Source: Brown et al. 2020, arXiv:2005.14165, appendix B (from 32k tokens, over 4 to 12 billion).

    >>> gpt3 = Ramp(first_tokens=32e3, batch_tokens=3.2e6, ramp_tokens=12e9)
    >>> f"{gpt3.at(6e9):.3g} tokens halfway, {gpt3.extra_steps:,.0f} more steps"
    '1.62e+06 tokens halfway, 13,694 more steps'
    """

    first_tokens: float
    batch_tokens: float
    ramp_tokens: float

    def __post_init__(self):
        check.fields(self, positive="first_tokens batch_tokens ramp_tokens")
        if self.first_tokens > self.batch_tokens:
            raise ValueError(f"first_tokens = {self.first_tokens:g}: at most the full batch, {self.batch_tokens:g}")
        check.positive_result(ramp_steps=self.ramp_steps)

    def at(self, n_tokens):
        """Tokens a step once so many tokens were seen.

        Args:
            n_tokens: tokens, 0 or more; float or array.
        """
        check.non_negative(n_tokens=n_tokens)
        part = minimum(n_tokens / self.ramp_tokens, 1.0)
        return self.first_tokens + (self.batch_tokens - self.first_tokens) * part

    @property
    def ramp_steps(self):
        """Steps that the ramp takes: ramp_tokens ln(last / first) / (last - first), the integral of 1 / batch."""
        growth = (self.batch_tokens - self.first_tokens) / self.first_tokens
        # Of 1 + growth the logarithm would lose every digit where the batches are nearly the same.
        return self.ramp_tokens / self.first_tokens * (math.log1p(growth) / growth if growth else 1.0)

    @property
    def extra_steps(self):
        """Steps more than the full batch would have taken over the same tokens."""
        return self.ramp_steps - self.ramp_tokens / self.batch_tokens


def nearest_batch(batch_tokens, data, micro_batch, seq_len):
    """The batch nearest to a wished one that devices can share: whole micro-batches on every copy.

    Args:
        batch_tokens: the wish, tokens, > 0.
        data: copies of the model, a whole number of at least 1.
        micro_batch: sequences that one copy reads at once, a whole number of at least 1.
        seq_len: tokens in a sequence, a whole number of at least 1.

    Returns:
        (global_batch in sequences, accumulation), both ints; at least one micro-batch for every copy.

    Raises:
        TypeError, ValueError: for a number out of range.

    >>> nearest_batch(2e6, 128, 1, 4096)
    (512, 4)
    """
    check.scalar(batch_tokens=batch_tokens)
    check.positive(batch_tokens=batch_tokens)
    check.integer(data=data, micro_batch=micro_batch, seq_len=seq_len)
    unit = data * micro_batch
    accumulation = max(1, math.floor(batch_tokens / (unit * seq_len) + 0.5))
    return unit * accumulation, accumulation

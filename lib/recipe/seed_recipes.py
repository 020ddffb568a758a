"""The two recipes of seed document 001, to the figure: one for small scale, one for any scale.

Both take 20 tokens a parameter and read learning rate and batch off a few steps in size. They are kept as they are, to
be held against published runs; `lib.recipe` is what a plan should follow.
"""

import math
from dataclasses import dataclass

from lib import check
from lib.compute import chinchilla_optimal
from lib.recipe.advice import Facts

_K = 1024
END_SHARE = 0.1  # of the peak
_WIDTH_STEP = 128


@dataclass(frozen=True, kw_only=True)
class Step:
    """One row of a recipe: what models below a size are given.

    Args:
        below: parameters that a model has fewer of, > 0; infinite in the last row.
        peak_lr: > 0.
        batch_tokens: tokens a step, a whole number of at least 1.
        seq_len: tokens in a sequence, a whole number of at least 1; None where the seed does not say.
        n_layers: layers, a whole number of at least 1; None likewise.
    """

    below: float
    peak_lr: float
    batch_tokens: int
    seq_len: int | None = None
    n_layers: int | None = None

    def __post_init__(self):
        check.scalar(below=self.below)
        check.number(below=self.below)
        if self.below <= 0:
            raise ValueError(f"below = {self.below}: a number above 0, or infinite")
        check.fields(self, positive="peak_lr", integer="batch_tokens seq_len n_layers")


SMALL = (
    Step(below=300e6, peak_lr=6e-4, batch_tokens=256 * _K),
    Step(below=700e6, peak_lr=5e-4, batch_tokens=384 * _K),
    Step(below=math.inf, peak_lr=3e-4, batch_tokens=512 * _K),
)
ANY = (
    Step(below=1e9, peak_lr=5e-4, batch_tokens=512 * _K, seq_len=2048, n_layers=24),
    Step(below=10e9, peak_lr=3e-4, batch_tokens=2 * _K**2, seq_len=4096, n_layers=32),
    Step(below=70e9, peak_lr=1.5e-4, batch_tokens=4 * _K**2, seq_len=4096, n_layers=48),
    Step(below=math.inf, peak_lr=1e-4, batch_tokens=8 * _K**2, seq_len=8192, n_layers=80),
)


@dataclass(frozen=True, kw_only=True)
class SeedRecipe:
    """What a seed recipe says for a budget.

    >>> small_scale(1e20).printed
    ('1e+20', '0.91B', '18.3B', '3e-04', '34,823')
    """

    compute: float
    step: Step
    warmup_share: float
    least_warmup: int = 0

    def __post_init__(self):
        check.instance(Step, step=self.step)
        check.fields(self, positive="compute", fraction="warmup_share")
        check.natural(least_warmup=self.least_warmup)
        least = max(1, self.least_warmup)
        if self.total_steps < least:
            steps = f"{least:,} steps of {self.step.batch_tokens:,} tokens"
            raise ValueError(f"compute = {self.compute:g}: enough for {steps}, the shortest run with this warm-up")

    @property
    def n_params(self):
        """Parameters, at 20 tokens each."""
        return chinchilla_optimal(self.compute)[0]

    @property
    def n_tokens(self):
        """Tokens, 20 a parameter."""
        return chinchilla_optimal(self.compute)[1]

    @property
    def min_lr(self):
        """Learning rate at the end, a tenth of the peak."""
        return self.step.peak_lr * END_SHARE

    @property
    def total_steps(self):
        """Whole steps in the run."""
        return int(self.n_tokens / self.step.batch_tokens)

    @property
    def warmup_steps(self):
        """Whole steps of warm-up."""
        return max(self.least_warmup, int(self.total_steps * self.warmup_share))

    @property
    def d_model(self):
        """The root of N / (12 n_layers), cut to a whole number, to the nearest multiple of 128; None without layers."""
        if self.step.n_layers is None:
            return None
        root = int((self.n_params / (12 * self.step.n_layers)) ** 0.5)
        return (root + _WIDTH_STEP // 2) // _WIDTH_STEP * _WIDTH_STEP

    @property
    def facts(self):
        """What the seed's advice can be held against.

        >>> from lib.recipe.advice import broken
        >>> broken(any_scale(1e23).facts)
        ('width', 'warm-up, part of the steps')
        """
        return Facts(
            compute=self.compute,
            n_params=self.n_params,
            n_tokens=self.n_tokens,
            n_layers=self.step.n_layers,
            d_model=self.d_model,
            peak_lr=self.step.peak_lr,
            batch_tokens=float(self.step.batch_tokens),
            warmup_share=self.warmup_steps / self.total_steps,
            seq_len=self.step.seq_len,
        )

    @property
    def printed(self):
        """The figures as the seed prints them, in its order; a learning rate has room for one digit."""
        step, compute = self.step, f"{self.compute:.0e}"
        if step.n_layers is None:
            sizes = f"{self.n_params / 1e9:.2f}B", f"{self.n_tokens / 1e9:.1f}B"
            return compute, *sizes, f"{step.peak_lr:.0e}", f"{self.total_steps:,}"
        sizes = f"{self.n_params / 1e9:.1f}B", f"{step.n_layers}L", f"{self.d_model}H", f"{self.n_tokens / 1e9:.0f}B"
        rates = f"{step.peak_lr:.0e}", f"{self.min_lr:.0e}"
        batch = f"{step.batch_tokens / 1e6:.1f}M", str(step.seq_len)
        return compute, *sizes, *rates, *batch, f"{self.total_steps:,}", f"{self.warmup_steps:,}"


def small_scale(compute):
    """The seed's recipe for 1e20 to 1e21 FLOP: 1% of the steps are warm-up.

    Args:
        compute: training compute, FLOP, > 0.

    Returns:
        A `SeedRecipe`.

    Raises:
        TypeError, ValueError: if compute is no positive, finite number, or too little for the warm-up.

    Source: seed document 001, small-scale training.

    >>> small_scale(1e21).total_steps, small_scale(1e21).warmup_steps
    (110120, 1101)
    """
    return _recipe(SMALL, compute, warmup_share=0.01)


def any_scale(compute):
    """The seed's recipe for any scale: 0.5% of the steps are warm-up, but at least 1,000.

    Args:
        compute: training compute, FLOP, > 0.

    Returns:
        A `SeedRecipe`.

    Raises:
        TypeError, ValueError: if compute is no positive, finite number, or too little for the warm-up.

    Source: seed document 001, the complete recipe.

    >>> any_scale(1e23).printed[5:7], any_scale(1e23).step.peak_lr
    (('1e-04', '1e-05'), 0.00015)
    """
    return _recipe(ANY, compute, warmup_share=0.005, least_warmup=1000)


def _recipe(steps, compute, **warmup):
    check.scalar(compute=compute)
    check.positive(compute=compute)
    n_params, _ = chinchilla_optimal(compute)
    step = next(step for step in steps if n_params < step.below)
    return SeedRecipe(compute=float(compute), step=step, **warmup)

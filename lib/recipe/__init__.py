"""A recipe: how a model of a size learns from so many tokens, every number with where it comes from.

Size and tokens come in; learning rate and batch follow from a law fitted through published runs, the shape from the
search for shapes, the rest from what most published runs do. The what-if "recipe-by-scale" lists it with the sources.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from lib import check
from lib.architecture import Transformer
from lib.architecture.shapes import LARGEST_TARGET, Constraints, search
from lib.compute import TOKENS_PER_PARAM, chinchilla_optimal, train_flops
from lib.recipe.advice import Facts
from lib.recipe.batches import Ramp, accumulation_steps, critical_batch_tokens, data_parallel, nearest_batch
from lib.recipe.held_out import CHOSEN, median_error
from lib.recipe.lr_law import DEEPSEEK, GPT3_TABLE, STEP_LAW, fitted
from lib.recipe.published_runs import habit, nearest
from lib.recipe.schedules import COSINE, KINDS, LINEAR, Schedule
from lib.recipe.small_runs import SmallRuns
from lib.scaling.allocations import Allocation
from lib.scaling.budget_laws import kaplan_size_loss

WARMUP_SHARE = 0.01  # of the steps, at most
STABLE_PEAK_SHARE = 0.5  # Hägele et al. 2024: half the peak of a cosine where the rate stays at its peak
DECAY_SHARE = 0.2  # of what the warm-up leaves: a fifth as in SmolLM; SmolLM3 and Apertus take a tenth
END_SHARE = 0.1  # of the peak, for a cosine
RAMP_SHARE = 0.02  # of the tokens: GPT-3's 4 to 12 of 300 billion are 1.3 to 4%
RAMP_FIRST_SHARE = 0.125  # of the full batch; a choice
LARGEST_RUN = 1e20  # tokens; beyond it a batch is no count that a float holds
_SHARED_BY = (8, 4, 2, 1)  # devices that may share a layer, the most that a shape allows


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a recipe needs to know of the machine and the text.

    Args:
        seq_len: tokens in a sequence, a whole number of at least 1.
        n_gpus: devices, a whole number of at least 1.
        model_parallel: devices that share one copy of the model (tensor x pipeline x context), a divisor of n_gpus.
        micro_batch: sequences that one copy reads at once, a whole number of at least 1.
        vocab_size: rows of the table of embeddings, a multiple of 8.
        kind: of schedule, one of `lib.recipe.schedules.KINDS`.

    Raises:
        TypeError, ValueError: for a number out of range; a model_parallel that does not divide is named with the
            nearest that do.

    >>> Setup(n_gpus=2048, model_parallel=64).data
    32
    """

    seq_len: int = 4096
    n_gpus: int = 64
    model_parallel: int = 1
    micro_batch: int = 1
    vocab_size: int = 32_000
    kind: str = COSINE

    def __post_init__(self):
        check.integer(seq_len=self.seq_len, n_gpus=self.n_gpus, model_parallel=self.model_parallel)
        check.integer(micro_batch=self.micro_batch)
        Constraints(vocab_size=self.vocab_size)
        check.choice(KINDS, kind=self.kind)
        data_parallel(self.n_gpus, self.model_parallel)

    @property
    def data(self):
        """Copies of the model that read different sequences."""
        return data_parallel(self.n_gpus, self.model_parallel)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model of a size learns from so many tokens.

    Args:
        run: an `Allocation`: parameters and tokens, with where they come from.
        setup: a `Setup`.
        given_shape: a `Transformer` that is decided already; None lets `lib.architecture.shapes` search.

    Raises:
        TypeError: for something else.
        ValueError: for a run shorter than two steps, or larger than a shape or a batch is searched for.

    >>> small = Recipe(run=size_and_tokens(compute=1e22), setup=Setup())
    >>> f"{small.peak_lr:.1e}, {small.batch_tokens:,} tokens a step, {small.steps:,} steps"
    '1.7e-04, 2,097,152 tokens a step, 87,058 steps'
    """

    run: Allocation
    setup: Setup = Setup()
    given_shape: Transformer | None = None

    def __post_init__(self):
        check.instance(Allocation, run=self.run)
        check.instance(Setup, setup=self.setup)
        if self.given_shape is not None:
            check.instance(Transformer, given_shape=self.given_shape)
        if self.run.n_params > LARGEST_TARGET:
            raise ValueError(f"n_params = {self.run.n_params:g}: at most {LARGEST_TARGET:g}")
        if self.run.n_tokens > LARGEST_RUN:
            raise ValueError(f"n_tokens = {self.run.n_tokens:g}: at most {LARGEST_RUN:g}")
        if self.steps < 2:
            raise ValueError(
                f"n_tokens = {self.run.n_tokens:g}: at least two steps of {self.batch_tokens:,} tokens, "
                "the smallest batch that all devices can share"
            )

    @cached_property
    def candidate(self):
        """The shape nearest to the size whose layers most devices can share: eight, else four, two or one."""
        for tensor in _SHARED_BY:
            found = search(self.run.n_params, Constraints(vocab_size=self.setup.vocab_size, tensor=tensor), n_best=1)[0]
            if found.within:
                break
        return found

    @property
    def shape(self):
        """The `Transformer` to train."""
        return self.given_shape or self.candidate.shape

    @cached_property
    def lr_by_law(self):
        """The peak learning rate that the law of habit gives, not rounded."""
        return fitted("peak_lr").at(self.run.n_params, self.run.n_tokens)

    @property
    def peak_lr(self):
        """The peak learning rate, to two digits; half of it where the schedule stays at its peak."""
        return _two_digits(self.lr_by_law * (1.0 if self.setup.kind in (COSINE, LINEAR) else STABLE_PEAK_SHARE))

    @property
    def lr_error(self):
        """The law's median error against families that it had not seen."""
        return median_error("peak_lr", CHOSEN)

    @property
    def rival_lrs(self):
        """What three published rules give for the same run, by name."""
        rivals = (GPT3_TABLE["peak_lr"], DEEPSEEK["peak_lr"], STEP_LAW["peak_lr"])
        return {rule.name: rule.at(self.run.n_params, self.run.n_tokens) for rule in rivals}

    @property
    def sweep(self):
        """Rates to try, at full size: doublings from the law less its error to the first that reaches every rule."""
        low, high = self.lr_by_law / (1 + self.lr_error), max(self.lr_by_law, *self.rival_lrs.values())
        return tuple(_two_digits(low * 2.0**k) for k in range(1 + math.ceil(math.log2(high / low))))

    @property
    def trial_lr_factor(self):
        """What a rate is multiplied by in a trial on less size and text: their share to the powers of the law."""
        law = fitted("peak_lr")
        return self.small_runs.proxy_share ** (law.params_exponent + law.tokens_exponent)

    @property
    def batch_by_law(self):
        """Tokens a step that the law of habit gives."""
        return fitted("global_batch_tokens").at(self.run.n_params, self.run.n_tokens)

    @cached_property
    def global_batch(self):
        """Sequences a step: the multiple of what all copies read at once that is nearest to the law."""
        return self._shared(self.batch_by_law)

    def _shared(self, batch_tokens):
        return nearest_batch(batch_tokens, self.setup.data, self.setup.micro_batch, self.setup.seq_len)[0]

    @property
    def accumulation(self):
        """How often each copy reads a micro-batch before an update."""
        return accumulation_steps(self.global_batch, self.setup.data, self.setup.micro_batch)

    @property
    def batch_tokens(self):
        """Tokens a step."""
        return self.global_batch * self.setup.seq_len

    @property
    def critical_batch(self):
        """The critical batch at the loss that Kaplan's law gives the size with endless data, tokens."""
        return critical_batch_tokens(kaplan_size_loss(float(self.shape.non_vocabulary_params_active)))

    @property
    def steps(self):
        """Updates in the whole run."""
        return int(self.run.n_tokens // self.batch_tokens)

    @property
    def warmup_steps(self):
        """As many as most published runs take, but at most a hundredth of the run."""
        return max(1, int(min(habit("warmup_steps").value, WARMUP_SHARE * self.steps)))

    @property
    def schedule(self):
        """The learning rate at every step."""
        usual = self.setup.kind == COSINE
        decay = max(1.0, DECAY_SHARE * (self.steps - self.warmup_steps))
        return Schedule(
            kind=self.setup.kind,
            peak_lr=self.peak_lr,
            min_lr=END_SHARE * self.peak_lr if usual else 0.0,
            total_steps=float(self.steps),
            warmup_steps=float(self.warmup_steps),
            decay_steps=None if self.setup.kind in (COSINE, LINEAR) else decay,
        )

    @property
    def ramp(self):
        """A batch ramp in the way of GPT-3's, from a batch that all copies can share."""
        first = float(self._shared(RAMP_FIRST_SHARE * self.batch_tokens) * self.setup.seq_len)
        return Ramp(
            first_tokens=first, batch_tokens=float(self.batch_tokens), ramp_tokens=RAMP_SHARE * self.run.n_tokens
        )

    @property
    def init_std(self):
        """Standard deviation of the weights at the start."""
        return habit("init_std").value

    @property
    def residual_std(self):
        """That of the matrices that write into the residual stream: init_std / sqrt(2 n_layers), as GPT-2 has it."""
        return self.init_std / (2 * self.shape.n_layers) ** 0.5

    @property
    def small_runs(self):
        """The sweep over the rates worth trying, ablations and the pilot."""
        return SmallRuns(n_trials=len(self.sweep))

    @cached_property
    def facts(self):
        """What advice can be held against."""
        return Facts(
            compute=train_flops(self.run.n_params, self.run.n_tokens),
            n_params=self.run.n_params,
            n_tokens=self.run.n_tokens,
            n_layers=self.shape.n_layers,
            d_model=self.shape.d_model,
            peak_lr=self.peak_lr,
            batch_tokens=float(self.batch_tokens),
            warmup_share=self.warmup_steps / self.steps,
            seq_len=self.setup.seq_len,
        )

    @property
    def neighbours(self):
        """The three published runs nearest in size and tokens."""
        return nearest(self.run.n_params, self.run.n_tokens)


def size_and_tokens(compute=None, n_params=None, n_tokens=None, tokens_per_param=TOKENS_PER_PARAM):
    """A size and a number of tokens from any one or two of compute, parameters and tokens.

    Two determine the third by 6 N D; with one, tokens_per_param stands in for the other.

    Args:
        compute: training compute, FLOP, > 0; None where it is not given.
        n_params: parameters, > 0; None likewise.
        n_tokens: tokens, > 0; None likewise.
        tokens_per_param: > 0; used where only one of the three is given.

    Returns:
        An `Allocation` whose source says what was given.

    Raises:
        TypeError, ValueError: for none or all three, or a number that is not positive and finite.

    >>> size_and_tokens(n_params=7e9, n_tokens=2e12).tokens_per_param
    285.7142857142857
    """
    given = {"compute": compute, "n_params": n_params, "n_tokens": n_tokens}
    given = {name: value for name, value in given.items() if value is not None}
    check.scalar(**given, tokens_per_param=tokens_per_param)
    check.positive(**given, tokens_per_param=tokens_per_param)
    if len(given) not in (1, 2):
        raise ValueError(f"compute = {compute}: one or two of compute, n_params and n_tokens, not {len(given)}")
    if "compute" in given and len(given) == 1 and tokens_per_param == TOKENS_PER_PARAM:
        n_params, n_tokens = chinchilla_optimal(compute)
    elif "compute" in given and len(given) == 1:
        n_params = (compute / train_flops(1, tokens_per_param)) ** 0.5
    if n_params is None:
        n_params = n_tokens / tokens_per_param if compute is None else compute / train_flops(1, n_tokens)
    if n_tokens is None:
        n_tokens = n_params * tokens_per_param if compute is None else compute / train_flops(n_params, 1)
    words = " and ".join(_WORDS[name] for name in given)
    source = f"{words} as asked" + (f", {tokens_per_param:g} tokens a parameter" if len(given) == 1 else "")
    return Allocation(n_params=float(n_params), n_tokens=float(n_tokens), source=source)


_WORDS = {"compute": "compute", "n_params": "size", "n_tokens": "tokens"}


def _two_digits(value):
    return float(f"{value:.1e}")

"""The two plans that run through the handbook: their briefs, and what each step adds to them.

A brief comes in; each step takes what the steps before it gave, and nothing reaches backwards. `running_plan("data")`
is the table that a chapter ends with: both plans, up to its step.
"""

from dataclasses import dataclass
from functools import cached_property

from lib import check, units
from lib.architecture import Transformer, model
from lib.architecture.shapes import search
from lib.compute import GOODPUT, calendar_days, chinchilla_optimal, compute_budget, train_flops, training_days
from lib.compute.mfu import convention, days_ratio
from lib.corpus import corpus
from lib.hardware import Cluster
from lib.layout import Layout
from lib.memory import HEADROOM, ledger
from lib.recipe import Recipe, Setup
from lib.recipe.advice import scale_of, summary
from lib.scaling import law
from lib.scaling.allocations import Allocation
from lib.scaling.ensemble import GROUPS, Ensemble
from lib.tables import Table

# The way of a plan. Chapters fill it in; `FILLED` is what they have filled in so far.
STEPS = (
    "brief",
    "compute",
    "allocation",
    "architecture",
    "data",
    "memory",
    "layout",
    "recipe",
    "operations",
    "cost",
    "pilot",
    "review",
)
FILLED = (*STEPS[:6], "recipe")
GPUS_PER_COPY = 8  # that hold one copy of the model, until the layout decides: one node
COUNTED_DAYS = ("compute", "calendar")


@dataclass(frozen=True, kw_only=True)
class Brief:
    """What is asked: a cluster, a time, a target.

    Args:
        name: in a few words.
        cluster: a `Cluster`.
        peak_flops: dense bf16 peak of one device that the brief counts with, FLOP/s, > 0.
        mfu: by 6N over that peak, above 0, at most 1; assumed until it is measured.
        days: how long, days, > 0.
        counted_days: what those days are: "compute" (the job makes progress all the time) or "calendar" (failures and
            restarts take their part).
        goodput: share of calendar time that makes progress, above 0, at most 1.
        model: a released model whose shape is taken; "" leaves the size to 20 tokens a parameter.
        loss_at_most: nats per token under `law_name`, > 0; None asks for none.
        gb_per_gpu_at_most: GB, > 0; None asks for none.
        law_name: the law that predicts the loss.
        corpus_name: what it reads.
        seq_len: tokens in a sequence, a whole number of at least 1.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    name: str
    cluster: Cluster
    peak_flops: float
    mfu: float
    days: float
    counted_days: str = "compute"
    goodput: float = GOODPUT
    model: str = ""
    loss_at_most: float | None = None
    gb_per_gpu_at_most: float | None = None
    law_name: str = "Besiroglu 2024"
    corpus_name: str = "The Pile"
    seq_len: int = 4096

    def __post_init__(self):
        check.fields(self, positive="peak_flops days loss_at_most gb_per_gpu_at_most", fraction="mfu goodput")
        check.fields(self, text="name model")
        check.instance(Cluster, cluster=self.cluster)
        check.choice(COUNTED_DAYS, counted_days=self.counted_days)
        check.integer(seq_len=self.seq_len)
        law(self.law_name)
        corpus(self.corpus_name)
        if self.model:
            model(self.model)

    @property
    def compute_flops(self):
        """What the cluster gives if every day of the brief computes  [FLOP].

        >>> f"{A100_FORTNIGHT.compute_flops:.3g}, {H100_MONTH.compute_flops:.3g}"
        '2.17e+22, 2.1e+24'
        """
        return compute_budget(self.cluster.n_gpus, self.days, self.peak_flops, self.mfu)

    @property
    def useful_flops(self):
        """What it gives in the days as the brief means them  [FLOP]."""
        return self.compute_flops * (self.goodput if self.counted_days == "calendar" else 1.0)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A brief and what follows from it, step by step.

    >>> plan = Plan(brief=A100_FORTNIGHT)
    >>> f"{plan.allocation.n_params / 1e9:.2f}B on {plan.allocation.n_tokens / 1e9:.1f}B"
    '13.46B on 269.2B'
    """

    brief: Brief

    def __post_init__(self):
        check.instance(Brief, brief=self.brief)

    @cached_property
    def allocation(self):
        """Size and tokens that spend the useful FLOPs, of the brief's model or at 20 tokens a parameter."""
        compute = self.brief.useful_flops
        if self.brief.model:
            shape = model(self.brief.model)
            n_params = float(shape.n_params_active)  # what a token meets, should it have experts
            n_tokens = compute / train_flops(n_params, 1)
            counted = "the active parameters of the brief's model" if shape.moe else "the brief's model"
            return Allocation(n_params=n_params, n_tokens=n_tokens, source=f"{counted}, all the time it has")
        n_params, n_tokens = chinchilla_optimal(compute)
        return Allocation(n_params=n_params, n_tokens=n_tokens, source="20 tokens a parameter")

    @property
    def compute_days(self):
        """Days in which the job makes progress."""
        run, brief = self.allocation, self.brief
        return training_days(run.n_params, run.n_tokens, brief.cluster.n_gpus, brief.peak_flops, brief.mfu)

    @property
    def calendar_days(self):
        """Days on the calendar, at the brief's goodput."""
        return calendar_days(self.compute_days, self.brief.goodput)

    @property
    def gpu_hours(self):
        """Hours for which the cluster is held, times its GPUs: what is paid, also while it restarts."""
        return self.brief.cluster.n_gpus * self.calendar_days * units.HOURS_PER_DAY

    @property
    def law(self):
        """The law that predicts this plan's loss."""
        return law(self.brief.law_name)

    @property
    def loss(self):
        """Predicted loss, nats per token."""
        return self.law.loss(self.allocation.n_params, self.allocation.n_tokens)

    @property
    def loss_verdict(self):
        """The loss against the brief's target; None where the brief asks for none."""
        target = self.brief.loss_at_most
        return None if target is None else self.law.judge(self.loss, target)

    @cached_property
    def shape(self) -> Transformer:
        """The model's shape, of the brief's model or the best that the search finds."""
        return model(self.brief.model) if self.brief.model else search(self.allocation.n_params, n_best=1)[0].shape

    @cached_property
    def memory(self):
        """The ledger under a first layout: a node for each copy, ZeRO 1 over the copies, full recomputation."""
        copies = self.brief.cluster.n_gpus // GPUS_PER_COPY
        cut = {"data": copies, "tensor": GPUS_PER_COPY, "zero_stage": 1, "recompute": "full"}
        return ledger(self.shape, Layout(seq_len=self.brief.seq_len, **cut))

    @cached_property
    def recipe(self):
        """Learning rate, batch and the rest for this plan's size, tokens, shape and cluster."""
        setup = Setup(
            seq_len=self.brief.seq_len,
            n_gpus=self.brief.cluster.n_gpus,
            model_parallel=GPUS_PER_COPY,
            vocab_size=self.shape.vocab_size,
        )
        return Recipe(run=self.allocation, setup=setup, given_shape=self.shape)

    def days_if_counted(self, name):
        """Compute days if the brief's utilization was reported under another convention.

        Args:
            name: of the convention, such as "Megatron-LM" (full attention) or "Megatron-Bridge" (its causal half).
        """
        return self.compute_days * days_ratio(convention(name), self.shape, self.brief.seq_len)

    @property
    def passes(self):
        """How often the run reads its corpus; the corpus' tokenizer stands in for the run's."""
        return corpus(self.brief.corpus_name).passes(self.allocation.n_tokens)


# Seed document 000: two weeks, and 312 TFLOP/s is the A100's dense peak.
A100_FORTNIGHT = Brief(
    name="128 A100s, two weeks",
    cluster=Cluster(accelerator="A100 80GB SXM", n_gpus=128),
    peak_flops=312e12,
    mfu=0.45,
    days=14,
)

# Seed document 003: at most 30 days. It divides by 989 TFLOP/s where the data sheet's half is 989.4.
H100_MONTH = Brief(
    name="2,048 H100s, a month",
    cluster=Cluster(accelerator="H100 SXM", n_gpus=2048),
    peak_flops=989e12,
    mfu=0.40,
    days=30,
    counted_days="calendar",
    model="llama-3-70b",
    loss_at_most=1.955,
    gb_per_gpu_at_most=72,
    law_name="Besiroglu 2024, rounded",
    corpus_name="FineWeb",
    seq_len=8192,
)
PLANS = (Plan(brief=A100_FORTNIGHT), Plan(brief=H100_MONTH))


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a plan: what it says, and the value with its unit."""

    step: str
    label: str
    value: float | str
    unit: str = ""

    @property
    def text(self):
        """The value as a table shows it."""
        return units.show(self.value, self.unit)


def _brief(plan):
    brief, target = plan.brief, plan.brief.loss_at_most
    memory = brief.gb_per_gpu_at_most
    yield "GPUs", f"{brief.cluster.n_gpus:,} x {brief.cluster.accelerator.name}"
    yield "time", f"{brief.days:g} {brief.counted_days} days"
    yield "loss at most", "not asked" if target is None else f"{target:g} nats per token"
    yield "memory a GPU at most", "not asked" if memory is None else f"{memory:g} GB"


def _compute(plan):
    brief = plan.brief
    yield "peak of one GPU, dense bf16", brief.peak_flops, "FLOP/s"
    yield "MFU by 6N, assumed", brief.mfu
    yield "if every day computes", brief.compute_flops, "FLOP"
    yield "useful FLOPs", brief.useful_flops, "FLOP"


def _sizes(ensemble):
    ends = " to ".join(units.show_count(size) for size in ensemble.sizes)
    return f"{ends}; {ensemble.n_extrapolated} of {len(ensemble.laws)} laws extrapolated"


def _allocation(plan):
    run = plan.allocation
    yield "parameters", run.n_params, "parameters"
    yield "tokens", run.n_tokens, "tokens"
    yield "tokens per parameter", run.tokens_per_param
    yield "compute days", plan.compute_days, "days"
    for words, name in (("full attention", "Megatron-LM"), ("its causal half", "Megatron-Bridge")):
        yield f"compute days if the MFU counts {words}", plan.days_if_counted(name), "days"
    yield f"calendar days at goodput {plan.brief.goodput:g}", plan.calendar_days, "days"
    yield "GPU-hours on the calendar, to be priced", plan.gpu_hours
    yield "predicted loss", plan.loss, f"nats per token by {plan.law.name}"
    yield "how far the law is stretched", plan.law.label(run.n_params, run.n_tokens)
    asked = Ensemble(compute=plan.brief.useful_flops, laws=GROUPS["laws with a loss"])
    yield "best size, by every law with a loss", _sizes(asked)
    yield "lost at most, by those laws", asked.regret(run.n_params).worst_nats, "nats per token"
    verdict = plan.loss_verdict
    yield "loss target", "not asked" if verdict is None else verdict.explanation


def _architecture(plan):
    yield "shape", plan.shape.text
    yield "parameters, counted", f"{plan.shape.n_params:,}"


def _data(plan):
    source = corpus(plan.brief.corpus_name)
    yield "corpus", f"{source.name}, {units.show(source.n_tokens, 'tokens')} ({source.tokenizer})"
    yield "passes over it", plan.passes


def _memory(plan):
    whole = ledger(plan.shape, Layout(seq_len=plan.brief.seq_len, recompute="full"), plan.memory.profile)
    device, allowed = plan.brief.cluster.accelerator, plan.brief.gb_per_gpu_at_most
    room = device.memory_bytes * (1 - HEADROOM) if allowed is None else allowed * 1e9
    spare = room - plan.memory.peak_bytes
    yield "on one GPU, nothing shared", whole.peak_bytes, "bytes"
    yield "a first layout", f"TP {plan.memory.layout.tensor}, DP {plan.memory.layout.data}, ZeRO 1, full recomputation"
    yield "the heaviest GPU needs", plan.memory.peak_bytes, "bytes"
    yield "may take", room, "bytes"
    yield "to spare" if spare >= 0 else "too much", abs(spare), "bytes"


def _recipe(plan):
    recipe, small = plan.recipe, plan.recipe.small_runs
    yield "peak learning rate", recipe.peak_lr
    yield "rates to try in small runs", ", ".join(map(units.show_power, recipe.sweep))
    yield "tokens a step", recipe.batch_tokens, "tokens"
    shared = f"{recipe.setup.data} x {recipe.setup.micro_batch} x {recipe.accumulation}"
    yield f"copies x micro-batch x accumulation, {GPUS_PER_COPY} GPUs a copy", shared
    yield "steps", recipe.steps, "steps"
    yield "warm-up", recipe.warmup_steps, "steps"
    yield "schedule", f"{recipe.schedule.kind} to {recipe.schedule.min_lr / recipe.peak_lr:g} of the peak"
    yield "small runs, on top of the compute", small.share, "%"
    yield "advice of seed 001", f"{scale_of(recipe.facts.compute)[0].name}; {summary(recipe.facts)}"


_FUNCTIONS = (_brief, _compute, _allocation, _architecture, _data, _memory, _recipe)
_LINES = {function.__name__.removeprefix("_"): function for function in _FUNCTIONS}


def lines(plan, step):
    """What one step adds to a plan.

    Args:
        plan: a `Plan`.
        step: one of `FILLED`.

    Returns:
        A tuple of `Line`.

    Raises:
        ValueError: for a step that no chapter fills in.

    >>> lines(PLANS[0], "data")[1].text
    '1.036'
    """
    check.instance(Plan, plan=plan)
    check.choice(FILLED, step=step)
    return tuple(
        Line(step=step, label=line[0], value=line[1], unit=line[2] if len(line) > 2 else "")
        for line in _LINES[step](plan)
    )


def running_plan(step):
    """Both plans up to a step, as a table for the end of a chapter.

    Args:
        step: one of `FILLED`, the last that is shown.

    Returns:
        A `Table`.

    Raises:
        ValueError: for a step that no chapter fills in.

    >>> print(running_plan("brief"))
    Both plans, up to the step: brief.
    step                  128 A100s, two weeks  2,048 H100s, a month
    brief
    GPUs                   128 x A100 80GB SXM      2,048 x H100 SXM
    time                       14 compute days      30 calendar days
    loss at most                     not asked  1.955 nats per token
    memory a GPU at most             not asked                 72 GB
    """
    check.choice(FILLED, step=step)
    rows = []
    for name in FILLED[: FILLED.index(step) + 1]:
        rows.append((name,))
        left, right = (lines(plan, name) for plan in PLANS)
        rows += [(a.label, a.text, b.text) for a, b in zip(left, right, strict=True)]
    head = ("step", *(plan.brief.name for plan in PLANS))
    return Table(head=head, rows=tuple(rows), caption=f"Both plans, up to the step: {step}.")

"""A brief and what follows from it, step by step."""

from dataclasses import dataclass, replace
from functools import cached_property

from lib import check, units
from lib.architecture import Transformer, model
from lib.architecture.shapes import search
from lib.compute import calendar_days, chinchilla_optimal, train_flops, training_days
from lib.compute.mfu import convention, days_ratio
from lib.corpus import corpus
from lib.description import RunDescription
from lib.layout import Layout
from lib.memory import ledger
from lib.plan.brief import A100_FORTNIGHT, H100_MONTH, Brief
from lib.recipe import Recipe, Setup
from lib.scaling import law
from lib.scaling.allocations import Allocation

GPUS_PER_COPY = 8  # that hold one copy of the model, until the layout decides: one node


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

    @cached_property
    def description(self):
        """The plan as a run that pilots climb for: a `RunDescription` under the first layout and the recipe.

        It divides by the data sheet's peak, so its days differ from the plan's where the brief has rounded.
        """
        recipe, brief = self.recipe, self.brief
        steps = {"micro_batch": recipe.setup.micro_batch, "micro_batches": recipe.accumulation}
        return RunDescription(
            name=brief.name,
            shape=self.shape,
            n_tokens=self.allocation.n_tokens,
            cluster=brief.cluster,
            layout=replace(self.memory.layout, **steps),
            schedule=recipe.schedule,
            mfu=brief.mfu,
            goodput=brief.goodput,
            law_name=brief.law_name,
        )

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


PLANS = (Plan(brief=A100_FORTNIGHT), Plan(brief=H100_MONTH))

"""The running plan: what each step adds, line by line, and the table that a chapter ends with."""

from dataclasses import dataclass

from lib import check, units
from lib.corpus import corpus
from lib.description import Expectations
from lib.ladder import evaluate
from lib.ladder.thresholds import hours_between_interruptions, thresholds
from lib.layout import Layout
from lib.memory import HEADROOM, ledger
from lib.plan.plan import GPUS_PER_COPY, PLANS, Plan
from lib.readiness import review
from lib.readiness.review import needed_gpu_hours
from lib.recipe.advice import scale_of, summary
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
FILLED = (*STEPS[:6], "recipe", "pilot", "review")


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


def _pilot(plan):
    climb = evaluate(plan.description)
    yield "rungs 1 to 6", climb.rehearsal_gpu_hours, "GPU-hours"
    yield "of the full run", climb.rehearsal_gpu_hours / climb.verdicts[-1].rung.gpu_hours, "%"
    expected = Expectations(run=plan.description)
    asked = {one.name: one for rung in (5, 6) for one in thresholds(rung, expected)}
    yield "MFU on the plan's GPUs, at least", asked["mfu"].at_least
    yield "between interruptions, at Llama 3's rate", hours_between_interruptions(expected), "hours"
    yield "lost to a killed node", asked["hours_lost_to_a_failure"].text
    yield "final loss, as the small runs forecast it", asked["forecast_loss_low"].text
    yield "passed so far", "nothing" if climb.highest == 0 else f"rung {climb.highest}"


def _review(plan):
    needed, brief = needed_gpu_hours(evaluate(plan.description)), plan.brief
    held = brief.cluster.n_gpus * brief.days * units.HOURS_PER_DAY
    yield "to approve: run, pilots, slow end", needed, "GPU-hours"
    yield "all GPUs for the days of the brief", held, "GPU-hours"
    yield "to spare" if held >= needed else "missing", abs(held - needed), "GPU-hours"
    yield "state", review(plan.description, {}).text


_FUNCTIONS = (_brief, _compute, _allocation, _architecture, _data, _memory, _recipe, _pilot, _review)
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

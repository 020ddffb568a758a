"""What the worked example shows of its plan: stages, days, shapes, passes and hours, ready for a figure or a table."""

from lib import check, units
from lib.architecture import Transformer
from lib.architecture.shapes import Candidate
from lib.compute import GOODPUT, calendar_days
from lib.compute.gpu_hours import Run
from lib.corpus import corpus
from lib.plan import Plan
from lib.tables import Table
from lib.units import SECONDS_PER_DAY

# The three shapes that seed document 000 tries for "about 2.2B" parameters: d_ff is int(2.67 d_model), head untied.
SEED_SHAPES = tuple(
    Transformer(
        name=f"{n_layers} x {d_model:,}",
        source="seed document 000, step 3",
        n_layers=n_layers,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=int(2.67 * d_model),
        vocab_size=32_000,
    )
    for n_layers, d_model, n_heads in ((24, 2048, 16), (32, 1792, 14), (28, 1920, 15))
)
TILE = 128  # NVIDIA DU-09799-001 (Feb 2023), sections 2.2 and 3.1: sizes that fill the tiles of a matrix product
_CORPORA = ("The Pile", "The Pile, weighted", "C4", "SlimPajama", "RedPajama", "FineWeb")
_COUNTS = (("the causal half of attention", "Megatron-Bridge"), ("full attention", "Megatron-LM"))


def budget_stages(plan):
    """From the peak of a plan's cluster to the FLOPs that are left of the same days on the calendar.

    Args:
        plan: a `lib.plan.Plan` whose days are compute days.

    Returns:
        (name, FLOP, what is known or assumed) of each stage, for `plots.where_the_fortnight_goes`.

    >>> from lib.plan import A100_FORTNIGHT, Plan
    >>> [f"{flop:.3g}" for _, flop, _ in budget_stages(Plan(brief=A100_FORTNIGHT))]
    ['4.83e+22', '2.17e+22', '1.96e+22']
    """
    check.instance(Plan, plan=plan)
    brief = plan.brief
    peak = brief.cluster.n_gpus * brief.peak_flops * brief.days * SECONDS_PER_DAY
    chip = brief.cluster.accelerator.name.split()[0]
    return (
        (f"peak of {brief.cluster.n_gpus:,} {chip}s for {brief.days:g} days", peak, "data sheet"),
        ("useful, if they never stop", brief.compute_flops, f"MFU {brief.mfu:g}, assumed"),
        ("useful, failures included", brief.compute_flops * brief.goodput, f"goodput {brief.goodput:g}, assumed"),
    )


def days_by_count(plan):
    """Days of one plan, by what its MFU counted and by whether failures take their part.

    Args:
        plan: a `lib.plan.Plan`.

    Returns:
        (name, days) of each, for `plots.compare`.

    >>> from lib.plan import A100_FORTNIGHT, Plan
    >>> [f"{days:.2f}" for _, days in days_by_count(Plan(brief=A100_FORTNIGHT))]
    ['14.00', '14.70', '15.57', '15.56', '17.30']
    """
    check.instance(Plan, plan=plan)
    counted = [(f"MFU counts matrices and {words}", plan.days_if_counted(name)) for words, name in _COUNTS]
    goodput = plan.brief.goodput
    return (
        ("as planned: MFU counts 6N, nothing fails", plan.compute_days),
        *counted,
        (f"MFU counts 6N, goodput {goodput:g}", plan.calendar_days),
        (f"{counted[-1][0]}, goodput {goodput:g}", calendar_days(counted[-1][1], goodput)),
    )


def candidate_table(candidates):
    """Shapes that a search found, best first.

    Args:
        candidates: `lib.architecture.shapes.Candidate`s.

    >>> from lib.architecture.shapes import search
    >>> print(candidate_table(search(13.46e9, n_best=1)))
    layers x width  heads    d_ff      parameters  from target  width / layers
    40 x 5,120         40  14,592  13,487,723,520       +0.21%             128
    """
    check.several(candidates=candidates)
    check.instance(Candidate, **{f"candidates[{place}]": found for place, found in enumerate(candidates)})
    head = ("layers x width", "heads", "d_ff", "parameters", "from target", "width / layers")
    return Table(head=head, rows=tuple(map(_candidate, candidates)))


def _candidate(found):
    shape = found.shape
    return (
        f"{shape.n_layers} x {shape.d_model:,}",
        f"{shape.n_heads}",
        f"{shape.d_ff:,}",
        f"{shape.n_params:,}",
        f"{found.distance:+.2%}",
        f"{shape.width_over_depth:.3g}",
    )


def seed_shape_table():
    """The shapes of the seed document: their parameters, and what their inner widths leave over of a tile.

    >>> print(seed_shape_table())
    layers x width  heads  non-embedding  all parameters   d_ff  d_ff % 128
    24 x 2,048         16         1.209B           1.34B  5,468          92
    32 x 1,792         14         1.234B          1.349B  4,784          48
    28 x 1,920         15          1.24B          1.363B  5,126           6
    """
    head = ("layers x width", "heads", "non-embedding", "all parameters", "d_ff", f"d_ff % {TILE}")
    return Table(head=head, rows=tuple(map(_seed_shape, SEED_SHAPES)))


def _seed_shape(shape):
    counts = (units.show_count(shape.non_vocabulary_params), units.show_count(shape.n_params))
    return (shape.name, f"{shape.n_heads}", *counts, f"{shape.d_ff:,}", f"{shape.d_ff % TILE}")


def passes_table(n_tokens, names=_CORPORA):
    """How often a run would read each of several corpora, if it read that one alone.

    Args:
        n_tokens: tokens of the run.
        names: of the corpora.

    >>> print(passes_table(269.2e9, ["The Pile"]))
    corpus    tokens in one pass  tokenizer  passes
    The Pile              259.9B      GPT-2    1.04
    """
    check.scalar(n_tokens=n_tokens)
    check.several(names=names)
    rows = tuple(
        (source.name, units.show_count(source.n_tokens), source.tokenizer, f"{source.passes(n_tokens):.3g}")
        for source in map(corpus, names)
    )
    return Table(head=("corpus", "tokens in one pass", "tokenizer", "passes"), rows=rows)


def hours_table(runs, mfu, goodput=GOODPUT):
    """Published GPU-hours beside those that a plan would have asked for.

    Args:
        runs: `lib.compute.gpu_hours.Run`s.
        mfu: of the plan, by 6N.
        goodput: of the plan.

    >>> from lib.compute.gpu_hours import run
    >>> print(hours_table([run("llama 13b")], 0.45, 1.0))
    run        GPU-hours published  GPU-hours planned  published / planned  utilization implied
    LLaMA 13B              135,168            154,321                 0.88                0.514
    """
    check.several(runs=runs)
    check.instance(Run, **{f"runs[{place}]": run for place, run in enumerate(runs)})
    check.scalar(mfu=mfu, goodput=goodput)
    head = ("run", "GPU-hours published", "GPU-hours planned", "published / planned", "utilization implied")
    return Table(head=head, rows=tuple(_hours(run, run.planned_gpu_hours(mfu, goodput)) for run in runs))


def _hours(run, planned):
    ratio = f"{run.gpu_hours / planned:.2f}"
    return (run.name, f"{run.gpu_hours:,.0f}", f"{planned:,.0f}", ratio, f"{run.utilization:.3f}")

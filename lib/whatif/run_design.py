"""The what-if "run-design": which small runs to buy, so that a law can be fitted to them at all."""

import math

from lib import check
from lib.runs import planned
from lib.runs.identifiability import NOMINAL_LAW, NOTICE_FROM, REFUSE_FROM, WARN_FROM, Design
from lib.units import show, show_power
from lib.whatif.model import Axis, Chart, Check, Number, Row, Series, View, WhatIf

MOST = 12  # sizes, and token counts a size
_KAPPA = (
    "condition number of d log L / d(ln A, ln B, ln E, alpha, beta), A and B at the geometric means, columns of "
    f"length 1, at the constants of {NOMINAL_LAW}"
)
_SIX = "Kaplan et al. 2020, arXiv:2001.08361, section 2.1"
_SCALED = "Belsley, Kuh and Welsch 1980, Regression Diagnostics, chapter 3, for columns of length 1"
_CHOICE = f"below {NOTICE_FROM:g} good, from {WARN_FROM:g} a warning, from {REFUSE_FROM:,.0f} no fit: our own choice"


def run_design_view(n_sizes, largest, size_span, n_ratios, middle_ratio, ratio_span):
    """What a grid of runs costs, and whether it can tell the constants of a law apart.

    Args:
        n_sizes: different sizes, a whole number from 1 to 12.
        largest: parameters of the largest, > 0.
        size_span: largest over smallest size, 1 or more.
        n_ratios: token counts for each size, a whole number from 1 to 12.
        middle_ratio: tokens per parameter in the middle of them, > 0.
        ratio_span: most over fewest tokens per parameter, 1 or more.
    """
    check.scalar(n_sizes=n_sizes, largest=largest, size_span=size_span)
    check.scalar(n_ratios=n_ratios, middle_ratio=middle_ratio, ratio_span=ratio_span)
    for name, value in (("n_sizes", n_sizes), ("n_ratios", n_ratios)):
        check.whole(**{name: value})
        if value > MOST:
            raise ValueError(f"{name} = {value:g}: at most {MOST}")
    check.positive(largest=largest, middle_ratio=middle_ratio)
    for name, value in (("size_span", size_span), ("ratio_span", ratio_span)):
        check.positive(**{name: value})
        if value < 1:
            raise ValueError(f"{name} = {value:g}: 1 or more; it is the largest over the smallest")
    middle = largest / math.sqrt(size_span) if n_sizes > 1 else largest
    sizes = _spread(middle, size_span, int(n_sizes))
    ratios = _spread(middle_ratio, ratio_span, int(n_ratios))
    runs = planned([n for n in sizes for _ in ratios], [n * ratio for n in sizes for ratio in ratios])
    design = Design(runs=runs)
    return View(
        title=_title(runs, design),
        rows=_rows(runs, design),
        chart=_chart(runs, design),
        checks=(_check(design),),
        notes=(_CHOICE,),
    )


def _spread(middle, span, number):
    """So many numbers about a middle, evenly in the logarithm; the middle itself where there is one."""
    if number == 1 or span == 1:
        return [middle] * (1 if number == 1 else number)
    return [middle * span ** (k / (number - 1) - 0.5) for k in range(number)]


def _title(runs, design):
    cost = show(math.fsum(runs.compute), "FLOP")
    words = {
        "ok": "enough to fit a law",
        "notice": "just enough to fit a law",
        "warn": "the constants of a law would be shaky",
        "refuse": "no law can be fitted to them",
    }
    return f"{_runs(len(runs))} for {cost}: {words[design.verdict]}."


def _runs(number, kind=""):
    return f"{number} {kind}run" + ("" if number == 1 else "s")


def _rows(runs, design):
    total = math.fsum(runs.compute)
    kappa = design.kappa
    largest = f"6 x {show_power(max(runs.n_params))} x {show_power(max(runs.n_tokens))}"
    each = len(runs) // design.n_sizes
    return (
        Row(label="runs", value=float(len(runs)), formula=f"{design.n_sizes} sizes x {each} token counts"),
        Row(label="compute of all runs", value=total, unit="FLOP", formula="the sum of 6 N D", sources=(_SIX,)),
        Row(label="largest run", value=max(runs.compute), unit="FLOP", formula=largest, sources=(_SIX,)),
        Row(
            label="condition number",
            value="infinite" if kappa >= 1e15 else kappa,
            formula="the largest over the smallest singular value",
            convention=_KAPPA,
            sources=(_SCALED,),
        ),
    )


def _check(design):
    passed = {"ok": True, "notice": None, "warn": False, "refuse": False}[design.verdict]
    return Check(label="the runs tell the constants apart", passed=passed, margin=design.explanation)


def _chart(runs, design):
    x, y = Axis(label="model size N (parameters)", scale="log"), Axis(label="data D (tokens)", scale="log")
    verdict = {"ok": "in two directions", "notice": "nearly on a line", "warn": "nearly on a line"}
    spread = verdict.get(design.verdict, "on too few lines")
    return Chart(
        title=f"The runs lie {spread}.",
        alt=f"{_runs(len(runs), 'planned ')}, tokens against parameters, both on log scales; they lie {spread}.",
        x=x,
        y=y,
        series=(Series(label="planned runs", x=runs.n_params, y=runs.n_tokens, kind="points"),),
    )


WHAT_IFS = (
    WhatIf(
        name="run-design",
        title="Which runs to buy",
        question="How little compute buys runs that a law can be fitted to? The start has one ratio for all.",
        view=run_design_view,
        controls=(
            Number(name="n_sizes", label="sizes", start=6, low=2, high=MOST, whole=True),
            Number(name="largest", label="largest", start=1e9, low=1e7, high=1e11, unit="parameters", scale="log"),
            Number(name="size_span", label="largest over smallest", start=30.0, low=1.0, high=1000.0, scale="log"),
            Number(name="n_ratios", label="token counts for each size", start=1, low=1, high=6, whole=True),
            Number(
                name="middle_ratio",
                label="tokens per parameter, middle",
                start=20.0,
                low=1.0,
                high=1000.0,
                scale="log",
            ),
            Number(name="ratio_span", label="most over fewest tokens", start=16.0, low=1.0, high=1000.0, scale="log"),
        ),
    ),
)

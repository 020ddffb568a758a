"""The what-if "recipe-by-scale": every setting of a run of a size, beside published runs and the advice of a seed."""

from dataclasses import replace

import lib.recipe.advice
from lib import check
from lib.compute import TOKENS_PER_PARAM
from lib.recipe import Recipe, Setup, size_and_tokens
from lib.recipe.lr_law import DEEPSEEK, STEP_LAW, fitted
from lib.recipe.published_runs import COMPARABLE
from lib.recipe.schedules import KINDS
from lib.recipe.seed_recipes import ANY
from lib.units import show, show_power
from lib.whatif import catalogue, controls
from lib.whatif.model import Axis, Chart, Check, Choice, Number, Series, View, WhatIf
from lib.whatif.recipe_rows import rows

_SIZES = (5e7, 1e12)  # the chart's ends, parameters
_POINTS = 9  # of a law, which is straight on log axes


def recipe_view(
    compute=1e22,
    tokens_per_param=TOKENS_PER_PARAM,
    n_gpus=64,
    model_parallel=1,
    micro_batch=1,
    seq_len=4096,
    schedule="cosine",
):
    """With which settings should a model of this size be trained?"""
    check.positive(compute=compute)
    setup = Setup(n_gpus=n_gpus, model_parallel=model_parallel, micro_batch=micro_batch, seq_len=seq_len, kind=schedule)
    recipe = Recipe(run=size_and_tokens(compute=compute, tokens_per_param=tokens_per_param), setup=setup)
    return View(
        title=_title(recipe),
        rows=rows(recipe),
        chart=_chart(recipe),
        checks=_checks(recipe),
        notes=_notes(recipe),
    )


def asked(figures, tokens_per_param=None):
    """Compute and tokens a parameter from what a command line gives: one or two of three figures, as texts.

    Args:
        figures: the texts of "flops", "params" and "tokens"; None for what was not given.
        tokens_per_param: a text, beside one figure; None means 20.

    Returns:
        Mapping of the two inputs of this what-if that say how large a run is.

    Raises:
        RefusedError: for no figure, all three, a ratio beside two, and what is no number.

    >>> asked({"flops": None, "params": "7B", "tokens": "2T"})["compute"]
    8.4e+22
    """
    given = {name: text for name, text in figures.items() if text is not None}
    if len(given) not in (1, 2):
        raise catalogue.RefusedError(f"{len(given)} of --flops, --params and --tokens given: one or two of them")
    if len(given) == 2 and tokens_per_param is not None:
        raise catalogue.RefusedError(f"--tokens-per-param beside --{' and --'.join(given)}: they say it already")
    with catalogue.refusals():
        values = {_ARGUMENTS[name]: _FIGURES[name].read(text) for name, text in given.items()}
        check.positive(**{name: values[_ARGUMENTS[name]] for name in given})
        ratio = {} if tokens_per_param is None else {"tokens_per_param": _RATIO.read(tokens_per_param)}
        run = size_and_tokens(**values, **ratio)
        compute = values.get("compute", run.compute_flops)
        _refuse_budget(compute, given, ratio)
    ratio = ratio or {"tokens_per_param": TOKENS_PER_PARAM if len(given) == 1 else run.tokens_per_param}
    return {"compute": compute, **ratio}


def _refuse_budget(compute, given, ratio):
    """Refuse what leads to a budget beyond the control's, in the words of what was given."""
    try:
        _COMPUTE.read(compute)
    except ValueError as refused:
        said = ", ".join(f"{name} = {text}" for name, text in given.items())
        each = (
            f"with {show(ratio.get('tokens_per_param', TOKENS_PER_PARAM))} tokens a parameter "
            if len(given) == 1
            else ""
        )
        bound = str(refused).split(": ")[-1]
        raise ValueError(f"{said}: {each}{show(compute, 'FLOP')}, {bound}") from None


def _title(recipe):
    run = recipe.run
    return (
        f"{show(run.n_params, 'parameters')} on {show(run.n_tokens, 'tokens')}: a peak learning rate of "
        f"{show_power(recipe.peak_lr)} ({_ends(recipe)}), {show(float(recipe.batch_tokens), 'tokens')} a step, "
        f"{recipe.steps:,} steps, {recipe.warmup_steps:,} of them warm-up."
    )


def _ends(recipe):
    rates = sorted((recipe.lr_by_law, *recipe.rival_lrs.values()))
    return f"rules say {rates[0]:.1e} to {rates[-1]:.1e}".replace("e-0", "e-")


def _checks(recipe):
    scale, inside = lib.recipe.advice.scale_of(recipe.facts.compute)
    where = f"seed 001, {scale.name}" + ("" if inside else ", the nearest")
    advice = (
        Check(label=f"{found.label} ({where})", passed=found.followed, margin=found.words)
        for found in lib.recipe.advice.findings(recipe.facts)
    )
    found = recipe.candidate
    below = recipe.batch_tokens <= recipe.critical_batch
    least = float(recipe.setup.data * recipe.setup.micro_batch * recipe.setup.seq_len)
    law = show(recipe.batch_by_law, "tokens").removesuffix(" tokens")
    return (
        Check(label="a shape within 1% of the size", passed=found.within, margin=f"the nearest is {found.beside}"),
        Check(
            label="the batch is below the critical one, by Kaplan at the end",
            passed=below,
            margin=f"{show(recipe.batch_tokens / recipe.critical_batch)} of it",
        ),
        Check(
            label="all copies can share the batch that the law asks for",
            passed=least <= recipe.batch_by_law,
            margin=f"they share {show(least, 'tokens')} or more, the law asks for {law}",
        ),
        *advice,
    )


def _notes(recipe):
    notes = [
        "The rate is what others would probably have chosen, and few of them tried a second one at full size: "
        "sweep before a run that costs much."
    ]
    for field, unit in (("n_params", "parameters"), ("n_tokens", "tokens")):
        value, known = getattr(recipe.run, field), [getattr(run, field) for run in COMPARABLE]
        if not min(known) <= value <= max(known):
            end = (
                f"more than {show(max(known), unit)}" if value > max(known) else f"fewer than {show(min(known), unit)}"
            )
            notes.append(f"No comparable published run has {end}: the law of habit is extrapolated.")
    return tuple(notes)


def _chart(recipe):
    ratio = recipe.run.tokens_per_param
    laws = {"published runs, fitted": fitted, "law of DeepSeek": DEEPSEEK.get, "Step Law": STEP_LAW.get}
    return Chart(
        title=f"For {show(recipe.run.n_params, 'parameters')} {_ends(recipe)}; others took what the points show.",
        alt="Peak learning rate over model size on log axes. Published runs scatter around the falling line that was "
        "fitted to them. DeepSeek's law and Step Law are straight lines of their own, the seed's falls in steps.",
        x=Axis(label="model size N (parameters)", scale="log"),
        y=Axis(label="peak learning rate (for AdamW)", scale="log"),
        series=(
            *(_line(law("peak_lr"), name, ratio) for name, law in laws.items()),
            _seed_line(),
            Series(
                label="published runs",
                x=tuple(run.n_params for run in COMPARABLE),
                y=tuple(run.peak_lr for run in COMPARABLE),
                kind="points",
            ),
            Series(label="this recipe", x=(recipe.run.n_params,), y=(recipe.peak_lr,), kind="points"),
        ),
    )


def _line(law, name, ratio):
    low, high = _SIZES
    sizes = tuple(low * (high / low) ** (k / (_POINTS - 1)) for k in range(_POINTS))
    return Series(label=name, x=sizes, y=tuple(law.at(size, ratio * size) for size in sizes))


def _seed_line():
    edges = (_SIZES[0], *(step.below for step in ANY[:-1]), _SIZES[1])
    points = [(edge, step.peak_lr) for k, step in enumerate(ANY) for edge in edges[k : k + 2]]
    return Series(label="seed 001", x=tuple(x for x, _ in points), y=tuple(y for _, y in points))


_COMPUTE = Number(
    name="compute",
    label="training compute",
    start=1e22,
    low=1e20,
    high=1e25,
    unit="FLOP",
    scale="log",
    aliases=("flops", "budget", "flop"),
)
_RATIO = Number(
    name="tokens_per_param",
    label="tokens a parameter",
    start=20,
    low=5,
    high=2000,
    scale="log",
    aliases=("ratio", "tokens_per_parameter"),
    help="20 is best for the compute, more makes a smaller model",
)
_FIGURES = {
    "flops": Number(name="flops", label="training compute", start=1e22, low=1e20, high=1e25, unit="FLOP"),
    "params": Number(name="params", label="parameters", start=7e9, low=1e8, high=1e12, unit="parameters"),
    "tokens": Number(name="tokens", label="tokens", start=2e11, low=1e9, high=1e14, unit="tokens"),
}
_ARGUMENTS = {"flops": "compute", "params": "n_params", "tokens": "n_tokens"}

WHAT_IFS = (
    WhatIf(
        name="recipe-by-scale",
        title="A recipe, and what others did",
        question="With which rate, batch and schedule should a model of this size be trained, and who says so?",
        view=recipe_view,
        controls=(
            _COMPUTE,
            _RATIO,
            controls.n_gpus(64),
            Number(
                name="model_parallel",
                label="GPUs that hold one copy of the model",
                start=1,
                low=1,
                high=512,
                unit="GPUs",
                scale="log",
                whole=True,
                aliases=("tensor_parallel", "copies", "tp"),
                help="tensor x pipeline x context; it must divide the GPUs",
            ),
            Number(
                name="micro_batch",
                label="micro-batch",
                start=1,
                low=1,
                high=16,
                unit="sequences",
                whole=True,
                aliases=("micro_batch_size", "mbs"),
                help="sequences that one copy reads at once",
            ),
            replace(controls.SEQ_LEN, start=4096, more=True, help="tokens a step are sequences times this"),
            Choice(
                name="schedule",
                label="schedule",
                start="cosine",
                options=KINDS,
                synonyms=(("wsd", "warmup-stable-decay"), ("1-sqrt", "warmup-stable-decay, 1-sqrt")),
                aliases=("kind", "lr_schedule"),
                help="one that stays at its peak takes half of it",
            ),
        ),
    ),
)

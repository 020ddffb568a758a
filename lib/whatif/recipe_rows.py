"""The rows of a recipe: every number with its formula, what was assumed for it, and where it comes from."""

import math

from lib.compute import TOKENS_PER_PARAM
from lib.recipe import DECAY_SHARE, END_SHARE, RAMP_FIRST_SHARE, RAMP_SHARE, STABLE_PEAK_SHARE, WARMUP_SHARE
from lib.recipe.held_out import CHOSEN, median_error
from lib.recipe.lr_law import DEEPSEEK, GPT3_TABLE, STEP_LAW, fitted
from lib.recipe.mup import GPT3_SWEEP_SHARE
from lib.recipe.published_runs import COMPARABLE, habit
from lib.recipe.seed_recipes import any_scale
from lib.scaling.budget_laws import kaplan_size_loss
from lib.units import show, show_count, show_power
from lib.whatif.model import Row

_RUNS = f"{len(COMPARABLE)} published runs, each with its document: lib/data/recipes.toml"
_RULE = "Hoffmann et al. 2022, arXiv:2203.15556, Table 3, read as a rule"
_KAPLAN = "Kaplan et al. 2020, arXiv:2001.08361, equations 1.1 and 5.3"
_MCCANDLISH = "McCandlish et al. 2018, arXiv:1812.06162"
_MUP = "Yang et al. 2022, arXiv:2203.03466, section 7.4"
_WORTSMAN = "Wortsman et al. 2023, arXiv:2309.14322"
_OLMO = "OLMo Team 2025, arXiv:2501.00656"
_ADAMW = "AdamW, standard parametrization, dense models"


def rows(recipe):
    """All rows of a `lib.recipe.Recipe`, group by group."""
    groups = (_size, _shape, _rate, _schedule, _batch, _critical, _optimizer, _stability, _small, _neighbours, _seed)
    return tuple(row for group in groups for row in group(recipe))


def _of(group, **common):
    return lambda label, value, **own: Row(label=label, value=value, group=group, **common | own)


def _size(recipe):
    run, compute = recipe.run, recipe.facts.compute
    ratio = show(run.tokens_per_param)
    rule = (_RULE,) if run.tokens_per_param == TOKENS_PER_PARAM else ("as asked",)
    row = _of("Size and tokens", sources=rule, assumed=(f"{ratio} tokens a parameter",))
    counts = "all parameters, embeddings included; compute is 6 N D"
    size = f"sqrt({show_power(compute)} / (6 x {ratio}))"
    yield row("parameters", run.n_params, unit="parameters", formula=size, convention=counts)
    yield row("tokens", run.n_tokens, unit="tokens", formula=f"{ratio} x {show_power(run.n_params)}")


def _shape(recipe):
    found, shape = recipe.candidate, recipe.shape
    row = _of(
        "Shape",
        sources=("search over all widths and depths: lib.architecture.shapes, where the ranking has its sources",),
    )
    shared = found.constraints.tensor
    yield row(
        "layers x width",
        f"{shape.n_layers} x {shape.d_model:,}",
        formula=f"{shape.n_params:,} parameters, {found.beside}",
        assumed=(f"vocabulary {recipe.setup.vocab_size:,}, untied", f"{shared} devices may share a layer"),
        convention=shape.text,
    )
    heads = f"{shape.d_model:,} / {shape.head_dim}"
    yield row("heads", float(shape.n_heads), formula=heads, assumed=(f"head dimension {shape.head_dim}",))
    multiple = found.constraints.d_ff_multiple
    yield row("d_ff", float(shape.d_ff), formula=f"{shape.d_ff // multiple} x {multiple}", convention="gated MLP")


def _law_formula(law, run):
    terms = ((show_power(run.n_params), law.params_exponent), (show_power(run.n_tokens), law.tokens_exponent))
    return " x ".join([f"{law.coefficient:.5g}", *(f"{base}^{power:.5g}" for base, power in terms if power)])


def _rate(recipe):
    law, run, rounded = fitted("peak_lr"), recipe.run, "to two digits"
    row = _of("Learning rate", convention=_ADAMW)
    yield row(
        "by published runs",
        recipe.lr_by_law,
        formula=_law_formula(law, run),
        assumed=("what others chose is what to choose",),
        sources=(f"fit to {_RUNS}",),
    )
    if recipe.schedule.stable:
        rounded = f"{STABLE_PEAK_SHARE:g} x {show_power(recipe.lr_by_law)} {rounded}"
    yield row(
        "peak learning rate", recipe.peak_lr, formula=rounded, sources=(_HALF if recipe.schedule.stable else _RUNS,)
    )
    yield row(
        "median error of the fit",
        recipe.lr_error,
        unit="%",
        convention=f"against families that took no part in it, each once; a constant: {_CONSTANT:.0%}",
        sources=(_RUNS,),
    )
    laws = {law["peak_lr"].name: law["peak_lr"] for law in (GPT3_TABLE, DEEPSEEK, STEP_LAW)}
    for name, rate in recipe.rival_lrs.items():
        rival = laws[name]
        formula = _law_formula(rival, run) if hasattr(rival, "coefficient") else "read between its rows on log axes"
        made_for = _MADE_FOR[name] + _beyond(rival, run)
        yield row(f"by {name}", rate, formula=formula, sources=(rival.source,), convention=made_for)
    yield row(
        "rates to try in small runs",
        ", ".join(show_power(rate) for rate in recipe.sweep),
        formula=f"doublings from {show_power(recipe.lr_by_law)} / {show(1 + recipe.lr_error)} past the highest rule",
        assumed=("a small run's best rate is carried over by the law's powers, or by muP",),
        convention=f"at full size; on a tenth of size and tokens {show(recipe.trial_lr_factor)} times as much",
        sources=(_MUP,),
    )


def _beyond(rule, run):
    """A remark on a table that has no row for the size."""
    low, *_, high = getattr(rule, "sizes", (0.0, math.inf))
    if low <= run.n_params <= high:
        return ""
    return f"; level below {show_count(low)}" if run.n_params < low else f"; level above {show_count(high)}"


_CONSTANT = median_error("peak_lr", "a constant")
_HALF = "Hägele et al. 2024, arXiv:2405.18392: half the peak of a cosine"
_MADE_FOR = {
    "GPT-3's table": "300B tokens, whatever the size",
    "DeepSeek's law": "its own sweeps over rate and batch; 6 N D in place of its own count",
    "Step Law": "best of a sweep over rate and batch at each size; N without the vocabulary there, all of it here",
}


def _schedule(recipe):
    schedule, steps = recipe.schedule, recipe.steps
    row = _of("Schedule", sources=(_RUNS,))
    yield row("schedule", schedule.kind, formula=_SHAPES[schedule.kind], sources=(_SCHEDULES[schedule.kind],))
    yield row(
        "warm-up",
        float(recipe.warmup_steps),
        unit="steps",
        formula=f"max(1, floor(min({habit('warmup_steps').value:,.0f}, {WARMUP_SHARE:g} x {steps:,})))",
        assumed=(f"at most {WARMUP_SHARE:.0%} of the run",),
        convention=f"the commonest of published runs: {habit('warmup_steps').text}",
    )
    end = f"{END_SHARE:g} x {show_power(recipe.peak_lr)}" if schedule.min_lr else "the line runs out at 0"
    yield row("learning rate at the end", schedule.min_lr, formula=end, sources=(_SCHEDULES[schedule.kind],))
    if schedule.stable:
        left = f"max(1, {DECAY_SHARE:g} x ({steps:,} - {recipe.warmup_steps:,}))"
        assumed = (f"a fifth of what the warm-up leaves: {DECAY_SHARE:g}",)
        yield row("decay", schedule.decay_steps, unit="steps", formula=left, assumed=assumed)


_SHAPES = {
    "cosine": "end + (peak - end) (1 + cos(pi p)) / 2",
    "linear": "peak - (peak - end) p",
    "warmup-stable-decay": "the peak, then peak - (peak - end) p over the decay",
    "warmup-stable-decay, 1-sqrt": "the peak, then peak - (peak - end) sqrt(p) over the decay",
}
_SCHEDULES = {
    "cosine": "Loshchilov and Hutter 2016, arXiv:1608.03983; to a tenth: Hoffmann et al. 2022, arXiv:2203.15556",
    "linear": "Bergsma et al. 2025, arXiv:2502.15938",
    "warmup-stable-decay": "Hu et al. 2024, arXiv:2404.06395; the line: Hägele et al. 2024, arXiv:2405.18392",
    "warmup-stable-decay, 1-sqrt": "Hägele et al. 2024, arXiv:2405.18392, section 3",
}


def _batch(recipe):
    setup, ramp = recipe.setup, recipe.ramp
    law, error = fitted("global_batch_tokens"), median_error("global_batch_tokens", CHOSEN)
    row = _of("Batch", convention="at the end of any ramp")
    wish, width = recipe.batch_by_law, f"{setup.data} x {setup.micro_batch} x {recipe.accumulation}"
    yield row(
        "tokens a step that the law asks for",
        wish,
        unit="tokens",
        formula=_law_formula(law, recipe.run),
        convention=f"median error against families held out {error:.0%}",
        sources=(f"fit to {_RUNS}",),
    )
    yield row(
        "global batch",
        float(recipe.global_batch),
        unit="sequences",
        formula=f"copies x micro-batch x accumulation; {width}",
        assumed=(f"{show(setup.n_gpus, 'GPUs')}, {setup.model_parallel} to a copy",),
        convention="the multiple of copies x micro-batch that is nearest to the law",
        sources=("Narayanan et al. 2021, arXiv:2104.04473, section 2.1",),
    )
    each = f"{recipe.global_batch:,} x {setup.seq_len:,}"
    yield row("tokens a step", float(recipe.batch_tokens), unit="tokens", formula=each)
    yield row(
        "steps",
        float(recipe.steps),
        unit="steps",
        formula=f"floor({recipe.run.n_tokens:,.0f} / {recipe.batch_tokens:,})",
        convention="whole steps of the full batch",
    )
    yield row(
        "ramp, if one is wanted: tokens a step at its start",
        ramp.first_tokens,
        unit="tokens",
        formula=f"{ramp.first_tokens / setup.seq_len:,.0f} x {setup.seq_len:,}",
        assumed=(f"what all copies can share next to {RAMP_FIRST_SHARE:g} of it, over {RAMP_SHARE:.0%} of the tokens",),
        convention=f"full after {show(ramp.ramp_tokens, 'tokens')}; {ramp.extra_steps:,.0f} steps more than without",
        sources=("in the way of Brown et al. 2020, arXiv:2005.14165, appendix B",),
    )


def _critical(recipe):
    critical, n_params = recipe.critical_batch, float(recipe.shape.non_vocabulary_params_active)
    row = _of("Critical batch", unit="tokens")
    ratio = recipe.batch_tokens / critical
    yield row(
        "critical batch at the end, by Kaplan",
        critical,
        formula=f"2e8 / {kaplan_size_loss(n_params):.7g}^(1 / 0.21)",
        assumed=(f"the run ends at Kaplan's loss for {show_power(n_params)} parameters and endless text",),
        convention=f"the batch is {show(ratio)} of it: {show(1 + ratio)} times the fewest tokens for the loss, "
        f"{show(1 + 1 / ratio)} times the fewest steps",
        sources=(_KAPLAN, _MCCANDLISH),
    )
    for law in (DEEPSEEK["global_batch_tokens"], STEP_LAW["global_batch_tokens"]):
        at = law.at(recipe.run.n_params, recipe.run.n_tokens)
        words = "the best batch of a sweep, which is not the critical one"
        formula = _law_formula(law, recipe.run)
        yield row(f"best batch by {law.name}", at, formula=formula, convention=words, sources=(law.source,))


def _optimizer(recipe):
    row = _of("Optimizer", sources=(_RUNS,))
    yield row("optimizer", "AdamW", sources=("Loshchilov and Hutter 2017, arXiv:1711.05101",))
    for label, setting in (
        ("beta 1", "beta1"),
        ("beta 2", "beta2"),
        ("epsilon", "epsilon"),
        ("weight decay", "weight_decay"),
        ("gradients are clipped at a norm of", "grad_clip"),
    ):
        usual = habit(setting)
        yield row(label, usual.value, convention=f"the commonest of published runs: {usual.text}")


def _stability(recipe):
    init, depth, z_loss = habit("init_std"), recipe.shape.n_layers, habit("z_loss")
    row = _of("Stability", sources=(_RUNS,))
    yield row(
        "standard deviation at the start", recipe.init_std, convention=f"the commonest of published runs: {init.text}"
    )
    yield row(
        "of what writes into the residual stream",
        recipe.residual_std,
        formula=f"{recipe.init_std:g} / sqrt(2 x {depth})",
        convention=f"as GPT-2; OLMo 2 leaves it out ({_OLMO}, section 3)",
        sources=("Radford et al. 2019, section 2.3",),
    )
    added = "times log(Z)^2, Z the sum of the logits' exponentials, added to the loss"
    said = f"{added}; {z_loss.text} that print it, 1e-4 in Wortsman et al."
    yield row("z-loss", z_loss.value, convention=said, sources=(_OLMO, _WORTSMAN))
    yield row("norms of queries and keys", "yes", convention="before the scores", sources=(_WORTSMAN, _OLMO))
    yield row("weight decay on embeddings", "none", sources=(f"{_OLMO}, section 3",))


def _small(recipe):
    small = recipe.small_runs
    row = _of("Small runs, on top of the run's compute", unit="%")
    yield row(
        "sweep of learning rates",
        small.sweep_share,
        formula=f"{small.n_trials} x {small.proxy_share:g}^2",
        assumed=(f"{small.proxy_share:g} of the size on {small.proxy_share:g} of the tokens",),
        convention=f"Yang et al. spent {GPT3_SWEEP_SHARE:.0%} on GPT-3 6.7B",
        sources=(_MUP,),
    )
    for label, share in (("ablations of data and shape", small.ablations_share), ("pilot", small.pilot_share)):
        yield row(label, share, formula=f"{share:g}", assumed=("a choice, measured by nobody",))
    parts = f"{show(small.sweep_share)} + {show(small.ablations_share)} + {show(small.pilot_share)}"
    yield row("together", small.share, formula=parts)


def _neighbours(recipe):
    row = _of("Nearest published runs")
    for place, run in zip(("nearest", "second", "third"), recipe.neighbours, strict=True):
        batch = run.global_batch_tokens
        each = f"{show(batch, 'tokens')} a step" if batch else "batch not printed"
        size = f"{show(run.n_params, 'parameters').removesuffix(' parameters')} on {show(run.n_tokens, 'tokens')}"
        yield row(
            place,
            f"{run.name}: {show_power(run.peak_lr)}, {each}",
            formula=f"{size}: this recipe's rate is {show(recipe.peak_lr / run.peak_lr)} of its",
            convention=f"{run.schedule}, {run.optimizer}" + (f"; {run.remark}" if run.remark else ""),
            sources=tuple(dict.fromkeys((run.sources["n_params"], run.sources["peak_lr"]))),
        )


def _seed(recipe):
    compute = recipe.facts.compute
    seed = any_scale(compute)
    row = _of("Seed document 001, for the same compute", sources=("seed document 001, any scale",))
    yield row("its peak learning rate", seed.step.peak_lr, convention=f"{show(seed.n_params, 'parameters')}, 20 to one")
    yield row("its tokens a step", float(seed.step.batch_tokens), unit="tokens")
    width = f"int(sqrt({show_power(seed.n_params)} / (12 x {seed.step.n_layers}))), to the nearest multiple of 128"
    yield row("its layers x width", f"{seed.step.n_layers} x {seed.d_model:,}", formula=width)

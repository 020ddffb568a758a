"""The what-if "allocation": how large a model, on how many tokens, for a compute budget under a law."""

from lib import scaling, units
from lib.compute import TOKENS_PER_PARAM, chinchilla_optimal, train_flops
from lib.scaling.ensemble import Ensemble
from lib.whatif import controls
from lib.whatif.model import Axis, Chart, Choice, Number, Row, Series, View, WhatIf

# The plan of the worked example: 128 A100s for two weeks at an MFU of 0.45, at 20 tokens a parameter.
_COMPUTE, _N_PARAMS = 2.173796352e22, 13_459_186_305.0
_POINTS = 33  # of a curve: with the reach below, each fourth size is twice the one before
_REACH = 16.0  # the curve is drawn this many times below and above the best size
_EQUATION_4 = "Hoffmann et al. 2022, arXiv:2203.15556, equation 4"
_TOKENS, _RATIO = "D = {} / (6 x {})", "D / N = {} / {}"
_CONVENTION = "compute is 6 N D; N counts {}; every token is seen once"


def allocation_view(compute=_COMPUTE, law="Hoffmann 2022", n_params=_N_PARAMS):
    """How large a model should a budget train, and what does another size cost?"""
    chosen = scaling.law(law)
    best = chosen.optimum(compute)
    given = n_params, compute / train_flops(n_params, 1)
    losses = chosen.loss(*best), chosen.loss(*given)
    others = Ensemble(compute=compute, laws=tuple(law for law in scaling.LAWS.values() if law is not chosen))
    penalties = {factor: chosen.size_penalty(compute, factor) for factor in (0.5, 2.0)}
    reach = "" if chosen.inside_range(*best) else chosen.label(*best)
    return View(
        title=_title(chosen, compute, best, given, losses),
        rows=(
            *best_rows(chosen, compute, best, losses[0]),
            *_given_rows(chosen, compute, given, losses),
            *_valley_rows(chosen, best, penalties),
            *_other_rows(compute, others),
        ),
        chart=_chart(chosen, compute, best, given, penalties[2.0], reach),
        notes=_notes(reach, others),
    )


def _title(chosen, compute, best, given, losses):
    size, tokens = units.show(best[0], "parameters"), units.show(best[1], "tokens")
    other = units.show(given[0], "parameters")
    return (
        f"By {chosen.name}, {units.show(compute, 'FLOP')} are best spent on {size} and {tokens}; "
        f"{other} would lose {losses[1] - losses[0]:.4f} nats a token more."
    )


def best_rows(chosen, compute, best, loss):
    """The best size and tokens of a law for a budget, their ratio and the loss."""
    group = f"Best for this budget, by {chosen.name}"
    n_params, n_tokens = best
    alpha, beta = f"{chosen.alpha:g}", f"{chosen.beta:g}"
    balance = f"({alpha} x {chosen.A:g} / ({beta} x {chosen.B:g}))^(1 / ({alpha} + {beta}))"
    common = {"group": group, "sources": (chosen.source, _EQUATION_4), "convention": _convention(chosen)}
    return (
        Row(
            label="parameters",
            value=n_params,
            unit="parameters",
            formula=f"N = {balance} x ({{}} / 6)^({beta} / ({alpha} + {beta}))",
            numbers=(compute,),
            **common,
        ),
        Row(
            label="tokens",
            value=n_tokens,
            unit="tokens",
            formula=_TOKENS,
            numbers=(compute, n_params),
            **common,
        ),
        _ratio_row(best, common),
        _loss_row("loss", chosen, best, loss, common),
    )


def _ratio_row(run, common):
    n_params, n_tokens = run
    formula = {"formula": _RATIO, "numbers": (n_tokens, n_params)}
    return Row(label="tokens per parameter", value=n_tokens / n_params, **formula, **common)


def _loss_row(label, chosen, run, loss, common):
    n_params, n_tokens = run
    errors = chosen.origin.errors
    known = f"standard error of E {errors.E:g}" if errors else "no standard error published"
    return Row(
        label=label,
        value=loss,
        unit="nats per token",
        formula=f"{chosen.E:g} + {chosen.A:g} / {{}}^{chosen.alpha:g} + {chosen.B:g} / {{}}^{chosen.beta:g}",
        numbers=(n_params, n_tokens),
        **common | {"convention": f"{chosen.label(*run)}; {known}; {chosen.origin.tokenizer}"},
    )


def _given_rows(chosen, compute, given, losses):
    n_params, n_tokens = given
    common = {"group": "Your size, at the same budget", "convention": _convention(chosen), "sources": (chosen.source,)}
    enough = chosen.least_compute(losses[1])
    return (
        Row(label="your size", value=n_params, unit="parameters", assumed=("your choice",), **common),
        Row(
            label="tokens it can see",
            value=n_tokens,
            unit="tokens",
            formula=_TOKENS,
            numbers=(compute, n_params),
            **common,
        ),
        _ratio_row(given, common),
        _loss_row("loss", chosen, given, losses[1], common),
        Row(
            label="above the least loss by",
            value=max(losses[1] - losses[0], 0.0),
            unit="nats per token",
            formula=f"{losses[1]:.6g} - {losses[0]:.6g}",
            **common,
        ),
        Row(
            label="part of the budget that would do",
            value=min(enough / compute, 1.0),
            unit="%",
            formula=f"the best size reaches {losses[1]:.6g} with {{}} of {{}} FLOP",
            numbers=(enough, compute),
            **common,
        ),
    )


def _valley_rows(chosen, best, penalties):
    common = {"group": "How flat the valley is", "unit": "nats per token", "sources": (chosen.source,)}
    rows = []
    for words, factor in (("half the best size costs", 0.5), ("twice the best size costs", 2.0)):
        cost = max(penalties[factor], 0.0)
        numbers = factor * best[0], best[1] / factor, *best
        rows.append(Row(label=words, value=cost, formula="L({}, {}) - L({}, {})", numbers=numbers, **common))
    return rows


def _other_rows(compute, others):
    rule = chinchilla_optimal(compute)
    rows = [
        law_row(
            f"{TOKENS_PER_PARAM:g} tokens per parameter, always",
            rule,
            ("Hoffmann et al. 2022, arXiv:2203.15556, Table 3, read as a rule",),
            "a rule of thumb, no law: it predicts no loss",
        )
    ]
    votes = {vote.law.name: vote for vote in others.votes}
    for law in others.laws:
        vote = votes[law.name]
        run = vote.n_params, vote.n_tokens
        rows.append(law_row(law.name, run, (law.source,), f"{vote.label}; {_convention(law)}"))
    return rows


def law_row(label, run, sources, convention, group="Other laws at this budget"):
    """What one law, or a rule, makes of the budget: its ratio, with size and tokens behind it."""
    n_params, n_tokens = run
    size, tokens = units.show(n_params, "parameters"), units.show(n_tokens, "tokens")
    return Row(
        label=label,
        value=n_tokens / n_params,
        unit=f"tokens per parameter: {size}, {tokens}",
        group=group,
        formula=_RATIO,
        numbers=(n_tokens, n_params),
        sources=sources,
        convention=convention,
    )


def _convention(chosen):
    return _CONVENTION.format(chosen.origin.n_counts)


def _chart(chosen, compute, best, given, cost, reach):
    sizes = spaced(min(best[0] / _REACH, given[0]), max(best[0] * _REACH, given[0]))
    marks = mark("best size", best, chosen), mark("your size", given, chosen)
    beyond = reach and f" ({reach})"
    return Chart(
        title=f"Near the best size the loss hardly moves: twice the size costs {cost:.4f} nats{beyond}.",
        alt=f"Loss against model size at {compute:.3g} FLOP: a wide valley with its lowest point at {best[0]:.3g}.",
        x=Axis(label="model size (parameters)", scale="log"),
        y=Axis(label="loss (nats per token)"),
        series=(curve("loss at this budget", chosen, compute, sizes), *marks),
    )


def spaced(low, high):
    """Sizes from one to another, each by the same factor larger than the one before."""
    ratio = (high / low) ** (1 / (_POINTS - 1))
    return tuple(low * ratio**i for i in range(_POINTS))


def curve(label, chosen, compute, sizes):
    """The losses of sizes that spend one budget under a law, as a line."""
    return Series(label=label, x=sizes, y=chosen.isoflop(compute, sizes))


def mark(label, run, chosen):
    """One run under a law, as a point."""
    return Series(label=label, x=(run[0],), y=(chosen.loss(*run),), kind="points")


def _notes(reach, others):
    notes = [f"At the best size this law is {reach}."] if reach else []
    if others.n_extrapolated:
        n_laws = len(others.laws)
        notes.append(f"Extrapolated at their own best size: {others.n_extrapolated} of the {n_laws} other laws.")
    notes.append("Compare sizes and tokens between laws, not losses: tokenizers and corpora differ.")
    return tuple(notes)


_LAWS = tuple(scaling.LAWS)
_SYNONYMS = tuple((alias, name) for name in _LAWS for alias in scaling.FACTS[name].get("aliases", ()))

WHAT_IFS = (
    WhatIf(
        name="allocation",
        title="Allocation under a law",
        question="How large a model does a budget want, how much does another size cost, and do the laws agree?",
        view=allocation_view,
        controls=(
            controls.budget(_COMPUTE, "6 x parameters x tokens; 2.17e22 is 128 A100s for two weeks at an MFU of 0.45"),
            Choice(
                name="law",
                label="law",
                start="Hoffmann 2022",
                options=_LAWS,
                synonyms=_SYNONYMS,
                aliases=("scaling_law",),
            ),
            Number(
                name="n_params",
                label="your size",
                start=_N_PARAMS,
                low=1e8,
                high=1e12,
                unit="parameters",
                scale="log",
                aliases=("params", "parameters", "size", "model_size", "n"),
                help="the size to compare with the best one, at the same budget",
            ),
        ),
    ),
)

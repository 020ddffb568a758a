"""Rows of the what-if "law-explorer": what use, scarce text and other laws make of a budget."""

from lib import units
from lib.scaling.repeated_data import R_D_STAR, R_N_STAR, effective_tokens
from lib.units import show_power
from lib.whatif.model import Row
from lib.whatif.scaling import law_row

_SARDANA = "Sardana et al. 2024, arXiv:2401.00448, equation 3"
_MUENNIGHOFF = "Muennighoff et al. 2023, arXiv:2305.16264, equations 5 and 6, appendix A"
_HOFFMANN = "Hoffmann et al. 2022, arXiv:2203.15556, equation 4"


def use_rows(life, compute):
    """The model that is cheapest over its life, against the one that is cheapest to train."""
    use, target = units.show(life.inference_tokens, "tokens"), f"{life.target_loss:.6g}"
    common = {
        "group": f"If it will read and write {use} in use, at the same loss",
        "sources": (life.law.source, _SARDANA),
        "convention": f"{life.law.label(life.n_params, life.n_tokens)}; 6 FLOPs a parameter and token in training, "
        "2 in use; chips are assumed to be as busy in both",
        "assumed": (f"{use} in use: your choice",),
    }
    size, tokens = show_power(life.n_params), show_power(life.n_tokens)
    in_use = f"2 x {size} x {show_power(life.inference_tokens)}"
    return (
        Row(
            label="parameters for use",
            value=life.n_params,
            unit="parameters",
            formula=f"least 6 N D + 2 N x {show_power(life.inference_tokens)} with L(N, D) = {target}",
            **common,
        ),
        Row(
            label="training tokens for use",
            value=life.n_tokens,
            unit="tokens",
            formula=f"L({size}, D) = {target}",
            **common,
        ),
        _times("size, times the cheapest to train", life.size_ratio, life.n_params, life.cheapest_run[0], common),
        _times("training compute, times the least", life.train_flops / compute, life.train_flops, compute, common),
        Row(
            label="saved over its whole life",
            value=life.saving,
            unit="%",
            formula=f"1 - (6 x {size} x {tokens} + {in_use}) / {show_power(life.total_flops_of_cheapest_run)}",
            **common,
        ),
    )


def _times(label, ratio, value, other, common):
    formula = f"{show_power(value)} / {show_power(other)}"
    return Row(label=label, value=ratio, formula=formula, **common)


def scarce_rows(limited, compute, best, scarce):
    """The best run on text that must be repeated, against the best on unlimited text."""
    n_params, n_tokens = scarce
    unique, unlimited = limited.unique_tokens, limited.law.loss(*best)
    common = {
        "group": f"If only {units.show(unique, 'tokens')} are unique",
        "sources": (limited.law.source, _MUENNIGHOFF),
        "convention": f"{limited.label(*scarce)}; a repeated token is worth less with each pass",
        "assumed": (f"R* of tokens {R_D_STAR:g}, of parameters {R_N_STAR:g}",),
    }
    worth = effective_tokens(unique, n_tokens)
    lost = limited.loss(*scarce) - unlimited
    return (
        Row(
            label="parameters on that text",
            value=n_params,
            unit="parameters",
            formula=f"least L(N_eff, D_eff) with 6 N D = {show_power(compute)}",
            **common,
        ),
        Row(
            label="tokens read",
            value=n_tokens,
            unit="tokens",
            formula=f"{show_power(compute)} / (6 x {show_power(n_params)})",
            **common,
        ),
        Row(
            label="passes",
            value=limited.epochs(n_tokens),
            formula=f"{show_power(n_tokens)} / {show_power(unique)}",
            **common,
        ),
        Row(
            label="worth as many unrepeated",
            value=worth,
            unit="tokens",
            formula=f"U + U R* (1 - exp(-(D / U - 1) / R*)), D = {show_power(n_tokens)}, U = {show_power(unique)}",
            **common,
        ),
        _times("size, times that on unlimited text", n_params / best[0], n_params, best[0], common),
        Row(
            label="lost to repeating",
            value=max(lost, 0.0),
            unit="nats per token",
            formula=f"{unlimited + lost:.6g} - {unlimited:.6g}",
            **common,
        ),
    )


def spread_rows(ensemble):
    """The two laws that are furthest apart, and the size that loses least under the worst of them."""
    group = f"How far {len(ensemble.laws)} laws spread"
    fewest, most = ensemble.votes[0], ensemble.votes[-1]
    rows = [_extreme(words, vote, group) for words, vote in (("fewest tokens", fewest), ("most tokens", most))]
    if ensemble.judges:
        rows += _regret_rows(ensemble.least_regret, group, len(ensemble.judges))
    return rows


def _extreme(words, vote, group):
    return Row(
        label=f"{words} per parameter",
        value=vote.tokens_per_param,
        unit=f"by {vote.law.name}: {units.show(vote.n_params, 'parameters')}",
        group=group,
        formula=f"D / N = {show_power(vote.n_tokens)} / {show_power(vote.n_params)}",
        sources=(vote.law.source,),
        convention=f"{vote.label}; N counts {vote.law.origin.n_counts}",
    )


def _regret_rows(regret, group, n_judges):
    common = {
        "group": group,
        "sources": (_HOFFMANN,),
        "convention": f"{n_judges} laws that predict a loss, each against its own least loss at this budget",
    }
    size, worst = show_power(regret.n_params), regret.worst
    return [
        Row(
            label="size of least regret",
            value=regret.n_params,
            unit="parameters",
            formula=f"the N whose largest L(N, {show_power(regret.compute)} / 6 N) - least L is smallest",
            **common,
        ),
        Row(
            label="its worst loss above the least",
            value=regret.worst_nats,
            unit="nats per token",
            formula=f"L({size}, {show_power(regret.n_tokens)}) - least L, by {worst}",
            **common,
        ),
    ]


def vote_rows(ensemble):
    """One row a law."""
    group = "Each law at this budget"
    for vote in ensemble.votes:
        counts = f"{vote.label}; N counts {vote.law.origin.n_counts}"
        yield law_row(vote.law.name, (vote.n_params, vote.n_tokens), (vote.law.source,), counts, group)

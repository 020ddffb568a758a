"""Tables of what moves a size: laws that disagree, use after training, scarce text, experts."""

from lib.scaling.allocations import PUBLISHED
from lib.scaling.moe_laws import moe_law
from lib.scaling.overtraining import Lifetime, implied_inference_tokens
from lib.scaling.repeated_data import DataLimitedLaw, effective_tokens, token_worth
from lib.scaling.side_by_side import short_reach
from lib.tables import Table
from lib.units import show

NONE = "none"


def regrets(ensemble, sizes):
    """What some sizes lose under each law that predicts a loss, against that law's own best.

    Args:
        ensemble: a `lib.scaling.ensemble.Ensemble`.
        sizes: words -> parameters.

    >>> from lib.scaling.ensemble import GROUPS, Ensemble
    >>> table = regrets(Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"]), {"70B": 70.55e9})
    >>> table.rows[1]
    ('Hoffmann 2022, rounded', '0.0004', '160 x the largest fitted run')
    """
    asked = {words: ensemble.regret(n_params) for words, n_params in sizes.items()}
    rows = []
    for one in ensemble.judges:
        reach = short_reach(one.label(*one.optimum(ensemble.compute)))
        rows.append((one.name, *(f"{regret.nats[one.name]:.4f}" for regret in asked.values()), reach))
    rows.append(("the worst of them", *(f"{regret.worst_nats:.4f}" for regret in asked.values()), ""))
    rows.append(("most compute wasted", *(f"{max(regret.wasted.values()):.0%}" for regret in asked.values()), ""))
    caption = f"Nats per token that a size loses at {show(ensemble.compute, 'FLOP')}, each law against its own best."
    return Table(head=("law", *sizes, "reach"), rows=tuple(rows), caption=caption)


def lifetimes(chosen, compute, uses):
    """The cheapest model over its life for several amounts of use, at the loss that a budget buys.

    Args:
        chosen: a `lib.scaling.parametric.ScalingLaw`.
        compute: training compute whose best loss is the target, FLOP, > 0.
        uses: tokens in and out over the model's use, each 0 or more.

    >>> from lib.scaling import law
    >>> lifetimes(law("Hoffmann 2022"), 4.815915e22, [1e12]).rows[0]
    ('1T', '8.482B', '1.01T', '0.65', '1.64', '1.07', '7.8%', '4 x the largest fitted run')
    """
    target = chosen.optimal_loss(compute)
    rows = []
    for use in uses:
        life = Lifetime(law=chosen, target_loss=target, inference_tokens=use)
        size, tokens = _count(life.n_params, "parameters"), _count(life.n_tokens, "tokens")
        ratios = (life.size_ratio, life.tokens_ratio, life.train_flops / compute)
        reach = short_reach(chosen.label(life.n_params, life.n_tokens))
        rows.append((_count(use, "tokens"), size, tokens, *(f"{r:.2f}" for r in ratios), f"{life.saving:.1%}", reach))
    head = (
        "tokens in use",
        "size",
        "training tokens",
        "size, times",
        "tokens, times",
        "training, times",
        "saved in all",
        "reach",
    )
    caption = f"Loss {target:.3f} by {chosen.name}; times: against the cheapest training run."
    return Table(head=head, rows=tuple(rows), caption=caption)


def passes(epochs):
    """What reading the same text several times is worth.

    >>> passes([4]).rows
    (('4', '3.726', '0.823'),)
    """
    rows = tuple((show(e), f"{effective_tokens(1.0, e):.3f}", f"{token_worth(e):.3f}") for e in epochs)
    return Table(head=("passes", "worth so many without repeating", "worth of a token in the last"), rows=rows)


def scarce(chosen, compute, uniques):
    """The best run for a budget when only so many tokens are unique.

    Args:
        chosen: a `lib.scaling.parametric.ScalingLaw`.
        compute: training compute, FLOP, > 0.
        uniques: unique tokens, each > 0.

    >>> from lib.scaling import law
    >>> scarce(law("Muennighoff 2023"), 1e22, [25e9]).rows[0]
    ('25B', '7.026B', '237.2B', '9.49', '0.76', '0.034', 'range of the fit not printed')
    """
    free = chosen.optimum(compute)
    rows = []
    for unique in uniques:
        limited = DataLimitedLaw(law=chosen, unique_tokens=unique)
        n_params, n_tokens = limited.optimum(compute)
        lost = limited.loss(n_params, n_tokens) - chosen.loss(*free)
        rows.append(
            (
                _count(unique, "tokens"),
                _count(n_params, "parameters"),
                _count(n_tokens, "tokens"),
                f"{limited.epochs(n_tokens):.2f}",
                f"{n_params / free[0]:.2f}",
                f"{max(lost, 0.0):.3f}",
                short_reach(limited.label(n_params, n_tokens)),
            )
        )
    head = ("unique tokens", "size", "tokens read", "passes", "size, times", "nats lost to repeating", "reach")
    caption = f"{show(compute, 'FLOP')} by {chosen.name}; times: against unlimited text."
    return Table(head=head, rows=tuple(rows), caption=caption)


def uses(chosen):
    """For how much use each published run was the cheapest choice, by one law.

    Args:
        chosen: a `lib.scaling.parametric.ScalingLaw`.

    >>> from lib.scaling import law
    >>> print(*uses(law("Besiroglu 2024")).rows[-1][:4])
    Llama 3 8B 1,868 189.5T 12.6
    """
    rows = []
    for run in PUBLISHED.values():
        use = implied_inference_tokens(chosen, run.n_params, run.n_tokens)
        words = (_count(use, "tokens"), f"{use / run.n_tokens:.1f}") if use > 0 else (NONE, NONE)
        reach = short_reach(chosen.label(run.n_params, run.n_tokens))
        rows.append((run.name, show(run.tokens_per_param), *words, reach))
    head = ("run", "tokens per parameter", "tokens in use", "times its training tokens", "reach")
    caption = f"The use for which each run was the cheapest choice, by {chosen.name}."
    return Table(head=head, rows=tuple(rows), caption=caption)


def experts(compute, counts, law_name="Ludziejewski 2025"):
    """The best run for a budget with several numbers of experts, and what a dense model's loss would then cost.

    Args:
        compute: training compute, FLOP, > 0.
        counts: experts in a layer, each a whole number of at least 1; 1 is dense.
        law_name: of a law for every number of experts.

    >>> print(*experts(1e20, [8]).rows[0])
    8 990M 16.84B 17 60% within the fitted range
    """
    joint = moe_law(law_name)
    dense_loss = joint.at(1).optimal_loss(compute)
    rows = []
    for n_experts in counts:
        chosen = joint.at(n_experts)
        n_params, n_tokens = chosen.optimum(compute)
        rows.append(
            (
                str(n_experts),
                _count(n_params, "parameters"),
                _count(n_tokens, "tokens"),
                f"{n_tokens / n_params:.0f}",
                f"{chosen.least_compute(dense_loss) / compute:.0%}",
                short_reach(chosen.label(n_params, n_tokens, n_experts)),
            )
        )
    head = ("experts", "active size", "tokens", "tokens per active parameter", "compute for the dense loss", "reach")
    return Table(head=head, rows=tuple(rows), caption=f"The best use of {show(compute, 'FLOP')}, by {joint.name}.")


def _count(number, unit):
    return show(number, unit).removesuffix(f" {unit}")

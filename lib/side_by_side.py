"""Tables that put laws, published runs and candidate sizes beside each other.

Where a law answers, the table says how far it is stretched: within the runs that it was fitted to, or beyond them.
"""

from lib import flops
from lib.allocations import PUBLISHED, Comparison
from lib.architecture import model
from lib.ensemble import DENSE, Ensemble
from lib.kaplan_gap import CORRECTIONS
from lib.overtraining import Lifetime
from lib.repeated_data import DataLimitedLaw, effective_tokens, token_worth
from lib.scaling import law
from lib.tables import Table
from lib.units import show


def laws(compute, among=None):
    """What each law makes of one budget: size and tokens, never losses; fewest tokens per parameter first.

    Args:
        compute: training compute, FLOP, > 0.
        among: laws, such as one of `lib.ensemble.GROUPS`; every published one if left out.

    >>> print(*str(laws(5.76e23)).splitlines()[-2].split())
    Hoffmann 2022 40.36B 2.379T 58.93 44 x the largest fitted run
    """
    votes = Ensemble(compute=compute, laws=tuple(among or DENSE.values())).votes
    rows = tuple(
        (
            vote.law.name,
            _count(vote.n_params, "parameters"),
            _count(vote.n_tokens, "tokens"),
            show(vote.tokens_per_param),
            _short(vote.label),
        )
        for vote in votes
    )
    head = ("law", "best size", "tokens", "tokens per parameter", "reach")
    return Table(head=head, rows=rows, caption=f"The best use of {show(compute, 'FLOP')} by each law.")


def cards():
    """What stands behind each law of dense models: what it gives, what N counts, whose text, which runs.

    >>> cards().rows[0][:3]
    ('Kaplan 2020', 'size', 'parameters without embeddings')
    """
    gives = {"n_params": "size", "n_tokens": "tokens", "flops_per_token": "FLOPs a token"}
    rows = tuple(
        (
            one.name,
            gives[one.quantity] if hasattr(one, "quantity") else "loss",
            one.origin.n_counts,
            f"{one.origin.corpus}; {one.origin.tokenizer}",
            _fitted(one.origin.fitted),
        )
        for one in DENSE.values()
    )
    return Table(head=("law", "gives", "N counts", "text; tokenizer", "fitted runs"), rows=rows)


def runs(law_name):
    """Published runs beside the best use of the same compute by one law.

    Args:
        law_name: as `lib.scaling.law` takes it.

    >>> print(*str(runs("besiroglu")).splitlines()[4].split())
    Chinchilla 5.88e23 20 0.96 0.0000 100% 45 x the largest fitted run
    """
    chosen = law(law_name)
    rows = []
    for run in PUBLISHED.values():
        beside = Comparison(run=run, law=chosen)
        rows.append(
            (
                run.name,
                show(run.compute_flops, "FLOP").removesuffix(" FLOP"),
                show(run.tokens_per_param),
                f"{beside.size_ratio:.2f}",
                f"{beside.cost:.4f}",
                f"{beside.compute_share:.0%}",
                _short(chosen.label(run.n_params, run.n_tokens)),
            )
        )
    head = (
        "run",
        "FLOP",
        "tokens per parameter",
        "size over best size",
        "nats lost",
        "compute that would do",
        "compute",
    )
    caption = f"Published runs beside the best use of their compute, by {chosen.name}."
    return Table(head=head, rows=tuple(rows), caption=caption)


def sizes(brief, names):
    """Released shapes against a brief's loss target, if every day computes and in the days as the brief means them.

    Args:
        brief: a `lib.plan.Brief` with a loss target.
        names: of models, as `lib.architecture.model` takes them.

    Raises:
        ValueError: if the brief asks for no loss.

    >>> from lib.plan import H100_MONTH
    >>> print(*str(sizes(H100_MONTH, ["llama-3-8b"])).splitlines()[2].split())
    Llama 3 8B 2.0135 missed 2.0143 missed 1.9923
    """
    if brief.loss_at_most is None:
        raise ValueError(f"loss_at_most = None: {brief.name!r} asks for no loss")
    chosen = law(brief.law_name)
    budgets = {f"all {brief.days:g} days": brief.compute_flops, f"at goodput {brief.goodput:g}": brief.useful_flops}
    rows = []
    for name in names:
        n_params = float(model(name).n_params)
        cells = [model(name).name]
        for compute in budgets.values():
            loss = chosen.loss_at_budget(compute, n_params)
            cells += [f"{loss:.4f}", chosen.judge(loss, brief.loss_at_most).words]
        rows.append((*cells, f"{chosen.floor(n_params):.4f}"))
    head = ["model"]
    for words in budgets:
        head += [f"loss, {words}", "verdict"]
    reach = chosen.label(*chosen.optimum(brief.compute_flops))
    caption = f"Predicted losses against the target of {brief.loss_at_most:g}, by {chosen.name}; {reach}."
    return Table(head=(*head, "floor"), rows=tuple(rows), caption=caption)


def regrets(ensemble, sizes):
    """What some sizes lose under each law that predicts a loss, against that law's own best.

    Args:
        ensemble: a `lib.ensemble.Ensemble`.
        sizes: words -> parameters.

    >>> from lib.ensemble import GROUPS
    >>> table = regrets(Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"]), {"70B": 70.55e9})
    >>> table.rows[1]
    ('Hoffmann 2022, rounded', '0.0004')
    """
    asked = {words: ensemble.regret(n_params) for words, n_params in sizes.items()}
    rows = [(one.name, *(f"{regret.nats[one.name]:.4f}" for regret in asked.values())) for one in ensemble.judges]
    rows.append(("the worst of them", *(f"{regret.worst_nats:.4f}" for regret in asked.values())))
    rows.append(("most compute wasted", *(f"{max(regret.wasted.values()):.0%}" for regret in asked.values())))
    caption = f"Nats per token that a size loses at {show(ensemble.compute, 'FLOP')}, each law against its own best."
    return Table(head=("law", *sizes), rows=tuple(rows), caption=caption)


def lifetimes(chosen, compute, uses):
    """The cheapest model over its life for several amounts of use, at the loss that a budget buys.

    Args:
        chosen: a `lib.parametric.ScalingLaw`.
        compute: training compute whose best loss is the target, FLOP, > 0.
        uses: tokens in and out over the model's use, each 0 or more.

    >>> from lib.scaling import law
    >>> lifetimes(law("Hoffmann 2022"), 4.815915e22, [1e12]).rows[0]
    ('1T', '8.482B', '1.01T', '0.65', '1.64', '1.07', '7.8%')
    """
    target = chosen.optimal_loss(compute)
    rows = []
    for use in uses:
        life = Lifetime(law=chosen, target_loss=target, inference_tokens=use)
        size, tokens = _count(life.n_params, "parameters"), _count(life.n_tokens, "tokens")
        ratios = (life.size_ratio, life.tokens_ratio, life.train_flops / compute)
        rows.append((_count(use, "tokens"), size, tokens, *(f"{r:.2f}" for r in ratios), f"{life.saving:.1%}"))
    head = (
        "tokens in use",
        "size",
        "training tokens",
        "size, times",
        "tokens, times",
        "training, times",
        "saved in all",
    )
    reach = chosen.label(*chosen.optimum(compute))
    caption = f"Loss {target:.3f} by {chosen.name} ({reach}); times: against the cheapest training run."
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
        chosen: a `lib.parametric.ScalingLaw`.
        compute: training compute, FLOP, > 0.
        uniques: unique tokens, each > 0.

    >>> from lib.scaling import law
    >>> scarce(law("Muennighoff 2023"), 1e22, [25e9]).rows[0]
    ('25B', '7.026B', '237.2B', '9.49', '0.76', '0.034')
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
            )
        )
    head = ("unique tokens", "size", "tokens read", "passes", "size, times", "nats lost to repeating")
    reach = chosen.label(*free)
    caption = f"{show(compute, 'FLOP')} by {chosen.name} ({reach}); times: against unlimited text."
    return Table(head=head, rows=tuple(rows), caption=caption)


def corrections():
    """Why Kaplan's exponent and Hoffmann's differ, one thing put right after the other.

    >>> corrections().rows[-1]
    ('rate, batch and beta2 tuned by size', '0.497', '0.49 to 0.5', '77B')
    """
    rows = tuple(
        (
            step.name,
            f"{step.exponent:.3f}",
            f"{step.interval[0]:g} to {step.interval[1]:g}",
            _count(step.n_params, "parameters"),
        )
        for step in CORRECTIONS
    )
    return Table(head=("put right so far", "exponent of the size", "95 %", "best size at 5.88e23 FLOP"), rows=rows)


def heads(names):
    """The output head's part of a token's forward FLOPs, without attention: what a count of the layers leaves out.

    >>> heads(["gpt-2"]).rows
    (('GPT-2', '124.4M', '31%'),)
    """
    rows = []
    for name in names:
        shape = model(name)
        part = flops.head_flops(shape) / flops.forward_flops(shape, attention="none", seq_len=1024)
        rows.append((shape.name, _count(shape.n_params, "parameters"), f"{part:.0%}"))
    return Table(head=("model", "parameters", "work in the output head"), rows=tuple(rows))


def _count(number, unit):
    return show(number, unit).removesuffix(f" {unit}")


def _short(label):
    """A label for a column: how many times the compute of the largest fitted run, and so on."""
    words = label.removeprefix("extrapolated: ")
    return words.replace(" times the compute of the ", " x the ").replace(" times the size of the ", " x the ")


def _fitted(fitted):
    if fitted is None:
        return "not printed"
    parts = []
    if fitted.n_params is not None:
        parts.append(" to ".join(_count(end, "parameters") for end in fitted.n_params) + " parameters")
    if fitted.compute_at_most is not None:
        parts.append(f"at most {show(fitted.compute_at_most, 'FLOP')}")
    return ", ".join(parts)

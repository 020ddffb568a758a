"""Tables that put laws, published runs and candidate sizes beside each other."""

from lib.allocations import PUBLISHED, Comparison
from lib.architecture import model
from lib.compute import TOKENS_PER_PARAM, chinchilla_optimal
from lib.scaling import LAWS, law
from lib.tables import Table
from lib.units import show


def laws(compute):
    """What each published law, and the rule of 20, makes of one budget: size and tokens, never losses.

    Args:
        compute: training compute, FLOP, > 0.

    >>> print(*str(laws(5.76e23)).splitlines()[2].split())
    Hoffmann 2022 40.36B 2.379T 58.93
    """
    found = {name: published.optimum(compute) for name, published in LAWS.items()}
    found[f"always {TOKENS_PER_PARAM:g} to one"] = chinchilla_optimal(compute)
    rows = tuple((name, _count(n, "parameters"), _count(d, "tokens"), show(d / n)) for name, (n, d) in found.items())
    head = ("law", "best size", "tokens", "tokens per parameter")
    return Table(head=head, rows=rows, caption=f"The best use of {show(compute, 'FLOP')} by each law.")


def runs(law_name):
    """Published runs beside the best use of the same compute by one law.

    Args:
        law_name: as `lib.scaling.law` takes it.

    >>> print(*str(runs("besiroglu")).splitlines()[4].split())
    Chinchilla 5.88e23 20 0.96 0.0000 100%
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
            )
        )
    head = ("run", "FLOP", "tokens per parameter", "size over best size", "nats lost", "compute that would do")
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
    caption = f"Predicted losses against the target of {brief.loss_at_most:g}, by {chosen.name}."
    return Table(head=(*head, "floor"), rows=tuple(rows), caption=caption)


def _count(number, unit):
    return show(number, unit).removesuffix(f" {unit}")

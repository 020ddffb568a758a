"""Tables that put laws, published runs and candidate sizes beside each other.

Where a law answers, the table says how far it is stretched: within the runs that it was fitted to, or beyond them.
"""

from lib import check
from lib.architecture import model
from lib.compute import flops
from lib.plan import Brief
from lib.scaling import law
from lib.scaling.allocations import PUBLISHED, Comparison
from lib.scaling.budget_laws import RULE_OF_20
from lib.scaling.ensemble import DENSE, Ensemble
from lib.scaling.kaplan_gap import CORRECTIONS
from lib.tables import Table
from lib.units import show


def laws(compute, among=None):
    """What each law makes of one budget: size and tokens, never losses; fewest tokens per parameter first.

    Args:
        compute: training compute, FLOP, > 0.
        among: laws, such as one of `lib.scaling.ensemble.GROUPS`; every published one if left out.

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
            short_reach(vote.label),
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
        if one is not RULE_OF_20 and not one.name.endswith((", rounded", ", figure"))  # the same runs again
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
                short_reach(chosen.label(run.n_params, run.n_tokens)),
            )
        )
    head = (
        "run",
        "FLOP",
        "tokens per parameter",
        "size over best size",
        "nats lost",
        "compute that would do",
        "reach",
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
    check.instance(Brief, brief=brief)
    check.several(names=names)
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
    return Table(head=("put right so far", "exponent of the size", "95%", "best size at 5.88e23 FLOP"), rows=rows)


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


def short_reach(label):
    """A law's label for a narrow column.

    >>> short_reach("extrapolated: 45 times the compute of the largest fitted run")
    '45 x the largest fitted run'
    """
    words = label.removeprefix("extrapolated: ")
    return words.replace(" times the compute of the ", " x the ").replace(" times the size of the ", " x the ")


def _count(number, unit):
    return show(number, unit).removesuffix(f" {unit}")


def _fitted(fitted):
    if fitted is None:
        return "not printed"
    parts = []
    if fitted.n_params is not None:
        parts.append(" to ".join(_count(end, "parameters") for end in fitted.n_params) + " parameters")
    if fitted.compute_at_most is not None:
        parts.append(f"at most {show(fitted.compute_at_most, 'FLOP')}")
    return ", ".join(parts)

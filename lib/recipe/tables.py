"""Tables of recipes: rules against families that they had not seen, a run by each rule, and what widths change."""

from statistics import median

from lib.recipe.held_out import CHOSEN, GROUPS, group_errors, median_error, residuals, rules
from lib.recipe.mup import RULES, hidden_lr
from lib.recipe.published_runs import COMPARABLE, habit
from lib.tables import Table
from lib.units import show, show_count, show_power

# A published table has seen its own family, and is not judged by it.
_OWN_FAMILY = {"GPT-3's table": "GPT-3", "DeepSeek's law": "DeepSeek"}


def errors(quantity):
    """How far each rule was off: over families, over lineages, over single runs, and at its worst; none by its own.

    Args:
        quantity: "peak_lr" or "global_batch_tokens".

    >>> print(*str(errors("peak_lr")).splitlines()[2].split())
    a constant 85% 75% 69% SmolLM, 580%
    """
    rows = []
    for rule in rules(quantity):
        by_family = group_errors(quantity, rule)
        worst = max(by_family, key=by_family.get)
        own = _OWN_FAMILY.get(rule)
        by_run = median(residual.error for residual in residuals(quantity, rule) if residual.group != own)
        cells = _over_groups(quantity, rule)
        rows.append((rule, *(f"{error:.0%}" for error in (*cells, by_run)), f"{worst}, {by_family[worst]:.0%}"))
    head = ("rule", "over families", "over lineages", "over runs", "worst family")
    caption = f"Median error of each rule for {_WORDS[quantity]}, against runs that it had not seen."
    return Table(head=head, rows=tuple(rows), caption=caption)


_WORDS = {"peak_lr": "the peak learning rate", "global_batch_tokens": "the batch"}


def _over_groups(quantity, rule):
    """Median errors of a rule over families and over lineages, its own left out."""
    return tuple(median_error(quantity, rule, group, _OWN_FAMILY.get(rule, "")) for group in GROUPS)


def families(quantity="peak_lr"):
    """The residuals, family by family: how many runs, what they took, and over what the fit had foretold.

    Args:
        quantity: "peak_lr" or "global_batch_tokens".

    >>> print(*str(families()).splitlines()[2].split())
    GPT-3 8 6e-5 to 6e-4 0.57 75%
    """
    rows, found = [], {}
    for residual in residuals(quantity, CHOSEN):
        found.setdefault(residual.group, []).append(residual)
    for family, members in found.items():
        used = sorted(residual.used for residual in members)
        span = " to ".join(dict.fromkeys(show_power(end) for end in (used[0], used[-1])))
        middle, error = (median(getattr(r, part) for r in members) for part in ("ratio", "error"))
        rows.append((family, str(len(members)), span, f"{middle:.2f}", f"{error:.0%}"))
    head = ("family", "runs", "used", "used over foretold", "median error")
    caption = f"What each family took for {_WORDS[quantity]}, over what a fit to all the others foretold."
    return Table(head=head, rows=tuple(rows), caption=caption)


def rates(recipe):
    """The peak learning rate of one run by each rule, with the rule's median error against published families.

    Args:
        recipe: a `lib.recipe.Recipe`.
    """
    said = {CHOSEN: recipe.lr_by_law} | recipe.rival_lrs
    names = {CHOSEN: "fit to published runs"}
    rows = tuple(
        (
            names.get(rule, rule),
            show_power(float(f"{rate:.2e}")),
            f"{rate / recipe.lr_by_law:.2f}",
            f"{_over_groups('peak_lr', rule)[0]:.0%}",
        )
        for rule, rate in said.items()
    )
    size, tokens = show(recipe.run.n_params, "parameters"), show(recipe.run.n_tokens, "tokens")
    head = ("rule", "peak learning rate", "over the fit's", "median error on families")
    return Table(head=head, rows=rows, caption=f"What the rules say for {size} on {tokens}.")


def beside(recipe):
    """A recipe and the published runs nearest to it.

    Args:
        recipe: a `lib.recipe.Recipe`.
    """
    own = (recipe.run, recipe.peak_lr, recipe.batch_tokens, recipe.schedule.kind)
    others = ((run.name, run, run.peak_lr, run.global_batch_tokens, run.schedule) for run in recipe.neighbours)
    rows = [_row(recipe.peak_lr, *cells) for cells in (("this recipe", *own), *others)]
    head = ("run", "size", "tokens", "peak learning rate", "over the recipe's", "tokens a step", "schedule")
    return Table(head=head, rows=tuple(rows), caption="A recipe beside the published runs nearest in size and tokens.")


def _row(ours, name, run, peak_lr, batch, schedule):
    counts = map(show_count, (run.n_params, run.n_tokens))
    rates = show_power(peak_lr), f"{peak_lr / ours:.2f}"
    return (name, *counts, *rates, show_count(batch) if batch else "not printed", schedule)


def widths(base_lr, base_width, wider):
    """Maximal-update parametrization: learning rates and starting deviations at wider models, over the narrow one's.

    Args:
        base_lr: best rate of the narrow model, > 0.
        base_width: its width, > 0.
        wider: widths to show.

    >>> print(*str(widths(6e-3, 256, [256, 4096])).splitlines()[3].split())
    4,096 16 3.75e-4 0.006 0.25 0.0625
    """
    rows = tuple(
        (
            show(float(width)),
            f"{width / base_width:g}",
            show(hidden_lr(base_lr, float(width), float(base_width))),
            show(base_lr * RULES["input"].lr_factor(width / base_width)),
            f"{RULES['hidden'].std_factor(width / base_width):.3g}",
            f"{RULES['output'].std_factor(width / base_width):.3g}",
        )
        for width in wider
    )
    head = ("width", "times", "rate, layers and head", "rate, embeddings", "start, layers", "start, head")
    return Table(head=head, rows=rows, caption=_MUP)


_MUP = (
    "Maximal-update parametrization with Adam, by width: learning rates, and the standard deviation at the start over "
    "that of the narrow model."
)


def habits():
    """What most published runs chose for the settings that no law gives, how many print it, and what it is for.

    >>> print(*str(habits()).splitlines()[2].split()[:8])
    beta1 0.9 48 of 48 memory of the
    """
    rows = []
    for setting, purpose in _PURPOSES.items():
        usual = habit(setting)
        rows.append((setting, show(usual.value), f"{usual.n_runs} of {usual.n_printed}", purpose))
    head = ("setting", "commonest", "runs", "what it is for")
    caption = f"Settings that {len(COMPARABLE)} published runs print, and how many of them agree."
    return Table(head=head, rows=tuple(rows), caption=caption)


_PURPOSES = {
    "beta1": "memory of the mean gradient",
    "beta2": "memory of its square",
    "epsilon": "keeps a step finite where gradients vanish",
    "weight_decay": "pulls weights back to 0 at each step",
    "grad_clip": "cuts a step after a bad batch",
    "init_std": "size of the weights at the start",
    "z_loss": "keeps the sum of the logits' exponentials small",
}

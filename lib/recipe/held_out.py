"""How well rules for learning rate and batch would have foretold families that they had not seen.

A rule that is fitted is fitted once for each family, to all the others. A published rule has seen what it has seen: its
error is against every family, its own among them, and a table without its own family can be asked for.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import median

from lib import check
from lib.recipe.lr_law import DEEPSEEK, GPT3_TABLE, STEP_LAW
from lib.recipe.power_laws import QUANTITIES, fit
from lib.recipe.published_runs import COMPARABLE, PublishedRun

GROUPS = ("family", "lineage")
CHOSEN = "size and tokens"  # what recipes follow; the other rules are its rivals
_WORDS = {
    "nothing": "a constant",
    "params": "size alone",
    "tokens": "tokens alone",
    "compute": "compute alone",
    "params and tokens": CHOSEN,
}
PUBLISHED = {"GPT-3's table": GPT3_TABLE, "DeepSeek's law": DEEPSEEK, "Step Law": STEP_LAW}


@dataclass(frozen=True, kw_only=True)
class Residual:
    """What a run used, beside what a rule foretold without having seen the run's group.

    >>> Residual(run=COMPARABLE[0], group="GPT-3", used=6e-4, foretold=3e-4).error
    1.0
    """

    run: PublishedRun
    group: str
    used: float
    foretold: float

    def __post_init__(self):
        check.instance(PublishedRun, run=self.run)
        check.fields(self, positive="used foretold", text="group")
        check.result(error=self.error)

    @property
    def ratio(self):
        """Used over foretold: above 1 the run took more."""
        return check.positive_result(ratio=self.used / self.foretold)

    @cached_property
    def error(self):
        """How far off, either way: 1 means by a factor of two, 0 not at all."""
        return check.result(error=max(self.ratio, 1 / self.ratio) - 1)


def rules(quantity):
    """Every rule for a quantity, by the words that a table calls it: fits and published ones.

    Args:
        quantity: "peak_lr" or "global_batch_tokens".

    Returns:
        Mapping from words to a function of (quantity, runs) that returns a function of (n_params, n_tokens).
    """
    check.choice(QUANTITIES, quantity=quantity)
    fitted = {words: _fitting(terms) for terms, words in _WORDS.items()}
    return fitted | {words: _published(laws[quantity]) for words, laws in PUBLISHED.items()}


def _fitting(terms):
    return lambda quantity, runs: fit(quantity, terms, runs).at


def _published(law) -> Callable:
    return lambda quantity, runs: law.at


def residuals(quantity, rule, group="family"):
    """The residuals of a rule over all comparable runs, each foretold without its own family (or lineage).

    Args:
        quantity: "peak_lr" or "global_batch_tokens".
        rule: such as "size and tokens", "a constant" or "GPT-3's table".
        group: "family", or "lineage", which keeps those who copied a recipe together with their model.

    Returns:
        A tuple of `Residual`, in the order of the data file.

    Raises:
        TypeError, ValueError: for a word that is not known; the nearest is offered.

    >>> round(median(r.error for r in residuals("peak_lr", "size and tokens")), 2)
    0.31
    """
    check.choice(GROUPS, group=group)
    check.lookup(rules(quantity), rule=rule)
    return _residuals(quantity, rule, group)


@cache
def _residuals(quantity, rule, group):
    make = check.lookup(rules(quantity), rule=rule)
    runs = _runs(quantity)
    groups = dict.fromkeys(getattr(run, group) for run in runs)
    found = [residual for held in groups for residual in _missed(quantity, make, group, [held])]
    return tuple(sorted(found, key=lambda residual: runs.index(residual.run)))


@cache
def _runs(quantity):
    return tuple(run for run in COMPARABLE if run.get(quantity) is not None)


def _missed(quantity, make, group, held):
    """What runs of the groups held used, beside what the others foretell."""
    runs = _runs(quantity)
    foretell = make(quantity, [run for run in runs if getattr(run, group) not in held])
    for run in (run for run in runs if getattr(run, group) in held):
        foretold = foretell(run.n_params, run.n_tokens)
        yield Residual(run=run, group=getattr(run, group), used=run.get(quantity), foretold=foretold)


def median_error(quantity, rule, group="family", without=""):
    """The median error over the groups, each counting once by the median of its own runs.

    Args:
        quantity, rule, group: as in `residuals`.
        without: a group to leave out, such as "GPT-3", whose own table should not be judged by itself; "" for none.

    >>> round(median_error("peak_lr", "size and tokens"), 2), round(median_error("peak_lr", "a constant"), 2)
    (0.26, 0.85)
    """
    errors = group_errors(quantity, rule, group)
    check.text(without=without)
    if without:
        check.choice(tuple(errors), without=without)
    return median(error for name, error in errors.items() if name != without)


def thirds(quantity, rule, n_draws=100, seed=0):
    """The median error where a third of the families is held out at once, families drawn anew each time.

    Fewer families then make the fit, and another third is missing each time: how much of an error is luck.

    Args:
        quantity, rule: as in `residuals`.
        n_draws: how often the families are dealt into three, a whole number of at least 1.
        seed: of the draws, a whole number of at least 0.

    Returns:
        The median error over families in each draw, a tuple; one seed deals the same families to every rule.

    Raises:
        TypeError, ValueError: for a word that is not known, or a number out of range.

    >>> fit, constant = (thirds("peak_lr", rule, n_draws=20) for rule in ("size and tokens", "a constant"))
    >>> f"{min(fit):.0%} to {max(fit):.0%}, against {min(constant):.0%} to {max(constant):.0%}"
    '25% to 54%, against 72% to 94%'
    """
    check.integer(n_draws=n_draws)
    check.natural(seed=seed)
    make = check.lookup(rules(quantity), rule=rule)
    families = sorted({run.family for run in _runs(quantity)})
    draw = random.Random(seed)
    deals = [draw.sample(families, len(families)) for _ in range(n_draws)]
    return tuple(_median_over_groups(_dealt(quantity, make, names)) for names in deals)


def _dealt(quantity, make, names):
    for held in (names[k::3] for k in range(3)):
        yield from _missed(quantity, make, "family", held)


def group_errors(quantity, rule, group="family"):
    """Group -> the median error of its runs.

    >>> round(group_errors("peak_lr", "size and tokens")["OLMo"], 2)
    0.16
    """
    residuals(quantity, rule, group)  # refuses a word that is not known
    return dict(_group_errors(quantity, rule, group))


@cache
def _group_errors(quantity, rule, group):
    return _by_group(_residuals(quantity, rule, group))


def _by_group(found):
    errors = {}
    for residual in found:
        errors.setdefault(residual.group, []).append(residual.error)
    return {name: median(values) for name, values in errors.items()}


def _median_over_groups(found):
    return median(_by_group(found).values())

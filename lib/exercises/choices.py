"""Decisions among named candidates: which are out, by how much, and which of the others is best."""

from lib.exercises.case import Ruling

NAMES = "ABCDEFGH"


def ranked(candidates, fault, cost, right, dominated):
    """Rulings on named candidates: those with a fault are refused, and of the others all but the cheapest.

    Args:
        candidates: a list of dicts, each with its "name".
        fault: takes a candidate, returns (sentence, margin) where it is out, else None.
        cost: takes a candidate, returns what is to be small; the right ones share the least.
        right: sentence for the best.
        dominated: sentence for one that is possible, but not best.

    Returns:
        A list of `Ruling`.

    >>> runs = [{"name": "A", "days": 3}, {"name": "B", "days": 9}, {"name": "C", "days": 5}]
    >>> late = lambda run: ("Late.", f"{run['days'] - 6} days too long.") if run["days"] > 6 else None
    >>> found = ranked(runs, late, lambda run: -run["days"], "Best.", "A longer one fits.")
    >>> [(one.answer, one.ok, one.sentence) for one in found]
    [('A', False, 'A longer one fits.'), ('B', False, 'Late.'), ('C', True, 'Best.')]
    """
    faults = {one["name"]: fault(one) for one in candidates}
    least = min((cost(one) for one in candidates if not faults[one["name"]]), default=None)
    return [_ruling(one["name"], faults[one["name"]], cost(one) == least, right, dominated) for one in candidates]


def _ruling(name, fault, best, right, dominated):
    if fault:
        return Ruling(answer=name, ok=False, sentence=fault[0], margin=fault[1])
    return Ruling(answer=name, ok=best, sentence=right if best else dominated)


def named(rng, candidates):
    """Candidates in a random order, with letters for names.

    Args:
        rng: a `random.Random`.
        candidates: a list of dicts.

    >>> import random
    >>> [one["name"] for one in named(random.Random(1), [{"days": 1}, {"days": 2}])]
    ['A', 'B']
    """
    order = sorted(candidates, key=lambda _: rng.random())
    return [{"name": name} | one for name, one in zip(NAMES, order, strict=False)]

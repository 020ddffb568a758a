"""Training runs with the loss that each reached: what a scaling law is fitted to.

A table of runs comes from a file (`lib.runs.table`), from a published source (`published`) or from a known law
(`of_law`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from random import Random
from types import MappingProxyType

from lib import check, facts
from lib.compute import train_flops
from lib.scaling import ScalingLaw
from lib.scaling.evidence import Range

LONG_WARMUP = 0.5  # of a run's tokens; our choice: such runs made most of the residual of Gadre's 104 models


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The runs of one table, in its order.

    Args:
        n_params: parameters of each run, > 0; any sequence of numbers.
        n_tokens: training tokens of each, > 0.
        loss: the loss that each reached, nats per token, > 0.
        groups: the corpus of each, where there are several; losses of different corpora are not on one scale.
        warmup_tokens: tokens of each in which the learning rate still rose, 0 or more; empty where nobody says.
        name: of the table, for messages.
        places: what a message calls each run, such as "row 7"; numbered from 1 where empty.

    Raises:
        TypeError, ValueError: for a column of another length, or a value of the wrong kind or out of range.

    >>> runs = Runs(n_params=[1e9, 2e9], n_tokens=[20e9, 40e9], loss=[2.6, 2.4])
    >>> len(runs), f"{runs.compute[1]:.1e}"
    (2, '4.8e+20')
    """

    n_params: tuple[float, ...]
    n_tokens: tuple[float, ...]
    loss: tuple[float, ...]
    groups: tuple[str, ...] = ()
    warmup_tokens: tuple[float, ...] = ()
    name: str = "runs"
    places: tuple[str, ...] = ()

    def __post_init__(self):
        check.text(name=self.name)
        self._keep("n_params", check.positive, float)
        if not self.n_params:
            raise ValueError("n_params = 0 entries: at least one run")
        for column in ("n_tokens", "loss"):
            self._keep(column, check.positive, float)
        self._keep("warmup_tokens", check.non_negative, float, may_be_empty=True)
        self._keep("groups", check.text, str, may_be_empty=True)
        self._keep("places", check.text, str, may_be_empty=True)
        if not self.places:
            object.__setattr__(self, "places", tuple(f"row {k + 1}" for k in range(len(self))))

    def _keep(self, column, rule, kind, may_be_empty=False):
        """Check each entry of a column and keep it as a tuple of plain values."""
        entries = _column(column, getattr(self, column), rule, kind)
        wanted = len(entries) if column == "n_params" else len(self.n_params)
        if len(entries) != wanted and not (may_be_empty and not entries):
            raise ValueError(f"{column} = {len(entries)} entries: {wanted}, one for each run")
        object.__setattr__(self, column, entries)

    def __len__(self):
        return len(self.n_params)

    @property
    def compute(self):
        """6 N D of each run  [FLOP]."""
        return tuple(train_flops(n, d) for n, d in zip(self.n_params, self.n_tokens, strict=True))

    @property
    def range(self):
        """The box of sizes and tokens that the runs span, and their largest compute."""
        n_params, n_tokens = ((min(values), max(values)) for values in (self.n_params, self.n_tokens))
        return Range(n_params=n_params, n_tokens=n_tokens, compute_at_most=max(self.compute))

    @property
    def group_names(self):
        """The corpora in the order of the table; one that nobody named is called as the table."""
        return tuple(dict.fromkeys(self.groups)) or (self.name,)

    def take(self, places):
        """The runs at these places, counted from 0, in this order; at least one.

        >>> Runs(n_params=[1e9, 2e9], n_tokens=[2e10, 4e10], loss=[2.6, 2.4]).take([1]).places
        ('row 2',)
        """
        chosen = self._checked(places)
        if not chosen:
            raise ValueError(f"places = 0 of {len(self)} runs of {self.name}: at least one")
        columns = ("n_params", "n_tokens", "loss", "groups", "warmup_tokens", "places")
        kept = {column: tuple(getattr(self, column)[k] for k in chosen) for column in columns if getattr(self, column)}
        return replace(self, **kept)

    def _checked(self, places):
        chosen = _column("places", places, check.natural, int, what="whole numbers")
        for place in chosen:
            if place >= len(self):
                raise ValueError(f"places = {place}: below {len(self)}, the number of runs of {self.name}")
        return chosen

    def by_group(self):
        """Group -> its runs, in the order of the table.

        >>> runs = Runs(n_params=[1e9, 2e9], n_tokens=[2e10, 4e10], loss=[2.6, 2.4], groups=["C4", "Pile"])
        >>> [f"{name}: {len(part)}" for name, part in runs.by_group().items()]
        ['C4: 1', 'Pile: 1']
        """
        if not self.groups:
            return {self.name: self}
        places = {name: [k for k, group in enumerate(self.groups) if group == name] for name in self.group_names}
        return {name: replace(self.take(found), name=f"{self.name}, {name}") for name, found in places.items()}

    def in_warmup(self, share=1.0):
        """Places of the runs that spent at least this share of their tokens in warm-up; none where nobody says.

        Args:
            share: above 0, at most 1; 1 names the runs that ended before their learning rate was up.

        >>> Runs(n_params=[1e7, 1e7], n_tokens=[5e7, 2e8], loss=[6, 5], warmup_tokens=[1e8, 1e8]).in_warmup()
        (0,)
        """
        check.scalar(share=share)
        check.fraction(share=share)
        pairs = zip(self.warmup_tokens, self.n_tokens, strict=False)
        return tuple(k for k, (warmup, tokens) in enumerate(pairs) if warmup >= share * tokens)

    def without(self, places):
        """All other runs.

        >>> Runs(n_params=[1e7, 2e7], n_tokens=[5e7, 2e8], loss=[6, 5]).without([0]).n_params
        (20000000.0,)
        """
        left_out = set(self._checked(places))
        return self.take([k for k in range(len(self)) if k not in left_out])


def _column(column, given, rule, kind, what="one entry a run"):
    is_array = getattr(given, "ndim", 0) == 1 and hasattr(given, "tolist")
    if isinstance(given, str | bytes) or not (is_array or isinstance(given, Sequence)):
        raise TypeError(f"{column} = {check.short(given)} ({type(given).__name__}): a sequence, {what}")
    entries = given.tolist() if hasattr(given, "tolist") else list(given)
    for place, entry in enumerate(entries):
        rule(**{f"{column}[{place}]": entry})
    return tuple(map(kind, entries))


def planned(n_params, n_tokens, name="planned runs"):
    """Runs that nobody has made yet: sizes and tokens, and a loss of 1 in place of each measurement.

    Args:
        n_params, n_tokens: of each run, > 0; sequences of one length.
        name: of the table.

    >>> len(planned([1e8, 1e9], [2e9, 2e10]))
    2
    """
    sizes = _column("n_params", n_params, check.positive, float)
    return Runs(n_params=sizes, n_tokens=n_tokens, loss=(1.0,) * len(sizes), name=name)


def of_law(law, n_params, n_tokens, noise=0.0, seed=0, name=""):
    """Runs as a known law would give them, so that a fit can be held against the truth.

    Args:
        law: a `lib.scaling.ScalingLaw`.
        n_params, n_tokens: of each run, > 0; sequences of one length.
        noise: standard deviation of the loss's logarithm, 0 to 1; 0.01 is 1% of the loss.
        seed: of the noise.
        name: of the table; the law's where empty.

    >>> from lib.scaling import law
    >>> of_law(law("besiroglu"), [1e9], [20e9]).loss[0] == law("besiroglu").loss(1e9, 20e9)
    True
    """
    check.instance(ScalingLaw, law=law)
    check.scalar(noise=noise)
    check.share(noise=noise)
    check.natural(seed=seed)
    check.text(name=name)
    chance = Random(seed)
    runs = planned(n_params, n_tokens, name or f"runs of {law.name}")
    pairs = zip(runs.n_params, runs.n_tokens, strict=True)
    return replace(runs, loss=[law.loss(n, d) * exp(chance.gauss(0.0, 1.0) * noise) for n, d in pairs])


_FIGURES = {"n_params": "parameters", "n_tokens": "tokens", "loss": "nats/token"}
_ENTRIES = facts.load("suites", _FIGURES, labels=("suite", "corpus"))
SUITES = MappingProxyType({entry["suite"]: entry["corpus"] for entry in _ENTRIES.values()})


def published(*suites):
    """The runs of released suites of models with their loss on the Pile's test part, one group a corpus.

    Args:
        suites: names as in `SUITES`; none takes all.

    Raises:
        ValueError: for a name that no suite has; the nearest is offered.

    Source: lib/data/suites.toml, for the most part Dey et al. 2023, arXiv:2304.03208.

    >>> runs = published("Cerebras-GPT")
    >>> runs.places[0], runs.loss[0]
    ('Cerebras-GPT 111M', 2.608)
    """
    names = {name: name for name in SUITES}
    wanted = [check.lookup(names, suite=suite) for suite in suites] or list(SUITES)
    chosen = [entry for entry in _ENTRIES.values() if entry["suite"] in wanted]
    columns = {column: [float(entry[column]) for entry in chosen] for column in _FIGURES}
    groups = [entry["corpus"] for entry in chosen]
    return Runs(**columns, groups=groups, name=" and ".join(wanted), places=[entry.name for entry in chosen])

"""Published training recipes: what others trained, on how much, and with which learning rate, batch and schedule.

Each row of `lib/data/recipes.toml` was checked against the document that it names. A number that the document does not
print is None here. What people chose is not what is best: few of them tried a second learning rate at full size.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from lib import check, facts
from lib.compute import train_flops
from lib.units import show

OPTIMIZERS = ("AdamW", "Adam", "AdEMAMix")
STANDARD, MAXIMAL_UPDATE = PARAMETRIZATIONS = ("standard", "maximal update")
SCHEDULES = ("cosine", "linear", "steps", "warmup-stable-decay", "constant, then cosine")
_UNITS = {
    "n_params": "parameters",
    "n_layers": "layers",
    "d_model": "dimensions",
    "warmup_steps": "steps",
    **dict.fromkeys(("n_tokens", "seq_len", "global_batch_tokens", "warmup_tokens"), "tokens"),
}
NUMBERS = ("peak_lr", "min_lr", "weight_decay", "beta1", "beta2", "epsilon", "grad_clip", "z_loss", "init_std")
FIGURES = _UNITS | dict.fromkeys(NUMBERS, "")
_OWN = ("n_params", "n_tokens", "peak_lr", "global_batch_tokens")  # fields of a run; the others are settings
WORDS = {"optimizer": str, "schedule": str, "parametrization": str, "batch_ramp": str, "sparse": bool, "qk_norm": bool}


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """A run that somebody made, with the settings that its document prints; None where it prints none.

    Args:
        name: of the model; any text.
        family: what is held out as a whole when a law is judged.
        lineage: the family whose recipe was copied; the family itself where none was.
        n_params: parameters, > 0; mixtures of experts: all of them.
        n_tokens: tokens, > 0: trained, or planned where only the plan is printed.
        peak_lr: largest learning rate, > 0.
        global_batch_tokens: tokens a step at the end of any ramp, > 0.
        optimizer: one of `OPTIMIZERS`; "AdamW" means Adam with decoupled decay, whatever its document calls it.
        schedule: one of `SCHEDULES`.
        parametrization: "standard" or "maximal update".
        batch_ramp: how the batch grew, in the document's words; "" where it did not, or nothing is printed.
        sparse: True for a mixture of experts.
        qk_norm: True if queries and keys are normed.
        settings: other printed numbers by name: one of `FIGURES`.
        sources: field -> the document in which it was read.

    Raises:
        TypeError, ValueError: for a number that is not positive and finite, or a word that is not known.

    >>> run = published_run("llama 65b")
    >>> run.peak_lr, run.get("weight_decay"), run.get("z_loss")
    (0.00015, 0.1, None)
    """

    name: str
    family: str
    lineage: str
    n_params: float
    n_tokens: float
    peak_lr: float
    global_batch_tokens: float | None = None
    optimizer: str = "AdamW"
    schedule: str = "cosine"
    parametrization: str = STANDARD
    batch_ramp: str = ""
    sparse: bool = False
    qk_norm: bool = False
    settings: Mapping[str, float] = field(default_factory=dict, hash=False, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    remark: str = ""

    def __post_init__(self):
        check.fields(self, positive="n_params n_tokens peak_lr global_batch_tokens", boolean="sparse qk_norm")
        check.fields(self, text="name family lineage batch_ramp remark")
        check.choice(OPTIMIZERS, optimizer=self.optimizer)
        check.choice(SCHEDULES, schedule=self.schedule)
        check.choice(PARAMETRIZATIONS, parametrization=self.parametrization)
        check.instance(Mapping, settings=self.settings)
        for setting, value in self.settings.items():
            check.choice(tuple(FIGURES), setting=setting)
            check.scalar(**{f"settings[{setting}]": value})
            check.non_negative(**{f"settings[{setting}]": value})

    def get(self, setting):
        """A printed number by name, or None.

        Args:
            setting: one of `FIGURES`.
        """
        check.choice(tuple(FIGURES), setting=setting)
        return getattr(self, setting) if hasattr(self, setting) else self.settings.get(setting)

    @property
    def compute_flops(self):
        """6 N D  [FLOP]; for a mixture of experts an upper bound, all parameters being counted."""
        return train_flops(self.n_params, self.n_tokens)

    @property
    def steps(self):
        """Tokens over tokens a step, as if there were no ramp; None where no batch is printed."""
        if self.global_batch_tokens is None:
            return None
        return check.positive_result(steps=self.n_tokens / self.global_batch_tokens)

    @property
    def warmup_share(self):
        """Part of the run that is warm-up, by tokens or by steps, whichever is printed; None where neither is.

        >>> round(published_run("Pythia 70M").warmup_share, 4), published_run("gpt-3 175b").warmup_share
        (0.01, 0.00125)
        """
        if (tokens := self.get("warmup_tokens")) is not None:
            return check.result(warmup_share=tokens / self.n_tokens)
        steps = self.get("warmup_steps")
        return None if steps is None or self.steps is None else check.result(warmup_share=steps / self.steps)

    @property
    def comparable(self):
        """True if the run may take part in a fit: dense, AdamW, standard parametrization."""
        return self.optimizer == "AdamW" and self.parametrization == STANDARD and not self.sparse


@dataclass(frozen=True, kw_only=True)
class Habit:
    """What most published runs that print a setting chose, and how many did.

    >>> habit("weight_decay").text
    '0.1 in 47 of 49 runs'
    """

    setting: str
    value: float
    n_runs: int
    n_printed: int

    def __post_init__(self):
        check.choice(tuple(FIGURES), setting=self.setting)
        check.fields(self, non_negative="value")
        check.integer(n_runs=self.n_runs, n_printed=self.n_printed)

    @property
    def text(self):
        """The habit in words."""
        return f"{show(self.value)} in {self.n_runs} of {self.n_printed} runs"


def habit(setting):
    """The value that most comparable published runs print for a setting.

    Args:
        setting: one of `FIGURES`, such as "weight_decay".

    Raises:
        TypeError, ValueError: for a setting that no run prints; the nearest name is offered.

    >>> habit("beta2").value
    0.95
    """
    check.choice(tuple(FIGURES), setting=setting)
    return _habit(setting)


@cache
def _habit(setting):
    printed = [value for run in COMPARABLE if (value := run.get(setting)) is not None]
    value, n_runs = Counter(printed).most_common(1)[0]
    return Habit(setting=setting, value=float(value), n_runs=n_runs, n_printed=len(printed))


def nearest(n_params, n_tokens, n_best=3):
    """The comparable published runs nearest to a size and a number of tokens, nearest first.

    Distance is that of the points on log axes: twice the size counts as much as twice the tokens.

    Args:
        n_params: parameters, > 0.
        n_tokens: tokens, > 0.
        n_best: how many, a whole number of at least 1, at most as many as there are.

    Returns:
        A tuple of `PublishedRun`.

    Raises:
        TypeError, ValueError: for a number that is not positive and finite.

    >>> [run.name for run in nearest(9.1e9, 183e9)]
    ['Cerebras-GPT 6.7B', 'Cerebras-GPT 13B', 'Pythia 12B']
    """
    check.scalar(n_params=n_params, n_tokens=n_tokens)
    check.positive(n_params=n_params, n_tokens=n_tokens)
    check.integer(n_best=n_best)
    if n_best > len(COMPARABLE):
        raise ValueError(f"n_best = {n_best}: at most {len(COMPARABLE)}, the comparable published runs")

    def distance(run):
        return math.hypot(math.log(run.n_params / n_params), math.log(run.n_tokens / n_tokens))

    return tuple(sorted(COMPARABLE, key=distance)[:n_best])


def _run(entry):
    numbers = {name: float(entry[name]) for name in FIGURES if name in entry.facts}
    words = {name: entry[name] for name in WORDS if name in entry.facts}
    own = {name: numbers.pop(name) for name in _OWN if name in numbers}
    family = entry["family"]
    return PublishedRun(
        name=entry.name,
        family=family,
        lineage=entry.get("lineage", family),
        settings=MappingProxyType(numbers),
        sources=entry.sources,
        remark=entry.get("remark", ""),
        **own,
        **words,
    )


_ENTRIES = facts.load("recipes", FIGURES, WORDS, labels=("family", "lineage", "aliases", "remark"))
PUBLISHED_RUNS = MappingProxyType({name: _run(entry) for name, entry in _ENTRIES.items()})
COMPARABLE = tuple(run for run in PUBLISHED_RUNS.values() if run.comparable)
_NAMES = dict(PUBLISHED_RUNS) | {a: PUBLISHED_RUNS[n] for n, e in _ENTRIES.items() for a in e.get("aliases", ())}


def published_run(name):
    """A published run by the name of its model, whatever its case, spaces, hyphens and underscores.

    Raises:
        TypeError: if the name is no text.
        ValueError: if none has it; the nearest name is offered.

    >>> published_run("olmo 2 13b").peak_lr
    0.0009
    """
    return check.lookup(_NAMES, published_run=name)

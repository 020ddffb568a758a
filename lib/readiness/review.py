"""Holding what was stated against the description and the evidence: missing, stated or verified, and why."""

import datetime
from dataclasses import dataclass, fields

from lib import check
from lib.description.expectations import Expectations
from lib.description.run import RunDescription
from lib.ladder import Climb, Evidence, evaluate
from lib.readiness.items import ITEMS, Item

STATES = ("missing", "stated", "verified")
_TEXTS = ("statement", "owner", "signed", "run_digest", "threshold", "artefact", "sha256", "found_sha256", "revision")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a person says of one item.

    Args:
        statement: what was done, in words.
        owner: who answers for it.
        signed: who has looked at it and stands for it.
        date: when, a `datetime.date`; None where nobody has said.
        run_digest: of the run description that it was signed for.
        threshold: what would not be good enough, in words.
        artefact: the file that shows it.
        sha256: of that file when it was signed.
        found_sha256: of that file now; "" where it is not there.
        revision: of the code.
        escalation: who is called, in which order.
        approved_gpu_hours: what was approved, > 0; None where nobody has said.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.
    """

    statement: str = ""
    owner: str = ""
    signed: str = ""
    date: datetime.date | None = None
    run_digest: str = ""
    threshold: str = ""
    artefact: str = ""
    sha256: str = ""
    found_sha256: str = ""
    revision: str = ""
    escalation: str = ""
    approved_gpu_hours: float | None = None

    def __post_init__(self):
        check.fields(self, text=" ".join((*_TEXTS, "escalation")), positive="approved_gpu_hours")
        if self.date is not None:
            check.instance(datetime.date, date=self.date)

    @property
    def given(self):
        """Names of the fields that say something: white space says nothing."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return tuple(n for n, v in values.items() if v is not None and (not isinstance(v, str) or v.strip()))


@dataclass(frozen=True, kw_only=True)
class State:
    """One item, judged.

    Args:
        item: an `Item`.
        statement: the `Statement` that was made of it.
        state: one of `STATES`.
        reasons: a tuple of texts, why it is not verified; empty where it is.

    Raises:
        TypeError, ValueError: for a value of the wrong kind, a state that is none.
    """

    item: Item
    statement: Statement
    state: str
    reasons: tuple[str, ...] = ()

    def __post_init__(self):
        check.instance(Item, item=self.item)
        check.instance(Statement, statement=self.statement)
        check.choice(STATES, state=self.state)
        check.instance(tuple, reasons=self.reasons)


@dataclass(frozen=True, kw_only=True)
class Review:
    """A run's review.

    Args:
        run: a `RunDescription`.
        states: a tuple of `State`, one for each of `ITEMS`.

    Raises:
        TypeError: for something else.
    """

    run: RunDescription
    states: tuple[State, ...]

    def __post_init__(self):
        check.instance(RunDescription, run=self.run)
        check.instance(tuple, states=self.states)

    @property
    def ready(self):
        """True if every item is verified."""
        return bool(self.states) and all(one.state == "verified" for one in self.states)

    @property
    def text(self):
        """The review in a sentence."""
        counts = {state: sum(one.state == state for one in self.states) for state in reversed(STATES)}
        said = ", ".join(f"{count} {state}" for state, count in counts.items())
        return f"{'Ready' if self.ready else 'Not ready'}: of {len(self.states)} items {said}."


def review(run, statements, evidence=None):
    """The state of every item.

    Args:
        run: a `RunDescription`.
        statements: key of an item -> `Statement`; an item without one is missing.
        evidence: an `Evidence`; None for none. Of another run, it verifies nothing, and each item says so.

    Returns:
        A `Review`.

    Raises:
        TypeError, ValueError: for a value of the wrong kind, a key that is no item's.

    Source: seed document 004, training readiness review.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> review(parse(text), {}).text
    'Not ready: of 10 items 0 verified, 0 stated, 10 missing.'
    """
    check.instance(RunDescription, run=run)
    check.instance(dict, statements=statements)
    for key, statement in statements.items():
        check.choice(tuple(ITEMS), statements=key)
        check.instance(Statement, statements=statement)
    if evidence is not None:
        check.instance(Evidence, evidence=evidence)
    climb, stale = _climbed(run, evidence)
    states = tuple(_state(item, statements.get(key, Statement()), climb, stale) for key, item in ITEMS.items())
    return Review(run=run, states=states)


def _climbed(run, evidence):
    """The ladder by the evidence, and why that is of no use here; "" where it is."""
    try:
        return evaluate(run, evidence), ""
    except ValueError as error:
        return evaluate(run), f"the evidence is stale: {error}"


def _state(item, statement, climb, stale):
    if "statement" not in statement.given:
        return State(item=item, statement=statement, state="missing", reasons=("nothing is stated",))
    reasons = (*_unsaid(item, statement), *_outdated(statement, climb.run), *_unlike(item, statement))
    reasons += (*_unproven(item, climb, stale), *_unpaid(item, statement, climb))
    once = tuple(dict.fromkeys(reasons))  # two measurements of one rung may lack the same
    return State(item=item, statement=statement, state="stated" if once else "verified", reasons=once)


def _unsaid(item, statement):
    absent = [name for name in item.required if name not in statement.given]
    if absent:
        yield f"not said: {', '.join(absent)}"


def _outdated(statement, run):
    if statement.date and statement.date > datetime.date.today() + datetime.timedelta(days=1):  # east of here it is
        yield f"date = {statement.date}: a day to come"
    if statement.run_digest.strip() and statement.run_digest != run.digest:
        yield f"stale: signed for run {statement.run_digest[:16]}, the description is now {run.digest}"


def _unlike(item, statement):
    if "artefact" not in item.needs or "artefact" not in statement.given:
        return
    if not statement.found_sha256:
        yield f"{statement.artefact}: no such file"
    elif "sha256" in statement.given and statement.sha256.lower() != statement.found_sha256:
        yield f"{statement.artefact}: changed since it was signed, its SHA-256 is {statement.found_sha256[:16]}..."


def _unproven(item, climb, stale):
    if item.measures and stale:
        yield stale
        return
    for number, name in item.measures:
        verdict = climb.verdicts[number - 1]
        found = next(one for one in verdict.judgements if one.threshold.name == name)
        where, on = f"rung {number}, {verdict.rung.name}", " on the plan's GPUs" if found.threshold.on_target else ""
        if found.passed is None:
            yield f"{where}: {name} not measured{on}"
        elif not found.passed:
            yield f"{where}: {name} = {found.value:.6g}, {found.threshold.text}"
        elif not verdict.passed:  # a number of a ladder that is broken below proves nothing
            yield f"{where}: {verdict.words}"


def _unpaid(item, statement, climb: Climb):
    """Approved must be what run and ladder take, and what the run takes more at the slow end of its speed."""
    if item.key != "budget" or statement.approved_gpu_hours is None:
        return
    needed = needed_gpu_hours(climb)
    if statement.approved_gpu_hours < needed:
        yield f"approved_gpu_hours = {check.figure(statement.approved_gpu_hours)}: at least {needed:,.0f}"


def to_approve(run_gpu_hours, pilot_gpu_hours, slow_share):
    """GPU-hours that a budget must hold: pilots, the run, and what the run takes more at the slow end of its speed.

        pilots + run * (1 + slow)

    Args:
        run_gpu_hours: for which the run holds its GPUs, > 0; float or array.
        pilot_gpu_hours: of the rungs below it, 0 or more; float or array.
        slow_share: by which the run may be slower than planned, 0 or more; float or array.

    Raises:
        TypeError, ValueError: for a value of the wrong kind or out of range.

    Source: a choice of the handbook; `lib.ladder` gives the pilots, `lib.description.expectations` the slow end.

    >>> to_approve(1000.0, 10.0, 0.07)
    1080.0
    """
    check.positive(run_gpu_hours=run_gpu_hours)
    check.non_negative(pilot_gpu_hours=pilot_gpu_hours, slow_share=slow_share)
    return check.result(gpu_hours=pilot_gpu_hours + run_gpu_hours * (1 + slow_share))


def needed_gpu_hours(climb):
    """`to_approve` for a described run: all rungs, and the run at the slow end of its expected speed.

    Args:
        climb: a `Climb`.
    """
    check.instance(Climb, climb=climb)
    days = Expectations(run=climb.run).calendar_days
    slow_share = days.tolerance / days.value
    return to_approve(climb.verdicts[-1].rung.gpu_hours, climb.rehearsal_gpu_hours, slow_share)

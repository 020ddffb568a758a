"""Which rungs evidence passes, and by what margin: no evidence is no pass, and none is passed above a failure."""

import math
from dataclasses import dataclass

from lib import check, hardware
from lib.description.run import RunDescription
from lib.ladder.evidence import Evidence
from lib.ladder.rungs import Rung, rungs
from lib.ladder.thresholds import Threshold

ANYWHERE = (1, 2, 3, 4)  # rungs that can be climbed on another machine than the plan's


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One threshold beside what was measured.

    Args:
        threshold: a `Threshold`.
        value: what was measured; None where nobody has.
        asked: False for what only the run's own program on the plan's own accelerator could tell, and nothing has.

    Raises:
        TypeError: for a value of the wrong kind.

    >>> Judgement(threshold=Threshold(name="mfu", label="utilization", at_least=0.4), value=0.5).passed
    True
    """

    threshold: Threshold
    value: float | None = None
    asked: bool = True

    def __post_init__(self):
        check.instance(Threshold, threshold=self.threshold)
        check.boolean(asked=self.asked)
        if self.value is not None:
            check.scalar(value=self.value)

    @property
    def passed(self):
        """True, False, or None where nothing was measured or nothing can be decided."""
        if self.value is None or not self.threshold.decides:
            return None
        outside = None if self.threshold.undecided else False
        return True if self.margin >= 0 else outside

    @property
    def why_undecided(self):
        """Of what has neither passed nor failed: ("measured" or "decidable", what is not so, in words)."""
        if self.threshold.decides:
            return ("measured", self.threshold.name) if self.value is None else ("decidable", self.threshold.undecided)
        return "decidable", self.threshold.name

    @property
    def margin(self):
        """How far inside its nearest end the value lies, below 0 outside; None where nothing was measured."""
        return None if self.value is None or not self.threshold.decides else self.threshold.margin(self.value)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One rung, judged.

    Args:
        rung: a `Rung`.
        judgements: a tuple of `Judgement`, one for each of its thresholds.
        below: the name of a rung below that is not passed; "" where all are.

    Raises:
        TypeError: for a value of the wrong kind.
    """

    rung: Rung
    judgements: tuple[Judgement, ...]
    below: str = ""

    def __post_init__(self):
        check.instance(Rung, rung=self.rung)
        check.instance(tuple, judgements=self.judgements)
        check.text(below=self.below)

    @property
    def failures(self):
        """Judgements of what lies outside its threshold."""
        return tuple(one for one in self.judgements if one.passed is False)

    @property
    def missing(self):
        """Judgements of what was not measured, or cannot be decided, and is asked for."""
        return tuple(one for one in self.judgements if one.passed is None and one.asked)

    @property
    def untested(self):
        """Judgements of what this machine could not tell, since it is not the plan's."""
        return tuple(one for one in self.judgements if not one.asked)

    @property
    def passed(self):
        """True if everything that is asked was measured and lies inside, and every rung below is passed."""
        return not (self.failures or self.missing or self.below)

    @property
    def words(self):
        """The verdict in words: "passed", "failed", or why it is not passed."""
        if self.failures:
            return "failed"
        if all(one.value is None for one in self.judgements):
            return "not passed: no evidence"
        if self.missing:
            kind = self.missing[0].why_undecided[0]
            words = (word for found, word in (one.why_undecided for one in self.missing) if found == kind)
            return f"not passed: not {kind}: {', '.join(words)}"
        return f"not passed: {self.below} is not, below it" if self.below else "passed"

    @property
    def tightest(self):
        """The judgement with the smallest margin relative to its end; None where nothing was measured."""
        judged = [one for one in self.judgements if one.margin is not None]
        return min(judged, key=_relative, default=None)


@dataclass(frozen=True, kw_only=True)
class Climb:
    """A run's ladder, judged by evidence.

    Args:
        run: a `RunDescription`.
        verdicts: a tuple of `Verdict`, the lowest rung first.

    Raises:
        TypeError: for something else.
    """

    run: RunDescription
    verdicts: tuple[Verdict, ...]

    def __post_init__(self):
        check.instance(RunDescription, run=self.run)
        check.instance(tuple, verdicts=self.verdicts)

    @property
    def highest(self):
        """The highest rung that is passed, 0 for none."""
        return sum(verdict.passed for verdict in self.verdicts)

    @property
    def rehearsal_gpu_hours(self):
        """What all rungs below the full run take together."""
        return math.fsum(verdict.rung.gpu_hours for verdict in self.verdicts[:-1])

    @property
    def next(self):
        """The verdict of the lowest rung that is not passed; None where all are."""
        return next((verdict for verdict in self.verdicts if not verdict.passed), None)


def evaluate(run, evidence=None):
    """The verdict of every rung.

    Args:
        run: a `RunDescription`.
        evidence: an `Evidence` of that run; None for none yet.

    Returns:
        A `Climb`: a rung without evidence is not passed, and no rung is passed above one that is not.

    Raises:
        TypeError: for something else.
        ValueError: for evidence of another run; the field that differs is named.

    Source: seed document 004, pilot ladder.

    >>> from lib.description import parse
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> climb = evaluate(parse(text))
    >>> climb.highest, climb.next.words
    (0, 'not passed: no evidence')
    """
    check.instance(RunDescription, run=run)
    if evidence is None:
        evidence = Evidence(run=run.plain)
    check.instance(Evidence, evidence=evidence)
    evidence.refuse_other(run)
    verdicts, below = [], ""
    for rung in rungs(run):
        verdict = Verdict(rung=rung, judgements=_judgements(run, rung, evidence.of_rung(rung.number)), below=below)
        verdicts.append(verdict)
        below = below or ("" if verdict.passed else rung.name)
    return Climb(run=run, verdicts=tuple(verdicts))


def _judgements(run, rung, pieces):
    measured, on_target = {}, {}
    for piece in pieces:
        measured |= piece.measured
        if is_target(run, piece.machine.get("accelerator", "")):
            on_target |= piece.measured
    told = rung.number not in ANYWHERE or any(one.on_target and one.name in on_target for one in rung.thresholds)
    return tuple(
        _judged(threshold, on_target if threshold.on_target else measured, told) for threshold in rung.thresholds
    )


def _judged(threshold, measured, told):
    """`told`: somebody has measured what only the plan's own accelerator can tell; then all of it is asked."""
    value, asked = measured.get(threshold.name), told or not threshold.on_target
    return Judgement(threshold=threshold, value=value, asked=asked)


def is_target(run, accelerator):
    """True if a machine's accelerator is the one that the run is planned for.

    Args:
        run: a `RunDescription`.
        accelerator: a name as a machine gives it, such as "NVIDIA H100 80GB HBM3"; "cpu" is nobody's target.
    """
    check.instance(RunDescription, run=run)
    check.text(accelerator=accelerator)
    try:
        return hardware.accelerator(accelerator).name == run.cluster.accelerator.name
    except ValueError:
        return False


def _relative(judgement):
    ends = (judgement.threshold.at_least, judgement.threshold.at_most)
    return judgement.margin / max((abs(end) for end in ends if end), default=1.0)

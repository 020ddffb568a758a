"""Evidence that nobody measured: for examples and tests, and it says so of itself."""

from lib import check
from lib.description.run import RunDescription
from lib.ladder.evidence import Evidence, Piece
from lib.ladder.rungs import rungs

WHAT = "made up for an example: each quantity lies on the end of its threshold"
TIME = "2026-11-29T22:00:00+00:00"


def made_up(run, numbers=(1, 2, 3, 4), accelerator="cpu", changed=None):
    """Evidence that just passes some rungs: each quantity on the end of its threshold, but for what is changed.

    Args:
        run: a `RunDescription`.
        numbers: of the rungs, a tuple.
        accelerator: what it pretends to have been measured on, such as "cpu" or "h100".
        changed: quantity -> value in place of the end of its threshold; None as the value leaves it out.

    Returns:
        An `Evidence`, each piece of which says that it is made up.

    Raises:
        TypeError, ValueError: for a value of the wrong kind, a rung that is none.

    >>> from lib.description import parse
    >>> from lib.ladder import evaluate
    >>> text = 'tokens = "1T"\\n[model]\\nname = "llama-3-8b"\\n[cluster]\\naccelerator = "h100"\\nn_gpus = 64'
    >>> run = parse(text)
    >>> evaluate(run, made_up(run)).highest, evaluate(run, made_up(run, changed={"mask_leak": 0.5})).highest
    (4, 0)
    """
    check.instance(RunDescription, run=run)
    check.instance(tuple, numbers=numbers)
    check.text(accelerator=accelerator)
    changed = {} if changed is None else changed
    check.instance(dict, changed=changed)
    ladder = {rung.number: rung for rung in rungs(run)}
    for number in numbers:
        check.integer(numbers=number)
        check.at_most(len(ladder), numbers=number)
    pieces = tuple(_piece(run, ladder[number], accelerator, changed) for number in numbers)
    return Evidence(run=run.plain, pieces=pieces)


def _piece(run, rung, accelerator, changed):
    ends = {one.name: one.at_most if one.at_least is None else one.at_least for one in rung.thresholds}
    measured = ends | {name: value for name, value in changed.items() if name in ends}
    return Piece(
        rung=rung.number,
        what=WHAT,
        measured={name: value for name, value in measured.items() if value is not None},
        machine={"accelerator": accelerator},
        run_digest=run.digest,
        time=TIME,
    )

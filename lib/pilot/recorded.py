"""A ladder that was climbed once, on two CPU cores, and kept: a sound pilot, and what planted faults measured.

`lib/data/pilots/run.toml` describes the run. `handbook pilot run.toml` climbs it again; with `--plant FAULT`, faulty.
"""

import json
from functools import cache
from importlib import resources

from lib import check, description, ladder
from lib.ladder.evidence import PLANTED
from lib.pilot.faults import FAULTS
from lib.tables import Table
from lib.units import show

_FOLDER = resources.files("lib") / "data" / "pilots"


def run():
    """The run whose pilot was climbed, a `RunDescription`.

    >>> run().shape.tied
    True
    """
    return description.parse((_FOLDER / "run.toml").read_text("utf-8"), "run.toml")


def evidence():
    """What was measured of the sound pilot; nobody has looked at its text, so rung 3 waits for a person.

    >>> ladder.evaluate(run(), evidence()).highest
    2
    """
    return ladder.parse((_FOLDER / "sound.json").read_text("utf-8"), "sound.json")


def faulty(name):
    """The ladder of the pilot with a planted fault, a `Climb`; of rungs that it was not asked there is nothing.

    Args:
        name: of the fault, in `lib.pilot.faults.FAULTS`.

    Raises:
        TypeError, ValueError: for another name.

    >>> faulty("mask-leak").next.words
    'failed'
    """
    check.choice(tuple(FAULTS), name=name)
    known = _faults()
    made = {field: known[field] for field in ("versions", "machine", "run_digest", "time")}
    what = f"{PLANTED} {name}: {known['what']}"
    measured = known["measured"][name]
    pieces = (ladder.Piece(rung=int(number), what=what, measured=found, **made) for number, found in measured.items())
    return ladder.evaluate(run(), ladder.Evidence(run=run().plain, pieces=tuple(pieces)))


@cache
def _faults():
    return json.loads((_FOLDER / "faults.json").read_text("utf-8"))


def caught():
    """The planted faults, each with the rung that has to catch it and what it measured there."""
    rows = []
    for name, fault in FAULTS.items():
        failures = faulty(name).verdicts[fault.rung - 1].failures
        told = [(one.threshold.label, show(one.value, one.threshold.unit), one.threshold.text) for one in failures]
        rows.append((fault.sentence, str(fault.rung), *map("; ".join, zip(*told, strict=True))))
    return Table(head=("planted", "rung", "what gives it away", "measured", "may be"), rows=tuple(rows))

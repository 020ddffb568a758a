"""A ladder that was climbed once, on two CPU cores, and kept.

`lib/data/pilots/run.toml` describes the run; `handbook pilot run.toml` climbs it again.
"""

from importlib import resources

from lib import description, ladder

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

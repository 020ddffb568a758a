"""What `handbook mfu` asks: a figure as a person has it, in one of several units, counted in some way.

It answers by the what-if "mfu-conventions", with whose rows and sources it answers.
"""

from dataclasses import replace

from lib import check, units
from lib.compute.flops import ATTENTION
from lib.compute.mfu import CONVENTIONS, COUNTED_RECOMPUTE, PARAMS, MfuConvention
from lib.whatif import catalogue

UNITS = {"tokens_per_second": "tokens/s", "tflops": "TFLOP/s per GPU", "mfu": "MFU", "hfu": "HFU"}
_WORDS = {"params": PARAMS, "attention": ATTENTION, "recompute": COUNTED_RECOMPUTE}
_RULE = "6N"  # what is taken where nobody says what a figure counted
_ASSUMED = (
    f"Nobody said what this figure counts, so it was taken to be by {_RULE}: all parameters, no attention. Name the "
    "count with --convention, or with --params, --attention and --recompute."
)


def answer(figures, counts, convention, settings):
    """The `Answer` for a reported figure.

    Args:
        figures: the figure under the key of its unit in `UNITS`; exactly one is not None.
        counts: what it counts: "params", "attention", "recompute" as in `MfuConvention`; None where nobody said.
        convention: a published convention by name instead, or None.
        settings: other inputs of "mfu-conventions"; those that are None keep their starting values.

    Raises:
        RefusedError: for no figure or several, a convention beside counts, and what the what-if refuses.
    """
    unit, figure = _the_only(figures)
    with catalogue.refusals():
        figure = _read(unit, figure)
    counts = {name: word for name, word in counts.items() if word is not None}
    if counts and convention is not None:
        raise catalogue.RefusedError(f"--convention beside --{next(iter(counts))}: the one or the others say the count")
    what_if = catalogue.find("mfu-conventions")
    if unit == "hfu" and not (convention or counts):
        raise catalogue.RefusedError("--hfu counts recomputation: say which with --convention or --recompute")
    if counts:
        what_if, convention = _counting(what_if, counts)
    by = _RULE if convention is None else convention
    given = {"figure": figure, "unit": UNITS[unit], "convention": by, **settings}
    try:
        found = catalogue.solve(what_if, {name: value for name, value in given.items() if value is not None})
    except catalogue.RefusedError as refused:
        said = str(refused).replace("figure", unit, 1).replace(f"unit = {UNITS[unit]!r}", f"--{unit}", 1)
        raise catalogue.RefusedError(said, refused.control) from None
    return found if convention or unit == "tokens_per_second" else _noted(found)


def _the_only(figures):
    given = [(unit, figure) for unit, figure in figures.items() if figure is not None]
    if len(given) == 1:
        return given[0]
    options = ", ".join(f"--{unit.replace('_', '-')}" for unit in figures)
    raise catalogue.RefusedError(f"{len(given)} figures given: exactly one of {options}")


def _read(unit, figure):
    """The number that a text means, in the option's own unit: a share of the peak is no number of TFLOP/s."""
    try:
        return units.parse(figure, UNITS[unit]) if isinstance(figure, str) else figure
    except ValueError as error:
        raise ValueError(f"{unit} = {error}") from None


def _counting(what_if, counts):
    """The what-if with one convention more, unless the counts are those of a published one; and its name."""
    with catalogue.refusals():
        words = {count: check.lookup({w: w for w in _WORDS[count]}, **{count: word}) for count, word in counts.items()}
        own = MfuConvention(name="your count", **words)
    for name, known in CONVENTIONS.items():
        if (known.params, known.attention, known.recompute) == (own.params, own.attention, own.recompute):
            return what_if, name

    def view(convention, **others):
        return what_if.view(convention=own if convention == own.name else convention, **others)

    controls = (replace(c, options=(*c.options, own.name)) if c.name == "convention" else c for c in what_if.controls)
    return replace(what_if, view=view, controls=tuple(controls)), own.name


def _noted(found):
    return replace(found, view=replace(found.view, notes=(_ASSUMED, *found.view.notes)))

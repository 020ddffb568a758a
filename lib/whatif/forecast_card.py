"""The view behind `handbook forecast`: what small runs say of a large one. Handed a `Forecast` of `lib.fit`."""

from lib.units import show, show_number
from lib.whatif.model import Axis, Chart, Check, Reference, Row, Series, View

_NATS = "nats per token"
_POINTS = 33  # of a line
_AIR = 1.3  # beyond the large run, times
_FORM = "Kaplan et al. 2020, arXiv:2001.08361, equation 1.3; Henighan et al. 2020, arXiv:2010.14701, with a floor"


def forecast_view(found, expected=None, measured=None):
    """A forecast as rows, checks and notes.

    Args:
        found: a `lib.fit.forecast.Forecast`.
        expected: the loss that the run's law expects, with its tolerance, an `Expectation`; None for no described run.
        measured: the loss that the large run reached; None while nobody knows.
    """
    return View(
        title=_title(found),
        rows=(*_run_rows(found), *_fit_rows(found), *_forecast_rows(found, expected, measured)),
        chart=forecast_chart(found, measured) if found.interval else None,
        checks=(*_decides(found), *_inside(found, expected), *_narrow(found, expected), *_met(found, measured)),
        notes=tuple(_notes(found)),
    )


def forecast_chart(found, measured=None):
    """Loss against compute: small runs, the curve above E with its interval, and the large run.

    Args:
        found: a `Forecast` that decides something.
        measured: as in `forecast_view`.
    """
    far, points = found.target.compute_flops, found.runs.compute
    x, beyond = _spread(min(points), far * _AIR), _spread(max(points), far * _AIR)
    lows, highs = zip(*(found.ends(one) for one in beyond), strict=True)
    series = [
        Series(label="highest", x=beyond, y=highs),
        Series(label="fit", x=x, y=tuple(map(found.curve, x))),
        Series(label="lowest", x=beyond, y=lows),
        Series(label="small runs", x=points, y=found.runs.loss, kind="points"),
    ]
    end = found.loss if measured is None else measured
    words = "large run, forecast" if measured is None else "large run, measured"
    series.append(Series(label=words, x=(far,), y=(end,), kind="points"))
    return Chart(
        title="Small runs and the E of their text bound the loss of a large run.",
        alt="Loss over compute, on a log axis. Points of small runs lie along a falling curve that flattens towards a "
        "level line, E. Beyond the last of them two curves beside it are the ends of the interval; the large run is a "
        "point there.",
        x=Axis(label="training compute, 6 N D (FLOP)", scale="log"),
        y=Axis(label="loss (nats per token)"),
        series=tuple(series),
        references=(Reference(label="E", value=found.floor.value, axis="y"),),
    )


def _spread(low, high):
    """Points evenly spread on a log axis."""
    return tuple(low * (high / low) ** (k / (_POINTS - 1)) for k in range(_POINTS))


def forecast_dict(found, expected=None, measured=None):
    """The same as plain data, numbers in full.

    Args:
        found, expected, measured: as in `forecast_view`.
    """
    low, high = found.interval or (None, None)
    _, a, b = found.constants[0] if found.constants else (None, None, None)
    runs = zip(found.runs.places, found.runs.compute, found.runs.loss, strict=True)
    return {
        "E": {"value": found.floor.value, "error": found.floor.error, "source": found.floor.source},
        "a": a,
        "b": b,
        "runs": [dict(zip(("place", "compute", "loss"), row, strict=True)) for row in runs],
        "decades": found.decades,
        "reach_decades": found.reach,
        "undecidable": list(found.undecidable),
        "compute": found.target.compute_flops,
        "forecast": {"loss": found.loss, "low": low, "high": high, "level": found.level},
        "expected": None if expected is None else {"loss": expected.value, "tolerance": expected.tolerance},
        "expected_inside": None if expected is None else found.holds(expected.value),
        "most_width": None if expected is None else expected.range_width,
        "measured": measured,
        "measured_inside": None if measured is None else found.holds(measured),
    }


def _title(found):
    where = f"{show(found.target.n_params, 'parameters')} on {show(found.target.n_tokens, 'tokens')}"
    if not found.interval:
        return f"Not decidable: these small runs do not forecast the loss of {where}."
    low, high = (show(end, _NATS).removesuffix(f" {_NATS}") for end in found.interval)
    return f"{where}: a loss of {show(found.loss, _NATS)}, {low} to {high} at {found.level:.0%}."


def _run_rows(found):
    group, compute = "Small runs", found.runs.compute
    yield Row(label="runs", value=float(len(compute)), group=group)
    ends = f"{show(min(compute), 'FLOP')} to {show(max(compute), 'FLOP')}"
    yield Row(label="compute, 6 N D", value=ends, group=group)
    yield Row(label="decades that they span", value=found.decades, group=group)
    yield Row(label="tokens per parameter", value=found.ratio, group=group)
    yield Row(label="lowest loss", value=min(found.runs.loss), unit=_NATS, group=group)


def _fit_rows(found):
    group, floor = "L = E + a / C^b", found.floor
    label = show(floor.value, _NATS) + (f" ± {floor.error:.4f}" if floor.error else ", exactly")
    yield Row(label="E, given", value=label, group=group, sources=(floor.source,))
    if found.constants:
        _, a, b = found.constants[0]
        formula = f"{floor.value:.4f} + {show_number(a)} / C^{b:.4f}"
        yield Row(label="b, fitted", value=b, group=group, formula=formula, sources=(_FORM,))
        yield Row(label="a, fitted", value=a, group=group)


def _forecast_rows(found, expected, measured):
    group = "The large run"
    yield Row(label="compute", value=found.target.compute_flops, unit="FLOP", group=group)
    yield Row(label="decades beyond the small runs", value=found.reach, group=group)
    if found.interval:
        low, high = found.interval
        label = f"forecast, {found.level:.0%}"
        yield Row(label=label, value=f"{low:.4f} to {high:.4f} {_NATS}", group=group)
    if expected is not None:
        tolerance = "" if expected.tolerance is None else f" ± {expected.tolerance:.4f}"
        said = f"{expected.value:.4f}{tolerance} {_NATS}"
        yield Row(label="expected by the description", value=said, group=group, sources=(expected.source,))
    if measured is not None:
        yield Row(label="measured afterwards", value=measured, unit=_NATS, group=group)


def _decides(found):
    reasons = "; ".join(found.undecidable)
    enough = f"{len(found.runs)} runs over {found.decades:.2f} decades"
    yield Check(label="the small runs decide", passed=None if reasons else True, margin=reasons or enough)


def _inside(found, expected):
    if expected is not None:
        label = "the described run's expectation lies inside the forecast"
        yield _held(label, found, expected.value)


def _narrow(found, expected):
    """What the ladder's sixth rung asks for: a forecast that could miss what the run expects."""
    if expected is None or expected.range is None or found.interval is None:
        return
    low, high = found.interval
    width, most = high - low, expected.range_width
    words = f"{width:.4f} nats wide, at most {most:.4f}, as wide as the range that the run expects"
    more = "" if width <= most else "; too wide: larger small runs, or more of them, narrow it"
    yield Check(label="narrow enough to decide", passed=True if width <= most else None, margin=words + more)


def _met(found, measured):
    if measured is not None:
        yield _held("the forecast held", found, measured)


def _held(label, found, loss):
    if found.interval is None:
        return Check(label=label, passed=None, margin="nothing can be decided")
    low, high = found.interval
    room = min(loss - low, high - loss)
    words = f"{room:.4f} nats inside its nearer end" if room >= 0 else f"{-room:.4f} nats outside"
    return Check(label=label, passed=room >= 0, margin=words)


def _notes(found):
    if found.reach > found.decades:
        yield (
            f"The forecast reaches {found.reach:.1f} decades beyond runs that span {found.decades:.1f}: it holds if "
            f"nothing changes on the way, which nobody has seen."
        )
    yield "Small runs of other text or another tokenizer say nothing of this loss, however well the curve fits."

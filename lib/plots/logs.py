"""A log drawn: loss, time of a step and gradient norm over the steps, with the thresholds in."""

import math
from itertools import pairwise

from matplotlib.transforms import IdentityTransform

from lib.logs.limits import log_limit
from lib.plots.chart import chart_picture
from lib.plots.style import house_style, to_svg
from lib.whatif.model import Axis, Chart, Reference, Series

_FAR = 3  # times: on a linear axis the smaller could not be read
_FINER = 2  # pixels of a point in a PNG
_POINTS = 400  # a line: more than a picture has columns
_STEP = Axis(label="training (steps)")


def log_pictures(report, most_step_seconds=None, loss_ends=None):
    """Pictures of a log: (what it is of, picture) of loss, time of a step and gradient norm, those that it tells.

    Args:
        report: a `lib.logs.Report`.
        most_step_seconds: the longest step that the plan's utilization allows, s; None without a plan.
        loss_ends: lowest and highest final loss as planned; None without a plan.

    Raises:
        ValueError: if the log tells nothing that can be drawn.
    """
    charts = [_loss(report, loss_ends), _time(report, most_step_seconds), _norm(report)]
    drawn = [chart for chart in charts if chart is not None]
    if not drawn:
        raise ValueError("nothing to draw: the log tells neither loss nor time nor gradient norm of two steps")
    return tuple((chart.title, chart_picture(chart)) for chart in drawn)


def log_alt(report):
    """What an eye would see in `log_pictures`.

    Args:
        report: a `lib.logs.Report`.
    """
    still = sum(spike.until is None for spike in report.spikes)
    trend = report.gradient_trend
    norm = "" if trend is None else f" The gradient norm is {trend.words}."
    marks = f"{len(report.spikes)} spikes, {still} of them open" if report.spikes else "no spike"
    return (
        f"Loss, time of a step and gradient norm from step {report.kept[0].step} to {report.kept[-1].step}; {marks}, "
        f"{len(report.course.restarts)} restarts, {len(report.pace.stalls)} stalls.{norm}"
    )


def log_sheet(report, most_step_seconds=None, loss_ends=None):
    """The pictures under one another, as the text of one SVG file on paper.

    Args:
        report, most_step_seconds, loss_ends: as in `log_pictures`.
    """
    texts, below, width = [], 0.0, 0.0
    for _, picture in log_pictures(report, most_step_seconds, loss_ends):
        box = picture.bbox
        texts.append(_placed(to_svg(picture), box.width, box.height, below))
        below, width = below + box.height + 12, max(width, box.width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {below:g}" width="{1.5 * width:g}" '
        f'height="{1.5 * below:g}" style="background:#ffffff;color:#1a1a1a" role="img" '
        f'aria-label="{log_alt(report)}">{"".join(texts)}</svg>\n'
    )


def _placed(text, width, height, below):
    """A picture at its place on the sheet, where a point is a unit."""
    head, rest = text.split(">", 1)
    parts = [part for part in head.removeprefix("<svg ").split('" ') if not part.startswith(("width=", "height="))]
    return f'<svg y="{below:g}" width="{width:g}" height="{height:g}" ' + '" '.join(parts) + ">" + rest


def _loss(report, ends):
    told = [(e.step, e.loss) for e in report.kept if e.loss is not None and math.isfinite(e.loss)]
    if len(told) < 2:
        return None
    spikes = [(s.step, s.loss) for s in report.spikes]
    series = [_line("loss", told), *([_points("spikes", spikes)] if spikes else [])]
    marks = () if ends is None else (Reference(label="planned loss", value=ends[1], axis="y"),)
    return Chart(
        title="loss",
        alt="Loss over the steps.",
        x=_STEP,
        y=_axis("loss (nats per token)", told),
        series=tuple(series),
        references=marks,
    )


def _time(report, most):
    usual = report.pace.step_seconds
    told = [(e.step, e.seconds) for e in report.kept if e.seconds is not None and 0 < e.seconds < math.inf]
    if len(told) < 2:
        told = _by_clock(report)
    if usual is None or len(told) < 2:
        return None
    marks = [Reference(label="usual step", value=usual, axis="y")]
    if report.pace.stalls:
        marks.append(Reference(label="stall", value=log_limit("stall", "ratio") * usual, axis="y"))
    marks += [] if most is None else [Reference(label="longest, as planned", value=most, axis="y")]
    return Chart(
        title="time of a step",
        alt="Time over the steps.",
        x=_STEP,
        y=Axis(label="time of a step (s)"),
        series=(_line("time", told),),
        references=tuple(marks),
    )


def _by_clock(report):
    pairs = [(a, b) for a, b in pairwise(report.kept) if None not in (a.time, b.time)]
    told = [(b.step, (b.time - a.time) / (b.step - a.step)) for a, b in pairs]
    return [(step, seconds) for step, seconds in told if seconds > 0]


def _norm(report):
    told = [(e.step, e.grad_norm) for e in report.kept if e.grad_norm is not None and 0 < e.grad_norm < math.inf]
    if len(told) < 2:
        return None
    label = _axis("gradient norm (of all weights)", told)
    return Chart(
        title="gradient norm", alt="Gradient norm over the steps.", x=_STEP, y=label, series=(_line("norm", told),)
    )


def _axis(label, told):
    """Logarithmic where the values lie far apart."""
    low, high = min(y for _, y in told), max(y for _, y in told)
    return Axis(label=label, scale="log" if low > 0 and high > _FAR * low else "linear")


def _line(label, told):
    """A line of at most so many points; of each group the lowest and the highest: no spike is lost, and noise lies
    around the usual value, not above it."""
    size = 1 if len(told) <= _POINTS else math.ceil(2 * len(told) / _POINTS)
    groups = [told[at : at + size] for at in range(0, len(told), size)]
    ends = [{one(group, key=lambda point: point[1]) for one in (min, max)} for group in groups]
    shown = [point for group in ends for point in sorted(group)]
    return Series(label=label, x=tuple(float(x) for x, _ in shown), y=tuple(float(y) for _, y in shown))


def _points(label, told):
    return Series(label=label, x=tuple(float(x) for x, _ in told), y=tuple(float(y) for _, y in told), kind="points")


def save_png(path, pictures):
    """Write pictures under one another as one PNG file on white.

    Args:
        path: where to.
        pictures: as `log_pictures` gives them.
    """
    import numpy as np
    from matplotlib.image import imsave

    with house_style():
        images = [_pixels(picture) for _, picture in pictures]
    width = max(image.shape[1] for image in images)
    rows = [np.pad(image, ((0, 0), (0, width - image.shape[1]), (0, 0)), constant_values=255) for image in images]
    imsave(path, np.concatenate(rows))


def _pixels(picture):
    import numpy as np

    picture.set_dpi(_FINER * picture.get_dpi())
    for axes in picture.axes:  # add_axes places this label in pixels
        x, y = axes.yaxis.label.get_position()
        axes.yaxis.set_label_coords(_FINER * x, _FINER * y, transform=IdentityTransform())
    picture.set_facecolor("white")
    picture.canvas.draw()
    return np.asarray(picture.canvas.buffer_rgba())

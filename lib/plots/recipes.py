"""Pictures of recipes: rates over size, what a fit missed, schedules, and what a batch costs."""

from lib.plots.chart import chart_picture
from lib.whatif.model import Axis, Chart, Reference, Series

_POINTS = 100
_SIZE = Axis(label="model size N (parameters)", scale="log")


def rates_by_size(copied, others, law, tokens_per_param=20.0):
    """Published peak learning rates over size, with the law that was fitted through them.

    Args:
        copied: runs whose rates come from one table: `lib.recipe.published_runs.PublishedRun`s.
        others: the other runs.
        law: a `lib.recipe.power_laws.PowerLaw`.
        tokens_per_param: for which the law is drawn, > 0.
    """
    sizes = sorted(run.n_params for run in (*copied, *others))
    ends = (sizes[0], sizes[-1])
    line = Series(
        label=f"fit, at {tokens_per_param:g} tokens a parameter",
        x=ends,
        y=tuple(law.at(size, tokens_per_param * size) for size in ends),
    )
    points = {"GPT-3 and those who copied its table": copied, "all others": others}
    return _picture(
        x=_SIZE,
        y=Axis(label="peak learning rate (for AdamW)", scale="log"),
        series=(line, *(_marks(label, [(r.n_params, r.peak_lr) for r in runs]) for label, runs in points.items())),
    )


def missed(residuals, named):
    """What runs used over what a fit without their family had foretold.

    Args:
        residuals: `lib.recipe.held_out.Residual`s.
        named: families to set apart by name.
    """
    groups = {name: [r for r in residuals if r.group == name] for name in named}
    rest = [r for r in residuals if r.group not in groups]
    return _picture(
        x=_SIZE,
        y=Axis(label="used over foretold (ratio)", scale="log"),
        series=tuple(
            _marks(label, [(r.run.n_params, r.ratio) for r in members])
            for label, members in (("other families", rest), *groups.items())
        ),
        references=(Reference(label="as foretold", value=1.0, axis="y"),),
    )


def schedules(labelled):
    """Learning-rate schedules over the run, as parts of a common peak.

    Args:
        labelled: (label, `lib.recipe.schedules.Schedule`) of each.
    """
    peak = max(schedule.peak_lr for _, schedule in labelled)
    lines = []
    for label, schedule in labelled:
        total = schedule.total_steps
        steps = sorted({schedule.warmup_steps, *(total * k / _POINTS for k in range(_POINTS + 1))})
        parts = tuple(schedule.at(step) / peak for step in steps)
        lines.append(Series(label=label, x=tuple(100 * step / total for step in steps), y=parts))
    return _picture(x=Axis(label="progress (% of the steps)"), y=Axis(label="rate (of the peak)"), series=tuple(lines))


def batch_trade(curve, marks):
    """Steps against tokens to the same loss, from small batches to large ones.

    Args:
        curve: (times the fewest tokens, times the fewest steps) from the smallest batch to the largest.
        marks: (label, times the fewest tokens, times the fewest steps) to point out.
    """
    x, y = zip(*curve, strict=True)
    return _picture(
        x=Axis(label="tokens (times the fewest)"),
        y=Axis(label="steps (times the fewest)", scale="log"),
        series=(Series(label="one loss, any batch", x=x, y=y), *(_marks(label, [(a, b)]) for label, a, b in marks)),
    )


def _marks(label, points):
    return Series(label=label, x=tuple(x for x, _ in points), y=tuple(y for _, y in points), kind="points")


def _picture(**parts):
    return chart_picture(Chart(title="", alt="", **parts))

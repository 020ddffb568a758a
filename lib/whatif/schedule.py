"""The what-if "schedule": the learning rate over a run, and how far it carries the weights in all."""

from dataclasses import replace

from lib import check
from lib.recipe.published_runs import COMPARABLE
from lib.recipe.schedules import COSINE, KINDS, Schedule
from lib.units import show, show_power
from lib.whatif.model import Axis, Chart, Check, Choice, Number, Row, Series, View, WhatIf

_POINTS = 80
_STRAIGHT = "Bergsma et al. 2025, arXiv:2502.15938"
_STABLE = "Hägele et al. 2024, arXiv:2405.18392, section 3"
_GROUPS = ("Along the run", "As a whole")


def schedule_view(
    schedule="warmup-stable-decay", peak_lr=3e-4, steps=100_000, warmup_steps=1000, decay_share=0.2, end_share=0.0
):
    """What is the learning rate at each step, and which peak would another schedule need?"""
    check.fraction(decay_share=decay_share)
    check.share(end_share=end_share)
    check.whole(steps=steps)
    check.non_negative(warmup_steps=warmup_steps)
    if warmup_steps >= steps:
        raise ValueError(f"warmup_steps = {warmup_steps:,}: fewer than the {steps:,} of the run")
    chosen = Schedule(
        kind=schedule,
        peak_lr=peak_lr,
        min_lr=end_share * peak_lr,
        total_steps=float(steps),
        warmup_steps=float(warmup_steps),
        decay_steps=decay_share * (steps - warmup_steps),
    )
    usual = replace(chosen, kind=COSINE, min_lr=0.1 * peak_lr)
    matched = chosen.peak_of_equal_mean(usual)
    return View(
        title=_title(chosen, usual, matched),
        rows=(*_along(chosen), *_whole(chosen, usual, matched)),
        chart=_chart(chosen, usual, matched),
        checks=_checks(chosen),
        notes=_NOTES,
    )


_NOTES = (
    "That equal means carry weights equally far is a rule of thumb: it says which way the peak must move, a sweep says "
    "how far.",
)


def _title(chosen, usual, matched):
    mean, other = chosen.mean_share, usual.mean_share
    return (
        f"The rate's mean over the run is {mean:.0%} of its peak, a cosine's to a tenth {other:.0%}: "
        f"{show_power(matched)} here carries the weights as far as {show_power(chosen.peak_lr)} there."
    )


def _along(chosen):
    steps = chosen.total_steps
    common = {"group": _GROUPS[0], "assumed": (f"a peak of {show_power(chosen.peak_lr)}",)}
    for words, part in (("a quarter", 0.25), ("half", 0.5), ("three quarters", 0.75), ("nine tenths", 0.9)):
        step = part * steps
        yield Row(label=f"after {words} of the run", value=chosen.at(step), formula=_at(chosen, step), **common)
    yield Row(label="at the end", value=chosen.at(steps), formula=_at(chosen, steps), **common)
    yield Row(
        label="warm-up, as a part of the run",
        value=chosen.warmup_steps / steps,
        unit="%",
        formula=f"{chosen.warmup_steps:,.0f} / {steps:,.0f}",
        group=_GROUPS[0],
    )


def _at(chosen, step):
    peak, low, left = chosen.peak_lr, chosen.min_lr, chosen.total_steps - chosen.warmup_steps
    if step < chosen.warmup_steps:
        return f"{show_power(peak)} x {step:,.0f} / {chosen.warmup_steps:,.0f}"
    if not chosen.stable:
        part = f"({step:,.0f} - {chosen.warmup_steps:,.0f}) / {left:,.0f}"
        fallen = f"(1 - cos(pi x {part})) / 2" if chosen.kind == COSINE else part
    else:
        start = chosen.total_steps - chosen.decay_steps
        if step <= start:
            return f"the peak, until step {start:,.0f}; {show_power(peak)}"
        part = f"({step:,.0f} - {start:,.0f}) / {chosen.decay_steps:,.0f}"
        fallen = f"sqrt({part})" if chosen.kind.endswith("sqrt") else part
    return f"{show_power(peak)} - {show_power(peak - low)} x {fallen}"


def _whole(chosen, usual, matched):
    common = {"group": _GROUPS[1], "sources": (_STABLE, _STRAIGHT)}
    yield Row(
        label="mean rate over peak",
        value=chosen.mean_share,
        unit="%",
        formula=_area(chosen),
        convention="area under the schedule over peak x steps, warm-up and decay included",
        **common,
    )
    yield Row(
        label="that of a cosine to a tenth",
        value=usual.mean_share,
        unit="%",
        formula=_area(usual),
        **common,
    )
    yield Row(
        label="sum of the rates",
        value=chosen.peak_lr * chosen.mean_share * chosen.total_steps,
        formula=f"{show_power(chosen.peak_lr)} x {show(chosen.mean_share)} x {chosen.total_steps:,.0f}",
        convention="how far Adam's steps could carry one weight in all",
        **common,
    )
    yield Row(
        label="peak with the mean of that cosine",
        value=matched,
        formula=f"{show_power(chosen.peak_lr)} x {show(usual.mean_share)} / {show(chosen.mean_share)}",
        assumed=("equal means carry the weights equally far",),
        convention="Hägele et al. advise half the cosine's peak for a schedule that stays at it",
        **common,
    )


def _area(schedule):
    warm, low = schedule.warmup_steps / schedule.total_steps, schedule.min_lr / schedule.peak_lr
    if not schedule.stable:
        return f"{show(warm)} / 2 + (1 - {show(warm)}) x (1 + {show(low)}) / 2"
    lost = "2 / 3" if schedule.kind.endswith("sqrt") else "1 / 2"
    return f"1 - {show(warm)} / 2 - {show(schedule.decay_steps / schedule.total_steps)} x (1 - {show(low)}) x {lost}"


def _checks(chosen):
    shares = sorted(share for run in COMPARABLE if (share := run.warmup_share) is not None)
    share = chosen.warmup_steps / chosen.total_steps
    low, high = shares[0], shares[-1]
    return (
        Check(
            label="warm-up is a part of the run that somebody published",
            passed=low <= share <= high,
            margin=f"{share:.2%}; published {low:.2%} to {high:.1%}, the middle one {shares[len(shares) // 2]:.2%}",
        ),
        Check(
            label="the rate ends at a tenth of its peak or lower",
            passed=chosen.min_lr <= 0.1 * chosen.peak_lr * (1 + 1e-9),
            margin=f"it ends at {show(chosen.min_lr / chosen.peak_lr)} of it",
        ),
        Check(
            label="the length of the run may be decided late",
            passed=chosen.stable,
            margin="the decay can begin anywhere" if chosen.stable else "the whole curve depends on it",
        ),
    )


def _chart(chosen, usual, matched):
    peak = show_power(chosen.peak_lr)
    lines = [_line(chosen, f"{chosen.kind}, peak {peak}"), _line(usual, f"cosine to a tenth, peak {peak}")]
    if chosen != usual:
        low = chosen.min_lr / chosen.peak_lr * matched  # in this order at most the peak
        same = replace(chosen, peak_lr=matched, min_lr=low)
        lines.append(_line(same, f"with the mean of the cosine, peak {show_power(matched)}"))
    return Chart(
        title=f"The same peak is not the same schedule: {chosen.mean_share:.0%} of it on average against "
        f"{usual.mean_share:.0%}.",
        alt="Learning rate over steps. All lines climb in the warm-up. The cosine falls from the start in an S to a "
        "tenth; the chosen schedule and the same one at a lower peak follow their own shape.",
        x=Axis(label="progress (steps)"),
        y=Axis(label="learning rate (for AdamW)"),
        series=tuple(lines),
    )


def _line(schedule, label):
    warm, total = schedule.warmup_steps, schedule.total_steps
    turns = {0.0, warm, total, *((total - schedule.decay_steps,) if schedule.stable else ())}
    steps = sorted(turns | {total * k / _POINTS for k in range(_POINTS)})
    return Series(label=label, x=tuple(steps), y=tuple(schedule.at(step) for step in steps))


WHAT_IFS = (
    WhatIf(
        name="schedule",
        title="Schedules beside each other",
        question="What is the rate at each step, and why does a schedule that stays at its peak want a lower one?",
        view=schedule_view,
        controls=(
            Choice(
                name="schedule",
                label="schedule",
                start="warmup-stable-decay",
                options=KINDS,
                synonyms=(("wsd", "warmup-stable-decay"), ("1-sqrt", "warmup-stable-decay, 1-sqrt")),
                aliases=("kind", "lr_schedule"),
            ),
            Number(
                name="peak_lr",
                label="peak learning rate",
                start=3e-4,
                low=1e-5,
                high=1e-2,
                scale="log",
                aliases=("lr", "learning_rate", "max_lr"),
            ),
            Number(
                name="steps",
                label="steps",
                start=100_000,
                low=1000,
                high=2_000_000,
                unit="steps",
                scale="log",
                whole=True,
                aliases=("total_steps", "n_steps"),
            ),
            Number(
                name="warmup_steps",
                label="warm-up",
                start=1000,
                low=0,
                high=20_000,
                unit="steps",
                whole=True,
                aliases=("warmup",),
            ),
            Number(
                name="decay_share",
                label="decay, as a part of what the warm-up leaves",
                start=0.2,
                low=0.01,
                high=1,
                aliases=("decay", "cooldown"),
                help="only schedules that stay at their peak ask for it",
            ),
            Number(
                name="end_share",
                label="rate at the end, as a part of the peak",
                start=0.0,
                low=0,
                high=1,
                aliases=("min_lr", "end", "final"),
            ),
        ),
    ),
)

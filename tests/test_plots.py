"""Pictures: they draw what they were given, say it with units, keep their labels apart, and repeat to the byte."""

import math
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Text

from lib import plots
from lib.architecture import model
from lib.compute import counts
from lib.fit import fit_law, hold_out, isoflop_runs, parabola
from lib.fit.forecast import recorded
from lib.ladder import evaluate
from lib.ladder.made_up import made_up
from lib.pilot.small_logs import read_logs
from lib.plan import PLANS
from lib.plots.axes import tick_text, ticks
from lib.plots.labels import _spread
from lib.plots.style import INK
from lib.readiness import Statement, review
from lib.recipe.held_out import residuals
from lib.recipe.lr_law import fitted
from lib.recipe.published_runs import COMPARABLE
from lib.recipe.schedules import Schedule
from lib.runs import published as suite
from lib.scaling import LAWS, law
from lib.scaling.ensemble import DENSE, GROUPS, Ensemble
from lib.scaling.overtraining import Lifetime
from lib.whatif.catalogue import WHAT_IFS, answer
from lib.whatif.model import Axis, Chart, Reference, Series

BUDGETS = (1e20, 1e21, 1e22, 1e23, 1e24)
FORTNIGHT = (
    ("peak of 128 A100s for 14 days", 4.830658560e22, "data sheet"),
    ("while it runs", 2.173796352e22, "MFU 0.45, assumed"),
    ("by the calendar", 1.9564167168e22, "goodput 0.90, assumed"),
)
COSINE = Schedule(kind="cosine", peak_lr=3e-4, min_lr=3e-5, total_steps=1e5, warmup_steps=1e3)
STABLE = replace(COSINE, kind="warmup-stable-decay", peak_lr=1.5e-4, min_lr=0.0, decay_steps=2e4)
SCHEDULES = (("cosine to a tenth", COSINE), ("stays at half the peak", STABLE))
TRADE = [(1 + share, 1 + 1 / share) for share in (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)]
DAYS = (("6 N", 14.0), ("6 N and the causal half of attention", 14.7), ("6 N and full attention", 15.4))


def a_chart(kind="line", **changes):
    sizes = np.geomspace(1e9, 1e11, 30)
    lines = tuple(
        Series(label=name, x=tuple(sizes), y=tuple(law(name).loss_at_budget(2.17e22, sizes)), kind=kind)
        for name in ("Hoffmann 2022", "Besiroglu 2024", "Hoffmann 2022, rounded")
    )
    parts = {
        "title": "The valley is flat.",
        "alt": 'Three valleys, "flat" <below>.',
        "x": Axis(label="model size N (parameters)", scale="log"),
        "y": Axis(label="loss (nats per token)"),
        "series": (*lines, Series(label="20 tokens per parameter", x=(13.46e9,), y=(2.2,), kind="points")),
        "references": (
            Reference(label="the choice, 13.46B", value=13.46e9),
            Reference(label="target", value=2.25, axis="y"),
        ),
    }
    return Chart(**(parts | changes))


PICTURES = {
    "chart": lambda: plots.chart_picture(a_chart()),
    "way": lambda: plots.way_of_a_plan("layout"),
    "way, several steps": lambda: plots.way_of_a_plan(("compute", "allocation", "architecture", "data")),
    "way, last step": lambda: plots.way_of_a_plan("review"),
    "matmul": plots.matmul_six,
    "matmul, other sizes": lambda: plots.matmul_six(n_tokens=3, d_in=7, d_out=2),
    "surface": lambda: plots.loss_surface(law("Besiroglu 2024"), BUDGETS, [("13.46B on 269B", 13.46e9, 269.2e9)]),
    "tokens per parameter": lambda: plots.tokens_per_param(LAWS.values(), runs=[("Chinchilla", 5.76e23, 20.0)]),
    "token flops": lambda: plots.token_flops(*counts.by_length(model("llama-3-8b"))),
    "valley": lambda: plots.valley([law("Hoffmann 2022"), law("Besiroglu 2024")], 2.17e22),
    "laws of every kind": lambda: plots.tokens_per_param(DENSE.values()),
    "regrets": lambda: plots.regrets(Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"])),
    "regrets, within the fits": lambda: plots.regrets(Ensemble(compute=1e21, laws=GROUPS["laws with a loss"])),
    "life costs": lambda: plots.life_costs(law("Besiroglu 2024"), 1.89e24, (0, 1e12, 1e13, 1e14)),
    "repeated": plots.repeated,
    "comparison": lambda: plots.compare(DAYS, "days", ("deadline", 14.0), marked="6 N"),
    "fortnight": lambda: plots.where_the_fortnight_goes(FORTNIGHT),
    "peak rates": lambda: plots.rates_by_size(COMPARABLE[:8], COMPARABLE[8:], fitted("peak_lr")),
    "missed": lambda: plots.missed(residuals("peak_lr", "size and tokens"), ("SmolLM", "DeepSeek", "GPT-3")),
    "schedules": lambda: plots.schedules(SCHEDULES),
    "batch trade": lambda: plots.batch_trade(TRADE, [("the critical batch", 2.0, 2.0), ("a tenth of it", 1.1, 11.0)]),
}

TABLE = suite("Cerebras-GPT", "Pythia", "GPT-NeoX")
ONE_BUDGET = isoflop_runs(law("Hoffmann 2022"), (1e20,), factor=8.0)
FITS = [("", fit_law(TABLE, n_starts=2), hold_out(TABLE, n_starts=2))]
forecasts = cache(lambda: recorded(read_logs(), n_resamples=100))
PICTURES |= {
    "loss against prediction": lambda: plots.loss_against_prediction(FITS),
    "loss against prediction, corpora": lambda: plots.loss_against_prediction(
        [("C4", *FITS[0][1:]), ("Pile", FITS[0][1], None)]
    ),
    "residuals": lambda: plots.residuals(FITS),
    "loss forecast": lambda: plots.loss_forecast(*forecasts()),
    "run plane": lambda: plots.run_plane([(name, suite(name)) for name in ("Cerebras-GPT", "Pythia")]),
    "parabola": lambda: plots.isoflop_parabola(
        law("Hoffmann 2022"), ONE_BUDGET, parabola(ONE_BUDGET.n_params, ONE_BUDGET.loss)
    ),
}
FORTNIGHT_RUN = PLANS[0].description
CLIMBED = evaluate(FORTNIGHT_RUN, made_up(FORTNIGHT_RUN, changed={"tensor_difference": 0.1}))
REVIEWS = [
    ("nothing", review(FORTNIGHT_RUN, {})),
    ("one", review(FORTNIGHT_RUN, {"stop": Statement(statement="done")})),
]
PICTURES |= {
    "ladder, nothing measured": lambda: plots.ladder(evaluate(FORTNIGHT_RUN)),
    "ladder, one rung failed": lambda: plots.ladder(CLIMBED),
    "states of a review": lambda: plots.review_states(REVIEWS),
}
PICTURES |= {
    f"what-if {name}": partial(plots.chart_picture, view.chart)
    for name in WHAT_IFS
    if (view := answer(name, {})).chart is not None
}


ALT = 'less < more & "so on"'


@cache
def shown(name):
    """A picture and what is written of it: axis labels find their place when it is written."""
    picture = PICTURES[name]()
    return picture, plots.to_svg(picture, label=ALT)


def drawn(name):
    return shown(name)[0]


def svg_of(name):
    return shown(name)[1]


@pytest.fixture(params=PICTURES)
def picture(request):
    return drawn(request.param)


def texts(picture):
    return [t for t in picture.findobj(Text) if t.get_text().strip() and t.get_visible()]


@cache
def places(picture):
    """Each text of a picture, its box, and points all over it, turned as the text is."""
    return [(text, text.get_window_extent(), spots(text)) for text in texts(picture)]


def spots(text):
    turn = text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(turn)
    anchor = text.get_transform().transform(text.get_position())
    across, up = np.meshgrid(np.linspace(box.x0, box.x1, 25), np.linspace(box.y0, box.y1, 3))
    x, y = across.ravel() - anchor[0], up.ravel() - anchor[1]
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return anchor[0] + x * cos - y * sin, anchor[1] + x * sin + y * cos


def overlap(a, b):
    (_, box, _), (_, _, (x, y)) = (a, b) if a[0].get_rotation() == 0 else (b, a)
    return ((box.x0 + 0.5 < x) & (x < box.x1 - 0.5) & (box.y0 + 1 < y) & (y < box.y1 - 1)).any()


def test_no_label_covers_another(picture):
    pairs = combinations(places(picture), 2)
    assert [(a[0].get_text(), b[0].get_text()) for a, b in pairs if overlap(a, b)] == []


def test_every_label_lies_inside_the_picture(picture):
    page = picture.bbox.padded(0.5)
    for text, _, (x, y) in places(picture):
        assert page.contains(x.min(), y.min()), text.get_text()
        assert page.contains(x.max(), y.max()), text.get_text()


def test_no_text_is_smaller_than_nine_points(picture):
    assert min(t.get_fontsize() for t in texts(picture)) >= 9


def test_axes_say_quantity_and_unit(picture):
    for axes in picture.axes:
        for label in (axes.get_xlabel(), axes.get_ylabel()):
            assert re.fullmatch(r".+ \(.+\)", label), label


def test_the_same_picture_gives_the_same_bytes():
    for name in PICTURES:
        assert svg_of(name) == plots.to_svg(PICTURES[name](), label=ALT)


def test_a_picture_takes_the_colour_of_the_text_around_it():
    for name in PICTURES:
        svg = svg_of(name)
        assert INK not in svg
        assert "currentColor" in svg
        assert not re.search(r"<style|<\?xml|<metadata", svg)


def test_a_picture_is_sound_xml_with_text_as_text():
    for name in PICTURES:
        root = ElementTree.fromstring(svg_of(name))
        assert root.get("aria-label") == ALT
        written = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert {line for t in texts(drawn(name)) for line in t.get_text().split("\n")} <= written


@cache
def others_ids():
    return set(re.findall(r' id="([^"]+)"', plots.to_svg(plots.chart_picture(a_chart(references=())))))


def test_ids_are_used_and_belong_to_one_picture():
    for name in PICTURES:
        svg = svg_of(name)
        ids = re.findall(r' id="([^"]+)"', svg)
        assert len(ids) == len(set(ids))
        assert set(ids) == set(re.findall(r'(?:href="#|url\(#)([\w-]+)', svg))
        assert not set(ids) & others_ids()


def test_a_picture_shows_itself_in_the_book_and_on_paper_elsewhere(monkeypatch):
    picture = plots.way_of_a_plan("compute")
    monkeypatch.setenv("HANDBOOK_BUILD", "1")
    assert "background" not in picture._repr_mimebundle_()[0]["image/svg+xml"]
    monkeypatch.delenv("HANDBOOK_BUILD")
    assert "background:#ffffff" in picture._repr_mimebundle_()[0]["image/svg+xml"]


def test_pictures_leave_pyplot_alone():
    code = "import sys; from lib import plots; plots.way_of_a_plan('data'); print('matplotlib.pyplot' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.strip() == "False"


@pytest.mark.parametrize("background", ["#ffffff", "#121212", "#14181e"])
@pytest.mark.parametrize("colour", plots.COLOURS)
def test_each_colour_stands_out_on_light_and_dark(colour, background):
    assert plots.contrast(colour, background) >= 3  # WCAG 2.2, criterion 1.4.11


def test_white_text_can_be_read_on_the_marked_step():
    assert plots.contrast(plots.COLOURS[0], "#ffffff") >= 4.5  # WCAG 2.2, criterion 1.4.3


def test_a_chart_draws_the_lines_and_points_that_it_was_given():
    chart = a_chart()
    (axes,) = plots.chart_picture(chart).axes
    for series, line in zip(chart.series, axes.lines, strict=False):
        assert tuple(line.get_xdata()) == series.x
        assert tuple(line.get_ydata()) == series.y
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "linear"


def test_a_chart_draws_its_reference_lines_and_names_everything():
    chart = a_chart()
    picture = plots.chart_picture(chart)
    vertical, horizontal = picture.axes[0].lines[-2:]
    assert set(vertical.get_xdata()) == {13.46e9}
    assert set(horizontal.get_ydata()) == {2.25}
    said = " ".join(t.get_text().replace("\n", " ") for t in texts(picture))
    assert all(named.label in said for named in (*chart.series, *chart.references))


def test_bars_are_as_high_as_their_values_and_start_at_zero():
    bars = Series(label="compute days", x=(1.0, 2.0, 3.0), y=(14.0, 15.0, 16.8), kind="bars")
    chart = a_chart(series=(bars,), references=(), x=Axis(label="convention (number)"), y=Axis(label="time (days)"))
    (axes,) = plots.chart_picture(chart).axes
    assert [bar.get_height() for bar in axes.patches] == [14.0, 15.0, 16.8]
    assert axes.get_ylim()[0] == 0


def test_a_chart_of_one_point_can_be_drawn():
    point = Series(label="the plan", x=(1.0,), y=(0.0,), kind="points")
    assert plots.draw_chart(a_chart(series=(point,), references=())).startswith("<svg")


def test_the_ridge_joins_the_optimum_of_each_budget():
    besiroglu = law("Besiroglu 2024")
    (axes,) = drawn("surface").axes
    ridge = next(line for line in axes.lines if len(line.get_xdata()) == len(BUDGETS))
    assert list(zip(*ridge.get_data(), strict=True)) == [besiroglu.optimum(compute) for compute in BUDGETS]


def test_each_isoloss_curve_touches_its_isoflop_line_and_never_goes_below():
    (axes,) = drawn("surface").axes
    besiroglu = law("Besiroglu 2024")
    for compute, curve in zip(BUDGETS, axes.lines, strict=False):
        n_params, n_tokens = map(np.asarray, curve.get_data())
        assert besiroglu.loss(n_params, n_tokens) == pytest.approx(besiroglu.optimal_loss(compute))
        assert (6 * n_params * n_tokens).min() == pytest.approx(compute, rel=5e-3)
        assert (6 * n_params * n_tokens >= compute * (1 - 1e-9)).all()


def test_the_fortnight_is_drawn_to_scale():
    bars = [bar for bar in drawn("fortnight").artists if bar.get_facecolor()[3] == 1]
    widths = [bar.get_width() for bar in bars]
    assert [w / widths[0] for w in widths] == pytest.approx([1, 0.45, 0.405])


def test_compared_bars_are_as_long_as_their_values_and_say_them():
    picture = drawn("comparison")
    *bars, limit = picture.artists
    assert [bar.get_width() / bars[0].get_width() for bar in bars] == pytest.approx([1, 14.7 / 14, 15.4 / 14])
    assert limit.get_x() + limit.get_width() / 2 == pytest.approx(bars[0].get_x() + bars[0].get_width())
    assert {"14 days", "14.7 days", "15.4 days"} <= {t.get_text() for t in texts(picture)}


def test_tokens_per_parameter_are_those_of_each_law():
    (axes,) = drawn("tokens per parameter").axes
    for published, line in zip(LAWS.values(), axes.lines, strict=False):
        assert line.get_ydata() == pytest.approx(published.tokens_per_param(np.asarray(line.get_xdata())))


def test_each_run_is_drawn_once_held_out_or_not():
    (axes,) = drawn("loss against prediction").axes
    _, inside, outside = axes.lines
    held = FITS[0][2]
    assert len(inside.get_xdata()) + len(outside.get_xdata()) == len(TABLE)
    assert list(outside.get_xdata()) == list(held.predicted)
    assert list(outside.get_ydata()) == list(held.held.loss)
    assert outside.get_markerfacecolor() == "none"


def test_residuals_are_those_of_the_fit_in_percent():
    (axes,) = drawn("residuals").axes
    _, inside, outside = axes.lines
    assert list(outside.get_ydata()) == pytest.approx([100 * error for error in FITS[0][2].errors])
    fit = FITS[0][1]
    held = set(FITS[0][2].held.places)
    wanted = [
        100 * (math.exp(r) - 1) for r, place in zip(fit.residuals, fit.runs.places, strict=True) if place not in held
    ]
    assert list(inside.get_ydata()) == pytest.approx(wanted)


def test_the_parabola_is_drawn_beside_the_law():
    (axes,) = drawn("parabola").axes
    curve, bowl, runs = axes.lines[:3]
    sizes = np.asarray(curve.get_xdata())
    assert curve.get_ydata() == pytest.approx(law("Hoffmann 2022").loss_at_budget(1e20, sizes))
    assert bowl.get_ydata() == pytest.approx(parabola(ONE_BUDGET.n_params, ONE_BUDGET.loss).at(sizes))
    assert tuple(runs.get_xdata()) == ONE_BUDGET.n_params


def test_the_valley_is_lowest_at_the_best_size():
    (axes,) = drawn("valley").axes
    for line in axes.lines[:2]:
        lowest = np.argmin(line.get_ydata())
        assert line.get_xdata()[lowest] == pytest.approx(1.0)
        assert line.get_ydata()[lowest] == pytest.approx(0.0, abs=1e-12)


def test_a_law_is_drawn_solid_where_it_was_fitted_and_dotted_beyond():
    (axes,) = drawn("tokens per parameter").axes
    whole, *parts = (line for line in axes.lines if line.get_color() == axes.lines[2].get_color())
    solid = next(line for line in parts if line.get_linestyle() == "-")
    besiroglu = list(LAWS.values())[2]
    inside = np.isfinite(solid.get_ydata())
    compute = np.asarray(whole.get_xdata())
    assert whole.get_linestyle() != "-"
    assert inside.tolist() == [bool(besiroglu.inside_range(*besiroglu.optimum(c))) for c in compute]


def test_least_regret_is_marked_where_the_highest_line_is_lowest():
    (axes,) = drawn("regrets").axes
    ensemble = Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"])
    (point,) = (line for line in axes.lines if line.get_marker() == "o")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (
        ensemble.least_regret.n_params,
        ensemble.least_regret.worst_nats,
    )


def test_the_least_cost_of_a_life_lies_on_its_line_and_below_all_of_it():
    (axes,) = drawn("life costs").axes
    (points,) = (line for line in axes.lines if line.get_marker() == "o")
    for place, use in enumerate((0, 1e12, 1e13, 1e14)):
        life = Lifetime(
            law=law("Besiroglu 2024"), target_loss=law("Besiroglu 2024").optimal_loss(1.89e24), inference_tokens=use
        )
        assert points.get_ydata()[place] == pytest.approx(life.total_flops / 1.89e24)
        assert axes.lines[place].get_ydata().min() >= points.get_ydata()[place] * (1 - 1e-9)


def test_a_batch_trade_marks_what_it_is_given():
    (axes,) = drawn("batch trade").axes
    curve, *marks = axes.lines[:3]
    assert list(zip(*curve.get_data(), strict=True)) == TRADE
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks] == [(2.0, 2.0), (1.1, 11.0)]


def test_schedules_are_drawn_as_parts_of_the_highest_peak():
    (axes,) = drawn("schedules").axes
    highest = [max(line.get_ydata()) for line in axes.lines[:2]]
    assert highest == pytest.approx([1.0, 0.5])
    assert all(line.get_xdata()[-1] == 100 for line in axes.lines[:2])


def test_what_a_fit_missed_is_drawn_for_every_run():
    (axes,) = drawn("missed").axes
    ratios = sorted(value for line in axes.lines[:4] for value in line.get_ydata())
    assert ratios == sorted(residual.ratio for residual in residuals("peak_lr", "size and tokens"))


def test_the_fortnight_refuses_a_stage_that_gains():
    with pytest.raises(ValueError, match=r"flop = 5e\+22: at most what the stage before has, 4e\+22"):
        plots.where_the_fortnight_goes([("peak", 4e22, "data sheet"), ("more", 5e22, "magic")])


def test_one_block_per_matrix_has_rows_times_columns_cells():
    n_tokens, d_in, d_out = 6, 4, 5
    cells = sum(patch.get_width() == patch.get_height() for patch in plots.matmul_six(n_tokens, d_in, d_out).artists)
    assert cells == 3 * (n_tokens * d_in + d_in * d_out + n_tokens * d_out)


def test_the_way_marks_the_steps_of_the_chapter():
    picture = plots.way_of_a_plan(("memory", "layout"))
    marked = [t.get_text() for t in texts(picture) if t.get_color() == "#ffffff"]
    assert marked == ["memory", "what each GPU holds", "layout", "who computes what"]
    assert sum(t.get_text() == "you are here" for t in texts(picture)) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.way_of_a_plan("cost benefit"), "here = 'cost benefit': one of brief, compute"),
        (lambda: plots.way_of_a_plan("computee"), "did you mean 'compute'"),
        (lambda: plots.matmul_six(n_tokens=0), "n_tokens = 0"),
        (lambda: plots.compare([("a", -1.0)], "days"), "value = -1:"),
        (lambda: plots.valley([law("Besiroglu 2024")], compute=0), "compute = 0"),
        (lambda: plots.tokens_per_param([law("Besiroglu 2024")], budgets=(0.0, 1e24)), "low = 0:"),
        (lambda: plots.loss_surface(law("Besiroglu 2024"), budgets=(1e20, -1e21)), "compute = -1e"),
    ],
)
def test_pictures_refuse_what_they_cannot_draw(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("low", "high", "scale"), [(0, 1, "linear"), (2.04, 2.24, "linear"), (1e18, 1e25, "log"), (2e9, 7e9, "log")]
)
def test_ticks_are_few_and_within(low, high, scale):
    found = ticks(low, high, scale)
    assert 2 <= len(found) <= 6
    assert low <= min(found)
    assert max(found) <= high
    assert len({tick_text(v) for v in found}) == len(found)


def test_labels_at_line_ends_keep_their_order_and_distance():
    centres = _spread([50, 51, 10, 52], [12, 12, 12, 24], 0, 100)
    gaps = [b - a for a, b in zip(sorted(centres), sorted(centres)[1:], strict=False)]
    assert min(gaps) >= 12
    assert [centres.index(c) for c in sorted(centres)] == [2, 0, 1, 3]


@pytest.mark.parametrize("label", ["cost ($) of $5 and $6", "$x^$", "$$", r"\\frac{1}{$", "<b>&amp;", "_a_%s{0}", ""])
def test_a_label_is_drawn_as_it_is_written(label):
    axes = {"x": Axis(label=label), "y": Axis(label=label, scale="log")}
    chart = Chart(title=label, alt=label, series=(Series(label=label, x=(1.0, 2.0), y=(1.0, 5.0)),), **axes)
    drawn = ElementTree.fromstring(plots.draw_chart(chart))
    texts = {"".join(element.itertext()) for element in drawn.iter() if element.tag.endswith("text")}
    assert label in texts | {""}


def stacked(kind):
    axes = {"x": Axis(label="pipeline stage"), "y": Axis(label="memory (GiB)")}
    series = tuple(
        Series(label=name, x=(0.0, 1.0), y=y, kind=kind) for name, y in (("states", (4.0, 3.0)), ("rest", (1.0, 5.0)))
    )
    return Chart(title="A pile.", alt="Two piles.", series=series, stacked=True, **axes)


@pytest.mark.parametrize("kind", ["bars", "line"])
def test_what_is_stacked_reaches_the_sum(kind):
    axes = plots.chart_picture(stacked(kind)).axes[0]
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_ylim()[1] > 8.0
    if kind == "bars":
        assert max(patch.get_y() + patch.get_height() for patch in axes.patches) == 8.0
        assert list(axes.get_xticks()) == [0.0, 1.0]


def test_only_what_is_alike_can_be_stacked():
    pile = stacked("bars")
    with pytest.raises(ValueError, match="stacked = True"):
        replace(pile, series=(pile.series[0], replace(pile.series[1], kind="line")))
    with pytest.raises(ValueError, match="stacked = True"):
        replace(pile, y=Axis(label="memory", scale="log"))

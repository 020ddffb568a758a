"""The what-ifs "recipe-by-scale" and "schedule": their numbers are the library's, their formulas give them."""

import re
from math import cos, floor, pi, sqrt

import pytest

from lib.recipe import Recipe, Setup, size_and_tokens
from lib.recipe.published_runs import COMPARABLE
from lib.recipe.schedules import KINDS
from lib.whatif.catalogue import RefusedError, answer

approx = pytest.approx
BUDGETS = (1e20, 1e22, 3e23, 2e25)
RECIPES = [{"compute": compute} for compute in BUDGETS]
RECIPES += [{"schedule": kind, "tokens_per_param": 200, "n_gpus": 256, "model_parallel": 8} for kind in KINDS]
SCHEDULES = [{"schedule": kind, "end_share": end} for kind in KINDS for end in (0.0, 0.1)]
SCHEDULES += [{"warmup_steps": 0}, {"warmup_steps": 5000, "steps": 12_000, "decay_share": 1.0}]


def row(view, label):
    return next(row for row in view.rows if row.label == label)


def computed(formula):
    """What a printed formula comes to; None where it is put in words."""
    sum_ = re.sub(r"(?<=\d),(?=\d)", "", formula.split("; ")[-1]).replace(" x ", " * ").replace("^", "**")
    if re.search(r"[a-zA-Z]", re.sub(r"sqrt|cos|pi|min|max|floor|[0-9.]e-?[0-9]", "", sum_)):
        return None
    return eval(sum_, {"sqrt": sqrt, "cos": cos, "pi": pi, "floor": floor})


@pytest.mark.parametrize(
    ("name", "settings"),
    [("recipe-by-scale", settings) for settings in RECIPES] + [("schedule", settings) for settings in SCHEDULES],
)
def test_a_formula_gives_the_number_beside_it(name, settings):
    rows = [row for row in answer(name, settings).rows if row.worked and not isinstance(row.value, str)]
    found = [(row, computed(row.worked)) for row in rows]
    checked = [(row, value) for row, value in found if value is not None]
    assert len(checked) >= 0.8 * len(found)
    for row_, value in checked:
        assert value == approx(row_.value, rel=6e-4, abs=1e-12), row_.worked


SHORT = {"compute": 1e20, "n_gpus": 1024, "seq_len": 65_536}  # a batch that the devices force, 272 steps
FEW = SHORT | {"n_gpus": 4096}  # 68 steps: a hundredth of them is none


def test_a_count_of_steps_is_what_its_formula_gives_to_the_last_digit():
    counts = ("steps", "warm-up", "decay", "ramp, if one is wanted: tokens a step at its start")
    for settings in [*RECIPES, SHORT, FEW, FEW | {"schedule": "warmup-stable-decay"}]:
        for row_ in (row for row in answer("recipe-by-scale", settings).rows if row.label in counts):
            assert computed(row_.worked) == row_.value


@pytest.mark.parametrize(("compute", "words"), [(1e18, "level below 125M"), (1e22, ""), (1e26, "level above 174.6B")])
def test_gpt3s_table_says_where_it_has_no_row(compute, words):
    said = row(answer("recipe-by-scale", {"compute": compute}), "by GPT-3's table").convention
    assert words in said
    assert ("level" in said) == bool(words)


def test_a_batch_that_the_devices_force_is_said():
    forced = next(c for c in answer("recipe-by-scale", SHORT).checks if c.label.startswith("all copies can share"))
    assert (forced.verdict, forced.margin) == ("fail", "they share 67.11M tokens or more, the law asks for 688.4K")
    usual = next(c for c in answer("recipe-by-scale", {}).checks if c.label.startswith("all copies can share"))
    assert usual.verdict == "pass"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"compute": 1e26}, "has more than 405.9B parameters"),
        ({"compute": 1e17}, "has fewer than 70.43M parameters"),
        ({"compute": 1e25, "tokens_per_param": 2000}, "has more than 15.6T tokens"),
        ({"compute": 1e18, "tokens_per_param": 1}, "has fewer than 2.221B tokens"),
    ],
)
def test_a_size_or_a_length_that_nobody_published_is_said_to_be_extrapolated(settings, words):
    notes = " ".join(answer("recipe-by-scale", settings).notes)
    assert words in notes
    assert "extrapolated" in notes
    assert "extrapolated" not in " ".join(answer("recipe-by-scale", {}).notes)


@pytest.mark.parametrize("compute", BUDGETS)
def test_the_view_shows_the_recipe_of_the_library(compute):
    view = answer("recipe-by-scale", {"compute": compute})
    recipe = Recipe(run=size_and_tokens(compute=compute), setup=Setup())
    assert row(view, "peak learning rate").value == recipe.peak_lr
    assert row(view, "tokens a step").value == recipe.batch_tokens
    assert row(view, "steps").value == recipe.steps
    assert row(view, "warm-up").value == recipe.warmup_steps
    assert [row(view, place).value.split(":")[0] for place in ("nearest", "second", "third")] == [
        run.name for run in recipe.neighbours
    ]


def test_every_number_says_where_it_comes_from():
    for settings in RECIPES:
        for row_ in answer("recipe-by-scale", settings).rows:
            assert row_.sources or row_.assumed or row_.worked, row_.label


def test_the_advice_that_the_seeds_plan_breaks_is_said():
    checks = {check.label: check for check in answer("recipe-by-scale", {"compute": 1e22}).checks}
    assert checks["warm-up, part of the steps (seed 001, medium scale)"].verdict == "fail"
    assert checks["width (seed 001, medium scale)"].verdict == "pass"
    assert checks["tensor-parallel devices (seed 001, medium scale)"].verdict == "undecided"
    between = answer("recipe-by-scale", {"compute": 3e21}).checks
    assert any(check.label.endswith("(seed 001, small scale, the nearest)") for check in between)


def test_the_chart_holds_every_comparable_run():
    chart = answer("recipe-by-scale", {}).chart
    runs = next(series for series in chart.series if series.label == "published runs")
    assert len(runs.x) == len(COMPARABLE)


def test_beyond_the_largest_run_it_says_so():
    assert not any("extrapolated" in note for note in answer("recipe-by-scale", {"compute": 1e22}).notes)
    assert any("extrapolated" in note for note in answer("recipe-by-scale", {"compute": 1e26}).notes)


@pytest.mark.parametrize(
    ("settings", "control"),
    [
        ({"model_parallel": 3}, "model_parallel"),
        ({"compute": 1e9}, "compute"),
        ({"tokens_per_param": 0}, "tokens_per_param"),
    ],
)
def test_what_has_no_recipe_is_refused_by_its_control(settings, control):
    with pytest.raises(RefusedError) as refused:
        answer("recipe-by-scale", settings)
    assert refused.value.control in (control, None)
    assert str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_peak_of_equal_mean_has_the_mean_of_a_cosine(kind):
    view = answer("schedule", {"schedule": kind})
    mean, usual, matched = (
        row(view, label).value
        for label in ("mean rate over peak", "that of a cosine to a tenth", "peak with the mean of that cosine")
    )
    assert matched * mean == approx(3e-4 * usual)


def test_a_warm_up_longer_than_the_run_is_refused():
    with pytest.raises(RefusedError, match=r"warmup_steps = 5,000: fewer than the 2,000 of the run") as refused:
        answer("schedule", {"warmup_steps": 5000, "steps": 2000})
    assert refused.value.control == "warmup_steps"


def test_only_a_schedule_that_stays_at_its_peak_leaves_the_length_open():
    verdicts = {kind: answer("schedule", {"schedule": kind}).checks[-1].verdict for kind in KINDS}
    assert verdicts == {
        "cosine": "fail",
        "linear": "fail",
        "warmup-stable-decay": "pass",
        "warmup-stable-decay, 1-sqrt": "pass",
    }


@pytest.mark.parametrize("peak", [3e-4, 9.71e-5, 0.01])
def test_a_rate_that_never_falls_is_answered_whatever_its_peak(peak):
    for kind in KINDS:
        settings = {"schedule": kind, "peak_lr": peak, "warmup_steps": 20_000, "end_share": 1.0}
        assert row(answer("schedule", settings), "at the end").value == approx(peak)

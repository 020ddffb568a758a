"""The what-if of which runs to buy: its verdicts, its sum, and what it refuses."""

import pytest

from lib.runs.identifiability import condition_number
from lib.scaling import law
from lib.whatif.catalogue import RefusedError, answer

GRID = {"n_sizes": 3, "largest": 1e9, "size_span": 100.0, "n_ratios": 3, "middle_ratio": 20.0, "ratio_span": 100.0}


def rows(**settings):
    return {row.label: row.value for row in answer("run-design", GRID | settings).rows}


def test_the_start_follows_one_ratio_and_is_refused():
    view = answer("run-design", {})
    assert view.checks[0].passed is False
    assert "cannot tell the five constants apart" in view.checks[0].margin
    assert "no law can be fitted" in view.title


def test_a_grid_of_nine_is_enough_and_its_number_is_that_of_the_design():
    view = answer("run-design", GRID)
    assert view.checks[0].passed is True
    sizes = [n for n in (1e7, 1e8, 1e9) for _ in range(3)]
    tokens = [n * ratio for n in (1e7, 1e8, 1e9) for ratio in (2, 20, 200)]
    assert rows()["condition number"] == pytest.approx(condition_number(sizes, tokens, law("Besiroglu 2024")))
    assert rows()["runs"] == 9
    assert rows()["compute of all runs"] == pytest.approx(6 * sum(n * d for n, d in zip(sizes, tokens, strict=True)))
    assert rows()["largest run"] == pytest.approx(6 * 1e9 * 2e11)


@pytest.mark.parametrize("settings", [{"n_sizes": 2}, {"n_sizes": 1, "n_ratios": 6}, {"size_span": 1.0}])
def test_fewer_than_three_sizes_are_refused_by_their_number(settings):
    (found,) = answer("run-design", GRID | settings).checks
    assert "different size" in found.margin


def test_narrow_spans_are_a_warning():
    view = answer("run-design", GRID | {"size_span": 4.0, "ratio_span": 2.0})
    assert view.checks[0].passed is False
    assert "shaky" in view.title


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_sizes": 13}, "n_sizes = 13: at most 12"),
        ({"n_ratios": 2.5}, "n_ratios = 2.5: a whole number"),
        ({"size_span": 0.5}, "size_span = 0.5: 1 or more"),
        ({"ratio_span": 0.5}, "ratio_span = 0.5: 1 or more"),
        ({"largest": 0}, "largest = 0"),
    ],
)
def test_what_is_no_design_is_refused(settings, message):
    with pytest.raises(RefusedError, match=f"^{message}"):
        answer("run-design", GRID | settings)


def test_one_run_is_one_run():
    found = answer("run-design", GRID | {"n_sizes": 1, "n_ratios": 1})
    assert found.title.startswith("1 run for 1.2e20 FLOP")  # 6 x 1e9 x 2e10: the one size is the largest
    assert found.chart.alt.startswith("1 planned run, tokens")

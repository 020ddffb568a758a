"""The what-if "allocation": its numbers, its words, its refusals."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.scaling import LAWS, law
from lib.whatif.catalogue import RefusedError, solve
from lib.whatif.scaling import WHAT_IFS, allocation_view


def values(view):
    return {(row.group, row.label): row.value for row in view.rows}


def value(view, label):
    return next(row.value for row in view.rows if row.label == label)


def test_it_starts_with_the_a100_plans_budget_and_size():
    view = solve("allocation").view
    assert value(view, "your size") == pytest.approx(13.46e9, rel=1e-4)  # seed document 000
    assert value(view, "tokens it can see") == pytest.approx(269.2e9, rel=1e-4)
    assert values(view)["Your size, at the same budget", "tokens per parameter"] == pytest.approx(20)


def test_at_the_start_hoffmanns_own_constants_want_a_smaller_model_than_20_to_1():
    view = solve("allocation").view
    assert value(view, "parameters") == pytest.approx(9.04e9, rel=1e-3)
    assert value(view, "above the least loss by") == pytest.approx(0.0028, abs=5e-5)


def test_the_month_of_seed_003():
    view = solve("allocation", {"compute": "2.1000093696e24", "law": "seed 003", "n_params": "70,553,706,496"}).view
    assert value(view, "parameters") == pytest.approx(140376745450.94055, rel=1e-9)
    assert values(view)["Your size, at the same budget", "loss"] == pytest.approx(1.9479125877408627, rel=1e-9)
    assert value(view, "twice the best size costs") == pytest.approx(0.004, abs=5e-4)


def test_the_other_laws_stand_beside_the_chosen_one():
    view = solve("allocation", {"compute": "1e21", "law": "besiroglu"}).view
    beside = {row.label: row.value for row in view.rows if row.group == "Other laws at this budget"}
    assert set(beside) == {"20 tokens per parameter, always", *LAWS} - {"Besiroglu 2024"}
    assert beside["Hoffmann 2022"] == pytest.approx(33.9, abs=0.05)
    assert beside["Hoffmann 2022, rounded"] == pytest.approx(50.1, abs=0.05)


def test_every_number_unfolds_to_a_formula_and_a_source():
    for row in solve("allocation").view.rows:
        assert row.worked or row.assumed, row.label
        assert row.sources, row.label


def test_losses_show_the_decimals_in_which_laws_differ():
    view = solve("allocation").view
    losses = [row.text for row in view.rows if row.label == "loss"]
    assert losses == ["2.0672 nats per token", "2.0700 nats per token"]


def test_beyond_the_fitted_runs_it_says_so():
    far = solve("allocation", {"compute": "1e24"}).view.notes
    assert far[0].startswith("At the best size this law is extrapolated")
    assert far[1] == "Extrapolated at their own best size: 5 of the 6 other laws."
    assert not any("extrapolated" in note for note in solve("allocation", {"compute": "1e21"}).view.notes)


@given(st.floats(1e17, 1e28), st.sampled_from(tuple(LAWS)), st.floats(1e7, 1e13))
def test_the_charts_curve_is_never_below_the_marked_best(compute, name, n_params):
    chart = allocation_view(compute=compute, law=name, n_params=n_params).chart
    curve, best, given_size = chart.series
    assert len(curve.x) <= 60
    assert min(curve.y) >= best.y[0] - 1e-12
    assert given_size.y[0] >= best.y[0] - 1e-12
    assert curve.x[0] <= given_size.x[0] * (1 + 1e-9)
    assert given_size.x[0] <= curve.x[-1] * (1 + 1e-9)


@given(st.floats(1e17, 1e28), st.sampled_from(tuple(LAWS)))
def test_its_best_size_is_the_laws(compute, name):
    assert value(allocation_view(compute=compute, law=name), "parameters") == law(name).optimum(compute)[0]


def test_its_answer_is_plain_data():
    json.dumps(solve("allocation").to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("settings", "at_fault"),
    [
        ({"compute": 0}, "compute"),
        ({"compute": "-1e21"}, "compute"),
        ({"n_params": "0"}, "n_params"),
        ({"law": "kaplan"}, "law"),
        ({"compute": "lots"}, "compute"),
    ],
)
def test_a_refusal_names_the_control(settings, at_fault):
    with pytest.raises(RefusedError) as refused:
        solve("allocation", settings)
    assert refused.value.control == at_fault


def test_what_people_type_for_a_control_gets_did_you_mean():
    with pytest.raises(RefusedError, match="did you mean 'compute'"):
        solve("allocation", {"budget": "1e22"})
    with pytest.raises(RefusedError, match="did you mean 'n_params'"):
        solve("allocation", {"params": "7B"})


def test_its_name_is_the_chapters():
    assert [what_if.name for what_if in WHAT_IFS] == ["allocation"]

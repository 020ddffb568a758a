"""The what-if "law-explorer": its numbers are those of `lib`, and every stretch of a law is said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.scaling import LAWS, law
from lib.scaling.ensemble import DENSE, GROUPS, Ensemble
from lib.scaling.moe_laws import moe_law
from lib.scaling.overtraining import Lifetime
from lib.scaling.repeated_data import DataLimitedLaw
from lib.whatif.catalogue import RefusedError, solve
from lib.whatif.law_explorer import explorer_view

LAW_NAMES = (*LAWS, "Ludziejewski 2025")


def ask(**given_settings):
    return solve("law-explorer", given_settings).view


def value(view, label):
    (row,) = [row for row in view.rows if row.label == label]
    return row.value


def test_the_months_budget_wants_133_billion_parameters_and_use_halves_them():
    view = ask()
    besiroglu = law("Besiroglu 2024")
    assert value(view, "parameters") == besiroglu.optimum(1.89e24)[0]
    assert value(view, "parameters for use") == pytest.approx(72.2e9, rel=1e-3)
    assert value(view, "size, times the cheapest to train") == pytest.approx(0.544, abs=5e-4)


def test_use_at_hoffmanns_constants():
    # 13 billion on 617 billion tokens, then 1 trillion in use: fits.json of the reference cases
    view = ask(compute="4.815915e22", law="hoffmann", inference_tokens="1T")
    assert value(view, "parameters for use") == pytest.approx(8482049000.0, rel=1e-5)
    assert value(view, "training tokens for use") == pytest.approx(1010306000000.0, rel=1e-5)
    assert value(view, "saved over its whole life") == pytest.approx(0.07791676, rel=1e-4)


def test_scarce_text_at_muennighoffs_constants():
    view = ask(compute="1e22", law="muennighoff", unique_tokens="25B")
    assert value(view, "parameters on that text") == pytest.approx(7026159000.0, rel=1e-6)
    assert value(view, "tokens read") == pytest.approx(237208800000.0, rel=1e-6)
    assert value(view, "passes") == pytest.approx(9.4883515, rel=1e-6)


def test_the_spread_at_1e21_is_from_2_8_to_50_tokens_a_parameter():
    view = ask(compute="1e21")
    assert value(view, "fewest tokens per parameter") == pytest.approx(2.8, abs=0.05)
    assert value(view, "most tokens per parameter") == pytest.approx(50.1, abs=0.05)
    assert {row.label for row in view.rows if row.group == "Each law at this budget"} == set(DENSE)


def test_eight_experts_by_the_joint_law():
    view = ask(compute="1e20", law="moe", n_experts=8)
    assert value(view, "parameters") == pytest.approx(990e6, rel=0.01)  # Ludziejewski et al. 2025, Table 1
    assert value(view, "tokens") == pytest.approx(17e9, rel=0.02)


def test_a_dense_law_asked_about_a_mixture_says_that_it_was_not_fitted_for_one():
    notes = " ".join(ask(n_experts=8).notes)
    assert "Besiroglu 2024 here: not fitted for mixtures of experts; extrapolated" in notes
    assert "The laws beside it are of dense models" in notes
    assert "not fitted" not in " ".join(ask(compute="1e20", law="joint").notes)
    assert "32 experts were the most" in " ".join(ask(compute="1e20", law="joint", n_experts=64).notes)


def test_beyond_the_fitted_runs_notes_and_chart_say_so_and_within_they_do_not():
    far, near = ask(), ask(compute="1e21")
    assert any("extrapolated: 150 times" in note for note in far.notes)
    assert "extrapolated: 150 times" in far.chart.title
    assert not any(note.startswith("Besiroglu 2024 here") for note in near.notes)
    assert "extrapolated" not in near.chart.title
    assert "Extrapolated here: 2 of the 14 laws beside it." in near.notes
    assert "Extrapolated here: 12 of the 14 laws beside it." in far.notes


def test_use_that_leads_beyond_the_fitted_runs_is_said_also_where_the_best_size_lies_among_them():
    assert any("for use: extrapolated" in note for note in ask(compute="1e21", inference_tokens="1e14").notes)
    used = next(row for row in ask(compute="1e21", inference_tokens="1e14").rows if row.label == "parameters for use")
    assert used.convention.startswith("extrapolated: ")
    assert not any("for use" in note for note in ask(compute="1e21", inference_tokens="0").notes)


def test_every_number_unfolds_to_a_formula_and_a_source():
    for view in (ask(), ask(law="moe", n_experts=4, compute="1e20")):
        for row in view.rows:
            assert row.worked, row.label
            assert row.sources, row.label
            assert row.convention, row.label


def test_laws_without_a_loss_leave_no_regret_to_show():
    labels = [row.label for row in ask(beside="laws with a loss").rows]
    assert "size of least regret" in labels


def test_with_text_enough_nothing_is_repeated():
    view = ask(unique_tokens="50T")
    assert value(view, "passes") < 1
    assert value(view, "lost to repeating") == 0
    assert len(view.chart.series) == 2


def test_a_model_that_is_not_used_is_the_cheapest_to_train():
    view = ask(inference_tokens=0)
    assert value(view, "parameters for use") == pytest.approx(value(view, "parameters"), rel=1e-6)
    assert value(view, "saved over its whole life") == pytest.approx(0.0, abs=1e-9)


@given(
    st.floats(1e18, 1e27),
    st.sampled_from(LAW_NAMES),
    st.sampled_from(tuple(GROUPS)),
    st.floats(0, 1e16),
    st.floats(1e9, 1e15),
    st.integers(1, 64),
)
def test_whatever_is_asked_its_numbers_are_the_librarys(compute, name, beside, use, unique, n_experts):
    view = explorer_view(compute, name, beside, use, unique, n_experts)
    chosen = law(name) if name in LAWS else moe_law(name).at(n_experts)
    life = Lifetime(law=chosen, target_loss=chosen.optimal_loss(compute), inference_tokens=use)
    assert value(view, "parameters for use") == life.n_params
    limited = DataLimitedLaw(law=chosen, unique_tokens=unique)
    assert value(view, "parameters on that text") == limited.optimum(compute)[0]
    ensemble = Ensemble(compute=compute, laws=GROUPS[beside])
    assert value(view, "size of least regret") == ensemble.least_regret.n_params
    curve, best = view.chart.series[0], next(s for s in view.chart.series if s.label == "best size")
    assert min(curve.y) >= best.y[0] - 1e-9
    json.dumps(view.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("setting", "bad"),
    [
        ("compute", 0),
        ("inference_tokens", -1),
        ("unique_tokens", "0"),
        ("n_experts", 2.5),
        ("n_experts", 0),
        ("law", "kaplan"),
        ("beside", "no law"),
    ],
)
def test_a_refusal_names_the_control(setting, bad):
    with pytest.raises(RefusedError) as refused:
        ask(**{setting: bad})
    assert refused.value.control == setting


def test_what_people_type_gets_did_you_mean():
    for typed, meant in (("budget", "compute"), ("experts", "n_experts"), ("inference", "inference_tokens")):
        with pytest.raises(RefusedError, match=f"did you mean '{meant}'"):
            ask(**{typed: "1e12"})

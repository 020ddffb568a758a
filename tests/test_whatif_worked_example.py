"""The what-if "worked-example": the four steps of seed document 000, and any other cluster."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.corpus import CORPORA
from lib.hardware import ACCELERATORS
from lib.whatif.catalogue import RefusedError, solve


def rows(settings=None):
    return {row.label: row for row in solve("worked-example", settings).view.rows}


def test_it_starts_with_the_seeds_figures():
    found = rows()
    assert found["useful FLOP/s of one GPU"].value == pytest.approx(140.4e12)  # seed document 000: 140.4 TFLOPS
    assert found["compute budget"].value == pytest.approx(2.173796352e22, rel=1e-12)  # 2.17e+22
    assert found["parameters"].value == pytest.approx(13459186305.271206, rel=1e-12)  # 13.46B
    assert found["tokens"].value == pytest.approx(269183726105.42413, rel=1e-12)  # 269.2B


def test_it_corrects_the_passes_over_the_pile():
    assert rows()["passes over The Pile"].value == pytest.approx(1.04, abs=0.005)  # the seed: 0.33
    weighted = rows({"corpus": "weighted pile"})
    assert weighted["passes over The Pile, weighted"].value == pytest.approx(0.68, abs=0.005)


def test_its_shapes_are_of_the_size_that_the_budget_asks_for():
    view = solve("worked-example").view
    assert [item.verdict for item in view.checks] == ["fail", "pass"]  # one pass is not quite enough; shape within 1%
    assert rows()["shape 1: layers x width, d_ff"].value.startswith("40 x 5,120")


def test_days_stand_as_compute_days_as_calendar_days_and_under_other_counts():
    found = rows()
    assert found["days on the calendar"].value == pytest.approx(14 / 0.9)
    causal = found["compute days if the MFU counts its causal half"].value
    assert 14 < causal < found["compute days if the MFU counts full attention"].value


def test_it_answers_for_every_accelerator():
    for name in ACCELERATORS:
        found = rows({"accelerator": name})
        assert found["compute budget"].value > 0


def test_a_chip_without_bf16_counts_with_fp16_and_says_so():
    view = solve("worked-example", {"accelerator": "v100"}).view
    assert "has no bf16" in view.notes[0]


def test_what_a_user_would_type_first_works():
    answer = solve("worked-example", {"accelerator": "h100", "n_gpus": "2,048", "days": "30 days", "mfu": "40%"})
    assert answer.values["accelerator"] == "H100 SXM"
    assert answer.values["days"] == 30
    assert answer.values["mfu"] == 0.4


def test_every_number_unfolds():
    for row in rows().values():
        assert row.formula, row.label
        assert row.sources, row.label


def test_its_answer_is_plain_data():
    json.dumps(solve("worked-example").to_dict(), allow_nan=False)


def test_a_tiny_budget_gets_an_answer_whose_check_fails():
    view = solve("worked-example", {"n_gpus": 1, "days": "0.01"}).view
    assert [item.passed for item in view.checks] == [True, False]


@pytest.mark.parametrize(
    ("settings", "at_fault", "words"),
    [
        ({"mfu": "45"}, "mfu", "45% is written 0.45"),
        ({"n_gpus": "1.5"}, "n_gpus", "a whole number"),
        ({"days": "-1"}, "days", "above 0"),
        ({"accelerator": "h10"}, "accelerator", "did you mean"),
        ({"corpus": "finweb"}, "corpus", "did you mean 'FineWeb'"),
    ],
)
def test_a_refusal_names_the_control(settings, at_fault, words):
    with pytest.raises(RefusedError, match=words) as refused:
        solve("worked-example", settings)
    assert refused.value.control == at_fault


def test_gpus_gets_did_you_mean_n_gpus():
    with pytest.raises(RefusedError, match="did you mean 'n_gpus'"):
        solve("worked-example", {"gpus": 128})


@given(
    n_gpus=st.integers(1, 16_384),
    days=st.floats(1, 120),
    mfu=st.floats(0.05, 0.7),
    name=st.sampled_from(list(ACCELERATORS)),
    source=st.sampled_from(list(CORPORA)),
)
def test_its_parts_make_up_its_whole(n_gpus, days, mfu, name, source):
    settings = {"n_gpus": n_gpus, "days": days, "mfu": mfu, "accelerator": name, "corpus": source}
    view = solve("worked-example", settings).view
    found = {row.label: row.value for row in view.rows}
    budget, passes = found["compute budget"], found[f"passes over {source}"]
    assert budget == pytest.approx(n_gpus * days * 86_400 * found["useful FLOP/s of one GPU"], rel=1e-12)
    assert budget == pytest.approx(6 * found["parameters"] * found["tokens"], rel=1e-12)
    assert found["tokens"] == pytest.approx(passes * found[f"tokens in {source}"], rel=1e-12)
    assert found["tokens"] == pytest.approx(20 * found["parameters"], rel=1e-12)
    assert view.checks[0].passed == (found["tokens"] <= found[f"tokens in {source}"])

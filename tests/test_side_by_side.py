"""Laws, runs and sizes beside each other."""

import pytest

from lib.plan import A100_FORTNIGHT, H100_MONTH
from lib.scaling import side_by_side
from lib.scaling.ensemble import DENSE, GROUPS


def test_every_law_and_the_rule_of_20_have_a_row_and_say_how_far_they_are_stretched():
    rows = {row[0]: row for row in side_by_side.laws(5.76e23).rows}
    assert set(rows) == set(DENSE)
    assert rows["20 tokens per parameter"][3] == "20"
    assert rows["Hoffmann 2022, rounded"][3] == "92.65"
    assert rows["Besiroglu 2024"][-1] == "44 x the largest fitted run"
    assert rows["Hoffmann 2022, approach 1"][-1] == "6.7 x the largest fitted model"


def test_laws_stand_in_the_order_of_their_ratio():
    ratios = [float(row[3]) for row in side_by_side.laws(1e21).rows]
    assert ratios == sorted(ratios)


def test_a_table_of_some_laws_has_those():
    first, *_ = side_by_side.laws(1e21, GROUPS["laws with a loss"]).rows
    assert first[0] == "Gadre 2024, RedPajama"


def test_what_stands_behind_each_law_is_in_its_card():
    cards = {row[0]: row for row in side_by_side.cards().rows}
    assert set(cards) < set(DENSE)
    assert {law.origin.corpus for law in DENSE.values()} - {"any"} == {DENSE[name].origin.corpus for name in cards}
    assert cards["Llama 3 2024"][1] == "tokens"
    assert cards["DeepSeek 2024"][1] == "FLOPs a token"
    assert cards["Besiroglu 2024"][1] == "loss"
    assert cards["Kaplan 2020"][-1] == "768 to 1.5B parameters"
    assert cards["Muennighoff 2023"][-1] == "not printed"
    assert "C4" in cards["Gadre 2024, C4"][3]


def test_no_table_of_sizes_or_runs_hides_that_its_law_is_extrapolated():
    assert "extrapolated: 160 times" in side_by_side.sizes(H100_MONTH, ["llama-3-8b"]).caption
    assert "x the largest fitted run" in next(r for r in side_by_side.runs("besiroglu").rows if r[0] == "GPT-3")[-1]


def test_porians_corrections_end_at_half():
    # Porian et al. 2024: from 0.835 to 0.497
    assert [row[1] for row in side_by_side.corrections().rows] == ["0.835", "0.706", "0.602", "0.571", "0.497"]


def test_the_head_is_most_of_the_work_in_a_small_model_and_little_in_a_large_one():
    shares = {row[0]: row[2] for row in side_by_side.heads(["pythia-70m", "gpt-2", "llama-3-70b"]).rows}
    assert shares["Pythia 70M"] == "58%"  # 512 x 50,304 of 44.7 million weights
    assert shares["Llama 3 70B"] == "2%"


def test_the_seeds_three_sizes_against_its_target():
    rows = side_by_side.sizes(H100_MONTH, ["llama-3-8b", "llama-3-70b", "llama-3-405b"]).rows
    assert [row[1] for row in rows] == ["2.0135", "1.9479", "1.9532"]  # seed document 003
    assert [row[2] for row in rows] == ["missed", "undecided", "undecided"]
    assert rows[0][-1] == "1.9923"  # the floor of the 8B


def test_a_brief_without_a_loss_target_is_refused():
    with pytest.raises(ValueError, match="loss_at_most"):
        side_by_side.sizes(A100_FORTNIGHT, ["llama-3-8b"])


def test_chinchilla_is_near_the_best_size_of_its_refit():
    row = next(row for row in side_by_side.runs("besiroglu").rows if row[0] == "Chinchilla")
    assert row[3] == "0.96"

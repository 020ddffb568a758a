"""Tables of what moves a size: they show what `lib` computes, and how far its law is stretched."""

import pytest

from lib.scaling import law, trade_offs
from lib.scaling.allocations import PUBLISHED
from lib.scaling.ensemble import GROUPS, Ensemble


def test_the_worst_regret_is_the_largest_of_its_column():
    ensemble = Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"])
    *laws, worst, _ = trade_offs.regrets(ensemble, {"70B": 70.55e9, "140B": 140e9}).rows
    for column in (1, 2):
        assert worst[column] == max(row[column] for row in laws)


def test_every_table_says_how_far_its_law_is_stretched():
    near, far = trade_offs.lifetimes(law("besiroglu"), 1e21, [0.0, 1e14]).rows  # only the use leads beyond the runs
    assert near[-1] == "within the fitted range"
    assert far[-1] == "1.1 x the largest fitted run"
    assert trade_offs.scarce(law("muennighoff"), 1e22, [1e10]).rows[0][-1] == "range of the fit not printed"
    borrowed = trade_offs.scarce(law("besiroglu"), 1e22, [1e10]).rows[0][-1]
    assert "the discount for repeating was fitted with Muennighoff's law" in borrowed
    judges = Ensemble(compute=2.1e24, laws=GROUPS["laws with a loss"])
    reaches = [row[-1] for row in trade_offs.regrets(judges, {"70B": 70e9}).rows]
    assert reaches[2] == "160 x the largest fitted run"
    assert reaches[4] == "range of the fit not printed"
    assert trade_offs.uses(law("besiroglu")).rows[0][-1] == "24 x the largest fitted run"
    assert [row[-1] for row in trade_offs.experts(1e20, [1, 8]).rows] == ["within the fitted range"] * 2
    assert "32 experts were the most" in trade_offs.experts(1e20, [64]).rows[0][-1]


def test_without_use_the_cheapest_model_to_train_is_the_cheapest():
    assert trade_offs.lifetimes(law("besiroglu"), 1e22, [0.0]).rows[0][3:-1] == ("1.00", "1.00", "1.00", "0.0%")


def test_four_passes_are_worth_3_726():
    assert [row[1] for row in trade_offs.passes([1, 4, 16]).rows] == ["1.000", "3.726", "10.582"]


def test_ten_billion_unique_tokens_at_1e22():
    (row,) = trade_offs.scarce(law("muennighoff"), 1e22, [1e10]).rows
    assert row[:4] == ("10B", "6.126B", "272.1B", "27.21")  # by another method: 6,125,503,000 and 27.20865 passes


def test_no_use_justifies_gpt3_and_much_use_llama_3_8b():
    uses = {row[0]: row for row in trade_offs.uses(law("Besiroglu 2024")).rows}
    assert set(uses) == set(PUBLISHED)
    assert uses["GPT-3"][2:4] == ("none", "none")
    assert float(uses["Llama 3 8B"][3]) == pytest.approx(12.6, abs=0.1)


def test_eight_experts_need_six_tenths_of_the_compute_at_1e20():
    # Ludziejewski et al. 2025, Figure 2 (b)
    shares = [row[4] for row in trade_offs.experts(1e20, [1, 8]).rows]
    assert shares == ["100%", "60%"]

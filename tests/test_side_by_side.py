"""Laws, runs and sizes beside each other."""

import pytest

from lib import side_by_side
from lib.plan import A100_FORTNIGHT, H100_MONTH


def test_every_law_and_the_rule_of_20_have_a_row():
    table = side_by_side.laws(5.76e23)
    assert [row[0] for row in table.rows][-1] == "always 20 to one"
    assert {row[0]: row[3] for row in table.rows}["Hoffmann 2022, rounded"] == "92.65"  # laws differ by 5 times


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

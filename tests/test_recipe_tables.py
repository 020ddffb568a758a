"""Tables of recipes: their cells are the library's numbers."""

import pytest

from lib.recipe import Recipe, size_and_tokens
from lib.recipe import tables as recipe_tables
from lib.recipe.held_out import CHOSEN, median_error, residuals, rules
from lib.recipe.published_runs import COMPARABLE

OWN = {"GPT-3's table": "GPT-3", "DeepSeek's law": "DeepSeek"}


@pytest.mark.parametrize("quantity", ["peak_lr", "global_batch_tokens"])
def test_every_rule_has_a_row_with_its_errors(quantity):
    rows = {row[0]: row[1:] for row in recipe_tables.errors(quantity).rows}
    assert set(rows) == set(rules(quantity))
    for rule, cells in rows.items():
        assert cells[:2] == (
            f"{median_error(quantity, rule, without=OWN.get(rule, '')):.0%}",
            f"{median_error(quantity, rule, 'lineage', OWN.get(rule, '')):.0%}",
        )


def test_every_family_has_a_row_and_its_runs_are_counted():
    rows = recipe_tables.families().rows
    assert [row[0] for row in rows] == list(dict.fromkeys(run.family for run in COMPARABLE))
    assert sum(int(row[1]) for row in rows) == len(residuals("peak_lr", CHOSEN))


def test_one_run_under_every_rule():
    recipe = Recipe(run=size_and_tokens(compute=1e22))
    rows = {row[0]: row for row in recipe_tables.rates(recipe).rows}
    assert rows["fit to published runs"][1:] == ("1.67e-4", "1.00", "26%")
    assert set(rows) == {"fit to published runs", *recipe.rival_lrs}


def test_a_recipe_stands_beside_the_three_runs_nearest_to_it():
    recipe = Recipe(run=size_and_tokens(compute=1e22))
    own, *others = recipe_tables.beside(recipe).rows
    assert own == ("this recipe", "9.129B", "182.6B", "1.7e-4", "1.00", "2.097M", "cosine")
    assert [row[4] for row in others] == [f"{run.peak_lr / 1.7e-4:.2f}" for run in recipe.neighbours]
    assert [row[0] for row in others] == [run.name for run in recipe.neighbours]

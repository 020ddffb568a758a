"""The tables of the fitting chapter say what was computed, with what must be said beside it."""

from itertools import product

import pytest

from lib.fit import bootstrap, fit_law, hold_out, tables
from lib.runs import of_law, published
from lib.runs.identifiability import same_losses
from lib.scaling import law
from lib.scaling.refits import REFITS, refit

SIZES, TOKENS = zip(*product((3e7, 1e8, 4e8, 2e9), (1e9, 8e9, 6e10, 5e11)), strict=True)
RUNS = of_law(law("Besiroglu 2024"), SIZES, TOKENS, noise=0.003)


@pytest.fixture(scope="module")
def resampled():
    return bootstrap(fit_law(RUNS, n_starts=5), n_resamples=10, n_starts=1)


def test_designs_stand_beside_each_other_with_their_verdicts():
    rows = tables.designs([(name, published(name)) for name in ("Cerebras-GPT", "Pythia")]).rows
    assert rows == (
        ("Cerebras-GPT", "7", "7", "7", "319,000", "refuse"),
        ("Pythia", "8", "8", "1", "infinite", "refuse"),
    )


def test_constants_stand_beside_the_truth(resampled):
    table = tables.constants(resampled, law("Besiroglu 2024"))
    assert table.head == ("constant", "fitted", "middle 80% of refits", "true")
    assert [row[3] for row in table.rows] == ["1.8172", "482", "2,085", "0.3478", "0.3658"]
    assert tables.constants(resampled).head == ("constant", "fitted", "middle 80% of refits")


def test_the_optimum_says_where_it_lies(resampled):
    table = tables.optimum(resampled, 1e25)
    assert "extrapolated: 1,700 times the compute of the largest fitted run" in table.caption
    assert [row[0] for row in table.rows] == [
        "best size (parameters)",
        "tokens",
        "tokens per parameter",
        "loss (nats per token)",
    ]


def test_every_run_held_out_has_its_label():
    table = tables.held_out(hold_out(RUNS, n_starts=5))
    assert len(table.rows) == 2
    assert all(row[-1].startswith("extrapolated") for row in table.rows)


def test_five_points_of_245_move_beta_from_367_to_453():
    # shared/cases/laws.json, besiroglu_2024: refits of 240 and of all 245 points.
    assert [round(REFITS[name].beta, 3) for name in REFITS] == [0.367, 0.453]
    few, every = tables.laws([(name, refit(name)) for name in REFITS], 5.76e23).rows
    assert (few[5], every[5]) == ("0.3672", "0.4530")
    assert (few[-1], every[-1]) == ("17.92", "6.816")


def test_a_refit_is_found_by_its_name():
    assert refit("245-POINTS") is REFITS["245 points"]
    with pytest.raises(ValueError, match="refit = '244 points': one of 240 points, 245 points"):
        refit("244 points")


def test_twins_agree_on_the_runs_and_not_beyond():
    hoffmann = law("Hoffmann 2022")
    grid = of_law(hoffmann, [1e8, 1e9, 1e10] * 2, [1e9] * 3 + [1e12] * 3)
    rows = tables.twins([same_losses(hoffmann, (1e9, 1e12), beta) for beta in (0.15, 0.5)], grid, (1e11, 1e13)).rows
    assert [row[3] for row in rows] == ["0.0000", "0.0000"]
    assert [row[4] for row in rows] == ["1.771", "1.904"]

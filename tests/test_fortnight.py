"""The worked example's tables: the seed's figures, and what they are corrected to."""

import pytest

from lib.architecture.shapes import search
from lib.compute import chinchilla_optimal, train_flops
from lib.compute.gpu_hours import RUNS
from lib.corpus import corpus
from lib.plan import A100_FORTNIGHT, Plan, fortnight

PLAN = Plan(brief=A100_FORTNIGHT)


@pytest.mark.parametrize(
    ("shape", "d_ff", "per_layer", "non_embedding", "total"),
    [  # seed document 000, step 3: 1.21B / 1.34B / 5468, and so on
        (fortnight.SEED_SHAPES[0], 5468, 50_376_704, 1_209_042_944, 1_340_114_944),
        (fortnight.SEED_SHAPES[1], 4784, 38_567_424, 1_234_159_360, 1_348_847_360),
        (fortnight.SEED_SHAPES[2], 5126, 44_275_200, 1_239_707_520, 1_362_587_520),
    ],
)
def test_the_seed_shapes_have_the_sizes_that_it_prints(shape, d_ff, per_layer, non_embedding, total):
    assert (shape.d_ff, shape.layer_params) == (d_ff, per_layer)
    assert (shape.non_vocabulary_params, shape.n_params) == (non_embedding, total)


def test_the_seeds_2_2b_on_44b_are_a_fortieth_of_its_budget():
    assert train_flops(2.2e9, 44e9) == pytest.approx(5.8e20, rel=2e-3)
    assert train_flops(2.2e9, 44e9) / PLAN.brief.compute_flops == pytest.approx(0.0267, abs=5e-5)


def test_no_d_ff_of_the_seed_fills_its_tiles_and_each_that_is_found_does():
    assert all(shape.d_ff % fortnight.TILE for shape in fortnight.SEED_SHAPES)
    assert all(found.shape.d_ff % 256 == 0 for found in search(PLAN.allocation.n_params))


def test_the_pile_is_read_once_and_not_a_third_of_once():
    passes = {row[0]: float(row[3]) for row in fortnight.passes_table(PLAN.allocation.n_tokens).rows}
    assert passes["The Pile"] == 1.04
    assert passes["The Pile, weighted"] == 0.681
    assert corpus("The Pile").n_bytes == 825.18 * 1024**3  # Gao et al. 2020, Table 1
    assert PLAN.allocation.n_tokens / 825e9 == pytest.approx(0.326, abs=5e-4)  # what the seed prints as 0.33


def test_the_fortnight_goes_from_peak_over_mfu_to_goodput():
    stages = fortnight.budget_stages(PLAN)
    assert stages[0][1] == 128 * 312e12 * 14 * 86_400
    peak, useful, kept = (flop for _, flop, _ in stages)
    assert (useful / peak, kept / useful) == pytest.approx((0.45, 0.9))


def test_days_differ_by_what_the_mfu_counts():
    days = dict(fortnight.days_by_count(PLAN))
    assert min(days.values()) == pytest.approx(14.0)
    assert days["MFU counts 6N, goodput 0.9"] == pytest.approx(14 / 0.9)
    assert max(days.values()) == pytest.approx(14 / 0.9 * PLAN.days_if_counted("Megatron-LM") / 14)


def test_a_calendar_fortnight_buys_five_percent_less_model():
    shorter, _ = chinchilla_optimal(PLAN.brief.compute_flops * PLAN.brief.goodput)
    assert shorter / PLAN.allocation.n_params == pytest.approx(0.9**0.5)


def test_published_over_planned_is_planned_over_implied_utilisation():
    for name, hours, planned, ratio, implied in fortnight.hours_table(RUNS.values(), 0.45, 0.9).rows:
        assert float(ratio) == pytest.approx(0.45 * 0.9 / float(implied), abs=0.01), name
        assert float(hours.replace(",", "")) / float(planned.replace(",", "")) == pytest.approx(float(ratio), abs=5e-3)

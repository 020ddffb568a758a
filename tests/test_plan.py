"""The two running plans: the figures of their seeds, and what each step adds."""

import dataclasses

import pytest

from lib.compute import train_flops, training_days
from lib.hardware import Cluster
from lib.plan import A100_FORTNIGHT, FILLED, H100_MONTH, PLANS, STEPS, Brief, Plan, lines, running_plan
from lib.scaling import law

A100, H100 = PLANS


def test_the_a100_fortnight_has_the_seeds_figures():
    assert A100_FORTNIGHT.compute_flops == pytest.approx(2.173796352e22, rel=1e-12)  # seed document 000: 2.17e+22
    assert A100.allocation.n_params == pytest.approx(13459186305.271206, rel=1e-12)  # 13.46B
    assert A100.allocation.n_tokens == pytest.approx(269183726105.42413, rel=1e-12)  # 269.2B
    assert A100.compute_days == pytest.approx(14)


def test_the_h100_month_has_the_seeds_budget():
    assert H100_MONTH.compute_flops == pytest.approx(2.1000093696e24, rel=1e-12)  # seed document 003: 2.10e24


@pytest.mark.parametrize(
    ("n_params", "n_tokens", "days"),
    [
        (70_553_706_496, 15e12, 90.7115036231884),  # the seed's start: 91 days
        (70_553_706_496, 3380993485051.2905, 20.446333517947103),  # fewest tokens for 1.955
        (405_853_388_800, 817690567285.9039, 28.445229176038495),
    ],
)
def test_days_of_the_seeds_runs_on_the_2048_h100s(n_params, n_tokens, days):
    cluster = H100_MONTH.cluster
    assert training_days(n_params, n_tokens, cluster.n_gpus, H100_MONTH.peak_flops, 0.40) == pytest.approx(days)


def test_the_month_is_of_calendar_days_so_a_tenth_of_it_does_not_compute():
    assert H100_MONTH.useful_flops == pytest.approx(0.9 * H100_MONTH.compute_flops)
    assert H100.compute_days == pytest.approx(27)
    assert H100.calendar_days == pytest.approx(30)


def test_the_fortnight_is_of_compute_days_as_its_seed_counts_and_takes_longer_on_the_calendar():
    assert A100.calendar_days == pytest.approx(14 / 0.9)


def test_70b_meets_the_target_within_30_calendar_days_by_the_laws_central_value_only():
    assert H100.loss == pytest.approx(1.9498, abs=5e-5)
    assert H100.loss_verdict.words == "undecided"
    assert H100.loss_verdict.margin > 0


def test_405b_misses_the_target_within_30_calendar_days():
    rounded = law(H100_MONTH.law_name)
    assert rounded.loss_at_budget(H100_MONTH.compute_flops, 405_853_388_800) < 1.955
    assert rounded.loss_at_budget(H100_MONTH.useful_flops, 405_853_388_800) > 1.955


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_spends_exactly_the_useful_flops(plan):
    assert train_flops(plan.allocation.n_params, plan.allocation.n_tokens) == pytest.approx(plan.brief.useful_flops)


def test_the_a100_plans_shape_is_within_one_percent_of_its_size():
    assert A100.shape.n_params == pytest.approx(A100.allocation.n_params, rel=0.01)
    assert A100.shape.d_ff % 256 == 0
    assert A100.shape.n_heads % 8 == 0


def test_the_h100_plans_shape_is_llama_3_70b():
    assert H100.shape.n_params == 70_553_706_496


def test_passes_over_the_corpora():
    assert A100.passes == pytest.approx(1.04, abs=0.005)
    assert H100.passes == pytest.approx(0.298, abs=0.001)


def test_days_grow_when_the_mfu_counted_attention():
    assert A100.days_if_counted("Megatron-LM") > A100.days_if_counted("Megatron-Bridge") > A100.compute_days
    assert H100.days_if_counted("6N") == pytest.approx(H100.compute_days)


@pytest.mark.parametrize("step", FILLED)
def test_every_step_adds_lines_with_the_same_labels_to_both_plans(step):
    left, right = (lines(plan, step) for plan in PLANS)
    assert [line.label for line in left] == [line.label for line in right]
    assert all(line.text.strip() for line in (*left, *right))


def test_the_table_shows_the_steps_so_far_and_no_later_one():
    shown = str(running_plan("allocation"))
    assert "13.46B parameters" in shown
    assert "14 days" in shown
    assert "15.56 days" in shown
    assert "architecture" not in shown


def test_chapters_fill_the_steps_in_the_order_of_the_way():
    assert [step for step in STEPS if step in FILLED] == list(FILLED)


def test_each_plan_has_a_recipe_for_its_own_size_tokens_shape_and_cluster():
    for plan in PLANS:
        recipe, cluster = plan.recipe, plan.brief.cluster
        assert (recipe.run, recipe.shape) == (plan.allocation, plan.shape)
        assert recipe.global_batch == cluster.n_gpus // 8 * recipe.setup.micro_batch * recipe.accumulation
        assert recipe.steps * recipe.batch_tokens <= plan.allocation.n_tokens
    said = [lines(plan, "recipe")[-1].text for plan in (A100, H100)]
    assert said[0] == "medium scale; breaks: warm-up, part of the steps; not said: tensor-parallel devices"
    assert said[1].startswith("large scale; breaks: none; not said: data filtered and deduplicated")
    assert (A100.recipe.peak_lr, A100.recipe.batch_tokens, A100.recipe.steps) == (1.6e-4, 2_424_832, 111_011)
    assert (H100.recipe.peak_lr, H100.recipe.batch_tokens, H100.recipe.steps) == (1.4e-4, 6_291_456, 709_645)


@pytest.mark.parametrize("step", ["layout", "alocation", "", 3])
def test_a_step_that_no_chapter_fills_in_is_refused(step):
    with pytest.raises((TypeError, ValueError), match="step = "):
        running_plan(step)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("mfu", 45),
        ("mfu", 0),
        ("goodput", 1.2),
        ("days", -1),
        ("days", True),
        ("peak_flops", float("nan")),
        ("counted_days", "working"),
        ("loss_at_most", 0),
        ("gb_per_gpu_at_most", "72"),
        ("seq_len", 4096.0),
    ],
)
def test_a_brief_refuses_what_is_out_of_range_by_name(field, bad):
    with pytest.raises((TypeError, ValueError), match=f"{field} = "):
        dataclasses.replace(H100_MONTH, **{field: bad})


def test_a_brief_names_a_law_that_there_is():
    with pytest.raises(ValueError, match="law = 'Besiroglu 2042'"):
        dataclasses.replace(H100_MONTH, law_name="Besiroglu 2042")


def test_a_plan_of_another_cluster_follows_from_its_brief_alone():
    brief = Brief(
        name="8 H100s, a day", cluster=Cluster(accelerator="h100", n_gpus=8), peak_flops=989.4e12, mfu=0.4, days=1
    )
    plan = Plan(brief=brief)
    assert plan.allocation.tokens_per_param == pytest.approx(20)
    assert plan.loss_verdict is None
    assert [line.text for line in lines(plan, "brief")][2] == "not asked"

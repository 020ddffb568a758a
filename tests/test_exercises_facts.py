"""What questions expect: the figures of the seed documents, and what `lib` says where it has no plain formula."""

import pytest

from lib.description import parse
from lib.exercises import QUESTIONS, cases, judge
from lib.ladder import evaluate, rungs
from lib.readiness.review import needed_gpu_hours

RUN = 'tokens = "15T"\n[model]\nname = "llama-3-70b"\n[cluster]\naccelerator = "h100"\nn_gpus = 16384'


# Seed document 002, its four examples.
@pytest.mark.parametrize(
    ("name", "inputs", "value"),
    [
        ("train_flops", (1e9, 2e10), 1.2e20),
        ("training_days", (1e9, 2e10, 8, 1e15, 0.4), 37_500 / 86_400),
        ("model_flops_utilization", (1e9, 2e5, 8, 1e15), 0.15),
    ],
)
def test_the_examples_of_the_seed_are_among_the_edge_cases(name, inputs, value):
    case = next(case for case in cases(QUESTIONS[name], "any") if tuple(case.inputs.values()) == inputs)
    assert case.expected == pytest.approx(value, rel=1e-12)


def test_the_seeds_example_of_size_and_tokens_is_among_the_edge_cases():
    case = next(case for case in cases(QUESTIONS["chinchilla_optimal"], "any") if case.inputs == {"compute": 1e21})
    assert case.expected == [pytest.approx(2.89e9, rel=2e-3), pytest.approx(5.77e10, rel=1e-3)]


def test_the_seeds_brief_is_the_first_to_be_sized():
    brief = cases(QUESTIONS["design_for_brief"], "any")[0].inputs["brief"]
    asked = ("n_gpus", "peak_flops", "mfu", "days_at_most", "gb_at_most", "seq_len")
    assert tuple(brief[name] for name in asked) == (2048, 989e12, 0.4, 30, 72.0, 8192)  # seed document 003


def test_the_seeds_starting_plan_needs_its_1140_gb_and_91_days():
    asked = QUESTIONS["design_for_brief"]
    inputs = cases(asked)[0].inputs
    start = next(run for run in inputs["designs"] if run["zero_stage"] == 0) | {"name": "start", "n_tokens": 15e12}
    said = {
        ruling.sentence: ruling.margin
        for limits in ({"days_at_most": 1e9, "loss_at_most": 9.0}, {"gb_at_most": 1e9, "loss_at_most": 9.0})
        for ruling in asked.rulings([start], inputs["brief"] | limits, inputs["law"])
    }
    assert said["It does not fit into memory."].startswith("1,068 GB")  # 1,140 less the 72 that it may have
    assert said["It does not end in time."].startswith("60.")  # 91 less 30, to the day


def test_spare_nodes_and_interruptions_are_those_of_the_ladder():
    run = parse(RUN)
    few_nodes = {threshold.name: threshold for threshold in rungs(run)[4].thresholds}
    inputs = next(case.inputs for case in cases(QUESTIONS["spare_nodes"]) if case.inputs["n_gpus"] == 16_384)
    assert QUESTIONS["spare_nodes"].expected(**inputs) == few_nodes["spare_nodes"].at_least
    hours = QUESTIONS["hours_between_interruptions"].expected(16_384, inputs["gpu_hours"])
    assert hours * (1 - run.goodput) == pytest.approx(few_nodes["hours_lost_to_a_failure"].at_most)


def test_what_must_be_approved_is_what_the_review_asks_for():
    climb = evaluate(parse(RUN))
    run, full = climb.run, climb.verdicts[-1].rung.gpu_hours
    rehearsal = climb.rehearsal_gpu_hours
    slack = (needed_gpu_hours(climb) - full - rehearsal) / 24 / run.cluster.n_gpus
    days = full / 24 / run.cluster.n_gpus * run.goodput
    expected = QUESTIONS["gpu_hours_to_approve"].expected
    assert expected(run.cluster.n_gpus, days, run.goodput, slack, rehearsal) == pytest.approx(needed_gpu_hours(climb))


def test_a_decision_is_right_over_its_whole_range_and_nowhere_else():
    asked = QUESTIONS["tokens_to_train"]
    for case in cases(asked, "any"):
        low, high = case.rulings[0].low, case.rulings[0].high
        assert low < high
        for tokens, right in (
            (low, True),
            (high, True),
            ((low + high) / 2, True),
            (0.99 * low, False),
            (1.01 * high, False),
        ):
            assert judge(asked, case, tokens).ok is right

"""From parameters and tokens to FLOPs and days, and back: the seed documents' figures, and laws that hold for all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import compute
from lib.compute import (
    calendar_days,
    chinchilla_optimal,
    compute_budget,
    model_flops_utilization,
    train_flops,
    training_days,
)

sizes = st.floats(1e6, 1e13)
tokens = st.floats(1e8, 1e15)
devices = st.integers(1, 100_000)
peaks = st.floats(1e12, 1e16)
fractions = st.floats(0.01, 1)
factors = st.floats(1e-3, 1e3)


@pytest.fixture(scope="module")
def np():
    """NumPy where it is installed: in the browser's Python these tests rest."""
    return pytest.importorskip("numpy")


def approx(value):
    return pytest.approx(value, rel=1e-12)


# Figures of the seed documents.


def test_a_billion_parameters_on_twenty_billion_tokens_cost_1_2e20_flops():
    assert train_flops(1e9, 2e10) == 1.2e20  # seed document 002, part 1


def test_1e21_flops_are_best_spent_on_2_89_billion_parameters():
    n_params, n_tokens = chinchilla_optimal(1e21)
    assert n_params == approx(2886751345.9481287)  # seed document 002, part 2
    assert n_tokens == approx(57735026918.96257)


def test_that_run_lasts_37500_seconds_on_eight_gpus():
    assert training_days(1e9, 2e10, 8, 1e15, 0.4) == approx(37_500 / 86_400)  # seed document 002, part 3


def test_two_hundred_thousand_tokens_a_second_are_an_mfu_of_0_15():
    assert model_flops_utilization(1e9, 2e5, 8, 1e15) == approx(0.15)  # seed document 002, part 4


def test_the_a100_fortnight_gives_2_17e22_flops_and_13_46_billion_parameters():
    budget = compute_budget(128, 14, 312e12, 0.45)
    assert budget == approx(2.173796352e22)  # seed document 000, step 1
    assert chinchilla_optimal(budget) == (approx(13459186305.271206), approx(269183726105.42413))  # step 2


def test_the_h100_month_gives_2_10e24_flops():
    assert compute_budget(2048, 30, 989e12, 0.40) == approx(2.1000093696e24)  # seed document 003


def test_the_starting_plan_of_the_h100_month_needs_91_days():
    assert training_days(70_553_706_496, 15e12, 2048, 989e12, 0.40) == approx(90.7115036231884)  # seed document 003


def test_the_functions_return_plain_floats():
    results = [train_flops(10**9, 2 * 10**10), training_days(10**9, 10**10, 8, 10**15, 1), calendar_days(9)]
    results += [model_flops_utilization(10**9, 10, 8, 10**15), *chinchilla_optimal(10**21)]
    assert [type(result) for result in results] == [float] * 6


def test_the_optimum_is_a_tuple_of_two():
    assert isinstance(chinchilla_optimal(1e21), tuple)
    assert len(chinchilla_optimal(1e21)) == 2


def test_goodput_is_0_90_unless_it_is_given():
    assert calendar_days(18.0) == approx(20.0)
    assert calendar_days(18.0, 1.0) == 18.0
    assert compute.GOODPUT == 0.90


# Laws.


@given(sizes, tokens)
def test_the_optimum_spends_the_whole_budget_at_twenty_tokens_a_parameter(n_params, n_tokens):
    budget = train_flops(n_params, n_tokens)
    best_params, best_tokens = chinchilla_optimal(budget)
    assert train_flops(best_params, best_tokens) == approx(budget)
    assert best_tokens / best_params == approx(20)


@given(sizes, tokens, devices, peaks, fractions)
def test_the_speed_of_a_planned_run_gives_its_mfu_back(n_params, n_tokens, n_gpus, peak_flops, mfu):
    days = training_days(n_params, n_tokens, n_gpus, peak_flops, mfu)
    speed = n_tokens / (days * 86_400)
    assert model_flops_utilization(n_params, speed, n_gpus, peak_flops) == approx(mfu)


@given(sizes, tokens, devices, peaks, fractions)
def test_a_run_that_uses_its_budget_up_lasts_as_long_as_the_budget(n_params, n_tokens, n_gpus, peak_flops, mfu):
    days = training_days(n_params, n_tokens, n_gpus, peak_flops, mfu)
    assert compute_budget(n_gpus, days, peak_flops, mfu) == approx(train_flops(n_params, n_tokens))


@given(sizes, tokens, devices, peaks, fractions, factors)
def test_days_do_not_depend_on_the_unit_of_a_flop(n_params, n_tokens, n_gpus, peak_flops, mfu, k):
    # Counted in units of k FLOPs, a parameter costs 6 / k and a device does peak / k: the days are the same.
    same = training_days(n_params * k, n_tokens, n_gpus, peak_flops * k, mfu)
    assert same == approx(training_days(n_params, n_tokens, n_gpus, peak_flops, mfu))


@given(sizes, st.floats(1e-3, 1e3), devices, fractions, factors)
def test_utilization_does_not_depend_on_the_unit_of_time(n_params, speed, n_gpus, mfu, k):
    peak_flops = 6 * n_params * speed / (n_gpus * mfu)
    same = model_flops_utilization(n_params, speed * k, n_gpus, peak_flops * k)
    assert same == approx(model_flops_utilization(n_params, speed, n_gpus, peak_flops))


@given(st.lists(st.tuples(sizes, tokens, fractions), min_size=1, max_size=5), devices, peaks)
def test_an_array_gives_what_its_entries_give(np, runs, n_gpus, peak_flops):
    n_params, n_tokens, mfu = (np.array(column) for column in zip(*runs, strict=True))
    days = training_days(n_params, n_tokens, n_gpus, peak_flops, mfu)
    assert days.tolist() == [training_days(n, d, n_gpus, peak_flops, u) for n, d, u in runs]
    best_params, best_tokens = chinchilla_optimal(train_flops(n_params, n_tokens))
    assert [float(n) for n in best_params] == approx([chinchilla_optimal(train_flops(n, d))[0] for n, d, _ in runs])
    assert (best_tokens == 20 * best_params).all()
    speed = n_tokens / (days * 86_400)
    assert model_flops_utilization(n_params, speed, n_gpus, peak_flops).tolist() == approx(mfu.tolist())


# Refusals.

GOOD = {
    train_flops: {"n_params": 1e9, "n_tokens": 2e10},
    chinchilla_optimal: {"compute": 1e21},
    training_days: {"n_params": 1e9, "n_tokens": 2e10, "n_gpus": 8, "peak_flops": 1e15, "mfu": 0.4},
    model_flops_utilization: {"n_params": 1e9, "tokens_per_second": 2e5, "n_gpus": 8, "peak_flops": 1e15},
    compute_budget: {"n_gpus": 8, "days": 14.0, "peak_flops": 1e15, "mfu": 0.4},
    calendar_days: {"compute_days": 18.0, "goodput": 0.9},
}
ARGUMENTS = [(function, name) for function, good in GOOD.items() for name in good]


def test_an_impossible_number_is_refused_by_name():
    for function, name in ARGUMENTS:
        for value in [0, -1, math.nan, math.inf, -math.inf, 10**400, -1e-300]:
            with pytest.raises(ValueError, match=f"^{name} = "):
                function(**GOOD[function] | {name: value})


def test_a_wrong_kind_is_refused_by_name():
    for function, name in ARGUMENTS:
        for value in [True, "8", None, [8.0], 1 + 0j]:
            with pytest.raises(TypeError, match=f"^{name} = "):
                function(**GOOD[function] | {name: value})


def test_a_bad_entry_of_an_array_is_refused_with_its_place(np):
    for function, name in ARGUMENTS:
        with pytest.raises(ValueError, match=rf"^{name}\[1\] = "):
            function(**GOOD[function] | {name: np.array([1.0, -1.0])})
        with pytest.raises(TypeError, match=f"^{name} "):
            function(**GOOD[function] | {name: np.array([1, 2])})


@pytest.mark.parametrize("function", [training_days, compute_budget])
def test_a_percentage_is_called_one(function):
    with pytest.raises(ValueError, match=r"^mfu = 45: .*; 45% is written 0\.45$"):
        function(**GOOD[function] | {"mfu": 45})


@pytest.mark.parametrize("function", [training_days, compute_budget])
def test_an_mfu_above_one_is_refused(function):
    with pytest.raises(ValueError, match=r"^mfu = 1\.01: a fraction above 0, at most 1"):
        function(**GOOD[function] | {"mfu": 1.01})


def test_half_a_gpu_is_refused():
    with pytest.raises(ValueError, match=r"^n_gpus = 7\.5: a whole number"):
        training_days(1e9, 2e10, 7.5, 1e15, 0.4)


def test_a_cluster_s_speed_over_one_gpu_is_refused_with_the_likely_slip():
    with pytest.raises(ValueError, match=r"^model_flops_utilization = 1\.2: at most 1.*n_gpus must be of the same"):
        model_flops_utilization(1e9, 2e5, 1, 1e15)


def test_a_peak_in_teraflops_is_called_one():
    with pytest.raises(ValueError, match=r"peak_flops is in FLOP/s: 989 TFLOP/s is written 9\.89e\+14"):
        model_flops_utilization(1e9, 2e5, 8, 989)


def test_an_array_with_a_utilization_above_one_is_refused(np):
    with pytest.raises(ValueError, match="at most 1, for no machine beats its peak"):
        model_flops_utilization(1e9, np.array([2e5, 2e7]), 8, 1e15)


def test_a_peak_in_teraflops_is_refused_in_an_array_too(np):
    for peaks, speed in ((np.array([989.0, 312.0]), 2e5), (989.0, np.array([2e5, 2e5]))):
        with pytest.raises(ValueError, match=r"^model_flops_utilization \(array\): at most 1"):
            model_flops_utilization(1e9, speed, 8, peaks)
    with pytest.raises(ValueError, match=r"^hfu = 2e\+07: at most 1"):
        compute.possible_utilization(np.array([989.0, 312.0]), hfu=2e7)


def test_rounding_above_one_is_no_mistake():
    assert model_flops_utilization(1e9, 8e15 / 6e9 * (1 + 1e-15), 8, 1e15) == approx(1)


@pytest.mark.parametrize(("function", "name"), [(train_flops, "n_params"), (compute_budget, "days")])
def test_a_result_too_large_for_a_float_is_refused(function, name):
    with pytest.raises(ValueError, match=f"^{function.__name__} = inf: .*too large"):
        function(**GOOD[function] | {name: 1e300, "peak_flops" if "mfu" in GOOD[function] else "n_tokens": 1e300})


@pytest.mark.parametrize("function", GOOD)
@given(data=st.data())
def test_positive_numbers_give_a_positive_number_or_a_refusal(function, data):
    extreme = {
        name: st.floats(0, value if value < 1 else None, exclude_min=True) for name, value in GOOD[function].items()
    }
    inputs = {name: data.draw(values) if name != "n_gpus" else 8 for name, values in extreme.items()}
    try:
        found = function(**inputs)
    except ValueError:
        return
    for number in found if isinstance(found, tuple) else (found,):
        assert 0 < number < math.inf
        assert type(number) is float


def test_more_gpus_than_a_float_can_divide_by_do_not_train_in_no_time():
    with pytest.raises(ValueError, match=r"^useful_flops_per_second = inf: .*; the inputs are too large"):
        training_days(1.0, 1.0, 10**300, 1e15, 0.4)

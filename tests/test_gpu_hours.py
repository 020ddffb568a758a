"""Published accelerator-hours: their figures, and what a plan would have said of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import Transformer
from lib.compute import gpu_hours


def test_llama_13b_used_half_of_the_peak():
    # 13.0B parameters, 1.0T tokens, 135,168 A100-80GB hours: Touvron et al. 2023, Tables 2 and 15.
    assert gpu_hours.run("LLaMA 13B").utilization == pytest.approx(6 * 13.0e9 * 1.0e12 / (135_168 * 3600 * 312e12))


def test_one_shape_on_one_chip_was_a_third_slower_the_second_time():
    first, second = gpu_hours.run("llama 13b"), gpu_hours.run("llama 2 13b")
    assert first.n_params == second.n_params
    assert second.utilization / first.utilization == pytest.approx(0.733, abs=5e-4)


def test_the_printed_13b_are_the_shape_that_was_released():
    shape = Transformer(n_layers=40, d_model=5120, n_heads=40, d_ff=13_824, vocab_size=32_000)
    assert shape.n_params == 13_015_864_320  # huggyllama/llama-13b, config.json
    assert shape.n_params == pytest.approx(gpu_hours.run("llama-13b").n_params, rel=2e-3)


def test_the_65b_run_agrees_with_the_speed_that_its_paper_prints():
    # About 380 tokens/s a GPU: Touvron et al. 2023, section 2.4.
    llama = gpu_hours.run("llama-65b")
    assert llama.n_tokens / (llama.gpu_hours * 3600) == pytest.approx(380, rel=0.005)


@pytest.mark.parametrize("name", gpu_hours.RUNS)
def test_every_run_has_sources_and_a_believable_utilization(name):
    run = gpu_hours.RUNS[name]
    assert set(run.sources) == {"accelerator", "n_params", "n_tokens", "gpu_hours"}
    assert 0.1 < run.utilization < 0.65


@pytest.mark.parametrize(
    ("name", "n_params", "hours", "implied"),
    [("Llama 3 8B", 8_030_261_248, 1.3e6, 0.156), ("Llama 3 70B", 70_553_706_496, 6.4e6, 0.279)],
)
def test_runs_that_used_little_of_their_peak_are_in_the_list_too(name, n_params, hours, implied):
    # 15T+ tokens on H100-80GB: model card of Llama 3. A list of good runs alone would promise too much.
    assert gpu_hours.run(name).utilization == pytest.approx(6 * n_params * 15e12 / (hours * 3600 * 989.4e12))
    assert gpu_hours.run(name).utilization == pytest.approx(implied, abs=5e-4)


@given(name=st.sampled_from(sorted(gpu_hours.RUNS)), goodput=st.floats(0.5, 1.0))
def test_a_plan_with_the_utilization_of_the_run_asks_for_its_hours(name, goodput):
    run = gpu_hours.RUNS[name]
    mfu = run.utilization / goodput
    if mfu <= 1:
        assert run.planned_gpu_hours(mfu, goodput) == pytest.approx(run.gpu_hours)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gpu_hours": 0.0}, "gpu_hours = 0:"),
        ({"n_params": -1.0}, "n_params = -1:"),
        ({"n_tokens": float("nan")}, "n_tokens = nan"),
        ({"accelerator": "a10"}, "accelerator = 'a10'"),
        ({"dtype": "fp8"}, "dtype = 'fp8'"),
    ],
)
def test_a_run_refuses_what_cannot_be(change, message):
    fields = {"name": "X", "accelerator": "A100", "n_params": 1e9, "n_tokens": 2e10, "gpu_hours": 1e3}
    with pytest.raises(ValueError, match=message):
        gpu_hours.Run(**(fields | change))


def test_an_unknown_run_is_answered_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"one of LLaMA 7B, .*; did you mean 'Llama 2 70B'"):
        gpu_hours.run("llama 2 7b0")

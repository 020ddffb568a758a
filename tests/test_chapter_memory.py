"""The numbers that the memory chapter shows, recomputed by hand from published sizes, without `lib.memory`."""

import pytest

from lib.pilot import compiled
from tests.glued import glued

GIB, GB = 2**30, 1e9
approx = pytest.approx
LLAMA_70B, GPT2 = 70_553_706_496, 124_439_808


@pytest.fixture(scope="module")
def shown(root):
    """What the chapter glues. The compiler is asked where chapters are run: no sentence depends on its word."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "find_spec", lambda name: None)
        return glued(root, "notebooks/memory_ledger.md")[0]


def test_the_prediction_s_answer(shown):
    assert shown["weights_gb"] == approx(2 * LLAMA_70B / GB)
    assert shown["seed_states"] == approx(16 * LLAMA_70B / GB)
    assert shown["seed_activations"] == approx(2 * 8192 * 8192 * 80 / GB)
    assert shown["seed_gb"] == approx(1139.596722176)  # seed 003 prints 1,140 GB
    assert 13 < shown["seed_gpus"] < 14


def test_a_device_is_what_its_driver_reports(shown):
    assert shown["device_gib"] == approx(81_559 / 1024)  # nvidia-smi: 81559MiB
    assert shown["t4_gib"] == approx(15_360 / 1024)  # nvidia-smi: 15360MiB


def test_the_largest_line_of_gpt_2_is_its_logits(shown):
    assert shown["desk_states"] == approx((4 + 8) * GPT2 / GIB)  # gradients come with backward
    # Ten bytes of each logit at the loss: bf16, and fp32 twice.
    assert shown["desk_logits"] == approx(8 * 1024 * 50_257 * 10 / GIB)
    assert shown["desk_logits"] > shown["desk_states"]
    assert shown["desk_gib"] < 0.9 * shown["t4_gib"]


def test_the_first_layout_keeps_the_seed_s_line(shown):
    states = (2 + 4 + 12 / 256) * LLAMA_70B / 8
    assert states / GB < shown["month_gb"] < 72
    assert shown["month_activations"] == approx(2 * 8192 * 8192 * 80 / 8 / GIB, rel=0.05)


def test_the_readings_are_met_as_closely_as_the_chapter_says(shown):
    assert (shown["n_asked"], shown["n_after"]) == (46, 31)
    assert shown["median"] < 0.05
    assert shown["worst"] < 0.17
    assert shown["median_above"] < 0.10
    assert shown["worst_above"] < 0.24
    assert shown["median_first"] < 0.01
    assert shown["worst_first"] < 0.20


def test_the_answers_of_the_exercises(shown):
    assert shown["largest"] in range(1, 9)
    assert shown["longest_none"] < shown["longest_full"]
    assert max(shown["decide_sharded"], shown["decide_cut"]) < 0.9 * 85.9 * GB / GIB

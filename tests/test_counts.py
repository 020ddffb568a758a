"""Tables of conventions side by side: every cell is what `lib` computes, and planned meets actual where it should."""

import pytest

from lib.architecture import MODELS, model
from lib.compute import counts, train_flops
from lib.compute.flops import train_flops_per_token
from lib.compute.gpu_hours import run
from lib.compute.mfu import CONVENTIONS
from lib.compute.speeds import SPEEDS, speed

LLAMA_8B = model("llama-3-8b")


def test_every_convention_has_a_row_in_short_words():
    rows = counts.conventions().rows
    assert [row[0] for row in rows] == list(CONVENTIONS)
    assert max(len(cell) for row in rows for cell in row) < 40


def test_every_speed_that_was_printed_has_a_row_for_each_of_its_figures():
    figures = sum(len(row.figures) for row in SPEEDS.values() if row.tokens_per_second_per_gpu)
    assert len(counts.speeds().rows) == figures


def test_llama_405b_s_hours_are_those_of_the_mfu_that_its_paper_names():
    rows = {row[0]: row for row in counts.against(run("llama-3.1-405b"), speed("llama 3.1 405b, meta")).rows}
    held = 30.84e6 / 16_384 / 24  # days, model card and Table 4
    assert float(rows["6N"][3]) == pytest.approx(held, abs=0.05)
    assert float(rows["PaLM"][4]) == pytest.approx(0.985, abs=5e-4)
    assert float(rows["6N"][4]) == pytest.approx(1.067, abs=5e-4)


@pytest.mark.parametrize("attention", ["causal", "full"])
@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0])
def test_at_the_length_that_is_named_the_count_is_that_many_times_6n(attention, ratio):
    length = counts.length_at(LLAMA_8B, attention, ratio)
    below, above = (
        train_flops_per_token(LLAMA_8B, s, attention) / train_flops(LLAMA_8B.n_params, 1)
        for s in (length // 1, length // 1 + 1)
    )
    assert below <= ratio <= above


def test_the_parts_by_length_add_up_to_full_attention():
    for name in MODELS:
        lengths, parts, rule = counts.by_length(MODELS[name], (1024, 8192))
        for place, length in enumerate(lengths):
            total = sum(values[place] for _, values in parts)
            assert total == pytest.approx(train_flops_per_token(MODELS[name], length, "full"), rel=1e-12)
        assert rule[1] == 6 * MODELS[name].n_params_active


def test_recomputing_never_costs_a_third_in_full():
    for row in counts.recomputation(LLAMA_8B, (2048, 131_072), "full").rows:
        assert all(1 < float(cell) < 4 / 3 for cell in row[1:])

"""The what-ifs on memory: their rows are the ledger's, their verdict the heaviest stage's."""

import pytest

from lib.architecture import model
from lib.layout import Layout
from lib.memory import ledger
from lib.whatif.catalogue import RefusedError, answer, solve
from lib.whatif.text import answer_text

GIB = 2**30
START = Layout(data=64, tensor=8, pipeline=4, zero_stage=1, micro_batch=3, micro_batches=16, seq_len=8192)


def rows(name, **settings):
    return {row.label: row for row in answer(name, settings).rows}


def test_the_lines_of_the_ledger_sum_to_what_is_needed():
    view = answer("memory-ledger", {})
    lines = sum(row.value for row in view.rows if row.group not in ("setting", "in all"))
    needed = next(row.value for row in view.rows if row.label == "needed")
    assert lines == pytest.approx(needed)
    assert needed == pytest.approx(ledger(model("llama-3-70b"), START).peak_bytes / GIB)


def test_at_the_start_one_stage_alone_does_not_fit():
    view = answer("memory-ledger", {})
    piles = [sum(series.y[k] for series in view.chart.series) for k in range(4)]
    assert [pile > view.chart.references[0].value for pile in piles] == [True, False, False, False]


def test_the_heaviest_stage_decides_and_not_the_mean():
    view = answer("memory-ledger", {})
    piles = [sum(series.y[k] for series in view.chart.series) for k in range(4)]
    assert max(piles) == pytest.approx(next(row.value for row in view.rows if row.label == "needed"))
    assert max(piles) > sum(piles) / 4


def test_the_seeds_start_needs_1140_gb():
    # Seed 003: 70B with no parallelism; 2 + 2 + 12 bytes a parameter and the inputs of 80 layers.
    seed = {"framework": "seed 003", "data": 2048, "tensor": "1", "pipeline": 1, "zero_stage": "0"}
    seed |= {"micro_batch": 1, "recompute": "full"}
    assert rows("memory-ledger", **seed)["needed"].value * GIB / 1e9 == pytest.approx(1140, abs=0.5)


def test_every_single_change_that_is_offered_fits():
    view = answer("memory-fit", {})
    offered = [float(row.value.split()[-2]) for row in view.rows if row.group == "single changes" and ":" in row.value]
    device = next(row.value for row in view.rows if row.label == "H100 SXM")
    assert not view.checks[0].passed
    assert len(offered) >= 3
    assert all(gib <= 0.9 * device for gib in offered)


def test_every_lever_has_a_row_whether_it_is_enough_or_not():
    labels = [
        [r.label for r in answer("memory-fit", {"pipeline": n}).rows if r.group == "single changes"] for n in (1, 2)
    ]
    assert labels[0] == labels[1]
    assert len(set(labels[0])) == 8


def test_what_fits_needs_no_change():
    view = answer("memory-fit", {"recompute": "full", "pipeline": 4, "data": 64})
    assert view.checks[0].passed
    assert {row.value for row in view.rows if row.group == "single changes"} == {"fits already"}


def test_recomputation_lowers_the_peak_of_a_124m_model_and_leaves_it_at_the_loss():
    kept, redone = (answer("memory-timeline", {"recompute": word}) for word in ("none", "full"))
    assert all("loss, backward" in view.title for view in (kept, redone))
    most = [max(row.value for row in view.rows) for view in (kept, redone)]
    # Twelve layers keep 34 h bytes a token without their two dropout masks, 16 of two LayerNorms, 4 a head; 2 h with.
    assert most[0] - most[1] == pytest.approx(12 * 8 * 1024 * (32 * 768 + 16 + 4 * 12 - 2 * 768) / GIB)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tensor": "3"}, "tensor = '3': one of 1, 2, 4"),
        ({"tensor": "16", "model": "qwen2-0.5b"}, "tensor = 16: a divisor of n_heads = 14"),
        ({"zero_stage": "4"}, "zero_stage = '4': one of 0, 1, 2"),
        ({"zero_stage": "3"}, "zero_stage = 3: at most 1 with pipeline = 4"),
        ({"pipeline": 81}, "pipeline = 81"),
        ({"expert": 2}, "expert = 2: 1 for a model without experts"),
        ({"headroom": 1.5}, "headroom = 1.5"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_what_can(settings, words):
    with pytest.raises(RefusedError) as refused:
        answer("memory-ledger", settings)
    assert words in str(refused.value)


def test_a_model_without_moments_is_refused():
    with pytest.raises(RefusedError, match="moments"):
        answer("memory-timeline", {"framework": "seed 003"})


def test_a_chip_without_bf16_is_said_to_have_none():
    assert any("no bf16" in note for note in answer("memory-timeline", {}).notes)


@pytest.mark.parametrize("name", ["memory-ledger", "memory-fit", "memory-timeline"])
def test_what_the_framework_fixes_is_said_with_every_answer(name):
    words = " ".join(answer(name, {}).notes)
    assert all(word in words for word in ("adamw", "loss", "attention", "norm", "Sequence parallelism", "DP ", "PP "))


def test_one_change_is_not_called_changes():
    assert "one single change would" in answer("memory-fit", {"headroom": 0.5}).title


def test_the_setting_stands_above_the_lines():
    first, second, *_ = answer("memory-ledger", {"framework": "torchtitan 2024-12"}).rows
    assert (first.label, first.value) == ("layout", "DP 64, TP 8, PP 4")
    assert (second.label, second.value) == ("framework", "torchtitan 2024-12")
    assert all(words in first.formula for words in ("TP 8 + SP", "micro-batch 3 x 8,192", "recomputation none"))
    assert "loss torch" in second.formula
    groups = [row.group for row in answer("memory-ledger", {"recompute": "full", "pipeline": 1}).rows]
    runs = [group for group, before in zip(groups, [None, *groups], strict=False) if group != before]
    assert len(runs) == len(set(runs))  # no group is taken up twice


def test_an_absurd_sum_of_bytes_is_not_written_to_the_byte():
    settings = {"tensor": "1", "framework": "Megatron-DeepSpeed 2022", "micro_batch": 64}
    said = answer_text(solve("memory-ledger", settings), explain=True)
    assert "1.246e14 bytes allocated" in said

"""The chapter's tables of a ledger: every byte is in them, once, under the setting that it belongs to."""

from dataclasses import replace

import pytest

from lib.architecture import model
from lib.layout import Layout
from lib.memory import ledger, profile, tables
from lib.memory.measured import MEASURED

GIB = 2**30
MONTH = Layout(data=256, tensor=8, zero_stage=1, seq_len=8192, recompute="full")


def numbers(table):
    return [float(row[1].replace(",", "")) for row in table.rows if len(row) > 1]


@pytest.mark.parametrize("least", [0.0, 1e8])
def test_the_lines_sum_to_the_last_one(least):
    *lines, total = numbers(tables.terms(ledger(model("llama-3-70b"), MONTH), least))
    assert sum(lines) == pytest.approx(total, abs=0.005 * len(lines))  # each is rounded to a hundredth


def test_each_group_has_one_heading():
    headings = [row[0].split(":")[0] for row in tables.terms(ledger(model("gpt2"), Layout())).rows if len(row) == 1]
    assert len(headings) == len(set(headings)) > 4


def test_no_formula_multiplies_by_one():
    for name in ("gpt2", "mixtral-8x7b", "deepseek-v3"):
        table = tables.terms(ledger(model(name), Layout(), profile("torchtitan")))
        made = [row[2] for row in table.rows if len(row) > 1]
        assert not any(f" {part} ".count(" 1 ") for words in made for part in words.replace(" / ", " * ").split(" * "))


def test_layout_and_profile_stand_above_every_ledger():
    found = ledger(model("llama-3-70b"), MONTH)
    wanted = ("Llama 3 70B", "DP 256", "TP 8 + SP", "PP 1", "micro-batch 1", "8,192 tokens", "recomputation full")
    wanted += ("Megatron core 0.14", "bf16, fp32 gradients", "adamw", "128 x TP")
    for table in (tables.terms(found), tables.stages(found), tables.side_by_side([("one", found)])):
        assert all(words in table.caption for words in wanted)


def test_what_is_gathered_is_said_where_something_is():
    held = tables.setting(ledger(model("gpt2"), Layout(data=8), profile("deepspeed")))
    gathered = tables.setting(ledger(model("gpt2"), Layout(data=8, zero_stage=3), profile("deepspeed")))
    assert "Gathered" not in held
    assert "Gathered at once: up to 1B parameters" in gathered  # stage3_max_live_parameters = 1e9


def test_every_reading_that_lies_far_has_its_cause():
    far = {name for name, row in MEASURED.items() if row.error is not None and abs(row.error) > 0.1}
    rows = tables.causes(MEASURED.values()).rows
    assert far == {name for jobs, _, _ in rows for name in jobs.split("; ")} != set()
    assert len({cause for *_, cause in rows}) == len(rows)


def test_every_line_is_told_about_once():
    found = ledger(model("llama-3-70b"), MONTH)
    told = [name for row in tables.about(found).rows for name in row[0].split("; ")]
    assert sorted(told) == sorted(term.name for term in found.heaviest.peak.terms)


def test_a_profile_that_was_changed_says_so():
    used = replace(profile("megatron"), loss_chunks=8, sequence_parallel=False)
    caption = tables.setting(ledger(model("llama-3-70b"), MONTH, used))
    assert "in 8 parts" in caption
    assert "without SP" in caption


def test_bytes_a_parameter_are_those_of_the_papers():
    # Rajbhandari et al. 2020, section 3.1: 16. Megatron-LM, docs, distributed optimizer: 18 with fp32 gradients.
    pairs = (("bf16", "adamw"), ("bf16, fp32 gradients", "adamw"), ("bf16, fp32 gradients", "sgd, momentum"))
    table = tables.optimizers(model("llama-3-8b"), profile("megatron"), pairs)
    assert [row[2] for row in table.rows] == ["16.00", "18.00", "14.00"]


def test_one_gpu_alone_has_no_stream_of_reductions():
    """FSDP's pools are there only where weights are sharded."""
    names = {one: term_names(Layout(data=2, zero_stage=one)) for one in (0, 3)}
    assert "reduce-scatter stream" not in names[0]
    assert "reduce-scatter stream" in names[3]


def term_names(layout):
    stage = ledger(model("gpt2"), layout, profile("torchtitan")).heaviest
    return {term.name for event in stage.event_bytes for term in stage.at(event).terms}

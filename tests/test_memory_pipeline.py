"""What a pipeline keeps beside its layers, and buffers that experts and tensor ranks share."""

from dataclasses import replace

import pytest

from lib.architecture import model
from lib.layout import Layout
from lib.memory import ledger, profile

LLAMA = model("llama-3-8b")
TITAN = profile("torchtitan 2024-12, compiled")
ROW = 4096 * 4096 * 2  # tokens, width, bytes of one micro-batch's residual stream


def _terms(layout, stage, event, used=TITAN):
    found = ledger(LLAMA, layout, used).stages[stage].at(event)
    return {term.name: term.bytes for term in found.terms}


def _layout(**changes):
    fields = {"data": 2, "pipeline": 2, "zero_stage": 3, "micro_batches": 4, "seq_len": 4096, "recompute": "full"}
    return Layout(**fields | changes)


def test_torch_keeps_outputs_and_receive_buffers_of_every_micro_batch():
    # torch/distributed/pipelining/stage.py of 2024: output_chunks, args_recv_info, grad_recv_info
    first, last = (_terms(_layout(), stage, "layer, backward") for stage in (0, 1))
    assert first["received gradients"] == first["outputs of pieces"] == 4 * ROW
    assert "received inputs" not in first
    assert last["received inputs"] == 3 * ROW  # the fourth waits, and is its first layer's input
    assert "received gradients" not in last
    assert last["logits of micro-batches"] == 4 * 4096 * 128_256 * 2
    forward = _terms(_layout(), 1, "loss, forward")
    assert forward["logits of micro-batches"] == 3 * 4096 * 128_256 * 2  # the loss counts those it reads


def test_without_a_pipeline_nothing_of_the_kind_is_kept():
    found = _terms(_layout(pipeline=1), 0, "layer, backward")
    assert not {"received inputs", "received gradients", "outputs of pieces"} & set(found)


def test_megatron_hands_outputs_on():
    found = _terms(_layout(zero_stage=1), 0, "layer, backward", profile("megatron"))
    assert "outputs of pieces" not in found


@pytest.mark.parametrize(("micro_batches", "share"), [(2, 0.5), (4, 1.0)])
def test_pieces_that_take_turns_never_hold_all_unreduced_gradients(micro_batches, share):
    # with as many micro-batches as stages one piece has passed them all before the other begins its backward
    found = ledger(LLAMA, _layout(interleave=2, micro_batches=micro_batches), TITAN).stages[0]
    terms = {term.name: term.bytes for term in found.at("layer, backward").terms}
    assert terms["unreduced gradients"] == share * found.rank.held.total * 4


def test_sharded_gradients_come_behind_the_last_micro_batch_of_a_pipeline():
    assert "gradients" not in _terms(_layout(), 0, "layer, backward")
    assert "gradients" in _terms(_layout(), 0, "end of backward")
    assert "gradients" in _terms(_layout(pipeline=1), 0, "layer, backward")


def test_a_product_that_gathers_itself_holds_one_sequence_at_a_time():
    # torch/distributed/_symmetric_memory: fused_all_gather_matmul, fused_matmul_reduce_scatter
    layout = Layout(data=2, tensor=2, zero_stage=3, seq_len=4096, recompute="full")
    plain, fused = (_terms(layout, 0, "loss, forward", replace(TITAN, async_tensor=on)) for on in (False, True))
    assert plain["blocks of gathered sequences"] == 3 * ROW
    assert fused["blocks of gathered sequences"] == ROW


def test_grouped_products_have_scratch_memory_for_each_of_four_streams():
    # Transformer Engine 2, pytorch/module/base.py: 32 MiB for each stream from Hopper on
    mixtral = ledger(model("mixtral-8x7b"), Layout(data=8, expert=8, zero_stage=1)).heaviest
    dense = ledger(LLAMA, Layout()).heaviest
    assert {term.name: term.bytes for term in mixtral.peak.terms}["scratch of experts' products"] == 4 * 32 * 2**20
    assert "scratch of experts' products" not in {term.name for term in dense.peak.terms}


@pytest.mark.parametrize(("zero_stage", "each"), [(0, 4.0), (1, 2.0 / 8)])
def test_deepspeed_lays_gradients_end_to_end_before_its_step(zero_stage, each):
    # zero/stage_1_and_2.py: flatten(averaged_gradients).to(fp32); fp16/fused_optimizer.py flattens FP32 ones
    found = ledger(LLAMA, Layout(data=8, zero_stage=zero_stage), profile("Megatron-DeepSpeed 2022")).stages[0]
    terms = {term.name: term.bytes for term in found.at("layer, backward").terms}
    assert terms["gradients end to end"] == each * found.rank.held.total
    assert terms["kernels"] == (1573 - 512) * 2**20  # bigscience, chronicles-prequel.md: 1573MiB for cuda kernels

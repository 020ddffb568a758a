"""Layouts: what a model can be cut into, the refusals with their nearest values, and what each stage holds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import MixtureOfExperts, model
from lib.layout import RULES, Layout, check_layout, in_flight, layers_of, masks, place

LLAMA = model("llama-3-8b")  # 32 layers, 32 heads, 8 key heads, d_ff 14,336
LARGE = model("llama-3.1-405b")  # 126 layers

REFUSED = [
    ({"tensor": 3}, "tensor = 3: a divisor of n_heads = 32, .*; nearest 2 or 4"),
    ({"tensor": 64}, "tensor = 64: a divisor of n_heads = 32, .*; nearest 32"),
    ({"pipeline": 33}, "pipeline = 33: at most n_layers = 32 .*; nearest 32"),
    ({"pipeline": 4, "interleave": 16, "micro_batches": 4}, "interleave = 16: at most 8.*; nearest 8"),
    ({"pipeline": 4, "interleave": 3, "micro_batches": 4}, "interleave = 3: a divisor of 8, .*; nearest 2 or 4"),
    (
        {"pipeline": 5, "interleave": 2, "micro_batches": 5},
        "interleave = 2: 1, or layers_per_stage, .*pipeline of 4 or 8",
    ),
    ({"expert": 2, "data": 2}, "expert = 2: 1 for a model without experts"),
    ({"context": 3}, "context = 3: a divisor of seq_len = 2048, .*; nearest 2 or 4"),
    ({"pipeline": 2, "layers_per_stage": (10, 10)}, "layers_per_stage = .*: numbers that sum to n_layers = 32, not 20"),
]


@pytest.mark.parametrize(("degrees", "words"), REFUSED)
def test_an_impossible_layout_is_refused_with_the_rule_and_the_nearest_values(degrees, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        check_layout(LLAMA, Layout(**degrees))


CONTRADICTIONS = [
    ({"zero_stage": 4}, "zero_stage = 4: 0, 1, 2 or 3"),
    ({"interleave": 2}, "interleave = 2: 1 without pipeline stages"),
    (
        {"pipeline": 4, "interleave": 2, "micro_batches": 6},
        "micro_batches = 6: a multiple of pipeline = 4 .*; nearest 4 or 8",
    ),
    (
        {"zero_stage": 3, "pipeline": 2, "reshard_after_forward": True},
        "reshard_after_forward = True: False with zero_stage = 3",
    ),
    ({"recompute_layers": 2}, "recompute_layers = 2: None unless recompute is 'full'"),
    (
        {"pipeline": 2, "layers_per_stage": (1, 2, 3)},
        "layers_per_stage = .*: 2 numbers, one for each of 2 stages x 1 pieces",
    ),
]


@pytest.mark.parametrize(("degrees", "words"), CONTRADICTIONS)
def test_choices_that_contradict_each_other_are_refused_whatever_the_model(degrees, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        Layout(**degrees)


def test_a_model_of_experts_alone_is_cut_by_their_width():
    experts = MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=768)
    check_layout(replace(LLAMA, d_ff=15, moe=experts), Layout(tensor=8))
    with pytest.raises(ValueError, match=r"^tensor = 16: a divisor of expert width = 760, "):
        check_layout(replace(LLAMA, moe=replace(experts, d_ff_expert=760)), Layout(tensor=16))


def test_key_heads_may_be_fewer_than_tensor_ranks():
    check_layout(LLAMA, Layout(tensor=16))  # two ranks hold each of the 8 key heads


def test_weights_that_stay_gathered_go_with_a_pipeline():
    assert not Layout(zero_stage=3, pipeline=2).reshards
    assert Layout(zero_stage=3).reshards


@given(st.sampled_from((1, 2, 3, 4, 6, 8, 16, 32, 64)), st.sampled_from((1, 2, 4, 5, 32, 40)))
def test_a_mask_refuses_what_a_layout_is_refused_for(tensor, pipeline):
    columns = {"tensor": np.array([1.0, tensor]), "pipeline": np.array([1.0, pipeline])}
    refused = any(bool(np.atleast_1d(mask)[-1]) for mask in masks(LLAMA, **columns).values())
    try:
        check_layout(LLAMA, Layout(tensor=tensor, pipeline=pipeline))
    except ValueError:
        assert refused
    else:
        assert not refused


def test_masks_name_every_rule():
    assert set(masks(LLAMA, tensor=np.array([1.0]))) == {rule.name for rule in RULES}


def test_the_remainder_of_the_layers_goes_behind_the_first_stage():
    assert layers_of(LARGE, Layout(pipeline=8)) == (15, 16, 16, 16, 16, 16, 16, 15)


@given(st.integers(1, 32), st.integers(1, 64))
def test_stages_hold_every_layer_once(pipeline, micro_batches):
    stages = place(LLAMA, Layout(pipeline=pipeline, micro_batches=micro_batches))
    assert sum(stage.n_layers for stage in stages) == 32
    assert [stage.first for stage in stages] == [True] + [False] * (pipeline - 1)
    assert [stage.last for stage in stages] == [False] * (pipeline - 1) + [True]
    for stage in stages:
        assert stage.waiting == in_flight(stage.index, pipeline, micro_batches)


def test_interleaving_stores_more_on_the_first_stage():
    """Korthikanti et al. 2022, equation 6: 1 + (p - 1) / (p m) times a model's layers, p = 8, m = 3."""
    shape = replace(LARGE, n_layers=96)
    first = place(shape, Layout(pipeline=8, interleave=3, micro_batches=64))[0]
    assert first.stored_layers == pytest.approx(96 * (1 + 7 / (8 * 3)))


def test_interleaved_pieces_go_round_the_stages():
    stages = place(LLAMA, Layout(pipeline=2, interleave=2, micro_batches=2, layers_per_stage=(7, 8, 9, 8)))
    assert [stage.pieces for stage in stages] == [(7, 9), (8, 8)]


def test_a_step_is_data_times_micro_batches():
    layout = Layout(data=8, tensor=2, pipeline=2, context=2, micro_batch=2, micro_batches=4, seq_len=4096)
    assert (layout.n_gpus, layout.global_batch, layout.global_batch_tokens) == (64, 64, 262_144)
    assert layout.tokens == 4096

"""Experts, latent attention and layers that predict further tokens: parameters on each rank, and what they save."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import LatentAttention, MixtureOfExperts, Transformer, model
from lib.layout import Layout, check_layout
from lib.memory import PROFILES, expert_band, ledger, saved_bytes
from lib.memory.profiles import MEGATRON, TRANSFORMERS

UNPADDED = replace(MEGATRON, vocab_multiple=1)
MIXTRAL = Transformer(
    n_layers=32,
    d_model=4096,
    n_heads=32,
    n_kv_heads=8,
    d_ff=14_336,
    vocab_size=32_000,
    moe=MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=14_336),
)
DEEPSEEK = Transformer(
    n_layers=4,
    d_model=512,
    n_heads=8,
    d_ff=1024,
    vocab_size=4096,
    n_mtp_layers=1,
    moe=MixtureOfExperts(n_experts=16, experts_per_token=4, d_ff_expert=128, n_shared_experts=1, n_dense_layers=1),
    latent=LatentAttention(q_rank=96, kv_rank=64, nope_head_dim=32, rope_head_dim=16, v_head_dim=32),
)


def weights(shape, layout, profile=UNPADDED):
    """Parameters on each stage's rank, without and with experts, from the bytes of the weights."""
    for stage in ledger(shape, layout, profile).stages:
        found = {line.name: line.bytes / 2 for line in stage.phases[2].terms if line.group == "weights"}
        yield found["weights"], found.get("weights, experts", 0.0)


def test_mixtral_on_one_rank_is_all_of_mixtral():
    ((dense, experts),) = weights(MIXTRAL, Layout())
    assert dense + experts == MIXTRAL.n_params == 46_702_792_704


@pytest.mark.parametrize("expert", [1, 2, 4, 8])
@pytest.mark.parametrize("pipeline", [1, 2, 4])
def test_the_ranks_of_experts_and_stages_hold_every_parameter_once(expert, pipeline):
    layout = Layout(data=8, expert=expert, pipeline=pipeline, micro_batches=8)
    held = list(weights(MIXTRAL, layout))
    assert sum(dense + expert * experts for dense, experts in held) == MIXTRAL.n_params


def test_experts_are_sharded_over_the_ranks_that_hold_the_same_ones():
    layout = Layout(data=8, expert=4, zero_stage=1)
    lines = {line.name: line.bytes for line in ledger(MIXTRAL, layout, UNPADDED).stages[0].phases[2].terms}
    n_experts = MIXTRAL.n_params - (MIXTRAL.n_params - 32 * 8 * 3 * 4096 * 14_336)
    assert lines["master weights, experts"] == 4 * n_experts / 4 / 2
    assert lines["moments, experts"] == 8 * n_experts / 4 / 2


@given(tensor=st.sampled_from((2, 4, 8)))
def test_tensor_ranks_split_matrices_and_keep_norms_and_routers(tensor):
    ((whole_dense, whole_experts),) = weights(MIXTRAL, Layout())
    ((dense, experts),) = weights(MIXTRAL, Layout(tensor=tensor))
    kept = MIXTRAL.norm_params + 32 * 8 * 4096
    assert experts == whole_experts / tensor
    assert dense - kept == (whole_dense - kept) / tensor


def test_expert_parallelism_needs_experts_that_it_divides():
    check_layout(MIXTRAL, Layout(data=8, expert=8))
    with pytest.raises(ValueError, match=r"^expert = 3: a divisor of n_experts = 8, .*nearest 2 or 4"):
        check_layout(MIXTRAL, Layout(data=3, expert=3))
    with pytest.raises(ValueError, match=r"^expert = 8: a divisor of data \* context = 4, .*nearest 4"):
        check_layout(MIXTRAL, Layout(data=4, expert=8))


def test_a_mixtral_layer_of_transformers_saves_what_its_code_keeps():
    """MixtralTopKRouter and MixtralExperts of transformers 5, line by line, for each token and each of its k copies.

    Softmax 4 E; of the k choices an index of 8 and a weight of 4, their sum of 4. Of a copy its input 2 h, gate and up
    4 f, silu 2 f, their product 2 f, the output 2 h, its weight of 4 and two places of 8.
    """
    h, f, experts, k = 4096, 14_336, 8, 2
    tokens = 2048
    router = 4 * experts + 12 * k + 4
    copies = k * (4 * h + 8 * f + 20)
    layout = Layout(seq_len=tokens)
    attention = sum(saved_bytes(replace(MIXTRAL, moe=None), layout, TRANSFORMERS).values()) - tokens * (
        8 * h + 4 + 8 * f
    )
    found = sum(saved_bytes(MIXTRAL, layout, TRANSFORMERS, with_experts=True).values())
    assert found == attention + tokens * (8 * h + 4 + router + copies)


def test_a_layer_in_megatron_multiplies_inside_the_expert():
    inside, behind = (saved_bytes(MIXTRAL, Layout(), replace(MEGATRON, routing=r), True) for r in ("inside", "behind"))
    assert "expert outputs" not in inside
    assert behind["expert outputs"] == 2 * 2048 * 2 * 4096


def test_a_fuller_rank_stores_more_for_its_experts_alone():
    layout = Layout(data=8, expert=8, seq_len=4096)
    balanced, worst = expert_band(MIXTRAL, layout, MEGATRON, 2.0)
    assert balanced.peak_bytes < worst.peak_bytes
    one, two = (saved_bytes(MIXTRAL, layout, found.profile, True) for found in (balanced, worst))
    assert two["expert inner width"] == 2 * one["expert inner width"]
    assert two["queries"] == one["queries"]


def test_latent_attention_keeps_its_latent_vectors_on_every_rank():
    one, four = (saved_bytes(DEEPSEEK, Layout(tensor=t, sequence_parallel=False)) for t in (1, 4))
    assert one["latent vectors and their norms"] == four["latent vectors and their norms"]
    assert one["queries"] == 4 * four["queries"] == 2048 * 2 * 8 * 48
    assert one["values"] == 4 * four["values"] == 2048 * 2 * 8 * 32


def test_layers_for_further_tokens_are_on_the_last_stage():
    without = replace(DEEPSEEK, n_mtp_layers=0)
    table = DEEPSEEK.vocab_size * DEEPSEEK.d_model
    for pipeline, copied in ((1, 0), (2, table)):
        layout = Layout(pipeline=pipeline, micro_batches=4)
        more = [sum(a) - sum(b) for a, b in zip(weights(DEEPSEEK, layout), weights(without, layout), strict=True)]
        assert more == [0] * (pipeline - 1) + [DEEPSEEK.mtp_params + copied]
    last = ledger(DEEPSEEK, Layout(), PROFILES["torchtitan 2024-12"]).stages[-1]
    lines = {line.name: line.bytes for line in last.at("loss, forward").terms}
    assert lines["logits of further tokens"] == 4 * 2048 * DEEPSEEK.vocab_size


def test_a_dense_layer_has_no_experts_to_ask_for():
    with pytest.raises(ValueError, match=r"^with_experts = True: False for a model without experts"):
        saved_bytes(model("llama-3-8b"), Layout(), MEGATRON, with_experts=True)


def test_experts_hold_what_they_sent_received_and_got_back_until_it_is_summed():
    # Megatron-LM, core/transformer/moe/moe_layer.py: custom_forward keeps its names until combine returns
    layout = Layout(data=4, expert=4, zero_stage=1, seq_len=4096)
    found = ledger(DEEPSEEK, layout).heaviest.at("experts, forward")
    terms = {line.name: line.bytes for line in found.terms}
    sent = 4096 * 4 * 512 * 2  # tokens, experts of each, width, bytes
    assert terms["experts' outputs in order"] == sent
    assert terms["tokens on their way"] == 3 * sent
    assert terms["sums of experts' outputs"] == 2 * sent / 4  # the shared expert's and all


def test_without_an_exchange_what_was_sent_is_what_arrives():
    found = ledger(DEEPSEEK, Layout(zero_stage=1, seq_len=4096)).heaviest.at("experts, forward")
    assert {line.name: line.bytes for line in found.terms}["tokens on their way"] == 4096 * 4 * 512 * 2


@pytest.mark.parametrize(("shape", "profile"), [(model("llama-3-8b"), MEGATRON), (MIXTRAL, TRANSFORMERS)])
def test_no_copies_where_nothing_is_sent(shape, profile):
    assert "experts, forward" not in ledger(shape, Layout(), profile).heaviest.event_bytes

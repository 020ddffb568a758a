"""Mixtures of experts and latent attention: released counts, active ones, and what must hold for any of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import LatentAttention, MixtureOfExperts, Transformer, model
from lib.compute.flops import attention_flops, layer_flops, recomputed_flops
from lib.compute.mfu import CONVENTIONS
from lib.plan import A100_FORTNIGHT, Plan
from lib.whatif.catalogue import answer

MIXTRAL = Transformer(
    n_layers=32,
    d_model=4096,
    n_heads=32,
    n_kv_heads=8,
    d_ff=14336,
    vocab_size=32000,
    moe=MixtureOfExperts(n_experts=8, experts_per_token=2, d_ff_expert=14336),
)
QWEN3_30B = Transformer(
    n_layers=48,
    d_model=2048,
    n_heads=32,
    n_kv_heads=4,
    head_dim=128,
    d_ff=6144,
    vocab_size=151936,
    qk_norm="head",
    moe=MixtureOfExperts(n_experts=128, experts_per_token=8, d_ff_expert=768),
)
V2_LITE = Transformer(
    n_layers=27,
    d_model=2048,
    n_heads=16,
    d_ff=10944,
    vocab_size=102400,
    latent=LatentAttention(kv_rank=512, nope_head_dim=128, rope_head_dim=64, v_head_dim=128),
    moe=MixtureOfExperts(n_experts=64, experts_per_token=6, d_ff_expert=1408, n_shared_experts=2, n_dense_layers=1),
)
V3 = Transformer(
    n_layers=61,
    d_model=7168,
    n_heads=128,
    d_ff=18432,
    vocab_size=129280,
    n_mtp_layers=1,
    latent=LatentAttention(q_rank=1536, kv_rank=512, nope_head_dim=128, rope_head_dim=64, v_head_dim=128),
    moe=MixtureOfExperts(
        n_experts=256,
        experts_per_token=8,
        d_ff_expert=2048,
        n_shared_experts=1,
        n_dense_layers=3,
        router_buffer=True,
    ),
)
GPT_OSS_20B = Transformer(
    n_layers=24,
    d_model=2880,
    n_heads=64,
    n_kv_heads=8,
    head_dim=64,
    d_ff=2880,
    vocab_size=201088,
    qkv_bias=True,
    attention_output_bias=True,
    attention_sinks=True,
    windows=(128, None),
    moe=MixtureOfExperts(n_experts=32, experts_per_token=4, d_ff_expert=2880, router_bias=True, expert_bias=True),
)

# total, input table, one layer, norms, biases, active; as PyTorch counts the models that transformers 5.24 builds.
COUNTED = [
    (MIXTRAL, 46702792704, 131072000, 1451270144, 266240, 0, 12879925248),
    (QWEN3_30B, 30532122624, 311164928, 623120640, 210944, 0, 3353032704),
    (V2_LITE, 15706484224, 209715200, 584847872, 126464, 0, 2661150208),
    (GPT_OSS_20B, 20914757184, 579133440, 823186976, 141120, 6828288, 4187440704),
]


@pytest.mark.parametrize(("shape", "total", "table", "layer", "norms", "biases", "active"), COUNTED)
def test_a_model_with_experts_has_the_parameters_that_its_framework_counts(
    shape, total, table, layer, norms, biases, active
):
    assert (shape.n_params, shape.input_embedding_params, shape.layer_params) == (total, table, layer)
    assert (shape.norm_params, shape.bias_params) == (norms, biases)
    assert (shape.n_params_active, shape.non_embedding_params_active) == (active, active - table)


def test_deepseek_v3_stores_its_balance_beside_its_parameters():
    # transformers 5.24 counts 671,026,404,352 parameters; the checkpoint's tensors hold 671,026,419,200 numbers.
    assert V3.n_params == 671_026_404_352
    assert V3.n_params + V3.router_buffers == 671_026_419_200


def test_deepseek_v3_has_another_eleven_billion_for_the_second_token():
    # deepseek-ai/DeepSeek-V3, README_WEIGHTS.md: "11.5B unique parameters" beside the shared table and head. Its list
    # has the layer and the matrix that joins two widths; the layer alone rounds to 11.5, both to 11.6.
    layer = V3.layer_params
    assert round(layer / 1e9, 1) == 11.5
    assert V3.mtp_params == layer + 2 * 7168 * 7168 + 3 * 7168
    assert replace(V3, n_mtp_layers=0).n_params == V3.n_params


def test_deepseek_counts_active_parameters_without_the_input_table():
    # deepseek-ai/DeepSeek-V3, README_WEIGHTS.md: 36.6B in the file beside the weights, "including 0.9B for the output
    # head"; the copy on GitHub has 36.7B for the same.
    assert round(V3.non_embedding_params_active / 1e9, 1) == 36.6


def test_gpt_oss_is_published_without_its_input_table():
    # openai/gpt-oss, README.md: "21B parameters with 3.6B active parameters"; with the input table it would be 4.2B.
    assert round(GPT_OSS_20B.n_params / 1e9) == 21
    assert round(GPT_OSS_20B.non_embedding_params_active / 1e9, 1) == 3.6


# What publishers print: total and active, in billions, rounded as printed. Qwen counts the input table, OpenAI not.
@pytest.mark.parametrize(
    ("name", "total", "active", "input_table"),
    [
        ("Qwen1.5 MoE A2.7B", 14.3, 2.7, True),  # Qwen/Qwen1.5-MoE-A2.7B, model card
        ("Qwen3 30B-A3B", 30.5, 3.3, True),  # Qwen/Qwen3-30B-A3B, model card
        ("Qwen3 235B-A22B", 235, 22, True),  # Qwen/Qwen3-235B-A22B, model card
        ("gpt-oss 120B", 117, 5.1, False),  # openai/gpt-oss, README.md
    ],
)
def test_published_totals_are_met_to_their_rounding(name, total, active, input_table):
    shape = model(name)
    counted = shape.n_params_active if input_table else shape.non_embedding_params_active
    assert shape.n_params / 1e9 == pytest.approx(total, abs=0.5 if total > 100 else 0.05)
    assert counted / 1e9 == pytest.approx(active, abs=0.5 if active > 10 else 0.1)


def test_the_latent_cache_of_deepseek_v2_is_576_numbers_a_layer():
    # DeepSeek-AI 2024, arXiv:2405.04434, section 2.1.3: (d_c + d_h^R) l numbers a token, with 512 and 64.
    assert V3.kv_cache_width == V2_LITE.kv_cache_width == 576
    assert MIXTRAL.kv_cache_width == 2 * 8 * 128


def test_layers_are_named_one_by_one():
    assert [V3.has_experts(i) for i in (0, 2, 3, 60)] == [False, False, True, True]
    assert V3.components_of_layer(0) == V3.dense_layer_components
    assert V3.components_of_layer(60) == V3.layer_components
    assert [GPT_OSS_20B.window(i) for i in (0, 1, 22, 23)] == [128, None, 128, None]
    with pytest.raises(ValueError, match="layer = 61: from 0 to 60"):
        V3.has_experts(61)


def test_attention_of_narrow_values_costs_less_than_of_wide_ones():
    # 2 FLOPs a number of the key and of the value head, for each pair of positions: 192 + 128, not 2 * 192.
    assert attention_flops(V3, 4096, "full") == 2 * 61 * 128 * (192 + 128) * 4096


SMALL = {"n_layers": 2, "d_model": 64, "n_heads": 4, "d_ff": 192, "vocab_size": 1000}
EXPERTS = {"n_experts": 4, "experts_per_token": 2, "d_ff_expert": 32}
LATENT = {"kv_rank": 16, "nope_head_dim": 8, "rope_head_dim": 4, "v_head_dim": 8}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experts_per_token": 5}, "experts_per_token = 5: at most n_experts = 4"),
        ({"n_experts": 0}, "n_experts = 0: a whole number, 1 or more"),
        ({"d_ff_shared": 32}, "d_ff_shared = 32: .*n_shared_experts = 0"),
        ({"n_shared_experts": 1, "d_ff_shared": 0}, "d_ff_shared = 0: above 0 with shared experts"),
        ({"n_dense_layers": 2}, "moe = .*: experts in one of the 2 layers at least"),
        ({"layer_period": 3}, "moe = .*: experts in one of the 2 layers at least"),
    ],
)
def test_experts_that_cannot_be_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Transformer(**SMALL, moe=MixtureOfExperts(**EXPERTS | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_kv_heads": 2}, "n_kv_heads, head_dim = 2, 12: with latent attention 4, 12"),
        ({"head_dim": 16}, "n_kv_heads, head_dim = 4, 16: with latent attention 4, 12"),
        ({"qk_norm": "head"}, "qk_norm = 'head': none with latent attention"),
        ({"windows": (0,)}, r"windows\[0\] = 0: a whole number"),
    ],
)
def test_attention_that_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Transformer(**SMALL | change, latent=LatentAttention(**LATENT))


sizes = st.integers(1, 12)


@st.composite
def mixtures(draw):
    n_experts = draw(sizes)
    shared = draw(st.integers(0, 3))
    return MixtureOfExperts(
        n_experts=n_experts,
        experts_per_token=draw(st.integers(1, n_experts)),
        d_ff_expert=draw(sizes),
        n_shared_experts=shared,
        d_ff_shared=draw(st.none() | sizes) if shared else None,
        n_dense_layers=draw(st.integers(0, 4)),
        layer_period=draw(st.integers(1, 4)),
        dense_layers=tuple(draw(st.lists(st.integers(0, 12), max_size=4))),
        router_bias=draw(st.booleans()),
        expert_bias=draw(st.booleans()),
        shared_gate=draw(st.booleans()),
    )


@st.composite
def shapes(draw):
    moe = draw(mixtures())
    latent = draw(st.none() | st.builds(LatentAttention, q_rank=st.none() | sizes, **dict.fromkeys(LATENT, sizes)))
    n_layers = draw(st.integers(1, 12).filter(moe.n_layers_of))
    return Transformer(
        n_layers=n_layers,
        d_model=8 * draw(sizes),
        n_heads=draw(st.sampled_from([1, 2, 4, 8])),
        d_ff=draw(sizes),
        vocab_size=draw(sizes),
        qkv_bias=draw(st.booleans()),
        attention_output_bias=draw(st.booleans()),
        mlp_bias=draw(st.booleans()),
        gated=draw(st.booleans()),
        moe=moe,
        latent=latent,
    )


@given(mixtures(), st.integers(1, 40))
def test_the_layers_with_experts_are_as_many_as_have_them(moe, n_layers):
    assert moe.n_layers_of(n_layers) == sum(moe.in_layer(i) for i in range(n_layers))


@given(shapes())
def test_the_layers_one_by_one_are_all_of_them(shape):
    layers = sum(sum(shape.components_of_layer(i).values()) for i in range(shape.n_layers))
    assert shape.n_params == layers + shape.d_model + 2 * shape.vocab_size * shape.d_model


@given(shapes())
def test_what_is_active_and_what_is_idle_are_the_whole(shape):
    routed = shape.components["routed experts"]
    share = 1 - shape.moe.experts_per_token / shape.moe.n_experts
    assert shape.n_params - shape.n_params_active == pytest.approx(routed * share, rel=1e-12)
    every = replace(shape.moe, experts_per_token=shape.moe.n_experts)
    assert replace(shape, moe=every).n_params_active == shape.n_params


@given(shapes())
def test_an_active_parameter_is_a_weight_of_a_product_a_norm_a_bias_or_a_row(shape):
    idle_biases = shape.idle_params - replace(shape, moe=replace(shape.moe, expert_bias=False)).idle_params
    products = shape.matmul_params + shape.head_matmul_params
    biases = shape.bias_params - idle_biases
    assert shape.n_params_active == products + shape.norm_params + biases + shape.input_embedding_params


@given(shapes(), st.integers(1, 4096))
def test_experts_are_repeated_to_their_end(shape, seq_len):
    found = {again: recomputed_flops(shape, seq_len, "causal", again) for again in ("full", "stopping_early")}
    dense = shape.n_layers - shape.n_moe_layers
    assert found["full"] - found["stopping_early"] == pytest.approx(2 * dense * shape.d_ff * shape.d_model, abs=1e-3)


@given(shapes())
def test_one_expert_that_every_token_passes_is_an_mlp_with_a_router(shape):
    one = MixtureOfExperts(n_experts=1, experts_per_token=1, d_ff_expert=shape.d_ff, expert_bias=shape.mlp_bias)
    routed, dense = replace(shape, moe=one), replace(shape, moe=None)
    assert routed.n_params - dense.n_params == shape.n_layers * shape.d_model
    assert layer_flops(routed) - layer_flops(dense) == 2 * shape.n_layers * shape.d_model


def test_a_plan_of_a_mixture_spends_its_flops_on_active_parameters():
    brief = replace(A100_FORTNIGHT, model="mixtral-8x7b")
    found = Plan(brief=brief).allocation
    assert found.n_params == 12_879_925_248
    assert 6 * found.n_params * found.n_tokens == pytest.approx(brief.useful_flops)
    assert found.source.startswith("the active parameters")


def test_a_dense_model_has_nothing_idle():
    llama = model("llama-3-8b")
    assert (llama.n_moe_layers, llama.idle_params, llama.mtp_params, llama.router_buffers) == (0, 0, 0, 0)
    assert llama.n_params_active == llama.n_params


def test_a_utilization_of_a_mixture_counts_what_a_token_meets():
    rule, bridge = (CONVENTIONS[name].counted_params(model("mixtral-8x7b")) for name in ("6N", "Megatron-Bridge"))
    assert (rule, bridge) == (12_879_925_248, 12_748_853_248)


@pytest.mark.parametrize("name", ["days-and-mfu", "mfu-conventions"])
def test_a_what_if_about_a_mixture_says_that_it_counts_active_parameters(name):
    notes = " ".join(answer(name, {"model": "mixtral-8x7b"}).notes)
    assert "N counts the 12.88B parameters that a token meets, of 46.7B" in notes
    assert "mixture" not in " ".join(answer(name, {"model": "llama-3-8b"}).notes)

"""Saved tensors against what PyTorch saves: closed forms found with PyTorch 2.13 and transformers 5.24, to the byte.

b sequences of s tokens, T = b s, width h, a heads of hd, kv key heads, feed-forward width f, vocabulary V.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import Transformer, model
from lib.layout import Layout
from lib.memory import head_bytes, ledger, saved_bytes
from lib.memory.profiles import MEGATRON, TORCHTITAN, TORCHTITAN_COMPILED, Profile

GIB = 2**30
PLAIN = Profile(name="transformers", source="transformers 5", mlp="unfused", attention="flash", score_bytes=6.0)
GPT = replace(PLAIN, mlp="fused", score_bytes=2.0, norm_statistic_bytes=2.0)
LAYOUT = Layout(micro_batch=2, seq_len=96)


@st.composite
def llamas(draw):
    kv, group, head_dim = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from((16, 64, 80)))
    sizes = {"n_heads": kv * group, "n_kv_heads": kv, "head_dim": head_dim, "d_ff": draw(st.integers(1, 400))}
    return Transformer(n_layers=3, d_model=draw(st.integers(8, 300)), vocab_size=draw(st.integers(9, 999)), **sizes)


@st.composite
def gpts(draw):
    heads, head_dim = draw(st.integers(1, 6)), draw(st.sampled_from((16, 64)))
    h = heads * head_dim
    biased = dict.fromkeys(("qkv_bias", "attention_output_bias", "mlp_bias"), True)
    sizes = {"d_model": h, "n_heads": heads, "d_ff": 4 * h, "learned_positions": 96}
    return Transformer(n_layers=3, vocab_size=500, gated=False, tied=True, norm="layer", **sizes, **biased)


def symbols(shape, layout=LAYOUT):
    sizes = (shape.d_model, shape.n_heads, shape.head_dim, shape.n_kv_heads, shape.d_ff, shape.vocab_size)
    return layout.micro_batch, layout.seq_len, layout.micro_batch * layout.seq_len, *sizes


NORMS = {
    "upcast": (4.0, lambda h: 16 * h + 8),
    "plain": (2.0, lambda h: 12 * h + 4),
    "fused": (4.0, lambda h: 8 * h + 8),
    "composite": (4.0, lambda h: 20 * h + 8),
}


@pytest.mark.parametrize("norm", NORMS)
@given(shape=llamas())
def test_a_llama_layer_saves_what_pytorch_saves(norm, shape):
    statistic, of_norms = NORMS[norm]
    profile = replace(PLAIN, norm=norm, norm_statistic_bytes=statistic)
    b, s, tokens, h, a, hd, kv, f, _ = symbols(shape)
    rest = of_norms(h) + 8 * f
    assert sum(saved_bytes(shape, LAYOUT, profile).values()) == tokens * (4 * a * hd + 4 * kv * hd + 4 * a + rest)
    eager = saved_bytes(shape, LAYOUT, replace(profile, attention="eager"))
    assert sum(eager.values()) == tokens * (8 * a * hd + rest) + 6 * b * a * s**2


@given(shape=llamas())
def test_a_norm_in_fp32_without_weights_saves_its_input_in_fp32(shape):
    """OlmoLayerNorm of transformers: layer_norm(x.float()) saves 4 h and two statistics, its output is cast to 2 h."""
    olmo = replace(shape, norm="none")
    narrow, wide = (
        saved_bytes(olmo, LAYOUT, replace(PLAIN, norm=kind, norm_statistic_bytes=4.0)) for kind in ("fused", "wide")
    )
    assert wide["MLP norm, input"] == 2 * narrow["MLP norm, input"] == 192 * 4 * olmo.d_model
    assert wide["MLP norm, output"] == narrow["MLP norm, output"] == 192 * 2 * olmo.d_model


@given(shape=llamas())
def test_autocast_keeps_a_cast_for_every_reader_and_every_weight(shape):
    _, _, tokens, h, a, hd, kv, f, _ = symbols(shape)
    found = saved_bytes(shape, LAYOUT, replace(PLAIN, norm="autocast"))
    each = 26 * h + 8 + 4 * a * hd + 4 * kv * hd + 4 * a + 8 * f
    assert sum(found.values()) == tokens * each + 2 * shape.layer_matmul_params


GPT_FORMS = {
    "flash": ({}, lambda h, a: 32 * h + 4 * a + 8, 0),
    "flash, dropout": ({"hidden_dropout": 0.1}, lambda h, a: 34 * h + 4 * a + 8, 0),
    "flash, dropout on the CPU": (
        {"hidden_dropout": 0.1, "dropout_mask_bytes": 2.0},
        lambda h, a: 36 * h + 4 * a + 8,
        0,
    ),
    "eager": ({"attention": "eager"}, lambda h, a: 32 * h + 8, 2),
    "eager, dropout": (
        {"attention": "eager", "hidden_dropout": 0.1, "attention_dropout": 0.1},
        lambda h, a: 34 * h + 8,
        5,
    ),
    "eager, dropout on the CPU": (
        {"attention": "eager", "hidden_dropout": 0.1, "attention_dropout": 0.1, "dropout_mask_bytes": 2.0},
        lambda h, a: 36 * h + 8,
        6,
    ),
    "stock gelu": ({"mlp": "unfused"}, lambda h, a: 56 * h + 4 * a + 8, 0),
    "fallback, attention dropout": ({"attention": "math", "attention_dropout": 0.1}, lambda h, a: 42 * h + 8, 12),
}


@pytest.mark.parametrize("form", GPT_FORMS)
@given(shape=gpts())
def test_a_gpt_2_layer_saves_what_pytorch_saves(form, shape):
    changes, each, scores = GPT_FORMS[form]
    b, s, tokens, h, a, *_ = symbols(shape)
    found = saved_bytes(shape, LAYOUT, replace(GPT, **changes))
    assert sum(found.values()) == tokens * each(h, a) + scores * b * a * s**2


@given(shape=llamas())
def test_head_and_loss_save_what_pytorch_saves(shape):
    _, _, tokens, h, *_, rows = symbols(shape)
    upcast = replace(PLAIN, norm="upcast")
    plain = replace(PLAIN, norm="plain", norm_statistic_bytes=2.0)
    assert sum(head_bytes(shape, LAYOUT, upcast).values()) == tokens * (8 * h + 4 + 4 * rows) + 4
    assert (
        sum(head_bytes(shape, LAYOUT, replace(upcast, loss="torch, bf16")).values())
        == tokens * (8 * h + 4 + 2 * rows) + 2
    )
    assert sum(head_bytes(shape, LAYOUT, plain).values()) == tokens * (6 * h + 2 + 4 * rows) + 4


@given(shape=gpts())
def test_the_head_behind_layer_norm_saves_what_pytorch_saves(shape):
    _, _, tokens, h, *_, rows = symbols(shape)
    assert sum(head_bytes(shape, LAYOUT, GPT).values()) == tokens * (4 * h + 4 + 4 * rows) + 4


@given(shape=llamas())
def test_a_recomputed_layer_saves_its_input(shape):
    assert saved_bytes(shape, replace(LAYOUT, recompute="full"), PLAIN) == {"layer input": 2 * 192 * shape.d_model}


@given(shape=llamas())
def test_a_whole_llama_saves_its_layers_head_ids_labels_and_positions(shape):
    """Whole model: layers + head + 8 T of ids + 8 T of labels + 4 s hd of cosines and sines."""
    profile = replace(PLAIN, norm="upcast")
    phase = ledger(shape, LAYOUT, profile).stages[0].at("loss, forward")
    saved = ("activations", "logits and loss")
    loss = sum(term.bytes for term in phase.terms if term.name == "logits")
    found = sum(term.bytes for term in phase.terms if term.group in saved) - loss
    _, s, tokens, *_, rows = symbols(shape)
    layer, head = (
        sum(part.values()) for part in (saved_bytes(shape, LAYOUT, profile), head_bytes(shape, LAYOUT, profile))
    )
    assert found == 3 * layer + head - 4 * tokens * rows + 16 * tokens + 4 * s * shape.head_dim


KORTHIKANTI = replace(
    MEGATRON, norm_statistic_bytes=0.0, attention="eager", hidden_dropout=0.1, attention_dropout=0.1, vocab_multiple=1
)
GPT3 = Transformer(
    n_layers=96, d_model=12_288, n_heads=96, d_ff=4 * 12_288, vocab_size=51_200, gated=False, norm="layer"
)
EIGHT = Layout(tensor=8, pipeline=8, interleave=3, micro_batches=64, seq_len=2048)
CASES = {
    "none, tensor only": (replace(EIGHT, sequence_parallel=False), 66.84375),
    "none, sequence parallel": (EIGHT, 41.41),
    "selective, sequence parallel": (replace(EIGHT, recompute="selective"), 12.3515625),
    "full": (replace(EIGHT, recompute="full", sequence_parallel=False), 5.81),
}


def test_a_layer_of_gpt_saves_34_sbh_and_5_as2b():
    """Korthikanti et al. 2022, equation 1."""
    found = sum(saved_bytes(GPT3, Layout(seq_len=2048), KORTHIKANTI).values())
    assert found == 34 * 2048 * 12_288 + 5 * 96 * 2048**2


@pytest.mark.parametrize("case", CASES)
def test_the_first_stage_of_gpt_3_stores_what_the_paper_says(case):
    """Korthikanti et al. 2022, table 2, equation 6 and figure 1: 175B, tensor 8, pipeline 8 in 3 pieces."""
    layout, gib = CASES[case]
    stage = ledger(GPT3, layout, KORTHIKANTI).stages[0].stage
    found = stage.stored_layers * sum(saved_bytes(GPT3, layout, KORTHIKANTI).values())
    assert found / GIB == pytest.approx(gib, abs=0.005)


def test_in_fp8_products_save_their_inputs_in_one_byte():
    """Transformer Engine: norm outputs and the MLP's product in one byte, attention's output once more in one."""
    shape, layout = model("llama-3-8b"), Layout(seq_len=1024)
    wide, narrow = (
        sum(saved_bytes(shape, layout, replace(MEGATRON, precision=kind)).values())
        for kind in ("bf16, fp32 gradients", "fp8, fp32 gradients")
    )
    assert wide - narrow == 1024 * (2 * 4096 + 14_336 - 4096)


def test_the_policy_of_torchtitan_keeps_every_second_product():
    """Query, value, gate and down of seven products, attention's output and statistics, and the layer's input."""
    shape, layout = model("llama-3-8b"), Layout(seq_len=1024, recompute="selective")
    eager, compiled = (
        sum(saved_bytes(shape, layout, profile).values()) for profile in (TORCHTITAN, TORCHTITAN_COMPILED)
    )
    assert eager == 1024 * (4 * 2 * 4096 + 2 * 1024 + 2 * 14_336 + 4 * 32)
    assert eager - compiled == 1024 * 2 * 4096  # nothing in backward reads the MLP's output


def test_key_heads_that_ranks_share_are_not_split_further():
    shape = model("llama-3-8b")  # 8 key heads
    assert saved_bytes(shape, Layout(tensor=32))["keys"] == saved_bytes(shape, Layout(tensor=8))["keys"]
    assert saved_bytes(shape, Layout(tensor=32))["queries"] == saved_bytes(shape, Layout(tensor=8))["queries"] / 4


def test_the_first_layers_alone_may_be_recomputed():
    shape = model("llama-3-8b")
    full, none = Layout(recompute="full"), Layout()
    some = ledger(shape, Layout(recompute="full", recompute_layers=8)).stages[0].at("loss, forward")
    found = sum(
        term.bytes for term in some.terms if term.name in saved_bytes(shape, none) or term.name == "layer input"
    )
    layers = 8 * sum(saved_bytes(shape, full).values()) + 24 * sum(saved_bytes(shape, none).values())
    assert found == layers


@given(shape=llamas())
def test_in_fp32_every_number_takes_four_bytes(shape):
    """Statistics of norms and softmax are four bytes in either case."""
    narrow, wide = (saved_bytes(shape, LAYOUT, replace(MEGATRON, precision=p)) for p in ("pure bf16", "fp32"))
    for name, found in wide.items():
        assert found == narrow[name] * (1 if "statistics" in name else 2)

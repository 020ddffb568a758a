"""Conventions of utilization: published figures converted, round trips, and refusals that name the slip."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import Transformer, model
from lib.compute import mfu, model_flops_utilization, training_days
from lib.compute.mfu import (
    CONVENTIONS,
    MfuConvention,
    convention,
    convert,
    days_ratio,
    days_under,
    reported,
    tokens_per_second_per_gpu,
)

LLAMA_8B = model("llama-3-8b")
TFLOPS = "TFLOP/s per GPU"
A100, H100, TPU_V4 = 312e12, 989.4e12, 275e12

GPT = {"gated": False, "tied": True, "norm": "layer", "qkv_bias": True, "attention_output_bias": True, "mlp_bias": True}


def gpt(n_layers, d_model, n_heads, vocab_size=51_200):
    """A model of GPT's kind, as Megatron-LM and llm-foundry train it: d_ff four times the width, 2,048 positions."""
    sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": 4 * d_model}
    return Transformer(vocab_size=vocab_size, learned_positions=2048, **sizes, **GPT)


MEGATRON_22B, MEGATRON_175B, MEGATRON_530B = gpt(48, 6144, 64), gpt(96, 12_288, 96), gpt(105, 20_480, 128)
MPT_7B, MPT_70B = gpt(32, 4096, 32, 50_368), gpt(80, 8192, 64, 50_368)

shapes = st.builds(
    Transformer,
    n_layers=st.integers(1, 100),
    d_model=st.integers(1, 64).map(lambda k: 128 * k),
    n_heads=st.integers(1, 64),
    n_kv_heads=st.just(1),
    head_dim=st.sampled_from([64, 128, 256]),
    d_ff=st.integers(1, 65_536),
    vocab_size=st.integers(1, 256_000),
    tied=st.booleans(),
)
lengths = st.integers(1, 131_072)
conventions = st.builds(
    MfuConvention,
    params=st.sampled_from(list(mfu.PARAMS)),
    attention=st.sampled_from(["none", "causal", "full"]),
    recompute=st.sampled_from(list(mfu.COUNTED_RECOMPUTE)),
    peak_flops=st.floats(1e13, 1e16),
)


def over(name, peak_flops):
    return convention(name).dividing_by(peak_flops, "as published")


@pytest.fixture(scope="module")
def np():
    """NumPy where it is installed: in the browser's Python these tests rest."""
    return pytest.importorskip("numpy")


# Published figures. The tolerance is half a unit in the last digit that the source prints.


def test_13812_tokens_a_second_are_800_teraflops_with_full_attention():
    # NVIDIA/Megatron-LM, examples/llama/README.md
    assert reported(13_812, TFLOPS, convention("Megatron-LM"), LLAMA_8B, 8192) == pytest.approx(800, abs=0.5)


def test_14451_tokens_a_second_are_744_teraflops_with_the_causal_half():
    # NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md, 25.11
    assert reported(14_451, TFLOPS, convention("Megatron-Bridge"), LLAMA_8B, 8192) == pytest.approx(744, abs=0.5)


def test_the_larger_teraflops_are_the_slower_run():
    megatron, bridge = convention("Megatron-LM"), convention("Megatron-Bridge")
    assert convert(800, TFLOPS, megatron, TFLOPS, bridge, LLAMA_8B, 8192) == pytest.approx(711, abs=0.5)


@pytest.mark.parametrize(("name", "ratio"), [("6N", 1.0), ("Megatron-LM", 1.20), ("Megatron-Bridge", 1.07)])
def test_days_of_llama_3_8b_at_8k_against_6nd(name, ratio):
    assert days_ratio(convention(name), LLAMA_8B, 8192) == pytest.approx(ratio, abs=0.005)


def test_maxtext_s_45_46_percent_on_a_v6e():
    # AI-Hypercomputer/maxtext, docs/reference/models/tiering.md: "approx." 7,207 tokens/s, over 918e12
    mfu_printed = reported(7207, "MFU", over("Megatron-LM", 918e12), LLAMA_8B, 8192)
    assert mfu_printed == pytest.approx(0.4546, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "unit", "printed"), [("6N", "MFU", 0.457), ("PaLM", "MFU", 0.462), ("PaLM hardware", "HFU", 0.578)]
)
def test_palm_s_three_utilizations_are_one_speed(name, unit, printed):
    # Chowdhery et al. 2022, section 4.1; 238.3K tokens/s on 6,144 TPU v4
    palm = Transformer(
        n_layers=118, d_model=18_432, n_heads=48, n_kv_heads=1, head_dim=256, d_ff=73_728, vocab_size=256_000, tied=True
    )
    assert reported(238_300 / 6144, unit, over(name, TPU_V4), palm, 2048) == pytest.approx(printed, abs=5e-4)


def test_palm_s_flops_a_token_with_and_without_recomputation():
    palm = Transformer(
        n_layers=118, d_model=18_432, n_heads=48, n_kv_heads=1, head_dim=256, d_ff=73_728, vocab_size=256_000, tied=True
    )
    # Chowdhery et al. 2022, Table 22: 3.28 and 4.10 TFLOP a token
    assert convention("PaLM").flops_per_token(palm, 2048) == pytest.approx(3.28e12, abs=5e9)
    assert convention("PaLM hardware").flops_per_token(palm, 2048) == pytest.approx(4.10e12, abs=5e9)


@pytest.mark.parametrize(
    ("shape", "n_params", "speed", "peak", "mfu_printed", "hfu_printed"),
    [
        (MPT_7B, 6_658_859_008, 85_144 / 8, H100, 0.4644, None),  # 7b, 2048, 8 H100, no checkpointing
        (MPT_70B, 64_862_437_376, 17_672 / 64, A100, 0.3587, 0.4782),  # 70b, 2048, 64 A100 40GB, checkpointing
    ],
)
def test_llm_foundry_s_table(shape, n_params, speed, peak, mfu_printed, hfu_printed):
    # mosaicml/llm-foundry, scripts/train/benchmarking/README.md
    assert shape.n_params == n_params
    assert reported(speed, "MFU", over("PaLM", peak), shape, 2048) == pytest.approx(mfu_printed, abs=5e-5)
    if hfu_printed:
        hfu = reported(speed, "HFU", over("llm-foundry hardware", peak), shape, 2048)
        assert hfu == pytest.approx(hfu_printed, abs=5e-5)


@pytest.mark.parametrize(
    ("shape", "tokens", "step_seconds", "mfu_printed", "hfu_printed", "rounding"),
    [
        (MEGATRON_22B, 4 * 2048 / 8, 1.10, 0.415, 0.437, 0.005 / 1.10),
        (MEGATRON_530B, 280 * 2048 / 280, 37.83, 0.560, 0.570, 0.005 / 37.83 + 0.001),
    ],
)
def test_korthikanti_s_table_5(shape, tokens, step_seconds, mfu_printed, hfu_printed, rounding):
    # Korthikanti et al. 2022, Table 5, selective recomputation: the step is rounded to 0.01 s, the figures to 0.1%.
    speed = tokens / step_seconds
    found_mfu = reported(speed, "MFU", over("Megatron-LM", A100), shape, 2048)
    found_hfu = reported(speed, "HFU", over("Korthikanti hardware", A100), shape, 2048)
    assert found_mfu == pytest.approx(mfu_printed, rel=rounding)
    assert found_hfu == pytest.approx(hfu_printed, rel=rounding)


def test_attention_once_more_would_not_give_korthikanti_s_hfu():
    # Its equation has s/3h, which is attention twice; recomputing its forward pass adds a third of it: s/4.5h.
    once = MfuConvention(params="without_input_table", attention="full", recompute="selective", peak_flops=A100)
    assert reported(4 * 2048 / 8 / 1.10, "HFU", once, MEGATRON_22B, 2048) < 0.425 < 0.437


@pytest.mark.parametrize(
    ("shape", "n_gpus", "tflops", "days"),
    [
        (MEGATRON_175B, 384, 153, 84),
        (MEGATRON_175B, 1536, 141, 23),
        (MEGATRON_530B, 560, 171, 156),
        (MEGATRON_175B, 384, 144, 90),  # ZeRO-3
    ],
)
def test_narayanan_s_days_for_300_billion_tokens(shape, n_gpus, tflops, days):
    # Narayanan et al. 2021, Table 2: both columns are whole numbers, so the days are known to half a TFLOP/s and half.
    speed = tokens_per_second_per_gpu(tflops, TFLOPS, convention("Megatron-LM hardware"), shape, 2048)
    found = 300e9 / (n_gpus * speed) / 86_400
    assert abs(found - days) < 0.5 + found * 0.5 / tflops


@pytest.mark.parametrize(("shape", "n_layers", "h"), [(MEGATRON_22B, 48, 6144), (MEGATRON_530B, 105, 20_480)])
def test_the_formula_of_narayanan_is_met_term_by_term(shape, n_layers, h):
    # 96 B s L h^2 (1 + s/6h + V/16Lh), a token; norms and biases are in our N and not in it.
    printed = 96 * n_layers * h**2 * (1 + 2048 / (6 * h) + 51_200 / (16 * n_layers * h))
    found = convention("Megatron-LM hardware").flops_per_token(shape, 2048)
    assert found == pytest.approx(printed, rel=2e-4)


def test_megatron_turing_nlg_s_126_teraflops():
    # Smith et al. 2022, section 2.4: 1,920 sequences in 60.1 s on 2,240 GPUs
    speed = 1920 * 2048 / 60.1 / 2240
    found = reported(speed, TFLOPS, convention("Megatron-LM hardware"), MEGATRON_530B, 2048)
    assert found == pytest.approx(126, abs=0.5)
    # and what the PaLM paper makes of the same speed, Table 3
    assert reported(speed, "MFU", over("PaLM", A100), MEGATRON_530B, 2048) == pytest.approx(0.302, abs=5e-4)


@pytest.mark.parametrize(
    ("tflops", "printed"), [(408.8, 0.41), (489.1, 0.49), (419.7, 0.42), (432.8, 0.44), (459.9, 0.47)]
)
def test_megatron_core_s_table_divides_by_989(tflops, printed):
    # NVIDIA/Megatron-LM, README.md, weak scaling on H100: TFLOP/s and MFU of the same row
    megatron = over("Megatron-LM", 989e12)
    shape = gpt(24, 2048, 16, 131_072)
    found = convert(tflops, TFLOPS, megatron, "MFU", megatron, shape, 4096)
    assert found == pytest.approx(printed, abs=0.005)


def test_an_fp8_run_has_half_the_mfu_over_its_own_peak():
    # The same speed over two peaks: 800 TFLOP/s are 81% of an H100's bf16 peak and 40% of its fp8 peak.
    speed = tokens_per_second_per_gpu(800, TFLOPS, convention("Megatron-LM"), LLAMA_8B, 8192)
    over_bf16 = reported(speed, "MFU", over("Megatron-LM", H100), LLAMA_8B, 8192)
    over_fp8 = reported(speed, "MFU", over("Megatron-LM", 1978.9e12), LLAMA_8B, 8192)
    assert (round(over_bf16, 2), round(over_fp8, 2)) == (0.81, 0.40)


# What a convention counts.


def test_a_tied_table_stays_because_it_is_the_head():
    tied = Transformer(n_layers=2, d_model=64, n_heads=4, d_ff=192, vocab_size=1000, tied=True)
    untied = Transformer(n_layers=2, d_model=64, n_heads=4, d_ff=192, vocab_size=1000)
    megatron = convention("Megatron-LM")
    assert megatron.counted_params(tied) == megatron.counted_params(untied) == tied.n_params


def test_llama_3_8b_without_its_input_table_and_without_both():
    assert convention("6N").counted_params(LLAMA_8B) == 8_030_261_248
    assert convention("Megatron-LM").counted_params(LLAMA_8B) == 7_504_924_672
    assert convention("Kaplan").counted_params(LLAMA_8B) == 6_979_588_096


def test_nanogpt_leaves_learned_positions_out():
    without = MfuConvention(params="without_input_table")
    assert without.counted_params(model("gpt2")) == 124_439_808 - 786_432


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_says_who_uses_it_and_where_it_is_defined(name):
    found = CONVENTIONS[name]
    assert found.name == name
    assert found.used_by
    assert found.source
    assert found.measure == ("HFU" if "hardware" in name else "MFU")
    assert found.words.startswith("6 N")


def test_names_are_found_as_they_are_typed():
    assert convention("palm") is convention("PaLM")
    assert convention("megatron_lm hardware") is convention("Megatron-LM hardware")
    with pytest.raises(ValueError, match=r"^convention = 'pam': one of .*; did you mean 'PaLM'"):
        convention("pam")


# Laws.


@given(conventions, shapes, lengths, st.floats(0.01, 1), st.integers(1, 10_000))
def test_a_figure_comes_back_from_a_speed(counted, shape, seq_len, utilization, n_gpus):
    speed = tokens_per_second_per_gpu(utilization, counted.measure, counted, shape, seq_len)
    for unit in (counted.measure, TFLOPS, "tokens/s per GPU", "tokens/s"):
        figure = reported(speed, unit, counted, shape, seq_len, n_gpus)
        assert tokens_per_second_per_gpu(figure, unit, counted, shape, seq_len, n_gpus) == pytest.approx(
            speed, rel=1e-12
        )


@given(conventions, conventions, shapes, lengths, st.floats(1, 900))
def test_there_and_back_again(one, other, shape, seq_len, tflops):
    there = convert(tflops, TFLOPS, one, TFLOPS, other, shape, seq_len)
    assert convert(there, TFLOPS, other, TFLOPS, one, shape, seq_len) == pytest.approx(tflops, rel=1e-12)
    counts = other.flops_per_token(shape, seq_len) / one.flops_per_token(shape, seq_len)
    assert there / tflops == pytest.approx(counts, rel=1e-12)


@given(shapes, lengths, st.floats(1e9, 1e15), st.integers(1, 10_000), st.floats(0.01, 1))
def test_under_6n_the_days_are_those_of_6nd(shape, seq_len, n_tokens, n_gpus, utilization):
    found = days_under(over("6N", H100), shape, n_tokens, seq_len, n_gpus, utilization)
    assert found == pytest.approx(training_days(shape.n_params, n_tokens, n_gpus, H100, utilization), rel=1e-12)


@given(conventions, shapes, lengths, st.floats(0.01, 1), st.integers(1, 10_000))
def test_a_run_lasts_its_tokens_over_its_speed(counted, shape, seq_len, utilization, n_gpus):
    speed = tokens_per_second_per_gpu(utilization, counted.measure, counted, shape, seq_len)
    found = days_under(counted, shape, 1e12, seq_len, n_gpus, utilization)
    assert found == pytest.approx(1e12 / (n_gpus * speed) / 86_400, rel=1e-12)


@given(shapes, lengths, st.floats(1, 1e5))
def test_the_mfu_by_6n_is_that_of_the_four_functions(shape, seq_len, speed):
    peak = 12 * shape.n_params * speed  # twice what the speed needs
    found = reported(speed, "MFU", over("6N", peak), shape, seq_len)
    assert found == pytest.approx(model_flops_utilization(shape.n_params, speed, 1, peak), rel=1e-12)


@given(conventions, shapes, lengths, st.floats(0.01, 1), st.floats(1e-3, 1e3))
def test_a_change_of_the_unit_of_time_changes_the_speed_alone(counted, shape, seq_len, utilization, k):
    slower = counted.dividing_by(counted.peak_flops / k, "k times slower")
    speed = tokens_per_second_per_gpu(utilization, counted.measure, counted, shape, seq_len)
    assert tokens_per_second_per_gpu(utilization, counted.measure, slower, shape, seq_len) == pytest.approx(speed / k)


@given(conventions, shapes, st.lists(lengths, min_size=1, max_size=4), st.floats(1, 900))
def test_an_array_gives_what_its_entries_give(np, counted, shape, seq_lens, tflops):
    array = np.array(seq_lens, dtype=float)
    found = tokens_per_second_per_gpu(tflops, TFLOPS, counted, shape, array).tolist()
    assert found == pytest.approx([tokens_per_second_per_gpu(tflops, TFLOPS, counted, shape, s) for s in seq_lens])
    assert reported(found[0], TFLOPS, counted, shape, array).shape == array.shape
    assert days_ratio(counted, shape, array).tolist() == pytest.approx(
        [days_ratio(counted, shape, s) for s in seq_lens]
    )


# Refusals.

GOOD = {"figure": 0.4, "unit": "MFU", "convention": over("PaLM", H100), "model": LLAMA_8B, "seq_len": 8192}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"figure": 46.2}, r"figure = 46\.2: a fraction above 0, at most 1; 46\.2% is written 0\.462"),
        ({"figure": 0}, "figure = 0: a finite number above 0"),
        ({"figure": math.nan}, "figure = nan: a finite number above 0"),
        ({"unit": "mfu"}, "unit = 'mfu': one of MFU, HFU"),
        ({"unit": "HFU"}, "unit = 'HFU': MFU, for the convention 'PaLM' counts no recomputation"),
        ({"seq_len": 0.5}, r"seq_len = 0\.5: a whole number"),
        ({"convention": convention("PaLM")}, "peak_flops = None: a peak for 'PaLM'"),
        ({"unit": "tokens/s", "figure": 1e6}, "n_gpus = None: a whole number"),
        ({"unit": "tokens/s", "figure": 1e6, "n_gpus": 0}, "n_gpus = 0: a whole number"),
    ],
)
def test_what_cannot_be_converted_is_refused(changed, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        tokens_per_second_per_gpu(**GOOD | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"figure": "0.4"}, "figure = '0.4'"),
        ({"figure": True}, "figure = True"),
        ({"convention": "PaLM"}, "convention = 'PaLM'"),
        ({"model": "llama-3-8b"}, "model = 'llama-3-8b'"),
        ({"unit": None}, "unit = None"),
    ],
)
def test_a_wrong_kind_is_refused_by_name(changed, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        tokens_per_second_per_gpu(**GOOD | changed)


def test_a_speed_beyond_the_peak_is_refused():
    with pytest.raises(ValueError, match=r"^mfu = 2\.\d+: at most 1, for no machine beats its peak"):
        reported(50_000, "MFU", over("6N", H100), LLAMA_8B, 8192)


def test_the_hfu_is_the_word_where_recomputation_is_counted():
    message = "^unit = 'MFU': HFU, for the convention 'PaLM hardware' counts recomputation"
    with pytest.raises(ValueError, match=message):
        reported(100, "MFU", over("PaLM hardware", H100), LLAMA_8B, 8192)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"params": "all"}, ValueError),
        ({"attention": "half"}, ValueError),
        ({"recompute": True}, TypeError),
        ({"peak_flops": 0}, ValueError),
        ({"peak_flops": "989e12"}, TypeError),
        ({"peak": 989e12}, TypeError),
    ],
)
def test_a_convention_that_says_nothing_clear_is_refused(fields, error):
    with pytest.raises(error, match=f"^{next(iter(fields))} = "):
        MfuConvention(**fields)

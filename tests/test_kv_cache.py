"""The cache of keys and values: published sizes, and what must hold for any model and context."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import MODELS, Transformer, model
from lib.architecture.kv_cache import kv_cache_bytes, layers_by_window, next_token_bytes
from lib.compute.flops import attention_flops, windowed_attention_flops

GEMMA = model("gemma-3-1b")


@pytest.fixture(scope="module")
def np():
    """NumPy where it is installed: in the browser's Python these tests rest."""
    return pytest.importorskip("numpy")


def test_the_cache_of_llama_3_70b_takes_a_third_of_a_megabyte_a_token():
    # 2 (keys, values) x 80 layers x 8 heads x 128 numbers x 2 bytes.
    assert next_token_bytes(model("llama-3-70b"), 0) == 2 * 80 * 8 * 128 * 2 == 327_680


def test_windows_stop_growing_and_the_rest_does_not():
    assert next_token_bytes(GEMMA, 511) == next_token_bytes(GEMMA, 0) == 26 * 512 * 2
    assert next_token_bytes(GEMMA, 512) == 4 * 512 * 2
    assert kv_cache_bytes(GEMMA, 8192) == (22 * 512 + 4 * 8192) * 512 * 2


contexts = st.integers(1, 40_000)
windows = st.lists(st.none() | st.integers(1, 20_000), min_size=1, max_size=9).map(tuple)


@given(windows, contexts)
def test_the_cache_is_the_sum_of_what_every_token_added(looks, context):
    shape = Transformer(n_layers=7, d_model=64, n_heads=4, d_ff=64, vocab_size=10, windows=looks)
    longer = kv_cache_bytes(shape, context + 1) - kv_cache_bytes(shape, context)
    assert longer == next_token_bytes(shape, context)


@given(windows)
def test_every_layer_is_in_one_group(looks):
    shape = Transformer(n_layers=7, d_model=64, n_heads=4, d_ff=64, vocab_size=10, windows=looks)
    found = layers_by_window(shape)
    each = [shape.window(i) for i in range(7)]
    assert found == {window: each.count(window) for window in each}


def test_no_window_costs_more_than_looking_at_everything():
    for name in MODELS:
        shape = MODELS[name]
        open_shape = replace(shape, windows=(None,))
        assert kv_cache_bytes(shape, 100_000) <= kv_cache_bytes(open_shape, 100_000)
        assert windowed_attention_flops(open_shape, 8192) == pytest.approx(attention_flops(shape, 8192, "causal"))
        assert windowed_attention_flops(shape, 8192) <= attention_flops(shape, 8192, "causal") * (1 + 1e-12)


@given(st.integers(1, 300), st.integers(1, 300))
def test_windowed_attention_is_the_mean_of_what_each_token_sees(window, seq_len):
    shape = Transformer(n_layers=1, d_model=2, n_heads=1, d_ff=1, vocab_size=1, windows=(window,))
    seen = sum(min(t, window) for t in range(1, seq_len + 1)) / seq_len
    # Half of the diagonal is left out, as publishers do: at most one key a token less.
    assert 4 * 2 * (seen - 1) <= windowed_attention_flops(shape, seq_len) <= 4 * 2 * seen


def test_arrays_of_contexts_give_arrays(np):
    found = kv_cache_bytes(GEMMA, np.array([8.0, 8192.0]))
    assert list(found) == [kv_cache_bytes(GEMMA, 8), kv_cache_bytes(GEMMA, 8192)]
    assert list(next_token_bytes(GEMMA, np.array([0.0, 8192.0]))) == [26624.0, 4096.0]
    assert list(windowed_attention_flops(GEMMA, np.array([8.0]))) == [windowed_attention_flops(GEMMA, 8)]

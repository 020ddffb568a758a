"""The compiler's word: bytes of arguments against the ledger, to the byte; FLOPs against the exact count."""

from dataclasses import replace

import jax
import pytest

from lib.architecture import Transformer, model
from lib.layout import Layout
from lib.pilot import compiled
from lib.pilot.compiled import compile_step
from lib.pilot.cuts import rows
from lib.pilot.lower import facts

LLAMA = model("llama-3-70b")
SMALL = Transformer(n_layers=3, d_model=64, n_heads=8, n_kv_heads=2, d_ff=192, vocab_size=1000)
# 1,001 words are padded to 1,002 rows; 2 tensor ranks share a key head, whose bias of 8 no 3 data ranks can cut.
ODD = {"n_kv_heads": 1, "vocab_size": 1001, "d_model": 66, "embedding_width": 66, "head_dim": 8, "qkv_bias": True}
ODD = replace(SMALL, norm="layer", **ODD)
CASES = {
    "whole Llama 3 70B, ZeRO 1": (
        LLAMA,
        Layout(data=8, tensor=8, zero_stage=1, sequence_parallel=True, seq_len=8192),
        "bf16, fp32 gradients",
    ),
    "key heads shared, sides that do not divide, ZeRO 2": (
        ODD,
        Layout(data=3, tensor=2, zero_stage=2, micro_batch=3, seq_len=32),
        "fp32, bf16 compute",
    ),
    "one device, no gate": (
        replace(SMALL, tied=True, gated=False, learned_positions=64),
        Layout(seq_len=64, micro_batch=2),
        "bf16",
    ),
}


@pytest.fixture(scope="module")
def words():
    """What the compiler said, by case; each is asked once."""
    return {}


@pytest.fixture(params=CASES)
def word(request, words, monkeypatch):
    shape, layout, precision = CASES[request.param]
    if layout.n_gpus <= jax.device_count():  # here, for the start of a process is half of what it costs
        monkeypatch.setattr(compiled, "_ask", lambda *asked: facts(shape, layout, precision))
    if request.param not in words:
        words[request.param] = compile_step(shape, layout, precision)
    return words[request.param]


def test_the_arguments_are_the_states_and_the_words_to_the_byte(word):
    assert word.unexplained_bytes == 0


def test_another_precision_micro_batch_or_norm_would_be_seen(word):
    precision = "bf16" if word.precision == "bf16, fp32 gradients" else "bf16, fp32 gradients"
    assert replace(word, precision=precision).unexplained_bytes != 0
    assert replace(word, layout=replace(word.layout, micro_batch=7)).unexplained_bytes == 8 * word.layout.seq_len * (
        word.layout.micro_batch - 7
    )
    assert replace(word, shape=replace(word.shape, norms_outside_layers=0)).unexplained_bytes > 0


def test_they_are_the_ledgers_states_but_for_what_does_not_divide(word):
    states = sum(word.ledger_bytes.values())
    assert word.argument_bytes == pytest.approx(states + word.rounding_bytes + word.batch_bytes, rel=1e-12)
    if word.shape == ODD:
        assert 0 < word.rounding_bytes < 0.05 * states
    else:
        assert word.rounding_bytes == 0


def test_the_products_cost_what_is_counted_exactly(word):
    """Attention in full, nothing recomputed; but for padded rows, and shared key heads that each rank projects to."""
    shape, layout = word.shape, word.layout
    copies = max(1, layout.tensor // shape.n_kv_heads) - 1
    padding = rows(shape, layout) - shape.vocab_size
    more = 2 * shape.n_layers * shape.d_model * shape.kv_width * copies + shape.d_model * padding
    n_tokens = layout.data * layout.micro_batch * layout.seq_len
    if not more:
        assert word.dot_flops == word.exact_flops
    else:
        assert word.exact_flops < word.dot_flops <= word.exact_flops + 6 * more * n_tokens


def test_the_table_adds_up(word):
    cells = [float(row[1].replace(",", "")) for row in word.table.rows]
    assert sum(cells[:-2]) == pytest.approx(cells[-2], abs=len(cells))
    assert cells[-2] == cells[-1]
    assert "jax 0." in word.table.caption


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"shape": "llama"}, "shape = 'llama'"),
        ({"layout": Layout(data=65)}, "layout.n_gpus = 65: at most 64 virtual devices"),
        ({"layout": Layout(tensor=3)}, "tensor = 3: a divisor of n_heads"),
        ({"layout": Layout(pipeline=2)}, "layout.pipeline = 2: 1, for the pilot"),
        ({"layout": Layout(recompute="full")}, "layout.recompute = 'full': 'none'"),
        ({"precision": "fp64"}, "precision = 'fp64'"),
        ({"timeout_seconds": 0}, "timeout_seconds = 0: a finite number above 0"),
        ({"shape": replace(SMALL, learned_positions=16)}, "seq_len = 2048: at most 16"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_process_starts(changed, words, monkeypatch):
    monkeypatch.setattr(compiled, "_ask", None)
    with pytest.raises((TypeError, ValueError), match=words):
        compile_step(**{"shape": SMALL, "layout": Layout(), "precision": "bf16"} | changed)


def test_a_compiler_that_takes_too_long_is_ended():
    with pytest.raises(TimeoutError, match=r"timeout_seconds = 0\.1: the compiler was not done"):
        compile_step(SMALL, Layout(), timeout_seconds=0.1)


def test_jaxs_own_refusal_is_passed_on_in_a_line(monkeypatch):
    monkeypatch.setenv("JAX_ENABLE_X64", "perhaps")  # is refused first of all
    with pytest.raises(RuntimeError, match=r"^JAX: ValueError: invalid truth value 'perhaps' .*$"):
        compiled._ask({}, 1, 60)


def test_without_jax_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="install the extra `pilot`"):
        compile_step(SMALL, Layout())


@pytest.mark.parametrize(
    "changed", [{"argument_bytes": 0}, {"dot_flops": -1}, {"seconds": -1.0}, {"precision": "fp8"}, {"layout": None}]
)
def test_a_word_with_a_wrong_field_is_refused(changed):
    good = {"shape": SMALL, "layout": Layout(), "precision": "bf16", "argument_bytes": 1, "temporary_bytes": 0}
    good |= {"dot_flops": 1, "cost_flops": 1.0, "versions": "", "seconds": 1.0}
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(changed))} = "):
        compiled.CompiledStep(**good | changed)

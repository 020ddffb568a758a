"""Rules for learning rate and batch: the published ones to their printed checks."""

import pytest

from lib.architecture import Transformer
from lib.recipe.lr_law import (
    DEEPSEEK,
    GPT3_TABLE,
    STEP_LAW,
    SizeTable,
    deepseek_batch_tokens,
    deepseek_compute,
    deepseek_peak_lr,
    fitted,
)

approx = pytest.approx


@pytest.mark.parametrize(
    ("compute", "peak_lr", "batch"),
    [(8.49e22, 4.24e-4, 9.24e6), (8.65e23, 3.18e-4, 19.74e6)],  # arXiv:2401.02954: its 7B and 67B
)
def test_deepseeks_law_at_its_own_models(compute, peak_lr, batch):
    assert deepseek_peak_lr(compute) == approx(peak_lr, rel=2e-3)
    assert deepseek_batch_tokens(compute) == approx(batch, rel=2e-3)


def test_deepseeks_compute_counts_attention_and_no_vocabulary():
    small = Transformer(n_layers=30, d_model=4096, n_heads=32, d_ff=11008, vocab_size=102_400)
    assert deepseek_compute(small, 2e12, 4096) == approx(8.49e22, rel=2e-3)


def test_as_a_law_of_size_and_tokens_deepseeks_takes_6_n_d():
    assert DEEPSEEK["peak_lr"].at(9e9, 2e11) == approx(deepseek_peak_lr(6 * 9e9 * 2e11))
    assert DEEPSEEK["global_batch_tokens"].at(9e9, 2e11) == approx(deepseek_batch_tokens(6 * 9e9 * 2e11))


def test_step_law_as_printed():
    assert STEP_LAW["peak_lr"].at(1e9, 1e11) == approx(1.79 * 1e9**-0.713 * 1e11**0.307)
    assert STEP_LAW["global_batch_tokens"].at(1e9, 1e11) == approx(0.58 * 1e11**0.571)


@pytest.mark.parametrize(
    ("n_params", "peak_lr", "batch"),
    [(125e6, 6e-4, 0.5e6), (1.32e9, 2e-4, 1e6), (6.66e9, 1.2e-4, 2e6), (174.6e9, 0.6e-4, 3.2e6)],  # Table 2.1
)
def test_gpt3s_table_at_its_rows(n_params, peak_lr, batch):
    assert GPT3_TABLE["peak_lr"].at(n_params, 300e9) == approx(peak_lr)
    assert GPT3_TABLE["global_batch_tokens"].at(n_params, 300e9) == approx(batch)


def test_a_table_is_read_on_log_axes_between_its_rows_and_level_beyond_them():
    table = SizeTable(name="two rows", sizes=(1e9, 1e11), values=(4e-4, 1e-4))
    assert table.at(1e10, 1.0) == approx(2e-4)
    assert (table.at(1e6, 1.0), table.at(1e13, 1.0)) == (4e-4, 1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": (4e-4,)}, "values = 1 numbers: as many as sizes has, 2"),
        ({"sizes": (1e11, 1e9)}, r"sizes = \(100000000000.0, 1000000000.0\): rising numbers"),
        ({"sizes": (1e9, -1.0)}, r"sizes\[1\] = -1: a finite number above 0"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        SizeTable(**{"name": "two rows", "sizes": (1e9, 1e11), "values": (4e-4, 1e-4)} | changes)


def test_larger_models_take_lower_rates_and_longer_runs_higher_ones_and_larger_batches():
    rate, batch = fitted("peak_lr"), fitted("global_batch_tokens")
    assert rate.params_exponent < 0 < rate.tokens_exponent
    assert batch.params_exponent > 0
    assert batch.tokens_exponent > 0

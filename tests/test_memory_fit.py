"""Fits and what would make them: margins in one unit, changes that pass and are no larger than they need be."""

from dataclasses import replace

import pytest

from lib.architecture import model
from lib.hardware import accelerator
from lib.layout import Layout
from lib.memory import changes, fit, ledger

LLAMA = model("llama-3-8b")
TIGHT = ledger(LLAMA, Layout(data=8, zero_stage=1, micro_batch=4, seq_len=8192))


def test_a_device_s_bytes_are_its_driver_s_and_not_its_sheet_s():
    """81,559 MiB are 85.5e9 bytes, neither 80e9 nor 80 * 2^30."""
    found = fit(TIGHT, "h100", headroom=0.0)
    assert found.usable_bytes == 81_559 * 2**20
    assert accelerator("h100").memory_gb == 80


def test_a_margin_is_usable_less_needed():
    found = fit(TIGHT, "h100", headroom=0.25)
    assert found.margin_bytes == found.memory_bytes - found.headroom_bytes - TIGHT.peak_bytes
    assert found.fits == (found.margin_bytes >= 0)


def test_a_layout_that_does_not_fit_is_a_result():
    found = fit(ledger(model("llama-3-70b"), Layout(seq_len=8192)), "h100")
    assert not found.fits
    assert "too much" in found.text


def test_every_change_fits_and_the_smallest_comes_first():
    assert not fit(TIGHT, "h100").fits
    found = changes(TIGHT, "h100")
    assert found
    assert all(change.fit.fits for change in found)
    saved = [change.saved_bytes for change in found]
    assert saved == sorted(saved)
    assert saved[0] >= -fit(TIGHT, "h100").margin_bytes


def test_a_change_keeps_the_gpus_and_the_batch():
    for change in changes(TIGHT, "h100"):
        layout = change.fit.found.layout
        assert layout.n_gpus == 8
        assert layout.global_batch == TIGHT.layout.global_batch


def test_a_change_is_a_single_one():
    for change in changes(TIGHT, "h100"):
        other = change.fit.found
        assert (other.layout == TIGHT.layout) != (other.profile == TIGHT.profile)


def test_what_no_single_change_can_mend_has_none():
    assert changes(ledger(model("llama-3.1-405b"), Layout(seq_len=8192)), "h100") == ()


def test_a_device_whose_driver_nobody_asked_is_refused():
    chip = replace(accelerator("h100"), memory_bytes=None)
    with pytest.raises(ValueError, match=r"^accelerator = 'H100 SXM': a device whose driver's total was read"):
        fit(TIGHT, chip)

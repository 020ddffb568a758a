"""The ledger against published readings of real jobs: errors stay in bounds, and what is open is a range."""

import pytest

from lib.memory.measured import MEASURED, SHOWN_FROM, median_error

GIB = 2**30
BY_ALLOCATOR = [row for row in MEASURED.values() if row.counter != "driver"]


# GiB, as published: torchtitan's, SimuMax's, Megatron-LM's and BigScience's pages, which the rows name.
READINGS = [82.4, 77.0, 67.0, 83.9, 84.0, 71.9, 72.7, 66.55, 39.07, 81.59, 68.43, 45.63, 54.192, 26.223, 49.8]
READINGS += [38, 44, 56, 65, 76]
# The same pages' other rows, and golden values of Megatron-LM, in bytes, which came after the profiles were written.
READINGS += [76.8, 62.0, 61.8, 84.2, 84.5, 67.6, 82.5, 75.3, 75.9, 77.1, 84.9]
READINGS += [60.68, 28.29, 62.97, 87.08, 52.89, 38.57, 44.70, 104.30, 114.00]
READINGS += [104.51, 112.67, 147.99, 87.03, 139.22, 118.13]
GOLDEN = [57_143_791_616, 60_518_293_504, 60_851_265_536, 27_638_417_408, 28_533_706_752]
READINGS += [n_bytes / GIB for n_bytes in GOLDEN]
READINGS += [29, 37, 49, 69, 72, 57, 53]
OPEN = {"Llama 3 405B, 1F1B, 256k on CP 8"}  # what the ledger does not reach; its row names the cause
INFERRED = {"Mixtral 8x7B, TP 2 x PP 4 x EP 4"}  # a range, as its degree is not published


def test_the_readings_are_those_that_were_published():
    assert [row.peak_bytes / GIB for row in MEASURED.values() if row.peak_bytes] == pytest.approx(READINGS, abs=6e-4)


def test_the_median_error_of_the_peak_is_at_most_a_twentieth():
    assert median_error(BY_ALLOCATOR) <= 0.05


def test_no_peak_is_off_by_more_than_fifteen_percent():
    for row in BY_ALLOCATOR:
        assert abs(row.error) <= (0.17 if row.name in OPEN else 0.15)


def test_the_median_error_above_the_states_is_at_most_a_tenth():
    assert median_error(BY_ALLOCATOR, above_states=True) <= 0.10


def test_nothing_above_the_states_is_off_by_more_than_a_fifth():
    for row in BY_ALLOCATOR:
        assert abs(row.error_above_states) <= (0.24 if row.name in INFERRED else 0.20)


AFTER = [row for row in BY_ALLOCATOR if not row.seen]


def test_what_came_after_was_predicted_before_it_was_looked_at():
    assert len(AFTER) == 31
    assert all(row.first_bytes for row in AFTER)
    assert not any(row.first_bytes for row in MEASURED.values() if row.seen)


def test_the_first_word_on_readings_that_came_after_is_within_a_twentieth_at_the_median():
    assert median_error(AFTER, first=True) <= 0.05


def test_what_was_mended_since_made_the_median_no_worse():
    median = median_error(AFTER)
    assert median <= median_error(AFTER, first=True)
    assert median_error(AFTER, above_states=True) <= 0.10


def test_the_last_stage_can_be_the_one_that_was_read():
    row = MEASURED["Llama 3 70B of 12 layers, PP 2, last stage"]
    assert row.predicted_bytes == row.found.stages[-1].bytes("allocated") < row.found.bytes("allocated")


def test_a_range_reaches_the_reading_where_a_degree_is_inferred():
    for name in INFERRED:
        low, high = MEASURED[name].range_bytes
        assert low < MEASURED[name].peak_bytes < high


def test_an_error_above_a_tenth_has_its_cause_beside_it():
    for row in MEASURED.values():
        if row.error is not None and abs(row.error) > SHOWN_FROM:
            assert row.cause


def test_what_ran_out_of_memory_is_predicted_not_to_fit():
    failed = [row for row in MEASURED.values() if not row.fits]
    assert failed
    assert all(row.predicted_bytes > 80 * GIB for row in failed)


def test_what_stays_behind_a_step_is_met_where_it_was_read():
    assert MEASURED["GPT 7B, TP 4"].static_error == pytest.approx(0, abs=0.01)


def test_what_the_allocator_holds_is_met_where_it_was_read_beside_what_it_gave_out():
    errors = [row.reserved_error for row in MEASURED.values() if row.reserved_bytes]
    assert len(errors) == 8
    assert max(map(abs, errors)) < 0.05


def test_what_a_source_leaves_open_is_a_range_that_says_so():
    assert any(row.range_bytes[0] < row.range_bytes[1] for row in MEASURED.values())
    for row in MEASURED.values():
        low, high = row.range_bytes
        assert low <= row.predicted_bytes <= high
        assert low == high or row.other is not None
        assert row.other is None or row.doubt

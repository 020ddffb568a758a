"""One formula for floats and arrays: each function gives an array what it gives the array's entries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lib import elementwise
from lib.elementwise import ceil, every, exp, floor, is_array, log, maximum, minimum, power, where

finite = st.floats(-1e15, 1e15)
bounds = st.floats(allow_nan=False)


def rows(elements):
    return arrays.arrays(np.float64, 3, elements=elements)


@given(a=rows(bounds), b=rows(bounds))
@pytest.mark.parametrize("function", [maximum, minimum])
def test_the_larger_and_smaller_of_arrays_are_those_of_their_entries(function, a, b):
    assert function(a, b).tolist() == [function(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert function(a, 1.5).tolist() == [function(x, 1.5) for x in a.tolist()]
    assert function(1.5, b).tolist() == [function(1.5, y) for y in b.tolist()]


@given(values=rows(finite))
@pytest.mark.parametrize("function", [ceil, floor])
def test_rounding_of_an_array_is_that_of_its_entries(function, values):
    assert function(values).tolist() == [function(value) for value in values.tolist()]
    assert all(isinstance(function(value), float) for value in values.tolist())


@given(values=rows(st.floats(1e-300, 1e300)))
def test_a_logarithm_undoes_an_exponential_of_floats_and_arrays(values):
    assert exp(log(values)) == pytest.approx(values, rel=1e-12)
    assert log(values) == pytest.approx([log(value) for value in values.tolist()], rel=1e-15)
    assert exp(log(values)) == pytest.approx([exp(log(value)) for value in values.tolist()], rel=1e-12)


@given(values=rows(st.floats(0, 1e300)), exponent=st.floats(-3, 3))
def test_a_power_of_an_array_is_that_of_its_entries_also_beyond_the_floats(values, exponent):
    with np.errstate(all="ignore"):
        together = power(values, exponent)
    assert together == pytest.approx([power(value, exponent) for value in values.tolist()], rel=1e-12)


def test_a_negative_base_is_refused_for_its_powers_are_complex():
    with pytest.raises(ValueError, match=r"^base = -8\.0: 0 or more"):
        power(-8.0, 1 / 3)


@given(chosen=arrays.arrays(bool, 3), a=rows(bounds), b=rows(bounds))
def test_a_choice_among_arrays_is_that_among_their_entries(chosen, a, b):
    triples = zip(chosen.tolist(), a.tolist(), b.tolist(), strict=True)
    assert where(chosen, a, b).tolist() == [where(*triple) for triple in triples]
    assert every(chosen) == all(every(entry) for entry in chosen.tolist())


def test_a_scalar_choice_is_broadcast_to_an_array():
    assert where(True, np.array([1.0, 2.0]), 0.0).tolist() == [1.0, 2.0]


def test_a_number_is_no_array_and_neither_is_one_without_dimensions():
    assert is_array(np.array([1.0]))
    assert not is_array(np.float64(1.0))
    assert not is_array(np.array(1.0))
    assert not is_array([1.0])


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, np.array([1.0, 0.0])], ids=repr)
def test_a_logarithm_is_taken_of_what_is_above_zero(value):
    with pytest.raises(ValueError, match=r"^value.* = .*: a finite number above 0"):
        log(value)


@pytest.mark.parametrize("value", [709.8, 1e9, math.inf, math.nan, np.array([0.0, 710.0])], ids=repr)
def test_an_exponential_too_large_for_a_float_is_refused(value):
    with pytest.raises(ValueError, match=r"^value.* = .*: a finite number, at most 709.78"):
        exp(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("function", [ceil, floor])
def test_only_a_finite_number_is_rounded(function, value):
    with pytest.raises(ValueError, match=r"^value = .*: a finite number"):
        function(value)


@pytest.mark.parametrize("function", [maximum, minimum])
def test_no_number_is_neither_larger_nor_smaller(function):
    with pytest.raises(ValueError, match=r"^b = nan: a number, not NaN"):
        function(1.0, math.nan)


def test_everything_public_is_listed():
    assert set(elementwise.__all__) == {
        "ceil",
        "every",
        "exp",
        "floor",
        "is_array",
        "log",
        "maximum",
        "minimum",
        "power",
        "where",
    }


@given(base=st.floats(1e-300, 1e300), exponent=st.floats(-50, 50))
def test_a_power_is_pythons_or_too_large_for_a_float(base, exponent):
    try:
        assert elementwise.power(base, exponent) == base**exponent
    except OverflowError:
        assert elementwise.power(base, exponent) == math.inf

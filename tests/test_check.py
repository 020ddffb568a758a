"""Refusals: the wording, the kinds, and masks that say of an entry what a scalar would be told."""

import math
from dataclasses import make_dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lib import check

RULES = {
    check.positive: check.POSITIVE,
    check.non_negative: check.NON_NEGATIVE,
    check.finite: check.FINITE,
    check.number: check.NUMBER,
    check.exponent: check.EXPONENT,
    check.fraction: check.FRACTION,
    check.share: check.SHARE,
    check.whole: check.WHOLE,
    check.count: check.COUNT,
}
any_float = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 45.0, 100.0, 2.0**53, math.nan, math.inf, -math.inf])
any_positive = st.floats(0, exclude_min=True, allow_infinity=False)
by_name = pytest.mark.parametrize("refuse", RULES, ids=lambda refuse: refuse.__name__)


@by_name
@given(value=any_float)
def test_a_mask_is_true_just_where_a_scalar_is_refused(refuse, value):
    refused = bool(check.wrong(RULES[refuse], value))
    if refused:
        with pytest.raises(ValueError, match=f"^n = .*: {RULES[refuse].allowed}"):
            refuse(n=value)
    else:
        refuse(n=value)


@by_name
@given(values=arrays.arrays(np.float64, st.integers(1, 6), elements=any_float))
def test_an_array_is_judged_entry_by_entry_as_its_scalars_are(refuse, values):
    mask = check.wrong(RULES[refuse], values)
    assert mask.tolist() == [check.wrong(RULES[refuse], float(value)) for value in values]
    if mask.any():
        with pytest.raises(ValueError, match=rf"^n\[{int(mask.argmax())}\] = .*\({int(mask.sum())} wrong in all\)"):
            refuse(n=values)
    else:
        refuse(n=values)


NO_NUMBER = (None, True, False, "1", "", [1.0], (1.0,), {}, 1j, b"1")
NO_NUMBER += (np.bool_(True), np.float32(1), np.int64(1), np.array(1.0))


@by_name
def test_what_is_no_number_is_refused_by_kind(refuse):
    for value in NO_NUMBER:
        with pytest.raises(TypeError, match=r"^n = .*\(\w+\): "):
            refuse(n=value)


@by_name
def test_an_array_that_is_not_of_64_bit_floats_is_refused(refuse):
    for dtype in (np.int64, np.float32, np.float16, bool, object, "U3", complex):
        values = np.array([1, 1]).astype(dtype)
        with pytest.raises(TypeError, match=r"^n \(array of .*\): an array of 64-bit floats"):
            refuse(n=values)
        with pytest.raises(TypeError, match=r"^values \(array of .*\): an array of 64-bit floats"):
            check.wrong(RULES[refuse], values)


@by_name
def test_an_array_that_hides_entries_is_refused(refuse):
    hiding_nan = np.ma.array([1.0, math.nan], mask=[False, True])
    with pytest.raises(TypeError, match=r"^n \(MaskedArray\): a plain array"):
        refuse(n=hiding_nan)
    with pytest.raises(TypeError, match=r"^values \(MaskedArray\): a plain array"):
        check.wrong(RULES[refuse], hiding_nan)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_an_array_that_multiplies_otherwise_is_refused():
    with pytest.raises(TypeError, match=r"^n \(matrix\): a plain array"):
        check.positive(n=np.asmatrix([1.0]))


@by_name
def test_a_refusal_takes_one_line(refuse):
    for value in (np.ones((2, 2), np.int8), np.ma.array([1, 2]), "1\n2", [10**5000]):
        for one in (refuse, check.boolean):
            with pytest.raises(TypeError) as refused:
                one(n=value)
            assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "shown"), [(-45.0, "-45"), (-0.1, "-0.1"), (-(10**30), "-1e30"), (-1e300, "-1e300"), (-0.0, "-0")]
)
def test_a_number_is_shown_as_a_person_writes_it(value, shown):
    with pytest.raises(ValueError, match=f"^n = {shown}: "):
        check.positive(n=value)
    with pytest.raises(ValueError, match=rf"^n\[0\] = {shown}: "):
        check.positive(n=np.array([float(value)]))


@by_name
def test_an_empty_array_is_refused(refuse):
    with pytest.raises(ValueError, match=r"^n \(empty array\): at least one entry"):
        refuse(n=np.array([]))


@by_name
def test_an_integer_beyond_any_float_is_refused_by_its_length(refuse):
    with pytest.raises(ValueError, match=r"^n = an integer of 1329 bits: "):
        refuse(n=10**400)


def test_a_numpy_integer_is_told_how_to_be_written():
    with pytest.raises(TypeError, match=r"write int\(7\), which does not overflow in a product"):
        check.positive(n=np.int64(7))
    with pytest.raises(TypeError, match=r"write float\(1/3\)$"):
        check.positive(n=Fraction(1, 3))


def test_a_place_in_a_table_of_numbers_is_named():
    with pytest.raises(ValueError, match=r"^n\[\(1, 0\)\] = -1: .*\(2 wrong in all\)"):
        check.positive(n=np.array([[1.0, 2.0], [-1.0, -2.0]]))


@pytest.mark.parametrize("value", [45, 45.0, 100, 1.5])
def test_a_percentage_is_called_one(value):
    with pytest.raises(ValueError, match=rf"^mfu = .*; {value:g}% is written {value / 100:g}$"):
        check.fraction(mfu=value)


@pytest.mark.parametrize("value", [101.0, -0.5, 0.0])
def test_what_cannot_be_a_percentage_is_not_called_one(value):
    with pytest.raises(ValueError, match=r"at most 1$"):
        check.fraction(mfu=value)


@pytest.mark.parametrize("value", [32.0, "32", True, None, np.int64(32), Fraction(32)], ids=repr)
def test_a_size_is_a_python_integer(value):
    with pytest.raises(TypeError, match=r"^n_layers = .*: a whole number, 1 or more"):
        check.integer(n_layers=value)
    with pytest.raises(TypeError, match=r"^n_layers = .*: a whole number, 0 or more"):
        check.natural(n_layers=value)


@pytest.mark.parametrize("refuse", [check.integer, check.natural])
def test_a_size_is_one_that_a_float_holds_exactly(refuse):
    refuse(n_layers=2**53)
    with pytest.raises(ValueError, match=r"^n_layers = 9007199254740992: .*, at most 9,007,199,254,740,992, which"):
        refuse(n_layers=2**53 + 1)
    with pytest.raises(ValueError, match=r"^n_layers = an integer of 1329 bits: a whole number"):
        refuse(n_layers=10**400)


def test_zero_of_a_part_that_may_be_absent_passes():
    check.natural(learned_positions=0)
    with pytest.raises(ValueError, match="learned_positions = -1: a whole number, 0 or more"):
        check.natural(learned_positions=-1)


ANY = (0.0, 0.5, 1.0, 1.5, -1.0, math.nan, math.inf, 0, 1, -1, 2**53, 2**53 + 1, 10**400, True, "x", "")


@pytest.mark.parametrize("kind", check._KINDS)
def test_a_field_passes_just_where_its_value_does(kind):
    for value in ANY:
        record = make_dataclass("Record", ["n"])(value)
        assert refused(check.fields, record, **{kind: "n"}) == refused(getattr(check, kind), n=value), value


def refused(call, *words, **values):
    try:
        return call(*words, **values)
    except (TypeError, ValueError) as error:
        return type(error)


def test_a_dataclass_holds_one_number():
    with pytest.raises(TypeError, match=r"^days \(array of float64\): one number"):
        check.scalar(days=np.array([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"^days = True \(bool\): one number"):
        check.scalar(days=True)
    check.scalar(days=math.inf)


@pytest.mark.parametrize("value", [np.array([True, False]), np.bool_(True), False])
def test_a_comparison_is_a_condition(value):
    check.condition(fits=value)


@pytest.mark.parametrize("value", [1, 1.0, None, "yes", np.array([1.0])], ids=repr)
def test_a_number_is_no_condition(value):
    with pytest.raises(TypeError, match=r"^fits = .*: True, False or an array of them"):
        check.condition(fits=value)


@pytest.mark.parametrize("value", [1, 0, "True", None, np.bool_(True)], ids=repr)
def test_a_switch_is_true_or_false_and_nothing_like_it(value):
    with pytest.raises(TypeError, match=r"^tied = .*: True or False"):
        check.boolean(tied=value)


@given(a=any_positive, b=any_positive)
def test_a_result_is_a_number_that_a_float_holds_or_refused(a, b):
    refusal = r"^compute = (inf|0): a finite number(| above 0); the inputs are too large or too small$"
    for passed_on, held in (
        (check.result, math.isfinite(a * b)),
        (check.positive_result, math.isfinite(a * b) and a * b > 0),
    ):
        if held:
            assert passed_on(compute=a * b) == a * b
        else:
            with pytest.raises(ValueError, match=refusal):
                passed_on(compute=a * b)


def test_a_result_of_huge_integers_is_refused_too():
    with pytest.raises(ValueError, match="compute = inf: a finite number"):
        check.result(compute=10**400)


def test_a_result_of_arrays_holds_in_every_entry():
    values = np.array([1.0, 2.0])
    assert check.result(compute=values) is values
    with pytest.raises(ValueError, match=r"^compute: a finite number, in every entry"):
        check.result(compute=np.array([1.0, math.inf]))
    with pytest.raises(ValueError, match=r"^compute: a finite number above 0, in every entry"):
        check.positive_result(compute=np.array([1.0, 0.0]))


@given(number=st.integers(1, 10_000), wanted=st.integers(1, 20_000))
def test_the_nearest_divisors_divide_and_none_lies_between(number, wanted):
    near = [int(word) for word in check.nearest_divisors(number, wanted).split(" or ")]
    assert all(number % divisor == 0 for divisor in near)
    assert not [d for d in range(min(near) + 1, max(near)) if number % d == 0]
    assert min(near) <= wanted


def test_a_mistyped_size_does_not_search_for_its_divisors_without_end():
    assert check.nearest_divisors(2**53 - 111, 2**40) == "1"  # a prime

"""Amounts as people write them: what is read, what is shown, and that the two agree."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import check, units
from lib.units import parse, show

# Every unit that `show` writes in its own way, and some that it only puts behind the number.
UNITS = ("", "s", "bytes", "%", "parameters", "tokens", "FLOP", "FLOP/s", "days", "hours", "GPUs", "USD", "W", "GB")
amounts = st.floats(1e-9, 1e30) | st.floats(1e-2, 1e6) | st.integers(0, 10**15).map(float)
DIGITS = 5.001e-4  # four digits of 1.0005 and a little for rounding twice


@given(value=amounts, unit=st.sampled_from(UNITS), sign=st.sampled_from([1, -1]))
def test_what_is_shown_is_read_again_to_four_digits(value, unit, sign):
    assert parse(show(sign * value, unit), unit) == pytest.approx(sign * value, rel=DIGITS)


@given(value=st.floats(1, 1e24))
def test_binary_bytes_are_read_as_binary(value):
    assert parse(units.show_bytes(value, binary=True), "bytes") == pytest.approx(value, rel=DIGITS)


@given(value=amounts | st.floats(allow_nan=False, allow_infinity=False), unit=st.sampled_from(UNITS))
def test_every_number_is_shown_in_a_few_characters(value, unit):
    assert len(show(value, unit).removesuffix(unit).strip()) <= 20
    assert show(value, unit) != "none"


@given(value=st.floats(0.001, 1e6), unit=st.sampled_from(["s", "min", "h", "days", "hours", "weeks"]))
def test_a_duration_in_its_own_unit_is_itself(value, unit):
    assert parse(f"{value} {unit}", unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("70B", "", 70e9),
        ("70 b", "parameters", 70e9),
        ("15.6T tokens", "tokens", 15.6e12),
        ("8_030_261_248", "", 8_030_261_248),
        ("2,048", "GPUs", 2048),
        ("2048 GPUs", "GPUs", 2048),
        ("1.5e22", "FLOP", 1.5e22),
        ("312 TFLOP/s", "FLOP/s", 312e12),
        ("989 tflops", "FLOP/s", 989e12),
        ("2.1 EFLOP", "FLOP", 2.1e18),
        ("13,812 tokens/s", "tokens/s", 13_812),
        ("45%", "", 0.45),
        ("45 percent", "", 0.45),
        ("15 trillion", "tokens", 15e12),
        ("1.4 billion parameters", "parameters", 1.4e9),
        ("1 ZFLOP", "FLOP", 1e21),
        ("8k", "tokens per sequence", 8192),
        ("128K tokens", "tokens per sequence", 131_072),
        ("8k", "tokens", 8000),
        ("80gb", "bytes", 80e9),
        ("45 %", "%", 0.45),
        ("2 weeks", "days", 14),
        ("36h", "days", 1.5),
        ("14", "days", 14),
        ("90 minutes", "hours", 1.5),
        ("1 day", "s", 86_400),
        ("80 GB", "bytes", 80e9),
        ("80GiB", "bytes", 80 * 1024**3),
        ("64 GiB", "GB", 68.719476736),
        ("80", "GB", 80),
        ("700 W", "W", 700),
        (".5", "", 0.5),
        ("-3", "", -3),
    ],
)
def test_what_people_type_is_understood(text, unit, value):
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "abc", "1,5", "1,50", "12,34,567", "1 000", "1e", "--1", "1.2.3", "nan", "inf", "1e999", "9" * 400),
        *("5 days", "5 GB", "5 X", "\u0661\u0662", "0x10", "1__0", "10^22", "1/2", "$5", "None", "True"),
    ],
)
def test_what_is_no_plain_number_is_refused_with_the_text(text):
    with pytest.raises(ValueError, match=re.escape(f"{check.short(text)}: ")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *(("5 GB", "days"), ("5 days", "bytes"), ("5 GPUs", "days"), ("5B", "days"), ("80 Gb", "bytes")),
        *(("5 GPUs", "tokens"), ("15T tokens", "parameters"), ("5 tokens", "GPUs"), ("5 USD", "tokens")),
        *(("1e22 FLOP/s", "FLOP"), ("800 TFLOP/s", ""), ("0.4 tokens", ""), ("50%", "GPUs"), ("50%", "days")),
    ],
)
def test_a_unit_of_another_kind_is_refused(text, unit):
    with pytest.raises(ValueError, match=rf"^'{text}': the unit '.*' is not one of"):
        parse(text, unit)


@pytest.mark.parametrize(
    ("text", "unit"), [("1e-400", ""), ("1e-320 s", "weeks"), ("1e300 PB", "B"), ("1e400", "days")]
)
def test_what_a_float_cannot_hold_is_refused(text, unit):
    with pytest.raises(ValueError, match=f"^'{text}': a number that a float can hold"):
        parse(text, unit)


@pytest.mark.parametrize("text", ["0", "-0.0", "0e5", "0e-999", "0 weeks"])
def test_nothing_is_read_as_nothing(text):
    assert parse(text, "days") == 0


def test_a_decimal_comma_is_called_one():
    with pytest.raises(ValueError, match=r"'1,5': .*a decimal point is written 1\.5"):
        parse("1,5")


@pytest.mark.parametrize("text", [None, 5, 5.0, True, b"5", ["5"]], ids=repr)
def test_only_text_is_read(text):
    with pytest.raises(TypeError, match=r"^text = .*: text"):
        parse(text)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (13459186305.27, "parameters", "13.46B parameters"),
        (269.18e9, "tokens", "269.2B tokens"),
        (2.173796352e22, "FLOP", "2.174e22 FLOP"),
        (312e12, "FLOP/s", "3.12e14 FLOP/s"),
        (0.45, "%", "45%"),
        (0.0021, "%", "0.21%"),
        (-1.314e308, "%", "-1.314e310%"),  # a hundred times as much is no float
        (80e9, "bytes", "80 GB"),
        (999.96e9, "bytes", "1,000 GB"),
        (1e20, "bytes", "100,000 PB"),
        (0, "s", "0 ms"),
        (1e10, "s", "115,741 days"),
        (999.96, "", "1,000"),
        (1e22, "", "1e22"),
        (0, "", "0"),
        (-37500.0, "USD", "-37,500 USD"),
        ("none fits", "", "none fits"),
        (None, "days", "none"),
        (math.inf, "days", "none"),
        (math.nan, "", "none"),
        (1.0, "GPUs", "1 GPU"),
        (1, "compute days", "1 compute day"),
        (1.00001, "calendar days (0.9 compute days)", "1 calendar day (0.9 compute days)"),
        (1.2, "days", "1.2 days"),
        (1, "passes", "1 pass"),
        (1, "tokens per parameter: 20 tokens", "1 token per parameter: 20 tokens"),
        (-1, "days", "-1 days"),
        (1, "tokens", "1 token"),
        (1, "tokens/s per GPU", "1 token/s per GPU"),
        (1, "TFLOP/s per GPU", "1 TFLOP/s per GPU"),
        (1, "FLOP/s", "1 FLOP/s"),
        (6.0, "FLOP", "6 FLOP"),
        (9999.6, "FLOP", "1e4 FLOP"),
        (1e-9, "FLOP", "1e-9 FLOP"),
        (1e300, "nats per token", "1e300 nats per token"),
    ],
)
def test_amounts_are_shown_as_a_person_would_write_them(value, unit, text):
    assert show(value, unit) == text


def test_an_integer_beyond_any_float_is_not_shown():
    with pytest.raises(ValueError, match=r"^value = an integer of 1329 bits: a finite number"):
        show(10**400)


@pytest.mark.parametrize("value", [True, [1.0], 1j, b"1", {}], ids=repr)
def test_only_numbers_and_words_are_shown(value):
    with pytest.raises(TypeError, match=r"^value = "):
        show(value)


@pytest.mark.parametrize("function", [units.show_number, units.show_power, units.show_count, units.show_bytes])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "1", True], ids=repr)
def test_a_number_is_shown_if_it_is_one(function, value):
    with pytest.raises((TypeError, ValueError), match=r"^value = "):
        function(value)


def test_gigabytes_and_gibibytes_are_kept_apart():
    assert pytest.approx(1.073741824) == units.GIB / units.GB
    assert units.show_bytes(825.18 * units.GIB) == "886 GB"  # The Pile: 825.18 GiB (Gao et al. 2020, Table 1)


@pytest.mark.parametrize("value", [1.666e-4, 3e-4, 9.99e-4, 1.7e-5])
def test_a_small_number_is_written_alike_alone_and_as_a_power(value):
    assert units.show_number(value) == units.show_power(value) == units.show(value)
    assert "e-" in units.show(value)

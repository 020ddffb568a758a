"""Amounts as people write them: parsing and showing FLOP, bytes, tokens, parameters, durations, money.

GB (1000**3) and GiB (1024**3) are never mixed: bytes are shown in GB unless GiB is asked for by name.
"""

import math
import re

from lib import check

SECONDS_PER_MINUTE = 60.0
SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = 86_400.0
SECONDS_PER_WEEK = 7 * SECONDS_PER_DAY
HOURS_PER_DAY = 24.0
GB = 1000.0**3
GIB = 1024.0**3

_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18, "z": 1e21, "y": 1e24}
_SCALES |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
SEQUENCE = "tokens per sequence"
_SEQUENCE_SCALES = _SCALES | {"k": 1024.0, "m": 1024.0**2}  # sequences of "8k" are of 8,192 tokens everywhere
# What else people write for a unit, the longer before the shorter.
_ALSO = {
    "parameters": ("parameter", "params", "param"),
    "tokens": ("token", "tok"),
    SEQUENCE: ("tokens", "token", "tok"),
    "tokens/s": ("token/s", "tok/s"),
    "GPUs": ("GPU", "devices", "device", "chips", "chip"),
    "FLOP": ("FLOPs",),
    "FLOP/s": ("FLOPs",),
    "TFLOP/s": ("TFLOPs",),
    "TFLOP/s per GPU": ("TFLOP/s", "TFLOPs"),
    "tokens/s per GPU": ("tokens/s", "token/s", "tok/s"),
}
_SHARES = ("", "%", "MFU", "HFU")  # pure numbers: 45% is 0.45
_DECIMAL_BYTES = ("B", "kB", "MB", "GB", "TB", "PB")
_BINARY_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_BYTES = {name.lower(): 1000.0**i for i, name in enumerate(_DECIMAL_BYTES)}
_BYTES |= {name.lower(): 1024.0**i for i, name in enumerate(_BINARY_BYTES)} | {"byte": 1.0, "bytes": 1.0}
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), SECONDS_PER_MINUTE),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), SECONDS_PER_HOUR),
    **dict.fromkeys(("d", "day", "days"), SECONDS_PER_DAY),
    **dict.fromkeys(("w", "week", "weeks"), SECONDS_PER_WEEK),
    "ms": 1e-3,
}
# A comma only sets thousands apart: "1,5" is refused rather than read as fifteen.
_NUMBER = re.compile(
    r"([+-]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:_[0-9]+)*)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)"
    r"\s*((?:[^0-9,._+-].*)?)",
    re.IGNORECASE,
)
_BITS = re.compile(r"[A-Z]i?b")
_PLURAL = re.compile(r"\b([\w-]{3,}?)(?:(?<=ss)es|(?<!s)s)\b")


def parse(text, unit=""):
    """The number that a person's text means, in the unit that is asked for.

    Args:
        text: such as "70B", "1.5e22", "2,048", "14 days", "80 GB", "312 TFLOP/s", "45%".
        unit: the unit of the answer: "days", "hours", "min", "s", "bytes", "GB", "GiB", any word for a count of such
            things, or nothing, "MFU" or "HFU" for a pure number, which alone may be written with a % sign.

    Returns:
        A float.

    Raises:
        TypeError: if text or unit is no text.
        ValueError: if the text is no number, or has a unit of another kind.

    >>> parse("70B"), parse("2 weeks", "days"), parse("64 GiB", "bytes"), parse("45%")
    (70000000000.0, 14.0, 68719476736.0, 0.45)
    """
    check.text(text=text, unit=unit)
    number, word = _split(text)
    if unit in _SECONDS:  # as it is written: "W" is watts, no weeks
        return _convert(text, number, word or unit, unit, _SECONDS)
    if unit in ("bytes", *_DECIMAL_BYTES, *_BINARY_BYTES):
        return _convert(text, number, word or unit, unit, _BYTES)
    if word.lower() in ("%", "percent") and unit in _SHARES:
        return number / 100
    scale = _without_unit(word, unit)
    return _convert(text, number, scale, "", _SEQUENCE_SCALES if unit == SEQUENCE else _SCALES, unit)


def _split(text):
    match = _NUMBER.fullmatch(text.strip())
    if not match or match[2].lower() == "e":  # half of an exponent, while it is typed
        slip = "; a decimal point is written 1.5" if re.search(r"[0-9],[0-9]{1,2}(?![0-9])", text) else ""
        raise ValueError(f"{check.short(text)}: a number, such as 128, 1e22, 2,048, 70B or 14 days{slip}")
    number = float(match[1].replace(",", "").replace("_", ""))
    is_some = number or re.search("[1-9]", re.split("e", match[1], flags=re.IGNORECASE)[0])
    return _held(text, number, is_some), match[2].strip()


def _held(text, number, is_some):
    """A number that a float holds, neither infinite nor, where it is some, nothing."""
    if math.isinf(number) or (is_some and not number):
        raise ValueError(f"{check.short(text)}: a number that a float can hold, from 1e-307 to 1.7e308")
    return number


def _without_unit(word, unit):
    """The scale that is left of "TFLOP/s" or "B parameters"; words for another unit stay, and are refused."""
    for name in (unit, *_ALSO.get(unit, ())):
        if name and word.lower().endswith(name.lower()):
            return word[: -len(name)].strip()
    return word


def _convert(text, number, word, unit, scales, counted=""):
    if word.lower() not in scales or (scales is _BYTES and _BITS.fullmatch(word)):
        known = "ms, s, min, h, days, weeks" if scales is _SECONDS else "kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB"
        if scales not in (_SECONDS, _BYTES):
            known = f"K, M, B, T, P, E, {'%' if counted in _SHARES else counted}"
        raise ValueError(f"{check.short(text)}: the unit {check.short(word)} is not one of {known}")
    return _held(text, number * (scales[word.lower()] / scales[unit.lower()]), number)


def show(value, unit=""):
    """A number with its unit as a person would write it, about four digits.

    Args:
        value: a number; text passes as it is; None and what is not finite are "none".
        unit: "s", "bytes", "%" (of a fraction), "parameters", "tokens", "FLOP", "FLOP/s", or any word to put behind.

    >>> show(13459186305.27, "parameters"), show(2.173796352e22, "FLOP"), show(1610, "s"), show(80e9, "bytes")
    ('13.46B parameters', '2.174e22 FLOP', '26.83 min', '80 GB')
    >>> show(0.4, ""), show(14.0, "days"), show(1, "GPUs"), show(1234.5, "USD"), show(1.95, "nats per token")
    ('0.4', '14 days', '1 GPU', '1,234 USD', '1.9500 nats per token')
    """
    if type(unit) is not str:
        check.text(unit=unit)
    if type(value) is not float:
        if isinstance(value, str):
            return f"{value} {unit}".rstrip()
        if value is None:
            return "none"
        check.scalar(value=value)
        if isinstance(value, int):  # not every one is finite as a float
            check.finite(value=value)
    if not math.isfinite(value):
        return "none"
    shown = 100.0 * value if unit == "%" else value
    if math.isinf(shown):  # a share that a float holds, and a hundred times as much it does not
        mantissa, exponent = _power(value).split("e")
        return f"{mantissa}e{int(exponent) + 2}%"
    if unit == "s":
        return show_seconds(value)
    if unit == "bytes":
        return show_bytes(value)
    if unit.startswith("nats") and abs(value) < 1e4:
        return f"{value:.4f} {unit}"  # laws differ in the third decimal
    write = show_count if unit in ("parameters", "tokens") else show_power if unit.startswith("FLOP") else show_number
    number = write(shown)
    if number == "1":
        unit = _PLURAL.sub(r"\1", unit, count=1)
    return f"{number}%" if unit == "%" else f"{number} {unit}".rstrip()


def show_roughly(value, unit=""):
    """A number with its unit and two digits: margins and other differences of what is hardly known better.

    Args:
        value: a number, finite.
        unit: as in `show`.

    Raises:
        TypeError, ValueError: for what is no finite number, or a unit that is no text.

    >>> show_roughly(0.4995, "days"), show_roughly(9.267e9, "tokens")
    ('0.5 days', '9.3B tokens')
    """
    check.text(unit=unit)
    _refuse(value)
    return show(float(f"{value:.2g}"), unit)


def show_number(value):
    """Four digits, thousands set apart, an exponent for what is very large or small.

    >>> show_number(37500.0), show_number(0.43402), show_number(2.1e-7)
    ('37,500', '0.434', '2.1e-7')
    """
    _refuse(value)
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e9:
        return _power(value)
    if abs(value) >= 999.95:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def show_power(value):
    """Four digits and a power of ten, which numbers of everyday size do without.

    >>> show_power(2.173796352e22), show_power(989e12), show_power(1.298)
    ('2.174e22', '9.89e14', '1.298')
    """
    _refuse(value)
    return _power(value)


def _power(value):
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 9999.5:
        return f"{value:.4g}"
    mantissa, exponent = f"{value:.3e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def show_count(value):
    """Four digits with K, M, B or T.

    >>> show_count(269.18e9), show_count(8_030_261_248), show_count(950)
    ('269.2B', '8.03B', '950')
    """
    _refuse(value)
    for letter, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if abs(value) >= 0.99995 * scale:
            return f"{value / scale:,.4g}{letter}" if abs(value) < 9999.5 * scale else _power(value)
    return show_number(value)


def show_bytes(value, binary=False):
    """Bytes in GB (or the nearest decimal unit); in GiB only when that is asked for.

    >>> show_bytes(85_899_345_920), show_bytes(85_899_345_920, binary=True)
    ('85.9 GB', '80 GiB')
    """
    _refuse(value)
    check.boolean(binary=binary)
    step, names = (1024.0, _BINARY_BYTES) if binary else (1000.0, _DECIMAL_BYTES)
    for power in range(len(names) - 1, 0, -1):
        if abs(value) >= step**power:
            return f"{show_number(value / step**power)} {names[power]}"
    return f"{show_number(value)} B"


def show_seconds(value):
    """A duration in the unit that a person would choose.

    >>> show_seconds(37500), show_seconds(0.452), show_seconds(1209600)
    ('10.42 h', '452 ms', '14 days')
    """
    _refuse(value)
    for unit, seconds in (("days", SECONDS_PER_DAY), ("h", SECONDS_PER_HOUR), ("min", SECONDS_PER_MINUTE), ("s", 1.0)):
        if abs(value) >= seconds:
            return f"{show_number(value / seconds)} {unit}"
    return f"{show_number(value * 1e3)} ms"


def _refuse(value):
    if type(value) is float and math.isfinite(value):
        return  # nearly all numbers, and an answer shows two hundred
    check.scalar(value=value)
    check.finite(value=value)

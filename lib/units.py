"""Amounts as people write them: parsing and showing FLOP, bytes, tokens, parameters, durations, money.

GB (1000**3) and GiB (1024**3) are never mixed: bytes are shown in GB unless GiB is asked for by name.
"""

import math
import re

SECONDS_PER_MINUTE = 60.0
SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = 86_400.0
HOURS_PER_DAY = 24.0
GB = 1000.0**3
GIB = 1024.0**3

_SHORT_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
_BYTES = {"b": 1.0} | {f"{p}b": 1000.0 ** (i + 1) for i, p in enumerate("kmgtp")}
_BYTES |= {f"{p}ib": 1024.0 ** (i + 1) for i, p in enumerate("kmgtp")}
_DURATIONS = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_DURATIONS |= {"week": 7 * 86400.0, "w": 7 * 86400.0}
_NUMBER = re.compile(r"([+-]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)", re.IGNORECASE)
_WORDS = re.compile(r"\s*(?:params?|parameters?|tokens?|gpus?|flops?|flop/s|usd)\s*$", re.IGNORECASE)


def parse(text, unit=""):
    """The number that a person's text means, in the unit that is asked for.

    Args:
        text: such as "70B", "1.5e22", "2,048", "14 days", "80 GB", "312 TFLOP/s", "45%".
        unit: the unit of the answer: "days", "hours", "s", "bytes", or anything else for a plain count.

    Returns:
        A float.

    Raises:
        ValueError: if the text is no number with a unit of that kind.

    >>> parse("70B"), parse("2 weeks", "days"), parse("64 GiB", "bytes"), parse("45%")
    (70000000000.0, 14.0, 68719476736.0, 0.45)
    """
    match = _NUMBER.fullmatch(str(text).strip())
    if not match:
        raise ValueError(f"{text!r}: a number, such as 128, 1e22, 70B or 14 days")
    number, rest = float(match[1].replace(",", "").replace("_", "")), match[2].strip()
    if unit in ("days", "hours", "s", "min"):
        return number * _duration(text, rest, unit) if rest else number
    if unit == "bytes":
        return number * _scale(text, rest or "b", _BYTES)
    if rest == "%":
        return number / 100
    return number * _scale(text, _WORDS.sub("", rest), _SHORT_SCALE)


def _duration(text, word, unit):
    seconds = _scale(text, word if word.lower() in _DURATIONS else word.rstrip("s"), _DURATIONS)
    return seconds / {"days": SECONDS_PER_DAY, "hours": SECONDS_PER_HOUR, "min": SECONDS_PER_MINUTE, "s": 1.0}[unit]


def _scale(text, word, scales):
    try:
        return scales[word.lower()]
    except KeyError:
        raise ValueError(f"{text!r}: the unit {word!r} is not one of {', '.join(s for s in scales if s)}") from None


def show(value, unit=""):
    """A number with its unit as a person would write it, about four digits.

    >>> show(13459186305.27, "parameters"), show(2.173796352e22, "FLOP"), show(1610, "s"), show(80e9, "bytes")
    ('13.46B parameters', '2.174e22 FLOP', '26.83 min', '80 GB')
    >>> show(0.4, ""), show(14.0, "days"), show(128, "GPUs"), show(1234.5, "USD"), show(1.95, "nats per token")
    ('0.4', '14 days', '128 GPUs', '1,234 USD', '1.9500 nats per token')
    """
    if isinstance(value, str):
        return f"{value} {unit}".rstrip()
    if value is None or not math.isfinite(value):
        return "none"
    if unit == "s":
        return show_seconds(value)
    if unit == "bytes":
        return show_bytes(value)
    if unit == "%":
        return f"{100 * value:.4g} %"
    if unit in ("parameters", "tokens"):
        return f"{show_count(value)} {unit}"
    if unit.startswith("nats"):
        return f"{value:.4f} {unit}"  # laws differ in the third decimal
    if unit.startswith("FLOP"):
        return f"{show_power(value)} {unit}"
    return f"{show_number(value)} {unit}".rstrip()


def show_number(value):
    """Four digits, thousands set apart, an exponent for what is very large or small.

    >>> show_number(37500.0), show_number(0.43402), show_number(2.1e-7)
    ('37,500', '0.434', '2.1e-7')
    """
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return show_power(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def show_power(value):
    """Four digits and a power of ten.

    >>> show_power(2.173796352e22), show_power(989e12)
    ('2.174e22', '9.89e14')
    """
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.3e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def show_count(value):
    """Four digits with K, M, B or T.

    >>> show_count(269.18e9), show_count(8_030_261_248), show_count(950)
    ('269.2B', '8.03B', '950')
    """
    for letter, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if abs(value) >= 0.99995 * scale:
            return f"{value / scale:,.4g}{letter}" if abs(value) < 9999.5 * scale else f"{show_power(value)}"
    return f"{value:.4g}"


def show_bytes(value, binary=False):
    """Bytes in GB (or the nearest decimal unit); in GiB only when that is asked for.

    >>> show_bytes(85_899_345_920), show_bytes(85_899_345_920, binary=True)
    ('85.9 GB', '80 GiB')
    """
    step, names = (1024.0, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]) if binary else (1000.0, list(_DECIMAL_BYTES))
    for power in range(len(names) - 1, 0, -1):
        if abs(value) >= step**power:
            return f"{value / step**power:,.4g} {names[power]}"
    return f"{value:.4g} B"


_DECIMAL_BYTES = ("B", "kB", "MB", "GB", "TB", "PB")


def show_seconds(value):
    """A duration in the unit that a person would choose.

    >>> show_seconds(37500), show_seconds(0.452), show_seconds(1209600)
    ('10.42 h', '452 ms', '14 days')
    """
    for unit, seconds in (("days", SECONDS_PER_DAY), ("h", SECONDS_PER_HOUR), ("min", SECONDS_PER_MINUTE), ("s", 1.0)):
        if abs(value) >= seconds:
            return f"{value / seconds:,.4g} {unit}"
    return f"{value * 1e3:.4g} ms"

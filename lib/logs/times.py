"""Times of day in logs, as seconds since 1970."""

import re
from datetime import UTC, datetime
from functools import lru_cache

STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?")


@lru_cache(maxsize=1024)
def _whole(text):
    """Seconds of a date and a time to the second; UTC, so that differences never meet a change of clocks."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def stamp_of(text):
    """The first time of day in a line; None where there is none.

    Without an offset it is taken as UTC: only differences count.

    Args:
        text: a line of a log.

    >>> stamp_of("[titan] 2026-11-29 12:00:00,250 - root - INFO - step: 1") - stamp_of("2026-11-29 12:00:00")
    0.25
    """
    found = STAMP.search(text)
    return None if found is None else _seconds(found.group())


def _seconds(text):
    whole = _whole(text[:10] + "T" + text[11:19])
    if whole is None:
        return None
    rest = text[19:].rstrip("Z")
    offset = re.search(r"([+-])(\d\d):?(\d\d)$", rest)
    if offset:
        rest = rest[: offset.start()]
        whole -= float(offset[1] + "1") * (int(offset[2]) * 3600 + int(offset[3]) * 60)
    return whole + (float("0." + rest[1:]) if len(rest) > 1 else 0.0)


def seconds_of_day(value):
    """A time as seconds since 1970: a number, or a date with a time in ISO 8601; None for what is none.

    Args:
        value: as a parser gives it; milliseconds are known by their size.

    >>> seconds_of_day(1_780_000_000), seconds_of_day(1_780_000_000_000), seconds_of_day("soon")
    (1780000000.0, 1780000000.0, None)
    """
    if isinstance(value, str):
        stamp = stamp_of(value)
        if stamp is not None:
            return stamp
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e17:
        return None
    return float(value) / 1000 if value > 1e11 else float(value)

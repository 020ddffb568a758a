"""TensorBoard's event files: records of a length, its check sum, an event, and that one's check sum.

The events are decoded by the package `tensorboard` (extra `logs`), imported when it is needed. Frames are read here, so
that a file that was cut off keeps what stands before. Check sums of the events are verified, for all records of one
length at once; longer records than `_CHECKED` hold no numbers of a step.
Source: TensorFlow, TFRecord format, and tensorboard's compat/proto/event.proto, as installed; the sum is CRC-32C
(RFC 3720, section 12.1, appendix B.4), masked as TensorFlow's lib/hash/crc32c.h does.
"""

import math
import struct
from collections import defaultdict

from lib import check
from lib.logs.entries import Entry
from lib.logs.fields import field_of

_HEAD, _TAIL = 12, 4  # bytes: length with its sum, sum of the data
_LARGEST = 2**30
_CHECKED = 2**12  # bytes
_CASTAGNOLI = 0x82F63B78  # its bits in reverse
_MASK_DELTA = 0xA282EAD8
_FIRST = b"brain.Event:"


def speaks(raw):
    """Whether bytes begin an event file: its first event tells the version of the form.

    Args:
        raw: the first hundred bytes.
    """
    check.instance(bytes, raw=raw)
    return _FIRST in raw[:100]


def frames(raw):
    """The events' bytes with their check sums, and None where the file ends inside one.

    Args:
        raw: of the file.
    """
    check.instance(bytes, raw=raw)
    at = 0
    while at < len(raw):
        length = struct.unpack_from("<Q", raw, at)[0] if at + _HEAD <= len(raw) else _LARGEST
        end = at + _HEAD + length
        if length >= _LARGEST or end + _TAIL > len(raw):
            yield None
            return
        yield raw[at + _HEAD : end], struct.unpack_from("<I", raw, end)[0]
        at = end + _TAIL


def events(raw):
    """(record, step, time, tag, value) of each scalar, and (record, what is wrong) of what cannot be read.

    Args:
        raw: of the file.

    Raises:
        ValueError: if the package is not installed.
    """
    try:
        from tensorboard.compat.proto import event_pb2
    except ImportError:
        raise ValueError(
            "event files need the package tensorboard: pip install 'training-run-handbook[logs]'"
        ) from None
    from google.protobuf.message import DecodeError

    damaged = _damaged(frames(raw))
    for place, frame in enumerate(frames(raw), 1):
        if frame is None:
            yield place, "the file is cut off inside a record"
            return
        if place in damaged:
            yield place, "a record that is not what was written: its check sum is another"
            continue
        try:
            event = event_pb2.Event.FromString(frame[0])
        except DecodeError:
            yield place, "a record that cannot be decoded"
            continue
        for value in event.summary.value:
            amount = _scalar(value)
            if amount is not None:
                yield place, event.step, event.wall_time, value.tag, amount


def _damaged(framed):
    """Places of records whose bytes have another sum than stands behind them."""
    import numpy as np  # as the package that decodes them

    alike = defaultdict(list)
    for place, frame in enumerate(framed, 1):
        if frame is not None and len(frame[0]) <= _CHECKED:
            alike[len(frame[0])].append((place, *frame))
    found = set()
    for length, records in alike.items():
        places, data, sums = zip(*records, strict=True)
        rows = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), length)
        wrong = _masked_sums(rows) != np.array(sums, np.uint32)
        found.update(np.array(places)[wrong].tolist())
    return found


def _masked_sums(rows):
    """CRC-32C of each row of bytes, turned by 15 bits, and the delta added."""
    import numpy as np

    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_CASTAGNOLI), table >> 1)
    sums = np.full(len(rows), 0xFFFFFFFF, np.uint32)
    for column in rows.T:
        sums = table[(sums ^ column) & 0xFF] ^ sums >> 8
    sums = ~sums
    return (sums >> 15 | sums << 17) + np.uint32(_MASK_DELTA)


def _scalar(value):
    """The number of a summary: written plainly, or as a tensor of one."""
    if value.WhichOneof("value") == "simple_value":
        return float(value.simple_value)
    if value.WhichOneof("value") != "tensor":
        return None
    tensor = value.tensor
    for numbers in (tensor.float_val, tensor.double_val):
        if len(numbers) == 1:
            return float(numbers[0])
    if len(tensor.tensor_content) in (4, 8) and tensor.dtype in (1, 2):
        return struct.unpack("<f" if tensor.dtype == 1 else "<d", tensor.tensor_content)[0]
    return None


def entries(raw):
    """Entries of an event file, tags of one step put together, and problems as (record, text).

    A step that comes again with a tag that it has is another attempt of that step.

    Args:
        raw: of the file.
    """
    open_entry, done, problems = None, [], []
    for one in events(raw):
        if len(one) == 2:
            problems.append(one)
            continue
        place, step, time, tag, amount = one
        known = field_of(tag)
        if known is None or known[0] in ("step", "time"):
            continue
        if open_entry is None or open_entry["step"] != step or known[0] in open_entry:
            open_entry = {"line": place, "step": step, "time": time if math.isfinite(time) and time > 0 else None}
            done.append(open_entry)
        open_entry[known[0]] = amount * known[1]
    return tuple(Entry(**one) for one in done), problems

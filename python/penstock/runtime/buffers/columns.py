"""Reads typed columns in Python, for a worker on a platform without the native module, which writes them. The format is
described in ``rust/runtime/src/columns/mod.rs``."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

TAG = 1  # first byte of a buffer
RECORD, UNKNOWN = 254, 255  # the key is the record itself; the key is not a field of the record, or unknown
_NONE, _INTS, _FLOATS, _BOOLS, _TEXTS, _CODED, _BYTES, _TUPLES, _DAYS, _TIMES, _CLOCKS = range(11)
_NULLABLE = 0x80
_MAX_COUNT = 1 << 24  # most records of a buffer, so that damaged bytes cannot request unlimited memory
_FIRST_DAY, _FIRST_TIME = date(1970, 1, 1).toordinal(), datetime(1970, 1, 1)
_UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


def decode(data: bytes) -> tuple[list[Any], list[Any] | None, bytes]:
    """The records, their keys if known, and the extra bytes of the buffer."""
    try:
        tag, key, count, length = struct.unpack_from("<BBII", data)
        reader = _Reader(data, 10)
        extras = reader.take(length)
        values = reader.column(_checked(count))
    except (struct.error, IndexError, KeyError, StopIteration, OverflowError, ValueError):
        tag = reader = None
    if tag != TAG or reader is None or reader.at != len(data):
        raise ValueError("these bytes are not a buffer of columns")
    if key == UNKNOWN:
        return values, None, extras
    return values, list(values) if key == RECORD else [value[key] for value in values], extras


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, count: int) -> bytes:
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise IndexError
        return self.data[start : self.at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def column(self, count: int) -> list[Any]:
        """The values of a column. Recursive, to the depth of the tuples."""
        kind = self.take(1)[0]
        if not kind & _NULLABLE:
            return _READ[kind](self, count)
        presence = self.take(count)
        some = iter(_READ[kind & ~_NULLABLE](self, sum(presence)))
        return [next(some) if present else None for present in presence]

    def coded(self, count: int) -> list[str]:
        texts = [text.decode() for text in self.strings(_checked(*self.unpack("<I")))]
        return [texts[code] for code in self.ints(count)]

    def tuples(self, count: int) -> list[tuple]:
        fields = [self.column(count) for _ in range(self.take(1)[0])]
        return list(zip(*fields, strict=True)) if fields else [()] * count

    def ints(self, count: int) -> list[int]:
        base, width = self.unpack("<qB")
        if not width:
            return [base] * count
        return [base + difference for difference in self.unpack(f"<{count}{_UNSIGNED[width]}")]

    def strings(self, count: int) -> list[bytes]:
        return [self.take(length) for length in self.ints(count)]


_READ: dict[int, Callable[[_Reader, int], list[Any]]] = {  # the reader of each kind of column
    _NONE: lambda reader, count: [None] * count,
    _INTS: _Reader.ints,
    _FLOATS: lambda reader, count: list(reader.unpack(f"<{count}d")),
    _BOOLS: lambda reader, count: list(map(bool, reader.take(count))),
    _TEXTS: lambda reader, count: [text.decode() for text in reader.strings(count)],
    _CODED: _Reader.coded,
    _BYTES: _Reader.strings,
    _TUPLES: _Reader.tuples,
    _DAYS: lambda reader, count: [date.fromordinal(_FIRST_DAY + day) for day in reader.ints(count)],
    _TIMES: lambda reader, count: [_FIRST_TIME + timedelta(microseconds=time) for time in reader.ints(count)],
    _CLOCKS: lambda reader, count: [(_FIRST_TIME + timedelta(microseconds=time)).time() for time in reader.ints(count)],
}


def _checked(count: int) -> int:
    if count > _MAX_COUNT:
        raise IndexError
    return count

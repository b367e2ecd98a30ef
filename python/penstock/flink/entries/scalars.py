"""Readers of values without parts: a reader gets bytes and a position, and returns a value and where it ends.

Bytes that end too early raise an IndexError or struct.error, damaged ones a ValueError; the caller knows the file.
``SIZES`` says which have always the same size, which the format of keys depends on. Source of the semantics: Flink's
serializers in ``api.common.typeutils.base``, ``types`` and ``streaming.api.windowing.windows``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from penstock.common.row import Row, RowKind
from penstock.flink.entries.values import (
    CountWindow,
    GlobalWindow,
    Instant,
    LocalDate,
    LocalDateTime,
    LocalTime,
    TimeWindow,
)
from penstock.flink.texts import read_text, read_text_value

Reader = Callable[[bytes, int], tuple[Any, int]]

_INT = struct.Struct(">i").unpack_from
_NULL_LONG, _NULL_INT, _NULL_BYTE = -(1 << 63), -(1 << 31), -(1 << 7)
_SMALL = {0: None, 1: 0, 2: 1, 3: 10}  # BigInteger: what is written in place of a length


def number(form: str) -> Reader:
    """The reader of a number or boolean, in a form of :mod:`struct`."""
    whole = struct.Struct(f">{form}")
    unpack, size = whole.unpack_from, whole.size

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return unpack(data, at)[0], at + size

    return read


def numbers(form: str) -> Reader:
    """The reader of an array of numbers, after their count."""
    size = struct.calcsize(f">{form}")

    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        (count,) = _INT(data, at)
        at += 4
        return list(struct.unpack_from(f">{counted(count, data, at)}{form}", data, at)), at + count * size

    return read


def row_reader(readers: Sequence[Reader], names: Sequence[str] | None, *, has_kinds: bool) -> Reader:
    """The reader of rows: a mask with two bits for the kind, if rows have kinds, and one for each field that is null;
    then the other fields."""
    first = 2 if has_kinds else 0
    fields = [(bit >> 3, 0x80 >> (bit & 7), read) for bit, read in enumerate(readers, first)]
    size, named = (first + len(fields) + 7) >> 3, None if names is None else tuple(names)

    def read(data: bytes, at: int) -> tuple[Row, int]:
        mask = data[at : at + size]
        if len(mask) < size:
            raise IndexError
        at += size
        values: list[Any] = []
        for byte, bit, read_field in fields:
            if mask[byte] & bit:
                values.append(None)
            else:
                value, at = read_field(data, at)
                values.append(value)
        return Row.of_values(values, named, _KINDS[mask[0] >> 6] if first else RowKind.INSERT), at

    return read


_KINDS = [RowKind(number) for number in (0, 2, 1, 3)]  # the first bit is the lower one


def counted(count: int, data: bytes, at: int) -> int:
    """A count of things that take a byte at least, and so are not more than bytes are left."""
    if count < 0:
        raise ValueError(f"a count is {count}")
    if count > len(data) - at:
        raise IndexError
    return count


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """An array of bytes."""
    (count,) = _INT(data, at)
    start = at + 4
    end = start + counted(count, data, start)
    return data[start:end], end


def read_char(data: bytes, at: int) -> tuple[str, int]:
    """A char: a UTF-16 unit."""
    return chr(data[at] << 8 | data[at + 1]), at + 2


def _chars(data: bytes, at: int) -> tuple[str, int]:
    (count,) = _INT(data, at)
    start = at + 4
    end = start + 2 * counted(count, data, start)
    if end > len(data):
        raise IndexError
    return data[start:end].decode("utf-16-be", "surrogatepass"), end


def _texts(data: bytes, at: int) -> tuple[list[str | None], int]:
    (count,) = _INT(data, at)
    at += 4
    texts: list[str | None] = []
    for _ in range(counted(count, data, at)):
        text, at = read_text(data, at)
        texts.append(text)
    return texts, at


def _big_integer(data: bytes, at: int) -> tuple[int | None, int]:
    (length,) = _INT(data, at)
    at += 4
    if length in _SMALL:
        return _SMALL[length], at
    end = at + counted(length - 4, data, at)
    if end == at:
        raise ValueError("a BigInteger has no bytes")
    return int.from_bytes(data[at:end], "big", signed=True), end


def _big_decimal(data: bytes, at: int) -> tuple[Decimal | None, int]:
    unscaled, at = _big_integer(data, at)
    if unscaled is None:
        return None, at
    (scale,) = _INT(data, at)
    sign, digits, _ = Decimal(unscaled).as_tuple()
    return Decimal((sign, digits, -scale)), at + 4


def read_nothing(data: bytes, at: int) -> tuple[None, int]:
    """A byte that only stands for something: void, or the namespace of keyed state without windows."""
    data[at]
    return None, at + 1


def _no_bytes(data: bytes, at: int) -> tuple[None, int]:
    return None, at


def _empty_tuple(data: bytes, at: int) -> tuple[tuple[()], int]:
    data[at]
    return (), at + 1


_GLOBAL = GlobalWindow()


def _global_window(data: bytes, at: int) -> tuple[GlobalWindow, int]:
    data[at]
    return _GLOBAL, at + 1


_TWO_LONGS = struct.Struct(">qq").unpack_from
_LONG = struct.Struct(">q").unpack_from
_LONG_INT = struct.Struct(">qi").unpack_from
_DATE = struct.Struct(">ibb").unpack_from
_TIME = struct.Struct(">bbbi").unpack_from


def _time_window(data: bytes, at: int) -> tuple[TimeWindow, int]:
    start, end = _TWO_LONGS(data, at)
    return TimeWindow(start, end), at + 16


def _count_window(data: bytes, at: int) -> tuple[CountWindow, int]:
    return CountWindow(_LONG(data, at)[0]), at + 8


def _milliseconds(data: bytes, at: int) -> tuple[Instant | None, int]:
    (moment,) = _LONG(data, at)
    if moment == _NULL_LONG:
        return None, at + 8
    return Instant(moment // 1000, moment % 1000 * 1_000_000), at + 8


def _timestamp(data: bytes, at: int) -> tuple[Instant | None, int]:
    """A ``java.sql.Timestamp``: milliseconds, and the nanoseconds of its second. Null takes all 12 bytes, though
    Flink's own reader forgets the last four."""
    moment, nano = _LONG_INT(data, at)
    if moment == _NULL_LONG:
        return None, at + 12
    return Instant(moment // 1000, _nano(nano)), at + 12


def _instant(data: bytes, at: int) -> tuple[Instant | None, int]:
    seconds, nano = _LONG_INT(data, at)
    if seconds == _NULL_LONG and nano == _NULL_INT:
        return None, at + 12
    return Instant(seconds, _nano(nano)), at + 12


def _nano(nano: int) -> int:
    if not 0 <= nano < 1_000_000_000:
        raise ValueError(f"the nanoseconds of a moment are {nano}")
    return nano


def _local_date(data: bytes, at: int) -> tuple[LocalDate | None, int]:
    year, month, day = _DATE(data, at)
    if year == _NULL_INT:
        return None, at + 6
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError(f"a date has the month {month} and the day {day}")
    return LocalDate(year, month, day), at + 6


def _local_time(data: bytes, at: int) -> tuple[LocalTime | None, int]:
    hour, minute, second, nano = _TIME(data, at)
    if hour == _NULL_BYTE:
        return None, at + 7
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        raise ValueError(f"a time is {hour}:{minute}:{second}")
    return LocalTime(hour, minute, second, _nano(nano)), at + 7


def _local_date_time(data: bytes, at: int) -> tuple[LocalDateTime | None, int]:
    date, at = _local_date(data, at)
    time, at = _local_time(data, at)
    if date is None and time is None:
        return None, at
    if date is None or time is None:
        raise ValueError("a date with a time has only one of both")
    return LocalDateTime(date, time), at


_BASE = "org.apache.flink.api.common.typeutils.base."
_WINDOWS = "org.apache.flink.streaming.api.windowing.windows."
_TABLE_WINDOWS = "org.apache.flink.table.runtime.operators.window."
"""The windows of tables, which are also PyFlink's."""
_NUMBERS = {"Boolean": "?", "Byte": "b", "Short": "h", "Int": "i", "Long": "q", "Float": "f", "Double": "d"}
_OTHERS: dict[str, tuple[Reader, int]] = {
    "Char": (read_char, 2),
    "CharValue": (read_char, 2),
    "String": (read_text, -1),
    "StringValue": (read_text_value, -1),
    "NullValue": (_no_bytes, 0),
    "BigInt": (_big_integer, -1),
    "BigDec": (_big_decimal, -1),
    "Void": (read_nothing, 1),
    "Date": (_milliseconds, 8),
    "SqlDate": (_milliseconds, 8),
    "SqlTime": (_milliseconds, 8),
    "SqlTimestamp": (_timestamp, 12),
    "Instant": (_instant, 12),
    "LocalDate": (_local_date, 6),
    "LocalTime": (_local_time, 7),
    "LocalDateTime": (_local_date_time, 13),
    "array.BytePrimitiveArray": (read_bytes, -1),
    "array.CharPrimitiveArray": (_chars, -1),
    "array.StringArray": (_texts, -1),
}
SCALARS: dict[str, tuple[Reader, int]] = {
    **{f"{_BASE}{name}Serializer": reader for name, reader in _OTHERS.items()},
    **{
        f"{_BASE}{name}{kind}Serializer": (number(form), struct.calcsize(f">{form}"))
        for name, form in _NUMBERS.items()
        for kind in ("", "Value")
    },
    **{
        f"{_BASE}array.{name}PrimitiveArraySerializer": (numbers(form), -1)
        for name, form in _NUMBERS.items()
        if name != "Byte"
    },
    "org.apache.flink.api.java.typeutils.runtime.Tuple0Serializer": (_empty_tuple, 1),
    "org.apache.flink.runtime.state.VoidNamespaceSerializer": (read_nothing, 0),
    f"{_WINDOWS}TimeWindow$Serializer": (_time_window, 16),
    f"{_WINDOWS}GlobalWindow$Serializer": (_global_window, 1),
    f"{_TABLE_WINDOWS}TimeWindow$Serializer": (_time_window, 16),
    f"{_TABLE_WINDOWS}CountWindow$Serializer": (_count_window, 8),
    f"{_TABLE_WINDOWS}GlobalWindow$Serializer": (_global_window, 1),
    "org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer": (read_bytes, -1),  # PyFlink's
}
"""Readers by serializer, each with what Flink's ``getLength`` says: -1 if the size depends on the value."""

"""Java's ``hashCode`` of the values that may be keys, and the form in which Python may compare them.

Flink places a key by the Java hash code of its declared type. Undeclared values hash as the classes that `_UNDECLARED`
names: an int as a Long (BigInteger outside 64 bits), a tuple as a Flink tuple, a list as an ArrayList, a frozen
dataclass as a record, bytes as the byte array of a row, an enum member as its name. An undeclared negative int so
differs from an Integer: declare ``Types.INT()`` where Flink has one.

In Python ``1 == 1.0 == True`` and ``0.0 == -0.0``, in Java all of them differ. So state and caches use the *canonical
form* of a key: a hashable value that is equal exactly when Java's keys are equal.

Sources: ``hashCode`` of java.lang, java.math, java.sql, java.time, java.util; Flink's Tuple classes and Row (1.11).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from penstock.common.java.java_hash import hash_string
from penstock.common.row import Row
from penstock.common.time import Instant, instant_of_value
from penstock.common.typeinfo import BasicType, SqlTimeType
from penstock.common.typesystem.conversions import same
from penstock.errors import TypeInfoError

MAX_TUPLE_ARITY = 25
_MASK = 0xFFFFFFFF
_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=timezone.utc)
_DAY = 86_400_000
_NAN64 = b"\x7f\xf8\0\0\0\0\0\0"
_NAN32 = b"\x7f\xc0\0\0"
Hash = Callable[[Any], int]
Canonical = Callable[[Any], Any]


def signed(h: int) -> int:
    """The low 32 bits as a Java int."""
    h &= _MASK
    return h - 0x100000000 if h & 0x80000000 else h


def _hash_bits(value: int) -> int:
    """``Long.hashCode`` of a number in range."""
    return signed(value ^ (value >> 32))


def hash_long(value: int) -> int:
    """``Long.hashCode``."""
    if not -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        raise TypeInfoError(f"The key {value} does not fit a LONG (64 bits). Declare the key as Types.BIG_INT().")
    return _hash_bits(value)


def integer_hash(bits: int, name: str) -> Hash:
    """``hashCode`` of Byte, Short and Integer."""
    bound = 1 << (bits - 1)

    def hash_code(value: int) -> int:
        if not -bound <= value < bound:
            raise TypeInfoError(f"The key {value} does not fit a declared {name} ({bits} bits). Declare Types.LONG().")
        return int(value)

    return hash_code


def hash_boolean(value: Any) -> int:
    """``Boolean.hashCode``."""
    return 1231 if value else 1237


def double_bits(value: float) -> bytes:
    """``Double.doubleToLongBits``: one NaN, two zeros."""
    return _NAN64 if value != value else struct.pack(">d", value)


def float_bits(value: float) -> bytes:
    """``Float.floatToIntBits`` of the value cast to float."""
    if value != value:
        return _NAN32
    try:
        return struct.pack(">f", value)
    except OverflowError:  # as Java's cast to float
        return struct.pack(">f", float("inf") if value > 0 else float("-inf"))


def hash_double(value: float) -> int:
    """``Double.hashCode``."""
    high, low = struct.unpack(">II", double_bits(value))
    return signed(high ^ low)


def hash_float(value: float) -> int:
    """``Float.hashCode``."""
    return struct.unpack(">i", float_bits(value))[0]


def hash_big_integer(value: int) -> int:
    """``BigInteger.hashCode``."""
    magnitude, h = abs(value), 0
    words = magnitude.to_bytes((magnitude.bit_length() + 31) // 32 * 4, "big")
    for (word,) in struct.iter_unpack(">I", words):
        h = (31 * h + word) & _MASK
    return signed(-h if value < 0 else h)


def unscaled_value(value: Decimal) -> tuple[int, int]:
    """The unscaled value and scale of a BigDecimal."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise TypeInfoError(
            f"The key {value!r} is not a number, and Java's BigDecimal has no such value. Filter it out first."
        )
    unscaled = int("".join(map(str, digits)) or "0")
    return (-unscaled if sign else unscaled), -exponent


def hash_big_decimal(value: Decimal) -> int:
    """``BigDecimal.hashCode``."""
    unscaled, scale = unscaled_value(value)
    return signed(31 * hash_big_integer(unscaled) + scale)


def _undeclared_int(value: int) -> int:
    return hash_long(value) if -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF else hash_big_integer(value)


# A date is a java.sql.Date, a time a Time, a datetime a Timestamp: all hash the milliseconds since the epoch, here as
# if the clock were UTC's. Equal values with and without a zone never meet, because Python compares them as different.


def hash_date(value: date) -> int:
    """``java.sql.Date.hashCode``; for a datetime that of its day."""
    return _hash_bits((value.toordinal() - _EPOCH.toordinal()) * _DAY)


def hash_time(value: time) -> int:
    """``java.sql.Time.hashCode``: the milliseconds of the day, in UTC if the time has a zone."""
    since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return _hash_bits((since - (value.utcoffset() or timedelta())) // timedelta(milliseconds=1))


def hash_timestamp(value: datetime) -> int:
    """``java.sql.Timestamp.hashCode``: only whole milliseconds count."""
    since = value - (_EPOCH if value.utcoffset() is None else _EPOCH_UTC)
    return _hash_bits(since // timedelta(milliseconds=1))


def hash_instant(value: Instant | datetime) -> int:
    """``java.time.Instant.hashCode``."""
    value = instant_of_value(value)
    return signed(_hash_bits(value.seconds) + 51 * value.nanos)


def hash_duration(value: timedelta) -> int:
    """``java.time.Duration.hashCode``."""
    return signed(_hash_bits(value.days * 86_400 + value.seconds) + 51_000 * value.microseconds)


def hash_uuid(value: UUID) -> int:
    """``java.util.UUID.hashCode``."""
    halves = (value.int >> 64) ^ value.int & 0xFFFFFFFFFFFFFFFF
    return signed((halves >> 32) ^ halves)


def name_of_member(value: Enum) -> tuple[type, Any]:
    """The identity of an enum member, whichever copy of its class it has; flags without a name go by value."""
    return Enum, (type(value).__qualname__, value.name if value.name is not None else value.value)


def hash_bytes(value: bytes | bytearray) -> int:
    """``Arrays.hashCode`` of a ``byte[]``."""
    h = 1
    for byte in value:
        h = (31 * h + (byte - 256 if byte > 127 else byte)) & _MASK
    return signed(h)


class Basic(NamedTuple):
    """The hash and canonical form of keys of a declared basic type."""

    hash: Hash
    python_types: tuple[type, ...]
    canonical: Canonical | None = None
    native: bytes | None = None


BASIC = {
    BasicType.STRING: Basic(hash_string, (str,), None, b"s"),
    BasicType.CHAR: Basic(hash_string, (str,), None, b"s"),  # one UTF-16 unit: its value
    BasicType.BYTE: Basic(integer_hash(8, "BYTE"), (int,), None, b"1"),
    BasicType.SHORT: Basic(integer_hash(16, "SHORT"), (int,), None, b"2"),
    BasicType.INT: Basic(integer_hash(32, "INT"), (int,), None, b"4"),
    BasicType.LONG: Basic(hash_long, (int,), None, b"l"),
    BasicType.BIG_INT: Basic(hash_big_integer, (int,)),
    BasicType.BOOLEAN: Basic(hash_boolean, (bool, int), bool, b"b"),
    BasicType.DOUBLE: Basic(hash_double, (float, int), double_bits, b"d"),
    BasicType.FLOAT: Basic(hash_float, (float, int), float_bits, b"f"),
    BasicType.BIG_DEC: Basic(hash_big_decimal, (Decimal,), unscaled_value),
    BasicType.INSTANT: Basic(hash_instant, (Instant, datetime), instant_of_value),
}
SQL_TIME = {
    SqlTimeType.DATE: Basic(hash_date, (date,), lambda day: day.date() if isinstance(day, datetime) else day, b"D"),
    SqlTimeType.TIME: Basic(hash_time, (time,), None, b"C"),
    SqlTimeType.TIMESTAMP: Basic(hash_timestamp, (datetime,), None, b"T"),
}


def fold(h: int, hashes: Any) -> int:
    """The hash of a list or tuple from the hashes of its elements, starting with ``h``."""
    for x in hashes:
        h = (31 * h + x) & _MASK
    return signed(h)


def hash_undeclared(value: Any) -> int:
    """The hash by Python type."""
    if value is None:
        return 0
    known = _UNDECLARED.get(type(value)) or _by_base(value)
    if known is not None:
        return known[0](value)
    names = frozen_fields(type(value))
    if names is None:
        raise _no_hash(value)
    return fold(0, (hash_undeclared(getattr(value, name)) for name in names))


def _by_base(value: Any) -> tuple[Hash, Canonical] | None:
    return next((known for base, known in _UNDECLARED.items() if isinstance(value, base)), None)


def _tuple(value: tuple) -> int:
    if len(value) > MAX_TUPLE_ARITY:
        raise TypeInfoError(f"A key tuple has {len(value)} fields; a Flink tuple has at most 25. Use a Row as key.")
    return fold(0, map(hash_undeclared, value))


def _row(value: Row) -> int:
    return signed(31 * value.get_row_kind().value + fold(1, map(hash_undeclared, value)))


_UNDECLARED: dict[type, tuple[Hash, Canonical]] = {  # bool and datetime before their base classes, int and date
    str: (hash_string, same),
    bool: (hash_boolean, lambda value: (bool, value)),
    int: (_undeclared_int, same),
    float: (hash_double, lambda value: (float, double_bits(value))),
    tuple: (_tuple, lambda value: tuple(map(canonical_undeclared, value))),
    list: (lambda value: fold(1, map(hash_undeclared, value)), lambda value: (list, *map(canonical_undeclared, value))),
    Row: (_row, lambda value: (Row, value.get_row_kind().value, *map(canonical_undeclared, value))),
    Decimal: (hash_big_decimal, lambda value: (Decimal, *unscaled_value(value))),
    bytes: (hash_bytes, bytes),
    bytearray: (hash_bytes, bytes),
    datetime: (hash_timestamp, same),
    date: (hash_date, same),
    time: (hash_time, same),
    Instant: (hash_instant, same),
    timedelta: (hash_duration, same),
    UUID: (hash_uuid, same),
    Enum: (lambda value: hash_undeclared(name_of_member(value)[1][1]), name_of_member),
}


@cache
def frozen_fields(kind: type) -> tuple[str, ...] | None:
    """The fields that decide the equality of a frozen dataclass; None for other classes."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not (parameters.frozen and parameters.eq):
        return None
    return tuple(field.name for field in fields(kind) if field.compare)


def _no_hash(value: Any) -> TypeInfoError:
    kind = type(value)
    if isinstance(value, memoryview):
        advice = "its content may change; use bytes(key)"
    elif hasattr(kind, "__dataclass_params__"):
        advice = "it is mutable, or its class does not define equality; declare it with @dataclass(frozen=True)"
    elif isinstance(value, (set, frozenset, dict)):
        advice = "its order is not fixed; use a sorted tuple of its items"
    elif kind.__module__ == "numpy":
        advice = "Java has no such type; use the Python value, key.item()"
    else:
        advice = "its hash differs from process to process; use a str, int, frozen dataclass, or a tuple of its fields"
    return TypeInfoError(
        f"The key {value!r} is a {kind.__name__}, which cannot be a key because {advice}.",
        flink_class="org.apache.flink.api.common.InvalidProgramException",
    )


_SIMPLE = frozenset({str, int, type(None), datetime, date, time, Instant, timedelta, UUID})


def canonical_undeclared(value: Any) -> Any:
    """The canonical form of an undeclared value. Types tag what Python takes for equal: no key contains a type."""
    kind = type(value)
    if kind in _SIMPLE or (kind is tuple and _SIMPLE.issuperset(map(type, value))):
        return value
    known = _UNDECLARED.get(kind) or _by_base(value)
    if known is not None:
        return known[1](value)
    names = frozen_fields(kind)
    if names is None:
        raise _no_hash(value)
    return (kind.__qualname__, *(canonical_undeclared(getattr(value, name)) for name in names), object)

"""The pass from types to coders: how PyFlink's Python side writes a value of a type, so that it can be read.

A coder is a reader of bytes as in :mod:`~penstock.flink.entries.scalars`: it gets a position, and returns a value and
where it ends. Numbers are big-endian, texts and bytes come after their length, a row after a mask of its kind and
nulls. Pickles are bytes here, which only ``loads`` makes objects of. Source of the semantics: PyFlink's
``fn_execution.coders.from_type_info`` and ``coder_impl_slow``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from penstock.common.time import Instant
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.errors import UnsupportedError
from penstock.flink.entries.scalars import Reader, counted, number, read_bytes, row_reader

Loads = Callable[[bytes], Any]
"""Makes an object of a pickle."""

_INT = struct.Struct(">i").unpack_from
_INSTANT = struct.Struct(">qi")
_NO_INSTANT = -(1 << 63), -(1 << 31)
_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = date(1970, 1, 1).toordinal()
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def coder_for(kind: TypeInformation[Any], loads: Loads) -> Reader:
    """The coder of a type.

    Args:
        kind: the type that the program declares.
        loads: makes the objects of pickles.

    Raises:
        UnsupportedError: it is not one of ``Types``, such as those of Avro.

    Cost: linear in the type; the coder's is linear in the bytes.
    """
    for base in type(kind).__mro__:
        if base in _CASES and (base is not PickledBytesTypeInfo or kind == Types.PICKLED_BYTE_ARRAY()):
            return _CASES[base](kind, loads)
    name = type(kind).__name__
    raise UnsupportedError(f"State of the type {kind} ({name}) cannot be read from a savepoint of PyFlink: use Types.")


def _pickled(_: Any, loads: Loads) -> Reader:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        pickle, at = read_bytes(data, at)
        return loads(pickle), at

    return read


def _boolean(data: bytes, at: int) -> tuple[bool, int]:
    return data[at] != 0, at + 1


def _text(data: bytes, at: int) -> tuple[str, int]:
    text, at = read_bytes(data, at)
    return text.decode(), at


def _decimal(data: bytes, at: int) -> tuple[Decimal, int]:
    text, at = _text(data, at)
    try:
        return Decimal(text), at
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a decimal") from error


def _instant(data: bytes, at: int) -> tuple[Instant | None, int]:
    parts = _INSTANT.unpack_from(data, at)
    return None if parts == _NO_INSTANT else Instant(*parts), at + _INSTANT.size


def _date(data: bytes, at: int) -> tuple[date, int]:
    return date.fromordinal(_INT(data, at)[0] + _FIRST_DAY), at + 4


def _time(data: bytes, at: int) -> tuple[time, int]:
    seconds, milliseconds = divmod(_INT(data, at)[0], 1_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return time(hour, minute, second, milliseconds * 1_000), at + 4


_long = number("q")


def _timestamp(data: bytes, at: int) -> tuple[datetime, int]:
    milliseconds, at = _long(data, at)
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds), at
    except OverflowError as error:
        raise ValueError(f"a timestamp is {milliseconds:,} milliseconds after 1970") from error


_BASICS: dict[BasicType, Reader] = {
    BasicType.STRING: _text,
    BasicType.CHAR: _text,
    BasicType.BYTE: number("b"),
    BasicType.SHORT: number("h"),
    BasicType.INT: number("i"),
    BasicType.LONG: _long,
    BasicType.BIG_INT: _long,
    BasicType.BOOLEAN: _boolean,
    BasicType.FLOAT: number("f"),
    BasicType.DOUBLE: number("d"),
    BasicType.BIG_DEC: _decimal,
    BasicType.INSTANT: _instant,
}
_SQL_TIMES: dict[SqlTimeType, Reader] = {
    SqlTimeType.DATE: _date,
    SqlTimeType.TIME: _time,
    SqlTimeType.TIMESTAMP: _timestamp,
}


def _or_null(read_value: Reader, null: int) -> Reader:
    """A value after a boolean: 1 means null, or with ``null=0`` a value."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return (None, at + 1) if (data[at] != 0) == null else read_value(data, at + 1)

    return read


def _primitives(kind: Any, loads: Loads) -> Reader:
    return read_bytes if kind == BYTES else _elements(coder_for(kind.element_type, loads))


def _array(kind: Any, loads: Loads) -> Reader:
    return _elements(_or_null(coder_for(kind.element_type, loads), null=0))


def _elements(read_element: Reader) -> Reader:
    def read(data: bytes, at: int) -> tuple[list[Any], int]:
        (count,) = _INT(data, at)
        at += 4
        values: list[Any] = []
        for _ in range(counted(count, data, at)):
            value, at = read_element(data, at)
            values.append(value)
        return values, at

    return read


def _map(kind: Any, loads: Loads) -> Reader:
    read_key, read_value = coder_for(kind.key_type, loads), _or_null(coder_for(kind.value_type, loads), null=1)

    def read(data: bytes, at: int) -> tuple[dict[Any, Any], int]:
        (count,) = _INT(data, at)
        at += 4
        values: dict[Any, Any] = {}
        for _ in range(counted(count, data, at)):
            key, at = read_key(data, at)
            values[key], at = read_value(data, at)
        return values, at

    return read


def _tuple(kind: Any, loads: Loads) -> Reader:
    readers = [coder_for(field, loads) for field in kind.field_types]

    def read(data: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        values: list[Any] = []
        for read_field in readers:
            value, at = read_field(data, at)
            values.append(value)
        return tuple(values), at

    return read


def _row(kind: Any, loads: Loads) -> Reader:
    return row_reader([coder_for(field, loads) for field in kind.field_types], kind.field_names, has_kinds=True)


_CASES: dict[type, Callable[[Any, Loads], Reader]] = {
    PickledBytesTypeInfo: _pickled,
    BasicTypeInfo: lambda kind, _: _BASICS[kind.basic_type],
    SqlTimeTypeInfo: lambda kind, _: _SQL_TIMES[kind.sql_type],
    PrimitiveArrayTypeInfo: _primitives,
    ArrayTypeInfo: _array,
    ListTypeInfo: _array,
    MapTypeInfo: _map,
    TupleTypeInfo: _tuple,
    RowTypeInfo: _row,
}
"""The cases by class of type."""

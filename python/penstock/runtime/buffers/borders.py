"""Values behind a border between Python and Java in PyFlink, where ``penstock.pyflink`` is on: a FLOAT has 32 bits, a
row the names of its type, and every other value is converted to its declared type or refused, as PyFlink's coders do.
Borders are sources of collections, exchanges between tasks, outputs that several operators read, prints and collected
results. A map has the order of a ``java.util.HashMap``, whose table has the next power of two from a third more than
its entries; a collection is read into a growing table, from its end. Measured with PyFlink 2.3.0."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, SupportsFloat, SupportsInt

from penstock.common import typeinfo as types
from penstock.common.java.java_hash import hash_string
from penstock.common.row import Row, names_of
from penstock.common.settings.settings import Settings
from penstock.common.time import Instant, instant_of_value
from penstock.common.typeinfo import BasicType, SqlTimeType, TypeInformation
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.runtime.buffers.value_checks import BITS, CLASSES, PRIMITIVES, Kind, a, glance, kind_of, misfit

Entries = Iterable[tuple[Any, Any]]
_HASHES: dict[Any, Callable[[Any], int]] = {
    BasicType.STRING: hash_string,
    BasicType.BYTE: int,
    BasicType.SHORT: int,
    BasicType.INT: int,
    BasicType.LONG: lambda value: value ^ (value >> 32),
}
_FIRST = 16  # initial buckets of a Java map


def ordering(key_type: TypeInformation[Any], read: bool) -> Callable[[list[tuple[Any, Any]]], Entries] | None:
    """The function that orders the entries of a map; None for keys whose order does not change."""
    hash_code = _HASHES.get(kind_of(key_type))
    if hash_code is None:
        return None

    def by_bucket(entries: Entries, buckets: int) -> list[tuple[Any, Any]]:
        def bucket(entry: tuple[Any, Any]) -> int:
            unsigned = 0 if entry[0] is None else hash_code(entry[0]) & 0xFFFFFFFF
            return (unsigned ^ unsigned >> 16) & (buckets - 1)

        return sorted(entries, key=bucket)

    def ordered(entries: list[tuple[Any, Any]]) -> Entries:
        buckets = 1
        while 3 * buckets < 4 * len(entries):
            buckets *= 2
        return by_bucket(by_bucket(reversed(entries), max(_FIRST, buckets)) if read else entries, buckets)

    return ordered


_FIELDS = (tuple, list, Row)
EDGE, SOURCE, COLLECT = "edge", "source", "collect"
"""Where records are converted: between tasks, from a collection, to the result."""


def crossing(type_info: TypeInformation[Any] | None, settings: Settings, place: str = EDGE) -> Convert | None:
    """The conversion at a border of records of a type (None: undeclared); None without one."""
    if not settings.pyflink:
        return None
    cross, plain = _crossing(type_info, place, ""), glance(type_info)
    if cross is None or plain is None or _changing(type_info):
        return cross
    return lambda value: value if plain(value) else cross(value)


def _changing(type_info: TypeInformation[Any] | None) -> bool:
    if isinstance(type_info, types.TupleTypeInfo):
        return any(map(_changing, type_info.field_types))
    return kind_of(type_info) in CHANGING


def _crossing(type_info: TypeInformation[Any] | None, place: str, field: str) -> Convert | None:
    if isinstance(type_info, types.BasicTypeInfo) and type_info.basic_type is BasicType.FLOAT:
        number, narrow = _converted(type_info, place, field), shortest32 if place == COLLECT else float32
        return lambda value: narrow(number(value))
    if isinstance(type_info, types.BasicTypeInfo | types.SqlTimeTypeInfo):
        return _converted(type_info, place, field)
    if isinstance(type_info, types.TupleTypeInfo | types.RowTypeInfo):
        named = zip(type_info.field_names, type_info.field_types, strict=True)
        fields = [_crossing(field_type, place, f"{field}.{name}") for name, field_type in named]
        if isinstance(type_info, types.RowTypeInfo):
            return _row(type_info, fields, field, place != SOURCE)
        return _tuple(type_info, fields, field, (tuple, list, Row) if place == SOURCE else tuple)
    if isinstance(type_info, types.ListTypeInfo | types.ArrayTypeInfo):
        return _elements(type_info, place, field)
    if isinstance(type_info, types.MapTypeInfo):
        key = _crossing(type_info.key_type, place, f"{field}[key]")
        order = ordering(type_info.key_type, place == SOURCE)
        return _entries(key, _crossing(type_info.value_type, place, f"{field}[value]"), order)
    return None


def _converted(type_info: TypeInformation[Any], place: str, field: str) -> Convert:
    cross = conversion(type_info, field, read=place == SOURCE, collected=place == COLLECT)
    plain = None if _changing(type_info) else glance(type_info)
    return cross if plain is None else lambda value: value if plain(value) else cross(value)


def _elements(type_info: types.ListTypeInfo[Any] | types.ArrayTypeInfo[Any], place: str, field: str) -> Convert | None:
    element = _crossing(type_info.element_type, place, f"{field}[]")
    if isinstance(type_info, types.PrimitiveArrayTypeInfo) and kind_of(type_info.element_type) is BasicType.BYTE:
        return byte_array(type_info, field, collected=place == COLLECT)
    boxed = isinstance(type_info, types.ArrayTypeInfo) and not isinstance(type_info, types.PrimitiveArrayTypeInfo)
    if element is not None and boxed:
        element = optional(element)

    def cross(value: Any) -> Any:
        if not isinstance(value, (list, tuple) if place == SOURCE else list):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a list")
        return list(value) if element is None else list(map(element, value))

    return cross


def _crossed(fields: Sequence[Convert | None], values: Iterable[Any]) -> list[Any]:
    return [
        value if cross is None or value is None else cross(value) for cross, value in zip(fields, values, strict=True)
    ]


def _tuple(
    type_info: types.TupleTypeInfo, fields: Sequence[Convert | None], field: str, classes: type | tuple[type, ...]
) -> Convert:
    def cross(value: Any) -> Any:
        if not isinstance(value, classes):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a tuple")
        if len(value) != len(fields):
            raise misfit(value, type_info, field, f"it has {len(value)} fields, not {len(fields)}")
        return tuple([item if convert is None else convert(item) for convert, item in zip(fields, value, strict=True)])

    return cross


def _row(type_info: types.RowTypeInfo, fields: Sequence[Convert | None], field: str, strict: bool) -> Convert:
    names, known, changes = type_info.field_names, set(type_info.field_names), any(fields)

    def cross(value: Any) -> Any:
        if strict and not isinstance(value, Row):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a Row")
        if not isinstance(value, _FIELDS) or len(value) != len(fields):
            if strict:
                raise misfit(value, type_info, field, f"it has {len(value)} fields, not {len(fields)}")
            return value
        if not isinstance(value, Row):
            return Row.of_values(_crossed(fields, value), names)
        own_names, values = names_of(value), value
        if own_names is not None and own_names != names:
            if known.issuperset(own_names):
                values = value.get_fields_by_names(names)
            elif strict:
                raise misfit(value, type_info, field, f"its fields are {list(own_names)}")
        return Row.of_values(_crossed(fields, values) if changes else list(values), names, value.get_row_kind())

    return cross


def _entries(key: Convert | None, item: Convert | None, order: Convert | None) -> Convert | None:
    if key is None and item is None:
        return None
    key, item, order = key or same, same if item is None else optional(item), order or same

    def cross(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return dict(order([(key(k), item(v)) for k, v in value.items()]))

    return cross


_FLOAT = struct.Struct("f")
CHANGING = frozenset({BasicType.FLOAT, BasicType.INSTANT, SqlTimeType.TIME, SqlTimeType.TIMESTAMP})
"""Types that convert even some values that fit."""


def float32(value: Any) -> Any:
    """A number as the nearest 32-bit float, infinite beyond the range; other values are unchanged."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest32(value: Any) -> Any:
    """The shortest decimal with the same 32-bit float, which is what PyFlink collects."""
    single = float32(value)
    if not isinstance(single, float) or not math.isfinite(single):
        return single
    shown = (float(f"{single:.{digits}g}") for digits in range(6, 10))
    return next(candidate for candidate in shown if float32(candidate) == single)


def conversion(type_info: TypeInformation[Any], field: str, read: bool, collected: bool) -> Convert:
    """The conversion of values of a type."""
    kind = kind_of(type_info)
    change = _change(kind, read, collected)

    def cross(value: Any) -> Any:
        if value is None:
            if kind in PRIMITIVES:
                raise misfit(value, type_info, field, "it cannot be None")
            return None
        try:
            return change(value)
        except OverflowError:
            raise misfit(value, type_info, field, f"it has more than {BITS.get(kind)} bits") from None
        except (TypeError, ValueError, AttributeError):
            raise misfit(value, type_info, field, f"it is {a(type(value))}") from None

    return cross


def byte_array(type_info: TypeInformation[Any], field: str, collected: bool) -> Convert:
    """The conversion of byte arrays: to bytes, and to a list of signed numbers in the result."""

    def cross(value: Any) -> Any:
        if not isinstance(value, bytes | bytearray):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not bytes")
        return [byte - 256 if byte > 127 else byte for byte in value] if collected else bytes(value)

    return cross


def _change(kind: Kind | None, read: bool, collected: bool) -> Convert:
    if kind in BITS:
        return _wrapping(BITS[kind]) if read else _whole(BITS[kind])
    if kind is SqlTimeType.TIME and collected:
        return lambda value: value.replace(microsecond=0)
    if kind is BasicType.STRING and read:
        return _text
    if kind is BasicType.INSTANT and read:
        return lambda value: Instant.of_epoch_milli(instant_of_value(value).to_epoch_milli())
    return _CHANGES.get(kind) or _of_class(CLASSES[kind])


def _whole(bits: int) -> Convert:
    bound = 1 << (bits - 1)

    def whole(value: Any) -> int:
        if not isinstance(value, SupportsInt) or isinstance(value, str | bytes):
            raise TypeError(value)
        number = int(value)
        if not -bound <= number < bound:
            raise OverflowError(value)
        return number

    return whole


def _wrapping(bits: int) -> Convert:
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)

    def wrapped(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(value)
        return ((value & mask) ^ sign) - sign

    return wrapped


def _of_class(classes: tuple[type, ...]) -> Convert:
    def same(value: Any) -> Any:
        if not isinstance(value, classes):
            raise TypeError(value)
        return value

    return same


def _number(value: Any) -> float:
    if not isinstance(value, SupportsFloat) or isinstance(value, str | bytes):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else _of_class((str,))(value)


def _decimal(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(_of_class((int, float))(value)))


def _to_milliseconds(value: Any) -> Any:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def _without_zone(value: datetime) -> datetime:
    return value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)


_CHANGES: dict[Kind | None, Convert] = {
    BasicType.BOOLEAN: lambda value: bool(operator.index(value)),
    BasicType.BIG_DEC: _decimal,
    BasicType.FLOAT: _number,
    BasicType.DOUBLE: _number,
    BasicType.INSTANT: _of_class((Instant, datetime)),
    SqlTimeType.DATE: lambda value: date.fromordinal(value.toordinal()),
    SqlTimeType.TIME: _to_milliseconds,
    SqlTimeType.TIMESTAMP: lambda value: _to_milliseconds(_without_zone(value)),
}

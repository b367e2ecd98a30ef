"""Values behind a border between Python and Java in PyFlink, where ``penstock.pyflink`` is on: a FLOAT has 32 bits, a
row the names of its type, and every other value is converted to its declared type or refused (:mod:`.conversions`).

Borders are sources of collections, exchanges between tasks, outputs that several operators read, prints and collected
results. A map has the order of a ``java.util.HashMap``, whose table has the next power of two from a third more than
its entries; a collection is read into a growing table, from its end. Measured with PyFlink 2.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.common import typeinfo as types
from penstock.common.java.java_hash import hash_string
from penstock.common.row import Row, names_of
from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import BasicType, TypeInformation
from penstock.common.typesystem.conversions import Convert, optional, same
from penstock.runtime.buffers.conversions import CHANGING, byte_array, conversion, float32, shortest32
from penstock.runtime.buffers.value_checks import a, glance, kind_of, misfit

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
    """What a border does to records of a type (None: undeclared); None if that is nothing."""
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
        fields = [_crossing(each, place, f"{field}.{name}") for name, each in named]
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

"""Values as they are behind a border between Python and Java in PyFlink, by three switches: there a FLOAT has 32 bits
(``penstock.pyflink.floats``), what is declared as a row is one with the names of its type, in their order
(``penstock.pyflink.rows``), and every other value is what its declared type holds, or is refused
(``penstock.pyflink.values``): :mod:`.conversions` has these.

Borders are sources of collections, exchanges between tasks, outputs of an operator that several read, prints, and what
is collected; functions of which each reads the one before hand values on as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.common.conversions import Convert, optional, same
from penstock.common.row import Row, names_of
from penstock.common.settings import Settings
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.runtime.buffers.conversions import CHANGING, byte_array, conversion, float32, shortest32
from penstock.runtime.buffers.java_maps import ordering
from penstock.runtime.buffers.value_checks import a, glance, kind_of, misfit

_FIELDS = (tuple, list, Row)
EDGE, SOURCE, COLLECT = "edge", "source", "collect"
"""The places where conversions differ: between tasks, out of a collection, into the result."""


def crossing(type_info: TypeInformation[Any] | None, settings: Settings, place: str = EDGE) -> Convert | None:
    """What a border does to records of a type; None if that is nothing. O(the type), and O(the record) per record.

    Args:
        type_info: of the records, None for undeclared.
        settings: of the program: its switches.
        place: which border.
    """
    cross, plain = _crossing(type_info, settings, place, ""), glance(type_info) if settings.pyflink_values else None
    if cross is None or plain is None or _changing(type_info):
        return cross
    return lambda value: value if plain(value) else cross(value)


def _changing(type_info: TypeInformation[Any] | None) -> bool:
    """Whether a border may change values that are of their type."""
    if isinstance(type_info, TupleTypeInfo):
        return any(map(_changing, type_info.field_types))
    return kind_of(type_info) in CHANGING


def _crossing(type_info: TypeInformation[Any] | None, settings: Settings, place: str, field: str) -> Convert | None:
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type is BasicType.FLOAT:
        narrow = shortest32 if place == COLLECT else float32
        return _after(_converted(type_info, settings, place, field), narrow if settings.pyflink_floats else None)
    if kind_of(type_info) is not None:
        return _converted(type_info, settings, place, field)
    if isinstance(type_info, TupleTypeInfo | RowTypeInfo):
        named = zip(type_info.field_names, type_info.field_types, strict=True)
        fields = [_crossing(each, settings, place, f"{field}.{name}") for name, each in named]
        strict = settings.pyflink_values
        if isinstance(type_info, RowTypeInfo) and settings.pyflink_rows:
            return _row(type_info, fields, field, strict and place != SOURCE)
        if isinstance(type_info, TupleTypeInfo) and strict:
            return _tuple(type_info, fields, field, (tuple, list, Row) if place == SOURCE else tuple)
        return _fields(fields)
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        return _elements(type_info, settings, place, field)
    if isinstance(type_info, MapTypeInfo):
        key = _crossing(type_info.key_type, settings, place, f"{field}[key]")
        order = ordering(type_info.key_type, place == SOURCE) if settings.pyflink_values else None
        return _entries(key, _crossing(type_info.value_type, settings, place, f"{field}[value]"), order)
    return None


def _converted(type_info: TypeInformation[Any] | None, settings: Settings, place: str, field: str) -> Convert | None:
    if type_info is None or not settings.pyflink_values:
        return None
    cross = conversion(type_info, field, read=place == SOURCE, collected=place == COLLECT)
    plain = None if _changing(type_info) else glance(type_info)
    return cross if plain is None else lambda value: value if plain(value) else cross(value)


def _after(first: Convert | None, second: Convert | None) -> Convert | None:
    if first is None or second is None:
        return first or second
    return lambda value: second(first(value))


def _elements(
    type_info: ListTypeInfo[Any] | ArrayTypeInfo[Any], settings: Settings, place: str, field: str
) -> Convert | None:
    element = _crossing(type_info.element_type, settings, place, f"{field}[]")
    if not settings.pyflink_values:
        narrow = element or same
        return None if element is None else lambda value: list(map(narrow, value)) if _listed(value) else value
    if isinstance(type_info, PrimitiveArrayTypeInfo) and kind_of(type_info.element_type) is BasicType.BYTE:
        return byte_array(type_info, field, collected=place == COLLECT)
    boxed = isinstance(type_info, ArrayTypeInfo) and not isinstance(type_info, PrimitiveArrayTypeInfo)
    if element is not None and boxed:
        element = optional(element)

    def cross(value: Any) -> Any:
        if not isinstance(value, list) and (place != SOURCE or not _listed(value)):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a list")
        return list(value) if element is None else list(map(element, value))

    return cross


def _listed(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _crossed(fields: Sequence[Convert | None], values: Iterable[Any]) -> list[Any]:
    return [
        value if cross is None or value is None else cross(value) for cross, value in zip(fields, values, strict=True)
    ]


def _tuple(
    type_info: TupleTypeInfo, fields: Sequence[Convert | None], field: str, classes: type | tuple[type, ...]
) -> Convert:
    """Of what becomes tuples, or is refused; None in it too, as far as its field has no such value."""

    def cross(value: Any) -> Any:
        if not isinstance(value, classes):
            raise misfit(value, type_info, field, f"it is {a(type(value))}, not a tuple")
        if len(value) != len(fields):
            raise misfit(value, type_info, field, f"it has {len(value)} fields, not {len(fields)}")
        return tuple([one if each is None else each(one) for each, one in zip(fields, value, strict=True)])

    return cross


def _fields(fields: Sequence[Convert | None]) -> Convert | None:
    """Of tuples, and of rows whose names stay."""
    if not any(fields):
        return None

    def cross(value: Any) -> Any:
        if not isinstance(value, _FIELDS) or len(value) != len(fields):
            return value  # is refused, or not, by whoever needs the fields
        new = _crossed(fields, value)
        if isinstance(value, Row):
            return Row.of_values(new, names_of(value), value.get_row_kind())
        return new if isinstance(value, list) else tuple(new)

    return cross


def _row(type_info: RowTypeInfo, fields: Sequence[Convert | None], field: str, strict: bool) -> Convert:
    """Of rows, which get the names of their type."""
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
        own, values = names_of(value), value
        if own is not None and own != names:
            if known.issuperset(own):
                values = value.get_fields_by_names(names)
            elif strict:
                raise misfit(value, type_info, field, f"its fields are {list(own)}")
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

"""Values as they are behind a border between Python and Java in PyFlink, by two switches: there a FLOAT has 32 bits
(``penstock.pyflink.floats``), and what is declared as a row is one with the names of its type, in their order
(``penstock.pyflink.rows``).

Borders are sources of collections, exchanges between tasks, prints, and what is collected; functions of one chain hand
values on as they are.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.common.row import Row, names_of
from penstock.common.settings import Settings
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

Cross = Callable[[Any], Any]
_FLOAT = struct.Struct("f")


def float32(value: Any) -> Any:
    """A number as the nearest one of 32 bits, infinite beyond them; what is no number stays."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def crossing(type_info: TypeInformation[Any] | None, settings: Settings) -> Cross | None:
    """What a border does to records of a type; None if that is nothing. O(the type), and O(the record) per record.

    Args:
        type_info: of the records, None for undeclared.
        settings: of the program: its switches.
    """
    if isinstance(type_info, BasicTypeInfo):
        return float32 if settings.pyflink_floats and type_info.basic_type is BasicType.FLOAT else None
    if isinstance(type_info, TupleTypeInfo | RowTypeInfo):
        fields = [crossing(field, settings) for field in type_info.field_types]
        by_name = settings.pyflink_rows and isinstance(type_info, RowTypeInfo)
        return _row(type_info.field_names, fields) if by_name else _fields(fields)
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        element = crossing(type_info.element_type, settings)
        return None if element is None else lambda value: list(map(element, value)) if _listed(value) else value
    if isinstance(type_info, MapTypeInfo):
        return _entries(crossing(type_info.key_type, settings), crossing(type_info.value_type, settings))
    return None


def _listed(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _crossed(fields: Sequence[Cross | None], values: Iterable[Any]) -> list[Any]:
    return [value if cross is None else cross(value) for cross, value in zip(fields, values, strict=True)]


def _fields(fields: Sequence[Cross | None]) -> Cross | None:
    """Of tuples, and of rows whose names stay."""
    if not any(fields):
        return None

    def cross(value: Any) -> Any:
        if not isinstance(value, tuple | list | Row) or len(value) != len(fields):
            return value  # is refused, or not, by whoever needs the fields
        new = _crossed(fields, value)
        if isinstance(value, Row):
            return Row.of_values(new, names_of(value), value.get_row_kind())
        return new if isinstance(value, list) else tuple(new)

    return cross


def _row(names: tuple[str, ...], fields: Sequence[Cross | None]) -> Cross:
    """Of rows, which get these names."""
    known = set(names)

    def cross(value: Any) -> Any:
        if not isinstance(value, tuple | list | Row) or len(value) != len(fields):
            return value
        if not isinstance(value, Row):
            return Row.of_values(_crossed(fields, value), names)
        by_name = value.field_names is not None and value.field_names != names and set(value.field_names) == known
        values = value.get_fields_by_names(names) if by_name else value.values
        return Row.of_values(_crossed(fields, values), names, value.get_row_kind())

    return cross


def _entries(key: Cross | None, item: Cross | None) -> Cross | None:
    if key is None and item is None:
        return None
    key, item = key or _same, item or _same
    return lambda value: {key(k): item(v) for k, v in value.items()} if isinstance(value, dict) else value


def _same(value: Any) -> Any:
    return value

"""Values as they are behind a border of PyFlink's between Python and Java: there a FLOAT has 32 bits.

Borders are sources of collections, exchanges between tasks, and what is collected; functions of one chain hand values
on as they are. By the switch ``penstock.pyflink.floats``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.row import Row
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

Narrow = Callable[[Any], Any]
_FLOAT = struct.Struct("f")


def float32(value: Any) -> Any:
    """A number as the nearest one of 32 bits, infinite beyond them; what is no number stays."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def narrowing(type_info: TypeInformation[Any] | None) -> Narrow | None:
    """What a border does to records of a type; None if that is nothing: there is no FLOAT in the type. O(the type), and
    O(the record) per record.

    Args:
        type_info: of the records, None for undeclared.
    """
    if isinstance(type_info, BasicTypeInfo):
        return float32 if type_info.basic_type is BasicType.FLOAT else None
    if isinstance(type_info, TupleTypeInfo | RowTypeInfo):
        return _fields([narrowing(field) for field in type_info.field_types])
    if isinstance(type_info, ListTypeInfo | ArrayTypeInfo):
        element = narrowing(type_info.element_type)
        return None if element is None else lambda value: list(map(element, value)) if _listed(value) else value
    if isinstance(type_info, MapTypeInfo):
        return _entries(narrowing(type_info.key_type), narrowing(type_info.value_type))
    return None


def _listed(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _fields(narrows: Sequence[Narrow | None]) -> Narrow | None:
    if not any(narrows):
        return None

    def fields(value: Any) -> Any:
        if not isinstance(value, tuple | list | Row) or len(value) != len(narrows):
            return value  # is refused, or not, by whoever needs the fields
        new = [field if narrow is None else narrow(field) for narrow, field in zip(narrows, value, strict=True)]
        if isinstance(value, Row):
            return Row.of_values(new, value.field_names, value.get_row_kind())
        return new if isinstance(value, list) else tuple(new)

    return fields


def _entries(key: Narrow | None, item: Narrow | None) -> Narrow | None:
    if key is None and item is None:
        return None
    key, item = key or _same, item or _same
    return lambda value: {key(k): item(v) for k, v in value.items()} if isinstance(value, dict) else value


def _same(value: Any) -> Any:
    return value

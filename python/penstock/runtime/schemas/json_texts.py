"""Values as JSON by type.

Sources of the semantics: Flink 2.3 ``JsonRowSerializationSchema`` and Jackson, which writes for it: names in the order
of the type, no space, doubles as ``Double.toString`` writes them, characters beyond U+FFFF as two escapes.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from penstock.common.conversions import Convert
from penstock.common.row import Row, in_order
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TypeInformation,
)
from penstock.runtime.io.java_texts import Unfit
from penstock.runtime.io.text import java_double, java_float
from penstock.runtime.schemas.failures import no_converter
from penstock.runtime.schemas.json_values import INSTEAD

_ESCAPED = re.compile('["\\\\\x00-\x1f\U00010000-\U0010ffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """A text as Jackson writes it."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    return _SHORT.get(character) or "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def of_type(*kinds: type, what: str) -> Callable[[Convert], Convert]:
    """Lets a writer see only values of some classes."""

    def decorate(write: Convert) -> Convert:
        def checked(value: Any) -> Any:
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Unfit(value, f"is no {what}")
            return write(value)

        return checked

    return decorate


def fields_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """The fields of a record in the order of its type: of a row or dict with names by name, else by position."""
    if isinstance(record, dict):
        return [record.get(name) for name in names]
    if not isinstance(record, Row | tuple | list):
        raise Unfit(record, "is no row")
    if len(record) != len(names):
        raise Unfit(record, f"has {len(record)} fields, and its type has {len(names)}: {', '.join(names)}")
    return in_order(record, names) if isinstance(record, Row) else record


def writer(type_info: TypeInformation[Any], field: str) -> Convert:
    """What makes the JSON of a value of a type.

    Args:
        type_info: of the value.
        field: its name, for the error.

    Raises:
        InvalidProgramError: the type has no form in JSON.
    """
    write = _writer(type_info, field)
    return lambda value: "null" if value is None else write(value)


def _writer(type_info: TypeInformation[Any], field: str) -> Convert:
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    if isinstance(type_info, SqlTimeTypeInfo):
        return _SQL[type_info.sql_type]
    if isinstance(type_info, RowTypeInfo):
        return _row(type_info, field)
    if isinstance(type_info, ArrayTypeInfo):
        element = type_info.element_type
        if isinstance(type_info, PrimitiveArrayTypeInfo) and element == BasicTypeInfo(BasicType.BYTE):
            return _bytes
        return _each(writer(element, field))
    if isinstance(type_info, ListTypeInfo):
        return _each(writer(type_info.element_type, field))
    if isinstance(type_info, MapTypeInfo):
        return _map(writer(type_info.key_type, field), writer(type_info.value_type, field))
    return no_converter(type_info, field, "JSON", INSTEAD)


def _row(type_info: RowTypeInfo, field: str) -> Convert:
    names = type_info.field_names
    writers = [
        (name, quoted(name), writer(inner, f"{field}.{name}".lstrip(".")))
        for name, inner in zip(names, type_info.field_types, strict=True)
    ]

    def write(record: Any) -> str:
        name, parts = "", []
        try:
            for (name, key, text), value in zip(writers, fields_of(record, names), strict=True):  # noqa: B007
                parts.append(f"{key}:{text(value)}")
        except Unfit as failure:
            raise failure.inside(f".{name}") if name else failure from None
        return "{" + ",".join(parts) + "}"

    return write


def _each(text: Convert) -> Convert:
    @of_type(list, tuple, what="list")
    def write(values: Sequence[Any]) -> str:
        index, parts = 0, []
        try:
            for index, value in enumerate(values):  # noqa: B007
                parts.append(text(value))
        except Unfit as failure:
            raise failure.inside(f"[{index}]") from None
        return "[" + ",".join(parts) + "]"

    return write


def _map(key: Convert, text: Convert) -> Convert:
    @of_type(dict, what="dict")
    def write(values: dict[Any, Any]) -> str:
        name, parts = None, []
        try:
            for name, value in values.items():
                of_key = key(name)
                parts.append(f"{of_key if of_key.startswith(chr(34)) else quoted(of_key)}:{text(value)}")
        except Unfit as failure:
            raise failure.inside(f"[{name!r}]") from None
        return "{" + ",".join(parts) + "}"

    return write


@of_type(bytes, bytearray, what="bytes")
def _bytes(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


def whole(bits: int) -> Convert:
    """The text of whole numbers of some bits; 0 for any."""
    limit = 1 << bits - 1 if bits else 0

    @of_type(int, what="whole number")
    def write(value: int) -> str:
        if limit and not -limit <= value < limit:
            raise Unfit(value, f"does not fit into {bits} bits")
        return str(value)

    return write


def _float(text: Callable[[float], str]) -> Convert:
    @of_type(float, int, what="number")
    def write(value: float) -> str:
        return text(value) if math.isfinite(value) else f'"{text(value)}"'

    return write


def _moment(value: datetime) -> str:
    fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
    return f'"{value.date().isoformat()}T{value:%H:%M:%S}{fraction}Z"'


_BASIC: dict[BasicType, Convert] = {
    BasicType.STRING: of_type(str, what="text")(quoted),
    BasicType.CHAR: of_type(str, what="text")(quoted),
    BasicType.BOOLEAN: of_type(bool, what="bool")(lambda value: "true" if value else "false"),
    BasicType.BYTE: whole(8),
    BasicType.SHORT: whole(16),
    BasicType.INT: whole(32),
    BasicType.LONG: whole(64),
    BasicType.BIG_INT: whole(0),
    BasicType.FLOAT: _float(java_float),
    BasicType.DOUBLE: _float(java_double),
    BasicType.BIG_DEC: of_type(Decimal, int, what="Decimal")(str),
}
_SQL: dict[SqlTimeType, Convert] = {
    SqlTimeType.DATE: of_type(date, what="date")(lambda value: f'"{value.isoformat()[:10]}"'),
    SqlTimeType.TIME: of_type(time, what="time")(lambda value: f'"{value:%H:%M:%S}Z"'),
    SqlTimeType.TIMESTAMP: of_type(datetime, what="datetime")(_moment),
}

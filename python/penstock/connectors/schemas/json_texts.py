"""Values as JSON by type.

Sources of the semantics: Flink 2.3 ``JsonRowSerializationSchema`` and Jackson, which writes for it: names in the order
of the type, no space, doubles as ``Double.toString`` writes them, characters beyond U+FFFF as two escapes.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any

from penstock.common.row import Row, in_order, names_of
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    TypeInformation,
    Types,
)
from penstock.common.typesystem.conversions import Convert
from penstock.common.typesystem.kinds import by_kind
from penstock.connectors.java_texts import WRITERS, Unfit, base64_of, of_type
from penstock.connectors.schemas.json_values import no_json

_LOG = logging.getLogger("penstock")
_ESCAPED = re.compile('["\\\\\x00-\x1f\U00010000-\U0010ffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """A text as Jackson writes it."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    return _SHORT.get(character) or "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def fields_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """The fields of a record in the order of its type: of a row or dict with names by name, else by position."""
    if isinstance(record, dict):
        return [record.get(name) for name in names]
    if not isinstance(record, Row | tuple | list):
        raise Unfit(record, "is not a row")
    if len(record) != len(names):
        raise Unfit(record, f"has {len(record)} fields, and its type has {len(names)}: {', '.join(names)}")
    return in_order(record, names) if isinstance(record, Row) else record


def first_fields_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """As :func:`fields_of`, but a record may have more fields than its type: the first ones are taken, whatever their
    names, as Flink's JSON and Avro schemas do. A warning says so where the names contradict."""
    if not isinstance(record, Row | tuple | list) or len(record) <= len(names):
        return fields_of(record, names)
    own = names_of(record) if isinstance(record, Row) else None
    if own is not None:
        _warn_of_places(own, names)
    return tuple(record)[: len(names)]


@lru_cache(maxsize=256)
def _warn_of_places(own: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Warn, once for each pair, where a narrower type has a name of the row at another place."""
    moved = [name for at, name in enumerate(names) if name in own and own[at] != name]
    if moved:
        _LOG.warning(
            "A schema with the fields %s writes rows with the fields %s. Flink takes fields by position, so %r is the "
            "row's %r. If you mean the row's own %r, map() to a row that begins with it, or list the fields before it.",
            list(names),
            list(own),
            moved[0],
            own[names.index(moved[0])],
            moved[0],
        )


def writer(type_info: TypeInformation[Any], field: str) -> Convert:
    """The conversion of a value into JSON; ``field`` is its name, for the error.

    Raises:
        InvalidProgramError: the type has no form in JSON.
    """
    write = _writer(type_info, field)
    return lambda value: "null" if value is None else write(value)


def _scalar(type_info: BasicTypeInfo[Any], field: str) -> Convert:
    return _BASIC.get(type_info.basic_type) or no_json(type_info, field)


def _row(type_info: RowTypeInfo, field: str) -> Convert:
    names = type_info.field_names
    writers = [
        (name, quoted(name), writer(inner, f"{field}.{name}".lstrip(".")))
        for name, inner in zip(names, type_info.field_types, strict=True)
    ]

    def write(record: Any) -> str:
        name, parts = "", []
        try:
            for (name, key, text), value in zip(writers, first_fields_of(record, names), strict=True):  # noqa: B007
                parts.append(f"{key}:{text(value)}")
        except Unfit as failure:
            raise failure.inside(f".{name}") if name else failure from None
        return "{" + ",".join(parts) + "}"

    return write


def _array(type_info: Any, field: str) -> Convert:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return lambda value: f'"{base64_of(value)}"'
    text = writer(type_info.element_type, field)

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


def _map(type_info: MapTypeInfo[Any, Any], field: str) -> Convert:
    key, text = writer(type_info.key_type, field), writer(type_info.value_type, field)

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


def _number(write: Convert) -> Convert:
    """The JSON of a float; infinities and NaN are texts."""

    def number(value: Any) -> str:
        text = write(value)
        return text if math.isfinite(value) else f'"{text}"'

    return number


def _moment(value: datetime) -> str:
    fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
    return f'"{value.date().isoformat()}T{value:%H:%M:%S}{fraction}Z"'


_text = of_type(str, what="text")(quoted)
_BASIC: dict[BasicType, Convert] = {
    **WRITERS,
    BasicType.STRING: _text,
    BasicType.CHAR: _text,
    BasicType.FLOAT: _number(WRITERS[BasicType.FLOAT]),
    BasicType.DOUBLE: _number(WRITERS[BasicType.DOUBLE]),
}
_SQL: dict[SqlTimeType, Convert] = {
    SqlTimeType.DATE: of_type(date, what="date")(lambda value: f'"{value.isoformat()[:10]}"'),
    SqlTimeType.TIME: of_type(time, what="time")(lambda value: f'"{value:%H:%M:%S}Z"'),
    SqlTimeType.TIMESTAMP: of_type(datetime, what="datetime")(_moment),
}

_writer = by_kind(
    scalars=_scalar,
    times=lambda type_info, _: _SQL[type_info.sql_type],
    tuples=no_json,
    rows=_row,
    lists=_array,
    arrays=_array,
    maps=_map,
    objects=no_json,
)

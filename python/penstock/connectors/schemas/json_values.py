"""Values as JSON, and JSON as values: the readers and writers of the schemas for rows.

Source of the semantics: Jackson, as Flink's schemas use it: names in the order of the type, no space, doubles as
``Double.toString`` writes them, characters beyond U+FFFF as two escapes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import partial
from typing import Any, NoReturn

from penstock.common.row import Row
from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, SqlTimeType, TypeInformation, Types
from penstock.common.typesystem.conversions import Convert
from penstock.common.typesystem.kinds import by_kind, types_in
from penstock.connectors.java_texts import (
    BYTES,
    TEXTS,
    decimal,
    double,
    fraction,
    iso_date,
    single,
    truth,
    utc_moment,
    utc_time,
)
from penstock.connectors.schemas.base import first_fields_of, no_converter
from penstock.runtime.buffers.value_checks import Kind, kind_of
from penstock.runtime.columns.parts import Unfit, elements, entries, fields
from penstock.runtime.io.text import java_double


def _no_json(type_info: TypeInformation[Any] | None, field: str, *_: Any) -> NoReturn:
    instead = "Declare it as Types.STRING() to have its JSON as a text, or give it a type that has a form."
    no_converter(type_info, field, "JSON", instead)


def _converters(type_info: RowTypeInfo, field: str, convert: Callable[..., Convert], *options: bool) -> list[Convert]:
    paths = [f"{field}.{name}".lstrip(".") for name in type_info.field_names]
    return [convert(part, path, *options) for part, path in zip(type_info.field_types, paths, strict=True)]


_EXACT = Context(MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _stripped(text: str) -> Decimal:
    """A number without zeros at its end, as Jackson keeps it."""
    return _EXACT.normalize(Decimal(text)) or Decimal(0)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def decoder(type_info: TypeInformation[Any]) -> Callable[[str], tuple[Any, int]]:
    """Parses the beginning of a text. Types with BIG_DEC need fractions as decimal numbers."""
    exact = any(part == Types.BIG_DEC() for part in types_in(type_info))
    return json.JSONDecoder(parse_float=_stripped if exact else None, parse_constant=_no_constant).raw_decode


def reader(type_info: TypeInformation[Any], field: str, strict: bool, lenient: bool) -> Convert:
    """The conversion of a parsed node: ``strict`` refuses missing fields, ``lenient`` makes None of values that do not
    fit."""
    convert = _value_reader(type_info, field, strict, lenient)

    def forgiving(node: Any) -> Any:
        try:
            return convert(node)
        except Unfit:
            return None

    return forgiving if lenient else convert


def _row_reader(type_info: RowTypeInfo, field: str, strict: bool, lenient: bool) -> Convert:
    names = type_info.field_names
    convert = fields(names, _converters(type_info, field, reader, strict, lenient))

    def read(node: Any) -> Row:
        if type(node) is not dict:
            raise Unfit(node, "is not a JSON object")
        if strict:
            for name in names:
                if name not in node:
                    raise Unfit(node, f"has no field {name!r}").inside(f".{name}")
        return Row.of_values(convert(map(node.get, names)), names)

    return read


def _list_reader(type_info: Any, *options: Any) -> Convert:
    return elements(reader(type_info.element_type, *options), "JSON array")


def _primitive_array_reader(type_info: Any, field: str, *_: bool) -> Convert:
    """Bytes are base64, and None of other nodes, as in Jackson; null is 0 in an array of other primitives."""
    element = type_info.element_type
    if not isinstance(element, BasicTypeInfo) or element.basic_type not in _CONVERTS:
        _no_json(type_info, field)
    if element.basic_type is BasicType.BYTE:
        return lambda node: BYTES.read(node) if type(node) is str else None
    convert, zero = _CONVERTS[element.basic_type][0], False if element.basic_type is BasicType.BOOLEAN else 0
    return elements(convert, "JSON array", none=zero)


def _map_reader(type_info: Any, *options: Any) -> Convert:
    read = entries(reader(type_info.key_type, *options), reader(type_info.value_type, *options))
    return lambda node: read(node if type(node) is dict else {})


def _as_text(node: Any) -> str:
    """``JsonNode.asText``: of an object or array it is empty."""
    kind = type(node)
    if kind is str:
        return node
    if kind is bool:
        return "true" if node else "false"
    if kind is float:
        return java_double(node)
    return str(node) if kind is int or kind is Decimal else ""


def _compact(node: Any) -> str:
    """``JsonNode.toString``."""
    kind = type(node)
    if kind is dict:
        return "{" + ",".join(f"{_compact(key)}:{_compact(value)}" for key, value in node.items()) + "}"
    if kind is list:
        return "[" + ",".join(map(_compact, node)) + "]"
    if node is None:
        return "null"
    if kind is str or (kind is float and not math.isfinite(node)):
        return json.dumps(_as_text(node), ensure_ascii=False)
    return _as_text(node)


def _read_text(read: Convert, node: Any) -> Any:
    try:
        return read(_as_text(node))
    except Unfit as failure:
        raise Unfit(node, failure.why) from None


def _whole_number(basic_type: BasicType) -> Convert:
    """INT and LONG: a number is cut to a whole one if it is in their range; a text is parsed."""
    read, bound = TEXTS[basic_type].read, 1 << TEXTS[basic_type].bits - 1

    def number(node: Any) -> int:
        kind = type(node)
        if kind is int and -bound <= node < bound:
            return node
        if (kind is float or kind is Decimal) and -bound <= node <= bound - 1:
            return int(node)
        return _read_text(read, node)

    return number


def _character(node: Any) -> str | None:
    if type(node) is int and 0 <= node < 1 << 16:
        return chr(node)
    if type(node) is str and len(node) <= 1:
        return node or None
    raise Unfit(node, "is not a single character")


def _decimal(node: Any) -> Decimal:
    if type(node) is Decimal:
        return node
    return Decimal(node) if type(node) is int else _read_text(decimal, node)


_ESCAPED = re.compile('["\\\\\x00-\x1f\U00010000-\U0010ffff\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """A text as Jackson writes it."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex().upper()
    return _SHORT.get(match[0]) or "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _row_writer(type_info: RowTypeInfo, field: str) -> Convert:
    names = type_info.field_names
    template = "{" + ",".join([quoted(name).replace("%", "%%") + ":%s" for name in names]) + "}"
    convert = fields(names, _converters(type_info, field, value_writer), none="null")
    return lambda record: template % tuple(convert(first_fields_of(record, names)))


def _list_writer(type_info: Any, field: str) -> Convert:
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        text = BYTES.checked
        return lambda value: f'"{text(value)}"'
    texts = elements(value_writer(type_info.element_type, field), none="null")
    return lambda values: "[" + ",".join(texts(values)) + "]"


def _map_writer(type_info: Any, field: str) -> Convert:
    key, value = value_writer(type_info.key_type, field), value_writer(type_info.value_type, field)

    def quoted_key(name: Any) -> str:
        text = "null" if name is None else key(name)
        return text if text.startswith('"') else quoted(text)

    texts = entries(quoted_key, value, none="null")
    return lambda values: "{" + ",".join([f"{name}:{text}" for name, text in texts(values).items()]) + "}"


def _float_writer(basic_type: BasicType) -> Convert:
    """The JSON of a float; infinities and NaN are texts."""
    write = TEXTS[basic_type].checked

    def number(value: Any) -> str:
        text = write(value)
        return text if math.isfinite(value) else f'"{text}"'

    return number


def _moment(value: datetime) -> str:
    return f"{value.date().isoformat()}T{value:%H:%M:%S}{fraction(value.microsecond)}Z"


def _iso(kind: SqlTimeType, read: Convert, write: Convert) -> tuple[Convert, Convert]:
    text = TEXTS[kind]._replace(write=write).checked
    return lambda node: read(_as_text(node)), lambda value: f'"{text(value)}"'


_text = TEXTS[BasicType.STRING]._replace(write=quoted).checked
_CONVERTS: dict[Kind | None, tuple[Convert, Convert]] = {
    **{kind: (partial(_read_text, texts.read), texts.checked) for kind, texts in TEXTS.items()},
    BasicType.STRING: (lambda node: _compact(node) if isinstance(node, dict | list) else _as_text(node), _text),
    BasicType.CHAR: (_character, _text),
    BasicType.BOOLEAN: (
        lambda node: node if type(node) is bool else truth(_as_text(node)),
        TEXTS[BasicType.BOOLEAN].checked,
    ),
    BasicType.INT: (_whole_number(BasicType.INT), TEXTS[BasicType.INT].checked),
    BasicType.LONG: (_whole_number(BasicType.LONG), TEXTS[BasicType.LONG].checked),
    BasicType.FLOAT: (partial(_read_text, single), _float_writer(BasicType.FLOAT)),
    BasicType.DOUBLE: (
        lambda node: node if type(node) is float else _read_text(double, node),
        _float_writer(BasicType.DOUBLE),
    ),
    BasicType.BIG_DEC: (_decimal, TEXTS[BasicType.BIG_DEC].checked),
    SqlTimeType.DATE: _iso(SqlTimeType.DATE, iso_date, TEXTS[SqlTimeType.DATE].write),
    SqlTimeType.TIME: _iso(SqlTimeType.TIME, utc_time, lambda value: f"{value:%H:%M:%S}Z"),
    SqlTimeType.TIMESTAMP: _iso(SqlTimeType.TIMESTAMP, utc_moment, _moment),
}
"""Readers and writers."""


def _scalar(way: int) -> Callable[..., Convert]:
    """The case of scalars: 0 for reading, 1 for writing."""

    def case(type_info: TypeInformation[Any], field: str, *_: bool) -> Convert:
        if kind_of(type_info) not in _CONVERTS:
            _no_json(type_info, field)
        return _CONVERTS[kind_of(type_info)][way]

    return case


_value_reader = by_kind(
    scalars=_scalar(0),
    times=_scalar(0),
    tuples=_no_json,
    rows=_row_reader,
    lists=_list_reader,
    arrays=_list_reader,
    primitive_arrays=_primitive_array_reader,
    maps=_map_reader,
    objects=_no_json,
)
value_writer = by_kind(
    scalars=_scalar(1),
    times=_scalar(1),
    tuples=_no_json,
    rows=_row_writer,
    lists=_list_writer,
    arrays=_list_writer,
    maps=_map_writer,
    objects=_no_json,
)

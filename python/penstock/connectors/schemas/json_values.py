"""Values out of JSON by type.

Sources of the semantics: Flink 2.3 ``JsonRowDeserializationSchema`` and Jackson, which parses for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, cast

from penstock.common.row import Row
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    TypeInformation,
    Types,
)
from penstock.common.typesystem.conversions import Convert
from penstock.common.typesystem.kinds import by_kind, types_in
from penstock.connectors import java_texts
from penstock.connectors.java_texts import Unfit
from penstock.connectors.schemas.base import no_converter
from penstock.runtime.io.text import java_double

_BOUNDS = {BasicType.INT: 32, BasicType.LONG: 64}


def parser(exact: bool) -> Callable[[bytes], Any]:
    """The parser of a message, or of its beginning, as Jackson's. ``exact`` keeps fractions as decimal numbers, which
    types with BIG_DEC need."""
    decoder = json.JSONDecoder(parse_float=_exactly if exact else None, parse_constant=_no_constant)

    def parse(message: bytes) -> Any:
        text = message.decode(json.detect_encoding(message)).lstrip(" \t\r\n")
        return decoder.raw_decode(text)[0]

    return parse


def _exactly(text: str) -> Decimal:
    return stripped(Decimal(text))


def stripped(number: Decimal) -> Decimal:
    """A number without zeros at its end, as Jackson keeps it."""
    sign, digits, exponent = number.as_tuple()
    kept = len(digits)
    while kept > 1 and digits[kept - 1] == 0:
        kept -= 1
    if not any(digits):
        return Decimal(0)
    return Decimal((sign, digits[:kept], cast(int, exponent) + len(digits) - kept))


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def has_decimals(type_info: TypeInformation[Any]) -> bool:
    """Whether a type has BIG_DEC in it."""
    return any(part == Types.BIG_DEC() for part in types_in(type_info))


def reader(type_info: TypeInformation[Any], field: str, strict: bool, lenient: bool) -> Convert:
    """The conversion of a parsed node into a value of a type.

    Args:
        type_info: of the value.
        field: its name, for the error.
        strict: whether a missing field is an error; else it is None.
        lenient: whether a value that does not fit is None; else it is an error.

    Raises:
        InvalidProgramError: the type has no form in JSON.
    """
    convert = _reader(type_info, field, strict, lenient)

    def nullable(node: Any) -> Any:
        return None if node is None else convert(node)

    def forgiving(node: Any) -> Any:
        try:
            return None if node is None else convert(node)
        except Unfit:
            return None

    return forgiving if lenient else nullable


def _scalar(type_info: BasicTypeInfo[Any], field: str, *_: bool) -> Convert:
    return _BASIC.get(type_info.basic_type) or no_json(type_info, field)


def no_json(type_info: TypeInformation[Any] | None, field: str, *_: Any) -> NoReturn:
    """Refuse a type that has no form in JSON."""
    no_converter(
        type_info,
        field,
        "JSON",
        "Declare it as Types.STRING() to have its JSON as a text, or give it a type that has a form.",
    )


def _row(type_info: RowTypeInfo, field: str, strict: bool, lenient: bool) -> Convert:
    names = type_info.field_names
    readers = [
        (name, reader(inner, f"{field}.{name}".lstrip("."), strict, lenient))
        for name, inner in zip(names, type_info.field_types, strict=True)
    ]

    def read(node: Any) -> Row:
        if type(node) is not dict:
            raise Unfit(node, "is not a JSON object")
        values: list[Any] = []
        name = ""
        try:
            for name, convert in readers:
                if strict and name not in node:
                    raise Unfit(node, f"has no field {name!r}")
                values.append(convert(node.get(name)))
        except Unfit as failure:
            raise failure.inside(f".{name}") from None
        return Row.of_values(values, names)

    return read


def _primitive_array(type_info: PrimitiveArrayTypeInfo[Any], field: str, *_: bool) -> Convert:
    """Null is 0 in an array of primitives."""
    element = type_info.element_type
    if not isinstance(element, BasicTypeInfo) or element.basic_type not in _BASIC:
        no_json(type_info, field)
    if element.basic_type is BasicType.BYTE:
        return _bytes
    convert, zero = _BASIC[element.basic_type], False if element.basic_type is BasicType.BOOLEAN else 0
    return _each(lambda node: zero if node is None else convert(node))


def _elements(type_info: Any, *options: Any) -> Convert:
    return _each(reader(type_info.element_type, *options))


def _each(convert: Convert) -> Convert:
    def read(node: Any) -> list[Any]:
        if type(node) is not list:
            raise Unfit(node, "is not a JSON array")
        index = 0
        values: list[Any] = []
        try:
            for index, element in enumerate(cast("list[Any]", node)):  # noqa: B007
                values.append(convert(element))
        except Unfit as failure:
            raise failure.inside(f"[{index}]") from None
        return values

    return read


def _map(type_info: MapTypeInfo[Any, Any], *options: Any) -> Convert:
    key, value = reader(type_info.key_type, *options), reader(type_info.value_type, *options)

    def read(node: Any) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        name = ""
        try:
            for name, each in cast("dict[str, Any]", node if type(node) is dict else {}).items():
                values[key(name)] = value(each)
        except Unfit as failure:
            raise failure.inside(f"[{name!r}]") from None
        return values

    return read


def _bytes(node: Any) -> bytes | None:
    """Base64; Jackson returns nothing for other nodes."""
    return java_texts.bytes_of(node) if type(node) is str else None


def as_text(node: Any) -> str:
    """``JsonNode.asText``: of an object or array it is empty."""
    kind = type(node)
    if kind is str:
        return node
    if kind is bool:
        return "true" if node else "false"
    if kind is float:
        return java_double(node)
    return str(node) if kind is int or kind is Decimal else ""


def compact(node: Any) -> str:
    """``JsonNode.toString``."""
    kind = type(node)
    if kind is dict:
        return "{" + ",".join(f"{quoted(key)}:{compact(each)}" for key, each in node.items()) + "}"
    if kind is list:
        return "[" + ",".join(map(compact, node)) + "]"
    if node is None:
        return "null"
    if kind is str or (kind is float and not isfinite(node)):
        return quoted(as_text(node))
    return as_text(node)


def quoted(text: str) -> str:
    """A text as JSON writes it."""
    return json.dumps(text, ensure_ascii=False)


def _string(node: Any) -> str:
    return compact(node) if isinstance(node, dict | list) else as_text(node)


def _boolean(node: Any) -> bool:
    return node if type(node) is bool else java_texts.truth(as_text(node))


def _of_text(read: Convert) -> Convert:
    return lambda node: read(as_text(node))


def _as_read(node: Any, read: Convert) -> Any:
    try:
        return read(as_text(node))
    except Unfit as failure:
        raise Unfit(node, failure.why) from None


def _number(basic_type: BasicType) -> Convert:
    """INT and LONG: a number is cut to a whole one if it is in their range; a text is parsed."""
    bits = _BOUNDS[basic_type]
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    read = java_texts.READERS[basic_type]

    def number(node: Any) -> int:
        kind = type(node)
        if kind is int and low <= node <= high:
            return node
        if (kind is float or kind is Decimal) and low <= node <= high:
            return int(node)
        return _as_read(node, read)

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
    return Decimal(node) if type(node) is int else _as_read(node, java_texts.decimal)


def _as_text_read(read: Convert) -> Convert:
    return lambda node: _as_read(node, read)


_BASIC: dict[BasicType, Convert] = {
    **{basic_type: _as_text_read(read) for basic_type, read in java_texts.READERS.items()},
    BasicType.STRING: _string,
    BasicType.CHAR: _character,
    BasicType.BOOLEAN: _boolean,
    BasicType.INT: _number(BasicType.INT),
    BasicType.LONG: _number(BasicType.LONG),
    BasicType.DOUBLE: lambda node: node if type(node) is float else _as_read(node, java_texts.double),
    BasicType.BIG_DEC: _decimal,
}
_SQL: dict[SqlTimeType, Convert] = {
    SqlTimeType.DATE: java_texts.iso_date,
    SqlTimeType.TIME: java_texts.utc_time,
    SqlTimeType.TIMESTAMP: java_texts.utc_moment,
}

_reader = by_kind(
    scalars=_scalar,
    times=lambda type_info, *_: _of_text(_SQL[type_info.sql_type]),
    tuples=no_json,
    rows=_row,
    lists=_elements,
    arrays=_elements,
    primitive_arrays=_primitive_array,
    maps=_map,
    objects=no_json,
)

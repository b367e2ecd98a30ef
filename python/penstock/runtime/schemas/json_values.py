"""Values out of JSON by type.

Sources of the semantics: Flink 2.3 ``JsonRowDeserializationSchema`` and Jackson, which parses for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, NoReturn, cast

from penstock.common.conversions import Convert
from penstock.common.row import Row
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
from penstock.runtime.io import java_texts
from penstock.runtime.io.java_texts import Unfit
from penstock.runtime.io.text import java_double
from penstock.runtime.schemas.failures import no_converter

INSTEAD = "Declare it as Types.STRING() to have its JSON as a text, or give it a type that has a form."
_BOUNDS = {BasicType.INT: 32, BasicType.LONG: 64}


def parser(exact: bool) -> Callable[[bytes], Any]:
    """What parses a message, or the beginning of one, as Jackson does.

    Args:
        exact: whether numbers with a fraction are kept as decimal numbers, as they are for types with BIG_DEC in them.
    """
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
    raise ValueError(f"{text} is no JSON")


def has_decimals(type_info: TypeInformation[Any]) -> bool:
    """Whether there is BIG_DEC in a type."""
    left = [type_info]
    while left:
        each = left.pop()
        if isinstance(each, BasicTypeInfo) and each.basic_type is BasicType.BIG_DEC:
            return True
        if isinstance(each, RowTypeInfo):
            left.extend(each.field_types)
        elif isinstance(each, MapTypeInfo):
            left += [each.key_type, each.value_type]
        elif isinstance(each, (ArrayTypeInfo, ListTypeInfo)):
            left.append(each.element_type)
    return False


def reader(type_info: TypeInformation[Any], field: str, strict: bool, lenient: bool) -> Convert:
    """What makes a value of a type out of what the parser gave.

    Args:
        type_info: of the value.
        field: its name, for the error.
        strict: whether a field that is not there is an error; else it is None.
        lenient: whether what does not fit is None; else it is an error.

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


def _reader(type_info: TypeInformation[Any], field: str, strict: bool, lenient: bool) -> Convert:
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    if isinstance(type_info, SqlTimeTypeInfo):
        return _of_text(_SQL[type_info.sql_type])
    if isinstance(type_info, RowTypeInfo):
        return _row(type_info, field, strict, lenient)
    if isinstance(type_info, ArrayTypeInfo):
        return _array(type_info, field, strict, lenient)
    if isinstance(type_info, MapTypeInfo):
        key = reader(type_info.key_type, field, strict, lenient)
        return _map(key, reader(type_info.value_type, field, strict, lenient))
    if isinstance(type_info, ListTypeInfo):
        return _each(reader(type_info.element_type, field, strict, lenient))
    return no_converter(type_info, field, "JSON", INSTEAD)


def _row(type_info: RowTypeInfo, field: str, strict: bool, lenient: bool) -> Convert:
    names = type_info.field_names
    readers = [
        (name, reader(inner, f"{field}.{name}".lstrip("."), strict, lenient))
        for name, inner in zip(names, type_info.field_types, strict=True)
    ]

    def read(node: Any) -> Row:
        if type(node) is not dict:
            raise Unfit(node, "is no JSON object")
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


def _array(type_info: ArrayTypeInfo[Any], field: str, strict: bool, lenient: bool) -> Convert:
    if not isinstance(type_info, PrimitiveArrayTypeInfo):
        return _each(reader(type_info.element_type, field, strict, lenient))
    element = type_info.element_type
    if not isinstance(element, BasicTypeInfo) or element.basic_type not in _BASIC:
        no_converter(type_info, field, "JSON", INSTEAD)
    if element.basic_type is BasicType.BYTE:
        return _bytes
    convert, zero = _BASIC[element.basic_type], False if element.basic_type is BasicType.BOOLEAN else 0
    return _each(lambda node: zero if node is None else convert(node))


def _each(convert: Convert) -> Convert:
    def read(node: Any) -> list[Any]:
        if type(node) is not list:
            raise Unfit(node, "is no JSON array")
        index = 0
        values: list[Any] = []
        try:
            for index, element in enumerate(cast("list[Any]", node)):  # noqa: B007
                values.append(convert(element))
        except Unfit as failure:
            raise failure.inside(f"[{index}]") from None
        return values

    return read


def _map(key: Convert, value: Convert) -> Convert:
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
    """Base64; Jackson gives nothing for what is no text."""
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
    return node if type(node) is bool else java_texts.truth(java_texts.trimmed(as_text(node)))


def _of_text(read: Convert) -> Convert:
    return lambda node: read(as_text(node))


def _of_trimmed(read: Convert) -> Convert:
    return lambda node: _as_read(node, read)


def _as_read(node: Any, read: Convert) -> Any:
    try:
        return read(java_texts.trimmed(as_text(node)))
    except Unfit as failure:
        raise Unfit(node, failure.why) from None


def _number(basic_type: BasicType) -> Convert:
    """INT and LONG: a number is cut to a whole one if it is in their range; a text is parsed."""
    bits = _BOUNDS[basic_type]
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    read = java_texts.whole_number(bits)

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
    raise Unfit(node, "is no single character")


def _decimal(node: Any) -> Decimal:
    if type(node) is Decimal:
        return node
    return Decimal(node) if type(node) is int else _as_read(node, java_texts.decimal)


_BASIC: dict[BasicType, Convert] = {
    BasicType.STRING: _string,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _of_trimmed(java_texts.whole_number(8)),
    BasicType.SHORT: _of_trimmed(java_texts.whole_number(16)),
    BasicType.INT: _number(BasicType.INT),
    BasicType.LONG: _number(BasicType.LONG),
    BasicType.FLOAT: _of_trimmed(java_texts.single),
    BasicType.DOUBLE: lambda node: node if type(node) is float else _as_read(node, java_texts.double),
    BasicType.CHAR: _character,
    BasicType.BIG_INT: _of_trimmed(java_texts.whole_number(0)),
    BasicType.BIG_DEC: _decimal,
}
_SQL: dict[SqlTimeType, Convert] = {
    SqlTimeType.DATE: java_texts.iso_date,
    SqlTimeType.TIME: java_texts.utc_time,
    SqlTimeType.TIMESTAMP: java_texts.utc_moment,
}

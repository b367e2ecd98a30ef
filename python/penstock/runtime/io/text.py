"""How records look in text: what ``print`` and text sinks write.

A record of a declared type has Java's text form; a record of an undeclared type is Python's ``str``. Rows differ
between the two writers, as in PyFlink: ``print`` shows ``+I[a,None]`` (Python texts, no space), a text file ``+I[a,
null]``. Arrays have no stable text in Java (``[I@6d06d69c``); here they look like lists. Sources of the semantics:
``toString`` of the Java classes; PyFlink's print sink. O(length) once per record."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from penstock.common.row import Row
from penstock.common.time import Instant, instant_of_value
from penstock.common.typeinfo import BasicType, MapTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.common.typesystem.kinds import by_kind
from penstock.errors import TypeInfoError
from penstock.runtime.keys.javahash import float_bits

Text = Callable[[Any], str]


def print_text(type_info: TypeInformation[Any] | None) -> Text:
    """The text form that ``print`` shows for records of a type."""
    if isinstance(type_info, RowTypeInfo):
        return lambda value: "null" if value is None else f"{_kind(value)}[{','.join(map(str, value))}]"
    return file_text(type_info)


def _of_tuple(type_info: TupleTypeInfo) -> Text:
    fields = list(map(file_text, type_info.field_types))
    return _nullable(lambda value: f"({','.join(_texts(fields, value))})")


def _of_row(type_info: RowTypeInfo) -> Text:
    fields = list(map(file_text, type_info.field_types))
    return _nullable(lambda value: f"{_kind(value)}[{', '.join(_texts(fields, value))}]")


def _of_list(type_info: Any) -> Text:
    element = file_text(type_info.element_type)
    return _nullable(lambda value: f"[{', '.join(map(element, value))}]")


def _of_map(type_info: MapTypeInfo[Any, Any]) -> Text:
    key, item = file_text(type_info.key_type), file_text(type_info.value_type)
    return _nullable(lambda value: f"{{{', '.join(f'{key(k)}={item(v)}' for k, v in value.items())}}}")


def _nullable(text: Text) -> Text:
    return lambda value: "null" if value is None else text(value)


def _texts(fields: list[Text], value: Any) -> list[str]:
    if not hasattr(value, "__len__") or len(value) != len(fields):
        raise TypeInfoError(
            f"The record {value!r} does not have the {len(fields)} fields of its declared type. Correct the output "
            "type of the function that made it."
        )
    return [text(field) for text, field in zip(fields, value, strict=True)]


def _kind(value: Any) -> str:
    return str(value.get_row_kind()) if isinstance(value, Row) else "+I"


def java_double(value: float) -> str:
    """``Double.toString``: digits as few as identify the number, E notation below 10⁻³ and from 10⁷ on."""
    return _java_decimal(float(value), repr(float(value)))


def java_float(value: float) -> str:
    """``Float.toString`` of the number as a 32-bit float."""
    single = struct.unpack(">f", float_bits(value))[0]
    if not math.isfinite(single):
        return _java_decimal(single, "")
    shortest = next(
        s for s in (f"{single:.{p}g}" for p in range(1, 10)) if struct.pack("f", float(s)) == struct.pack("f", single)
    )
    return _java_decimal(single, shortest)


def _java_decimal(value: float, digits: str) -> str:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return sign + "0.0"
    mantissa, _, exponent = digits.lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    figures = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(figures)
    figures = figures.rstrip("0") or "0"
    if 1e-3 <= abs(value) < 1e7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{figures}"
        padded = figures.ljust(point, "0")
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{figures[0]}.{figures[1:] or '0'}E{point - 1}"


def _instant(value: Any) -> str:
    """``Instant.toString``: no fraction, or as many groups of three digits as there are."""
    if isinstance(value, datetime) and value.utcoffset() is not None:
        value = instant_of_value(value)
    if not isinstance(value, Instant):
        return str(value)
    digits = f"{value.nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{value.to_datetime():%Y-%m-%dT%H:%M:%S}{'.' if digits else ''}{digits}Z"


def sql_time_text(value: Any) -> str:
    """``toString`` of Java's SQL types of days and times."""
    if isinstance(value, datetime):
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value.date().isoformat()} {value:%H:%M:%S}.{fraction}"
    if isinstance(value, time):
        return f"{value:%H:%M:%S}"
    return value.isoformat() if isinstance(value, date) else str(value)


_BASIC: dict[BasicType, Text] = {
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.DOUBLE: java_double,
    BasicType.FLOAT: java_float,
    BasicType.INSTANT: _instant,
}
file_text: Callable[..., Text] = by_kind(
    scalars=lambda type_info: _nullable(_BASIC.get(type_info.basic_type, str)),
    times=lambda _: _nullable(sql_time_text),
    tuples=_of_tuple,
    rows=_of_row,
    lists=_of_list,
    arrays=_of_list,
    maps=_of_map,
    objects=lambda _: str,
)
"""The text form that a text sink writes for records of a type, None for undeclared."""

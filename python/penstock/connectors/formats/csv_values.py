"""Values of CSV files, and of texts in JSON files, by type of column: read and written as Java does, except days and
times, which have the form of Flink's ``CsvReaderFormat``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime, time, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicTypeInfo
from penstock.common.typesystem.conversions import Convert
from penstock.connectors import java_texts
from penstock.connectors.formats.timestamps import instant_of, microseconds_of
from penstock.runtime.io.text import java_double, java_float

Text = Callable[[Any], str]


def reader(wanted: ct.DataType, separator: str, null: str | None) -> Convert:
    """The conversion of a column's texts into values; it raises ValueError or ArithmeticError for other texts.
    ``separator`` is between the elements of an array, "" for nothing; ``null`` is the text that stands for None."""
    if isinstance(wanted, ct.ArrayType):
        element = reader(wanted.element_type, "", null)
        return lambda text: list(map(element, text.split(separator) if separator else [text])) if text else []
    if isinstance(wanted, ct.DecimalType):
        convert = _decimal(wanted)
    elif type(wanted) in _READ:
        convert = _READ[type(wanted)]
    else:
        convert = java_texts.READERS[cast("BasicTypeInfo[Any]", wanted.type_info).basic_type]
    return convert if null is None else lambda text: None if text == null else convert(text)


def _decimal(wanted: ct.DecimalType) -> Convert:
    context = Context(prec=wanted.precision + 2)
    exponent, limit = Decimal(1).scaleb(-wanted.scale), Decimal(1).scaleb(wanted.precision - wanted.scale)

    def decimal(text: str) -> Any:
        value = java_texts.decimal(text)
        if abs(value) >= limit:
            raise ValueError(f"it does not fit into {wanted}")
        value = value.quantize(exponent, ROUND_HALF_UP, context)
        return int(value) if wanted.whole else value

    return decimal


def _padded(text: str) -> str:
    """The trimmed text of a time, with a fraction of six digits, as Python 3.10 wants it."""
    whole, point, fraction = java_texts.trimmed(text).partition(".")
    if not point:
        return whole
    if len(fraction) > 6 and fraction[6:].strip("0"):
        raise ValueError("it has more than six digits of a fraction of a second")
    return f"{whole}.{fraction[:6]:0<6}"


def _moment(text: str) -> Instant:
    bare = java_texts.trimmed(text)
    if not bare.endswith("Z"):
        raise ValueError("a moment ends in Z, for UTC")
    whole, _, fraction = bare[:-1].partition(".")
    seconds = instant_of(microseconds_of(datetime.fromisoformat(whole).replace(tzinfo=timezone.utc))).seconds
    return Instant(seconds, int(f"{fraction:0<9}"[:9]) if fraction else 0)


_READ: dict[type[ct.DataType], Convert] = {
    ct.CharType: str,
    ct.VarBinaryType: java_texts.bytes_of,
    ct.BinaryType: java_texts.bytes_of,
    ct.DateType: lambda text: java_texts.iso_date(java_texts.trimmed(text)),
    ct.TimeType: lambda text: time.fromisoformat(_padded(text)),
    ct.TimestampType: lambda text: datetime.fromisoformat(_padded(text)),
    ct.LocalZonedTimestampType: _moment,
}
"""The types whose texts differ from those of messages. Of the others, see :data:`java_texts.READERS`."""


def writer(wanted: ct.DataType) -> Text:
    """The conversion of a column's values, not None and no arrays, into texts."""
    return _WRITE.get(type(wanted), str)


def _fraction(text: str, digits: str) -> str:
    digits = digits.rstrip("0")
    return f"{text}.{digits}" if digits else text


def _moment_text(value: Any) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a moment is an Instant, or a timezone-aware datetime")
        value = instant_of(microseconds_of(value))
    text = value.to_datetime().replace(microsecond=0, tzinfo=None).isoformat(" ")
    return _fraction(text, f"{value.nanos:09d}") + "Z"


_WRITE: dict[type[ct.DataType], Text] = {
    ct.BooleanType: lambda value: "true" if value else "false",
    ct.FloatType: java_float,
    ct.DoubleType: java_double,
    ct.VarBinaryType: lambda value: base64.b64encode(value).decode(),
    ct.BinaryType: lambda value: base64.b64encode(value).decode(),
    ct.DateType: lambda value: value.isoformat(),
    ct.TimeType: lambda value: _fraction(value.strftime("%H:%M:%S"), f"{value.microsecond:06d}"),
    ct.TimestampType: lambda value: _fraction(value.replace(microsecond=0).isoformat(" "), f"{value.microsecond:06d}"),
    ct.LocalZonedTimestampType: _moment_text,
}

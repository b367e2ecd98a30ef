"""Values of CSV files: texts as what they stand for, and values as their texts. A column at a time.

Texts are taken as Java takes them: spaces around numbers do not count, anything but ``true`` is False, a FLOAT has 32
bits; and written as Java writes them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime, time, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from penstock.common import column_types as ct
from penstock.common.conversions import Convert
from penstock.common.time import Instant
from penstock.runtime.io import java_texts
from penstock.runtime.io.formats.fields import BITS
from penstock.runtime.io.moments import datetime_of, instant_of, microseconds_of
from penstock.runtime.io.text import java_double, java_float

Text = Callable[[Any], str]


def reader(wanted: ct.DataType, separator: str, null: str | None) -> Convert:
    """What makes of a text the value that it stands for. It raises ValueError or ArithmeticError if there is none.

    Args:
        wanted: type of the column.
        separator: between the elements of an array; "" for nothing.
        null: the text that stands for None.
    """
    if isinstance(wanted, ct.ArrayType):
        element = reader(wanted.element_type, "", null)
        return lambda text: [element(each) for each in (text.split(separator) if separator else [text])] if text else []
    convert = _scalar(wanted)
    return convert if null is None else lambda text: None if text == null else convert(text)


def _scalar(wanted: ct.DataType) -> Convert:
    if isinstance(wanted, ct.DecimalType):
        return _trimming(_decimal(wanted))
    if type(wanted) in BITS:
        return _trimming(java_texts.whole_number(BITS[type(wanted)]))
    return _READ[type(wanted)]


def _trimming(read: Convert) -> Convert:
    return lambda text: read(java_texts.trimmed(text))


def _decimal(wanted: ct.DecimalType) -> Convert:
    context = Context(prec=wanted.precision + 2)
    exponent, limit = Decimal(1).scaleb(-wanted.scale), Decimal(1).scaleb(wanted.precision - wanted.scale)

    def decimal(text: str) -> Any:
        value = java_texts.decimal(text)
        if abs(value) >= limit:
            raise ValueError(f"it does not fit into {wanted}")
        made = value.quantize(exponent, ROUND_HALF_UP, context)
        return int(made) if wanted.whole else made

    return decimal


def _clock(text: str) -> datetime:
    return datetime.fromisoformat(_padded(text))


def _time(text: str) -> time:
    return time.fromisoformat(_padded(text))


def _padded(text: str) -> str:
    """With a fraction of six digits, as Python 3.10 wants it."""
    whole, point, fraction = text.partition(".")
    if not point:
        return whole
    if len(fraction) > 6 and fraction[6:].strip("0"):
        raise ValueError("it has more than six digits of a fraction of a second")
    return f"{whole}.{fraction[:6]:0<6}"


def _moment(text: str) -> Instant:
    if not text.endswith("Z"):
        raise ValueError("a moment ends in Z, for UTC")
    whole, _, fraction = text[:-1].partition(".")
    seconds = instant_of(microseconds_of(datetime.fromisoformat(whole).replace(tzinfo=timezone.utc))).seconds
    return Instant(seconds, int(f"{fraction:0<9}"[:9]) if fraction else 0)


_READ: dict[type[ct.DataType], Convert] = {
    ct.BooleanType: _trimming(java_texts.truth),
    ct.FloatType: java_texts.single,
    ct.DoubleType: java_texts.double,
    ct.VarCharType: str,
    ct.CharType: str,
    ct.VarBinaryType: java_texts.bytes_of,
    ct.BinaryType: java_texts.bytes_of,
    ct.DateType: _trimming(java_texts.iso_date),
    ct.TimeType: _trimming(_time),
    ct.TimestampType: _trimming(_clock),
    ct.LocalZonedTimestampType: _trimming(_moment),
}


def writer(wanted: ct.DataType) -> Text:
    """What makes the text of a value that is not None and no array.

    Args:
        wanted: type of the column.
    """
    return _WRITE.get(type(wanted), str)


def _fraction(text: str, digits: str) -> str:
    digits = digits.rstrip("0")
    return f"{text}.{digits}" if digits else text


def _moment_text(value: Any) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a moment is an Instant, or a datetime with a zone")
        value = instant_of(microseconds_of(value))
    text = datetime_of(value).replace(microsecond=0, tzinfo=None).isoformat(" ")
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

"""Values as texts: as Java reads and writes them, except days and times, which have the form of Flink's
``CsvReaderFormat``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, time, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from penstock.common import column_types as ct
from penstock.common.column_types import DataType, data_type_of
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicType, BasicTypeInfo, SqlTimeType
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.java_texts import BYTES, TEXTS, Texts, decimal, fraction, iso_date, trimmed
from penstock.runtime.columns.layouts import Layout, NoForm
from penstock.runtime.columns.records import BITS

Text = Callable[[Any], str]


def _padded(text: str) -> str:
    """The trimmed text of a time, with a fraction of six digits, as Python 3.10 wants it."""
    whole, point, digits = trimmed(text).partition(".")
    if not point:
        return whole
    if len(digits) > 6 and digits[6:].strip("0"):
        raise ValueError("it has more than six digits of a fraction of a second")
    return f"{whole}.{digits[:6]:0<6}"


def _moment(text: str) -> Instant:
    bare = trimmed(text)
    if not bare.endswith("Z"):
        raise ValueError("a moment ends in Z, for UTC")
    whole, _, digits = bare[:-1].partition(".")
    seconds = Instant.of_datetime(datetime.fromisoformat(whole).replace(tzinfo=timezone.utc)).seconds
    return Instant(seconds, int(f"{digits:0<9}"[:9]) if digits else 0)


def _moment_text(value: Any) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a moment is an Instant, or a timezone-aware datetime")
        value = Instant.of_datetime(value)
    return f"{_whole_seconds(value.to_datetime().replace(tzinfo=None))}{fraction(value.nanos, 9)}Z"


def _whole_seconds(value: datetime) -> str:
    return value.replace(microsecond=0).isoformat(" ")


_TEXTS: Mapping[type[DataType], Texts] = {
    **{type(data_type_of(BasicTypeInfo(kind))): TEXTS[kind] for kind in BasicType if kind in TEXTS},
    ct.DecimalType: TEXTS[BasicType.BIG_DEC],
    ct.CharType: TEXTS[BasicType.STRING],
    ct.VarBinaryType: BYTES,
    ct.BinaryType: BYTES,
    ct.DateType: TEXTS[SqlTimeType.DATE]._replace(read=lambda text: iso_date(trimmed(text))),
    ct.TimeType: TEXTS[SqlTimeType.TIME]._replace(
        read=lambda text: time.fromisoformat(_padded(text)),
        write=lambda value: value.strftime("%H:%M:%S") + fraction(value.microsecond),
    ),
    ct.TimestampType: TEXTS[SqlTimeType.TIMESTAMP]._replace(
        read=lambda text: datetime.fromisoformat(_padded(text)),
        write=lambda value: _whole_seconds(value) + fraction(value.microsecond),
    ),
    ct.LocalZonedTimestampType: Texts(_moment, _moment_text, (Instant, datetime), "moment"),
}
"""The texts of scalars in columns."""
_WRITERS = {data_type: texts.fitting for data_type, texts in _TEXTS.items()}


_NATIVE = {
    ct.BooleanType: "bool",
    ct.VarCharType: "text",
    ct.CharType: "text",
    ct.FloatType: "single",
    ct.DoubleType: "double",
    ct.DateType: "day",
    ct.TimestampType: "time",
    ct.TimeType: "clock",
}


def native_scalar(wanted: DataType) -> Layout:
    """How native code reads a value without parts."""
    kind = type(wanted)
    if kind in BITS:
        return {"as": "int", "bits": BITS[kind]}
    if kind not in _NATIVE:
        raise NoForm
    return {"as": _NATIVE[kind]}


def text_reader(wanted: ct.DataType, separator: str, null: str | None) -> Convert:
    """The conversion of a column's texts into values; ``separator`` is between the elements of an array."""
    if isinstance(wanted, ct.ArrayType):
        element = text_reader(wanted.element_type, "", null)
        return lambda text: list(map(element, text.split(separator) if separator else [text])) if text else []
    convert = _decimal_reader(wanted) if isinstance(wanted, ct.DecimalType) else _TEXTS[type(wanted)].read
    return convert if null is None else lambda text: None if text == null else convert(text)


def _decimal_reader(wanted: ct.DecimalType) -> Convert:
    context = Context(prec=wanted.precision + 2)
    exponent, limit = Decimal(1).scaleb(-wanted.scale), Decimal(1).scaleb(wanted.precision - wanted.scale)

    def read(text: str) -> Any:
        value = decimal(text)
        if abs(value) >= limit:
            raise ValueError(f"it does not fit into {wanted}")
        value = value.quantize(exponent, ROUND_HALF_UP, context)
        return int(value) if wanted.whole else value

    return read


def text_writer(wanted: ct.DataType) -> Text:
    """The conversion of a column's values, not None and no arrays, into texts; it refuses numbers that are too large.
    Classes are not checked."""
    return _WRITERS.get(type(wanted), str)

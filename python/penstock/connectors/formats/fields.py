"""Records as columns and back: the classes of values that a column takes, the fields of a record, rows of columns, and
values as texts: as Java reads and writes them, except days and times, which have the form of Flink's
``CsvReaderFormat``."""

from __future__ import annotations

import base64
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import repeat
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.callables import shortened, shown
from penstock.common.column_types import BigIntType, DataType, IntType, RowType, SmallIntType, TinyIntType
from penstock.common.row import Row, in_order
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicTypeInfo
from penstock.common.typesystem.conversions import Convert
from penstock.connectors import java_texts
from penstock.connectors.formats.timestamps import instant_of, microseconds_of
from penstock.errors import FileFormatError
from penstock.runtime.io.text import java_double, java_float

BITS: Mapping[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}
"""Width of the integers."""
KINDS: Mapping[type[DataType], tuple[type, ...]] = {
    ct.NullType: (type(None),),
    ct.BooleanType: (bool,),
    **dict.fromkeys(BITS, (int,)),
    ct.FloatType: (float, int),
    ct.DoubleType: (float, int),
    ct.DecimalType: (Decimal, int),
    ct.VarCharType: (str,),
    ct.CharType: (str,),
    ct.VarBinaryType: (bytes, bytearray),
    ct.BinaryType: (bytes, bytearray),
    ct.DateType: (date,),
    ct.TimeType: (time,),
    ct.TimestampType: (datetime,),
    ct.LocalZonedTimestampType: (Instant, datetime),
    ct.ArrayType: (list, tuple),
    ct.MapType: (dict,),
    ct.RowType: (Row, tuple, list, dict),
}
"""Classes of the values that a column takes."""


def of_kind(value: Any, wanted: DataType) -> Any:
    """A value, not None, as one of a class that the column takes, Python's for NumPy's; raises TypeError."""
    kinds = KINDS[type(wanted)]
    if type(value) in kinds:
        return value
    if kinds == (int,) and hasattr(value, "__index__") and not isinstance(value, bool):
        return operator.index(value)  # NumPy's
    wide = (isinstance(value, bool) and bool not in kinds) or (isinstance(value, datetime) and datetime not in kinds)
    if isinstance(value, kinds) and not wide:
        return value
    if kinds[0] is float and hasattr(value, "__float__") and not isinstance(value, bool | str):
        return float(cast("Any", value))
    names = " or ".join(kind.__name__ for kind in kinds)
    raise TypeError(f"it is a {type(value).__name__}, and the column takes {names}")


def within(bits: int) -> Convert:
    """A check for integers of so many bits; it raises ValueError for larger ones."""
    bound = 1 << bits - 1

    def fit(value: int) -> int:
        if -bound <= value < bound:
            return value
        raise ValueError(f"it does not fit into {bits} bits")

    return fit


def fields_of(record: Any, names: tuple[str, ...], known: frozenset[str]) -> Sequence[Any]:
    """The fields of a record by the ``known`` names, else by position; FileFormatError if it has others."""
    if isinstance(record, Row):
        record = in_order(record, names)
    elif isinstance(record, dict):
        if not known.issuperset(record):
            other = sorted(set(record) - known, key=str)
            raise FileFormatError(f"The record {shortened(record)} has {other}, and there are no such columns.")
        return [record.get(name) for name in names]
    if not isinstance(record, tuple | list) or len(record) != len(names):
        raise FileFormatError(
            f"The record {shown(record)} does not have the {len(names)} fields {list(names)} of the file's columns. "
            "Give rows, tuples or dicts that have them."
        )
    return record


def columns_of(records: Sequence[Any], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The values of records, at least one, by column."""
    known = frozenset(names)
    return list(zip(*[fields_of(record, names, known) for record in records], strict=True))


def rows_of(columns: Iterable[Iterable[Any]], row_type: RowType) -> list[Any]:
    """Records of a type from the values of its columns."""
    rows = zip(*columns, strict=True)
    if row_type.form == "tuple":
        return list(rows)
    if row_type.form == "row":
        return list(map(Row.of_values, rows, repeat(row_type.record_names or tuple(row_type.names))))
    return list(map(maker(row_type), rows))


def maker(row_type: RowType) -> Convert:
    """The function that makes a record of the tuple or list of its fields."""
    names = row_type.record_names or tuple(row_type.names)
    if row_type.form == "tuple":
        return tuple
    if row_type.form == "dict":
        return lambda values: dict(zip(names, values, strict=True))
    return lambda values: Row.of_values(values, names)


def types_in(row_type: RowType) -> Iterator[DataType]:
    """A type and all types inside it."""
    waiting: list[DataType] = [row_type]
    while waiting:
        data_type = waiting.pop()
        yield data_type
        if isinstance(data_type, RowType):
            waiting += data_type.types
        elif isinstance(data_type, ct.ArrayType):
            waiting.append(data_type.element_type)
        elif isinstance(data_type, ct.MapType):
            waiting += [data_type.key_type, data_type.value_type]


Text = Callable[[Any], str]


def text_reader(wanted: ct.DataType, separator: str, null: str | None) -> Convert:
    """The conversion of a column's texts into values; ``separator`` is between the elements of an array."""
    if isinstance(wanted, ct.ArrayType):
        element = text_reader(wanted.element_type, "", null)
        return lambda text: list(map(element, text.split(separator) if separator else [text])) if text else []
    if isinstance(wanted, ct.DecimalType):
        convert = _decimal_reader(wanted)
    elif type(wanted) in _READ:
        convert = _READ[type(wanted)]
    else:
        convert = java_texts.READERS[cast("BasicTypeInfo[Any]", wanted.type_info).basic_type]
    return convert if null is None else lambda text: None if text == null else convert(text)


def _decimal_reader(wanted: ct.DecimalType) -> Convert:
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


def text_writer(wanted: ct.DataType) -> Text:
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

"""Records as columns and back: the classes of values that a column takes, the fields of a record, rows of columns, and
values as texts: as Java reads and writes them, except days and times, which have the form of Flink's
``CsvReaderFormat``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timezone
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import repeat
from typing import Any, cast

from penstock.common import column_types as ct
from penstock.common.callables import shortened, shown
from penstock.common.column_types import DataType, RowType, data_type_of
from penstock.common.row import Row, in_order
from penstock.common.time import Instant
from penstock.common.typeinfo import BasicType, BasicTypeInfo, SqlTimeType
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.java_texts import BYTES, TEXTS, Texts, decimal, fraction, iso_date, trimmed
from penstock.errors import FileFormatError

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
BITS: Mapping[type[DataType], int] = {data_type: texts.bits for data_type, texts in _TEXTS.items() if texts.bits}
"""Width of the integers."""
KINDS: Mapping[type[DataType], tuple[type, ...]] = {
    **{data_type: texts.classes for data_type, texts in _TEXTS.items()},
    ct.NullType: (type(None),),
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

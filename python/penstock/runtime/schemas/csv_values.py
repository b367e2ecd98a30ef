"""Values out of fields of CSV, and fields out of values, by type.

Sources of the semantics: Flink 2.3 ``CsvRowDeserializationSchema`` and ``CsvRowSerializationSchema``. A row has columns
of scalars, and of arrays or rows of scalars; nothing is nested deeper.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, cast

from penstock.common.conversions import Convert
from penstock.common.row import Row
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SqlTimeType,
    SqlTimeTypeInfo,
    TypeInformation,
)
from penstock.runtime.io import java_texts
from penstock.runtime.io.java_texts import Unfit
from penstock.runtime.io.text import file_text, java_double, java_float
from penstock.runtime.schemas.csv_lines import CsvForm, joiner, splitter
from penstock.runtime.schemas.failures import no_converter
from penstock.runtime.schemas.json_texts import fields_of, of_type, whole

_INSTEAD = "Types that have one are the scalars, and arrays and rows of scalars. Make a text of it in a map() before."


def check(type_info: RowTypeInfo) -> None:
    """Refuse a type that has no form in CSV.

    Raises:
        InvalidProgramError: a field is of such a type.
    """
    for name, field in zip(type_info.field_names, type_info.field_types, strict=True):
        inner = _elements(field)
        for each in [field] if inner is None else inner:
            if _scalar(each) is None:
                no_converter(field, name, "CSV", _INSTEAD)


def _elements(field: TypeInformation[Any]) -> tuple[TypeInformation[Any], ...] | None:
    """The types of the elements of a column that has some."""
    if isinstance(field, RowTypeInfo):
        return field.field_types
    is_array = isinstance(field, ArrayTypeInfo) and not isinstance(field, PrimitiveArrayTypeInfo)
    return (cast("ArrayTypeInfo[Any]", field).element_type,) if is_array else None


def _scalar(type_info: TypeInformation[Any]) -> tuple[Convert, Convert] | None:
    """How a scalar is read and written."""
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC.get(type_info.basic_type)
    if isinstance(type_info, SqlTimeTypeInfo):
        return _SQL[type_info.sql_type]
    is_bytes = isinstance(type_info, PrimitiveArrayTypeInfo)
    return _BYTES if is_bytes and cast("Any", type_info).element_type == BasicTypeInfo(BasicType.BYTE) else None


def reader(type_info: RowTypeInfo, form: CsvForm, lenient: bool) -> Callable[[str], Row]:
    """What makes a row of the first line of a message.

    Args:
        type_info: of the row.
        form: of the line.
        lenient: whether a field that does not fit, or is not there, is None; else it is an error.
    """
    names = type_info.field_names
    columns = [_column_reader(each, form, lenient) for each in type_info.field_types]
    split = splitter(form, len(names))

    def read(message: str) -> Row:
        fields = split(message)
        if len(fields) < len(names) and not lenient:
            raise Unfit(message, f"has {len(fields)} fields, and the type has {len(names)}")
        values: list[Any] = [None] * len(names)
        index = 0
        try:
            for index, field in enumerate(fields):
                values[index] = columns[index](field)
        except Unfit as failure:
            raise failure.inside(names[index]) from None
        return Row.of_values(values, names)

    return read


def _column_reader(type_info: TypeInformation[Any], form: CsvForm, lenient: bool) -> Convert:
    inner = _elements(type_info)
    if inner is None:
        return _nullable(cast("tuple[Convert, Convert]", _scalar(type_info))[0], form, lenient)
    readers = [_nullable(cast("tuple[Convert, Convert]", _scalar(each))[0], form, lenient) for each in inner]
    row = type_info if isinstance(type_info, RowTypeInfo) else None

    def read(field: str) -> Any:
        parts = field.split(form.array_delimiter) if java_texts.trimmed(field) else []
        if row is None:
            return [readers[0](part) for part in parts]
        if not parts:
            return None
        if len(parts) != len(readers) and not lenient:
            raise Unfit(field, f"has {len(parts)} parts, and its type has {len(readers)}")
        values = [convert(part) for convert, part in zip(readers, parts, strict=False)]
        return Row.of_values(values + [None] * (len(readers) - len(values)), row.field_names)

    return _nullable(read, form, lenient)


def _nullable(read: Convert, form: CsvForm, lenient: bool) -> Convert:
    def convert(field: str) -> Any:
        if field == form.null:
            return None
        try:
            return read(field)
        except Unfit:
            if lenient:
                return None
            raise

    return convert


def writer(type_info: RowTypeInfo, form: CsvForm) -> Callable[[Any], str]:
    """What makes a line of a row.

    Args:
        type_info: of the row.
        form: of the line.
    """
    names, join = type_info.field_names, joiner(form)
    columns = [_column_writer(each, form) for each in type_info.field_types]
    plain = [_is_plain(each) for each in type_info.field_types]

    def write(record: Any) -> str:
        values = fields_of(record, names)
        texts: list[str | None] = []
        index = 0
        try:
            for index, value in enumerate(values):
                texts.append(None if value is None else columns[index](value))
        except Unfit as failure:
            raise failure.inside(names[index]) from None
        return join(texts, plain)

    return write


def _is_plain(type_info: TypeInformation[Any]) -> bool:
    texts = (BasicType.STRING,)
    return isinstance(type_info, BasicTypeInfo) and type_info.basic_type not in texts


def _column_writer(type_info: TypeInformation[Any], form: CsvForm) -> Convert:
    inner = _elements(type_info)
    if inner is None:
        return cast("tuple[Convert, Convert]", _scalar(type_info))[1]
    writers = [cast("tuple[Convert, Convert]", _scalar(each))[1] for each in inner]
    row, null = type_info if isinstance(type_info, RowTypeInfo) else None, form.null or ""

    def write(value: Any) -> str:
        if row is None and not isinstance(value, list | tuple):
            raise Unfit(value, "is no list")
        values: Sequence[Any] = value if row is None else fields_of(value, row.field_names)
        each = writers * len(values) if row is None else writers
        texts = [null if v is None else text(v) for text, v in zip(each, values, strict=True)]
        return form.array_delimiter.join(texts)

    return write


def _trimming(read: Convert) -> Convert:
    def convert(text: str) -> Any:
        try:
            return read(java_texts.trimmed(text))
        except Unfit as failure:
            raise Unfit(text, failure.why) from None

    return convert


def _whole(bits: int) -> tuple[Convert, Convert]:
    return _trimming(java_texts.whole_number(bits)), whole(bits)


_number = of_type(float, int, what="number")
_MOMENT = file_text(SqlTimeTypeInfo(SqlTimeType.TIMESTAMP))
_BASIC: dict[BasicType, tuple[Convert, Convert]] = {
    BasicType.STRING: (str, of_type(str, what="text")(str)),
    BasicType.BOOLEAN: (_trimming(java_texts.truth), of_type(bool, what="bool")(lambda v: "true" if v else "false")),
    BasicType.BYTE: _whole(8),
    BasicType.SHORT: _whole(16),
    BasicType.INT: _whole(32),
    BasicType.LONG: _whole(64),
    BasicType.BIG_INT: _whole(0),
    BasicType.FLOAT: (_trimming(java_texts.single), _number(java_float)),
    BasicType.DOUBLE: (_trimming(java_texts.double), _number(java_double)),
    BasicType.BIG_DEC: (_trimming(java_texts.decimal), of_type(Decimal, int, what="Decimal")(str)),
}
_SQL: dict[SqlTimeType, tuple[Convert, Convert]] = {
    SqlTimeType.DATE: (java_texts.sql_date, of_type(date, what="date")(lambda value: value.isoformat()[:10])),
    SqlTimeType.TIME: (java_texts.sql_time, of_type(time, what="time")(lambda value: f"{value:%H:%M:%S}")),
    SqlTimeType.TIMESTAMP: (java_texts.sql_moment, of_type(datetime, what="datetime")(_MOMENT)),
}
_BYTES = (java_texts.bytes_of, of_type(bytes, bytearray, what="bytes")(lambda value: base64.b64encode(value).decode()))

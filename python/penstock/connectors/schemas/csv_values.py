"""Values out of fields of CSV, and fields out of values, by type.

Sources of the semantics: Flink 2.3 ``CsvRowDeserializationSchema`` and ``CsvRowSerializationSchema``. A row has columns
of scalars, and of arrays or rows of scalars; nothing is nested deeper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any, cast

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
    Types,
)
from penstock.common.typesystem.conversions import Convert
from penstock.connectors import java_texts
from penstock.connectors.formats.csv_lines import CsvForm, CsvTokenizer, quoter
from penstock.connectors.java_texts import Unfit, of_type
from penstock.connectors.schemas.base import no_converter
from penstock.connectors.schemas.json_texts import fields_of
from penstock.runtime.io.text import file_text

_LINE_END = re.compile("[\r\n]")
_INSTEAD = "Types that have one are the scalars, and arrays and rows of scalars. Make a text of it in a map() before."


def check(type_info: RowTypeInfo) -> None:
    """Refuse a type with a field that has no form in CSV."""
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
    """The reader and the writer of a scalar."""
    if isinstance(type_info, BasicTypeInfo):
        kind = type_info.basic_type
        return (java_texts.READERS[kind], java_texts.WRITERS[kind]) if kind in java_texts.READERS else None
    if isinstance(type_info, SqlTimeTypeInfo):
        return _SQL[type_info.sql_type]
    return (java_texts.bytes_of, java_texts.base64_of) if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()) else None


def reader(type_info: RowTypeInfo, form: CsvForm, lenient: bool) -> Callable[[str], Row]:
    """The reader of a row in the first line of a message. If ``lenient``, a field that is missing or does not fit is
    None, otherwise an error."""
    names = type_info.field_names
    columns = [_column_reader(field, form, lenient) for field in type_info.field_types]
    tokenizer = CsvTokenizer(form)

    def read(message: str) -> Row:
        fields = tokenizer.row(message, _first_line(message, form.comments))
        if len(fields) == len(names) + 1 and not fields[-1]:
            fields.pop()  # a separator may follow the last field
        if len(fields) > len(names) or (len(fields) < len(names) and not lenient):
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


def _first_line(message: str, comments: bool) -> int:
    """The place of the first line that is not a comment."""
    start = int(message.startswith("\ufeff"))
    while comments and start < len(message) and message[start] in "#\r\n":
        end = _LINE_END.search(message, start)
        start = len(message) if end is None else end.end()
    if start == len(message):
        raise Unfit(message, "has no line")
    return start


def _column_reader(type_info: TypeInformation[Any], form: CsvForm, lenient: bool) -> Convert:
    inner = _elements(type_info)
    if inner is None:
        return _nullable(cast("tuple[Convert, Convert]", _scalar(type_info))[0], form, lenient)
    readers = [_nullable(cast("tuple[Convert, Convert]", _scalar(each))[0], form, lenient) for each in inner]
    row = type_info if isinstance(type_info, RowTypeInfo) else None

    def read(field: str) -> Any:
        parts = field.split(form.array_separator) if java_texts.trimmed(field) else []
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
    """The writer of the line of a row."""
    names, null = type_info.field_names, form.null or ""
    columns = [_quoted_writer(field, form) for field in type_info.field_types]

    def write(record: Any) -> str:
        values = fields_of(record, names)
        texts: list[str] = []
        index = 0
        try:
            for index, value in enumerate(values):
                texts.append(null if value is None else columns[index](value))
        except Unfit as failure:
            raise failure.inside(names[index]) from None
        return form.separator.join(texts) + form.line_separator

    return write


def _quoted_writer(type_info: TypeInformation[Any], form: CsvForm) -> Convert:
    """The writer of a column, with quotes where they are needed; numbers and booleans never have them."""
    write = _column_writer(type_info, form)
    if not form.quote or (isinstance(type_info, BasicTypeInfo) and type_info.basic_type is not BasicType.STRING):
        return write
    quoted = quoter(form)
    return lambda value: quoted(write(value))


def _column_writer(type_info: TypeInformation[Any], form: CsvForm) -> Convert:
    inner = _elements(type_info)
    if inner is None:
        return cast("tuple[Convert, Convert]", _scalar(type_info))[1]
    writers = [cast("tuple[Convert, Convert]", _scalar(each))[1] for each in inner]
    row, null = type_info if isinstance(type_info, RowTypeInfo) else None, form.null or ""

    def write(value: Any) -> str:
        if row is None and not isinstance(value, list | tuple):
            raise Unfit(value, "is not a list")
        values: Sequence[Any] = value if row is None else fields_of(value, row.field_names)
        each = writers * len(values) if row is None else writers
        texts = [null if v is None else text(v) for text, v in zip(each, values, strict=True)]
        return form.array_separator.join(texts)

    return write


_MOMENT = file_text(SqlTimeTypeInfo(SqlTimeType.TIMESTAMP))
_SQL: dict[SqlTimeType, tuple[Convert, Convert]] = {
    SqlTimeType.DATE: (java_texts.sql_date, of_type(date, what="date")(lambda value: value.isoformat()[:10])),
    SqlTimeType.TIME: (java_texts.sql_time, of_type(time, what="time")(lambda value: f"{value:%H:%M:%S}")),
    SqlTimeType.TIMESTAMP: (java_texts.sql_moment, of_type(datetime, what="datetime")(_MOMENT)),
}

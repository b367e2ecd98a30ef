"""The schemas for rows in CSV, with PyFlink's names and builders (``pyflink.datastream.formats.csv``): of scalars, and
of arrays and rows of scalars; nothing is nested deeper. Sources of the semantics: Flink 2.3
``CsvRowDeserializationSchema`` and ``CsvRowSerializationSchema``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

from penstock.common import checks
from penstock.common.row import Row
from penstock.common.typeinfo import (
    ArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.formats.csv_schema import CsvForm, CsvTokenizer, quoter
from penstock.connectors.java_texts import BYTES, TEXTS, Texts, trimmed
from penstock.connectors.schemas.base import RowReader, RowWriter, fields_of, no_converter, row_type
from penstock.runtime.buffers.value_checks import kind_of
from penstock.runtime.columns.parts import Unfit, fields

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]

_ENDS = ("\n", "\r", "\r\n", "")

B = TypeVar("B", bound="_Builder")


class _Builder:
    owner = ""

    def __init__(self, type_info: TypeInformation[Any]) -> None:
        self._type_info: RowTypeInfo = row_type(type_info, f"{self.owner}.Builder")
        for name, field in zip(self._type_info.field_names, self._type_info.field_types, strict=True):
            for part in _elements(field) or (field,):
                if _scalar(part) is None:
                    no_converter(field, name, "CSV", _INSTEAD)
        self._form: CsvForm = CsvForm()

    def _with(self: B, **changes: Any) -> B:
        self._form = replace(self._form, **changes)
        return self

    def _call(self, method: str) -> str:
        return f"{self.owner}.Builder.{method}"

    def set_array_element_delimiter(self: B, delimiter: str) -> B:
        """What is between the elements of an array, or of a row in the row: one character or more. ``;`` by default."""
        checks.text(delimiter, self._call("set_array_element_delimiter"), "delimiter")
        if not delimiter:
            checks.illegal_argument(f"{self._call('set_array_element_delimiter')}(''): it is empty. Give ';', say.")
        return self._with(array_separator=delimiter)

    def set_quote_character(self: B, c: str) -> B:
        """The character around fields that have delimiters in them; ``"`` by default."""
        return self._with(quote=checks.character(c, self._call("set_quote_character"), "quotation mark"))

    def set_escape_character(self: B, c: str) -> B:
        """The character before one that is meant as it is; none by default."""
        return self._with(escape=checks.character(c, self._call("set_escape_character"), "escape character"))


class CsvRowDeserializationSchema(RowReader):
    """Rows out of lines of CSV (Flink: ``CsvRowDeserializationSchema``). Made by its ``Builder``."""

    advice = (
        "Correct what writes the lines or the type, or call set_ignore_parse_errors(True) on the builder: then what "
        "cannot be read is None."
    )

    def __init__(self, type_info: RowTypeInfo, form: CsvForm, ignore_parse_errors: bool) -> None:
        self.type_info: RowTypeInfo = type_info
        self.form: CsvForm = form
        self.ignore_parse_errors: bool = ignore_parse_errors

    @cached_property
    def _read(self) -> Convert:
        return _row_reader(self.type_info, self.form, self.ignore_parse_errors)

    class Builder(_Builder):
        """Settings of a :class:`CsvRowDeserializationSchema` for rows of a type. Methods change it and return it."""

        owner = "CsvRowDeserializationSchema"

        def __init__(self, type_info: TypeInformation[Any]) -> None:
            super().__init__(type_info)
            self._ignore_parse_errors: bool = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            return self._with(separator=checks.character(delimiter, self._call("set_field_delimiter"), "delimiter"))

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Whether lines that begin with ``#``, and empty ones, are passed over."""
            return self._with(comments=checks.boolean(allow_comments, self._call("set_allow_comments"), "it"))

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """The text that stands for None; none by default."""
            return self._with(null=checks.text(null_literal, self._call("set_null_literal"), "literal"))

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Whether what cannot be read is None, a field or the whole row; otherwise it is an error."""
            call = self._call("set_ignore_parse_errors")
            self._ignore_parse_errors = checks.boolean(ignore_parse_errors, call, "it")
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """The schema."""
            return CsvRowDeserializationSchema(self._type_info, self._form, self._ignore_parse_errors)


class CsvRowSerializationSchema(RowWriter):
    """Rows as lines of CSV (Flink: ``CsvRowSerializationSchema``), dicts by name, tuples and lists by position. Made by
    its ``Builder``."""

    def __init__(self, type_info: RowTypeInfo, form: CsvForm) -> None:
        self.type_info: RowTypeInfo = type_info
        self.form: CsvForm = form

    @cached_property
    def _write(self) -> Convert:
        return _row_writer(self.type_info, self.form)

    class Builder(_Builder):
        """Settings of a :class:`CsvRowSerializationSchema` for rows of a type. Methods change it and return it."""

        owner = "CsvRowSerializationSchema"

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """The character between fields; ``,`` by default."""
            return self._with(separator=checks.character(c, self._call("set_field_delimiter"), "delimiter"))

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            r"""What is behind a line: ``\n``, which is the default, ``\r``, ``\r\n``, or nothing."""
            call = self._call("set_line_delimiter")
            if checks.text(delimiter, call, "delimiter") not in _ENDS:
                checks.illegal_argument(f"{call}({delimiter!r}): it is one of {', '.join(map(repr, _ENDS))}.")
            return self._with(line_separator=delimiter)

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Write fields as they are, whatever is in them."""
            return self._with(quote="")

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """The text that stands for None; an empty field by default."""
            return self._with(null=checks.text(s, self._call("set_null_literal"), "literal"))

        def build(self) -> CsvRowSerializationSchema:
            """The schema."""
            return CsvRowSerializationSchema(self._type_info, self._form)


_LINE_END = re.compile("[\r\n]")
_INSTEAD = "Types that have one are the scalars, and arrays and rows of scalars. Make a text of it in a map() before."


def _elements(field: TypeInformation[Any]) -> tuple[TypeInformation[Any], ...] | None:
    if isinstance(field, RowTypeInfo):
        return field.field_types
    is_array = isinstance(field, ArrayTypeInfo) and not isinstance(field, PrimitiveArrayTypeInfo)
    return (cast("ArrayTypeInfo[Any]", field).element_type,) if is_array else None


def _scalar(type_info: TypeInformation[Any]) -> Texts | None:
    return BYTES if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()) else TEXTS.get(kind_of(type_info))


def _texts(type_info: TypeInformation[Any]) -> Texts:
    return cast("Texts", _scalar(type_info))


def _row_reader(type_info: RowTypeInfo, form: CsvForm, lenient: bool) -> Convert:
    """The reader of a row in the first line of a message. If ``lenient``, fields that do not fit are None."""
    names = type_info.field_names
    convert = fields(names, [_column_reader(field, form, lenient) for field in type_info.field_types])
    tokenizer = CsvTokenizer(form)

    def read(data: bytes) -> Row:
        message = data.decode()
        texts: list[Any] = tokenizer.row(message, _first_line(message, form.comments))
        if len(texts) == len(names) + 1 and not texts[-1]:
            texts.pop()  # a separator may follow the last field
        if len(texts) != len(names):
            if not lenient or len(texts) > len(names):
                raise Unfit(message, f"has {len(texts)} fields, and the type has {len(names)}")
            texts += [None] * (len(names) - len(texts))
        return Row.of_values(convert(texts), names)

    return read


def _first_line(message: str, comments: bool) -> int:
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
        return _nullable(_texts(type_info).read, form, lenient)
    readers = [_nullable(_texts(part).read, form, lenient) for part in inner]
    row = type_info if isinstance(type_info, RowTypeInfo) else None

    def read(field: str) -> Any:
        parts = field.split(form.array_separator) if trimmed(field) else []
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


def _row_writer(type_info: RowTypeInfo, form: CsvForm) -> Convert:
    names = type_info.field_names
    convert = fields(names, [_column_writer(field, form) for field in type_info.field_types], none=form.null or "")
    return lambda record: form.separator.join(convert(fields_of(record, names))) + form.line_separator


def _column_writer(type_info: TypeInformation[Any], form: CsvForm) -> Convert:
    """The writer of a column, with quotes where they are needed; numbers and booleans never have them."""
    inner = _elements(type_info)
    write = _texts(type_info).checked if inner is None else _parts_writer(type_info, inner, form)
    if not form.quote or (isinstance(type_info, BasicTypeInfo) and type_info.basic_type is not BasicType.STRING):
        return write
    quoted = quoter(form)
    return lambda value: quoted(write(value))


def _parts_writer(type_info: TypeInformation[Any], inner: tuple[TypeInformation[Any], ...], form: CsvForm) -> Convert:
    writers, null = [_texts(part).checked for part in inner], form.null or ""
    row = type_info if isinstance(type_info, RowTypeInfo) else None

    def write(value: Any) -> str:
        if row is None and not isinstance(value, list | tuple):
            raise Unfit(value, "is not a list")
        values: Sequence[Any] = value if row is None else fields_of(value, row.field_names)
        all_writers = writers * len(values) if row is None else writers
        texts = [null if part is None else text(part) for text, part in zip(all_writers, values, strict=True)]
        return form.array_separator.join(texts)

    return write

"""CSV files, with PyFlink's names (``pyflink.datastream.formats.csv``). A file is read whole, by one subtask: line
ends may be in quotes, so it cannot be cut. Sources of the semantics: ``CsvReaderFormat``, ``CsvBulkWriters`` (PyFlink
2.3)."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import ModuleType
from typing import IO, Any, ClassVar

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.callables import shortened
from penstock.common.column_types import ArrayType, BooleanType, CharType, DoubleType, VarCharType
from penstock.common.typeinfo import TypeInformation
from penstock.common.typesystem.conversions import Convert
from penstock.connectors.formats.csv_schema import (
    CsvColumn,
    CsvSchema,
    CsvSchemaBuilder,
    CsvTokenizer,
    ascii_only,
    quoted_layout,
    quoter,
)
from penstock.connectors.formats.fields import text_reader, text_writer
from penstock.connectors.formats.native_csv import NativeRows, Unsure, native_rows
from penstock.errors import FileFormatError
from penstock.runtime.columns.layouts import (
    ColumnsWriter,
    Layout,
    NoForm,
    compiled,
    layout_or_none,
    record,
    scalar,
    whole,
)
from penstock.runtime.columns.parts import Unfit
from penstock.runtime.columns.records import BITS, columns_of, of_kind, rows_of
from penstock.runtime.io.file_format import StreamFormat, inflating, path_of
from penstock.runtime.io.file_source import opened
from penstock.runtime.io.files import ends_before
from penstock.runtime.io.splits import Records, Split

__all__ = ["CsvBulkWriters", "CsvReaderFormat", "CsvSchema", "CsvSchemaBuilder", "CsvWriterFactory"]

_BATCH = 2_000
_REFUSALS = (ValueError, ArithmeticError, TypeError, OverflowError)
Row = list[str]


@dataclass(frozen=True)
class CsvReaderFormat(StreamFormat[Any]):
    """Rows of CSV files, for ``FileSource.for_record_stream_format``. Made by :meth:`for_schema`. Files are UTF-8, and
    may be compressed. Each is read by one subtask, whatever its size: line ends may be in quotes."""

    schema: CsvSchema

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Files that look like this; the schema has at least one column, or it is an InvalidProgramError."""
        return CsvReaderFormat(_checked(schema, "CsvReaderFormat.for_schema"))

    @property
    def produced_type(self) -> TypeInformation[Any]:
        return self.schema.row_type.type_info

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a file. A position is a number of rows."""
        path, done, schema = path_of(split), split.start or 0, self.schema
        readers = [text_reader(column.data_type, schema.elements_of(column), schema.null) for column in schema.columns]
        for slow in (False, True):
            try:
                for rows in self._rows(path, done, slow):
                    records = self._records(path, rows, done, readers)
                    done += len(rows)
                    yield Records(records, done)
                return
            except (csv.Error, Unfit) as error:  # the quick reader is stricter: once more from here, slowly
                if slow:
                    raise FileFormatError(
                        f"{path}, line {self._line(path, done + 1, slow=True)} or behind: {error}. Check the quotes "
                        "and escapes of the file, and the characters of the schema."
                    ) from error

    def read_columns(self, split: Split, functions: ModuleType) -> Iterator[Records[Any]]:
        """As :meth:`read`; rows that native code reads for certain become columns."""
        rows = self._native(functions)
        return self.read(split) if rows is None else self._read_columns(split, rows)

    def why_objects(self, functions: ModuleType) -> str:
        unknown = self._native(functions) is None
        return "native code does not read all types or special characters of its schema in CSV" if unknown else ""

    def _native(self, functions: ModuleType) -> Any:
        return native_rows(functions, self.schema) if type(self) is CsvReaderFormat else None

    def _read_columns(self, split: Split, native: Any) -> Iterator[Records[Any]]:
        path, done, schema = path_of(split), split.start or 0, self.schema
        readers = [text_reader(column.data_type, schema.elements_of(column), schema.null) for column in schema.columns]
        with contextlib.suppress(Unsure), opened(path) as file:
            rows = NativeRows(native, file, lambda texts: self._records(path, texts, 0, readers))
            rows.pass_over(done)
            while parts := rows.parts(_BATCH):
                for records, count in parts:
                    done += count
                    yield Records(records, done)
            return
        yield from self.read(replace(split, start=done))

    def _rows(self, path: str, done: int, slow: bool) -> Iterator[list[Row]]:
        with inflating(path), opened(path) as file:
            rows = CsvRows(file, path, self.schema, slow=slow)
            try:
                for _ in range(done):
                    if next(rows, None) is None:
                        raise ends_before(path, done)
                while batch := list(islice(rows, _BATCH)):
                    yield batch
            except UnicodeDecodeError as error:
                why = f"it contains bytes that are not valid UTF-8: {error}. Convert the file."
                raise FileFormatError(f"{path}, behind line {rows.line}: {why}") from error

    def _line(self, path: str, row: int, *, slow: bool = False) -> int:
        """The last line of a row, which is counted from 1: found by reading the file again."""
        with opened(path) as file:
            rows = CsvRows(file, path, self.schema, slow=slow)
            try:
                for _ in range(row):
                    next(rows, None)
            except (csv.Error, Unfit):
                return self._line(path, row, slow=True) if not slow else rows.line
            return rows.line

    def _records(self, path: str, rows: list[Row], done: int, readers: Sequence[Convert]) -> list[Any]:
        width = len(readers)
        if not {width}.issuperset(map(len, rows)):
            self._check_widths(path, rows, done)
        columns = zip(*(row[:width] for row in rows), strict=True)
        values = (self._values(path, i, texts, done, readers[i]) for i, texts in enumerate(columns))
        return rows_of(values, self.schema.row_type)

    def _check_widths(self, path: str, rows: list[Row], done: int) -> None:
        columns = self.schema.columns
        for number, row in enumerate(rows, done + 1):
            if len(row) < len(columns) or (len(row) > len(columns) and not self.schema.rest):
                raise FileFormatError(
                    f"{path}, line {self._line(path, number)}: {len(row)} columns {shortened(row)}, and the schema has "
                    f"{len(columns)}: {[column.name for column in columns]}. Correct the file, or the schema and its "
                    f"separator {self.schema.separator!r}."
                )

    def _values(self, path: str, index: int, texts: Sequence[str], done: int, convert: Convert) -> list[Any]:
        column, values = self.schema.columns[index], list[Any]()
        try:
            values.extend(map(convert, texts))  # up to a text that cannot be converted
            return values
        except _REFUSALS as error:
            text, line = texts[len(values)], self._line(path, done + 1 + len(values))
            hint = "" if text.strip() else " Say by set_null_value('') that an empty column means None."
            raise FileFormatError(
                f"{path}, line {line}: {shortened(text)} in the column {column.name!r} cannot be read as "
                f"{column.data_type}: {error}.{hint or ' Correct the file, or declare another type.'}",
                flink_class="java.lang.NumberFormatException",
            ) from error


class CsvRows:
    """The rows of a file as texts, without header and comments. Python's own reader splits them; it refuses spaces
    behind a closing quote, and escapes mean something else there: then our tokenizer does, slowly."""

    def __init__(self, file: IO[bytes], path: str, schema: CsvSchema, *, slow: bool = False) -> None:
        self._file, self._schema = io.TextIOWrapper(file, "utf-8-sig", newline=""), schema
        self.line = 0  # number of the line that was read last, from 1
        self._inside = False
        self._rows: Iterator[Row] = self._slow() if slow or schema.escape else self._quick()
        if schema.header:
            header, wanted = next(self, None), [column.name for column in schema.columns]
            if header and schema.strict and wanted != (header[: len(wanted)] if schema.rest else header):
                raise FileFormatError(
                    f"{path}, line {self.line}: the header names the columns {header}, and the schema has {wanted}. "
                    "Describe the columns that the file has, or leave set_strict_headers() out."
                )
        if schema.skip:
            next(self, None)

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        self._inside = False
        return next(self._rows) or [""]  # of an empty line

    def _lines(self) -> Iterator[str]:
        """The lines of the file; a comment is skipped only where a row begins."""
        for line in self._file:
            self.line += 1
            if not self._inside and self._schema.comments and line.lstrip().startswith("#"):
                continue
            self._inside = True
            yield line

    def _quick(self) -> Iterator[Row]:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        quote = self._schema.quote
        return csv.reader(
            self._lines(),
            delimiter=self._schema.separator,
            quotechar=quote or None,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            strict=True,
        )

    def _slow(self) -> Iterator[Row]:
        tokenizer, lines = CsvTokenizer(self._schema), self._lines()
        for line in lines:
            yield tokenizer.row(line, 0, lambda: next(lines, ""))


class CsvWriter(ColumnsWriter):
    """Writes rows as CSV, a line each, with quotes where Flink has them."""

    def __init__(self, out: IO[bytes], schema: CsvSchema) -> None:
        self._out, self._schema = out, schema
        self._names = tuple(column.name for column in schema.columns)
        self._layout: Any = _UNKNOWN
        self._quoted = quoter(schema, "#") if schema.quote else self._bare
        if schema.header:
            self._write([list(map(self._quoted, self._names))])

    def add_element(self, element: Any, /) -> None:
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        columns = columns_of(elements, self._names)
        texts = [self._texts(column, values) for column, values in zip(self._schema.columns, columns, strict=True)]
        self._write(zip(*texts, strict=True))

    def add_columns(self, batch: Any, functions: ModuleType) -> None:
        if self._layout is _UNKNOWN:
            self._layout = compiled(functions, layout_or_none(lambda: _layout(self._schema)))
        if self._layout is not None:
            data, _, doubtful = self._layout.write(batch, 0, len(batch))
            if not doubtful:
                self._out.write(data)
                return
        self.add_all(batch.objects())

    def flush(self) -> None:
        """Nothing waits."""

    def finish(self) -> None:
        """Nothing is left to write."""

    def _write(self, rows: Any) -> None:
        separator, end = self._schema.separator, self._schema.line_separator
        self._out.write("".join([separator.join(row) + end for row in rows]).encode())

    def _texts(self, column: CsvColumn, values: Sequence[Any]) -> list[str]:
        texts: list[str] = []
        for value in values:
            try:
                texts.append(self._text(column, value))
            except _REFUSALS as error:
                raise FileFormatError(
                    f"The value {shortened(value)} cannot be written into the column {column.name!r} of type "
                    f"{column.data_type}: {error}. Convert it in a map() before the sink, or declare another type."
                ) from error
        return texts

    def _text(self, column: CsvColumn, value: Any) -> str:
        if value is None:
            return self._schema.null or ""
        of_kind(value, column.data_type)
        if isinstance(column.data_type, ArrayType):
            return self._quoted(self._array(column, column.data_type, value))
        text = text_writer(column.data_type)(value)
        return self._quoted(text) if isinstance(value, str) else text

    def _array(self, column: CsvColumn, wanted: ArrayType, values: Sequence[Any]) -> str:
        separator, write = self._schema.elements_of(column), text_writer(wanted.element_type)
        null = self._schema.null or ""
        texts = [null if value is None else write(of_kind(value, wanted.element_type)) for value in values]
        if separator and any(separator in text for text in texts):
            raise ValueError(
                f"an element has {separator!r}, which separates elements; add_array_column() takes another"
            )
        if len(texts) > 1 and not separator:
            raise ValueError("there is no separator for its elements; give one to add_array_column()")
        return separator.join(texts)

    def _bare(self, text: str) -> str:
        if any(special in text for special in (self._schema.separator, "\n", "\r")):
            raise ValueError("it has a separator or a line end, and the schema has no quotes to put it in")
        return text


_UNKNOWN = object()


def _layout(schema: CsvSchema) -> Layout:
    """How native code writes rows of a schema: where characters are those of ASCII."""
    between, behind, null = schema.separator, schema.line_separator, schema.null or ""
    fields = [_field(schema, column, null) for column in schema.columns]
    names = [column.name for column in schema.columns]
    return {**record(("", between, ""), fields, names=names), "end": behind}


def _field(schema: CsvSchema, column: CsvColumn, null: str) -> Layout:
    kind = type(column.data_type)
    if kind in BITS:
        return whole(BITS[kind], null)
    if kind in (BooleanType, DoubleType):
        return scalar("bool" if kind is BooleanType else "java", null)
    if kind not in (VarCharType, CharType):
        raise NoForm
    if not schema.quote:
        return scalar("bare", null, special=ascii_only(f"{schema.separator}\n\r"))
    return quoted_layout(schema, "#", null)


@dataclass(frozen=True, repr=False)
class CsvWriterFactory(RowDataBulkWriterFactory):
    """Makes writers of CSV files. See :meth:`CsvBulkWriters.for_schema`."""

    schema: CsvSchema
    takes_columns: ClassVar[bool] = True

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        return CsvWriter(out, self.schema)


class CsvBulkWriters:
    """Writes CSV files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvWriterFactory:
        """Files that look like this. Records are rows, tuples, lists or dicts; rows and dicts are written by the names
        of their fields if these are the columns'. InvalidProgramError for a schema without columns."""
        row_type = _checked(schema, "CsvBulkWriters.for_schema").row_type
        return CsvWriterFactory(row_type, schema)


def _checked(schema: Any, call: str) -> CsvSchema:
    csv_schema: CsvSchema = checks.instance(schema, call, CsvSchema, "Give what CsvSchema.builder()…build() returns.")
    if not csv_schema.columns:
        checks.illegal_argument(f"{call}() was given a schema without columns. Add them: add_string_column('name').")
    return csv_schema

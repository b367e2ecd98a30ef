"""CSV files. A file is read whole, by one subtask: line ends may stand in quotes, so it cannot be cut.

Sources of the semantics: ``CsvReaderFormat``, ``CsvBulkWriters`` (PyFlink 2.3).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from penstock.common.bulk_writer import BulkWriter
from penstock.common.callables import shortened
from penstock.common.column_types import ArrayType
from penstock.common.conversions import Convert
from penstock.common.typeinfo import TypeInformation
from penstock.errors import FileFormatError
from penstock.runtime.io.file_source import opened
from penstock.runtime.io.formats.base import StreamFormat, inflating, path_of
from penstock.runtime.io.formats.csv_rows import CsvRows, Row, batches
from penstock.runtime.io.formats.csv_schema import CsvColumn, CsvSchema
from penstock.runtime.io.formats.csv_values import reader, writer
from penstock.runtime.io.formats.fields import columns_of, rows_of
from penstock.runtime.io.formats.outward import of_kind
from penstock.runtime.io.splits import Records, Split

_BATCH = 2_000
_REFUSALS = (ValueError, ArithmeticError, TypeError, OverflowError)
_LONGEST_BARE = 24
"""Characters of a text that is looked at before it is put in quotes; longer ones are without a look, as Flink's."""


@dataclass(frozen=True)
class CsvLines(StreamFormat[Any]):
    """Rows of CSV files. Positions are numbers of rows.

    Attributes:
        schema: what the files look like.
    """

    schema: CsvSchema

    @property
    def produced_type(self) -> TypeInformation[Any]:
        """A row with the names of the columns."""
        return self.schema.row_type.type_info

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a file."""
        path, done = path_of(split), split.start or 0
        readers = [reader(each.data_type, self.schema.elements_of(each), self.schema.null) for each in self._columns]
        for slow in (False, True):
            try:
                for rows in self._rows(path, done, slow):
                    records = self._records(path, rows, done, readers)
                    done += len(rows)
                    yield Records(records, done)
                return
            except csv.Error as error:  # the quick reader is stricter: once more from here, slowly
                if slow:
                    raise FileFormatError(
                        f"{path}, line {self._line(path, done + 1, slow=True)} or behind: {error}. Check the quotes "
                        "and escapes of the file, and the characters of the schema."
                    ) from error

    @property
    def _columns(self) -> tuple[CsvColumn, ...]:
        return self.schema.columns

    def _rows(self, path: str, done: int, slow: bool) -> Iterator[list[Row]]:
        with inflating(path), opened(path) as file:
            rows = self._begun(file, path, slow)
            for _ in range(done):
                next(rows, None)
            try:
                yield from batches(rows, _BATCH)
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{path}, behind line {rows.line}: there are bytes that are no UTF-8: {error}. Convert the file."
                ) from error

    def _begun(self, file: IO[bytes], path: str, slow: bool) -> CsvRows:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        rows = CsvRows(text, self.schema, slow=slow)
        rows.begin(path)
        return rows

    def _line(self, path: str, row: int, *, slow: bool = False) -> int:
        """The last line of a row, which is counted from 1: found by reading the file again."""
        with opened(path) as file:
            rows = self._begun(file, path, slow)
            try:
                for _ in range(row):
                    next(rows, None)
            except csv.Error:
                return self._line(path, row, slow=True) if not slow else rows.line
            return rows.line

    def _records(self, path: str, rows: list[Row], done: int, readers: Sequence[Convert]) -> list[Any]:
        width = len(readers)
        if {width}.issuperset(map(len, rows)) or self._fitted(path, rows, done):
            columns = zip(*(row[:width] for row in rows), strict=True)
            values = (self._values(path, i, texts, done, readers[i]) for i, texts in enumerate(columns))
            return rows_of(values, self.schema.row_type)
        return []

    def _fitted(self, path: str, rows: list[Row], done: int) -> bool:
        """That no row has fewer columns than the schema, nor more where it may not."""
        width = len(self._columns)
        for number, row in enumerate(rows, done + 1):
            if len(row) < width or (len(row) > width and not self.schema.rest):
                raise FileFormatError(
                    f"{path}, line {self._line(path, number)}: {len(row)} columns {shortened(row)}, and the schema has "
                    f"{width}: {[column.name for column in self._columns]}. Correct the file, or the schema and its "
                    f"separator {self.schema.separator!r}."
                )
        return True

    def _values(self, path: str, index: int, texts: Sequence[str], done: int, convert: Convert) -> list[Any]:
        try:
            return list(map(convert, texts))
        except _REFUSALS:
            return [self._value(path, index, text, number, convert) for number, text in enumerate(texts, done + 1)]

    def _value(self, path: str, index: int, text: str, number: int, convert: Convert) -> Any:
        column = self._columns[index]
        try:
            return convert(text)
        except _REFUSALS as error:
            hint = "" if text.strip() else " Say by set_null_value('') that an empty column means None."
            raise FileFormatError(
                f"{path}, line {self._line(path, number)}: {shortened(text)} in the column {column.name!r} cannot be "
                f"read as {column.data_type}: {error}.{hint or ' Correct the file, or declare another type.'}",
                flink_class="java.lang.NumberFormatException",
            ) from error


class CsvWriter(BulkWriter[Any]):
    """Writes rows as CSV, a line each, with quotes where Flink has them.

    Args:
        out: where to.
        schema: what it looks like.
    """

    def __init__(self, out: IO[bytes], schema: CsvSchema) -> None:
        self._out, self._schema = out, schema
        self._names = tuple(column.name for column in schema.columns)
        self._special = _special(schema)
        if schema.header:
            self._line([self._names])

    def add_element(self, element: Any, /) -> None:
        """Write a row."""
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        """Write some rows."""
        columns = columns_of(elements, self._names)
        texts = [self._texts(column, values) for column, values in zip(self._schema.columns, columns, strict=True)]
        self._line(zip(*texts, strict=True), quoted=True)

    def flush(self) -> None:
        """Nothing waits."""

    def finish(self) -> None:
        """Nothing is left to write."""

    def _line(self, rows: Any, *, quoted: bool = False) -> None:
        separator, end = self._schema.separator, self._schema.line_separator
        shown = rows if quoted else [[self._quoted(each) for each in row] for row in rows]
        self._out.write("".join([separator.join(row) + end for row in shown]).encode())

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
        text = writer(column.data_type)(value)
        return self._quoted(text) if isinstance(value, str) else text

    def _array(self, column: CsvColumn, wanted: ArrayType, values: Sequence[Any]) -> str:
        separator, text = self._schema.elements_of(column), writer(wanted.element_type)
        texts = [
            self._schema.null or "" if each is None else text(of_kind(each, wanted.element_type)) for each in values
        ]
        if separator and any(separator in each for each in texts):
            raise ValueError(
                f"an element has {separator!r}, which separates elements; give another to add_array_column()"
            )
        if len(texts) > 1 and not separator:
            raise ValueError("there is no separator for its elements; give one to add_array_column()")
        return separator.join(texts)

    def _quoted(self, text: str) -> str:
        """The text, in quotes where it needs them."""
        quote, escape = self._schema.quote, self._schema.escape
        if not quote:
            if any(each in text for each in (self._schema.separator, "\n", "\r")):
                raise ValueError("it has a separator or a line end, and the schema has no quotes to put it in")
            return text
        if len(text) <= _LONGEST_BARE and not self._special(text):
            return text
        if escape:
            text = text.replace(escape, escape * 2)
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def _special(schema: CsvSchema) -> Any:
    """Finds a character that quotes are needed for, or that is so low that Flink's writer puts them without asking."""
    least = max(schema.separator, schema.quote or "\0", schema.line_separator[0])
    return re.compile(f"[\\x00-{re.escape(least)}\\\\{re.escape(schema.escape)}]|^#").search

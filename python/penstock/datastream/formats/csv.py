"""CSV files (PyFlink: ``pyflink.datastream.formats.csv``). How they are read and written is in
:mod:`penstock.runtime.io.formats.csv`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

from penstock.common import checks
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.column_types import RowType
from penstock.runtime.io.formats.csv import CsvLines, CsvWriter
from penstock.runtime.io.formats.csv_schema import CsvSchema, CsvSchemaBuilder

__all__ = ["CsvBulkWriters", "CsvReaderFormat", "CsvSchema", "CsvSchemaBuilder", "CsvWriterFactory"]


class CsvReaderFormat(CsvLines):
    """Rows of CSV files, for ``FileSource.for_record_stream_format``. Made by :meth:`for_schema`.

    Files are UTF-8, and may be compressed. Each is read by one subtask, whatever its size: line ends may stand in
    quotes.
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Files that look like this.

        Args:
            schema: with at least one column.

        Raises:
            InvalidProgramError: no schema, or one without columns.
        """
        return CsvReaderFormat(_schema(schema, "CsvReaderFormat.for_schema"))


@dataclass(frozen=True, repr=False)
class CsvWriterFactory(RowDataBulkWriterFactory):
    """Makes writers of CSV files. See :meth:`CsvBulkWriters.for_schema`.

    Attributes:
        schema: what the files look like.
    """

    schema: CsvSchema

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        """A writer of a file."""
        return CsvWriter(out, self.schema)


class CsvBulkWriters:
    """Writes CSV files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvWriterFactory:
        """Files that look like this. Records are rows, tuples, lists or dicts; rows and dicts are written by the names
        of their fields if these are the columns'. Texts stand in quotes where Flink puts them.

        Args:
            schema: with at least one column.

        Raises:
            InvalidProgramError: no schema, or one without columns.
        """
        row_type: RowType = _schema(schema, "CsvBulkWriters.for_schema").row_type
        return CsvWriterFactory(row_type, schema)


def _schema(schema: Any, call: str) -> CsvSchema:
    hint = "Give what CsvSchema.builder()…build() returns."
    found: CsvSchema = checks.instance(schema, call, CsvSchema, hint)
    if not found.columns:
        checks.illegal_argument(f"{call}() was given a schema without columns. Add them: add_string_column('name').")
    return found

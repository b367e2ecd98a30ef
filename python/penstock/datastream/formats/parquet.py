"""Parquet files (PyFlink: ``pyflink.datastream.formats.parquet``). How they are read and written is in
:mod:`penstock.runtime.io.formats.parquet`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, Any

from penstock.common import Configuration, checks
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.column_types import RowType, row_type_of
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo
from penstock.datastream.formats.avro import AvroSchema, of_records
from penstock.datastream.formats.options import Readers, arguments, choice, flag, whole
from penstock.runtime.io.formats.avro_types import row_type_of_avro
from penstock.runtime.io.formats.base import BulkFormat, StreamFormat
from penstock.runtime.io.formats.parquet import ParquetOptions, ParquetRows, ParquetWriter

__all__ = [
    "AvroParquetReaderFormat",
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetWriterFactory",
]

_SAME = {name: name.upper() for name in ("snappy", "gzip", "brotli", "zstd")}
_CODECS = {**_SAME, "uncompressed": "NONE", "lz4_raw": "LZ4"}
WRITING: Readers = {
    "parquet.block.size": ("group_bytes", whole),
    "parquet.compression": ("compression", choice(_CODECS)),
    "parquet.dictionary.page.size": ("dictionary_pagesize_limit", whole),
    "parquet.enable.dictionary": ("use_dictionary", flag),
    "parquet.page.size": ("data_page_size", whole),
    "parquet.writer.version": ("data_page_version", choice({"parquet_1_0": "1.0", "parquet_2_0": "2.0"})),
}
"""Keys of Hadoop's configuration that mean something when a file is written."""


class ParquetColumnarRowInputFormat(ParquetRows, BulkFormat[Any]):
    """Rows of Parquet files, for ``FileSource.for_bulk_file_format``. Columns of any type are read, also arrays, maps
    and rows, which PyFlink's does not.

    A column that a file does not have is None in all of its rows, as in Flink. It is refused if its type is not
    nullable, if the name is there in another case, and if the file has none of the columns.

    Args:
        row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples: which columns are read, and as what.
        hadoop_config: nothing may be set in it.
        batch_size: rows that are read at a time.
        is_utc_timestamp: whether moments in the file become clocks on walls in UTC, otherwise in that of the machine.
        is_case_sensitive: whether names of columns are.

    Raises:
        TypeInfoError: no type of rows.
        UnsupportedError: a type that no column has, or a setting of Hadoop's.
    """

    def __init__(
        self,
        row_type: RowType | RowTypeInfo | TupleTypeInfo,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        call = "ParquetColumnarRowInputFormat"
        arguments(hadoop_config, {}, call, "hadoop_config")
        super().__init__(
            row_type_of(row_type, call),
            checks.positive(batch_size, call, "batch size"),
            checks.boolean(is_utc_timestamp, call, "is_utc_timestamp"),
            checks.boolean(is_case_sensitive, call, "is_case_sensitive"),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return ParquetColumnarRowInputFormat, (self.row_type, None, self.batch_size, self.utc, self.case_sensitive)


@dataclass(frozen=True, repr=False)
class ParquetWriterFactory(RowDataBulkWriterFactory):
    """Makes writers of Parquet files. See :meth:`ParquetBulkWriters.for_row_type`.

    Attributes:
        options: how files are written.
    """

    options: ParquetOptions = field(default_factory=ParquetOptions)

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        """A writer of a file."""
        return ParquetWriter(out, self.row_type, self.options)


class ParquetBulkWriters:
    """Writes Parquet files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_row_type(
        row_type: RowType | RowTypeInfo | TupleTypeInfo,
        hadoop_config: Configuration | None = None,
        utc_timestamp: bool = False,
    ) -> ParquetWriterFactory:
        """Rows of a type. Records are rows, tuples, lists or dicts; rows and dicts are written by the names of their
        fields if these are the columns'. Timestamps are written as INT96, as Flink does.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.
            hadoop_config: ``parquet.compression`` (SNAPPY without it), ``parquet.block.size`` (64 MiB),
                ``parquet.page.size``, ``parquet.enable.dictionary``, ``parquet.dictionary.page.size``,
                ``parquet.writer.version``; others are refused.
            utc_timestamp: whether clocks on walls are taken to be in UTC, otherwise in the zone of the machine.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that no column has, or a setting that means nothing here.
        """
        call = "ParquetBulkWriters.for_row_type"
        utc = checks.boolean(utc_timestamp, call, "utc_timestamp")
        return ParquetWriterFactory(row_type_of(row_type, call), options_of(hadoop_config, call, utc))


class AvroParquetReaderFormat(ParquetRows, StreamFormat[Any]):
    """Records of Parquet files, as dicts of an Avro schema; see :meth:`AvroParquetReaders.for_generic_record`."""


class AvroParquetReaders:
    """Reads Parquet files as records of an Avro schema, for ``FileSource.for_record_stream_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroParquetReaderFormat:
        """Records of a schema, as dicts.

        Args:
            schema: of a record; which columns are read, and as what.

        Raises:
            InvalidProgramError: no schema of a record.
            UnsupportedError: a type that no column has: a union of several, or a record inside itself.
        """
        call = "AvroParquetReaders.for_generic_record"
        return AvroParquetReaderFormat(row_type_of_avro(of_records(schema, call).text), utc=True)


class AvroParquetWriters:
    """Writes records of an Avro schema into Parquet files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> ParquetWriterFactory:
        """Records of a schema: dicts, or rows and tuples of as many fields. The stream needs no type.

        Args:
            schema: of a record.

        Raises:
            InvalidProgramError: no schema of a record.
            UnsupportedError: a type that no column has: a union of several, or a record inside itself.
        """
        text = of_records(schema, "AvroParquetWriters.for_generic_record").text
        options = ParquetOptions(utc=True, arguments={"use_deprecated_int96_timestamps": False})
        return ParquetWriterFactory(row_type_of_avro(text), options)


def options_of(hadoop_config: Configuration | None, call: str, utc: bool) -> ParquetOptions:
    """How files are written, as a configuration of Hadoop's says.

    Args:
        hadoop_config: may be None.
        call: for messages.
        utc: whether clocks on walls are taken to be in UTC.
    """
    own = arguments(hadoop_config, WRITING, call, "hadoop_config")
    size = own.pop("group_bytes", ParquetOptions.group_bytes)
    return ParquetOptions(utc, size, own)

"""Parquet files, with PyFlink's names (``pyflink.datastream.formats.parquet``). A file is read row group by row group,
some rows of each at a time; a piece of a file is the row groups whose middle lies in it.

Sources of the semantics: ``ParquetColumnarRowInputFormat``, ``ParquetRowDataBuilder`` (Flink 1.20). Flink writes a
timestamp as INT96, which is a moment; a local time becomes one in the time zone of the machine, or in UTC.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from penstock.common import Configuration, checks
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.column_types import DataType, RowType, TimestampType, row_type_of
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.connectors.formats.avro import AvroSchema, of_records
from penstock.connectors.formats.avro_types import row_type_of_avro
from penstock.connectors.formats.fields import types_in
from penstock.connectors.formats.options import Readers, arguments, choice, flag, whole
from penstock.connectors.formats.tables import TableWriter
from penstock.errors import FileFormatError
from penstock.runtime.io.file_format import BulkFormat, FileFormat, StreamFormat, path_of
from penstock.runtime.io.file_source import opened, pieces_of
from penstock.runtime.io.files import ends_before
from penstock.runtime.io.splits import Records, Split
from penstock.storage.storage import Dated

__all__ = [
    "AvroParquetReaderFormat",
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetWriterFactory",
]


_log = logging.getLogger("penstock")
_BUFFER = 1 << 20
"""Bytes that are read of a column at a time."""


@dataclass(frozen=True)
class ParquetRows(FileFormat[Any]):
    """Rows of Parquet files. Positions are bytes, or a row group and a row in it.

    Attributes:
        row_type: which columns are read, and as what.
        batch_size: rows at a time.
        utc: whether moments become local times in UTC, otherwise in the time zone of the machine.
        case_sensitive: whether names of columns are case-sensitive.
    """

    row_type: RowType
    batch_size: int = 2_048
    utc: bool = False
    case_sensitive: bool = True

    @property
    def produced_type(self) -> TypeInformation[Any]:
        """A row with the names of the columns."""
        return self.row_type.type_info

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        """The file, or pieces of 32 MiB."""
        return pieces_of(file, "UTF-8", splittable)

    def read(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a piece of a file."""
        import pyarrow as pa

        path = path_of(split)
        with opened(path) as file:
            try:
                yield from _Reader(self, file, path).records(split)
            except (pa.ArrowException, OSError) as error:
                raise FileFormatError(
                    f"{path} is not a Parquet file, or it is damaged: {error}. Perhaps it is not complete."
                ) from error


class _Reader:
    """Reads one file."""

    def __init__(self, settings: ParquetRows, file: IO[bytes], path: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from penstock.connectors.formats.arrow import LOCAL, UTC, BatchReader

        timestamps = [each for each in types_in(settings.row_type) if isinstance(each, TimestampType)]
        unit = "ns" if any(each.precision > 6 for each in timestamps) else "us"
        self._file = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER, coerce_int96_timestamp_unit=unit)
        self._path, self._settings = path, settings
        self._names = self._found()
        schema = pa.schema(
            [each.with_name(self._names.get(each.name, each.name)) for each in _with_moments(self._file)]
        )
        self._batches = BatchReader(schema, settings.row_type, path, UTC if settings.utc else LOCAL)

    def _found(self) -> dict[str, str]:
        """Declared names by names in the file, of the columns that are read."""
        in_file = self._file.schema_arrow.names
        by_case = {name.lower(): name for name in in_file}
        declared: dict[str, str] = {}
        for column in self._settings.row_type:
            exact = self._settings.case_sensitive or column.name in in_file
            name = column.name if exact else by_case.get(column.name.lower(), column.name)
            if name in in_file:
                declared[name] = column.name
            else:
                self._missing(column.name, column.data_type, by_case.get(column.name.lower()))
        if not declared:
            raise FileFormatError(
                f"{self._path} has none of the columns {self._settings.row_type.names}: it has {in_file}. Declare "
                "those that shall be read."
            )
        return declared

    def _missing(self, name: str, data_type: DataType, other: str | None) -> None:
        """A column that the file does not have: None in all rows, as in Flink, unless that cannot be meant."""
        if other is None and data_type.nullable:
            _log.warning("%s has no column %r: it is None in all of its records", self._path, name)
            return
        hint = f"it has {other!r}; write it so, or pass is_case_sensitive=False" if other else "declare it nullable"
        raise FileFormatError(
            f"{self._path} has no column {name!r}: {hint}. Its columns: {self._file.schema_arrow.names}."
        )

    def _declared(self, names: Sequence[str]) -> list[str]:
        return [self._names.get(name, name) for name in names]

    def records(self, split: Split) -> Iterator[Records[Any]]:
        """The rows of a piece."""
        first, skipped = split.start if isinstance(split.start, list) else (0, 0)
        groups = self._file.metadata
        begun = isinstance(split.start, list)
        if begun and (first >= groups.num_row_groups or groups.row_group(first).num_rows < skipped):
            raise ends_before(self._path, split.start)
        for group in range(first, self._file.metadata.num_row_groups):
            middle = _middle(self._file.metadata.row_group(group))
            if _within(middle, split):
                yield from self._group(group, skipped if group == first else 0)

    def _group(self, group: int, skipped: int) -> Iterator[Records[Any]]:
        row = 0
        plain = not any("." in name for name in self._names)  # a point leads into a column
        columns = list(self._names) if plain else None
        for batch in self._file.iter_batches(self._settings.batch_size, [group], columns, use_threads=False):
            kept = batch.slice(max(0, skipped - row))
            row += batch.num_rows
            if kept.num_rows:
                named = kept.rename_columns(self._declared(kept.schema.names))
                place = f"row group {group}, rows {row - kept.num_rows} to {row - 1}"
                yield Records(self._batches.records(named, place), [group, row])


def _middle(group: Any) -> int:
    """Where the middle of a row group lies in its file."""
    column = group.column(0)
    start = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset is not None:
        start = min(start, column.dictionary_page_offset)
    size = sum(group.column(index).total_compressed_size for index in range(group.num_columns))
    return start + size // 2


def _within(middle: int, split: Split) -> bool:
    start = split.start if isinstance(split.start, int) else 0
    return start <= middle and (split.end is None or middle < split.end)


def _with_moments(file: Any) -> Any:
    """The schema of a file in Arrow, INT96 being moments in UTC."""
    schema = file.schema_arrow
    columns = map(file.schema.column, range(len(file.schema)))
    moments = {column.path.partition(".")[0] for column in columns if column.physical_type == "INT96"}
    for index, each in enumerate(schema):
        if each.name in moments:
            schema = schema.set(index, each.with_type(_in_utc(each.type)))
    return schema


def _in_utc(kind: Any) -> Any:
    """A type, with moments for all timestamps in it."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_utc(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(_in_utc(kind.key_type), _in_utc(kind.item_type))
    if pa.types.is_struct(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        return pa.struct([each.with_type(_in_utc(each.type)) for each in fields])
    return kind


@dataclass(frozen=True)
class ParquetOptions:
    """How Parquet files are written.

    Attributes:
        utc: whether local times are taken to be in UTC, otherwise in the time zone of the machine.
        group_bytes: about the size of a row group in memory.
        arguments: of Arrow's writer.
    """

    utc: bool = False
    group_bytes: int = 64 << 20
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ParquetWriter(TableWriter):
    """Writes rows into a Parquet file."""

    def __init__(self, out: IO[bytes], row_type: RowType, options: ParquetOptions) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(row_type, options.utc)
        self._group_bytes = options.group_bytes
        arguments = {"use_deprecated_int96_timestamps": True, **options.arguments}
        self.writer = pq.ParquetWriter(pa.PythonFile(out, "w"), self.batches.schema, **arguments)

    def add_all(self, elements: Sequence[Any], /) -> None:
        """Keep some rows."""
        super().add_all(elements)
        if self.waiting >= self._group_bytes:
            self.flush()

    def write(self, table: Any) -> None:
        """Write rows as a row group."""
        self.writer.write_table(table, row_group_size=table.num_rows)


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
        is_utc_timestamp: whether moments in the file become local times in UTC, otherwise in the machine's time zone.
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
    """Makes writers of Parquet files. See :meth:`ParquetBulkWriters.for_row_type`."""

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
            utc_timestamp: whether local times are taken to be in UTC, otherwise in the time zone of the machine.

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
    """The options of a writer by a Hadoop configuration, or None."""
    of_writer = arguments(hadoop_config, WRITING, call, "hadoop_config")
    size = of_writer.pop("group_bytes", ParquetOptions.group_bytes)
    return ParquetOptions(utc, size, of_writer)

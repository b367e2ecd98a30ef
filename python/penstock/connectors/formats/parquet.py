"""Parquet files, with PyFlink's names (``pyflink.datastream.formats.parquet``). A file is read row group by row group,
some rows of each at a time; a piece of a file is the row groups whose middle is in it. Sources of the semantics:
``ParquetColumnarRowInputFormat``, ``ParquetRowDataBuilder`` (Flink 1.20). Flink writes a timestamp as INT96, which is a
moment; a local time becomes one in the time zone of the machine, or in UTC."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import IO, Any, ClassVar, cast

from penstock.common import Configuration, checks
from penstock.common import column_types as ct
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.column_types import RowType, TimestampType, row_type_of
from penstock.common.settings.setting import Choice, Flag
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.connectors.formats.avro import AvroSchema, of_records
from penstock.connectors.formats.columnar import SIZE, Readers, TableWriter, arguments
from penstock.errors import FileFormatError, UnsupportedError
from penstock.runtime.columns.records import types_in
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
_BUFFER = 1 << 20  # bytes that are read of a column at a time


@dataclass(frozen=True)
class ParquetRows(FileFormat[Any]):
    """Rows of Parquet files. Positions are bytes, or a row group and a row in it."""

    row_type: RowType  # which columns are read, and as what
    batch_size: int = 2_048
    utc: bool = False  # moments become local times in UTC, otherwise in the time zone of the machine
    case_sensitive: bool = True

    @property
    def produced_type(self) -> TypeInformation[Any]:
        return self.row_type.type_info

    def pieces(self, file: Dated, splittable: bool) -> list[Split]:
        return pieces_of(file, "UTF-8", splittable)

    def why_objects(self, functions: ModuleType) -> str:
        """Of files that have the declared types."""
        from penstock.runtime.columns.arrow import LOCAL, UTC, has_fields, why_converted

        if not has_fields(self.row_type):
            return "its records are neither rows nor tuples"
        return why_converted(self.row_type, UTC if self.utc else LOCAL)

    def read(self, split: Split) -> Iterator[Records[Any]]:
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
    def __init__(self, settings: ParquetRows, file: IO[bytes], path: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from penstock.runtime.columns.arrow import LOCAL, UTC, BatchReader

        exact = any(isinstance(part, TimestampType) and part.precision > 6 for part in types_in(settings.row_type))
        unit = "ns" if exact else "us"
        self._file = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER, coerce_int96_timestamp_unit=unit)
        self._path, self._settings = path, settings
        self._names = self._declared_names()
        in_file = _with_moments(self._file)
        schema = pa.schema([column.with_name(self._names.get(column.name, column.name)) for column in in_file])
        self._batches = BatchReader(schema, settings.row_type, path, UTC if settings.utc else LOCAL)

    def _declared_names(self) -> dict[str, str]:
        """Declared names by names in the file, of the columns that are read."""
        in_file = self._file.schema_arrow.names
        by_case = {name.lower(): name for name in in_file}
        declared: dict[str, str] = {}
        for column in self._settings.row_type:
            exact = self._settings.case_sensitive or column.name in in_file
            name = column.name if exact else by_case.get(column.name.lower(), column.name)
            if name in in_file:
                declared[name] = column.name
                continue
            other = by_case.get(column.name.lower())
            if other is not None or not column.data_type.nullable:
                hint = (
                    f"it has {other!r}; write it so, or pass is_case_sensitive=False"
                    if other
                    else "declare it nullable"
                )
                raise FileFormatError(f"{self._path} has no column {column.name!r}: {hint}. Its columns: {in_file}.")
            _log.warning("%s has no column %r: it is None in all of its records", self._path, column.name)
        if not declared:
            raise FileFormatError(
                f"{self._path} has none of the columns {self._settings.row_type.names}: it has {in_file}. Declare some "
                "of these."
            )
        return declared

    def records(self, split: Split) -> Iterator[Records[Any]]:
        groups, begun = self._file.metadata, isinstance(split.start, list)
        first, skipped = split.start if begun else (0, 0)
        if begun and (first >= groups.num_row_groups or groups.row_group(first).num_rows < skipped):
            raise ends_before(self._path, split.start)
        start = 0 if begun else split.start or 0
        for group in range(first, groups.num_row_groups):
            if start <= (middle := _middle(groups.row_group(group))) and (split.end is None or middle < split.end):
                yield from self._group(group, skipped if group == first else 0)

    def _group(self, group: int, skipped: int) -> Iterator[Records[Any]]:
        row = 0
        plain = not any("." in name for name in self._names)  # a point leads into a column
        columns = list(self._names) if plain else None
        for batch in self._file.iter_batches(self._settings.batch_size, [group], columns, use_threads=False):
            kept = batch.slice(max(0, skipped - row))
            row += batch.num_rows
            if kept.num_rows:
                named = kept.rename_columns([self._names.get(name, name) for name in kept.schema.names])
                place = f"row group {group}, rows {row - kept.num_rows} to {row - 1}"
                yield Records(self._batches.records(named, place), [group, row])


def _middle(group: Any) -> int:
    column = group.column(0)
    start = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset is not None:
        start = min(start, column.dictionary_page_offset)
    size = sum(group.column(index).total_compressed_size for index in range(group.num_columns))
    return start + size // 2


def _with_moments(file: Any) -> Any:
    """The schema of a file in Arrow, INT96 being moments in UTC."""
    schema = file.schema_arrow
    columns = map(file.schema.column, range(len(file.schema)))
    moments = {column.path.partition(".")[0] for column in columns if column.physical_type == "INT96"}
    for index, column in enumerate(schema):
        if column.name in moments:
            schema = schema.set(index, column.with_type(_in_utc(column.type)))
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
        parts = [kind.field(index) for index in range(kind.num_fields)]
        return pa.struct([part.with_type(_in_utc(part.type)) for part in parts])
    return kind


@dataclass(frozen=True)
class ParquetOptions:
    """How Parquet files are written."""

    utc: bool = False  # local times are in UTC, otherwise in the time zone of the machine
    group_bytes: int = 64 << 20  # about the size of a row group in memory
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of Arrow's writer


class ParquetWriter(TableWriter):
    """Writes rows into a Parquet file."""

    def __init__(self, out: IO[bytes], row_type: RowType, options: ParquetOptions) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(row_type, options.utc)
        self._group_bytes = options.group_bytes
        arguments = {"use_deprecated_int96_timestamps": True, **options.arguments}
        self.writer = pq.ParquetWriter(pa.PythonFile(out, "w"), self.batches.schema, **arguments)

    def _keep(self, batch: Any) -> None:
        super()._keep(batch)
        if self.waiting >= self._group_bytes:
            self.flush()

    def write(self, table: Any) -> None:
        self.writer.write_table(table, row_group_size=table.num_rows)


_SAME = {name: name.upper() for name in ("snappy", "gzip", "brotli", "zstd")}
_CODECS = {**_SAME, "uncompressed": "NONE", "lz4_raw": "LZ4"}
WRITING: Readers = {
    "parquet.block.size": ("group_bytes", SIZE),
    "parquet.compression": ("compression", Choice(_CODECS)),
    "parquet.dictionary.page.size": ("dictionary_pagesize_limit", SIZE),
    "parquet.enable.dictionary": ("use_dictionary", Flag()),
    "parquet.page.size": ("data_page_size", SIZE),
    "parquet.writer.version": ("data_page_version", Choice({"parquet_1_0": "1.0", "parquet_2_0": "2.0"})),
}
"""Keys of Hadoop's configuration that mean something when a file is written."""


class ParquetColumnarRowInputFormat(ParquetRows, BulkFormat[Any]):
    """Rows of Parquet files, for ``FileSource.for_bulk_file_format``. Columns of any type are read, also arrays, maps
    and rows, which PyFlink's does not. A column that a file does not have is None, as in Flink. It is refused if its
    type is not nullable, if the name is there in another case, and if the file has none of the columns.

    Args:
        row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples: which columns are read, and as what.
        hadoop_config: nothing may be set in it.
        batch_size: rows that are read at a time.
        is_utc_timestamp: whether moments in the file become local times in UTC, otherwise in the machine's time zone.
        is_case_sensitive: whether names of columns are.
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
    takes_columns: ClassVar[bool] = True

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
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
        settings = arguments(hadoop_config, WRITING, call, "hadoop_config")
        size = settings.pop("group_bytes", ParquetOptions.group_bytes)
        return ParquetWriterFactory(row_type_of(row_type, call), ParquetOptions(utc, size, settings))


class AvroParquetReaderFormat(ParquetRows, StreamFormat[Any]):
    """Records of Parquet files, as dicts of an Avro schema; see :meth:`AvroParquetReaders.for_generic_record`."""


class AvroParquetReaders:
    """Reads Parquet files as records of an Avro schema, for ``FileSource.for_record_stream_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> AvroParquetReaderFormat:
        """Records of a schema of records, as dicts; it says which columns are read, and as what. UnsupportedError for a
        type that no column has: a union of several, or a record inside itself."""
        call = "AvroParquetReaders.for_generic_record"
        return AvroParquetReaderFormat(row_type_of_avro(of_records(schema, call).text), utc=True)


class AvroParquetWriters:
    """Writes records of an Avro schema into Parquet files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> ParquetWriterFactory:
        """Records of a schema: dicts, or rows and tuples of as many fields."""
        text = of_records(schema, "AvroParquetWriters.for_generic_record").text
        options = ParquetOptions(utc=True, arguments={"use_deprecated_int96_timestamps": False})
        return ParquetWriterFactory(row_type_of_avro(text), options)


_PRIMITIVES: dict[str, ct.DataType] = {
    "boolean": ct.BooleanType(nullable=False),
    "int": ct.IntType(nullable=False),
    "long": ct.BigIntType(nullable=False),
    "float": ct.FloatType(nullable=False),
    "double": ct.DoubleType(nullable=False),
    "string": ct.VarCharType(nullable=False),
    "enum": ct.VarCharType(nullable=False),
    "bytes": ct.VarBinaryType(nullable=False),
    "fixed": ct.VarBinaryType(nullable=False),
}
_LOGICAL: dict[str, ct.DataType] = {
    "date": ct.DateType(nullable=False),
    "time-millis": ct.TimeType(3, nullable=False),
    "time-micros": ct.TimeType(6, nullable=False),
    "timestamp-millis": ct.LocalZonedTimestampType(3, zoned=True, nullable=False),
    "timestamp-micros": ct.LocalZonedTimestampType(6, zoned=True, nullable=False),
    "local-timestamp-millis": ct.TimestampType(3, nullable=False),
    "local-timestamp-micros": ct.TimestampType(6, nullable=False),
}


def row_type_of_avro(text: str) -> ct.RowType:
    """The columns of the records, which are dicts, of a valid Avro schema."""
    return cast("ct.RowType", _type(json.loads(text), {}))


def _type(schema: Any, named: dict[str, ct.DataType]) -> ct.DataType:
    if isinstance(schema, list):
        return _union(cast("list[Any]", schema), named)
    if isinstance(schema, str):
        return _PRIMITIVES[schema] if schema in _PRIMITIVES else _named(schema, named)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _type(kind, named)
    if schema.get("logicalType") == "decimal":
        return ct.DecimalType(schema["precision"], schema.get("scale", 0), nullable=False)
    if schema.get("logicalType") in _LOGICAL:
        return _LOGICAL[schema["logicalType"]]
    if kind in ("record", "error"):
        fields = tuple(ct.RowField(part["name"], _type(part["type"], named)) for part in schema["fields"])
        row_type = named[_short(schema["name"])] = ct.RowType(fields, form="dict", nullable=False)
        return row_type
    if kind == "array":
        return ct.ArrayType(_type(schema["items"], named), nullable=False)
    if kind == "map":
        return ct.MapType(_PRIMITIVES["string"], _type(schema["values"], named), nullable=False)
    if kind in ("enum", "fixed"):
        named[_short(schema["name"])] = _PRIMITIVES[kind]
    return _PRIMITIVES[kind] if kind in _PRIMITIVES else _named(kind, named)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _named(name: str, named: Mapping[str, ct.DataType]) -> ct.DataType:
    if _short(name) in named:
        return named[_short(name)]
    raise UnsupportedError(
        f"The Avro type {name!r} stands inside itself, and a Parquet file has no such columns. Use Avro files: "
        "AvroBulkWriters, AvroReaderFormat."
    )


def _union(branches: list[Any], named: dict[str, ct.DataType]) -> ct.DataType:
    others = [branch for branch in branches if branch != "null"]
    if len(others) != 1:
        raise UnsupportedError(
            f"The Avro union {branches} has not one type beside null, and a Parquet file has no such column. Use Avro "
            "files: AvroBulkWriters, AvroReaderFormat."
        )
    branch = _type(others[0], named)
    return branch if len(others) == len(branches) else replace(branch, nullable=True)

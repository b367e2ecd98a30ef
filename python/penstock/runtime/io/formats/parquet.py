"""Parquet files. A file is read row group by row group, of each some rows at a time; a piece of a file is the row
groups whose middle lies in it.

Sources of the semantics: ``ParquetColumnarRowInputFormat``, ``ParquetRowDataBuilder`` (Flink 1.20). What Flink writes
as a timestamp is an INT96, so a moment; clocks on walls become one in the zone of the machine, or in UTC.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from penstock.common.column_types import DataType, RowType
from penstock.common.typeinfo import TypeInformation
from penstock.errors import FileFormatError
from penstock.runtime.io.file_source import opened, pieces_of
from penstock.runtime.io.formats.base import FileFormat, TableWriter, path_of
from penstock.runtime.io.formats.inner import finest
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.io.storage import Dated

_log = logging.getLogger("penstock")
_BUFFER = 1 << 20
"""Bytes that are read of a column at a time."""


@dataclass(frozen=True)
class ParquetRows(FileFormat[Any]):
    """Rows of Parquet files. Positions are bytes, or a row group and a row in it.

    Attributes:
        row_type: which columns are read, and as what.
        batch_size: rows at a time.
        utc: whether moments become clocks on walls in UTC, otherwise in the zone of the machine.
        case_sensitive: whether names of columns are, otherwise they fit in any case.
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
                    f"{path} is no Parquet file, or a damaged one: {error}. Perhaps it has not been written to its end."
                ) from error


class _Reader:
    """Reads one file."""

    def __init__(self, settings: ParquetRows, file: IO[bytes], path: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from penstock.runtime.io.formats.batches import BatchReader

        unit = "ns" if finest(settings.row_type) > 6 else "us"
        self._file = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER, coerce_int96_timestamp_unit=unit)
        self._path, self._settings = path, settings
        self._names = self._found()
        schema = pa.schema(
            [each.with_name(self._names.get(each.name, each.name)) for each in _with_moments(self._file)]
        )
        self._batches = BatchReader(schema, settings.row_type, path, settings.utc)

    def _found(self) -> dict[str, str]:
        """Declared names by names in the file, of the columns that are read."""
        own = self._file.schema_arrow.names
        by_case = {name.lower(): name for name in own}
        found: dict[str, str] = {}
        for each in self._settings.row_type:
            exact = self._settings.case_sensitive or each.name in own
            name = each.name if exact else by_case.get(each.name.lower(), each.name)
            if name in own:
                found[name] = each.name
            else:
                self._missing(each.name, each.data_type, by_case.get(each.name.lower()))
        if not found:
            raise FileFormatError(
                f"{self._path} has none of the columns {self._settings.row_type.names}: it has {own}. Declare those "
                "that shall be read."
            )
        return found

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
        utc: whether clocks on walls are taken to be in UTC, otherwise in the zone of the machine.
        group_bytes: of a row group in memory, about.
        arguments: of Arrow's writer.
    """

    utc: bool = False
    group_bytes: int = 64 << 20
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ParquetWriter(TableWriter):
    """Writes rows into a Parquet file.

    Args:
        out: where to.
        row_type: of the rows.
        options: how.
    """

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

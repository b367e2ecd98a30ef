"""ORC files, with PyFlink's names (``pyflink.datastream.formats.orc``). They are written only: PyFlink reads none.
Source of the semantics: ``OrcBulkWriterFactory``, ``RowDataVectorizer`` (Flink 1.20)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar

from penstock.common import Configuration
from penstock.common.bulk_writer import BulkWriter, RowDataBulkWriterFactory
from penstock.common.column_types import RowType, TimeType, row_type_of
from penstock.common.settings.setting import Choice
from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo
from penstock.connectors.formats.columnar import SIZE, Readers, TableWriter, arguments
from penstock.errors import UnsupportedError
from penstock.runtime.columns.records import types_in

__all__ = ["OrcBulkWriters", "OrcWriterFactory"]


class OrcWriter(TableWriter):
    """Writes rows into an ORC file; ``arguments`` are those of Arrow's writer."""

    def __init__(self, out: IO[bytes], row_type: RowType, arguments: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import orc

        super().__init__(row_type)
        self.writer = orc.ORCWriter(pa.PythonFile(out, "w"), **arguments)

    def write(self, table: Any) -> None:
        self.writer.write(table)


_CODECS = {name: name for name in ("snappy", "zlib", "lz4", "zstd")} | {"none": "uncompressed"}
WRITING: Readers = {
    "orc.compress": ("compression", Choice(_CODECS)),
    "orc.compress.size": ("compression_block_size", SIZE),
    "orc.row.index.stride": ("row_index_stride", SIZE),
    "orc.stripe.size": ("stripe_size", SIZE),
}
"""Properties of ORC's writer that mean something."""


@dataclass(frozen=True, repr=False)
class OrcWriterFactory(RowDataBulkWriterFactory):
    """Makes writers of ORC files, with arguments of Arrow's writer. See :meth:`OrcBulkWriters.for_row_type`."""

    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    takes_columns: ClassVar[bool] = True

    def create(self, out: IO[bytes], /) -> BulkWriter[Any]:
        return OrcWriter(out, self.row_type, self.arguments)


class OrcBulkWriters:
    """Writes ORC files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_row_type(
        row_type: RowType | RowTypeInfo | TupleTypeInfo,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> OrcWriterFactory:
        """Rows of a type. Records are rows, tuples, lists or dicts; rows and dicts are written by the names of their
        fields if these are the columns'.

        Args:
            row_type: ``DataTypes.ROW([…])``, or a type of rows or tuples.
            writer_properties: ``orc.compress`` (ZLIB without it), ``orc.compress.size``, ``orc.stripe.size``,
                ``orc.row.index.stride``; others are refused.
            hadoop_config: nothing may be set in it.

        Raises:
            TypeInfoError: no type of rows.
            UnsupportedError: a type that no column has, or a setting that means nothing here.
        """
        call = "OrcBulkWriters.for_row_type"
        arguments(hadoop_config, {}, call, "hadoop_config")
        properties = {"compression": "zlib", **arguments(writer_properties, WRITING, call, "writer_properties")}
        wanted = row_type_of(row_type, call)
        if any(isinstance(data_type, TimeType) for data_type in types_in(wanted)):
            raise UnsupportedError(f"{call}({wanted}): ORC has no times of day. Use DataTypes.STRING() or TIMESTAMP().")
        return OrcWriterFactory(wanted, properties)

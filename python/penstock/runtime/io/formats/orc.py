"""ORC files, which are written only: PyFlink reads none.

Source of the semantics: ``OrcBulkWriterFactory``, ``RowDataVectorizer`` (Flink 1.20).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from penstock.common.column_types import RowType
from penstock.runtime.io.formats.base import TableWriter


class OrcWriter(TableWriter):
    """Writes rows into an ORC file.

    Args:
        out: where to.
        row_type: of the rows.
        arguments: of Arrow's writer.
    """

    def __init__(self, out: IO[bytes], row_type: RowType, arguments: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import orc

        super().__init__(row_type)
        self.writer = orc.ORCWriter(pa.PythonFile(out, "w"), **arguments)

    def write(self, table: Any) -> None:
        """Hand rows to Arrow's writer, which makes stripes of them."""
        self.writer.write(table)

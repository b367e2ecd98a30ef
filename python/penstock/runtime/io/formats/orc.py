"""ORC files, which are written only: PyFlink reads none.

Source of the semantics: ``OrcBulkWriterFactory``, ``RowDataVectorizer`` (Flink 1.20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

from penstock.common.bulk_writer import BulkWriter
from penstock.common.column_types import RowType


class OrcWriter(BulkWriter[Any]):
    """Writes rows into an ORC file.

    Args:
        out: where to.
        row_type: of the rows.
        arguments: of Arrow's writer.
    """

    def __init__(self, out: IO[bytes], row_type: RowType, arguments: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import orc

        from penstock.runtime.io.formats.batches import BatchWriter

        self._batches = BatchWriter(row_type)
        self._kept: list[Any] = []
        self._writer: Any = orc.ORCWriter(pa.PythonFile(out, "w"), **arguments)

    def add_element(self, element: Any, /) -> None:
        """Keep a row."""
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        """Keep some rows."""
        batch = self._batches.batch(elements)
        self._kept.append(batch)
        self.waiting += batch.nbytes

    def flush(self) -> None:
        """Hand what is kept to Arrow's writer, which makes stripes of it."""
        import pyarrow as pa

        if self._kept:
            self._writer.write(pa.Table.from_batches(self._kept))
            self._kept, self.waiting = [], 0

    def finish(self) -> None:
        """Write what is kept, and the footer."""
        self.flush()
        self._writer.close()

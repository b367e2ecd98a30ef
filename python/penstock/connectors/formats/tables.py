"""The base of the writers of columnar files: rows are kept as Arrow batches and written many at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from penstock.common.bulk_writer import BulkWriter
from penstock.common.column_types import RowType


class TableWriter(BulkWriter[Any]):
    """Writes rows by one of Arrow's writers. ``utc`` is whether local times are in UTC, else in the machine's zone."""

    writer: Any

    def __init__(self, row_type: RowType, utc: bool = True) -> None:
        from penstock.connectors.formats.arrow import LOCAL, UTC, BatchWriter

        self.batches = BatchWriter(row_type, UTC if utc else LOCAL)
        self._kept: list[Any] = []

    @abstractmethod
    def write(self, table: Any) -> None:
        """Hand rows to Arrow's writer."""

    def add_element(self, element: Any, /) -> None:
        """Keep a row."""
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        """Keep some rows."""
        batch = self.batches.batch(elements)
        self._kept.append(batch)
        self.waiting += batch.nbytes

    def flush(self) -> None:
        """Write what is kept."""
        import pyarrow as pa

        if self._kept:
            self.write(pa.Table.from_batches(self._kept))
            self._kept, self.waiting = [], 0

    def finish(self) -> None:
        """Write what is kept, and the footer."""
        self.flush()
        self.writer.close()

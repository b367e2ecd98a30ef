"""Writers of whole files, for a ``FileSink`` of a bulk format (``pyflink.common.serialization``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:  # `import penstock.datastream` loads this module, and needs no types of columns
    from penstock.common.column_types import RowType

__all__ = ["BulkWriter", "BulkWriterFactory", "RowDataBulkWriterFactory"]

T_contra = TypeVar("T_contra", contravariant=True)


class BulkWriter(ABC, Generic[T_contra]):
    """Writes the records of one file. One of your own defines the three methods (Flink: ``BulkWriter``)."""

    waiting: int = 0  # bytes, about, of the records that :meth:`flush` would write

    @abstractmethod
    def add_element(self, element: T_contra, /) -> None:
        """Write a record, or keep it to be written."""

    def add_all(self, elements: Sequence[T_contra], /) -> None:
        """Write some records, or keep them: :meth:`add_element` for each."""
        for element in elements:
            self.add_element(element)

    @abstractmethod
    def flush(self) -> None:
        """Write what has been kept; it is called when that is much."""

    @abstractmethod
    def finish(self) -> None:
        """Write what has been kept, and how the file ends. The stream is not closed: others do that."""


class BulkWriterFactory(ABC, Generic[T_contra]):
    """Makes a :class:`BulkWriter` for each file, for ``FileSink.for_bulk_format``. It travels with the program."""

    @abstractmethod
    def create(self, out: IO[bytes], /) -> BulkWriter[T_contra]:
        """A writer of a file that has ``write``, ``tell`` and ``flush``."""


@dataclass(frozen=True, repr=False)
class RowDataBulkWriterFactory(BulkWriterFactory[Any]):
    """Base of those that write rows of a type."""

    row_type: RowType  # of the rows

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.row_type}>"

    def get_row_type(self) -> RowType:
        """Type of the rows (PyFlink)."""
        return self.row_type

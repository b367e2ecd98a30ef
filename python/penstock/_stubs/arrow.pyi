"""Columns out of the planner."""

from typing import final

from typing_extensions import CapsuleType

@final
class Columns:
    """A table of named columns; pyarrow, polars, pandas and DuckDB read it through the Arrow PyCapsule interface, Spark as
    ``spark.createDataFrame(pyarrow.table(columns))``.

    It is a stream of record batches of bounded size. Those of a large table are made while they are read, each time anew;
    those of ``execution_edges()`` exist and are handed on without a copy.
    """

    @property
    def num_rows(self) -> int:
        """Number of rows."""
    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory behind the columns; what batches share counts once. Makes all batches, O(rows)."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

"""DataFrames of Spark as sources and sinks: their parts that are shipped, and the work of a task.

A DataFrame itself stays on the driver. A task of such a source gets the Arrow batches of its partitions from the
executor; one of such a sink sends Arrow batches, as bytes, which end on executors again (:mod:`penstock.spark.frames`).
In a job that runs in steps they wait in files of the checkpoint directory, so that a committed step cannot lose them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ClassVar

from penstock.common.typeinfo import TypeInformation
from penstock.connectors.spark.spark_types import nullable
from penstock.connectors.two_phase import keep_prepared, prepared_file
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.exchange.gate import TABLE
from penstock.runtime.io.sinks import Buffered, BuiltinSink, SinkWriter
from penstock.runtime.io.sources import BatchSource
from penstock.storage.storage import naming
from penstock.storage.stores import abandoned, storage_of


@dataclass(frozen=True, eq=False)
class FrameSource(BatchSource):
    """The rows of a DataFrame."""

    is_given_rows: ClassVar[bool] = True
    schema: Mapping[str, Any]  # of the DataFrame, as `jsonValue()` gives it
    declared: TypeInformation[Any]  # of the records
    frame: Any = field(default=None, repr=False)  # the DataFrame; on the driver only
    rows: Iterable[Any] | None = field(default=None, repr=False)  # Arrow batches of a subtask's partitions; in a task
    bounded: bool = True  # a streaming DataFrame does not end
    order: str | None = None  # the column by which each subtask reads its rows in order
    by_file: bool = False  # or else in the order of their files; otherwise they come as Spark's partitions do
    instants: bool = True  # a `timestamp` becomes an Instant; else an aware datetime

    def prepare(self, parallelism: int) -> FrameSource:
        return replace(self, frame=None)

    def reading(self, batches: Iterable[Any]) -> FrameSource:
        return replace(self, rows=batches)

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        if self.rows is None:
            raise InvalidProgramError("The source reads a DataFrame, which tasks on Spark alone are given.")
        from penstock.connectors.spark.arrow_rows import records

        return records(self.rows, self.schema, self.declared, instants=self.instants)

    def why_objects(self, functions: ModuleType) -> str:
        from penstock.connectors.spark.arrow_rows import record_rows
        from penstock.runtime.columns.arrow import SPARK, why_converted

        return why_converted(record_rows(self.schema, self.declared, instants=self.instants), SPARK)


@dataclass(frozen=True, eq=False)
class FrameSink(BuiltinSink):
    """Records as the rows of a DataFrame, which is then written as the program says."""

    what: str  # it writes to, for messages
    write: Callable[[Any], object] | None = field(default=None, repr=False)  # a DataFrame; on the driver only
    schema: Mapping[str, Any] | None = None  # its `jsonValue()`; None until the type of the records is known
    number: int = 0  # of the sink in its job

    def prepare(self, parallelism: int) -> FrameSink:
        """Without what writes, and with a schema that allows null everywhere."""
        assert self.schema is not None, "the API has checked the type of the records"
        return replace(self, write=None, schema=nullable(self.schema))

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Sends Arrow batches; in a job that runs in steps, writes them to a file for each step."""
        assert self.schema is not None, "the deployment knows it"
        if context.job.folder_id is not None:
            return _Staging(self.schema, context)
        from penstock.connectors.spark.arrow_rows import ArrowWriter

        arrow, kind = ArrowWriter(self.schema), TABLE - self.number

        def send(rows: list[tuple[Any, ...]]) -> None:
            context.send(kind, arrow.batch(rows).serialize().to_pybytes())

        return Buffered(arrow.values, size, send)


def size(value: Any) -> int:
    """About how many bytes a value, or the values of records, take."""
    if isinstance(value, str | bytes):
        return len(value)
    return sum(map(size, value)) if isinstance(value, tuple | list) else 8


class _Staging(Buffered):
    def __init__(self, schema: Mapping[str, Any], context: OperatorContext) -> None:
        from penstock.connectors.spark.arrow_rows import ArrowWriter

        self._arrow, self._context = ArrowWriter(schema), context
        self._path, self._file, self._stream = "", None, None
        super().__init__(self._arrow.values, size, self._write)

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        if self._stream is None:
            self._path, self._file = prepared_file(self._context)
            self._stream = pa.ipc.new_stream(self._file, self._arrow.schema)
        batch = self._arrow.batch(rows)
        with naming(self._path):
            self._stream.write_batch(batch)

    def end_step(self) -> None:
        self.hand_over()
        if self._stream is None or self._file is None:
            return
        with naming(self._path):
            self._stream.close()
        keep_prepared(self._context, self._path, self._file)
        self._stream = self._file = None

    def discard(self) -> None:
        if self._file is not None:
            abandoned(self._file)


def staged(path: str) -> Iterator[Any]:
    """The Arrow batches of a step's file."""
    import pyarrow as pa

    with storage_of(path).read(path) as file, pa.ipc.open_stream(file) as stream:
        yield from stream

"""DataFrames of Spark as sources and sinks: their parts that are shipped, and the work of a task.

A DataFrame itself stays on the driver. A task of such a source gets the Arrow batches of its partitions from the
executor; one of such a sink sends Arrow batches, as bytes, which end on executors again (:mod:`penstock.spark.frames`).
In a job that runs in steps they wait in files of the checkpoint directory, so that a committed step cannot lose them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.common.typeinfo import TypeInformation
from penstock.connectors.spark.spark_types import nullable
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.config.tasks import Committable
from penstock.runtime.exchange.gate import TABLE
from penstock.runtime.io.pending_paths import attempt_name, prepared_place
from penstock.runtime.io.sinks import Buffered, BuiltinSink, SinkWriter
from penstock.runtime.io.sources import BatchSource
from penstock.storage.storage import is_local, join, naming
from penstock.storage.stores import abandoned, storage_of

if TYPE_CHECKING:
    from penstock.connectors.spark.arrow_rows import ArrowWriter


@dataclass(frozen=True, eq=False)
class FrameSource(BatchSource):
    """The rows of a DataFrame.

    Attributes:
        schema: of the DataFrame, as ``jsonValue()`` gives it.
        declared: type of the records.
        frame: the DataFrame; on the driver only.
        given: Arrow batches of a subtask's partitions; in a task only, in steps those of one.
        bounded: whether the DataFrame ends; a streaming one does not.
        instants: whether a ``timestamp`` becomes an Instant, as its type was declared; else an aware datetime.
        order: the column by which each subtask reads its rows in order; None for no column.
        by_file: whether each subtask reads its rows in the order of their files, where there is no such column; else
            they come as Spark's partitions do.
    """

    is_given_rows: ClassVar[bool] = True
    schema: Mapping[str, Any]
    declared: TypeInformation[Any]
    frame: Any = field(default=None, repr=False)
    given: Iterable[Any] | None = field(default=None, repr=False)
    bounded: bool = True
    order: str | None = None
    by_file: bool = False
    instants: bool = True

    def prepare(self, parallelism: int) -> FrameSource:
        """Without the DataFrame."""
        return replace(self, frame=None)

    def reading(self, batches: Iterable[Any]) -> FrameSource:
        """The source of a subtask."""
        return replace(self, given=batches)

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        """The records of each Arrow batch."""
        if self.given is None:
            raise InvalidProgramError("The source reads a DataFrame, which tasks on Spark alone are given.")
        from penstock.connectors.spark.arrow_rows import records

        return records(self.given, self.schema, self.declared, instants=self.instants)


@dataclass(frozen=True, eq=False)
class FrameSink(BuiltinSink):
    """Records as the rows of a DataFrame, which is then written as the program says.

    Attributes:
        what: where it writes, for messages.
        write: takes the DataFrame and writes it; on the driver only.
        schema: of the DataFrame, as ``jsonValue()`` gives it; None until the type of the records is known.
        number: of the sink in its job.
    """

    what: str
    write: Callable[[Any], object] | None = field(default=None, repr=False)
    schema: Mapping[str, Any] | None = None
    number: int = 0

    def prepare(self, parallelism: int) -> FrameSink:
        """Without what writes, and with a schema that allows null everywhere."""
        assert self.schema is not None, "the API has checked the type of the records"
        return replace(self, write=None, schema=nullable(self.schema))

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Sends Arrow batches; in a job that runs in steps, writes them to a file for each step."""
        assert self.schema is not None, "the deployment knows it"
        if context.job.folder_id is not None:
            return _Staging(self.schema, context)
        arrow, kind = _arrow_writer(self.schema), TABLE - self.number

        def send(rows: list[tuple[Any, ...]]) -> None:
            context.send(kind, arrow.batch(rows).serialize().to_pybytes())

        return Buffered(arrow.values, size, send)


def _arrow_writer(schema: Mapping[str, Any]) -> ArrowWriter:
    from penstock.connectors.spark.arrow_rows import ArrowWriter

    return ArrowWriter(schema)


def size(rows: Sequence[tuple[Any, ...]]) -> int:
    """About how many bytes the values of records take."""
    return sum(map(_size, rows))


def _size(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return sum(map(_size, value)) if isinstance(value, tuple | list) else 8


class _Staging(Buffered):
    """Writes the rows of a subtask, an Arrow stream for each step that has rows."""

    def __init__(self, schema: Mapping[str, Any], context: OperatorContext) -> None:
        self._arrow, self._context = _arrow_writer(schema), context
        self._path, self._file, self._stream = "", None, None
        super().__init__(self._arrow.values, size, self._write)

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        if self._stream is None:
            context = self._context
            self._path = join(prepared_place(context.job), attempt_name(context.config.operator_id, context.subtask))
            self._file = storage_of(self._path).writing(self._path)
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
            if is_local(self._path):
                self._file.flush()
                os.fsync(self._file.fileno())
            self._file.close()
        config, path = self._context.config, self._path.encode()
        context = self._context
        context.committables.append(Committable(config.operator_id, context.subtask, path, True, context.version))
        self._stream = self._file = None

    def discard(self) -> None:
        if self._file is not None:
            abandoned(self._file)


def staged(path: str) -> Iterator[Any]:
    """The Arrow batches of a step's file."""
    import pyarrow as pa

    with storage_of(path).read(path) as file, pa.ipc.open_stream(file) as stream:
        yield from stream

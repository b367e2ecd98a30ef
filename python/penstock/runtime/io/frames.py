"""DataFrames of Spark as sources and sinks: what of them travels, and what a task does.

A DataFrame itself stays on the driver. A task of such a source is given the Arrow batches of its partitions by whoever
runs it; one of such a sink sends Arrow batches, as bytes, which end on executors again (:mod:`penstock.spark.frames`).
In a job that runs in steps they wait in files of the job folder, as a step that counts must not lose them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.config.tasks import Committable
from penstock.runtime.exchange.gate import TABLE
from penstock.runtime.io.arrow_rows import ArrowWriter, records, size
from penstock.runtime.io.pending import attempt_name, prepared_place
from penstock.runtime.io.sinks import Buffered, BuiltinSink, SinkWriter
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.storage import is_local, join
from penstock.runtime.io.stores import abandoned, storage_of


@dataclass(frozen=True, eq=False)
class FrameSource(BatchSource):
    """The rows of a DataFrame.

    Attributes:
        schema: of the DataFrame, as ``jsonValue()`` gives it.
        declared: type of the records.
        frame: the DataFrame; on the driver only.
        given: Arrow batches of a subtask's partitions; in a task only, in steps those of one.
        bounded: whether the DataFrame ends; a streaming one does not.
    """

    schema: Mapping[str, Any]
    declared: TypeInformation[Any]
    frame: Any = field(default=None, repr=False)
    given: Iterable[Any] | None = field(default=None, repr=False)
    bounded: bool = True

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
        return records(self.given, self.schema, self.declared)


@dataclass(frozen=True, eq=False)
class FrameSink(BuiltinSink):
    """Records as the rows of a DataFrame, which is then written as the program says.

    Attributes:
        what: where it writes, for messages.
        write: takes the DataFrame and writes it; on the driver only.
        schema: of the DataFrame, as ``jsonValue()`` gives it; None to follow from the type of the records.
        number: of the sink in its job.
    """

    what: str
    write: Callable[[Any], object] | None = field(default=None, repr=False)
    schema: Mapping[str, Any] | None = None
    number: int = 0

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Sends Arrow batches; in a job that runs in steps, writes them to a file for each step."""
        assert self.schema is not None, "the deployment knows it"
        if context.job.folder_id is not None:
            return _Staging(self.schema, context)
        made, kind = ArrowWriter(self.schema), TABLE - self.number

        def send(rows: list[tuple[Any, ...]]) -> None:
            context.send(kind, made.batch(rows).serialize().to_pybytes())

        return Buffered(made.values, size, send)


class _Staging(Buffered):
    """The rows of a subtask, in an Arrow stream per step that has some.

    Args:
        schema: of Spark.
        context: of the subtask.
    """

    def __init__(self, schema: Mapping[str, Any], context: OperatorContext) -> None:
        self._made, self._context = ArrowWriter(schema), context
        self._path, self._file, self._stream = "", None, None
        super().__init__(self._made.values, size, self._write)

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        if self._stream is None:
            context = self._context
            self._path = join(prepared_place(context.job), attempt_name(context.config.operator_id, context.subtask))
            self._file = storage_of(self._path).writing(self._path)
            self._stream = pa.ipc.new_stream(self._file, self._made.schema)
        self._stream.write_batch(self._made.batch(rows))

    def end_step(self) -> None:
        self.hand_over()
        if self._stream is None or self._file is None:
            return
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

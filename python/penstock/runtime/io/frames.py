"""DataFrames of Spark as sources and sinks: what of them travels, and what a task does.

A DataFrame itself stays on the driver. A task of such a source is given the Arrow batches of its partitions by whoever
runs it; one of such a sink sends Arrow batches, as bytes, which end on executors again (:mod:`penstock.spark.frames`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.exchange.gate import TABLE
from penstock.runtime.io.arrow_rows import ArrowWriter, records, size
from penstock.runtime.io.sinks import Buffered, BuiltinSink, SinkWriter
from penstock.runtime.io.sources import BatchSource


@dataclass(frozen=True, eq=False)
class FrameSource(BatchSource):
    """The rows of a DataFrame.

    Attributes:
        schema: of the DataFrame, as ``jsonValue()`` gives it.
        declared: type of the records.
        frame: the DataFrame; on the driver only.
        given: Arrow batches of a subtask's partitions; in a task only.
    """

    schema: Mapping[str, Any]
    declared: TypeInformation[Any]
    frame: Any = field(default=None, repr=False)
    given: Iterable[Any] | None = field(default=None, repr=False)

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
        """Sends Arrow batches."""
        assert self.schema is not None, "the deployment knows it"
        made, kind = ArrowWriter(self.schema), TABLE - self.number

        def send(rows: list[tuple[Any, ...]]) -> None:
            context.send(kind, made.batch(rows).serialize().to_pybytes())

        return Buffered(made.values, size, send)

"""StreamSource: runs a source function; FileReader: turns file splits into lines.

Sources of the semantics: ``StreamSource``, ``ContinuousFileReaderOperator`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import UnsupportedError
from penstock.runtime.binding import bind, lifecycle
from penstock.runtime.context import OperatorContext
from penstock.runtime.files import FileSplit, read_lines
from penstock.runtime.operators.base import LiveOperator, StreamOperator
from penstock.runtime.outputs import Collector, Output
from penstock.runtime.sources import BatchSource
from penstock.runtime.steps import Pause, in_steps, next_stride


@dataclass(frozen=True, eq=False)
class StreamSource(StreamOperator):
    """The head of a source task.

    Attributes:
        function: a source of :mod:`penstock.runtime.sources`, or a user object with ``run(ctx)`` and optional ``open``,
            ``close``, ``cancel``.
    """

    function: Any

    def prepare(self, parallelism: int) -> StreamSource:
        if isinstance(self.function, BatchSource):
            return replace(self, function=self.function.prepare(parallelism))
        return self

    def build(self, context: OperatorContext, output: Output) -> SourceOperator:
        return SourceOperator(context, output, self.function)


class SourceContext:
    """The ``ctx`` of a source function's ``run``."""

    __slots__ = ("_collect", "_pause", "emitted")

    def __init__(self, collect: Collector, pause: Pause) -> None:
        self._collect = collect
        self._pause = pause
        self.emitted = 0

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        self.collect_with_timestamp(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        """Emit a record with a timestamp in milliseconds."""
        self.emitted += 1
        self._collect(value, timestamp)
        self._pause()

    def emit_watermark(self, watermark: Any) -> None:
        """Not supported yet."""
        raise UnsupportedError("Watermarks are not supported yet; leave ctx.emit_watermark() out.")


class SourceOperator(LiveOperator):
    """A source in one subtask: nothing comes in, :meth:`run` makes the records."""

    def __init__(self, context: OperatorContext, output: Output, function: Any) -> None:
        super().__init__(context, output, function)
        self._emitted = 0

    def main_records(self, records_in: int) -> int:
        return self._emitted

    def run(self, backlog: Callable[[], bool]) -> Iterator[None]:
        """Emit everything; yields now and then, so that the rows made meanwhile can leave the task.

        Args:
            backlog: whether rows wait to leave.
        """
        if isinstance(self.function, BatchSource):
            return self._run_batches(self.function, backlog)
        return self._run_function(bind(self.function, "run"), backlog)

    def _run_batches(self, source: BatchSource, backlog: Callable[[], bool]) -> Iterator[None]:
        collect, context = self.output.collect, self.context
        batches = self.call(source.batches, context.subtask, context.vertex.parallelism)
        while (batch := self.call(next, batches, None)) is not None:
            position, stride = 0, 1
            while position < len(batch):
                for value in batch[position : position + stride]:
                    collect(value, None)
                position += stride
                waiting = backlog()
                stride = next_stride(stride, waiting)
                if waiting:
                    yield
            self._emitted += len(batch)

    def _run_function(self, run: Callable[[Any], None], backlog: Callable[[], bool]) -> Iterator[None]:
        contexts: list[SourceContext] = []

        def body(pause: Pause) -> None:
            contexts.append(SourceContext(self.output.collect, lambda: pause() if backlog() else None))
            self.call(run, contexts[0])

        ended = False
        try:
            yield from in_steps(body)
            ended = True
        finally:
            cancel = None if ended else lifecycle(self.function, "cancel")
            if cancel is not None:
                cancel()
        self._emitted = contexts[0].emitted


@dataclass(frozen=True, eq=False)
class FileReader(StreamOperator):
    """Splits of files in, their lines out (Flink's node "Split Reader").

    Attributes:
        charset: encoding of the files.
    """

    charset: str = "UTF-8"

    def build(self, context: OperatorContext, output: Output) -> LiveOperator:
        return _FileReader(context, output, self.charset)


class _FileReader(LiveOperator):
    def __init__(self, context: OperatorContext, output: Output, charset: str) -> None:
        super().__init__(context, output)
        self._charset = charset

    def input(self, number: int) -> Collector:
        collect, fail, charset = self.output.collect, self.context.fail, self._charset
        emitted = 0

        def process(split: FileSplit, timestamp: int | None) -> None:
            nonlocal emitted
            try:
                for lines in read_lines(split, charset):
                    for line in lines:
                        collect(line, timestamp)
                    emitted += len(lines)
            except Exception as error:
                raise fail(error) from error

        self.main_records = lambda records_in: emitted
        return process

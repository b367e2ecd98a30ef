"""StreamSource: runs a source function; FileReader: turns file splits into lines.

Sources of the semantics: ``StreamSource``, ``ContinuousFileReaderOperator`` (Flink 1.11).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.common import contexts
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.runtime.buffers.signals import MAX_WATERMARK, LatencyMarker
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import ChainingOutput, Collector, CountingOutput, StreamStatus
from penstock.runtime.io.file_source import read_text
from penstock.runtime.io.frames import FrameSource
from penstock.runtime.io.sources import Batch, BatchSource
from penstock.runtime.io.splits import Split, SplitSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.usercode.binding import bind, lifecycle
from penstock.runtime.usercode.steps import STRIDE, Pause, in_steps, next_stride


@dataclass(frozen=True, eq=False)
class StreamSource(StreamOperator):
    """The head of a source task.

    Attributes:
        function: a source of :mod:`penstock.runtime.io.sources`, or a user object with ``run(ctx)`` and optional
            ``open``, ``close``, ``cancel``.
        watermarks: the strategy that is applied to its records where they are read; None for none.
    """

    function: Any
    watermarks: WatermarkStrategy[Any] | None = None

    @property
    def toggles(self) -> bool:
        """A watermark generator may declare the source idle."""
        return self.watermarks is not None

    @property
    def keeps_output(self) -> bool:
        """A generator of the user's looks at a record that has been emitted already."""
        return self.watermarks is not None and self.watermarks.kind == "generator"

    def prepare(self, parallelism: int) -> StreamSource:
        if isinstance(self.function, BatchSource):
            return replace(self, function=self.function.prepare(parallelism))
        return self

    def build(self, context: OperatorContext, output: CountingOutput) -> SourceOperator:
        if self.watermarks is None:
            return SourceOperator(context, output, self.function)
        splits = _together(self.function, context.subtask)
        assigner = TimestampsAndWatermarks(self.watermarks, splits).build(context, output)
        return _TimedSource(context, assigner, self.function)


class SourceContext(contexts.SourceContext[Any]):
    """The ``ctx`` of a source function's ``run``."""

    __slots__ = ("_breathe", "_collect", "_context", "_idle", "_output", "_pause", "_rounds", "_silent", "emitted")

    def __init__(
        self, output: CountingOutput, context: OperatorContext, backlog: Callable[[], bool], breathe: Pause
    ) -> None:
        self._output = output
        self._breathe = breathe
        self._collect = output.collect
        self._context = context
        self._pause = lambda: breathe() if backlog() else None
        self._silent = context.job.settings.batch
        self._idle = False
        self._rounds = 0
        self.emitted: int = 0

    def __repr__(self) -> str:
        return f"<SourceContext emitted={self.emitted}>"

    def collect(self, value: Any) -> None:
        """Emit a record without a timestamp."""
        self.collect_with_timestamp(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        """Emit a record with a timestamp in milliseconds."""
        if self._idle:
            self._set_idle(False)
        self.emitted += 1
        self._collect(value, timestamp)
        self._pause()

    def emit_watermark(self, watermark: Any) -> None:
        """Promise that no record with this timestamp or a smaller one is to come. In BATCH mode nobody asks.

        Args:
            watermark: a Watermark, or its milliseconds.
        """
        if self._idle:
            self._set_idle(False)
        if not self._silent:
            self._output.watermark(getattr(watermark, "timestamp", watermark))
        self._pause()

    def mark_as_temporarily_idle(self) -> None:
        """Hold nobody's watermark back until the next record or watermark."""
        if not self._idle:
            self._set_idle(True)

    def end_round(self) -> None:
        """Everything that all sources have emitted before their n-th call of this is processed before anything they
        emit after it. (Penstock's own: what aligned barriers are to Flink, and a micro-batch to Spark.)"""
        self._rounds += 1
        self._context.begin_round(self._rounds)
        self._breathe()

    def _set_idle(self, idle: bool) -> None:
        self._idle = idle
        self._context.toggle(not idle)

    def end(self) -> None:
        """The source has ended, so it is idle no more."""
        if self._idle:
            self._set_idle(False)


class SourceOperator(LiveOperator):
    """A source in one subtask: nothing comes in, :meth:`run` makes the records."""

    emitted: int = 0

    def read(self, batches: Iterable[Any]) -> None:
        """Take what the source reads, if it is not the one who opens it.

        Args:
            batches: of Arrow, the rows of a DataFrame.
        """
        if isinstance(self.function, FrameSource):
            self.function = self.function.reading(batches)

    def run(self, backlog: Callable[[], bool]) -> Iterator[None]:
        """Emit everything; yields now and then, so that the rows made meanwhile can leave the task.

        Args:
            backlog: whether rows wait to leave.
        """
        interval = self.context.job.settings.latency_interval
        if interval > 0:
            backlog = self._with_markers(backlog, interval)
        if isinstance(self.function, BatchSource):
            return self._run_batches(self.function, backlog)
        return self._run_function(bind(self.function, "run"), backlog)

    def _with_markers(self, backlog: Callable[[], bool], interval: int) -> Callable[[], bool]:
        """``backlog``, and a latency marker whenever so many milliseconds have passed."""
        context, due = self.context, self.context.clock.now()

        def look() -> bool:
            nonlocal due
            now = context.clock.now()
            if now >= due:
                due = now + interval
                self.output.latency(LatencyMarker(now, context.config.operator_id, context.subtask))
            return backlog()

        return look

    def _run_batches(self, source: BatchSource, backlog: Callable[[], bool]) -> Iterator[None]:
        context = self.context
        batches = context.call(source.batches, context.subtask, context.vertex.parallelism)
        while (batch := context.call(next, batches, None)) is not None:
            values, position, stride = batch.values if isinstance(batch, Batch) else batch, 0, 1
            feed = self._feed(batch)
            while position < len(values):
                feed(position, position + stride)
                position += stride
                waiting = backlog()
                stride = next_stride(stride, waiting)
                if waiting:
                    yield
            self.emitted += len(values)

    def _feed(self, batch: Sequence[Any] | Batch) -> Callable[[int, int], None]:
        """What emits the records of a batch from one position to another."""
        if isinstance(batch, Batch):
            return _timed(batch, self._output_of(batch.split))
        feed = self.output.feed
        return lambda start, end: feed(batch[start:end], None)  # type: ignore[arg-type]

    def _output_of(self, split: int) -> CountingOutput:
        """Where the records of a split go."""
        return self.output

    def _run_function(self, run: Callable[[Any], None], backlog: Callable[[], bool]) -> Iterator[None]:
        contexts: list[SourceContext] = []

        def body(pause: Pause) -> None:
            contexts.append(SourceContext(self.output, self.context, backlog, pause))
            self.context.call(run, contexts[0])

        try:
            yield from in_steps(body)
        except BaseException:  # its own, or nobody reads on
            cancel = lifecycle(self.function, "cancel")
            if cancel is not None:
                cancel()
            raise
        contexts[0].end()
        self.emitted = contexts[0].emitted

    def close(self) -> None:
        """Close the source function; then it is the end of time for the chain."""
        ended = self._opened
        super().close()
        if ended:
            self.output.watermark(MAX_WATERMARK)

    def dispose(self) -> None:
        """Close the source function without a word to the chain, should that not have happened."""
        with contextlib.suppress(Exception):
            super().close()


def _timed(batch: Batch, output: CountingOutput) -> Callable[[int, int], None]:
    """What emits the records of a batch with their timestamps from one position to another, to an output."""
    values, timestamps = batch.values, batch.timestamps
    if timestamps is None:
        feed = output.feed
        return lambda start, end: feed(values[start:end], None)  # type: ignore[arg-type]
    collect = output.collect

    def emit(start: int, end: int) -> None:
        for value, timestamp in zip(values[start:end], timestamps[start:end], strict=True):
            collect(value, timestamp)

    return emit


class _TimedSource(SourceOperator):
    """A source that gives its records timestamps, and makes watermarks of them.

    Args:
        context: of the source.
        assigner: does so; it leads out of the operator.
        function: the source.
    """

    def __init__(self, context: OperatorContext, assigner: LiveOperator, function: Any) -> None:
        self._assigner = assigner
        self._split = 0
        status, splits = StreamStatus(), _together(function, context.subtask)
        self._ways = [ChainingOutput(assigner, number, None, status) for number in range(splits)]
        self._outputs = [CountingOutput(way) for way in self._ways]
        super().__init__(context, self._outputs[0], function)

    def _output_of(self, split: int) -> CountingOutput:
        """That of the split; those before have ended, as they are read one after the other."""
        if len(self._outputs) == 1:
            return self.output
        for each in range(self._split, split):
            self._assigner.end_part(each)  # type: ignore[attr-defined]
        self._split = split
        return self._outputs[split]

    def open(self) -> None:
        for way in self._ways:
            way.connect()
        self._assigner.open()
        super().open()

    def close(self) -> None:
        """What the assigner has to say of the last records comes before the end of time."""
        if self._opened:
            self._assigner.close()
        super().close()


def _together(function: Any, subtask: int) -> int:
    """How many sequences of watermarks there are in a subtask of a source."""
    several = isinstance(function, SplitSource) and function.source.together
    return max(len(function.dealt[subtask]), 1) if several else 1


@dataclass(frozen=True, eq=False)
class FileReader(StreamOperator):
    """Splits of files in, their lines out (Flink's node "Split Reader").

    Attributes:
        charset: encoding of the files.
    """

    charset: str = "UTF-8"

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _FileReader(context, output, self.charset)


class _FileReader(LiveOperator):
    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, charset: str) -> None:
        super().__init__(context, output)
        self._charset = charset

    def input(self, number: int) -> Collector:
        feed, fail, charset = self.output.feed, self.context.fail, self._charset

        def process(split: Split, timestamp: int | None) -> None:
            try:
                for records in read_text(split, charset):
                    lines: list[Any] = records.values  # type: ignore[assignment] - it is one
                    for start in range(0, len(lines), STRIDE):
                        feed(lines[start : start + STRIDE], timestamp)
                    self.emitted += len(lines)
            except Exception as error:
                raise fail(error) from error

        return process

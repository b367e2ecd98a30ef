"""StreamSource: runs a source function; FileReader and FormatReader: turn file splits into records. Sources of the
semantics: ``StreamSource``, ``ContinuousFileMonitoringFunction``, ``ContinuousFileReaderOperator`` (Flink 1.11)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from types import ModuleType
from typing import Any

from penstock.common import contexts
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.runtime import native
from penstock.runtime.buffers.signals import MAX_WATERMARK, LatencyMarker
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import ChainingOutput, Collector, CountingOutput, StreamStatus
from penstock.runtime.chain.segments import Columnar, ColumnsEmitter
from penstock.runtime.config.steps import Reading
from penstock.runtime.io.file_format import FileFormat
from penstock.runtime.io.file_source import read_text, why_decoded
from penstock.runtime.io.sources import Batch, BatchSource
from penstock.runtime.io.splits import Records, Split, SplitSource
from penstock.runtime.operators.source_reader import Reader, reader_of
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.usercode.interpreter import next_stride
from penstock.runtime.usercode.turns import Turns
from penstock.storage.storage import Dated


@dataclass(frozen=True, eq=False)
class StreamSource(StreamOperator):
    """The head of a source task. ``function`` is a source of :mod:`penstock.runtime.io.sources`, or a user object
    with ``run(ctx)`` and optional ``open``, ``close``, ``cancel``; ``watermarks`` are made where records are read."""

    function: Any
    watermarks: WatermarkStrategy[Any] | None = None
    program: str | None = field(default=None, kw_only=True)  # the timestamp assigner, compiled

    @property
    def keeps_state(self) -> bool:
        return True

    @property
    def unbounded(self) -> bool:
        return not getattr(self.function, "bounded", True)

    @property
    def toggles(self) -> bool:
        """A watermark generator may declare the source idle between two records."""
        return self.watermarks is not None and not self._says_nothing

    @property
    def _says_nothing(self) -> bool:
        """Whether the strategy adds nothing to what the source reads: no timestamps, no watermarks, no idleness."""
        strategy, pulled = self.watermarks, isinstance(self.function, SplitSource | BatchSource)
        return pulled and strategy is not None and strategy.says_nothing

    @property
    def keeps_output(self) -> bool:
        """A generator of the user's looks at a record that has been emitted already."""
        return self.watermarks is not None and self.watermarks.kind == "generator"

    @property
    def hands_over(self) -> str:
        kind = type(self.function).__name__ if isinstance(self.function, BatchSource) else ""
        timed = "" if self.watermarks is None or self._says_nothing else self.watermarks.signature
        return f"{super().hands_over}/{kind}/{timed}"

    def prepare(self, parallelism: int) -> StreamSource:
        if isinstance(self.function, BatchSource):
            return replace(self, function=self.function.prepare(parallelism))
        return self

    def build(self, context: OperatorContext, output: CountingOutput) -> SourceOperator:
        if self.watermarks is None:
            return SourceOperator(context, output, self.function)
        if self._says_nothing:
            return _SilentSource(context, output, self.function)
        assigner = TimestampsAndWatermarks(self.watermarks, program=self.program)
        return _TimedSource(context, assigner.build(context, output), self.function)


class SourceOperator(LiveOperator):
    """A source in one subtask: nothing comes in, :meth:`step` makes the records."""

    emitted: int = 0
    _quiet = False

    def read(self, batches: Iterable[Any]) -> None:
        """Take what the source reads, if it is not the one who opens it: the rows of a DataFrame, as Arrow batches."""
        if isinstance(self.function, BatchSource):
            self.function = self.function.reading(batches)

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

    @cached_property
    def reader(self) -> Reader:
        return reader_of(self)

    def step(self, reading: Reading, backlog: Callable[[], bool]) -> Iterator[None]:
        """Emit what belongs to a step; yields now and then, so that the rows made meanwhile can leave the task."""
        interval = self.context.job.settings.latency_interval
        return self.reader.step(reading, self._with_markers(backlog, interval) if interval > 0 else backlog)

    def emitter(self, batch: Batch, split: str) -> Callable[[int, int], None]:
        """A function that emits the records of a batch from one position to another."""
        if self._quiet:
            self._quiet = False
            self.context.toggle(True)
        return _timed(batch, self._output_for(split), self._columnar(split))

    def takes_columns(self, split: str) -> bool:
        """Whether the records of a split may go on as columns."""
        return self._columnar(split) is not None

    def _columnar(self, split: str) -> Columnar | None:
        """The way for the records of a split as columns; None where they go as objects."""
        return self.output.columns

    def _output_for(self, split: str) -> CountingOutput:
        return self.output

    def signal(self, split: str, watermark: int | None, idle: bool) -> None:
        """Take what a source says beside its records."""
        if watermark is not None and not self.context.job.settings.batch:
            self._output_for(split).watermark(watermark)
        if idle and not self._quiet:
            self._quiet = True
            self.context.toggle(False)

    def context_of(self, backlog: Callable[[], bool], turns: Turns) -> SourceContext:
        return SourceContext(self.output, self.context, backlog, turns)

    def begin_splits(self, splits: Iterable[str]) -> None:
        """These splits are read: those that are there all the time have watermarks of their own from here on."""

    def end_split(self, split: str) -> None:
        """A split has been read to its end for good: it holds nobody's watermark back."""

    def close(self) -> None:
        """Close the source function; then it is the end of time for the chain."""
        ended = self._opened
        super().close()
        if ended:
            self.output.watermark(MAX_WATERMARK)

    def dispose(self) -> None:
        with contextlib.suppress(Exception):
            self.reader.close()
        with contextlib.suppress(Exception):
            super().close()


def _timed(batch: Batch, output: CountingOutput, columnar: Columnar | None) -> Callable[[int, int], None]:
    """A function that emits the records of a batch with their timestamps from one position to another, to an output, or
    as columns if they can be."""
    values, timestamps = batch.values, batch.timestamps
    columns = None if columnar is None else columnar.columns_of(values, timestamps)
    if columnar is not None and columns is not None:
        return ColumnsEmitter(columnar, columns)
    if timestamps is None:
        feed = output.feed
        return lambda start, end: feed(values[start:end], None)  # type: ignore[arg-type]
    collect, feed_run = output.collect, output.feed

    def emit(start: int, end: int) -> None:
        first = start
        for time, equal in groupby(timestamps[start:end]):
            last = first + len(list(equal))
            if last - first > 1:
                feed_run(values[first:last], time)  # type: ignore[arg-type]
            else:
                collect(values[first], time)
            first = last

    return emit


class _SilentSource(SourceOperator):
    """A source whose strategy has no watermarks: those that it might say itself do not count, but for the last."""

    def signal(self, split: str, watermark: int | None, idle: bool) -> None:
        super().signal(split, None, idle)


class _TimedSource(SourceOperator):
    """A source that gives its records timestamps and makes watermarks of them, by an assigner that leads out of the
    operator."""

    def __init__(self, context: OperatorContext, assigner: LiveOperator, function: Any) -> None:
        self._assigner = assigner
        self._parts: dict[str, int] = {}  # by split
        self._columnars: dict[int, Columnar | None] = {}  # by part
        self._status = StreamStatus()
        self._ways = [ChainingOutput(assigner, 0, None, self._status)]
        self._outputs = [CountingOutput(way) for way in self._ways]
        super().__init__(context, self._outputs[0], function)

    def _output_for(self, split: str) -> CountingOutput:
        """That of the split, if splits are there all the time; else there is but one."""
        function = self.function
        if not (isinstance(function, SplitSource) and function.source.together):
            return self.output
        part = self._parts.setdefault(split, len(self._parts))
        while part >= len(self._outputs):
            self._ways.append(ChainingOutput(self._assigner, self._assigner.add_part(), None, self._status))  # type: ignore[attr-defined]
            self._outputs.append(CountingOutput(self._ways[-1].connect()))
        return self._outputs[part]

    def _columnar(self, split: str) -> Columnar | None:
        self._output_for(split)
        part = self._parts.get(split, 0)
        if part not in self._columnars:
            self._columnars[part] = self._assigner.columns(part)  # type: ignore[attr-defined]
        return self._columnars[part]

    def begin_splits(self, splits: Iterable[str]) -> None:
        for split in splits:
            self._output_for(split)

    def end_split(self, split: str) -> None:
        if split in self._parts:
            self._assigner.end_part(self._parts[split])  # type: ignore[attr-defined]

    def end_step(self) -> None:
        super().end_step()
        self._assigner.end_step()

    @property
    def ticks(self) -> bool:
        return self._assigner.ticks

    def volatile(self) -> Any:
        return super().volatile(), self._parts, self._assigner.volatile()

    def resume(self, volatile: Any) -> None:
        operator, parts, assigner = volatile
        super().resume(operator)
        for split in parts:
            self._output_for(split)
        self._assigner.resume(assigner)

    def open(self) -> None:
        for way in self._ways:
            way.connect()
        self._assigner.open()
        super().open()

    def close(self) -> None:
        """The assigner's last watermark comes before the end of time."""
        if self._opened:
            self._assigner.close()
        super().close()


class SourceContext(contexts.SourceContext[Any]):
    """The ``ctx`` of a source function's ``run``. Where the step ends only with the function, as in a bounded job,
    calls go straight into the chain. Elsewhere the step may end while the function sleeps, so each call waits for
    the function's turn. ``over`` says whether the function has done its part of the step."""

    def __init__(
        self, output: CountingOutput, context: OperatorContext, backlog: Callable[[], bool], turns: Turns
    ) -> None:
        self._output, self._collect = output, output.collect
        self._context, self._backlog, self._turns = context, backlog, turns
        self._silent = context.job.settings.batch
        self._idle = self._stamps = self._waits = self.over = False
        self._send = self._emit_in_turn
        self._calls = self._passed = self._rounds = self._left = 0
        self.emitted: int = 0

    def __repr__(self) -> str:
        return f"<SourceContext emitted={self.emitted}>"

    @property
    def position(self) -> tuple[int, int]:
        """Calls so far, and rounds ended. Calls are not counted where the step waits for the function."""
        return self._calls, self._rounds

    def skip(self, calls: int, rounds: int) -> None:
        """The first so many calls have had their effect before."""
        self._calls, self._rounds = calls, rounds
        self._passed = calls

    def begin_step(self, records: int, *, waits: bool, stamps: bool) -> None:
        """A step begins, of so many records. If it ``waits`` for the function, it may emit more; with ``stamps`` the
        step goes on where the function ends a round."""
        self._left, self._waits, self._stamps, self.over = records, waits, stamps, False
        self._send = self._emit if waits else self._emit_in_turn

    def end(self) -> None:
        """The source has ended, so it is idle no more."""
        if self._idle:
            self._set_idle(False)

    def collect(self, value: Any) -> None:
        self._send(value, None)

    def collect_with_timestamp(self, value: Any, timestamp: int | None) -> None:
        self._send(value, timestamp)

    def emit_watermark(self, watermark: Any) -> None:
        self._in_turn(lambda: self._emit_watermark(getattr(watermark, "timestamp", watermark)))

    def mark_as_temporarily_idle(self) -> None:
        self._in_turn(lambda: self._idle or self._set_idle(True), idle=True)

    def end_round(self) -> None:
        self._in_turn(self._end_round, idle=None)

    def _in_turn(self, call: Callable[[], object], *, idle: bool | None = False) -> None:
        """Make a call of the function, unless it has had its effect; then only know whether the source is idle since,
        as the chain does."""
        if self._waits:
            call()
            return
        if self._passed:
            self._passed -= 1
            self._idle = self._idle if idle is None else idle
            return
        self._turns.enter()
        try:
            self._calls += 1
            call()
        finally:
            self._turns.leave()

    def _emit(self, value: Any, timestamp: int | None) -> None:
        if self._idle:
            self._set_idle(False)
        self.emitted += 1
        self._collect(value, timestamp)
        if self._backlog():
            self._turns.pause()

    def _emit_in_turn(self, value: Any, timestamp: int | None) -> None:
        def emit() -> None:
            self._emit(value, timestamp)
            self._left -= 1
            if self._left <= 0:
                self._end_step()

        self._in_turn(emit)

    def _emit_watermark(self, millis: int) -> None:
        if self._idle:
            self._set_idle(False)
        if not self._silent:
            self._output.watermark(millis)
        if self._backlog():
            self._turns.pause()

    def _end_round(self) -> None:
        self._rounds += 1
        if self._stamps:
            self._context.begin_round(self._rounds)
            self._turns.pause()
        else:
            self._end_step()

    def _end_step(self) -> None:
        self.over = True
        self._turns.pause()

    def _set_idle(self, idle: bool) -> None:
        self._idle = idle
        self._context.toggle(not idle)


@dataclass(frozen=True, eq=False)
class FileReader(StreamOperator):
    """Splits of files in, their lines out (Flink's node "Split Reader")."""

    charset: str = "UTF-8"

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        return _SplitReader(context, output, partial(read_text, charset=self.charset))

    def why_objects(self, functions: ModuleType) -> str:
        """As :meth:`~penstock.runtime.io.file_format.FileFormat.why_objects`."""
        return why_decoded(self.charset)


@dataclass(frozen=True)
class FormatPieces:
    """Cuts files of a format."""

    format: FileFormat[Any]

    def __call__(self, file: Dated) -> list[Split]:
        return self.format.pieces(file, splittable=True)


@dataclass(frozen=True, eq=False)
class FormatReader(StreamOperator):
    """Splits of files in, their records out (Flink's node "Split Reader")."""

    format: FileFormat[Any]

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        settings = context.job.settings
        functions = native.functions(settings.native and settings.native_plane)
        read = self.format.read if functions is None else partial(self.format.read_columns, functions=functions)
        return _SplitReader(context, output, read)

    def why_objects(self, functions: ModuleType) -> str:
        """As :meth:`~penstock.runtime.io.file_format.FileFormat.why_objects`."""
        return self.format.why_objects(functions)


class _SplitReader(LiveOperator):
    emitted: int = 0

    def __init__(
        self, context: OperatorContext, output: CountingOutput, read: Callable[[Split], Iterator[Records[Any]]]
    ) -> None:
        super().__init__(context, output)
        self._read = read

    def input(self, number: int) -> Collector:
        output, fail, look, read = self.output, self.context.fail, self.context.look, self._read

        def process(split: Split, timestamp: int | None) -> None:
            stride = 1
            try:
                for records in read(split):
                    values, position = records.values, 0
                    times = None if timestamp is None else [timestamp] * len(values)
                    emit = _timed(Batch(values, times), output, output.columns)
                    while position < len(values):
                        end = min(position + stride, len(values))
                        emit(position, end)
                        self.emitted += end - position
                        position = end
                        stride = next_stride(stride, look())
            except Exception as error:
                raise fail(error) from error

        return process

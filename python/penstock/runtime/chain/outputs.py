"""Outputs: where the records, watermarks and latency markers of an operator go.

In the *list form* of a chain an operator emits to its :class:`CountingOutput`. Behind it, for each edge in order, is a
:class:`ChainingOutput` to the next operator (or its copying form) or a :class:`RecordWriterOutput` at the chain's
border, with a :class:`BroadcastingOutputCollector` in front where there are several. The *fused form* (:mod:`.fusion`)
replaces how records travel; watermarks and markers always go through the objects.

Copies: with ``pipeline.object-reuse`` nothing is copied. Otherwise a chained operator gets the object itself where
nobody else can hold it, as in PyFlink, and a copy where another reader of the same output, or the state of the operator
that emits it, would see it change. So chained and unchained programs agree. Flink copies at every step of a chain.
Sources of the semantics: ``OperatorChain``, ``CountingOutput``, ``RecordWriterOutput`` (Flink 1.11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from penstock.runtime.buffers.signals import MIN_WATERMARK, Advance, LatencyMarker
from penstock.runtime.exchange.writer import Fail, Writer

Collector = Callable[[Any, "int | None"], None]  # takes a record and its timestamp
Feed = Callable[[list[Any], "int | None"], None]  # takes records that have one timestamp
Copy = Callable[[Any], Any]


class Taker(Protocol):
    """The part of an operator that a :class:`ChainingOutput` needs."""

    def input(self, number: int) -> Collector: ...
    def watermark(self, number: int) -> Advance: ...
    def latency(self, marker: LatencyMarker) -> None: ...


@dataclass(slots=True)
class StreamStatus:
    """Whether a task is active; while it is idle no watermark passes inside (Flink: StreamStatusMaintainer)."""

    active: bool = True


class Output:
    """A place to emit to."""

    __slots__ = ()

    def collect(self, value: Any, timestamp: int | None) -> None:
        raise NotImplementedError

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        raise NotImplementedError

    def watermark(self, watermark: int) -> None:
        """Take a watermark; they go to all outputs, side outputs too."""
        raise NotImplementedError

    def latency(self, marker: LatencyMarker) -> None:
        """Take a latency marker; it goes one way only."""
        raise NotImplementedError


class _Tagged(Output):
    """Carries the records of a side output, or with None those of the main output."""

    __slots__ = ("_pass", "_tag")

    _pass: Collector

    def __init__(self, tag: str | None) -> None:
        self._tag = tag

    def collect(self, value: Any, timestamp: int | None) -> None:
        if self._tag is None:
            self._pass(value, timestamp)

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        if tag_id == self._tag:
            self._pass(value, timestamp)


class ChainingOutput(_Tagged):
    """Calls an input of the next operator of the chain."""

    __slots__ = ("_advance", "_number", "_status", "target")

    def __init__(self, operator: Taker, number: int, tag: str | None, status: StreamStatus) -> None:
        super().__init__(tag)
        self.target, self._number, self._status = operator, number, status
        self._advance = operator.watermark(number)

    def connect(self) -> ChainingOutput:
        """Get hold of the operator's collector; without it records do not pass here."""
        self._pass = self.target.input(self._number)
        return self

    def watermark(self, watermark: int) -> None:
        if self._status.active:
            self._advance(watermark)

    def latency(self, marker: LatencyMarker) -> None:
        self.target.latency(marker)


class CopyingChainingOutput(ChainingOutput):
    """Hands a copy of each record to the next operator. What ``copy`` raises is a failure of the emitting operator."""

    __slots__ = ("_copy", "_fail")

    def __init__(
        self, operator: Taker, number: int, tag: str | None, status: StreamStatus, copy: Copy, fail: Fail
    ) -> None:
        super().__init__(operator, number, tag, status)
        self._copy, self._fail = copy, fail

    def connect(self) -> ChainingOutput:
        collect, copy, fail = self.target.input(self._number), self._copy, self._fail

        def pass_copy(value: Any, timestamp: int | None) -> None:
            try:
                copied = copy(value)
            except Exception as error:
                raise fail(error) from error
            collect(copied, timestamp)

        self._pass = pass_copy
        return self


class RecordWriterOutput(_Tagged):
    """Leads out of the chain, over the exchange."""

    __slots__ = ("writer",)

    def __init__(self, writer: Writer, tag: str | None) -> None:
        super().__init__(tag)
        self.writer, self._pass = writer, writer.write

    def watermark(self, watermark: int) -> None:
        self.writer.watermark(watermark)

    def latency(self, marker: LatencyMarker) -> None:
        self.writer.latency(marker)


class BroadcastingOutputCollector(Output):
    """Gives everything to several outputs, in their order; a latency marker to one of them, drawn at random. Where
    copies are needed these are :class:`CopyingChainingOutput` objects, but for the last, which may have the object
    itself."""

    __slots__ = ("_draw", "outputs")

    def __init__(self, outputs: Sequence[Output], draw: Callable[[], float]) -> None:
        self.outputs = outputs
        self._draw = draw

    def collect(self, value: Any, timestamp: int | None) -> None:
        for output in self.outputs:
            output.collect(value, timestamp)

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        for output in self.outputs:
            output.collect_side(tag_id, value, timestamp)

    def watermark(self, watermark: int) -> None:
        for output in self.outputs:
            output.watermark(watermark)

    def latency(self, marker: LatencyMarker) -> None:
        if self.outputs:
            self.outputs[int(self._draw() * len(self.outputs))].latency(marker)


class Target(NamedTuple):
    """An output as plain data, from which both forms are made."""

    tag: str | None  # of the side output, None for the main output
    writer: Writer | None = None  # at the border of the chain; else there is a next operator, and its input
    position: int = -1
    number: int = 0
    copy: Copy | None = None  # makes the copies that the operator is given, None for none
    crosses: bool = False
    """Whether these are other values than the records, so that what cannot change is not given as it is."""


class CountingOutput(Output):
    """The output of an operator: counts, and remembers the last watermark. ``records`` are those of the main output,
    as far as they came through here; ``side_records`` those of side outputs by tag id, read by anybody or not."""

    __slots__ = ("current_watermark", "inner", "records", "side_records")

    columns: Any = None
    """Takes batches of columns; None where only objects can go."""

    def __init__(self, inner: Output) -> None:
        self.inner: Output = inner
        self.records: int = 0
        self.side_records: dict[str, int] = {}
        self.current_watermark: int = MIN_WATERMARK

    def forget_columns(self) -> None:
        """Find ``columns`` once more when they are asked for."""

    def collect(self, value: Any, timestamp: int | None) -> None:
        self.records += 1
        self.inner.collect(value, timestamp)

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        self.count_side(tag_id)
        self.inner.collect_side(tag_id, value, timestamp)

    def count_side(self, tag_id: str) -> None:
        self.side_records[tag_id] = self.side_records.get(tag_id, 0) + 1

    def feed(self, values: Iterable[Any], timestamp: int | None) -> None:
        """Collect records of one timestamp, each as soon as it is there. The fused form does not ask for them where
        nobody takes any."""
        collect = self.collect
        for value in values:
            collect(value, timestamp)

    def timed_feed(self, values: Sequence[Any], times: Iterable[int | None]) -> None:
        collect = self.collect
        for value, timestamp in zip(values, times, strict=True):
            collect(value, timestamp)

    def timers(self, fragment: Any, *, event_time: bool) -> Any:
        """Fires timers and emits their results (:meth:`~.fusion.Text.timers`); None in the list form."""

    def watermark(self, watermark: int) -> None:
        self.current_watermark = watermark
        self.inner.watermark(watermark)

    def latency(self, marker: LatencyMarker) -> None:
        self.inner.latency(marker)

"""The way into a chain: what comes over one input goes through one :class:`Entry`, whatever form the chain has.

There are four ways for objects, and one is chosen when the chain is built:

- *listed*: record by record into the head (:mod:`.outputs`);
- *fused*: many records into a generated function (:mod:`.fusion`);
- *whole*: many records into the head, where it takes them by itself (:meth:`~.operator.LiveOperator.taker`);
- *native*: many records into the head's :class:`~.operator.Batch`, and its results into a generated function with the
  rest of the chain; typed columns in their bytes, where the head can take them whole.

Buffers of columns go into a native segment (:mod:`.segments`) without becoming objects, if the chain begins with one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from types import ModuleType
from typing import Any

from penstock.runtime.buffers.codec import Buffer, decode, unpack_extras
from penstock.runtime.buffers.columns import TAG as COLUMNS
from penstock.runtime.buffers.signals import (
    MAX_WATERMARK,
    MIN_WATERMARK,
    STATUS,
    WATERMARK,
    Advance,
    LatencyMarker,
    Signals,
)
from penstock.runtime.buffers.stamps import timestamps
from penstock.runtime.chain.fusion import Fusion, KeyedFeed, TimedFeed, TimedKeyedFeed
from penstock.runtime.chain.operator import Batch, LiveOperator, Take
from penstock.runtime.chain.outputs import Collector
from penstock.runtime.chain.segments import Fork, Segment
from penstock.runtime.exchange.gate import Channel
from penstock.runtime.usercode.interpreter import next_stride

Times = Iterator["int | None"] | None  # the timestamps of some records; None when no record has one
Put = Callable[[list[Any], Times, "list[Any] | None"], None]


class Listed:
    """Record by record into the head."""

    def __init__(self, collect: Collector) -> None:
        self._collect = collect

    def take(self, values: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        """Take records, in order; ``times`` may have more, which are left; ``keys`` are those of the input's
        selector, if known."""
        for value, time in zip(values, repeat(None) if times is None else times, strict=False):
            self._collect(value, time)


class Fused:
    """Many records into a generated function, for an input of the head."""

    def __init__(self, fusion: Fusion, number: int) -> None:
        self._fusion, self._number = fusion, number
        self._plain = fusion.into(0, number).feed()
        self._knows_keys = fusion.into(0, number).knows_keys()

    @cached_property
    def _timed(self) -> TimedFeed:
        return self._fusion.into(0, self._number).timed_feed()

    @cached_property
    def _keyed(self) -> KeyedFeed:
        return self._fusion.into(0, self._number).keyed_feed()

    @cached_property
    def _timed_keyed(self) -> TimedKeyedFeed:
        return self._fusion.into(0, self._number).timed_keyed_feed()

    def take(self, values: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        if keys is not None and self._knows_keys:
            if times is None:
                self._keyed(values, keys, None)
            else:
                self._timed_keyed(values, keys, times)
        elif times is None:
            self._plain(values, None)
        else:
            self._timed(values, times)


class Whole:
    """Many records into the head, which takes them by itself."""

    def __init__(self, take: Take, gathers: bool = False) -> None:
        self._take, self.gathers = take, gathers

    def take(self, values: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        self._take(values, times, keys)


class Native(Fused):
    """Many records into the head's batch; where it cannot take them, as in the fused way. The head has one input.
    ``columns`` gives the head's results on a buffer of typed columns; None: it has to be decoded."""

    def __init__(self, fusion: Fusion, head: LiveOperator, batch: Batch) -> None:
        super().__init__(fusion, 0)
        self.columns = batch.columns
        self._run = batch.run
        self._fail = head.context.fail
        self._rest = fusion.results_feed(0)

    @cached_property
    def _timed_rest(self) -> TimedFeed:
        return self._fusion.behind(0).timed_feed()

    def take(self, values: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        results: list[Any] = []
        done, failure = True, None
        try:
            done = self._run(values, keys, results)
        except Exception as error:
            failure = error
        if not done:
            super().take(values, times)
        elif results:
            self.results(results, times)
        if failure is not None:
            raise self._fail(failure) from failure

    def results(self, results: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        if times is None:
            self._rest(results, None)
        else:
            self._timed_rest(results, times)


@dataclass(slots=True)
class _Channel:
    watermark: int = MIN_WATERMARK
    active: bool = True
    aligned: bool = True


_UNKNOWN = _Channel()


class Valve:
    """The watermark and idleness of one input, out of those of its channels (Flink 1.11: ``StatusWatermarkValve``).

    The input's watermark is the minimum over its channels; idle and finished channels do not hold it back. A channel
    that comes back from idleness counts again when it has caught up with the minimum. Only growing watermarks pass.
    Cost: O(channels) per watermark of the channel that is last, O(1) for the others. ``advance`` takes the watermark,
    ``toggle`` whether any channel is active, when that changes.
    """

    def __init__(self, channels: Iterable[Hashable], advance: Advance, toggle: Callable[[bool], None]) -> None:
        self._channels = {name: _Channel() for name in channels}
        self._advance, self._toggle = advance, toggle
        self._last = MIN_WATERMARK
        self.active = True

    def volatile(self, *, by_senders: bool) -> tuple[int, bool, list[tuple[Hashable, int, bool, bool]]]:
        """The data that :meth:`resume` needs: channels whose state is not the first; with ``by_senders``, where it will
        have the statuses of all senders, only those whose state does not follow from these."""
        channels = [
            (name, at.watermark, at.active, at.aligned)
            for name, at in self._channels.items()
            if (at.aligned is not at.active if by_senders else at != _UNKNOWN)
        ]
        return self._last, self.active, channels

    def resume(
        self,
        volatile: tuple[int, bool, list[tuple[Hashable, int, bool, bool]]],
        statuses: Mapping[Channel, tuple[int, bool]],
    ) -> None:
        """Know what another one knew of the channels that are here too; ``statuses`` are those of their senders."""
        for name, (watermark, active) in statuses.items():
            self._channels[name] = _Channel(watermark, active, active)
        self._last, self.active, channels = volatile
        for name, watermark, active, aligned in channels:
            if name in self._channels:
                self._channels[name] = _Channel(watermark, active, aligned)

    def watermark(self, name: Hashable, watermark: int) -> None:
        channel = self._channels[name]
        before = channel.watermark
        if watermark <= before or not channel.active:
            return
        channel.watermark = watermark
        if not channel.aligned:
            if watermark < self._last:
                return
            channel.aligned = True
        elif before > self._last:  # others hold the minimum back
            return
        self._pass_minimum()

    def status(self, name: Hashable, active: bool) -> None:
        channel = self._channels[name]
        if channel.active is active:
            return
        channel.active = active
        if not active:
            self._idle(channel)
            return
        if channel.watermark >= self._last:
            channel.aligned = True
        if not self.active:
            self.active = True
            self._toggle(True)

    def end(self, name: Hashable) -> None:
        """A channel has ended: it comes back if it was idle, and holds nobody back any more."""
        self.status(name, True)
        self.watermark(name, MAX_WATERMARK)

    def end_all(self) -> None:
        """All channels have ended; the input's watermark is MAX_WATERMARK, also if it has no channel."""
        for name in self._channels:
            self.end(name)
        self._output(MAX_WATERMARK)

    def _idle(self, channel: _Channel) -> None:
        channel.aligned = False
        if any(other.active for other in self._channels.values()):
            if channel.watermark == self._last:
                self._pass_minimum()
            return
        if channel.watermark == self._last:
            self._output(max(other.watermark for other in self._channels.values()))
        self.active = False
        self._toggle(False)

    def _pass_minimum(self) -> None:
        aligned = [channel.watermark for channel in self._channels.values() if channel.aligned]
        if aligned:
            self._output(min(aligned))

    def _output(self, watermark: int) -> None:
        if watermark > self._last:
            self._last = watermark
            self._advance(watermark)


class Entry:
    """One input of a chain's head. ``backlog`` says whether rows wait that should leave the task; ``records`` and
    ``bytes`` are those read so far, and records count when they have been put."""

    def __init__(
        self,
        way: Listed | Fused | Whole,
        segment: Segment | Fork | None,
        valve: Valve,
        latency: Callable[[LatencyMarker], None],
        backlog: Callable[[], bool],
        functions: ModuleType | None,
    ) -> None:
        self.put, self.valve = way.take, valve
        self.records = self.bytes = 0
        self._native = way if isinstance(way, Native) else None
        self._gathers = isinstance(way, Whole) and way.gathers
        self.segment = segment
        self._latency, self._backlog, self._functions = latency, backlog, functions
        self._stride = 1

    def take(self, channel: Channel, data: bytes) -> Iterator[None]:
        """Take a buffer; pauses where rows of the chain may leave."""
        self.bytes += len(data)
        if self._native is not None and data[0] == COLUMNS:
            results = self._native.columns(data)
            if results is not None:
                return self.feed(results, put=self._native.results)
        if self.segment is not None and data[0] == COLUMNS and not self.segment.gives_up:
            return self._columns(channel, data, self.segment)
        if self.segment is not None and self.segment.flush is not None:
            self.segment.flush()
        buffer = decode(data, self._functions)
        values = buffer.values
        times = timestamps(buffer.stamps, len(values)) if buffer.stamps else None
        return self._mixed(channel, buffer, times) if buffer.signals else self.feed(values, times, buffer.keys)

    def feed(
        self, values: list[Any], times: Times = None, keys: list[Any] | None = None, put: Put | None = None
    ) -> Iterator[None]:
        """Take records, into ``put`` if that is another one; pauses where rows of the chain may leave. One record may
        be a split of a file or explode into millions, so where rows pile up that is after each."""
        put, position = put or self.put, 0
        while position < len(values):
            end = position + self._stride
            put(values[position:end], times, None if keys is None else keys[position:end])
            self.records += min(end, len(values)) - position
            position = end
            self._stride = next_stride(self._stride, self._backlog(), broad=self._gathers)
            yield

    def _columns(self, channel: Channel, data: bytes, segment: Segment | Fork) -> Iterator[None]:
        """Take a buffer of columns without making objects of it."""
        assert self._functions is not None
        batch, _, extras = self._functions.Batch.of_buffer(data)
        stamps, signals = unpack_extras(extras)
        if stamps:
            batch = batch.with_stamps(stamps if isinstance(stamps, list) else stamps.tobytes())

        def feed(start: int, end: int) -> Iterator[None]:
            while start < end:
                stop = min(start + self._stride, end)
                segment.take(batch, start, stop)
                self.records += stop - start
                start = stop
                self._stride = next_stride(self._stride, self._backlog(), broad=segment.broad)
                yield

        return self._between(channel, signals, len(batch), feed)

    def _mixed(self, channel: Channel, buffer: Buffer, times: Times) -> Iterator[None]:
        values, keys = buffer.values, buffer.keys

        def feed(start: int, end: int) -> Iterator[None]:
            return self.feed(values[start:end], times, None if keys is None else keys[start:end])

        return self._between(channel, buffer.signals, len(values), feed)

    def _between(
        self, channel: Channel, signals: Signals, count: int, feed: Callable[[int, int], Iterator[None]]
    ) -> Iterator[None]:
        """Take so many records, by ``feed``, and the signals among them."""
        position = 0
        for index, kind, payload in signals:
            if position < index:
                yield from feed(position, index)
                position = index
            if kind == WATERMARK:
                self.valve.watermark(channel, payload)
            elif kind == STATUS:
                self.valve.status(channel, bool(payload))
            else:
                self._latency(payload)
            if self._backlog():
                yield
        if position < count:
            yield from feed(position, count)

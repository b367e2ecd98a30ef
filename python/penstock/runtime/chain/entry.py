"""The way into a chain: what comes over one input goes through one :class:`Entry`, whatever form the chain has.

There are three ways for records, and one is chosen when the chain is built:

- *listed*: record by record into the head (:mod:`.outputs`);
- *fused*: many records into a generated function (:mod:`.fusion`);
- *native*: many records into the head's :class:`~.operator.Batch`, and its results into a generated function with the
  rest of the chain; typed columns in their bytes, where the head can take them whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import repeat
from types import ModuleType
from typing import Any

from penstock.runtime.buffers.codec import Buffer, decode
from penstock.runtime.buffers.columns import TAG as COLUMNS
from penstock.runtime.buffers.signals import STATUS, WATERMARK, LatencyMarker
from penstock.runtime.buffers.stamps import timestamps
from penstock.runtime.chain.fusion import Fusion, TimedFeed
from penstock.runtime.chain.operator import Batch, LiveOperator
from penstock.runtime.chain.outputs import Collector
from penstock.runtime.chain.valve import Valve
from penstock.runtime.exchange.gate import Channel
from penstock.runtime.usercode.interpreter import next_stride

Times = Iterator["int | None"] | None
"""The timestamps of some records; None when no record has one."""
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

    @cached_property
    def _timed(self) -> TimedFeed:
        return self._fusion.into(0, self._number).timed_feed()

    def take(self, values: list[Any], times: Times = None, keys: list[Any] | None = None) -> None:
        if times is None:
            self._plain(values, None)
        else:
            self._timed(values, times)


class Native(Fused):
    """Many records into the head's batch; where it cannot take them, as in the fused way. The head has one input.

    ``columns`` gives the head's results on a buffer of typed columns; None: it has to be decoded.
    """

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
        """Take results of the head into the rest of the chain."""
        if times is None:
            self._rest(results, None)
        else:
            self._timed_rest(results, times)


class Entry:
    """One input of a chain's head. ``backlog`` says whether rows wait that should leave the task; ``records`` and
    ``bytes`` are those read so far, and records count when they have been put."""

    def __init__(
        self,
        way: Listed | Fused,
        valve: Valve,
        latency: Callable[[LatencyMarker], None],
        backlog: Callable[[], bool],
        functions: ModuleType | None,
    ) -> None:
        self.put, self.valve = way.take, valve
        self.records = self.bytes = 0
        self._native = way if isinstance(way, Native) else None
        self._latency, self._backlog, self._functions = latency, backlog, functions
        self._stride = 1

    def take(self, channel: Channel, data: bytes) -> Iterator[None]:
        """Take a buffer; pauses where rows of the chain may leave."""
        self.bytes += len(data)
        if self._native is not None and data[0] == COLUMNS:
            results = self._native.columns(data)
            if results is not None:
                return self.feed(results, put=self._native.results)
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
            self._stride = next_stride(self._stride, self._backlog())
            yield

    def _mixed(self, channel: Channel, buffer: Buffer, times: Times) -> Iterator[None]:
        """The records of a buffer, and the signals among them."""
        values, position = buffer.values, 0
        for index, kind, payload in buffer.signals:
            if position < index:
                yield from self.feed(values[position:index], times)
                position = index
            if kind == WATERMARK:
                self.valve.watermark(channel, payload)
            elif kind == STATUS:
                self.valve.status(channel, bool(payload))
            else:
                self._latency(payload)
            if self._backlog():
                yield
        yield from self.feed(values[position:] if position else values, times)

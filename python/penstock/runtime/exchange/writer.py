"""Writers: the records of one output on their way into the buffers of its channels. A buffer of a
:class:`RecordWriter` is closed at so many records (``penstock.exchange.buffer-records``) or about so many bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple

from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import BasicTypeInfo, TupleTypeInfo
from penstock.runtime import native
from penstock.runtime.buffers.buffer_size import MOST_COLUMNS, MOST_RECORDS, TARGET_BYTES, room, sizes
from penstock.runtime.buffers.codec import Encoder, decode_value, encode, freezer, may_fit
from penstock.runtime.buffers.columns import UNKNOWN
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import STATUS, WATERMARK, ChannelStatus, LatencyMarker
from penstock.runtime.config.tasks import NetworkOutput
from penstock.runtime.exchange.channel import OutChannel
from penstock.runtime.exchange.gate import ENDED, Emit
from penstock.runtime.exchange.selectors import (
    ColumnParts,
    ColumnSplitter,
    RoundRobin,
    Selector,
    Shuffle,
    Split,
    Splitter,
    channel_selector,
    column_splitter,
    receivers,
    seed_of,
    splitter,
)
from penstock.runtime.keys.partition import CustomPartition, KeyPartition

Fail = Callable[[BaseException], BaseException]
Write = Callable[[Any, "int | None"], None]

MAX_SIGNALS = 4_000  # watermarks per buffer
UNSENT_BYTES = 64 << 20
"""Memory of the records that wait in the buffers of all channels of a writer: what a channel may hold is its share. So
buffers do not depend on which channels are full, and with 65 channels or more they are smaller."""
_RECORD = 64  # bytes of a record in memory besides its texts
_SIGNAL = 80  # bytes of a watermark in memory


class Sender(NamedTuple):
    """The sender."""

    parallelism: int
    subtask: int
    emit: Emit
    fail: Fail  # wraps an exception of user code (key selector, partitioner, pickling) in the operator's failure
    settings: Settings = Settings()


class Writer:
    """Writes the records of one output to its channels. It leaves out signals, unless it says otherwise. ``room``
    says how many records may be gathered for the next batch; ``freeze`` makes a record safe from later changes, None
    where all are."""

    write: Write

    def __init__(self, output: NetworkOutput, sender: Sender) -> None:
        self._output = output
        parallelism, self._subtask, self._emit, self._fail, self._settings = sender
        self._native = native.functions(self._settings.native)
        self._targets = receivers(output, parallelism, self._subtask)
        self.freeze = freezer(output.record_type)
        self.bytes, self.room = 0, 1
        self._status = ChannelStatus()
        partition = None if output.partition is None else decode_value(output.partition)
        self.partition: KeyPartition | CustomPartition | None = partition

    def write_batch(self, values: list[Any], timestamp: int | None) -> None:
        """Write each of the records in their order, at less cost than ``write``. The records cannot change; the
        list belongs to the writer from here on."""
        raise NotImplementedError

    def write_timed(self, values: list[Any], times: list[int | None]) -> None:
        """The same with a timestamp for each."""
        for value, timestamp in zip(values, times, strict=True):
            self.write(value, timestamp)

    def watermark(self, watermark: int) -> None:
        """Write a watermark into every channel, unless this task is idle."""

    def status(self, active: bool) -> None: ...

    def statuses(self) -> dict[int, ChannelStatus]:
        """The status of the channels of each edge, which all have the same signals."""
        return dict.fromkeys((to.edge for to in self._output.destinations), self._status)

    def latency(self, marker: LatencyMarker) -> None: ...

    def send(self) -> None: ...

    def begin_round(self, number: int) -> None:
        """Send everything, and mark what follows as of another round."""

    def begin_step(self, version: int) -> None:
        """Begin the step from this version; the numbers of rows begin again."""

    def volatile(self) -> Any: ...

    def resume(self, volatile: Any) -> None: ...

    def end_channels(self) -> None:
        """Say in every channel that nothing more comes, in a job that runs in steps."""

    def finish(self) -> None:
        raise NotImplementedError


class RecordWriter(Writer):
    """Writes records in the order in which they come."""

    def __init__(self, output: NetworkOutput, sender: Sender) -> None:
        super().__init__(output, sender)
        self._round = 0
        self._draw = random.Random(seed_of("latency", output.seed, self._subtask)).randrange
        self._channels = self._open_channels()
        # one channel, or all of them together, leaves nothing to select; but HASH and CUSTOM check what they are given
        self._single = single = len(self._channels) == 1 and output.partitioner not in ("HASH", "CUSTOM")
        self._split: Splitter | None = None
        self._split_columns: ColumnSplitter | None = None
        self._select: Selector | None = None
        self.write = self._to_one() if single else self._to_selected(self._selector())

    def _open_channels(self) -> list[OutChannel]:
        """The channels, each with its share of the memory. Each has a limit of its own too, so that buffers do not
        depend on the order in which channels fill, which differs for batches. It depends on the type, and not on native
        code, with which the records of several channels come in the same order."""
        targets = [self._targets] if self._output.partitioner == "BROADCAST" else [[t] for t in self._targets]
        share = max(1, UNSENT_BYTES // max(1, len(targets)))
        record_type, size = self._output.record_type, sizes(self._native)
        plain = isinstance(record_type, TupleTypeInfo | BasicTypeInfo) and may_fit(record_type)
        most = self._settings.buffer_records or (MOST_COLUMNS if plain else MOST_RECORDS)
        most, most_bytes = max(1, min(most, share // _RECORD)), min(TARGET_BYTES, share)
        self._most_signals = max(1, min(MAX_SIGNALS, share // _SIGNAL))
        return [OutChannel(to, Encoder(record_type, self._settings), size, most, most_bytes) for to in targets]

    def _selector(self) -> Selector:
        output = self._output
        arguments = output.partitioner, self.partition, output.max_parallelism, len(self._channels)
        select = self._select = channel_selector(*arguments, seed_of(output.seed, self._subtask))
        self._split = splitter(*arguments, select, self._native)
        self._split_columns = column_splitter(*arguments, select, self._native)
        return select

    def _to_one(self) -> Write:
        (channel,), look, freeze, fail = self._channels, self._look, self.freeze, self._fail

        def write(value: Any, timestamp: int | None) -> None:
            if freeze is not None:
                try:
                    value = freeze(value)
                except Exception as error:
                    raise fail(error) from error
            if timestamp is not channel.last:
                channel.stamp(timestamp)
            values = channel.values
            values.append(value)
            if len(values) >= channel.mark:
                look(channel)

        return write

    def _to_selected(self, select: Selector) -> Write:
        channels, look, freeze, fail = self._channels, self._look, self.freeze, self._fail

        def write(value: Any, timestamp: int | None) -> None:
            try:
                channel = channels[select(value)]
                if freeze is not None:
                    value = freeze(value)
            except Exception as error:
                raise fail(error) from error
            if timestamp is not channel.last:
                channel.stamp(timestamp)
            values = channel.values
            values.append(value)
            if len(values) >= channel.mark:
                look(channel)

        return write

    def write_batch(self, values: list[Any], timestamp: int | None) -> None:
        parts, field = self._parts(values, None)
        for index, part, _ in parts:
            channel = self._channels[index]
            if part and timestamp is not channel.last:
                channel.stamp(timestamp)
            start = 0
            while start < len(part):
                start = channel.append(part, start, field)
                if len(channel.values) >= channel.mark:
                    self._look(channel)

    def write_timed(self, values: list[Any], times: list[int | None]) -> None:
        parts, field = self._parts(values, times)
        for index, part, stamps in parts:
            channel, start = self._channels[index], 0
            while start < len(part):
                start = channel.append_timed(part, stamps, start, field)  # type: ignore[arg-type] # as times were given
                if len(channel.values) >= channel.mark:
                    self._look(channel)

    def _parts(self, values: list[Any], times: list[int | None] | None) -> Split:
        try:
            return ([(0, values, times)], UNKNOWN) if self._split is None else self._split(values, times)
        except Exception as error:
            raise self._fail(error) from error

    @property
    def takes_columns(self) -> bool:
        """Whether :meth:`write_columns` saves anything: the channels of columns can be found without objects."""
        encoder = self._channels[0].encoder
        return encoder.takes_columns and (self._single or self._split_columns is not None)

    def write_columns(self, batch: Any) -> None:
        """Write the records of a batch with their own timestamps, as :meth:`write` does one by one."""
        parts: ColumnParts | None = [(0, batch)], UNKNOWN
        if self._split_columns is not None:
            parts = self._split_columns(batch)
        if parts is None:  # the key of some record is in doubt
            for value, timestamp in zip(batch.objects(), batch.times or repeat(None), strict=False):
                self.write(value, timestamp)
            return
        for index, part in parts[0]:
            channel, start = self._channels[index], 0
            while start < len(part):
                start, full = channel.append_columns(part, start, parts[1], self._is_full)
                if full:
                    self._flush(channel)

    def _look(self, channel: OutChannel) -> None:
        if self._is_full(channel):
            self._flush(channel)

    def _is_full(self, channel: OutChannel) -> bool:
        full = channel.full()
        self.room = room(channel.mean, self.room)
        return full

    def watermark(self, watermark: int) -> None:
        last, active = self._status
        if active:
            self._status = ChannelStatus(max(last, watermark))
            self._signal(WATERMARK, watermark)

    def status(self, active: bool) -> None:
        self._status = self._status._replace(active=active)
        self._signal(STATUS, int(active))

    def _signal(self, kind: int, payload: int) -> None:
        for channel in self._channels:
            if channel.signal(kind, payload) >= self._most_signals:
                self._flush(channel)

    def latency(self, marker: LatencyMarker) -> None:
        """It makes no buffer: when buffers leave must not depend on the clock."""
        self._channels[self._draw(len(self._channels))].latency(marker)

    def send(self) -> None:
        for channel in self._channels:
            self._flush(channel)

    def begin_round(self, number: int) -> None:
        self.send()
        self._round = number

    def begin_step(self, version: int) -> None:
        self._round = 0
        for channel in self._channels:
            channel.begin_step()
        if isinstance(self._select, Shuffle):
            self._select.begin_step(version)

    def volatile(self) -> Any:
        return tuple(self._status), self._select.channel if isinstance(self._select, RoundRobin) else None

    def resume(self, volatile: Any) -> None:
        status, channel = volatile
        self._status = ChannelStatus(*status)
        if isinstance(self._select, RoundRobin):
            self._select.channel = channel

    def end_channels(self) -> None:
        for channel in self._channels:
            for to in self._output.destinations:
                for target in channel.targets:
                    self._emit(Row(to.level, to.offset + target, to.edge, self._subtask, 0, ENDED))

    def _flush(self, channel: OutChannel) -> None:
        try:
            buffers = channel.take()
        except Exception as error:
            raise self._fail(error) from error
        for data in buffers:
            self._send(channel, data)

    def _send(self, channel: OutChannel, data: bytes) -> None:
        sequence, targets, destinations = channel.sequence(self._round), channel.targets, self._output.destinations
        self.bytes += len(data) * len(destinations) * len(targets)
        for to in destinations:
            for target in targets:
                self._emit(Row(to.level, to.offset + target, to.edge, self._subtask, sequence, data))

    def finish(self) -> None:
        """Channel by channel. A last MAX_WATERMARK is left out: the end of the channel says it. A channel that ends
        in a later round than it has sent anything in says so by an empty row."""
        for channel in self._channels:
            channel.drop_last_watermark()
            self._flush(channel)
            if channel.round != self._round:
                self._send(channel, encode([], []))

"""RecordWriter: the records of one output on their way into the buffers of its channels.

A buffer is closed at so many records (``penstock.exchange.buffer-records``) or about so many bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from penstock.runtime.buffers.codec import Encoder, decode_value, encode, freezer, text_size
from penstock.runtime.buffers.columns import UNKNOWN
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import LATENCY, MAX_WATERMARK, STATUS, WATERMARK, LatencyMarker, Signal
from penstock.runtime.buffers.stamps import Stamps, pack, timestamps
from penstock.runtime.config.options import ExchangeOptions
from penstock.runtime.config.pointwise import POINTWISE, pointwise_consumers
from penstock.runtime.config.tasks import NetworkOutput
from penstock.runtime.exchange.gate import ROUND_BITS, Emit
from penstock.runtime.exchange.selectors import Selector, Splitter, channel_selector, seed_of, splitter

Fail = Callable[[BaseException], BaseException]

FIRST_RECORDS = 64
"""Records of a writer's first buffer, before the size of a record is known."""
TARGET_BYTES = 1 << 20
"""A buffer is closed near this size; the number of records follows the mean size seen so far."""
_LOOK = 128
"""Records between two looks at how large they are; each look takes a few of them."""
MAX_BYTES = 64 << 20
"""A buffer larger than this is cut in halves (one record can still be larger: up to 2 GiB, Arrow's limit)."""
GATHERED = 512
"""Records that may be gathered for a batch, while they are small."""
MAX_SIGNALS = 4_000
"""Watermarks per buffer."""
UNSENT_BYTES = 64 << 20
"""Memory of the records that wait in the buffers of all channels of a writer: what a channel may hold is its share. So
buffers do not depend on which channels are full, and with 65 channels or more they are smaller."""
_RECORD = 64
"""Bytes of a record in memory besides its texts."""
_SIGNAL = 80
"""Bytes of a watermark in memory."""


class RecordWriter:
    """Writes the records of one output to its channels.

    Args:
        output: what to write where.
        parallelism: of the sending vertex.
        subtask: of the sender.
        emit: takes finished rows.
        fail: wraps an exception of user code (key selector, partitioner, pickling) in the emitting operator's failure.
        options: how large buffers are.

    Attributes:
        write: (value, timestamp) → None.
        bytes: sent so far.
        room: how many records may be gathered for the next batch.
        freeze: what makes a record safe from later changes, None where all are.
    """

    def __init__(
        self,
        output: NetworkOutput,
        parallelism: int,
        subtask: int,
        emit: Emit,
        fail: Fail,
        options: ExchangeOptions = ExchangeOptions(),  # noqa: B008 - it is immutable
    ) -> None:
        self._output = output
        self._subtask = subtask
        self._emit = emit
        self._fail = fail
        kind, consumers = output.partitioner, output.parallelism
        self._targets = list(range(consumers))
        if kind in POINTWISE:
            self._targets = pointwise_consumers(parallelism, consumers, subtask, exact=output.exact_shares)
        self._count = 1 if kind == "BROADCAST" else len(self._targets)
        self._values: list[list[Any]] = [[] for _ in range(self._count)]
        self._times: list[list[int | None]] = [[] for _ in range(self._count)]  # of the records up to the last new one
        self._signals: list[list[Signal]] = [[] for _ in range(self._count)]
        self._markers: list[list[Signal]] = [[] for _ in range(self._count)]
        self._draw = random.Random(seed_of("latency", output.seed, subtask)).randrange
        self._last: list[int | None] = [None] * self._count
        self._stamp = self._stamper()
        self.bytes = 0
        self.room = 1
        self._round = 0
        self._sent = [0] * self._count  # the round of the last row
        self._active = True
        self._sequence = [0] * self._count
        self._functions = options.functions
        self._encoders = [Encoder(output.record_type, options) for _ in range(self._count)]
        self._fields = [UNKNOWN] * self._count  # which field of the records in a buffer is their key
        self._keyed = [0] * self._count  # for how many of them that is known
        share = max(1, UNSENT_BYTES // max(1, self._count))
        self._most = max(1, min(options.buffer_records, share // _RECORD))
        self._most_bytes = min(TARGET_BYTES, share)
        self._most_signals = max(1, min(MAX_SIGNALS, share // _SIGNAL))
        # by channel, so that buffers do not depend on the order in which channels fill, which differs for batches
        self._limits = [min(FIRST_RECORDS, self._most)] * self._count
        self._marks = [1] * self._count  # the number of records at which to look next
        self._looked = [0] * self._count  # records that looks have covered
        self._sizes = [0] * self._count  # and their estimated bytes
        self.freeze = freezer(output.record_type)
        # one channel, or all of them together, leaves nothing to select; but HASH and CUSTOM check what they are given
        single = self._count == 1 and kind not in ("HASH", "CUSTOM")
        self._split: Splitter | None = None
        self.write = self._to_one() if single else self._to_selected(self._selector())

    def _selector(self) -> Selector:
        output = self._output
        partition = decode_value(output.partition) if output.partition is not None else None
        arguments = output.partitioner, partition, output.max_parallelism, self._count
        select = channel_selector(*arguments, seed_of(output.seed, self._subtask))
        self._split = splitter(*arguments, select, self._functions)
        return select

    def _to_one(self) -> Callable[[Any, int | None], None]:
        values, last, marks, look, fail = self._values, self._last, self._marks, self._look, self._fail
        freeze, stamp = self.freeze, self._stamp

        def write(value: Any, timestamp: int | None) -> None:
            if freeze is not None:
                try:
                    value = freeze(value)
                except Exception as error:
                    raise fail(error) from error
            if timestamp is not last[0]:
                stamp(0, timestamp)
            buffer = values[0]
            buffer.append(value)
            if len(buffer) >= marks[0]:
                look(0)

        return write

    def _to_selected(self, select: Selector) -> Callable[[Any, int | None], None]:
        values, last, marks, look, fail = self._values, self._last, self._marks, self._look, self._fail
        freeze, stamp = self.freeze, self._stamp

        def write(value: Any, timestamp: int | None) -> None:
            try:
                channel = select(value)
                if freeze is not None:
                    value = freeze(value)
            except Exception as error:
                raise fail(error) from error
            if timestamp is not last[channel]:
                stamp(channel, timestamp)
            buffer = values[channel]
            buffer.append(value)
            if len(buffer) >= marks[channel]:
                look(channel)

        return write

    def write_batch(self, values: list[Any], timestamp: int | None) -> None:
        """What :meth:`write` does with each of the records in their order, at less cost.

        Args:
            values: records that cannot change (``freeze`` is None, or ``is_immutable`` says so); the list belongs to
                the writer from here on.
            timestamp: of all of them.
        """
        try:
            parts, field = ([(0, values)], UNKNOWN) if self._split is None else self._split(values)
        except Exception as error:
            raise self._fail(error) from error
        for channel, part in parts:
            self._append(channel, part, timestamp, field)

    def _append(self, channel: int, values: list[Any], timestamp: int | None, field: int) -> None:
        """Put records into the buffers of a channel, and look at these as often as one by one."""
        if values and timestamp is not self._last[channel]:
            self._stamp(channel, timestamp)
        start = 0
        while start < len(values):
            buffer = self._values[channel]
            some = values[start : start + self._marks[channel] - len(buffer)]
            start += len(some)
            if field != self._fields[channel]:
                self._fields[channel], self._keyed[channel] = field, 0
            self._keyed[channel] += len(some)
            buffer += some
            if len(buffer) >= self._marks[channel]:
                self._look(channel)

    def _stamper(self) -> Callable[[int, int | None], None]:
        """What takes the timestamp of the next record where it is not that of the record before."""
        values, times, last = self._values, self._times, self._last

        def stamp(channel: int, timestamp: int | None) -> None:
            known = times[channel]
            missing = len(values[channel]) - len(known)
            if missing:
                known += [last[channel]] * missing
            known.append(timestamp)
            last[channel] = timestamp

        return stamp

    def _stamps(self, channel: int) -> Stamps:
        """The timestamps of a buffer that is to be sent."""
        times, last = self._times[channel], self._last[channel]
        if not times:
            return [] if last is None else [(0, last)]
        self._times[channel] = []
        return pack(times + [last] * (len(self._values[channel]) - len(times)))

    def _look(self, channel: int) -> None:
        """Send a buffer that has its number of records, or its bytes, as some of those since the last look tell."""
        values = self._values[channel]
        count = len(values)
        some = values[self._looked[channel] :: _LOOK // 4 - 1]
        size = self._size(some)
        self.room = room(size // len(some), self.room)
        self._sizes[channel] += size * (count - self._looked[channel]) // len(some)
        self._looked[channel] = count
        if self._sizes[channel] >= self._most_bytes:
            self._flush(channel)
            self._marks[channel] = 1
        elif count >= self._limits[channel]:
            self._flush(channel)
            self._marks[channel] = min(_LOOK, self._limits[channel])  # the next records are probably as small as these
        else:
            self._marks[channel] = min(2 * count, count + _LOOK, self._limits[channel])

    def _size(self, values: list[Any]) -> int:
        size = None if self._functions is None else self._functions.text_size(values)
        return sum(map(text_size, values)) if size is None else size

    def watermark(self, watermark: int) -> None:
        """Write a watermark into every channel, unless this task is idle."""
        if self._active:
            self._signal(WATERMARK, watermark)

    def status(self, active: bool) -> None:
        """Tell every channel that this task has fallen idle, or has come back."""
        self._active = active
        self._signal(STATUS, int(active))

    def _signal(self, kind: int, payload: int) -> None:
        for channel, signals in enumerate(self._signals):
            signals.append((len(self._values[channel]), kind, payload))
            if len(signals) >= self._most_signals:
                self._flush(channel)

    def latency(self, marker: LatencyMarker) -> None:
        """Write a latency marker into one channel. It goes with the next buffer and never makes one: when buffers
        leave must not depend on the clock."""
        channel = self._draw(self._count)
        self._markers[channel].append((len(self._values[channel]), LATENCY, marker))

    def send(self) -> None:
        """Send everything so far; more may follow."""
        for channel in range(self._count):
            self._flush(channel)

    def begin_round(self, number: int) -> None:
        """Send everything, and mark what follows as of another round."""
        self.send()
        self._round = number

    def _flush(self, channel: int) -> None:
        self._adapt(channel)
        values, signals = self._values[channel], self._signals[channel]
        if not values and not signals:
            return
        stamps = self._stamps(channel)
        key = self._fields[channel] if self._keyed[channel] == len(values) else UNKNOWN
        self._keyed[channel] = 0
        self._values[channel] = []
        self._signals[channel] = []
        if self._markers[channel]:
            signals = sorted([*signals, *self._markers[channel]], key=lambda signal: signal[0])
            self._markers[channel] = []
        try:
            pieces = [self._encoders[channel].encode(values, stamps, signals, key)]
        except Exception as error:
            raise self._fail(error) from error
        if len(pieces[0]) > MAX_BYTES and len(values) > 1:
            pieces = list(_halves(values, stamps, signals))
        for piece in pieces:
            self._emit_row(channel, piece)

    def _adapt(self, channel: int) -> None:
        """Fit the next buffer to the records of this one. Not by its bytes, which depend on the codec: with native
        functions or without, buffers are the same."""
        if self._looked[channel]:
            mean = max(self._sizes[channel] // self._looked[channel], 1)
            self._limits[channel] = max(1, min(self._most, self._most_bytes // mean, self._limits[channel] * 8))
        self._looked[channel], self._sizes[channel] = 0, 0

    def _emit_row(self, channel: int, data: bytes) -> None:
        number = self._sequence[channel]
        self._sequence[channel] = number + 1
        self._sent[channel] = self._round
        sequence = self._round << ROUND_BITS | number
        targets = self._targets if self._output.partitioner == "BROADCAST" else (self._targets[channel],)
        self.bytes += len(data) * len(self._output.destinations) * len(targets)
        for to in self._output.destinations:
            for target in targets:
                self._emit(Row(to.level, to.offset + target, to.edge, self._subtask, sequence, data))

    def finish(self) -> None:
        """Send what is left, channel by channel. A last MAX_WATERMARK is left out: the end of the channel says it. A
        channel that ends in a later round than it has sent anything in says so by an empty row."""
        for channel, signals in enumerate(self._signals):
            end = len(self._values[channel]), WATERMARK, MAX_WATERMARK
            while signals and signals[-1] == end:
                signals.pop()
            self._flush(channel)
            if self._sent[channel] != self._round:
                self._emit_row(channel, encode([], []))


def room(size: int, before: int) -> int:
    """How many records may be gathered before they are handed over: about a mebibyte, and not many more than before,
    as nobody has seen their like.

    Args:
        size: bytes of a record, in the mean.
        before: how many there were room for.
    """
    return max(1, min(GATHERED, 8 * before, TARGET_BYTES // (size + 1)))


def _halves(values: list[Any], stamps: Stamps, signals: list[Signal]) -> Iterator[bytes]:
    """The records in pieces below MAX_BYTES where that is possible, in order; halves of halves, from a stack."""
    times = list(timestamps(stamps, len(values)))
    stack = [(0, len(values))]
    while stack:
        start, end = stack.pop()
        stop = end + (end == len(values))
        own = [(index - start, kind, payload) for index, kind, payload in signals if start <= index < stop]
        data = encode(values[start:end], pack(times[start:end]), own)
        if len(data) <= MAX_BYTES or end - start == 1:
            yield data
            continue
        middle = (start + end) // 2
        stack += [(middle, end), (start, middle)]

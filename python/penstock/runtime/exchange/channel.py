"""Records that wait for one channel of a :class:`~.writer.RecordWriter`, and how it becomes the bytes of buffers."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from penstock.runtime.buffers.buffer_size import EVERY, Filling, Size
from penstock.runtime.buffers.codec import Encoder, encode
from penstock.runtime.buffers.columns import UNKNOWN
from penstock.runtime.buffers.signals import LATENCY, MAX_WATERMARK, WATERMARK, LatencyMarker, Signal, Signals
from penstock.runtime.buffers.stamps import Stamps, pack, timestamps
from penstock.runtime.exchange.gate import ROUND_BITS

MAX_BYTES = 64 << 20
"""A buffer larger than this is cut in halves (one record can still be larger: up to 2 GiB, Arrow's limit)."""


class WaitingColumns:
    """The waiting records of a channel as columns: batches, whose timestamps count while the channel says so. An object
    that is added makes them a list of objects. To the channel it looks like that list."""

    __slots__ = ("_batches", "_channel", "_starts", "count")

    def __init__(self, channel: OutChannel) -> None:
        self._channel = channel
        self._batches: list[Any] = []
        self._starts: list[int] = []  # records before each batch
        self.count = 0  # how many wait: of the last batch only the first ones may, until it is cut

    def __len__(self) -> int:
        return self.count if self._channel.values is self else len(self._channel.values)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(batch.objects() for batch in self._batches)

    def add(self, batch: Any) -> None:
        """Take a batch whose records do not wait yet."""
        self._batches.append(batch)
        self._starts.append(self.count)

    def cut(self) -> None:
        """Leave out what does not wait of the last batch."""
        count = self.count - self._starts[-1]
        if count < len(self._batches[-1]):
            self._batches[-1] = self._batches[-1].slice(0, count)

    def append(self, value: Any) -> None:
        self._channel.settle()
        self._channel.values = [*self, value]

    def __iadd__(self, values: list[Any]) -> list[Any]:
        self._channel.settle()
        return [*self, *values]

    @property
    def times(self) -> list[int | None]:
        """The timestamps of the batches."""
        return list(chain.from_iterable(batch.times or repeat(None, len(batch)) for batch in self._batches))

    def whole(self) -> Any:
        """All of them as one batch; None where they are not of one kind."""
        first = self._batches[0]
        batch = first if len(self._batches) == 1 else type(first).concat(self._batches)
        if batch is not None:
            self._batches, self._starts = [batch], [0]
        return batch

    def sampled(self, start: int) -> tuple[int, int]:
        """The bytes of one record in so many from ``start`` on, and their number."""
        size = samples = 0
        for at in range(bisect_right(self._starts, start) - 1, len(self._batches)):
            batch, first = self._batches[at], self._starts[at]
            count = min(len(batch), self.count - first)
            if start < first + count:
                inside = range(start - first, count, EVERY)
                size += batch.text_size(inside.start, count, EVERY)
                samples += len(inside)
                start = first + inside.start + EVERY * len(inside)
        return size, samples

    def encode(self, key: int, extras: bytes) -> bytes | None:
        """A buffer of columns; None where they are not all of one kind, or a buffer cannot have them."""
        batch = self.whole()
        return None if batch is None else batch.encode(key, extras)


class OutChannel(Filling):
    """The records and signals on their way to one receiver, or to all of them."""

    __slots__ = (
        *("_field", "_keyed", "_markers", "_number", "_timed", "_times"),
        *("encoder", "last", "round", "signals", "targets"),
    )

    def __init__(self, targets: list[int], encoder: Encoder, size: Size, most: int, most_bytes: int) -> None:
        super().__init__(size, most, most_bytes)
        self.targets = targets
        self.last: int | None = None  # the timestamp of the last record
        self.signals: Signals = []
        self.round = 0  # of the last row
        self.encoder = encoder
        self._times: list[int | None] = []  # of the records up to the last one whose timestamp was new
        self._timed = False  # whether all records that wait are columns, and these have the timestamps
        self._markers: Signals = []
        self._number = 0
        self._field = UNKNOWN  # which field of the records is their key
        self._keyed = 0  # for how many of them that is known

    def begin_step(self) -> None:
        self._number = self.round = 0

    def stamp(self, timestamp: int | None) -> None:
        """The timestamp of the next record, where it is not that of the record before."""
        self.settle()
        times = self._times
        missing = len(self.values) - len(times)
        if missing:
            times += [self.last] * missing
        times.append(timestamp)
        self.last = timestamp

    def settle(self) -> None:
        """Take the timestamps of columns that wait, because not all records will be such columns."""
        if self._timed:
            self._timed = False
            self._times = self.values.times  # type: ignore[attr-defined]

    def append(self, values: list[Any], start: int, field: int) -> int:
        """Take records of a list from ``start`` on, up to the next look; where it goes on. They have the timestamp
        of the last one, and their key in this field (:mod:`~penstock.runtime.buffers.columns`)."""
        some = values[start : start + self.mark - len(self.values)]
        if field != self._field:
            self._field, self._keyed = field, 0
        self._keyed += len(some)
        self.values += some
        return start + len(some)

    def append_timed(self, values: list[Any], times: list[int | None], start: int, field: int) -> int:
        """The same with a timestamp for each of the list."""
        self.settle()
        if missing := len(self.values) - len(self._times):
            self._times += [self.last] * missing
        end = self.append(values, start, field)
        self._times += times[start:end]
        self.last = times[end - 1]
        return end

    def append_columns(
        self, batch: Any, start: int, field: int, is_full: Callable[[OutChannel], bool]
    ) -> tuple[int, bool]:
        """Take records of a batch from ``start`` on, with timestamps of their own, until they are a full buffer.
        Returns where it goes on, and whether the buffer is full."""
        if not self.values and type(self.values) is list:
            self.values = WaitingColumns(self)  # type: ignore[assignment]
        values: Any = self.values
        if field != self._field:
            self._field, self._keyed = field, 0
        rest = batch.slice(start, len(batch)) if start else batch
        times, size, taken, full = None, len(rest), 0, False
        columns = type(values) is WaitingColumns
        timed = rest.timed
        if timed and columns and not self._times and (self._timed or not len(values)):
            self._timed = True
        elif timed:
            self.settle()
            times = rest.times
            self._times += [self.last] * (len(values) - len(self._times))
            rest = rest.with_times(None)
        elif self.last is not None:
            self.stamp(None)
        if columns:
            taken, full = self._fill(values, rest, is_full)
        while not columns and taken < size and not full:
            more = min(self.mark - len(values), size - taken)
            values += rest.slice(taken, taken + more).objects()
            taken += more
            full = len(values) >= self.mark and is_full(self)
        self._keyed += taken
        if times is not None:
            self._times += times[:taken]
        if timed:
            self.last = rest.time(taken - 1) if times is None else times[taken - 1]
        return start + taken, full

    def _fill(self, values: WaitingColumns, batch: Any, is_full: Callable[[OutChannel], bool]) -> tuple[int, bool]:
        """Take records of a batch of columns; how many, and whether the buffer is full."""
        first, end, full = values.count, values.count + len(batch), False
        values.add(batch)
        while values.count < end and not full:
            if self.count >= first:
                self.look_into(batch, first)
            values.count = min(self.mark, end)
            full = values.count >= self.mark and is_full(self)
        values.cut()
        return values.count - first, full

    def sampled(self) -> tuple[int, int]:
        values: Any = self.values
        return values.sampled(self.count) if type(values) is WaitingColumns else super().sampled()

    def signal(self, kind: int, payload: Any) -> int:
        """Take a signal; how many wait now."""
        self.signals.append((len(self.values), kind, payload))
        return len(self.signals)

    def latency(self, marker: LatencyMarker) -> None:
        """Take a latency marker, which goes with the next buffer and never makes one."""
        self._markers.append((len(self.values), LATENCY, marker))

    def drop_last_watermark(self) -> None:
        end = len(self.values), WATERMARK, MAX_WATERMARK
        while self.signals and self.signals[-1] == end:
            self.signals.pop()

    def take(self) -> list[bytes]:
        """The waiting records as buffers, one or, if it is too large for that, more. Raises whatever pickle does when a
        record cannot be pickled."""
        self.adapt()
        values, signals = self.values, self.signals
        if not len(values) and not signals:
            return []
        if self._markers:
            signals = sorted([*signals, *self._markers], key=itemgetter(0))
        stamps = self._stamps()
        key = self._field if self._keyed == len(values) else UNKNOWN
        self.values, self.signals, self._markers, self._times, self._keyed = [], [], [], [], 0
        self._timed = False
        data = None
        if type(values) is WaitingColumns and self.encoder.takes_columns:
            data = values.encode(key, self.encoder.extras(stamps, signals))
        if data is None:
            values = values if type(values) is list else list(values)
            data = self.encoder.encode(values, stamps, signals, key)
        return [data] if len(data) <= MAX_BYTES or len(values) < 2 else list(_halves(list(values), stamps, signals))

    def _stamps(self) -> Stamps:
        if self._timed:
            whole = self.values.whole()  # type: ignore[attr-defined]
            if whole is not None:
                packed = whole.stamps()
                return packed if isinstance(packed, list) else array("q", packed)
            self.settle()
        times, last = self._times, self.last
        if not times:
            return [] if last is None else [(0, last)]
        missing = len(self.values) - len(times)
        return pack(times + [last] * missing if missing else times)

    def sequence(self, number: int) -> int:
        self.round = number
        self._number += 1
        return number << ROUND_BITS | self._number - 1


def _halves(values: list[Any], stamps: Stamps, signals: list[Signal]) -> Iterator[bytes]:
    """The records in pieces below MAX_BYTES where that is possible, in order; halves of halves, from a stack."""
    times = list(timestamps(stamps, len(values)))
    stack = [(0, len(values))]
    while stack:
        start, end = stack.pop()
        stop = end + (end == len(values))
        inside = [(index - start, kind, payload) for index, kind, payload in signals if start <= index < stop]
        data = encode(values[start:end], pack(times[start:end]), inside)
        if len(data) <= MAX_BYTES or end - start == 1:
            yield data
            continue
        middle = (start + end) // 2
        stack += [(middle, end), (start, middle)]

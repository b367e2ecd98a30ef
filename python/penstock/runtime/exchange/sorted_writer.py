"""SortedWriter: the records of one output on their way to a receiver that wants them sorted by key (BATCH mode).

It gathers more than a :class:`~.writer.RecordWriter`, key by key; when that has become too much, or at the end, it
sends rows (:mod:`.sorted_rows`) in which the records are sorted. Fewer and larger gatherings mean fewer rows that the
receiver has to merge. Where the receiver lets it, records of a key are combined before. Watermarks and idleness are not
sent: there is only the end of a channel, and that needs no row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from operator import eq, itemgetter
from typing import Any

from penstock.runtime.buffers.buffer_size import MOST_RECORDS, TARGET_BYTES, Estimate, room, sizes
from penstock.runtime.buffers.codec import Encoder
from penstock.runtime.buffers.row import Row
from penstock.runtime.config.tasks import NetworkOutput
from penstock.runtime.exchange.combiner import combiner, native_sums, sort_by_time
from penstock.runtime.exchange.selectors import channel_selector, splitter
from penstock.runtime.exchange.sorted_rows import NO_TIME, SORTED, key_ranks, pack, with_header
from penstock.runtime.exchange.writer import Sender, Write, Writer
from penstock.runtime.keys.field_selectors import quick
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.partition import KeyPartition

GATHERED_BYTES = 64 << 20  # what a writer gathers, by an estimate of what its records take in memory
_RECORD = 100  # estimated bytes of a record without its texts
_KEY = 200  # estimated bytes of a key's place in the gathering
_SMALL = 16  # estimated bytes of a record in a row without its texts
_LOOK = 32  # records between two looks at how large they are, while they are small
_TEXTS = frozenset({str})

Group = list[Any]
Times = list[int] | None


class SortedWriter(Writer):
    """Writes records sorted by key; the partition of its output is the receiver's key."""

    def __init__(self, output: NetworkOutput, sender: Sender) -> None:
        super().__init__(output, sender)
        self._most = self._settings.buffer_records or MOST_RECORDS
        self._encoder = Encoder(output.record_type, self._settings)
        self._numbers = [0] * len(self._targets)
        assert isinstance(self.partition, KeyPartition)
        self._by_key(self.partition)
        self._combine = None if output.combined is None else combiner(output.combined, output.record_type)
        self._sums = None if output.combined is None else native_sums(output.combined, output.record_type, self._native)
        self._groups: defaultdict[Any, Group] = defaultdict(list)  # canonical key → its records in order of arrival
        self._keys: dict[Any, Any] = {}  # canonical key → key, where they differ
        self._times: dict[Any, list[int]] = {}  # canonical key → its timestamps, once a record has one
        self._timed = False
        self._held = Estimate(sizes(self._native))  # of the records in groups
        self._due = self._step = 1  # records until the next look, and between two looks
        self.write = self._writing()

    def _by_key(self, partition: KeyPartition) -> None:
        self._failure = partition.failure
        self._key_of = partition.selector()
        self._quick_key_of = quick(self._key_of)
        self._key_hash = KeyHash(partition.key_type)
        self._own_forms = self._key_hash.identity or partition.key_type is None
        itself = KeyPartition(lambda key: key, partition.key_type, partition.call)
        kind, channels = self._output.partitioner, len(self._targets)
        self._select = channel_selector(kind, itself, self._output.max_parallelism, channels, 0)
        self._split = splitter(kind, itself, self._output.max_parallelism, channels, self._select, self._native)

    def _writing(self) -> Write:
        key_of, checked, freeze, failure = self._key_of, self._key_hash.checked, self.freeze, self._failure
        groups, keys, select, stamp, look = self._groups, self._keys, self._select, self._stamp, self._look
        fail = self._fail

        def write(value: Any, timestamp: int | None) -> None:
            try:
                key = key_of(value)
                slot = key if type(key) is str else checked(key)
            except Exception as error:
                raise fail(failure(error, "behind")) from error
            try:
                if timestamp is not None or self._timed:
                    stamp(slot, timestamp)
                if slot not in groups:
                    select(key)  # refuses a key that belongs nowhere
                    if key is not slot:
                        keys[slot] = key
                if freeze is not None:
                    value = freeze(value)
            except Exception as error:
                raise fail(error) from error
            groups[slot].append(value)
            self._due -= 1
            if self._due <= 0:
                look([value])

        return write

    def write_batch(self, values: list[Any], timestamp: int | None) -> None:
        keys = None if timestamp is not None or self._timed else self._plain_keys(values)
        if keys is None:
            for value in values:
                self.write(value, timestamp)
            return
        if self._sums is not None and self._sums.add(keys, values):
            self._look_at_sums(values[:1])
            return
        deque(map(list.append, map(self._groups.__getitem__, keys), values), maxlen=0)
        self._due -= len(values)
        if values and self._due <= 0:
            self._look(values[:: _LOOK - 1])

    def _plain_keys(self, values: list[Any]) -> list[Any] | None:
        """The keys of records, if each is its own canonical form."""
        if not self._own_forms:
            return None
        try:
            keys = list(map(self._quick_key_of, values))
        except Exception:  # raised again, if it is, for the record
            return None
        plain = set(map(type, keys)) <= _TEXTS if self._native is None else self._native.are_own_forms(keys)
        return keys if plain else None

    def _stamp(self, slot: Any, timestamp: int | None) -> None:
        """Note a record's timestamp. From the first one on all records have one; those before are sent."""
        if not self._timed:
            self._flush()
            self._timed = True
        self._times.setdefault(slot, []).append(NO_TIME if timestamp is None else timestamp)

    def _look(self, some: list[Any]) -> None:
        """Estimate how much the records since the last look take, by some of them; send them if it is too much."""
        self._held.look(self._step - self._due, some)
        self.room = room(self._held.mean, self.room)
        self._step = self._due = max(1, min(_LOOK, 2 * self._step, TARGET_BYTES // (self._held.mean + 1)))
        if self._size() >= GATHERED_BYTES:
            self._combine_all()
            if self._size() >= GATHERED_BYTES // 2:
                self._flush()

    def _look_at_sums(self, some: list[Any]) -> None:
        """Estimate how much the sums take, where records are added up as they come; send them if it is too much."""
        assert self._sums is not None
        size = self._held.size(some)
        self.room = room(size, self.room)
        if self._sums.exceeds(GATHERED_BYTES // (_RECORD + _KEY + size)):
            self._flush()

    def _size(self) -> int:
        return self._held.bytes + self._held.count * _RECORD + len(self._groups) * _KEY

    def _combine_all(self) -> None:
        if self._combine is None:
            return
        for slot, group in self._groups.items():
            if len(group) > 1:
                self._combine(group, self._times.get(slot))
        self._held.count = sum(map(len, self._groups.values()))
        self._held.bytes = self._held.count * self._held.mean

    def _flush(self) -> None:
        sums = {} if self._sums is None else self._sums.take()
        if sums and not self._groups:
            self._send_single(sums)
        else:
            for slot, value in sums.items():
                self._groups[slot].insert(0, value)
            self._combine_all()
            single = not self._timed and all(map((1).__eq__, map(len, self._groups.values())))
            if single:
                self._send_single({slot: group[0] for slot, group in self._groups.items()})
            else:
                self._send_groups()
        for gathered in (self._groups, self._keys, self._times):
            gathered.clear()
        self._held.forget()

    def _send_single(self, values: dict[Any, Any]) -> None:
        most = self._room()
        for channel, ranks, slots in self._by_channel(values):
            for start, end in _cuts(ranks, most):
                self._send(channel, ranks[start:end], None, [values[slot] for slot in slots[start:end]], None)

    def _send_groups(self) -> None:
        most = self._room()
        for channel, ranks, slots in self._by_channel(self._groups):
            row = _Piece(most, self._timed)
            for rank, slot in zip(ranks, slots, strict=True):
                group, times = self._groups[slot], self._times.get(slot)
                if times is not None and times != sorted(times):
                    sort_by_time(group, times)
                if row.ranks and row.ranks[-1] == rank:  # as in _cuts
                    row = self._send_row(channel, row)
                start = 0
                while start < len(group):
                    start = row.add(rank, group, times, start)
                    if not row.room:
                        row = self._send_row(channel, row)
            if row.ranks:
                self._send_row(channel, row)

    def _room(self) -> int:
        return max(1, min(self._most, TARGET_BYTES // (self._held.mean + _SMALL)))

    def _by_channel(self, slots: Iterable[Any]) -> Iterator[tuple[int, list[int], list[Any]]]:
        """(channel, ranks, canonical keys) of the keys, each sorted by rank, then in order of arrival."""
        known, canonical = self._keys, self._key_hash.canonical
        try:
            parts, _ = self._split([known.get(slot, slot) for slot in slots] if known else list(slots), None)
            ranked = [(channel, keys, key_ranks(keys, self._key_hash)) for channel, keys, _ in parts]
        except Exception as error:
            raise self._fail(error) from error
        for channel, keys, ranks in ranked:
            forms = [key if type(key) is str else canonical(key) for key in keys] if known else keys
            pairs = sorted(zip(ranks, forms, strict=True), key=itemgetter(0))
            yield channel, [rank for rank, _ in pairs], [slot for _, slot in pairs]

    def _send_row(self, channel: int, row: _Piece) -> _Piece:
        """Send a row; the next one, empty."""
        self._send(channel, row.ranks, row.counts, row.values, row.times)
        return _Piece(self._room(), self._timed)

    def _send(self, channel: int, ranks: list[int], counts: list[int] | None, values: list[Any], times: Times) -> None:
        try:
            packed = pack((ranks, counts, values, times), self._encoder)
        except Exception as error:
            raise self._fail(error) from error
        number = self._numbers[channel]
        self._numbers[channel] = number + 1
        time = NO_TIME if times is None else times[0]
        for to in self._output.destinations:
            data = with_header(time, to.edge, self._subtask, number, packed)
            self.bytes += len(data)
            target = to.offset + self._targets[channel]
            self._emit(Row(to.level, target, to.edge, self._subtask, SORTED | ranks[0], data))

    def finish(self) -> None:
        self._flush()


def _cuts(ranks: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Rows of so many keys at the most, with one key of a rank, so that a row's place is that of all of it."""
    start = 0
    equals = (index for index, same in enumerate(map(eq, ranks, ranks[1:]), 1) if same)
    for stop in (*equals, len(ranks)):
        while start < stop:
            end = min(start + most, stop)
            yield start, end
            start = end


class _Piece:
    """A row that is being filled, with ``room`` for so many more records."""

    __slots__ = ("counts", "ranks", "room", "times", "values")

    def __init__(self, room: int, timed: bool) -> None:
        self.room = room
        self.ranks: list[int] = []
        self.counts: list[int] = []
        self.values: list[Any] = []
        self.times: Times = [] if timed else None

    def add(self, rank: int, group: Group, times: Times, start: int) -> int:
        """Take records of a key from ``start`` on; where the next row goes on."""
        end = min(len(group), start + self.room)
        self.ranks.append(rank)
        self.counts.append(end - start)
        self.values += group[start:end]
        if self.times is not None and times is not None:
            self.times += times[start:end]
        self.room -= end - start
        return end

"""KeyMerge: sorted rows of many senders become the records of one key after the other.

A row's records are in order, and so are the rows by their first record (:mod:`.sorted_rows`). Rows that have begun and
not ended are *open*: about one for each gathering of each sender. When the next row comes, all keys before its first
one are complete, and leave as a block, sorted by rank. A key that fills rows of its own makes a *stream* of them: they
are merged by time as they come, so it is never in memory as a whole where its rows follow each other in time.

Keys of equal rank come among each other. The first one passes, the records of the others are put aside until it has
ended; such keys are few, as ranks have 32 bits. Cost: O(log) of the open rows per key and row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate, repeat
from types import ModuleType
from typing import Any, NamedTuple

from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import MIN_WATERMARK
from penstock.runtime.exchange.gate import Channel, ExchangeError
from penstock.runtime.exchange.sorted_rows import NO_TIME, Position, clamped, position, unpack

SlotsOf = Callable[[list[Any]], list[Any]]
Origin = tuple[int, int, int]  # (edge, sender, number) of a row


class Run(NamedTuple):
    """Records of one key, in order."""

    edge: int
    values: list[Any]  # there may be none where the key ends
    times: list[int] | None  # None where no record has a timestamp
    last: bool  # whether the key ends with them


class _Open:
    """A row on its way. ``group`` is the index of its next key, ``slots`` are the canonical keys."""

    __slots__ = ("_starts", "_times", "_values", "group", "origin", "ranks", "slots")

    def __init__(self, origin: Origin, ranks: Any, counts: Any, values: Any, times: Any, slots_of: SlotsOf) -> None:
        self.origin = origin
        self.ranks = ranks
        self._values, self._times = values, times
        self._starts = None if counts is None else list(accumulate(counts, initial=0))
        self.slots = slots_of(values if self._starts is None else [values[start] for start in self._starts[:-1]])
        self.group = 0

    def run(self, group: int) -> Run:
        starts, times = self._starts, self._times
        start, end = (group, group + 1) if starts is None else (starts[group], starts[group + 1])
        return Run(self.origin[0], self._values[start:end], None if times is None else times[start:end], True)

    def part(self, group: int) -> _Part:
        run = self.run(group)
        return _Part(self.origin, run.values, run.times)


@dataclass(slots=True, eq=False)
class _Part:
    origin: Origin
    values: list[Any]
    times: list[int] | None
    start: int = 0

    def place(self) -> Place:
        return MIN_WATERMARK if self.times is None else clamped(self.times[self.start]), self.origin

    def take(self, limit: Place | None) -> Run:
        """The next records, those before a place."""
        start, end, times = self.start, len(self.values), self.times
        if times is not None and limit is not None:
            time, origin = limit
            if self.origin < origin:
                end = bisect_right(times, time, start)
            else:
                end = bisect_left(times, time if time > MIN_WATERMARK else NO_TIME, start)
            end = max(end, start + 1)
        self.start = end
        if start == 0 and end == len(self.values):
            return Run(self.origin[0], self.values, times, False)
        return Run(self.origin[0], self.values[start:end], None if times is None else times[start:end], False)


Place = tuple[int, Origin]  # where a record stands among those of its key: (timestamp, origin)

_DEFECT = "Rows were lost, repeated or swapped between two stages: a defect of Penstock or Spark. Please report it."


class _Merged:
    """Parts of one key, merged by time."""

    __slots__ = ("_heap",)

    def __init__(self, parts: list[_Part]) -> None:
        self._heap = [(part.place(), part) for part in parts]  # no two places are equal
        heapify(self._heap)

    def add(self, part: _Part) -> None:
        """One more; nothing before it may have been taken."""
        heappush(self._heap, (part.place(), part))

    def until(self, limit: Place | None) -> Iterator[Run]:
        heap = self._heap
        while heap and (limit is None or heap[0][0] < limit):
            _, part = heappop(heap)
            first = heap[0][0] if heap else limit
            yield part.take(first if limit is None or first is None else min(first, limit))
            if part.start < len(part.values):
                heappush(heap, (part.place(), part))


class KeyMerge:
    """Merges the rows of one receiver, which come in order. ``slots`` makes the canonical keys of records, by edge."""

    def __init__(self, slots: Mapping[int, SlotsOf], functions: ModuleType | None = None) -> None:
        self._slots = slots
        self._functions = functions
        self._rows: list[_Open] = []
        self._stream: _Merged | None = None
        self._slot: Any = None  # of the stream
        self._aside: dict[Any, list[_Part]] = {}  # other keys of the stream's rank
        self._last: Position | None = None
        self._seen: dict[Channel, tuple[int, int, int]] = {}  # rows, and the sum and maximum of their numbers

    def add(self, row: Row) -> Iterator[Run]:
        """Take the next row; gives the records that stand before it. ExchangeError if it is not the next one."""
        place, before = position(row), self._last
        if before is not None and place <= before:
            raise ExchangeError(f"A sorted row came after another one that follows it: {place}, {before}. {_DEFECT}")
        self._last = place
        edge, sender, number = origin = place[2:]
        rows, total, most = self._seen.get((edge, sender), (0, 0, 0))
        self._seen[edge, sender] = rows + 1, total + number, max(most, number)
        if before is not None and before[0] == place[0]:
            if self._stream is None:  # a second row begins with a key: those that are open make a stream
                self._stream = _Merged([])
                self._slot = self._rows[-1].slots[self._rows[-1].group]
                self._join(place[0], self._rows)
            yield from self._stream.until((place[1], origin))
        else:
            yield from self._end_stream()
            yield from self._block(place[0])
        self._rows.append(_Open(origin, *unpack(row.data, self._functions), self._slots[edge]))
        if self._stream is not None:
            self._join(place[0], self._rows[-1:])

    def finish(self) -> Iterator[Run]:
        """All rows have come; gives the records that are left. ExchangeError if some rows have not."""
        for (edge, sender), (rows, total, most) in self._seen.items():
            if rows != most + 1 or 2 * total != rows * most:
                raise ExchangeError(
                    f"Of the sorted rows of edge {edge} from subtask {sender}, {rows} arrived, the last one being "
                    f"number {most}. {_DEFECT}"
                )
        yield from self._end_stream()
        yield from self._block(None)

    def _block(self, limit: int | None) -> Iterator[Run]:
        """All keys of ranks below one; None: all."""
        entries: list[tuple[int, Origin, int, _Open]] = []
        for row in self._rows:
            first, ranks = row.group, row.ranks
            row.group = stop = len(ranks) if limit is None else bisect_left(ranks, limit, first)
            if first < stop:
                entries += zip(ranks[first:stop], repeat(row.origin), range(first, stop), repeat(row))
        self._forget_read()
        entries.sort()  # an origin has a rank once, so rows are not compared
        start, count = 0, len(entries)
        while start < count:
            rank, _, group, row = entries[start]
            end = start + 1
            while end < count and entries[end][0] == rank:
                end += 1
            if end - start == 1:
                yield row.run(group)
            else:
                keys: dict[Any, list[_Part]] = {}  # of one rank, all of whose records are there
                for _, _, group, row in entries[start:end]:
                    keys.setdefault(row.slots[group], []).append(row.part(group))
                for parts in keys.values():
                    yield from _whole(parts)
            start = end

    def _join(self, rank: int, rows: list[_Open]) -> None:
        """Lead the records of a rank out of rows into the stream."""
        assert self._stream is not None
        for row in rows:
            if row.ranks[row.group] == rank:
                part, slot = row.part(row.group), row.slots[row.group]
                row.group += 1
                if slot == self._slot:
                    self._stream.add(part)
                else:
                    self._aside.setdefault(slot, []).append(part)
        self._forget_read()

    def _end_stream(self) -> Iterator[Run]:
        """The key of the stream ends, if there is one; then the others of its rank."""
        if self._stream is not None:
            yield from self._stream.until(None)
            yield Run(-1, [], None, True)
            aside, self._aside, self._stream = self._aside, {}, None
            for parts in aside.values():
                yield from _whole(parts)

    def _forget_read(self) -> None:
        self._rows = [row for row in self._rows if row.group < len(row.ranks)]


def _whole(parts: list[_Part]) -> Iterator[Run]:
    edge = parts[0].origin[0]
    if len(parts) > 1 and (any(part.times or part.origin[0] != edge for part in parts)):
        yield from _Merged(parts).until(None)
        yield Run(-1, [], None, True)
    else:
        yield Run(edge, [value for part in parts for value in part.values], parts[0].times, True)

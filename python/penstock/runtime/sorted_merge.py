"""KeyMerge: sorted rows of many senders become the records of one key after the other.

A row's records are in order, and so are the rows by their first record (:mod:`.sorted_rows`). The rows that have begun
and not ended are open at the same time: about one for each gathering of each sender, as each gathering covers all keys.
A key of any size passes without ever being in memory as a whole where its rows follow each other in time.

Keys with equal hashes come among each other. The first one passes, the records of the others are put aside until it has
ended; such keys are few, as hashes have 32 bits, but they are in memory.

Cost: O(log(open rows)) per key and row, and bisection where records of a key in several rows interleave in time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from types import ModuleType
from typing import Any, NamedTuple

from penstock.runtime.exchange import Channel, ExchangeError, Row
from penstock.runtime.signals import MIN_WATERMARK
from penstock.runtime.sorted_rows import NO_TIME, Piece, Position, position, rank, unpack

SlotOf = Callable[[Any], Any]


class Run(NamedTuple):
    """Records of one key, in order.

    Attributes:
        edge: over which they came.
        values: the records; none is the end of the key.
        times: their timestamps, None where there is none at all.
    """

    edge: int
    values: list[Any]
    times: list[int] | None


END_OF_KEY = Run(-1, [], None)


class _Open:
    """A row on its way: which records of it come next."""

    __slots__ = ("counts", "end", "group", "hashes", "origin", "slot", "slot_of", "start", "times", "values")

    def __init__(self, origin: tuple[int, int, int], piece: Piece, slot_of: SlotOf) -> None:
        self.origin = origin  # (edge, sender, number)
        self.hashes, self.counts, self.values, self.times = piece
        self.slot_of = slot_of
        self.group = self.start = 0
        self.end = self.counts[0]
        self.slot = slot_of(self.values[0])

    def position(self) -> Position:
        """Of the next record."""
        time = MIN_WATERMARK if self.times is None else rank(self.times[self.start])
        return self.hashes[self.group], time, *self.origin

    def take(self, limit: Position | None) -> Run:
        """The next records: of one key, and before a position."""
        start, end, times = self.start, self.end, self.times
        if times is not None and limit is not None and limit[0] == self.hashes[self.group]:
            if self.origin < limit[2:]:
                end = bisect_right(times, limit[1], start, end)
            else:
                end = bisect_left(times, limit[1] if limit[1] > MIN_WATERMARK else NO_TIME, start, end)
            end = max(end, start + 1)
        self.start = end
        if end - start == len(self.values):
            return Run(self.origin[0], self.values, times)
        return Run(self.origin[0], self.values[start:end], None if times is None else times[start:end])

    def more(self) -> bool:
        """Whether records are left; then the row stands at the next."""
        if self.start == self.end:
            self.group += 1
            if self.group == len(self.counts):
                return False
            self.end = self.start + self.counts[self.group]
            self.slot = self.slot_of(self.values[self.start])
        return True

    def aside(self) -> _Open:
        """The rest of the current key as a row of its own, and gone from this one."""
        hash_order = self.hashes[self.group]
        run = self.take(None)
        return _Open(self.origin, ([hash_order], [len(run.values)], run.values, run.times), self.slot_of)


_DEFECT = "Rows were lost, repeated or swapped between two stages: a defect of Penstock or Spark. Please report it."

Entry = tuple[Position, _Open]
"""Of a heap; no two positions are equal."""


class KeyMerge:
    """Merges the rows of one receiver, which come in order.

    Args:
        slots: by edge, what makes the canonical form of a record's key.
        functions: the native functions, if they shall be used.
    """

    def __init__(self, slots: Mapping[int, SlotOf], functions: ModuleType | None = None) -> None:
        self._slots = slots
        self._functions = functions
        self._heap: list[Entry] = []
        self._hash: int | None = None
        self._slot: Any = None
        self._others: dict[Any, list[_Open]] = {}
        self._last: Position | None = None
        self._seen: dict[Channel, tuple[int, int, int]] = {}  # rows, and the sum and maximum of their numbers

    def add(self, row: Row) -> Iterator[Run]:
        """Take the next row; gives the records before it, and :data:`END_OF_KEY` after the last ones of a key.

        Raises:
            ExchangeError: it is not the next one.
        """
        place = position(row)
        if self._last is not None and place <= self._last:
            raise ExchangeError(
                f"A sorted row came after another one that follows it: {place}, {self._last}. {_DEFECT}"
            )
        self._last = place
        yield from self._until(place)
        edge, sender, number = place[2:]
        rows, total, most = self._seen.get((edge, sender), (0, 0, 0))
        self._seen[edge, sender] = rows + 1, total + number, max(most, number)
        heappush(self._heap, (place, _Open((edge, sender, number), unpack(row[5], self._functions), self._slots[edge])))

    def finish(self) -> Iterator[Run]:
        """All rows have come; gives the records that are left.

        Raises:
            ExchangeError: some rows have not.
        """
        for (edge, sender), (rows, total, most) in self._seen.items():
            if rows != most + 1 or 2 * total != rows * most:
                raise ExchangeError(
                    f"Of the sorted rows of edge {edge} from subtask {sender}, {rows} arrived, the last one being "
                    f"number {most}. {_DEFECT}"
                )
        yield from self._until(None)
        yield from self._end_of_hash()

    def _until(self, limit: Position | None) -> Iterator[Run]:
        """The records before a position; None: all."""
        heap = self._heap
        while heap and (limit is None or heap[0][0] < limit):
            place, row = heappop(heap)
            if place[0] != self._hash:
                yield from self._end_of_hash()
                self._hash, self._slot = place[0], row.slot
            if row.slot == self._slot:
                yield row.take(_earlier(heap, limit))
            else:
                self._others.setdefault(row.slot, []).append(row.aside())
            if row.more():
                heappush(heap, (row.position(), row))

    def _end_of_hash(self) -> Iterator[Run]:
        """The current key ends; then the others with its hash."""
        if self._hash is None:
            return
        yield END_OF_KEY
        others, self._others = self._others, {}
        for rows in others.values():
            heap = [(row.position(), row) for row in rows]
            heapify(heap)
            while heap:
                _, row = heappop(heap)
                yield row.take(_earlier(heap, None))
                if row.more():
                    heappush(heap, (row.position(), row))
            yield END_OF_KEY


def _earlier(heap: list[Entry], limit: Position | None) -> Position | None:
    first = heap[0][0] if heap else None
    if first is None or (limit is not None and limit < first):
        return limit
    return first

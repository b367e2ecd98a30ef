"""Timers beyond memory: the next ones in the heap, later ones in the file of the operator's state, by time.

As long as all fit, nothing is in the file and the order is that of :class:`.timers.TimerQueue`. After that those that
are due at the same time fire in any order, as they do in Flink with RocksDB. Cost: O(log n) for each; a timer in the
file is written and read once.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from penstock.runtime.state.disk.cells import BITS, encoded
from penstock.runtime.state.disk.rows import RowFile
from penstock.runtime.state.timers import Timer, TimerQueue

TIMER = 600
"""About how many bytes a timer takes in memory."""
_FEW_MOVES = 100
_WAITING = 10_000
"""Timers that wait to be written in one batch."""

Place = tuple[int, int]
"""Time and number, by which timers are sorted in the file."""
Entry = tuple[Any, Any, Any]
"""(canonical form, key, namespace)"""


class DiskTimerQueue(TimerQueue):
    """Timers by time, without duplicates, those of later in a file.

    Args:
        file: of the operator's state.
        queue: number of the queue in there, which no other has.
        number: gives a number of a key, with its key group in the high bits, and a place.
        key_of: the key of a canonical form.
        most: timers in memory.
    """

    __slots__ = ("_far", "_file", "_horizon", "_key_of", "_most", "_number", "_queue", "_waiting")

    def __init__(
        self,
        file: RowFile,
        queue: int,
        number: Callable[[Any, Any], int],
        key_of: Callable[[Any], Any],
        most: int,
    ) -> None:
        super().__init__()
        self._file, self._queue, self._number, self._key_of, self._most = file, queue, number, key_of, max(most, 2)
        self._horizon: Place | None = None  # those from here on are not in the heap
        self._waiting: dict[Any, tuple[Place, Entry | None]] = {}  # by name; None: to be removed
        self._far = 0

    @contextlib.contextmanager
    def _unnoted(self) -> Iterator[None]:
        """Timers move between memory and file, which is no change."""
        noted, self.noted = self.noted, None
        try:
            yield
        finally:
            self.noted = noted

    def _note(self, added: bool, timer: Timer) -> None:
        assert self.noted is not None
        if self.all_new:
            return
        self.noted.append((added, timer))
        if len(self.noted) > 2 * (len(self._heap) + self._far) + _FEW_MOVES:
            self.all_new = True
            self.noted.clear()

    def fill(self, timers: Iterable[Timer]) -> None:
        """Have these timers and no others, in the order in which another queue has them if memory holds all."""
        rest = iter(timers)
        first = list(islice(rest, self._most))
        more = next(rest, None)
        with self._unnoted():
            self._waiting.clear()
            self._horizon, self._far = None, 0
            self._file.execute("delete from timers where queue=?", (self._queue,))
            super().fill(() if more is not None else first)
            for timer in (*first, more) if more is not None else ():
                self.add(timer.time, timer.slot, timer.key, timer.namespace)
            for timer in rest:
                self.add(timer.time, timer.slot, timer.key, timer.namespace)

    def another(self) -> DiskTimerQueue:
        """An empty queue in the same file."""
        return DiskTimerQueue(self._file, self._file.next_queue(), self._number, self._key_of, self._most)

    def by_group(self) -> Iterator[tuple[int, Timer]]:
        # nothing may be added meanwhile
        self._write()
        sort = self._far > 0  # by time, which makes a heap of all
        groups = [(self._number(timer.key, 0) >> BITS, timer) for timer in TimerQueue.__iter__(self)]
        far = ((self._number(timer.key, 0) >> BITS, timer) for timer in self.far())
        for group, timer in merge(sorted(groups, key=itemgetter(0)), far, key=itemgetter(0)):
            yield group, Timer(timer.time, timer.slot, timer.key, timer.namespace, timer.time if sort else timer.index)

    def __len__(self) -> int:
        self._write()
        return super().__len__() + self._far

    def __iter__(self) -> Iterator[Timer]:
        yield from super().__iter__()
        yield from self.far()

    def far(self) -> Iterator[Timer]:
        """Those that are not in the heap, by key group. Nothing may be added meanwhile."""
        self._write()
        query = "select time, data from timers where queue=? order by id"
        with self._file.failures():
            for time, data in self._file.query(query, self._queue):
                for slot, key, namespace in pickle.loads(data):
                    yield Timer(time, slot, key, namespace)

    def first(self) -> Timer | None:
        found = super().first()
        if found is None and self._horizon is not None:
            self._read()
            found = super().first()
        return found

    def add(self, time: int, slot: Any, key: Any, namespace: Any) -> bool:
        """Add a timer; whether it was not there, of those that are in memory."""
        horizon = self._horizon
        if horizon is None or time < horizon[0]:
            added = super().add(time, slot, key, namespace)
            if added and len(self._heap) > self._most:
                self._spill()
            return added
        place = time, self._number(key, (slot, namespace))
        if place < horizon:
            return super().add(time, slot, key, namespace)
        name = time, slot, namespace
        before = self._waiting.get(name)
        if self.noted is not None:
            self._note(True, Timer(time, slot, key, namespace))
        self._wait(name, place, (slot, key, namespace))
        return before is None or before[1] is None

    def remove(self, time: int, slot: Any, namespace: Any) -> None:
        horizon = self._horizon
        if horizon is None or time < horizon[0]:
            super().remove(time, slot, namespace)
            return
        place = time, self._number(self._key_of(slot), (slot, namespace))
        if place < horizon:
            super().remove(time, slot, namespace)
        else:
            if self.noted is not None:
                self._note(False, Timer(time, slot, self._key_of(slot), namespace))
            self._wait((time, slot, namespace), place, None)

    def _wait(self, name: Any, place: Place, entry: Entry | None) -> None:
        self._waiting[name] = place, entry
        if len(self._waiting) >= _WAITING:
            self._write()

    def _spill(self) -> None:
        """Only the next half stays in the heap."""
        timers = list(super().__iter__())
        places = {id(timer): (timer.time, self._number(timer.key, (timer.slot, timer.namespace))) for timer in timers}
        timers.sort(key=lambda timer: places[id(timer)])
        horizon = places[id(timers[len(timers) // 2])]
        stay = [timer for timer in timers if places[id(timer)] < horizon]
        self._write()
        for timer in timers[len(stay) :]:
            name = timer.time, timer.slot, timer.namespace
            self._waiting[name] = places[id(timer)], (timer.slot, timer.key, timer.namespace)
        self._restart(stay)
        self._horizon = horizon
        self._write()

    def _restart(self, timers: list[Timer]) -> None:
        """Make these, sorted, the timers of the heap."""
        del self._heap[1:]
        self._known.clear()
        with self._unnoted():
            for timer in timers:
                super().add(timer.time, timer.slot, timer.key, timer.namespace)

    def _read(self) -> None:
        """The heap is empty: the next timers come from the file."""
        self._write()
        file, few = self._file, max(self._most // 2, 1)
        query = "select time, id, data from timers where queue=? order by time, id limit ?"
        with file.failures():
            rows = list(file.query(query, self._queue, few))
            if rows:
                file.execute("delete from timers where queue=? and (time, id) <= (?, ?)", (self._queue, *rows[-1][:2]))
        self._horizon = (rows[-1][0], rows[-1][1] + 1) if len(rows) == few else None
        with self._unnoted():
            for time, _, data in rows:
                for slot, key, namespace in pickle.loads(data):
                    super().add(time, slot, key, namespace)
                    self._far -= 1

    def _write(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        added: dict[Place, list[Entry]] = {}
        removed: list[tuple[Place, Any]] = []
        for (_, slot, namespace), (place, entry) in waiting.items():
            if entry is None:
                removed.append((place, (slot, namespace)))
            else:
                added.setdefault(place, []).append(entry)
        with self._file.together():
            for place, name in removed:
                self._rewrite(place, lambda old, name=name: [each for each in old if (each[0], each[2]) != name])
            for place in sorted(added):
                self._add(place, added[place])

    def _add(self, place: Place, entries: list[Entry]) -> None:
        execute, row = self._file.execute, (self._queue, *place, encoded(entries))
        if execute("insert or ignore into timers values (?, ?, ?, ?)", row).rowcount:
            self._far += len(entries)
            return
        names = {(slot, namespace) for slot, _, namespace in entries}
        self._rewrite(place, lambda old: [*(each for each in old if (each[0], each[2]) not in names), *entries])

    def _at(self, place: Place) -> bytes:
        query = "select data from timers where queue=? and time=? and id=?"
        found = self._file.execute(query, (self._queue, *place)).fetchone()
        return encoded([]) if found is None else found[0]

    def _rewrite(self, place: Place, change: Callable[[list[Entry]], list[Entry]]) -> None:
        """Change the timers of a place."""
        old = pickle.loads(self._at(place))
        new = change(old)
        self._far += len(new) - len(old)
        if new:
            self._file.execute(
                "insert into timers values (?, ?, ?, ?) on conflict do update set data=excluded.data",
                (self._queue, *place, encoded(new)),
            )
        elif old:
            self._file.execute("delete from timers where queue=? and time=? and id=?", (self._queue, *place))

"""Timers beyond memory: the next ones in the heap, later ones in the file of the operator's state, by time.

As long as all fit, nothing is in the file and the order is that of :class:`.timers.TimerQueue`. After that those that
are due at the same time fire in any order, as they do in Flink with RocksDB. Cost: O(log n) for each; a timer in the
file is written and read once.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

from penstock.runtime.state.disk.cells import encoded
from penstock.runtime.state.disk.rows import RowFile
from penstock.runtime.state.timers import Timer, TimerQueue

TIMER = 600
"""About how many bytes a timer takes in memory."""
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
        queue: number of the queue in there.
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

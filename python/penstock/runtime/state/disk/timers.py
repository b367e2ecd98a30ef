"""Timers beyond memory: the next ones in the heap, later ones in the file of the operator's state, by time. While all
fit in memory, the order is that of :class:`.timers.TimerQueue`. After that, timers of equal time fire in any order, as
in Flink with RocksDB."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Any

from penstock.runtime.state.disk.cells import BITS, encoded
from penstock.runtime.state.disk.rows import RowFile
from penstock.runtime.state.timers import Timer, TimerQueue

TIMER = 600  # an estimate of a timer's bytes in memory
_WAITING = 10_000  # timers per batch of writes
Place = tuple[int, int]  # time and number, the sort key of timers in the file
Entry = tuple[Any, Any, Any]  # (canonical form, key, namespace)


class DiskTimerQueue(TimerQueue):
    """A timer queue with its later timers in a file."""

    def __init__(
        self, file: RowFile, queue: int, number: Callable[[Any, Any], int], key_of: Callable[[Any], Any], most: int
    ) -> None:
        super().__init__()
        self._file, self._queue, self._number, self._key_of, self._most = file, queue, number, key_of, max(most, 2)
        self._horizon: Place | None = None  # later timers are in the file, not in the heap
        self._waiting: dict[Any, tuple[Place, Entry | None]] = {}  # by name; None removes the timer

    @contextlib.contextmanager
    def _unnoted(self) -> Iterator[None]:
        noted, self.noted = self.noted, None
        try:
            yield
        finally:
            self.noted = noted

    def fill(self, timers: Iterable[Timer]) -> None:
        rest = iter(timers)
        first = list(islice(rest, self._most))
        more = next(rest, None)
        with self._unnoted():
            self._waiting.clear()
            self._horizon, self._far = None, 0
            self._file.execute("delete from timers where queue=?", (self._queue,))
            super().fill(() if more is not None else first)
            for timer in chain(first, [more], rest) if more is not None else ():
                self.add(timer.time, timer.slot, timer.key, timer.namespace)

    def another(self) -> DiskTimerQueue:
        return DiskTimerQueue(self._file, self._file.next_queue(), self._number, self._key_of, self._most)

    def by_group(self) -> Iterator[tuple[int, Timer]]:
        # nothing may be added meanwhile
        self._write()
        sort = self._far > 0  # sorted by time, all of them are a heap
        groups = [(self._number(timer.key, 0) >> BITS, timer) for timer in TimerQueue.__iter__(self)]
        far = ((self._number(timer.key, 0) >> BITS, timer) for timer in self.far())
        for group, timer in merge(sorted(groups, key=itemgetter(0)), far, key=itemgetter(0)):
            yield group, Timer(timer.time, timer.slot, timer.key, timer.namespace, timer.time if sort else timer.index)

    def as_heap(self) -> list[Timer]:
        timers = list(self)
        if self._horizon is not None:
            timers.sort(key=attrgetter("time"))
        return timers

    def __len__(self) -> int:
        self._write()
        return super().__len__() + self._far

    def __iter__(self) -> Iterator[Timer]:
        yield from super().__iter__()
        yield from self.far()

    def far(self) -> Iterator[Timer]:
        """The timers in the file, in the order of key groups. Add nothing meanwhile."""
        self._write()
        query = "select time, data from timers where queue=? order by id"
        with self._file.failures():
            for time, data in self._file.query(query, self._queue):
                for slot, key, namespace in pickle.loads(data):
                    yield Timer(time, slot, key, namespace)

    def first(self) -> Timer | None:
        timer = super().first()
        if timer is None and self._horizon is not None:
            self._read()
            timer = super().first()
        return timer

    def add(self, time: int, slot: Any, key: Any, namespace: Any) -> bool:
        """Add a timer; returns whether it is new, as far as memory tells."""
        horizon = self._horizon
        place = None if horizon is None or time < horizon[0] else (time, self._number(key, (slot, namespace)))
        if horizon is None or place is None or place < horizon:
            added = super().add(time, slot, key, namespace)
            if added and len(self._heap) > self._most:
                self._spill()
            return added
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
        # The horizon is the median: timers before it stay in the heap, the others go to the file, as do later ones that
        # are registered after it. So the heap is refilled only after half of its timers have fired.
        timers = list(super().__iter__())
        places = {id(timer): (timer.time, self._number(timer.key, (timer.slot, timer.namespace))) for timer in timers}
        timers.sort(key=lambda timer: places[id(timer)])
        horizon = places[id(timers[len(timers) // 2])]
        stay = [timer for timer in timers if places[id(timer)] < horizon]
        self._write()
        for timer in timers[len(stay) :]:
            name = timer.time, timer.slot, timer.namespace
            self._waiting[name] = places[id(timer)], (timer.slot, timer.key, timer.namespace)
        super().fill(stay)  # sorted timers are a heap
        self._horizon = horizon
        self._write()

    def _read(self) -> None:
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
                self._rewrite(place, lambda old, name=name: [entry for entry in old if (entry[0], entry[2]) != name])
            for place in sorted(added):
                self._add(place, added[place])

    def _add(self, place: Place, entries: list[Entry]) -> None:
        execute, row = self._file.execute, (self._queue, *place, encoded(entries))
        if execute("insert or ignore into timers values (?, ?, ?, ?)", row).rowcount:
            self._far += len(entries)
            return
        names = {(slot, namespace) for slot, _, namespace in entries}
        self._rewrite(place, lambda old: [*(entry for entry in old if (entry[0], entry[2]) not in names), *entries])

    def _rewrite(self, place: Place, change: Callable[[list[Entry]], list[Entry]]) -> None:
        query = "select data from timers where queue=? and time=? and id=?"
        row = self._file.execute(query, (self._queue, *place)).fetchone()
        old: list[Entry] = [] if row is None else pickle.loads(row[0])
        new = change(old)
        self._far += len(new) - len(old)
        if new:
            self._file.execute(
                "insert into timers values (?, ?, ?, ?) on conflict do update set data=excluded.data",
                (self._queue, *place, encoded(new)),
            )
        elif old:
            self._file.execute("delete from timers where queue=? and time=? and id=?", (self._queue, *place))

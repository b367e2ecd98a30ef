"""The timers of one operator, a queue ordered by time; :mod:`.operator_time` fires them. Timers of equal time fire in
the order of Flink's binary heap, so the heap repeats Flink's moves exactly. Source: ``HeapPriorityQueueSet`` (Flink
1.11)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.runtime.buffers.signals import MIN_WATERMARK


@dataclass(slots=True, eq=False)
class Timer:
    """One timer."""

    time: int
    slot: Any
    key: Any
    namespace: Any
    index: int = 0


_new_timer = object.__new__
Move = tuple[bool, Timer]  # a timer that was added (True) or removed
Due = tuple[int, Any, Any, Any]
"""Time, canonical form of the key, key and namespace of a timer."""
_FEW_MOVES = 100  # moves that are always recorded one by one


class TimerQueue:
    """Timers by time, without duplicates. Beside the heap is one of the times alone, so that a comparison looks at no
    timer. Timers know their place in the heap from the first removal on, as only that needs it."""

    def __init__(self) -> None:
        self._heap: list[Timer] = [Timer(MIN_WATERMARK, None, None, None)]  # Flink's heap starts at index 1
        self._times: list[int] = [MIN_WATERMARK]
        self.known: dict[int, Any] = {}  # by time a timer, or several by key and namespace; one object for good
        self._placed = False  # whether the index of every timer is right
        self._far = 0  # timers in a file, beyond memory
        self.noted: list[Move] | None = None
        self.all_new: bool = False

    def __len__(self) -> int:
        return len(self._heap) - 1

    def __iter__(self) -> Iterator[Timer]:
        self._place()
        return iter(self._heap[1:])

    def first(self) -> Timer | None:
        return self._heap[1] if len(self._heap) > 1 else None

    def add(self, time: int, slot: Any, key: Any, namespace: Any) -> bool:
        known, name = self.known, (slot, namespace)
        at = known.get(time)
        if at is not None and ((at.slot, at.namespace) == name if type(at) is Timer else name in at):
            return False
        timer = _new_timer(Timer)  # field by field: a third of the time of a call of the class
        timer.time, timer.slot, timer.key, timer.namespace = time, slot, key, namespace
        if at is None:
            known[time] = timer
        elif type(at) is Timer:
            known[time] = {(at.slot, at.namespace): at, name: timer}
        else:
            at[name] = timer  # type: ignore[index] # a dict
        heap, times = self._heap, self._times
        index = len(heap)
        heap.append(timer)
        times.append(time)
        if time < times[index >> 1]:
            self._up(index, timer)
        elif self._placed:
            timer.index = index
        if self.noted is not None:
            self._note(True, timer)
        return True

    def find(self, time: int, slot: Any, namespace: Any) -> Timer | None:
        """The timer, if there is one. O(1)."""
        at, name = self.known.get(time), (slot, namespace)
        if at is None or type(at) is dict:
            return None if at is None else at.get(name)
        return at if (at.slot, at.namespace) == name else None

    def _know(self, timer: Timer) -> None:
        at, name = self.known.get(timer.time), (timer.slot, timer.namespace)
        if at is None:
            self.known[timer.time] = timer
        elif type(at) is dict:
            at[name] = timer
        else:
            self.known[timer.time] = {(at.slot, at.namespace): at, name: timer}

    def _forget(self, timer: Timer) -> None:
        at = self.known[timer.time]
        if type(at) is dict:
            del at[timer.slot, timer.namespace]
        if at is timer or not at:
            del self.known[timer.time]

    def postpone(self, timer: Timer, time: int, namespace: Any) -> Timer:
        """:meth:`add` a timer of the same key, which is new and not earlier, and :meth:`remove` this one."""
        heap, times = self._heap, self._times
        if not self._placed or time < times[len(heap) >> 1]:  # it would rise
            self.add(time, timer.slot, timer.key, namespace)
            self.remove(timer.time, timer.slot, timer.namespace)
            later = self.find(time, timer.slot, namespace)
            assert later is not None
            return later
        known, index, later = self.known, timer.index, _new_timer(Timer)
        later.time, later.slot, later.key, later.namespace = time, timer.slot, timer.key, namespace
        if known[timer.time] is timer:
            del known[timer.time]
        else:
            self._forget(timer)
        if time in known:
            self._know(later)
        else:
            known[time] = later
        if self.noted is not None:
            heap.append(later)  # as far as the number of timers counts
            self._note(True, later)
            self._note(False, timer)
            heap.pop()
        self._down(index, later)  # it would be the last one, and so fill the place
        return later

    def remove(self, time: int, slot: Any, namespace: Any) -> None:
        timer = self.find(time, slot, namespace)
        if timer is None:
            return
        self._forget(timer)
        if not self._placed:
            self._place()
            self._placed = True
        self._take_out(timer)

    def due(self, limit: int | None) -> Timer | None:
        """The first timer, removed, if its time is not after a limit; None: whatever its time."""
        timer = self.first()
        return None if timer is None or (limit is not None and timer.time > limit) else self.poll()

    def enter_due(self, limit: int | None, keyed: Any) -> int | None:
        """Remove the first timer, if it is due, and make its key current in a keyed state. Returns its time; None when
        none is due. Timers of windows are skipped."""
        while (timer := self.due(limit)) is not None:
            keyed.resume(timer.key, timer.slot)
            if timer.namespace is None:
                return timer.time
        return None

    def poll(self) -> Timer:
        timer = self._heap[1]
        self._forget(timer)
        if self.noted is not None:
            self._note(False, timer)
        last = self._heap.pop()
        self._times.pop()
        if last is not timer:
            self._down(1, last)
        return timer

    def poll_until(self, limit: int) -> list[Due]:
        """Remove all timers up to a time, and return what they are in the order of :meth:`poll`."""
        times, due = self._times, list[Timer]()
        while len(times) > 1 and (time := times[1]) <= limit:
            self._poll_equal(time, due)
            self.known.pop(time, None)  # nobody asks before the others of that time are polled too
        return [(timer.time, timer.slot, timer.key, timer.namespace) for timer in due]

    def _poll_equal(self, time: int, due: list[Timer]) -> None:
        """Poll timers of the earliest time: all of them, or those before one that is last in the heap.

        They are the upper part of the heap. A later timer that is put at the top sinks through them, to the left where
        both sides are equal, and each that it passes rises by one place. So they are polled in pre-order, and their
        places become free in post-order. Here they do not rise; the later timer sinks from the place that becomes free,
        which is mostly near the bottom. They stay known."""
        heap, times, placed, noted = self._heap, self._times, self._placed, self.noted is not None
        way, rising = [1], [heap[1]]  # places from the top down, and the timers that have risen, or would have
        polled, size = 0, len(times) - 1
        while way:
            timer = rising[polled]
            polled += 1
            due.append(timer)
            if noted:
                self._note(False, timer)
            last = heap.pop()
            if (later := times.pop()) == time:
                if last is not timer:
                    self._rise(way, [last, *rising[polled:]])
                return
            size -= 1
            free = way[-1]
            while (child := 2 * free) <= size:
                if times[child] != time:
                    if child == size or times[child + 1] != time:
                        break
                    child += 1
                free = child
                way.append(free)
                rising.append(heap[free])
            way.pop()
            while child <= size:  # as _down does, which would cost as much again
                least = times[child]
                if child < size and (other := times[child + 1]) < least:
                    least = other
                    child += 1
                if least >= later:
                    break
                heap[free] = moved = heap[child]
                times[free] = least
                if placed:
                    moved.index = free
                free = child
                child += child
            heap[free], times[free] = last, later
            if placed:
                last.index = free

    def _rise(self, way: list[int], timers: list[Timer]) -> None:
        for index, timer in zip(way, timers, strict=True):
            self._heap[index] = timer
            if self._placed:
                timer.index = index

    def _place(self) -> None:
        """Have every timer know its place."""
        if not self._placed:
            for index, timer in enumerate(self._heap):
                timer.index = index

    def _take_out(self, timer: Timer) -> None:
        """Remove a timer: the last one fills its place, and sinks or rises from there."""
        if self.noted is not None:
            self._note(False, timer)
        index, last = timer.index, self._heap.pop()
        self._times.pop()
        if last is timer:
            return
        self._down(index, last)
        if self._heap[index] is last:
            self._up(index, last)

    def _up(self, index: int, timer: Timer) -> None:
        """Put a timer into a place, or into that of one above which is later."""
        heap, times, placed, time = self._heap, self._times, self._placed, timer.time
        while (above := index >> 1) and time < times[above]:
            heap[index] = other = heap[above]
            times[index] = times[above]
            if placed:
                other.index = index
            index = above
        heap[index], times[index] = timer, time
        if placed:
            timer.index = index

    def _down(self, index: int, timer: Timer) -> None:
        """Put a timer into a place, or into that of one below which is earlier."""
        heap, times, placed, time = self._heap, self._times, self._placed, timer.time
        child, last = 2 * index, len(heap) - 1
        while child <= last:
            least = times[child]
            if child < last and (other := times[child + 1]) < least:
                least = other
                child += 1
            if least >= time:
                break
            heap[index] = moved = heap[child]
            times[index] = least
            if placed:
                moved.index = index
            index = child
            child += child
        heap[index], times[index] = timer, time
        if placed:
            timer.index = index

    def track(self) -> None:
        self.noted = []

    def _note(self, added: bool, timer: Timer) -> None:
        assert self.noted is not None
        if self.all_new:
            return
        self.noted.append((added, timer))
        if self.outgrown(len(self.noted)):
            self.all_new = True
            self.noted.clear()

    def outgrown(self, moves: int) -> bool:
        return moves > 2 * (len(self._heap) + self._far) + _FEW_MOVES

    @property
    def moves(self) -> int:
        return len(self) if self.all_new else len(self.noted or ())

    def written(self) -> None:
        self.all_new = False
        if self.noted:
            self.noted.clear()

    def as_heap(self) -> list[Timer]:
        """All timers, in an order in which they are a heap."""
        return list(self)

    def by_group(self) -> Iterator[tuple[int, Timer]]:
        """Key group and timer by key group, for a queue beyond memory. Sorted by index they are a heap."""
        raise NotImplementedError

    def another(self) -> TimerQueue:
        return TimerQueue()

    def fill(self, timers: Iterable[Timer]) -> None:
        self._heap[1:] = timers
        timers = self._heap[1:]
        self._times[1:] = [timer.time for timer in timers]
        self.known.clear()
        deque(map(self._know, timers), maxlen=0)
        self._placed = False

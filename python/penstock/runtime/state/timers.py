"""Timers of one operator: a set ordered by time, and the service that fires them.

A timer is (time, key, namespace); registering it twice is registering it once. Equal times come in the order of Flink's
binary heap, which is neither that of keys nor that of registration, so the heap is Flink's move by move.

Sources of the semantics: ``HeapPriorityQueueSet``, ``InternalTimerServiceImpl`` (Flink 1.11). Cost: O(log n) to
register, to delete, and to fire.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.runtime.buffers.signals import MIN_WATERMARK


@dataclass(slots=True, eq=False)
class Timer:
    """One timer.

    Attributes:
        time: when it fires, in milliseconds.
        slot: canonical form of its key.
        key: the key.
        namespace: a window, or None.
        index: its place in the queue.
    """

    time: int
    slot: Any
    key: Any
    namespace: Any
    index: int = 0


Move = tuple[bool, Timer]
"""A timer that was added (True) or taken out."""

_FEW_MOVES = 100
"""Moves that are noted one by one, however few timers there are."""


class TimerQueue:
    """Timers by time, without duplicates.

    Attributes:
        noted: what was added and taken out, in order, since it was last written down; None: nobody asks. Who does the
            same to a queue that was equal has an equal one again, also in the order of equal times.
        all_new: there were more moves than timers, so they are noted no longer: all timers are to be written.
    """

    __slots__ = ("_heap", "_known", "all_new", "noted")

    def __init__(self) -> None:
        self._heap: list[Timer] = [Timer(MIN_WATERMARK, None, None, None)]  # the root has the index 1
        self._known: dict[Any, Timer] = {}
        self.noted: list[Move] | None = None
        self.all_new: bool = False

    def __len__(self) -> int:
        return len(self._heap) - 1

    def __iter__(self) -> Iterator[Timer]:
        return iter(self._heap[1:])

    def first(self) -> Timer | None:
        """The timer to fire next."""
        return self._heap[1] if len(self._heap) > 1 else None

    def add(self, time: int, slot: Any, key: Any, namespace: Any) -> bool:
        """Add a timer; whether it was not there."""
        name = time, slot, namespace
        if name in self._known:
            return False
        timer = self._known[name] = Timer(time, slot, key, namespace)
        self._heap.append(timer)
        self._up(len(self._heap) - 1, timer)
        if self.noted is not None:
            self._note(True, timer)
        return True

    def remove(self, time: int, slot: Any, namespace: Any) -> None:
        """Remove a timer, if it is there."""
        timer = self._known.pop((time, slot, namespace), None)
        if timer is not None:
            self._take_out(timer)

    def poll(self) -> Timer:
        """Take the first timer out."""
        timer = self._heap[1]
        del self._known[timer.time, timer.slot, timer.namespace]
        self._take_out(timer)
        return timer

    def _take_out(self, timer: Timer) -> None:
        """The last timer fills the hole and finds its place, downwards first."""
        if self.noted is not None:
            self._note(False, timer)
        index, last = timer.index, self._heap.pop()
        if last is timer:
            return
        self._put(index, last)
        self._down(index, last)
        if self._heap[index] is last:
            self._up(index, last)

    def _put(self, index: int, timer: Timer) -> None:
        self._heap[index] = timer
        timer.index = index

    def _up(self, index: int, timer: Timer) -> None:
        heap = self._heap
        while index > 1 and timer.time < heap[index >> 1].time:
            self._put(index, heap[index >> 1])
            index >>= 1
        self._put(index, timer)

    def _down(self, index: int, timer: Timer) -> None:
        heap, size = self._heap, len(self._heap)
        while (child := 2 * index) < size:
            if child + 1 < size and heap[child + 1].time < heap[child].time:
                child += 1
            if heap[child].time >= timer.time:
                break
            self._put(index, heap[child])
            index = child
        self._put(index, timer)

    # --- what is written down -----------------------------------------------------------------------------------------

    def track(self) -> None:
        """Note from now on what is added and taken out."""
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
        """Whether so many moves are more to write than the timers that there are."""
        return moves > 2 * len(self._heap) + _FEW_MOVES

    @property
    def moves(self) -> int:
        """How many entries a log needs for what has changed."""
        return len(self) if self.all_new else len(self.noted or ())

    def written(self) -> None:
        """What has changed has been written down."""
        self.all_new = False
        if self.noted:
            self.noted.clear()

    def by_group(self) -> Iterator[tuple[int, Timer]]:
        """Key group and timer, by key group, of a queue beyond memory; sorted by their index they are a heap."""
        raise NotImplementedError

    def another(self) -> TimerQueue:
        """An empty queue of the same kind."""
        return TimerQueue()

    def fill(self, timers: Iterable[Timer]) -> None:
        """Have these timers and no others, in the order in which another queue has them."""
        self._heap[1:] = timers
        self._known = {}
        for index, timer in enumerate(self):
            timer.index = index + 1
            self._known[timer.time, timer.slot, timer.namespace] = timer


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


class Clock:
    """The processing time of a task. Timers by the clock fire between two records; those that are not due when the
    input has ended never fire, as in Flink.

    Args:
        now: gives the milliseconds since the epoch.
    """

    __slots__ = ("_waiting", "now")

    def __init__(self, now: Callable[[], int] = _wall_clock) -> None:
        self.now: Callable[[], int] = now
        self._waiting: list[OperatorTime] = []

    def add(self, operator: OperatorTime) -> None:
        """An operator waits for the clock."""
        if operator not in self._waiting:
            self._waiting.append(operator)

    def next_due(self) -> int | None:
        """When the next timer is due; None if there is none."""
        return min(
            (due for due in (operator.next_due() for operator in self._waiting) if due is not None), default=None
        )

    def fire(self) -> None:
        """Fire what is due. Costs nothing while no operator has a timer."""
        if self._waiting:
            now = self.now()
            for operator in self._waiting:
                operator.reach(now)


class OperatorTime:
    """What an operator knows of time, and its timers.

    Args:
        clock: of the task.

    Attributes:
        watermark: the operator's, MIN_WATERMARK at first.
    """

    __slots__ = ("_on_event_time", "_on_processing_time", "_state", "clock", "watermark")

    def __init__(self, clock: Clock) -> None:
        self.clock: Clock = clock
        self.watermark: int = MIN_WATERMARK
        self._state: Any = None

    def use_timers(
        self, state: Any, on_event_time: Callable[[Timer], None], on_processing_time: Callable[[Timer], None]
    ) -> None:
        """Fire the timers in a keyed state; their key is the current one meanwhile.

        Args:
            state: holds them.
            on_event_time, on_processing_time: take a timer that fires.
        """
        self._state, self._on_event_time, self._on_processing_time = state, on_event_time, on_processing_time

    def advance(self, watermark: int) -> None:
        """The watermark has moved: fire all timers up to it, also those registered meanwhile."""
        self.watermark = watermark
        if self._state is not None:
            self._fire(self._state.event_timers, watermark, self._on_event_time)

    def reach(self, now: int) -> None:
        """The clock has moved."""
        self._fire(self._state.processing_timers, now, self._on_processing_time)

    def next_due(self) -> int | None:
        """When the next timer by the clock is due; None if there is none."""
        first = None if self._state is None else self._state.processing_timers.first()
        return None if first is None else first.time

    def watch_clock(self) -> None:
        """Wait for the clock if there are timers by it, as there may be in restored state."""
        if self._state is not None and len(self._state.processing_timers):
            self.clock.add(self)

    def _fire(self, queue: TimerQueue, limit: int | None, fire: Callable[[Timer], None]) -> None:
        """Fire the timers up to a time; None: all."""
        while (timer := queue.first()) is not None and (limit is None or timer.time <= limit):
            queue.poll()
            self._state.resume(timer.key, timer.slot)
            fire(timer)

    def register_event_time(self, time: int, namespace: Any = None) -> None:
        """Register a timer of the current key."""
        state = self._state
        state.event_timers.add(time, state.slot, state.current_key, namespace)

    def register_processing_time(self, time: int, namespace: Any = None) -> None:
        """Register a timer of the current key by the clock."""
        state = self._state
        state.processing_timers.add(time, state.slot, state.current_key, namespace)
        self.clock.add(self)

    def delete_event_time(self, time: int, namespace: Any = None) -> None:
        """Delete a timer of the current key."""
        self._state.event_timers.remove(time, self._state.slot, namespace)

    def delete_processing_time(self, time: int, namespace: Any = None) -> None:
        """Delete a timer of the current key by the clock."""
        self._state.processing_timers.remove(time, self._state.slot, namespace)

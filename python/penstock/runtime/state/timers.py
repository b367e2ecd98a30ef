"""The timers of one operator: a queue ordered by time, and the service that fires them. Timers of equal time fire in
the order of Flink's binary heap, so the heap repeats Flink's moves exactly. Sources: ``HeapPriorityQueueSet``,
``InternalTimerServiceImpl`` (Flink 1.11)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK

_LOG = logging.getLogger("penstock")


@dataclass(slots=True, eq=False)
class Timer:
    """One timer."""

    time: int
    slot: Any
    key: Any
    namespace: Any
    index: int = 0


Move = tuple[bool, Timer]  # a timer that was added (True) or removed
_FEW_MOVES = 100  # moves that are always recorded one by one


class TimerQueue:
    """Timers by time, without duplicates."""

    def __init__(self) -> None:
        self._heap: list[Timer] = [Timer(MIN_WATERMARK, None, None, None)]  # Flink's heap starts at index 1
        self._known: dict[Any, Timer] = {}
        self._far = 0  # timers in a file, beyond memory
        self.noted: list[Move] | None = None
        self.all_new: bool = False

    def __len__(self) -> int:
        return len(self._heap) - 1

    def __iter__(self) -> Iterator[Timer]:
        return iter(self._heap[1:])

    def first(self) -> Timer | None:
        return self._heap[1] if len(self._heap) > 1 else None

    def add(self, time: int, slot: Any, key: Any, namespace: Any) -> bool:
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
        timer = self._known.pop((time, slot, namespace), None)
        if timer is not None:
            self._take_out(timer)

    def poll(self) -> Timer:
        timer = self._heap[1]
        del self._known[timer.time, timer.slot, timer.namespace]
        self._take_out(timer)
        return timer

    def _take_out(self, timer: Timer) -> None:
        """Remove a timer: the last one fills its place, and sinks or rises from there."""
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

    def by_group(self) -> Iterator[tuple[int, Timer]]:
        """Key group and timer by key group, for a queue beyond memory. Sorted by index they are a heap."""
        raise NotImplementedError

    def another(self) -> TimerQueue:
        return TimerQueue()

    def fill(self, timers: Iterable[Timer]) -> None:
        self._heap[1:] = timers
        self._known = {}
        for index, timer in enumerate(self._heap[1:], 1):
            timer.index = index
            self._known[timer.time, timer.slot, timer.namespace] = timer


class Clock:
    """The processing time of a task. Its timers fire between two records; what is not due at the end never fires."""

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.now: Callable[[], int] = now
        self._waiting: list[OperatorTime] = []

    def add(self, operator: OperatorTime) -> None:
        if operator not in self._waiting:
            self._waiting.append(operator)

    def next_due(self) -> int | None:
        due = (operator.next_due() for operator in self._waiting)
        return min((time for time in due if time is not None), default=None)

    def fire(self) -> None:
        if self._waiting:
            now = self.now()
            for operator in self._waiting:
                operator.reach(now)


class Ahead(Protocol):
    """Timers that are in front of a queue: those of event time, or of the clock."""

    event_time: bool

    @property
    def waits(self) -> bool:
        """Whether they count, and not those of the queue."""
        ...

    def advance(self, limit: int) -> bool:
        """Fire those up to a time; whether none is left to the queue."""
        ...

    def next_due(self) -> int | None:
        """The time of the first one."""
        ...


class OperatorTime:
    """The watermark, clock and timers of an operator."""

    def __init__(self, clock: Clock) -> None:
        self.clock: Clock = clock
        self.watermark: int = MIN_WATERMARK
        self.ahead: Ahead | None = None
        self._state: Any = None

    def use_timers(
        self, state: Any, on_event_time: Callable[[Timer], None], on_processing_time: Callable[[Timer], None]
    ) -> None:
        """Fire the timers of a keyed state; the timer's key is current while it fires."""
        self._state, self._on_event_time, self._on_processing_time = state, on_event_time, on_processing_time

    def advance(self, watermark: int) -> None:
        """Set the watermark and fire all timers up to it, including ones registered meanwhile."""
        self.watermark = watermark
        if self.ahead is not None and self.ahead.event_time and self.ahead.advance(watermark):
            return
        if self._state is not None:
            self._fire(self._state.event_timers, watermark, self._on_event_time)

    def reach(self, now: int) -> None:
        if self.ahead is not None and not self.ahead.event_time and self.ahead.advance(now):
            return
        self._fire(self._state.processing_timers, now, self._on_processing_time)

    def next_due(self) -> int | None:
        if self.ahead is not None and self.ahead.waits and not self.ahead.event_time:
            return self.ahead.next_due()
        first = None if self._state is None else self._state.processing_timers.first()
        return None if first is None else first.time

    def watch_clock(self) -> None:
        """Wait for the clock if there are processing-time timers, as there may be after a restore."""
        if self._state is not None and len(self._state.processing_timers):
            self.clock.add(self)

    def _fire(self, queue: TimerQueue, limit: int | None, on_timer: Callable[[Timer], None]) -> None:
        while (timer := queue.first()) is not None and (limit is None or timer.time <= limit):
            queue.poll()
            self._state.resume(timer.key, timer.slot)
            on_timer(timer)

    def register_event_time(self, time: int, namespace: Any = None) -> None:
        state = self._state
        state.event_timers.add(time, state.slot, state.current_key, namespace)

    def register_processing_time(self, time: int, namespace: Any = None) -> None:
        state = self._state
        state.processing_timers.add(time, state.slot, state.current_key, namespace)
        self.clock.add(self)

    def delete_event_time(self, time: int, namespace: Any = None) -> None:
        self._state.event_timers.remove(time, self._state.slot, namespace)

    def delete_processing_time(self, time: int, namespace: Any = None) -> None:
        self._state.processing_timers.remove(time, self._state.slot, namespace)


class BatchTime(OperatorTime):
    """Time in BATCH mode, where an operator sees one key after the other. While the records of a key arrive the
    watermark is the smallest; then its timers fire, event time first. Timers that they register are ignored. Source:
    ``BatchExecutionInternalTimeService`` (Flink 1.20)."""

    _warned = False

    def end_key(self) -> None:
        if self._state is None:
            return
        self.watermark: int = MAX_WATERMARK
        self._fire(self._state.event_timers, None, self._on_event_time)
        self._fire(self._state.processing_timers, None, self._on_processing_time)
        self.watermark = MIN_WATERMARK

    def register_event_time(self, time: int, namespace: Any = None) -> None:
        if not self._ignored(time):
            super().register_event_time(time, namespace)

    def register_processing_time(self, time: int, namespace: Any = None) -> None:
        if not self._ignored(time):  # the clock is not asked, because timers fire at the end of the key
            self._state.processing_timers.add(time, self._state.slot, self._state.current_key, namespace)

    def _ignored(self, time: int) -> bool:
        if self.watermark != MAX_WATERMARK:
            return False
        if not self._warned:
            self._warned = True
            _LOG.warning(
                "A timer for %s was registered while the timers of a key fired at its end, and is ignored, as are all "
                "such timers of this operator: in BATCH mode no time follows the end of a key.",
                time,
            )
        return True

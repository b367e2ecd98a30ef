"""The time of one operator: its watermark, its clock, and the timers that they fire. Source:
``InternalTimerServiceImpl`` (Flink 1.11)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.state.timers import Due, Timer, TimerQueue

_LOG = logging.getLogger("penstock")

Firing = Callable[[TimerQueue, "int | None"], None]
"""Fires all timers of a queue up to a time, including ones registered meanwhile; None: whatever their time."""


class Waits(Protocol):
    """Something that waits for the clock: until when, and what happens then."""

    def next_due(self) -> int | None: ...
    def reach(self, now: int) -> None: ...


class Clock:
    """The processing time of a task. Its timers fire between two records; what is not due at the end never fires."""

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.now: Callable[[], int] = now
        self._waiting: list[Waits] = []

    def add(self, operator: Waits) -> None:
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
    """Timers that are in front of a queue: those of event time, of the clock, or both."""

    def covers(self, event_time: bool) -> bool:
        """Whether they count, and not those of the queue."""
        ...

    def advance(self, limit: int, event_time: bool) -> bool:
        """Fire those up to a time; whether none is left to the queue."""
        ...

    def next_due(self, event_time: bool) -> int | None:
        """The time of the first one."""
        ...


class OperatorTime:
    """The watermark, clock and timers of an operator."""

    def __init__(self, clock: Clock) -> None:
        self.clock: Clock = clock
        self.watermark: int = MIN_WATERMARK
        self.ahead: Ahead | None = None
        self._state: Any = None
        self._many: Callable[[bool, list[Due]], None] | None = None

    def use_timers(
        self, state: Any, on_event_time: Callable[[Timer], None], on_processing_time: Callable[[Timer], None]
    ) -> None:
        """Fire the timers of a keyed state; the timer's key is current while it fires."""

        def firing(on_timer: Callable[[Timer], None]) -> Firing:
            def fire(queue: TimerQueue, limit: int | None) -> None:
                while (timer := queue.due(limit)) is not None:
                    state.resume(timer.key, timer.slot)
                    on_timer(timer)

            return fire

        self.use_firing(state, firing(on_event_time), firing(on_processing_time))

    def use_firing(self, state: Any, event_time: Firing, processing_time: Firing) -> None:
        """Fire the timers of a keyed state, where that makes keys current by itself."""
        self._state, self._event_time, self._processing_time = state, event_time, processing_time

    def use_many(self, fire: Callable[[bool, list[Due]], None]) -> None:
        """From now on, fire all timers that are due by one call of ``fire``, with whether they are of event time. It
        neither registers timers nor deletes any, and makes keys current by itself."""
        self._many = fire

    def advance(self, watermark: int) -> None:
        """Set the watermark and fire all timers up to it, including ones registered meanwhile."""
        self.watermark = watermark
        if self.ahead is not None and self.ahead.covers(True) and self.ahead.advance(watermark, True):
            return
        if self._state is not None:
            self._fire(self._state.event_timers, watermark, self._event_time)

    def reach(self, now: int) -> None:
        if self.ahead is not None and self.ahead.covers(False) and self.ahead.advance(now, False):
            return
        self._fire(self._state.processing_timers, now, self._processing_time)

    def next_due(self) -> int | None:
        if self.ahead is not None and self.ahead.covers(False):
            return self.ahead.next_due(False)
        first = None if self._state is None else self._state.processing_timers.first()
        return None if first is None else first.time

    def watch_clock(self) -> None:
        """Wait for the clock if there are processing-time timers, as there may be after a restore."""
        if self._state is not None and len(self._state.processing_timers):
            self.clock.add(self)

    def _fire(self, queue: TimerQueue, limit: int | None, fire: Firing) -> None:
        if self._many is not None and limit is not None:
            if due := queue.poll_until(limit):
                self._many(queue is self._state.event_timers, due)
            return
        fire(queue, limit)

    def register_event_time(self, time: int, namespace: Any = None) -> None:
        state = self._state
        state.event_timers.add(time, state.slot, state.current_key, namespace)

    def register_processing_time(self, time: int, namespace: Any = None) -> None:
        state = self._state
        if state.processing_timers.add(time, state.slot, state.current_key, namespace):
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
        self._fire(self._state.event_timers, None, self._event_time)
        self._fire(self._state.processing_timers, None, self._processing_time)
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

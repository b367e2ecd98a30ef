"""Many records at a time into sessions with a fixed gap: a loop of :mod:`.window_batches`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.operators import window_loops
from penstock.runtime.operators.window_batches import Batches, Parts
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.timers import Timer
from penstock.runtime.state.tracked_tables import TrackedTable
from penstock.runtime.windows import merging_windows
from penstock.runtime.windows.time_window import TimeWindow


@dataclass(slots=True, eq=False)
class _Session:
    """The only session of a key."""

    start: int
    end: int
    least: int  # from this time on a record is in it, or makes it longer
    last: int  # after this time a record makes it longer
    table: Table  # that has its contents
    window: TimeWindow
    timer: Timer


class Sessions(Batches):
    """Sessions with a fixed gap."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        assigner: Any = parts.assigner
        self._near: dict[Any, _Session] = {}
        self._gap: int = assigner.session_gap
        self._last = MAX_WATERMARK - self._gap - self._lateness  # one that ends later could come to the end of time
        self._live = self._state.table(merging_windows.STATE)
        bindings = {
            "timed": self._event_time,
            "now": parts.live.context.clock.now,
            "time": self._time,
            "least": MIN_WATERMARK,
            "near": self._near,
            "process": parts.process,
            "fail": parts.live.context.fail,
            "extend": self._extending(),
            "remember": self._remember,
            "touch": _touch,
        }
        self._run = window_loops.sessions(parts.accumulation, bindings, by_event_time=self._event_time)

    def _forget(self, slot: Any) -> None:
        self._near.pop(slot, None)

    def _remember(self, slot: Any) -> None:
        """A record has come to a key: know its session, if it is the only one, and has its timers."""
        live = self._live.get(slot)
        self._near.pop(slot, None)
        if live is None or len(live) != 1:
            return
        ((window, kept),) = live.items()
        timer, table = self._timers.find(window[1] - 1, slot, window), self._state.find(STATE, kept)
        if timer is not None and self._has_timers(window, slot) and table and slot in table:
            start, end, gap = *window, self._gap
            self._near[slot] = _Session(start, end, start - gap, end - gap, table, window, timer)
            if window[1] > self._last:
                self._forget(slot)

    def _extending(self) -> Callable[[_Session, Any, int], None]:
        """The function by which a session grows to both sides of a time, and its timers move."""
        table, timers, near = self._live, self._timers, self._near
        gap, lateness, last, is_dict = self._gap, self._lateness, self._last, type(self._live) is dict
        postpone, new_window = timers.postpone, tuple.__new__

        def extend(session: _Session, slot: Any, time: int) -> None:
            before, later = session.window, time + gap
            if time < session.start:
                session.start, session.least = time, time - gap
            if later > session.end:
                session.end, session.last = later, time
            end = session.end
            session.window = window = new_window(TimeWindow, (session.start, end))
            live = table[slot]
            live[window] = live.pop(before)
            if not is_dict:
                _touch(table, slot)
            session.timer = timer = postpone(session.timer, end - 1, window)
            if lateness:
                timers.remove(before[1] - 1 + lateness, slot, before)
                timers.add(end - 1 + lateness, slot, timer.key, window)
            if end > last:
                near.pop(slot, None)

        return extend

    def _place(self, window: TimeWindow, slot: Any) -> TimeWindow | None:
        live = self._live.get(slot)
        return None if live is None else live.get(window)

    def _retire(self, window: TimeWindow, slot: Any) -> None:
        self._near.pop(slot, None)
        assert self._parts.merging is not None
        self._parts.merging.retire(window)


def _touch(table: Any, slot: Any) -> None:
    """A value in a table has changed."""
    if isinstance(table, TrackedTable):
        table.touch(slot)

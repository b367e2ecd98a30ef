"""Many records at a time into windows that begin at equal distances: a loop of :mod:`.window_batches`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators import window_loops
from penstock.runtime.operators.window_batches import Batches, Parts
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.tracked_tables import TrackedTable
from penstock.runtime.usercode.failure import OperatorFailure, state_error
from penstock.runtime.windows.functions import Accumulation
from penstock.runtime.windows.steady import is_steady
from penstock.runtime.windows.time_window import TimeWindow
from penstock.runtime.windows.triggers import CONTINUE, TriggerResult, check_result

Place = tuple[Table, Any, tuple[TimeWindow, int, int]]
"""A window's contents, the set of changed keys if there is one, and the window with its end and its cleanup time."""

_MISSING: Any = object()
_FEW_WINDOWS = 64  # windows that are remembered before the first look which of them are over


class Panes(Batches):
    """Windows of a size that begin at equal distances. If it ``asks``, the trigger is asked."""

    def __init__(self, parts: Parts, asks: bool) -> None:
        super().__init__(parts)
        assigner: Any = parts.assigner
        self._size, self._offset, self._asks = assigner.size, assigner.offset, asks
        self._asked: dict[TimeWindow, set[Any]] = {}  # for which keys a steady trigger has been asked, by window
        self._slide: int = getattr(assigner, "slide", assigner.size)
        if self._slide == self._size:
            self._least = 3
        self._windows: dict[int, TimeWindow | None] = {}  # by start; None for those that have not all their timers
        self._most = _FEW_WINDOWS
        self._now, context = parts.live.context.clock.now, parts.trigger_context
        bindings = {
            "timed": self._event_time,
            "now": self._now,
            "offset": self._offset,
            "slide": self._slide,
            "state": self._state,
            "find": self._find,
            "process": parts.process,
            "fail": parts.live.context.fail,
            "enter": self._enter,
            "context": context,
            "look_at": context.enter,
            "on_element": parts.trigger.on_element,
            "answer": self._answer,
            "known": getattr(self._timers, "known", {}),  # native timers have none
            "add_timer": self._add,
        }
        self._steady = asks and is_steady(parts.trigger)
        self._run = window_loops.panes(
            parts.accumulation,
            bindings,
            by_event_time=self._event_time,
            single=self._slide == self._size,
            rest=self._size % self._slide,
            tracked=self._state.changes is not None,
            asks=asks,
        )

    def _counted(self, slots: list[Any], stamps: Any) -> bool:
        accumulation, offset, slide = self._parts.accumulation, self._offset, self._slide
        if (
            accumulation is None
            or not accumulation.counts
            or self._size % slide
            or not (self._steady or not self._asks)
        ):
            return False
        first = last = 0
        if not self._event_time:
            first = last = self._now()
        elif None not in stamps:
            first, last = min(stamps), max(stamps)
        else:
            return False
        pane = first - (first - offset) % slide
        if last - pane < slide:
            groups = [(slot, pane, number) for slot, number in Counter(slots).items()]
        else:
            panes = [time - (time - offset) % slide for time in stamps]
            groups = [(slot, pane, number) for (slot, pane), number in Counter(zip(slots, panes, strict=True)).items()]
        places = {pane: self._find(pane) for pane in dict.fromkeys(pane for _, pane, _ in groups)}
        if None in places.values():
            return False
        asks, count = self._asks, self._ask if self._asks else self._count
        for slot, pane, number in groups:
            for table, changed, place in places[pane] or ():
                value = table.get(slot)
                if type(value) is int and (not asks or slot in self._asked.get(place[0], ())):
                    if changed is None:
                        table[slot] = value + number
                    else:
                        dict.__setitem__(table, slot, value + number)
                else:
                    count(accumulation, table, place, slot, number)
                if changed is not None:
                    changed.add(slot)
        return True

    def _ask(
        self, accumulation: Accumulation, table: Table, place: tuple[TimeWindow, int, int], slot: Any, number: int
    ) -> None:
        """Count records, and ask a trigger that is steady."""
        window, state, context = place[0], self._state, self._parts.trigger_context
        asked = self._asked.get(window)
        if asked is None:
            asked = self._asked[window] = set()
        known = slot in asked and slot in table
        self._count(accumulation, table, place, slot, number)
        if known:
            return
        asked.add(slot)
        state.current_key = state.slot = slot
        try:
            context.enter(window)
            result = self._parts.trigger.on_element(None, None, window, context)
            if result is not CONTINUE:
                self._answer(result, window)
            self._add(place[2], slot, slot, window)
        except OperatorFailure:
            raise
        except Exception as error:
            raise self._parts.live.context.fail(error) from error

    def _count(
        self, accumulation: Accumulation, table: Table, place: tuple[TimeWindow, int, int], slot: Any, number: int
    ) -> None:
        value = table.get(slot, _MISSING)
        begins = value is _MISSING
        try:
            if begins:
                assert accumulation.start is not None
                value = accumulation.start()
            if type(value) is int:
                value += number
            else:  # others are not added to at once: 0.1 + 1 + 1 is not 0.1 + 2
                for _ in range(number):
                    value = accumulation.add(value, None)
        except Exception as error:
            refused = state_error(accumulation.function, accumulation.state)
            refused.__cause__ = error
            raise self._parts.live.context.fail(refused) from refused
        dict.__setitem__(table, slot, value)
        if begins and not self._asks:
            window, end, cleanup = place
            self._add(end, slot, slot, window)
            if cleanup != end:
                self._add(cleanup, slot, slot, window)

    def _find(self, pane: int) -> list[Place] | None:
        """The windows of a pane, the last one first; None where one of them needs more than the loop does."""
        starts = range(pane - (pane - self._offset) % self._slide, pane - self._size, -self._slide)
        if not starts or not self._is_usual_time(starts):
            return None
        windows = [self._windows[start] if start in self._windows else self._begin(start) for start in starts]
        places: list[Place] = []
        for window in windows:
            if window is None:
                return None
            end = window[1] - 1
            table: Any = self._state.table(STATE, window)
            places.append((table, _changed(table), (window, end, end + self._lateness)))
        return places

    def _is_usual_time(self, starts: range) -> bool:
        """Whether no window of these is over, for the trigger that is not asked at its end, and none lasts for ever."""
        if starts[0] + self._size + self._lateness > MAX_WATERMARK:
            return False
        wait = self._lateness if self._asks else 0
        return not self._event_time or starts[-1] + self._size - 1 + wait > self._time.watermark

    def _begin(self, start: int) -> TimeWindow | None:
        if len(self._windows) >= self._most:
            now = self._time.watermark if self._event_time else self._now()
            least = now - self._size - self._lateness
            self._windows = {start: window for start, window in self._windows.items() if start >= least}
            self._asked = {window: asked for window, asked in self._asked.items() if window[0] >= least}
            self._most = 2 * len(self._windows) + _FEW_WINDOWS
        window: TimeWindow | None = TimeWindow(start, start + self._size)
        kept = () if self._asks else self._state.find(STATE, window) or ()
        if not all(self._has_timers(window, slot) for slot in kept):
            window = None
        self._windows[start] = window
        return window

    def _enter(self, place: tuple[TimeWindow, int, int], slot: Any, key: Any) -> None:
        """The first record of a key has come into a window."""
        window, end, cleanup = place
        self._add(end, slot, key, window)
        if cleanup != end:
            self._add(cleanup, slot, key, window)

    def _answer(self, result: TriggerResult, window: TimeWindow) -> None:
        try:
            if result.fire:
                self._parts.emit(window, window)
            if result.purge:
                self._state.drop(STATE, window)
        except AttributeError:
            check_result(result, self._parts.trigger.on_element)
            raise


def _changed(table: Any) -> set[Any] | None:
    """The set in which a table notes what changes, if it does so."""
    if not isinstance(table, TrackedTable):
        return None
    table.mark(())
    return table.changed

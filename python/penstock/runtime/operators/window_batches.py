"""Windows, many records at once: what :mod:`.window` does with each record and each timer, in generated loops.

They are for Flink's own assigners of panes, and of sessions with a fixed gap, without an evictor. They give what the
operator gives record by record: the same calls of the program's functions in the same order, the same state, timers and
results. The operator itself is called for what is rare: late records, sessions that merge, windows without the timers
that they should have, as a restore may leave them.

A *pane* is a stretch of time whose records have the same windows. A trigger that is the assigner's own is not asked:
each window gets its timers with its first record. Timers of one time fire as one stream of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import groupby, islice, repeat
from operator import attrgetter
from typing import Any

from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.operator import Take
from penstock.runtime.chain.outputs import Collector
from penstock.runtime.keys.field_selectors import quick_keys
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators import window_loops
from penstock.runtime.operators.process import Yielding
from penstock.runtime.operators.window_contents import STATE, Contents
from penstock.runtime.operators.window_loops import Run
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.timers import OperatorTime, Timer
from penstock.runtime.state.tracked_tables import TrackedTable
from penstock.runtime.usercode.failure import OperatorFailure, state_error
from penstock.runtime.usercode.functions import unless_iterable
from penstock.runtime.windows import merging_windows
from penstock.runtime.windows.assigners import (
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from penstock.runtime.windows.functions import Accumulation, Apply
from penstock.runtime.windows.merging_windows import MergingWindows
from penstock.runtime.windows.steady import is_steady
from penstock.runtime.windows.time_window import TimeWindow
from penstock.runtime.windows.triggers import (
    CONTINUE,
    EventTimeTrigger,
    ProcessingTimeTrigger,
    Trigger,
    TriggerContext,
    TriggerResult,
    check_result,
)

Place = tuple[Table, Any, tuple[TimeWindow, int, int]]
"""A window's contents, the set of changed keys if there is one, and the window with its end and its cleanup time."""

_MISSING: Any = object()
_NAMESPACE = attrgetter("namespace")
_ATOMS = frozenset({str, int})
_TOGETHER = 4096  # results that are emitted together
_FEW_WINDOWS = 64  # windows that are remembered before the first look which of them are over
_SESSIONS = EventTimeSessionWindows, ProcessingTimeSessionWindows
_TUMBLING = TumblingEventTimeWindows, TumblingProcessingTimeWindows
_SLIDING = SlidingEventTimeWindows, SlidingProcessingTimeWindows


@dataclass(frozen=True)
class Parts:
    """The operator and its parts. ``process`` does its work on one record, ``on_timers`` on a timer of event time, or
    of the clock; ``emit`` shows the contents of a window to the function; ``accumulation`` is None where windows keep
    all their elements."""

    live: Yielding
    tag: type
    assigner: WindowAssigner[Any, Any]
    trigger: Trigger[Any, Any]
    lateness: int
    keyed: KeyPartition
    state: KeyedState
    contents: Contents
    accumulation: Accumulation | None
    process: Collector
    on_timers: tuple[Callable[[Timer], None], Callable[[Timer], None]]
    emit: Callable[[Any, Any], None]
    trigger_context: TriggerContext
    window_context: Any
    apply: Apply
    clearer: Callable[[Any], None] | None
    merging: MergingWindows | None


def taker(parts: Parts) -> Take | None:
    """The loop for an operator, which from now on fires its timers together too; None if there is none."""
    time, assigner = parts.live.context.time, parts.assigner
    kind: Any = type(assigner)
    if type(time) is not OperatorTime or not parts.state.holds_dicts:
        return None
    own_trigger = EventTimeTrigger if assigner.event_time else ProcessingTimeTrigger
    asks = type(parts.trigger) is not own_trigger
    batches: _Batches
    if kind in _SESSIONS and not asks and (assigner.event_time or assigner != ProcessingTimeSessionWindows(1)):
        batches = _Sessions(parts)
    elif kind in _TUMBLING or kind in _SLIDING:
        batches = _Panes(parts, asks)
    else:
        return None
    if not asks:
        time.use_many(batches.fire)
    return batches.take


class _Batches:
    """Base of the loops."""

    _run: Run
    _least = 1  # records that cost less together than alone

    def __init__(self, parts: Parts) -> None:
        self._parts, context = parts, parts.live.context
        self._state, self._time = parts.state, context.time
        self._event_time = parts.assigner.is_event_time()
        self._lateness = parts.lateness if self._event_time else 0
        self._timers = parts.state.event_timers if self._event_time else parts.state.processing_timers
        self._add = self._timers.add if self._event_time else self._add_timer
        select = parts.keyed.selector()
        self._keys_of = quick_keys(select) or (lambda values: list(map(select, values)))

    def take(self, values: list[Any], times: Iterator[int | None] | None = None, keys: list[Any] | None = None) -> None:
        """Take records, in order; ``times`` may have more, which are left; ``keys`` are theirs, if known."""
        parts, stamps = self._parts, repeat(None) if times is None else list(islice(times, len(values)))
        if keys is None and len(values) >= self._least:
            try:
                keys = self._keys_of(values)
            except Exception:  # whose record it was comes out one by one
                keys = []
        if len(values) < self._least or not keys:
            for value, stamp in zip(values, stamps, strict=False):
                parts.process(value, stamp)
                self._forget(self._state.slot)
            return
        canonical = self._are_canonical(keys)
        try:
            if not canonical:
                self._run(values, stamps, map(self._state.enter, keys), False)
            elif not self._counted(keys, stamps):
                self._run(values, stamps, keys, True)
        except OperatorFailure:
            raise
        except Exception as error:
            raise parts.live.context.fail(parts.keyed.failure(error)) from error
        if canonical:
            self._state.resume(keys[-1], keys[-1])

    def _counted(self, slots: list[Any], stamps: Any) -> bool:
        """Take records by counting them. Returns whether that could be done; if not, nothing has been."""
        return False

    def _are_canonical(self, keys: list[Any]) -> bool:
        """Whether all keys are their own canonical forms."""
        state, kinds = self._state, set(map(type, keys))
        return (state.has_own_forms and kinds <= _ATOMS) or (state.key_hash.identity and type(None) not in kinds)

    def _cleanup_time(self, end: int) -> int:
        return min(end + self._lateness, MAX_WATERMARK)

    def _has_timers(self, window: TimeWindow, slot: Any) -> bool:
        end, find = window[1] - 1, self._timers.find
        return find(end, slot, window) is not None and find(self._cleanup_time(end), slot, window) is not None

    def _add_timer(self, time: int, slot: Any, key: Any, window: TimeWindow) -> bool:
        added = self._timers.add(time, slot, key, window)
        if added:
            self._time.clock.add(self._time)
        return added

    def fire(self, by_event_time: bool, timers: list[Timer]) -> None:
        """Fire timers, all that are due, in order."""
        handle = self._parts.on_timers[0 if by_event_time else 1]
        for time, group in groupby(timers, attrgetter("time")):
            equal, together = list(group), list[Timer]()
            if by_event_time and self._event_time and set(map(type, map(_NAMESPACE, equal))) == {TimeWindow}:
                self._emit(equal, time)  # all of them are usual
                continue
            for timer in equal:
                if by_event_time is self._event_time and self._is_usual(timer.namespace, time):
                    together.append(timer)
                    continue
                self._emit(together, time)
                together = []
                self._state.resume(timer.key, timer.slot)
                self._forget(timer.slot)
                handle(timer)
            self._emit(together, time)

    def _is_usual(self, window: Any, time: int) -> bool:
        return type(window) is TimeWindow and (self._event_time or window.max_timestamp() == time)

    def _forget(self, slot: Any) -> None:
        """Forget what is remembered of a key."""

    def _emit(self, timers: list[Timer], time: int) -> None:
        if not timers:
            return
        results: Any = self._results(timers, time)
        live = self._parts.live
        try:
            while results.gi_frame is not None:  # until it has ended
                some = islice(results, _TOGETHER)
                live.output.feed(some, time)
                for _ in some:  # the fused form asks for none where it has no place for them
                    pass
        except Exception as error:
            raise live.context.fail(error) from error

    def _place(self, window: TimeWindow, slot: Any) -> TimeWindow | None:
        """The window under which the contents of a window are kept; None if there is no such window."""
        return window

    def _retire(self, window: TimeWindow, slot: Any) -> None:
        """A window is over."""

    def _results(self, timers: list[Timer], time: int) -> Generator[Any, None, None]:
        """The results of windows for the main output at timers of one time; those for others are emitted on the way."""
        parts, state, emitted = self._parts, self._state, 0
        context, tag, collect_side = parts.window_context, parts.tag, parts.live.output.collect_side
        merges, last, kept, apply = parts.merging is not None, None, None, parts.apply
        result_of = None if parts.accumulation is None else parts.accumulation.result
        fires = cleans = False
        table: Table | None = None
        try:
            for timer in timers:
                window, slot = timer.namespace, timer.slot
                if merges and (kept := self._place(window, slot)) is None:
                    continue  # it has become another window
                if merges or window is not last:
                    last, kept = window, kept if merges else window
                    table, end = state.find(STATE, kept), window.max_timestamp()
                    fires, cleans = time == end, time == self._cleanup_time(end)
                state.current_key, state.slot = timer.key, slot
                shown = None
                if fires and table:
                    if not cleans:
                        shown = self._contents(table, slot)
                    elif (value := table.get(slot, _MISSING)) is not _MISSING:
                        shown = value if result_of is None else [result_of(value)]
                if shown is not None:
                    context._window = window
                    results = apply(timer.key, window, shown, context)
                    if results is not None:
                        try:
                            for result in results:
                                if type(result) is tuple and len(result) == 2 and type(result[0]) is tag:
                                    collect_side(result[0].tag_id, result[1], time)
                                else:
                                    emitted += 1
                                    yield result
                        except TypeError as error:
                            better = unless_iterable(results, parts.live.function, error)
                            if better is error:  # which is not the cause of itself
                                raise
                            raise better from error
                if cleans:
                    if table is not None:
                        table.pop(slot, None)
                        if not table:
                            state.drop(STATE, kept)
                    if parts.clearer is not None:
                        context._window = window
                        parts.clearer(context)
                    if merges:
                        self._retire(window, slot)
        finally:
            parts.live.emitted += emitted

    def _contents(self, table: Table, slot: Any) -> list[Any] | None:
        """The elements to show of a window that goes on, None if it is empty."""
        shown: list[list[Any]] = []
        self._parts.contents.show(table, slot, shown.append)
        return shown[0] if shown else None


class _Panes(_Batches):
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
            "known": self._timers.known,
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


@dataclass(slots=True, eq=False)
class _Session:
    """The only session of a key."""

    start: int
    end: int
    table: Table  # that has its contents
    window: TimeWindow
    timer: Timer


class _Sessions(_Batches):
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
            "gap": self._gap,
            "time": self._time,
            "least": MIN_WATERMARK,
            "near": self._near,
            "process": parts.process,
            "fail": parts.live.context.fail,
            "extend": self._extend,
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
            self._near[slot] = _Session(window[0], window[1], table, window, timer)
            if window[1] > self._last:
                self._forget(slot)

    def _extend(self, session: _Session, slot: Any, time: int) -> None:
        """A session grows to both sides of a time, and its timers move."""
        table, timers, lateness, before = self._live, self._timers, self._lateness, session.window
        live, (start, end), later = table[slot], before, time + self._gap
        start, end = time if time < start else start, later if later > end else end
        window = tuple.__new__(TimeWindow, (start, end))
        session.start, session.end, session.window = start, end, window
        live[window] = live.pop(before)
        if type(table) is not dict:
            _touch(table, slot)
        session.timer = timer = timers.postpone(session.timer, end - 1, window)
        if lateness:
            timers.remove(before[1] - 1 + lateness, slot, before)
            timers.add(end - 1 + lateness, slot, timer.key, window)
        if end > self._last:
            self._forget(slot)

    def _place(self, window: TimeWindow, slot: Any) -> TimeWindow | None:
        live = self._live.get(slot)
        return None if live is None else live.get(window)

    def _retire(self, window: TimeWindow, slot: Any) -> None:
        self._near.pop(slot, None)
        assert self._parts.merging is not None
        self._parts.merging.retire(window)


def _changed(table: Any) -> set[Any] | None:
    """The set in which a table notes what changes, if it does so."""
    if not isinstance(table, TrackedTable):
        return None
    table.mark(())
    return table.changed


def _touch(table: Any, slot: Any) -> None:
    """A value in a table has changed."""
    if isinstance(table, TrackedTable):
        table.touch(slot)

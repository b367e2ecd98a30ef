"""Windows, many records at once: what :mod:`.window` does with each record and each timer, in generated loops.

They are for Flink's own assigners of panes, and of sessions with a fixed gap, without an evictor. They give what the
operator gives record by record: the same calls of the program's functions in the same order, the same state, timers and
results. The operator itself is called for what is rare: late records, sessions that merge, windows without the timers
that they should have, as a restore may leave them.

A *pane* is a stretch of time whose records have the same windows. A trigger that is the assigner's own is not asked:
each window gets its timers with its first record. Timers of one time fire as one stream of results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import groupby, islice, repeat
from operator import itemgetter
from typing import Any

from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.outputs import Collector
from penstock.runtime.keys.expressions import keys_by
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.process import Yielding
from penstock.runtime.operators.window_contents import STATE, Contents
from penstock.runtime.operators.window_loops import Run
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.timers import Due, Timer
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.usercode.functions import unless_iterable
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
from penstock.runtime.windows.time_window import TimeWindow
from penstock.runtime.windows.triggers import (
    Trigger,
    TriggerContext,
)

_MISSING: Any = object()
_TIME, _NAMESPACE = itemgetter(0), itemgetter(3)
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


class Batches:
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
        self._keys_of = keys_by(select) or (lambda values: list(map(select, values)))

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

    def fire(self, by_event_time: bool, due: list[Due]) -> None:
        """Fire timers, all that are due, in order."""
        handle = self._parts.on_timers[0 if by_event_time else 1]
        for time, group in groupby(due, _TIME):
            equal, together = list(group), list[Due]()
            if by_event_time and self._event_time and set(map(type, map(_NAMESPACE, equal))) == {TimeWindow}:
                self._emit(equal, time)  # all of them are usual
                continue
            for timer in equal:
                _, slot, key, window = timer
                if by_event_time is self._event_time and self._is_usual(window, time):
                    together.append(timer)
                    continue
                self._emit(together, time)
                together = []
                self._state.resume(key, slot)
                self._forget(slot)
                handle(Timer(*timer))
            self._emit(together, time)

    def _is_usual(self, window: Any, time: int) -> bool:
        return type(window) is TimeWindow and (self._event_time or window.max_timestamp() == time)

    def _forget(self, slot: Any) -> None:
        """Forget what is remembered of a key."""

    def _emit(self, timers: list[Due], time: int) -> None:
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

    def _results(self, timers: list[Due], time: int) -> Generator[Any, None, None]:
        """The results of windows for the main output at timers of one time; those for others are emitted on the way."""
        parts, state, emitted = self._parts, self._state, 0
        context, tag, collect_side = parts.window_context, parts.tag, parts.live.output.collect_side
        merges, last, kept, apply = parts.merging is not None, None, None, parts.apply
        result_of = None if parts.accumulation is None else parts.accumulation.result
        fires = cleans = False
        table: Table | None = None
        try:
            for _, slot, key, window in timers:
                if merges and (kept := self._place(window, slot)) is None:
                    continue  # it has become another window
                if merges or window is not last:
                    last, kept = window, kept if merges else window
                    table, end = state.find(STATE, kept), window.max_timestamp()
                    fires, cleans = time == end, time == self._cleanup_time(end)
                state.current_key, state.slot = key, slot
                shown = None
                if fires and table:
                    if not cleans:
                        shown = self._contents(table, slot)
                    elif (value := table.get(slot, _MISSING)) is not _MISSING:
                        shown = value if result_of is None else [result_of(value)]
                if shown is not None:
                    context._window = window
                    results = apply(key, window, shown, context)
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

"""Triggers: when a window fires. They are asked after each element and at each of their timers.

A program's own trigger has the same methods; :class:`TriggerContext` offers PyFlink's names for it. What the triggers
here remember is in tables of the keyed state, by window and key.

Sources of the semantics: the triggers of ``org.apache.flink.streaming.api.windowing.triggers`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.state.handles import MergingState, handle_of, merge_tables
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.timers import OperatorTime
from penstock.runtime.usercode.binding import bind
from penstock.runtime.windows.time_window import GLOBAL


class TriggerResult(Enum):
    """What to do with a window now: (fire, purge)."""

    CONTINUE = (False, False)
    FIRE = (True, False)
    PURGE = (False, True)
    FIRE_AND_PURGE = (True, True)

    def __init__(self, fire: bool, purge: bool) -> None:
        self.fire = fire
        self.purge = purge

    def is_fire(self) -> bool:
        """Whether the window's function is called."""
        return self.fire

    def is_purge(self) -> bool:
        """Whether the window is emptied."""
        return self.purge


CONTINUE, FIRE, FIRE_AND_PURGE = TriggerResult.CONTINUE, TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE


class TriggerContext:
    """A trigger's access to time and to the state of the current key and window.

    Attributes:
        keyed: the operator's state.
        time: the operator's watermark, clock and timers.
        metrics: of the operator.
        window: the current one.
        merged: while windows merge, those that become ``window``.
    """

    __slots__ = ("_tables", "keyed", "merged", "metrics", "time", "window")

    def __init__(self, keyed: KeyedState, time: OperatorTime, metrics: Metrics) -> None:
        self.keyed = keyed
        self.time = time
        self.metrics = metrics
        self.window: Any = None
        self.merged: Sequence[Any] = ()
        self._tables: dict[str, Table] = {}

    def enter(self, window: Any) -> None:
        """Make a window the current one."""
        self.window = window
        self._tables.clear()

    def table(self, name: str) -> Table:
        """The trigger's state of that name, by canonical key, for the current window."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self.keyed.table(f"trigger:{name}", self.window)
        return table

    def drop(self, name: str) -> Any:
        """Forget the current key's part of :meth:`table`; returns it."""
        self._tables.pop(name, None)
        return self.keyed.drop(f"trigger:{name}", self.window)

    def merge(self, name: str, merge: Callable[[Any, Any], Any]) -> None:
        """Merge the state of the windows that become the current one."""
        self._tables.pop(name, None)
        merge_tables(self.keyed, f"trigger:{name}", self.window, self.merged, merge)

    # --- PyFlink's names, for triggers of a program's own -------------------------------------------------------------

    def get_metric_group(self) -> MetricGroup:
        """The operator's group of metrics."""
        return MetricGroup(self.metrics)

    def get_current_watermark(self) -> int:
        """The operator's watermark."""
        return self.time.watermark

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.time.clock.now()

    def register_event_time_timer(self, time: int) -> None:
        """Have ``on_event_time`` called for this key and window when the watermark reaches a time."""
        self.time.register_event_time(time, self.window)

    def register_processing_time_timer(self, time: int) -> None:
        """Have ``on_processing_time`` called for this key and window when the clock reaches a time."""
        self.time.register_processing_time(time, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        """Forget a timer."""
        self.time.delete_event_time(time, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        """Forget a timer by the clock."""
        self.time.delete_processing_time(time, self.window)

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        """State of this key and window: a value, a list, a map, a reduction or an aggregation by the descriptor."""
        return handle_of(self.keyed, state_descriptor, self.window)

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        """In ``on_merge``: merge the state of the windows that become this one."""
        state = self.get_partitioned_state(state_descriptor)
        if isinstance(state, MergingState):
            state.merge_namespaces(self.window, self.merged)


class Trigger:
    """Decides when a window fires. Subclasses are plain frozen data; what they remember is in the context."""

    def needs_an_end(self) -> bool:
        """Whether it waits for the end of the window, so that it cannot work on the global one."""
        return False

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        """Called after each element was added to the window."""
        raise NotImplementedError

    def on_event_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        """Called when the watermark reaches a timer."""
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        """Called when the clock reaches a timer."""
        return CONTINUE

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        """Called when windows have become ``window``."""

    def clear(self, window: Any, context: TriggerContext) -> None:
        """Forget the state of the current key in a window that is over."""


@dataclass(frozen=True)
class NeverTrigger(Trigger):
    """Never fires: the default of GlobalWindows."""

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        return CONTINUE


@dataclass(frozen=True)
class EventTimeTrigger(Trigger):
    """Fires when the watermark reaches the end of the window, and at once for elements that come after that."""

    def needs_an_end(self) -> bool:
        return True

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        end = window.max_timestamp()
        if end <= context.time.watermark:
            return FIRE
        context.time.register_event_time(end, window)
        return CONTINUE

    def on_event_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else CONTINUE

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > context.time.watermark:
            context.time.register_event_time(end, window)

    def clear(self, window: Any, context: TriggerContext) -> None:
        context.time.delete_event_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class ProcessingTimeTrigger(Trigger):
    """Fires when the clock reaches the end of the window."""

    def needs_an_end(self) -> bool:
        return True

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        context.time.register_processing_time(window.max_timestamp(), window)
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        return FIRE

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > context.time.clock.now():
            context.time.register_processing_time(end, window)

    def clear(self, window: Any, context: TriggerContext) -> None:
        context.time.delete_processing_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class CountTrigger(Trigger):
    """Fires at every n-th element of a key.

    Attributes:
        count: n, at least 1.
    """

    count: int

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        table, slot = context.table("count"), context.keyed.slot
        seen = table.get(slot, 0) + 1
        if seen < self.count:
            table[slot] = seen
            return CONTINUE
        table.pop(slot, None)
        return FIRE

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        context.merge("count", int.__add__)

    def clear(self, window: Any, context: TriggerContext) -> None:
        context.drop("count")


@dataclass(frozen=True)
class _Continuous(Trigger):
    """Base of what fires at equal distances of time; the next time is state.

    Attributes:
        interval: in milliseconds.
    """

    interval: int

    def _next(self, time: int, register: Callable[[int, Any], None], context: TriggerContext) -> None:
        context.table("fire-time")[context.keyed.slot] = time
        register(time, context.window)

    def _first(self, now: int, register: Callable[[int, Any], None], context: TriggerContext) -> None:
        """The next multiple of the interval, if none is waited for."""
        if context.keyed.slot not in context.table("fire-time"):
            past = now % self.interval if now >= 0 else -(-now % self.interval)  # Java's remainder
            self._next(now - past + self.interval, register, context)

    def _reached(self, time: int, register: Callable[[int, Any], None], context: TriggerContext) -> TriggerResult:
        if context.table("fire-time").get(context.keyed.slot) != time:
            return CONTINUE
        if context.time.watermark < MAX_WATERMARK or context.window is not GLOBAL[0]:
            self._next(time + self.interval, register, context)  # after the end it would never end
        return FIRE

    def _merge(self, register: Callable[[int, Any], None], context: TriggerContext) -> None:
        context.merge("fire-time", min)
        time = context.table("fire-time").get(context.keyed.slot)
        if time is not None:
            register(time, context.window)

    def _clear(self, delete: Callable[[int, Any], None], context: TriggerContext) -> None:
        time = context.drop("fire-time")
        if time is not None:
            delete(time, context.window)


@dataclass(frozen=True)
class ContinuousEventTimeTrigger(_Continuous):
    """Fires at multiples of an interval of event time, at the end of the window, and for elements after it."""

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        end, time = window.max_timestamp(), context.time
        if end <= time.watermark:
            return FIRE
        time.register_event_time(end, window)
        if timestamp is not None:
            self._first(timestamp, time.register_event_time, context)
        return CONTINUE

    def on_event_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            return FIRE
        return self._reached(time, context.time.register_event_time, context)

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        self._merge(context.time.register_event_time, context)

    def clear(self, window: Any, context: TriggerContext) -> None:
        self._clear(context.time.delete_event_time, context)


@dataclass(frozen=True)
class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at multiples of an interval of the clock."""

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        self._first(context.time.clock.now(), context.time.register_processing_time, context)
        return CONTINUE

    def on_processing_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        return self._reached(time, context.time.register_processing_time, context)

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        self._merge(context.time.register_processing_time, context)

    def clear(self, window: Any, context: TriggerContext) -> None:
        self._clear(context.time.delete_processing_time, context)


@dataclass(frozen=True)
class DeltaTrigger(Trigger):
    """Fires when an element differs by more than a threshold from the one that fired last, or came first.

    Attributes:
        threshold: the difference that is too much.
        delta: a callable of (old element, new element), or an object with ``get_delta``.
    """

    threshold: float
    delta: Any

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        table, slot = context.table("last-element"), context.keyed.slot
        last = table.setdefault(slot, value)
        if bind(self.delta, "get_delta")(last, value) > self.threshold:
            table[slot] = value
            return FIRE
        return CONTINUE

    def clear(self, window: Any, context: TriggerContext) -> None:
        context.drop("last-element")


@dataclass(frozen=True)
class PurgingTrigger(Trigger):
    """Purges the window whenever the trigger inside fires. The inner trigger's own state stays."""

    trigger: Trigger

    def needs_an_end(self) -> bool:
        return self.trigger.needs_an_end()

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        result = self.trigger.on_element(value, timestamp, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_event_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        result = self.trigger.on_event_time(time, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_processing_time(self, time: int, window: Any, context: TriggerContext) -> TriggerResult:
        result = self.trigger.on_processing_time(time, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_merge(self, window: Any, context: TriggerContext) -> None:
        self.trigger.on_merge(window, context)

    def clear(self, window: Any, context: TriggerContext) -> None:
        self.trigger.clear(window, context)

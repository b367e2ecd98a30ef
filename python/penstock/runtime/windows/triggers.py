"""The triggers of Flink: when a window fires.

Each is plain frozen data under PyFlink's name: it names itself in a plan, travels with the program, and is asked in
each subtask. What triggers remember is in tables of the keyed state, by window and key.

Sources of names and semantics: the triggers of ``org.apache.flink.streaming.api.windowing.triggers`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.common import checks
from penstock.common.time import Span, milliseconds_of
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.usercode.binding import bind
from penstock.runtime.usercode.naming import java_object, simple_name
from penstock.runtime.windows.time_window import Window
from penstock.runtime.windows.trigger import (
    CONTINUE,
    FIRE,
    FIRE_AND_PURGE,
    DeltaFunction,
    Trigger,
    TriggerContext,
    TriggerResult,
)

_Interval = TypeVar("_Interval", bound="_Continuous")
T = TypeVar("T", contravariant=True)
W = TypeVar("W", contravariant=True)
V = TypeVar("V")
X = TypeVar("X")


@dataclass(frozen=True)
class NeverTrigger(Trigger[object, object]):
    """Never fires: the default of GlobalWindows."""

    def on_element(
        self, value: object, timestamp: int | None, window: object, context: TriggerContext
    ) -> TriggerResult:
        return CONTINUE

    def __str__(self) -> str:
        return java_object("org.apache.flink.streaming.api.windowing.assigners.GlobalWindows$NeverTrigger")


class _Mergeable(Trigger[object, W]):
    """Base of the triggers that work on session windows too."""

    def can_merge(self) -> bool:
        return True


@dataclass(frozen=True)
class EventTimeTrigger(_Mergeable[Window]):
    """Fires when the watermark reaches the end of the window, and at once for elements that come after that."""

    @staticmethod
    def create() -> EventTimeTrigger:
        """The trigger."""
        return EventTimeTrigger()

    def needs_an_end(self) -> bool:
        return True

    def on_element(
        self, value: object, timestamp: int | None, window: Window, context: TriggerContext
    ) -> TriggerResult:
        end = window.max_timestamp()
        if end <= context.time.watermark:
            return FIRE
        context.time.register_event_time(end, window)
        return CONTINUE

    def on_event_time(self, time: int, window: Window, context: TriggerContext) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else CONTINUE

    def on_merge(self, window: Window, context: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > context.time.watermark:
            context.time.register_event_time(end, window)

    def clear(self, window: Window, context: TriggerContext) -> None:
        context.time.delete_event_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class ProcessingTimeTrigger(_Mergeable[Window]):
    """Fires when the clock reaches the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """The trigger."""
        return ProcessingTimeTrigger()

    def needs_an_end(self) -> bool:
        return True

    def on_element(
        self, value: object, timestamp: int | None, window: Window, context: TriggerContext
    ) -> TriggerResult:
        context.time.register_processing_time(window.max_timestamp(), window)
        return CONTINUE

    def on_processing_time(self, time: int, window: Window, context: TriggerContext) -> TriggerResult:
        return FIRE

    def on_merge(self, window: Window, context: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > context.time.clock.now():
            context.time.register_processing_time(end, window)

    def clear(self, window: Window, context: TriggerContext) -> None:
        context.time.delete_processing_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class CountTrigger(_Mergeable[object]):
    """Fires at every n-th element of a key.

    Attributes:
        count: n, at least 1.
    """

    count: int

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Fires at every ``window_size``-th element."""
        return CountTrigger(checks.integer(window_size, "CountTrigger.of", "count"))

    def on_element(
        self, value: object, timestamp: int | None, window: object, context: TriggerContext
    ) -> TriggerResult:
        table, slot = context.table("count"), context.keyed.slot
        seen = table.get(slot, 0) + 1
        if seen < self.count:
            table[slot] = seen
            return CONTINUE
        table.pop(slot, None)
        return FIRE

    def on_merge(self, window: object, context: TriggerContext) -> None:
        context.merge("count", int.__add__)

    def clear(self, window: object, context: TriggerContext) -> None:
        context.drop("count")

    def arguments(self) -> tuple[object, ...]:
        return (self.count,)


@dataclass(frozen=True)
class _Continuous(_Mergeable[Window]):
    """Base of what fires at equal distances of time; the next time is state.

    Attributes:
        interval_ms: the distance.
    """

    interval_ms: int

    @classmethod
    def of(cls: type[_Interval], interval: Span) -> _Interval:
        """Fires every ``interval``, and at the end of the window."""
        return cls(milliseconds_of(interval, f"{cls.__name__}.of", "interval"))

    def _next(self, time: int, register: Callable[[int, Any], None], context: TriggerContext) -> None:
        context.table("fire-time")[context.keyed.slot] = time
        register(time, context.window)

    def _first(self, now: int, register: Callable[[int, Any], None], context: TriggerContext) -> None:
        """The next multiple of the interval, if none is waited for."""
        if context.keyed.slot not in context.table("fire-time"):
            past = now % self.interval_ms if now >= 0 else -(-now % self.interval_ms)  # Java's remainder
            self._next(now - past + self.interval_ms, register, context)

    def _reached(self, time: int, register: Callable[[int, Any], None], context: TriggerContext) -> TriggerResult:
        if context.table("fire-time").get(context.keyed.slot) != time:
            return CONTINUE
        if context.time.watermark < MAX_WATERMARK or not context.stays(context.window):
            self._next(time + self.interval_ms, register, context)  # after the end it would never end
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

    def arguments(self) -> tuple[object, ...]:
        return (self.interval_ms,)


@dataclass(frozen=True)
class ContinuousEventTimeTrigger(_Continuous):
    """Fires at multiples of an interval of event time, at the end of the window, and for elements after it."""

    def on_element(
        self, value: object, timestamp: int | None, window: Window, context: TriggerContext
    ) -> TriggerResult:
        end, time = window.max_timestamp(), context.time
        if end <= time.watermark:
            return FIRE
        time.register_event_time(end, window)
        if timestamp is not None:
            self._first(timestamp, time.register_event_time, context)
        return CONTINUE

    def on_event_time(self, time: int, window: Window, context: TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            return FIRE
        return self._reached(time, context.time.register_event_time, context)

    def on_merge(self, window: Window, context: TriggerContext) -> None:
        self._merge(context.time.register_event_time, context)

    def clear(self, window: Window, context: TriggerContext) -> None:
        self._clear(context.time.delete_event_time, context)


@dataclass(frozen=True)
class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at multiples of an interval of the clock."""

    def on_element(
        self, value: object, timestamp: int | None, window: Window, context: TriggerContext
    ) -> TriggerResult:
        self._first(context.time.clock.now(), context.time.register_processing_time, context)
        return CONTINUE

    def on_processing_time(self, time: int, window: Window, context: TriggerContext) -> TriggerResult:
        return self._reached(time, context.time.register_processing_time, context)

    def on_merge(self, window: Window, context: TriggerContext) -> None:
        self._merge(context.time.register_processing_time, context)

    def clear(self, window: Window, context: TriggerContext) -> None:
        self._clear(context.time.delete_processing_time, context)


@dataclass(frozen=True)
class DeltaTrigger(Trigger[T, object]):
    """Fires when an element differs by more than a threshold from the one that fired last, or came first.

    Attributes:
        threshold: the difference that is too much.
        delta: a callable of (old element, new element), or an object with ``get_delta``.
    """

    threshold: float
    delta: Callable[[T, T], float] | DeltaFunction[T]

    @staticmethod
    def of(threshold: float, delta: Callable[[V, V], float] | DeltaFunction[V]) -> DeltaTrigger[V]:
        """The trigger."""
        return DeltaTrigger(threshold, checks.function(delta, "DeltaTrigger.of", "get_delta"))

    def on_element(self, value: T, timestamp: int | None, window: object, context: TriggerContext) -> TriggerResult:
        table, slot = context.table("last-element"), context.keyed.slot
        last = table.setdefault(slot, value)
        if bind(self.delta, "get_delta")(last, value) > self.threshold:
            table[slot] = value
            return FIRE
        return CONTINUE

    def clear(self, window: object, context: TriggerContext) -> None:
        context.drop("last-element")

    def arguments(self) -> tuple[object, ...]:
        return (java_object(simple_name(self.delta)), self.threshold)


@dataclass(frozen=True)
class PurgingTrigger(Trigger[T, W]):
    """Purges the window whenever the trigger inside fires. The inner trigger's own state stays."""

    nested: Trigger[T, W]

    @staticmethod
    def of(nested_trigger: Trigger[V, X]) -> PurgingTrigger[V, X]:
        """The trigger around another."""
        if not isinstance(nested_trigger, Trigger):
            checks.refuse(
                f"PurgingTrigger.of() was given {checks.shown(nested_trigger)}. Give a trigger such as "
                "CountTrigger.of(5)."
            )
        return PurgingTrigger(nested_trigger)

    def can_merge(self) -> bool:
        return self.nested.can_merge()

    def needs_an_end(self) -> bool:
        return self.nested.needs_an_end()

    def on_element(self, value: T, timestamp: int | None, window: W, context: TriggerContext) -> TriggerResult:
        result = self.nested.on_element(value, timestamp, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_event_time(self, time: int, window: W, context: TriggerContext) -> TriggerResult:
        result = self.nested.on_event_time(time, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_processing_time(self, time: int, window: W, context: TriggerContext) -> TriggerResult:
        result = self.nested.on_processing_time(time, window, context)
        return FIRE_AND_PURGE if result.fire else result

    def on_merge(self, window: W, context: TriggerContext) -> None:
        self.nested.on_merge(window, context)

    def clear(self, window: W, context: TriggerContext) -> None:
        self.nested.clear(window, context)

    def arguments(self) -> tuple[object, ...]:
        return (self.nested,)

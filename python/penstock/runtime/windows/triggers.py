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
from penstock.common.functions.state import ReducingState
from penstock.common.time import Span, milliseconds_of
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.usercode.functions import bind, java_object, simple_name
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

_Timer = Callable[[int, Any], None]
_Interval = TypeVar("_Interval", bound="_Continuous")
T = TypeVar("T", contravariant=True)
W = TypeVar("W", contravariant=True)
V = TypeVar("V")
X = TypeVar("X")


@dataclass(frozen=True)
class NeverTrigger(Trigger[object, object]):
    """Never fires: the default of GlobalWindows."""

    def on_element(self, element: object, timestamp: int | None, window: object, ctx: TriggerContext) -> TriggerResult:
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
        return EventTimeTrigger()

    def needs_an_end(self) -> bool:
        return True

    def on_element(self, element: object, timestamp: int | None, window: Window, ctx: TriggerContext) -> TriggerResult:
        end = window.max_timestamp()
        if end <= ctx.time.watermark:
            return FIRE
        ctx.time.register_event_time(end, window)
        return CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: TriggerContext) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else CONTINUE

    def on_merge(self, window: Window, ctx: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > ctx.time.watermark:
            ctx.time.register_event_time(end, window)

    def clear(self, window: Window, ctx: TriggerContext) -> None:
        ctx.time.delete_event_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class ProcessingTimeTrigger(_Mergeable[Window]):
    """Fires when the clock reaches the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        return ProcessingTimeTrigger()

    def needs_an_end(self) -> bool:
        return True

    def on_element(self, element: object, timestamp: int | None, window: Window, ctx: TriggerContext) -> TriggerResult:
        ctx.time.register_processing_time(window.max_timestamp(), window)
        return CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: TriggerContext) -> TriggerResult:
        return FIRE

    def on_merge(self, window: Window, ctx: TriggerContext) -> None:
        end = window.max_timestamp()
        if end > ctx.time.clock.now():
            ctx.time.register_processing_time(end, window)

    def clear(self, window: Window, ctx: TriggerContext) -> None:
        ctx.time.delete_processing_time(window.max_timestamp(), window)


@dataclass(frozen=True)
class CountTrigger(_Mergeable[object]):
    """Fires at every ``window_size``-th element of a key."""

    window_size: int

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        return CountTrigger(checks.integer(window_size, "CountTrigger.of", "count"))

    def on_element(self, element: object, timestamp: int | None, window: object, ctx: TriggerContext) -> TriggerResult:
        table, slot = ctx.table("count"), ctx.keyed.slot
        seen = table.get(slot, 0) + 1
        if seen < self.window_size:
            table[slot] = seen
            return CONTINUE
        table.pop(slot, None)
        return FIRE

    def on_merge(self, window: object, ctx: TriggerContext) -> None:
        ctx.merge("count", int.__add__)

    def clear(self, window: object, ctx: TriggerContext) -> None:
        ctx.drop("count")

    def arguments(self) -> tuple[object, ...]:
        return (self.window_size,)


@dataclass(frozen=True)
class _Continuous(_Mergeable[Window]):
    """Base of what fires at equal distances of time; the next time is state."""

    interval: int  # in milliseconds

    @classmethod
    def of(cls: type[_Interval], interval: Span) -> _Interval:
        """Fires every ``interval``, and at the end of the window."""
        return cls(milliseconds_of(interval, f"{cls.__name__}.of", "interval"))

    def _timers(self, ctx: TriggerContext) -> tuple[_Timer, _Timer]:
        """What registers and deletes its timers."""
        raise NotImplementedError

    def _next(self, time: int, ctx: TriggerContext) -> None:
        ctx.table("fire-time")[ctx.keyed.slot] = time
        self._timers(ctx)[0](time, ctx.window)

    def _first(self, now: int, ctx: TriggerContext) -> None:
        """The next multiple of the interval, if none is waited for."""
        if ctx.keyed.slot not in ctx.table("fire-time"):
            past = now % self.interval if now >= 0 else -(-now % self.interval)  # Java's remainder
            self._next(now - past + self.interval, ctx)

    def _reached(self, time: int, ctx: TriggerContext) -> TriggerResult:
        if ctx.table("fire-time").get(ctx.keyed.slot) != time:
            return CONTINUE
        if ctx.time.watermark < MAX_WATERMARK or not ctx.stays(ctx.window):
            self._next(time + self.interval, ctx)  # after the end it would never end
        return FIRE

    def on_merge(self, window: Window, ctx: TriggerContext) -> None:
        ctx.merge("fire-time", min)
        time = ctx.table("fire-time").get(ctx.keyed.slot)
        if time is not None:
            self._timers(ctx)[0](time, window)

    def _noted(self, time: int, window: Window, state: ReducingState[int]) -> int:
        """The next time after one, no later than the window's end, that has gone into a state."""
        following = min(time + self.interval, window.max_timestamp())
        state.add(following)
        return following

    def clear(self, window: Window, ctx: TriggerContext) -> None:
        time = ctx.drop("fire-time")
        if time is not None:
            self._timers(ctx)[1](time, window)

    def arguments(self) -> tuple[object, ...]:
        return (self.interval,)


@dataclass(frozen=True)
class ContinuousEventTimeTrigger(_Continuous):
    """Fires at multiples of an interval of event time, at the end of the window, and for elements after it."""

    def on_element(self, element: object, timestamp: int | None, window: Window, ctx: TriggerContext) -> TriggerResult:
        end, time = window.max_timestamp(), ctx.time
        if end <= time.watermark:
            return FIRE
        time.register_event_time(end, window)
        if timestamp is not None:
            self._first(timestamp, ctx)
        return CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: TriggerContext) -> TriggerResult:
        return FIRE if time == window.max_timestamp() else self._reached(time, ctx)

    def register_next_fire_timestamp(
        self, time: int, window: Window, ctx: TriggerContext, fire_timestamp_state: ReducingState[int]
    ) -> None:
        """For triggers that derive from this one and keep the time in a state of theirs, which keeps the smaller of
        two: the next time, no later than the window's end, goes into the state, and a timer is set (PyFlink). The
        interval counts from ``time``, in milliseconds."""
        ctx.register_event_time_timer(self._noted(time, window, fire_timestamp_state))

    def _timers(self, ctx: TriggerContext) -> tuple[_Timer, _Timer]:
        return ctx.time.register_event_time, ctx.time.delete_event_time


@dataclass(frozen=True)
class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at multiples of an interval of the clock."""

    def on_element(self, element: object, timestamp: int | None, window: Window, ctx: TriggerContext) -> TriggerResult:
        self._first(ctx.time.clock.now(), ctx)
        return CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: TriggerContext) -> TriggerResult:
        return self._reached(time, ctx)

    def register_next_fire_timestamp(
        self, time: int, window: Window, ctx: TriggerContext, fire_timestamp_state: ReducingState[int]
    ) -> None:
        """As of :class:`ContinuousEventTimeTrigger`, with a timer by the clock (PyFlink)."""
        ctx.register_processing_time_timer(self._noted(time, window, fire_timestamp_state))

    def _timers(self, ctx: TriggerContext) -> tuple[_Timer, _Timer]:
        return ctx.time.register_processing_time, ctx.time.delete_processing_time


@dataclass(frozen=True)
class DeltaTrigger(Trigger[T, object]):
    """Fires when an element differs by more than a threshold from the one that fired last, or came first. ``delta`` is
    a callable of (old element, new element), or an object with ``get_delta``."""

    threshold: float
    delta: Callable[[T, T], float] | DeltaFunction[T]

    @staticmethod
    def of(threshold: float, delta: Callable[[V, V], float] | DeltaFunction[V]) -> DeltaTrigger[V]:
        return DeltaTrigger(threshold, checks.function(delta, "DeltaTrigger.of", "get_delta"))

    def on_element(self, element: T, timestamp: int | None, window: object, ctx: TriggerContext) -> TriggerResult:
        table, slot = ctx.table("last-element"), ctx.keyed.slot
        last = table.setdefault(slot, element)
        if bind(self.delta, "get_delta")(last, element) > self.threshold:
            table[slot] = element
            return FIRE
        return CONTINUE

    def clear(self, window: object, ctx: TriggerContext) -> None:
        ctx.drop("last-element")

    def arguments(self) -> tuple[object, ...]:
        return (java_object(simple_name(self.delta)), self.threshold)


@dataclass(frozen=True)
class PurgingTrigger(Trigger[T, W]):
    """Purges the window whenever the trigger inside fires. The inner trigger's own state stays."""

    nested_trigger: Trigger[T, W]

    @staticmethod
    def of(nested_trigger: Trigger[V, X]) -> PurgingTrigger[V, X]:
        if not isinstance(nested_trigger, Trigger):
            checks.refuse(
                f"PurgingTrigger.of() was given {checks.shown(nested_trigger)}. Give a trigger such as "
                "CountTrigger.of(5)."
            )
        return PurgingTrigger(nested_trigger)

    def can_merge(self) -> bool:
        return self.nested_trigger.can_merge()

    def needs_an_end(self) -> bool:
        return self.nested_trigger.needs_an_end()

    def on_element(self, element: T, timestamp: int | None, window: W, ctx: TriggerContext) -> TriggerResult:
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_merge(self, window: W, ctx: TriggerContext) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: W, ctx: TriggerContext) -> None:
        self.nested_trigger.clear(window, ctx)

    def arguments(self) -> tuple[object, ...]:
        return (self.nested_trigger,)


def _purging(result: TriggerResult) -> TriggerResult:
    return FIRE_AND_PURGE if result.fire else result

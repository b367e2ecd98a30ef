"""Triggers: what they are, what they answer and are given, and those of Flink (1.11). They say when a window fires.
Each is plain frozen data under PyFlink's name: it names itself in a plan, travels with the program, and is asked in
each subtask. What triggers remember is in tables of the keyed state, by window and key."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from penstock.common import checks
from penstock.common.functions.state import ReducingState
from penstock.common.functions.state_descriptor import StateDescriptor
from penstock.common.time import Span, milliseconds_of
from penstock.errors import InvalidProgramError
from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.state.handles import MergingState, merge_tables
from penstock.runtime.state.keyed import KeyedState, Table
from penstock.runtime.state.operator_time import OperatorTime
from penstock.runtime.state.store import TRIGGERS, handle_of
from penstock.runtime.usercode.functions import bind, java_object, place_of, simple_name
from penstock.runtime.windows.time_window import Window

_Timer = Callable[[int, Any], None]
_Interval = TypeVar("_Interval", bound="_Continuous")
S = TypeVar("S")
T = TypeVar("T", contravariant=True)
W = TypeVar("W", contravariant=True)
V = TypeVar("V")
X = TypeVar("X")


class TriggerResult(Enum):
    """The decision on a window: (fire, purge)."""

    CONTINUE = (False, False)
    FIRE = (True, False)
    PURGE = (False, True)
    FIRE_AND_PURGE = (True, True)

    def __init__(self, fire: bool, purge: bool) -> None:
        self.fire, self.purge = fire, purge

    def is_fire(self) -> bool:
        return self.fire

    def is_purge(self) -> bool:
        return self.purge


CONTINUE, FIRE, FIRE_AND_PURGE = TriggerResult.CONTINUE, TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE


class DeltaFunction(Protocol[T]):
    """An object that says how much two elements differ (Flink: ``DeltaFunction``)."""

    def get_delta(self, old: T, new: T, /) -> float:
        """The difference."""
        ...


class TriggerContext:
    """A trigger's access to time and to the state of the current key and window. While windows merge, ``merged`` are
    those that become ``window``; ``stays`` says whether a window is still there when event time has come to its end."""

    __slots__ = ("_tables", "keyed", "merged", "metrics", "stays", "time", "window")

    def __init__(self, keyed: KeyedState, time: OperatorTime, metrics: Metrics, stays: Callable[[Any], bool]) -> None:
        self.keyed, self.time, self.metrics, self.stays = keyed, time, metrics, stays
        self.window: Any = None
        self.merged: Sequence[Any] = ()
        self._tables: dict[str, Table] = {}

    def enter(self, window: Any) -> None:
        self.window = window
        self._tables.clear()

    def table(self, name: str) -> Table:
        """The trigger's state of that name, by canonical key, for the current window."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self.keyed.table(f"{TRIGGERS}{name}", self.window)
        return table

    def drop(self, name: str) -> Any:
        """Forget the current key's part of :meth:`table`; returns it."""
        self._tables.pop(name, None)
        return self.keyed.drop(f"{TRIGGERS}{name}", self.window)

    def merge(self, name: str, merge: Callable[[Any, Any], Any]) -> None:
        """Merge the state of the windows that become the current one."""
        self._tables.pop(name, None)
        merge_tables(self.keyed, f"{TRIGGERS}{name}", self.window, self.merged, merge)

    def get_metric_group(self) -> MetricGroup:
        return MetricGroup(self.metrics)

    def get_current_watermark(self) -> int:
        return self.time.watermark

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.time.clock.now()

    def register_event_time_timer(self, time: int) -> None:
        """Have ``on_event_time`` called for this key and window when the watermark reaches a time."""
        self.time.register_event_time(checks.moment(time, "register_event_time_timer"), self.window)

    def register_processing_time_timer(self, time: int) -> None:
        """Have ``on_processing_time`` called for this key and window when the clock reaches a time."""
        self.time.register_processing_time(checks.moment(time, "register_processing_time_timer"), self.window)

    def delete_event_time_timer(self, time: int) -> None:
        self.time.delete_event_time(checks.moment(time, "delete_event_time_timer"), self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        self.time.delete_processing_time(checks.moment(time, "delete_processing_time_timer"), self.window)

    def get_partitioned_state(self, state_descriptor: StateDescriptor[S]) -> S:
        """State of this key and window: a value, a list, a map, a reduction or an aggregation by the descriptor."""
        return handle_of(self.keyed, state_descriptor, self.window)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor[Any]) -> None:
        """In ``on_merge``: merge the state of the windows that become this one; InvalidProgramError for values and
        maps."""
        state = self.get_partitioned_state(state_descriptor)
        if not isinstance(state, MergingState):
            raise InvalidProgramError(
                f"merge_partitioned_state() was given the {type(state_descriptor).__name__} "
                f"{state_descriptor.name!r}: such states cannot be merged. Use a list, a reducing or an aggregating "
                "state, or forget the state in on_merge().",
                flink_class="java.lang.RuntimeException",
            )
        state.merge_namespaces(self.window, self.merged)


class Trigger(Generic[T, W]):
    """Decides when a window fires: it is asked after each element and at each of its timers. A trigger of one's own
    overrides ``on_element``, ``on_event_time``, ``on_processing_time`` and ``clear`` (and ``can_merge`` and
    ``on_merge`` for sessions). Its context has PyFlink's methods: timers, watermark, and ``get_partitioned_state``."""

    TriggerContext = TriggerContext
    OnMergeContext = TriggerContext

    shown: ClassVar[tuple[str, ...]] = ()  # fields that Flink's text form has in brackets
    tables: ClassVar[tuple[str, ...]] = ()  # names of what it remembers in tables of its own, those of Flink's states

    def can_merge(self) -> bool:
        """Whether it works on session windows."""
        return False

    def needs_an_end(self) -> bool:
        """Whether it waits for the end of the window, so that it cannot work on the global one."""
        return False

    def on_element(self, value: T, timestamp: int | None, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called after each element was added to the window."""
        raise NotImplementedError

    def on_event_time(self, time: int, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called when the watermark reaches a timer."""
        return CONTINUE

    def on_processing_time(self, time: int, window: W, context: TriggerContext, /) -> TriggerResult:
        """Called when the clock reaches a timer."""
        return CONTINUE

    def on_merge(self, window: W, context: TriggerContext, /) -> None:
        """Called when windows have become ``window``."""

    def clear(self, window: W, context: TriggerContext, /) -> None:
        """Forget the state of the current key in a window that is over."""

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(getattr(self, name)) for name in self.shown)})"


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

    shown = ("window_size",)
    tables = ("count",)

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


@dataclass(frozen=True)
class _Continuous(_Mergeable[Window]):
    """Base of what fires at equal distances of time; the next time is state."""

    shown = ("interval",)
    tables = ("fire-time",)

    interval: int  # in milliseconds

    @classmethod
    def of(cls: type[_Interval], interval: Span) -> _Interval:
        """Fires every ``interval``, and at the end of the window."""
        return cls(milliseconds_of(interval, f"{cls.__name__}.of", "interval"))

    def _timers(self, ctx: TriggerContext) -> tuple[_Timer, _Timer]:
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

    tables = ("last-element",)

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

    def __str__(self) -> str:
        return f"DeltaTrigger({java_object(simple_name(self.delta))}, {self.threshold})"


@dataclass(frozen=True)
class PurgingTrigger(Trigger[T, W]):
    """Purges the window whenever the trigger inside fires. The inner trigger's own state stays."""

    shown = ("nested_trigger",)

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
        ask = self.nested_trigger.on_element
        return _purging(ask, ask(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        ask = self.nested_trigger.on_event_time
        return _purging(ask, ask(time, window, ctx))

    def on_processing_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        ask = self.nested_trigger.on_processing_time
        return _purging(ask, ask(time, window, ctx))

    def on_merge(self, window: W, ctx: TriggerContext) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: W, ctx: TriggerContext) -> None:
        self.nested_trigger.clear(window, ctx)


def _purging(ask: Callable[..., TriggerResult], result: TriggerResult) -> TriggerResult:
    """A result of a method of a trigger, which purges if it fires."""
    try:
        return FIRE_AND_PURGE if result.fire else result
    except AttributeError:
        check_result(result, ask)
        raise


def check_result(result: Any, ask: Callable[..., Any]) -> None:
    """InvalidProgramError where a method of a trigger, ``ask``, has returned no TriggerResult, nor anything like it.
    For when that has led to an error: no record pays for it."""
    if hasattr(result, "fire") and hasattr(result, "purge"):
        return
    name = f"{type(getattr(ask, '__self__', None)).__qualname__}.{getattr(ask, '__name__', 'on_element')}"
    raise InvalidProgramError(
        f"The trigger's method {name}{place_of(ask)} returned {reprlib.repr(result)} ({type(result).__name__}), where "
        "a TriggerResult is due. Return TriggerResult.CONTINUE, FIRE, PURGE or FIRE_AND_PURGE wherever it ends."
    )

"""Window assigners, triggers and evictors: what a program says about windows. Plain frozen data.

Names, defaults and refusals are Flink 1.11's; spelling is PyFlink's. Sizes are Time, Duration or milliseconds. What
runs are their twins in :mod:`penstock.runtime.windows`, which ``runtime()`` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.common import checks
from penstock.common.time import Duration, Time, milliseconds_of
from penstock.runtime import windows
from penstock.runtime.usercode.naming import java_object, simple_name
from penstock.runtime.windows import GlobalWindow as GlobalWindow  # PyFlink has these here
from penstock.runtime.windows import TimeWindow as TimeWindow
from penstock.runtime.windows import TriggerResult as TriggerResult

Span = Time | Duration | int


class WindowAssigner:
    """Base of the assigners.

    Attributes:
        merging: whether windows can grow together (sessions).
        event_time: whether timestamps decide, or the clock.
    """

    merging: ClassVar[bool] = False
    event_time: ClassVar[bool] = True

    def default_trigger(self) -> Trigger:
        """The trigger of windows without one of their own."""
        return EventTimeTrigger() if self.event_time else ProcessingTimeTrigger()

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[Any]:
        """In an assigner of one's own: the windows of an element.

        Args:
            element: the record.
            timestamp: its time in milliseconds.
            context: knows the clock.
        """
        raise NotImplementedError(f"{type(self).__name__}.assign_windows")

    def runtime(self) -> windows.WindowAssigner:
        """What the runtime runs."""
        return windows.UserWindows(self.event_time, assigner=self)

    def arguments(self) -> tuple[int, ...]:
        """What stands in brackets in Flink's text form."""
        return ()

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"


@dataclass(frozen=True)
class _Tumbling(WindowAssigner):
    size_ms: int
    offset_ms: int = 0

    @classmethod
    def of(cls, size: Span, offset: Span = 0):
        """Windows of ``size``, aligned to the epoch plus ``offset``; the offset is smaller than the size."""
        size_ms = milliseconds_of(size, f"{cls.__name__}.of", "size")
        offset_ms = milliseconds_of(offset, f"{cls.__name__}.of", "offset")
        if abs(offset_ms) >= size_ms:
            checks.refuse(
                f"{cls.__name__}.of({size_ms} ms, offset {offset_ms} ms): the size must be positive and the offset "
                "smaller than the size.",
                checks.ILLEGAL_ARGUMENT,
            )
        return cls(size_ms, offset_ms)

    def runtime(self) -> windows.WindowAssigner:
        return windows.TumblingWindows(self.event_time, size=self.size_ms, offset=self.offset_ms)

    def arguments(self) -> tuple[int, ...]:
        return (self.size_ms,)


class TumblingEventTimeWindows(_Tumbling):
    """Windows of one length, one after the other, by timestamps."""


class TumblingProcessingTimeWindows(_Tumbling):
    """Windows of one length, one after the other, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _Sliding(WindowAssigner):
    size_ms: int
    slide_ms: int
    offset_ms: int = 0

    @classmethod
    def of(cls, size: Span, slide: Span, offset: Span = 0):
        """Windows of ``size`` that start every ``slide``; the offset is smaller than the slide."""
        call = f"{cls.__name__}.of"
        size_ms, slide_ms = milliseconds_of(size, call, "size"), milliseconds_of(slide, call, "slide")
        offset_ms = milliseconds_of(offset, call, "offset")
        if abs(offset_ms) >= slide_ms or size_ms <= 0:
            checks.refuse(
                f"{call}({size_ms} ms, slide {slide_ms} ms, offset {offset_ms} ms): size and slide must be positive "
                "and the offset smaller than the slide.",
                checks.ILLEGAL_ARGUMENT,
            )
        return cls(size_ms, slide_ms, offset_ms)

    def runtime(self) -> windows.WindowAssigner:
        return windows.SlidingWindows(self.event_time, size=self.size_ms, slide=self.slide_ms, offset=self.offset_ms)

    def arguments(self) -> tuple[int, ...]:
        return (self.size_ms, self.slide_ms)


class SlidingEventTimeWindows(_Sliding):
    """Overlapping windows, by timestamps."""


class SlidingProcessingTimeWindows(_Sliding):
    """Overlapping windows, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _Session(WindowAssigner):
    gap_ms: int
    merging = True

    @classmethod
    def with_gap(cls, size: Span):
        """Sessions that end when nothing comes for ``size``."""
        gap_ms = milliseconds_of(size, f"{cls.__name__}.with_gap", "gap")
        if gap_ms <= 0:
            checks.refuse(
                f"{cls.__name__}.with_gap({gap_ms} ms): the gap after which a session ends must be positive.",
                checks.ILLEGAL_ARGUMENT,
            )
        return cls(gap_ms)

    def runtime(self) -> windows.WindowAssigner:
        return windows.SessionWindows(self.event_time, gap=self.gap_ms)

    def arguments(self) -> tuple[int, ...]:
        return (self.gap_ms,)


@dataclass(frozen=True)
class DynamicEventTimeSessionWindows(WindowAssigner):
    """Sessions by timestamps with a gap that each record says.

    Attributes:
        gap_of: record → gap in milliseconds.
    """

    gap_of: Callable[[Any], int]
    merging = True

    def runtime(self) -> windows.WindowAssigner:
        return windows.DynamicSessionWindows(True, gap_of=self.gap_of)


@dataclass(frozen=True)
class DynamicProcessingTimeSessionWindows(WindowAssigner):
    """Sessions by the clock with a gap that each record says.

    Attributes:
        gap_of: record → gap in milliseconds.
    """

    gap_of: Callable[[Any], int]
    merging = True
    event_time = False

    def runtime(self) -> windows.WindowAssigner:
        return windows.DynamicSessionWindows(False, gap_of=self.gap_of)


class EventTimeSessionWindows(_Session):
    """Sessions by timestamps."""

    @staticmethod
    def with_dynamic_gap(gap_of: Callable[[Any], int]) -> DynamicEventTimeSessionWindows:
        """Sessions with a gap that each record says."""
        return DynamicEventTimeSessionWindows(checks.function(gap_of, "with_dynamic_gap", "extract"))


class ProcessingTimeSessionWindows(_Session):
    """Sessions by the clock."""

    event_time = False

    @staticmethod
    def with_dynamic_gap(gap_of: Callable[[Any], int]) -> DynamicProcessingTimeSessionWindows:
        """Sessions with a gap that each record says."""
        return DynamicProcessingTimeSessionWindows(checks.function(gap_of, "with_dynamic_gap", "extract"))


@dataclass(frozen=True)
class GlobalWindows(WindowAssigner):
    """One window for everything; only a trigger of one's own makes it fire."""

    @staticmethod
    def create() -> GlobalWindows:
        """The assigner."""
        return GlobalWindows()

    def default_trigger(self) -> Trigger:
        return NeverTrigger()

    def runtime(self) -> windows.WindowAssigner:
        return windows.GlobalWindows()


class Trigger(windows.Trigger):
    """Base of the triggers: when a window fires.

    A trigger of one's own overrides ``on_element``, ``on_event_time``, ``on_processing_time`` and ``clear`` (and
    ``can_merge`` and ``on_merge`` for sessions). Their context has PyFlink's methods: timers, watermark, and
    ``get_partitioned_state``.
    """

    def can_merge(self) -> bool:
        """Whether it works on session windows."""
        return False

    def runtime(self) -> windows.Trigger:
        """What the runtime runs."""
        return self

    def arguments(self) -> tuple[Any, ...]:
        """What stands in brackets in Flink's text form."""
        return ()

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"


class _Mergeable(Trigger):
    """Base of the triggers that work on session windows too."""

    def can_merge(self) -> bool:
        return True


@dataclass(frozen=True)
class EventTimeTrigger(_Mergeable):
    """Fires when the watermark passes the end of the window."""

    @staticmethod
    def create() -> EventTimeTrigger:
        """The trigger."""
        return EventTimeTrigger()

    def runtime(self) -> windows.Trigger:
        return windows.EventTimeTrigger()


@dataclass(frozen=True)
class ProcessingTimeTrigger(_Mergeable):
    """Fires when the clock passes the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """The trigger."""
        return ProcessingTimeTrigger()

    def runtime(self) -> windows.Trigger:
        return windows.ProcessingTimeTrigger()


@dataclass(frozen=True)
class NeverTrigger(Trigger):
    """Never fires."""

    def runtime(self) -> windows.Trigger:
        return windows.NeverTrigger()

    def __str__(self) -> str:
        return java_object("org.apache.flink.streaming.api.windowing.assigners.GlobalWindows$NeverTrigger")


@dataclass(frozen=True)
class CountTrigger(_Mergeable):
    """Fires at every ``count``-th record."""

    count: int

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Fires at every ``window_size``-th record."""
        return CountTrigger(checks.integer(window_size, "CountTrigger.of", "count"))

    def runtime(self) -> windows.Trigger:
        return windows.CountTrigger(self.count)

    def arguments(self) -> tuple[Any, ...]:
        return (self.count,)


@dataclass(frozen=True)
class _Continuous(_Mergeable):
    interval_ms: int

    @classmethod
    def of(cls, interval: Span):
        """Fires every ``interval``, and at the end of the window."""
        return cls(milliseconds_of(interval, f"{cls.__name__}.of", "interval"))

    def arguments(self) -> tuple[Any, ...]:
        return (self.interval_ms,)


class ContinuousEventTimeTrigger(_Continuous):
    """Fires at intervals of event time."""

    def runtime(self) -> windows.Trigger:
        return windows.ContinuousEventTimeTrigger(self.interval_ms)


class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at intervals of the clock."""

    def runtime(self) -> windows.Trigger:
        return windows.ContinuousProcessingTimeTrigger(self.interval_ms)


@dataclass(frozen=True)
class DeltaTrigger(Trigger):
    """Fires when a record differs by more than a threshold from the one that fired last.

    Attributes:
        threshold: the difference that is too much.
        delta: (old record, new record) → difference.
    """

    threshold: float
    delta: Callable[[Any, Any], float]

    def runtime(self) -> windows.Trigger:
        return windows.DeltaTrigger(self.threshold, self.delta)

    @staticmethod
    def of(threshold: float, delta: Callable[[Any, Any], float]) -> DeltaTrigger:
        """The trigger."""
        return DeltaTrigger(threshold, checks.function(delta, "DeltaTrigger.of", "get_delta"))

    def arguments(self) -> tuple[Any, ...]:
        return (java_object(simple_name(self.delta)), self.threshold)


@dataclass(frozen=True)
class PurgingTrigger(Trigger):
    """Empties the window whenever the trigger inside fires."""

    nested: Trigger

    @staticmethod
    def of(nested_trigger: Trigger) -> PurgingTrigger:
        """The trigger around another."""
        return PurgingTrigger(nested_trigger)

    def can_merge(self) -> bool:
        return self.nested.can_merge()

    def arguments(self) -> tuple[Any, ...]:
        return (self.nested,)

    def runtime(self) -> windows.Trigger:
        return windows.PurgingTrigger(self.nested.runtime())

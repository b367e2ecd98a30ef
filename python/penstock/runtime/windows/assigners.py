"""Assigners: which windows an element belongs to.

Each is plain frozen data under PyFlink's name: it names itself in a plan, travels with the program, and makes in each
subtask the function that assigns. Sizes are given as Time, Duration or milliseconds, and kept in milliseconds.

Sources of names, refusals and semantics: ``TumblingEventTimeWindows``, ``SlidingEventTimeWindows``,
``EventTimeSessionWindows``, their siblings by the clock, and ``GlobalWindows`` (Flink 1.11), but for window starts
below the offset: see :meth:`TimeWindow.get_window_start_with_offset`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from penstock.common import checks
from penstock.common.time import Span, milliseconds_of
from penstock.errors import InvalidProgramError
from penstock.runtime.usercode.functions import bind
from penstock.runtime.windows.assigner import (
    Assign,
    AssignerContext,
    GapExtractor,
    MergingWindowAssigner,
    WindowAssigner,
)
from penstock.runtime.windows.serializers import GlobalWindowSerializer, TimeWindowSerializer
from penstock.runtime.windows.time_window import GLOBAL, GlobalWindow, MergeCallback, TimeWindow
from penstock.runtime.windows.trigger import Trigger
from penstock.runtime.windows.triggers import NeverTrigger

_Tumbling = TypeVar("_Tumbling", bound="_TumblingWindows")
_Sliding = TypeVar("_Sliding", bound="_SlidingWindows")
_Sessions = TypeVar("_Sessions", bound="_SessionWindows")

T = TypeVar("T", contravariant=True)
V = TypeVar("V")


class _TimeWindows(WindowAssigner[T, TimeWindow]):
    """Base of the assigners that go by an element's time: its timestamp, or the clock."""

    def spread(self) -> Callable[[T, int], Collection[TimeWindow]]:
        """The function from an element and its time to its windows."""
        raise NotImplementedError

    def assign_windows(self, element: T, timestamp: int, context: AssignerContext) -> Collection[TimeWindow]:
        return self.spread()(element, timestamp if self.event_time else context.now())

    def get_window_serializer(self) -> TimeWindowSerializer:
        return TimeWindowSerializer()

    def sort(self) -> str:
        what = "sessions" if self.merging else "windows"
        return f"{what} of event time" if self.is_event_time() else f"{what} of the clock"

    def bind(self, context: AssignerContext) -> Assign:
        """The function that assigns: a program's own where a subclass has one."""
        if type(self).assign_windows is not _TimeWindows.assign_windows:
            return super().bind(context)
        spread, now = self.spread(), context.now
        if not self.event_time:
            return lambda value, timestamp: spread(value, now())

        def by_timestamp(value: Any, timestamp: int | None) -> Collection[TimeWindow]:
            if timestamp is None:  # the text is Flink's, as programs look for it
                raise InvalidProgramError(
                    "Record has Long.MIN_VALUE timestamp (= no timestamp marker). Is the time characteristic set to "
                    "'ProcessingTime', or did you forget to call 'DataStream.assignTimestampsAndWatermarks(...)'?",
                    flink_class="java.lang.RuntimeException",
                )
            return spread(value, timestamp)

        return by_timestamp


class MergingTimeWindows(_TimeWindows[T], MergingWindowAssigner[T, TimeWindow]):
    """Base of the sessions: windows that touch become one."""

    def merge_windows(self, windows: Iterable[TimeWindow], callback: MergeCallback[TimeWindow]) -> None:
        TimeWindow.merge_windows(windows, callback)


@dataclass(frozen=True)
class _TumblingWindows(_TimeWindows[object]):
    """Windows of one length, one after the other."""

    size: int  # in milliseconds, as the offset
    offset: int = 0  # of the first window's start from the epoch

    @classmethod
    def of(cls: type[_Tumbling], size: Span, offset: Span = 0) -> _Tumbling:
        """Windows of ``size``, aligned to the epoch plus ``offset``; the offset is smaller than the size."""
        size_ms = milliseconds_of(size, f"{cls.__name__}.of", "size")
        offset_ms = milliseconds_of(offset, f"{cls.__name__}.of", "offset")
        if abs(offset_ms) >= size_ms:
            checks.illegal_argument(
                f"{cls.__name__}.of({size_ms} ms, offset {offset_ms} ms): the size must be positive and the offset "
                "smaller than the size. Give other spans of time."
            )
        return cls(size_ms, offset_ms)

    def spread(self) -> Callable[[object, int], Collection[TimeWindow]]:
        size, offset, start_of = self.size, self.offset, TimeWindow.get_window_start_with_offset
        last = (TimeWindow(offset, offset + size),)

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            nonlocal last
            start = start_of(time, offset, size)
            if start != last[0][0]:
                last = (TimeWindow(start, start + size),)
            return last

        return assign

    def arguments(self) -> tuple[int, ...]:
        return (self.size,)


class TumblingEventTimeWindows(_TumblingWindows):
    """Windows of one length, one after the other, by timestamps."""


class TumblingProcessingTimeWindows(_TumblingWindows):
    """Windows of one length, one after the other, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _SlidingWindows(_TimeWindows[object]):
    """Windows of one length that begin at equal distances; none holds what falls between them."""

    size: int  # in milliseconds, as the other two
    slide: int  # distance of their starts
    offset: int = 0  # of the first window's start from the epoch

    @classmethod
    def of(cls: type[_Sliding], size: Span, slide: Span, offset: Span = 0) -> _Sliding:
        """Windows of ``size`` that start every ``slide``; the offset is smaller than the slide."""
        call = f"{cls.__name__}.of"
        size_ms, slide_ms = milliseconds_of(size, call, "size"), milliseconds_of(slide, call, "slide")
        offset_ms = milliseconds_of(offset, call, "offset")
        if abs(offset_ms) >= slide_ms or size_ms <= 0:
            checks.illegal_argument(
                f"{call}({size_ms} ms, slide {slide_ms} ms, offset {offset_ms} ms): size and slide must be positive "
                "and the offset smaller than the slide. Give other spans of time."
            )
        return cls(size_ms, slide_ms, offset_ms)

    def spread(self) -> Callable[[object, int], Collection[TimeWindow]]:
        size, slide, offset = self.size, self.slide, self.offset

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            last = TimeWindow.get_window_start_with_offset(time, offset, slide)
            return [TimeWindow(start, start + size) for start in range(last, time - size, -slide)]

        return assign

    def arguments(self) -> tuple[int, ...]:
        return (self.size, self.slide)


class SlidingEventTimeWindows(_SlidingWindows):
    """Overlapping windows, by timestamps."""


class SlidingProcessingTimeWindows(_SlidingWindows):
    """Overlapping windows, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _SessionWindows(MergingTimeWindows[object]):
    """Windows that grow together while elements come within a gap, in milliseconds."""

    session_gap: int

    @classmethod
    def with_gap(cls: type[_Sessions], size: Span) -> _Sessions:
        """Sessions that end when nothing comes for ``size``."""
        gap_ms = milliseconds_of(size, f"{cls.__name__}.with_gap", "gap")
        if gap_ms <= 0:
            checks.illegal_argument(
                f"{cls.__name__}.with_gap({gap_ms} ms): the gap after which a session ends must be positive. "
                "Give a longer one."
            )
        return cls(gap_ms)

    def spread(self) -> Callable[[object, int], Collection[TimeWindow]]:
        gap = self.session_gap
        return lambda value, time: (TimeWindow(time, time + gap),)

    def arguments(self) -> tuple[int, ...]:
        return (self.session_gap,)


@dataclass(frozen=True)
class _DynamicSessionWindows(MergingTimeWindows[T]):
    """Sessions with a gap that each element says, through a callable or an object with ``extract``."""

    session_window_time_gap_extractor: Callable[[T], int] | GapExtractor[T]

    def spread(self) -> Callable[[T, int], Collection[TimeWindow]]:
        gap_of = bind(self.session_window_time_gap_extractor, "extract")

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            gap = gap_of(value)
            if gap <= 0:
                raise InvalidProgramError(
                    f"Dynamic session time gap must satisfy 0 < gap, but it is {gap} for the element {value!r}.",
                    flink_class="java.lang.IllegalArgumentException",
                )
            return (TimeWindow(time, time + gap),)

        return assign


class DynamicEventTimeSessionWindows(_DynamicSessionWindows[T]):
    """Sessions by timestamps with a gap that each element says."""

    @staticmethod
    def with_dynamic_gap(extractor: Callable[[V], int] | GapExtractor[V]) -> DynamicEventTimeSessionWindows[V]:
        """Sessions with a gap in milliseconds that each element says: a callable, or an object with ``extract``."""
        return DynamicEventTimeSessionWindows(checks.function(extractor, "with_dynamic_gap", "extract"))


class DynamicProcessingTimeSessionWindows(_DynamicSessionWindows[T]):
    """Sessions by the clock with a gap that each element says."""

    event_time = False

    @staticmethod
    def with_dynamic_gap(extractor: Callable[[V], int] | GapExtractor[V]) -> DynamicProcessingTimeSessionWindows[V]:
        """Sessions with a gap in milliseconds that each element says: a callable, or an object with ``extract``."""
        return DynamicProcessingTimeSessionWindows(checks.function(extractor, "with_dynamic_gap", "extract"))


class EventTimeSessionWindows(_SessionWindows):
    """Sessions by timestamps."""

    @staticmethod
    def with_dynamic_gap(extractor: Callable[[V], int] | GapExtractor[V]) -> DynamicEventTimeSessionWindows[V]:
        """Sessions with a gap in milliseconds that each element says."""
        return DynamicEventTimeSessionWindows.with_dynamic_gap(extractor)


class ProcessingTimeSessionWindows(_SessionWindows):
    """Sessions by the clock."""

    event_time = False

    @staticmethod
    def with_dynamic_gap(extractor: Callable[[V], int] | GapExtractor[V]) -> DynamicProcessingTimeSessionWindows[V]:
        """Sessions with a gap in milliseconds that each element says."""
        return DynamicProcessingTimeSessionWindows.with_dynamic_gap(extractor)


@dataclass(frozen=True)
class GlobalWindows(WindowAssigner[object, GlobalWindow]):
    """One never ending window for everything; only a trigger of one's own makes it fire. Nothing is ever late in it."""

    event_time = False
    constant: ClassVar[Collection[object] | None] = GLOBAL

    @staticmethod
    def create() -> GlobalWindows:
        return GlobalWindows()

    def default_trigger(self) -> Trigger[object, object]:
        return NeverTrigger()

    def assign_windows(self, element: object, timestamp: int, context: AssignerContext) -> Collection[GlobalWindow]:
        return GLOBAL

    def get_window_serializer(self) -> GlobalWindowSerializer:
        return GlobalWindowSerializer()

    def bind(self, context: AssignerContext) -> Assign:
        return lambda value, timestamp: GLOBAL

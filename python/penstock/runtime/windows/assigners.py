"""Assigners: their interface, their context, and those of Flink. They say which windows an element belongs to.

Each is plain frozen data under PyFlink's name: it names itself in a plan, travels with the program, and makes in each
subtask the function that assigns. Sizes are given as Time, Duration or milliseconds, and kept in milliseconds. Sources
of names, refusals and semantics: ``TumblingEventTimeWindows``, ``SlidingEventTimeWindows``,
``EventTimeSessionWindows``, their siblings by the clock, and ``GlobalWindows`` (Flink 1.11), but for window starts
below the offset: see :meth:`TimeWindow.get_window_start_with_offset`. For windows by number of elements
``CountTumblingWindowAssigner`` and ``CountSlidingWindowAssigner`` of PyFlink 2.3, whose trigger is the plain
CountTrigger, so that the elements of full windows stay for ever."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from penstock.common import checks
from penstock.common.contexts import RuntimeContext
from penstock.common.functions.state_descriptor import ValueStateDescriptor
from penstock.common.serialization import TypeSerializer
from penstock.common.time import Span, milliseconds_of
from penstock.common.typeinfo import Types
from penstock.errors import InvalidProgramError
from penstock.runtime.usercode.functions import bind
from penstock.runtime.windows.serializers import CountWindowSerializer, GlobalWindowSerializer, TimeWindowSerializer
from penstock.runtime.windows.time_window import GLOBAL, CountWindow, GlobalWindow, MergeCallback, TimeWindow
from penstock.runtime.windows.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)

Assign = Callable[[Any, "int | None"], Collection[Any]]  # the windows of (element, timestamp)

T = TypeVar("T", contravariant=True)
W = TypeVar("W", covariant=True)
V = TypeVar("V")
X = TypeVar("X")
_Tumbling = TypeVar("_Tumbling", bound="_TumblingWindows")
_Sliding = TypeVar("_Sliding", bound="_SlidingWindows")
_Sessions = TypeVar("_Sessions", bound="_SessionWindows")


class GapExtractor(Protocol[T]):
    """An object that says the gap of a session."""

    def extract(self, element: T, /) -> int:
        """The gap in milliseconds after an element."""
        ...


class SessionWindowTimeGapExtractor(ABC, Generic[T]):
    """Base of the objects that say the gap of a session, for ``with_dynamic_gap``."""

    @abstractmethod
    def extract(self, element: T, /) -> int:
        """The gap in milliseconds after an element: 1 or more."""


class AssignerContext:
    """The context of a WindowAssigner of a program's own. ``now`` gives the processing time of the task."""

    def __init__(self, now: Callable[[], int], runtime_context: RuntimeContext) -> None:
        self.now, self._runtime_context = now, runtime_context

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self.now()

    def get_runtime_context(self) -> RuntimeContext:
        """Where the operator runs, and its state: of the element's key, over all windows."""
        return self._runtime_context


class WindowAssigner(Generic[T, W]):
    """Base of the assigners. One of a program's own overrides ``assign_windows``, and what else is not as here."""

    WindowAssignerContext = AssignerContext

    event_time: ClassVar[bool] = True
    merging: ClassVar[bool] = False  # whether windows that touch become one (sessions)
    constant: ClassVar[Collection[object] | None] = None  # the windows of every element, where all have the same
    shown: ClassVar[tuple[str, ...]] = ()  # fields that Flink's text form has in brackets

    def is_event_time(self) -> bool:
        """Whether timestamps decide, and lateness counts; otherwise the clock decides."""
        return self.event_time

    def default_trigger(self) -> Trigger[object, Any]:
        return EventTimeTrigger() if self.is_event_time() else ProcessingTimeTrigger()

    def get_default_trigger(self, env: object, /) -> Trigger[object, Any]:
        """:meth:`default_trigger` as PyFlink calls it."""
        return self.default_trigger()

    def get_window_serializer(self) -> TypeSerializer[Any]:
        """The serializer of the windows in PyFlink. It is not used here: windows are pickled."""
        raise NotImplementedError(f"{type(self).__name__}.get_window_serializer")

    def assign_windows(self, element: T, timestamp: int, context: AssignerContext, /) -> Collection[W]:
        """The windows of an element with a timestamp in milliseconds; the context knows the clock, and state per
        key."""
        raise NotImplementedError(f"{type(self).__name__}.assign_windows")

    def bind(self, context: AssignerContext) -> Assign:
        """The function that assigns, in one subtask."""
        assign: Callable[..., Collection[Any]] = self.assign_windows
        return lambda value, timestamp: assign(value, timestamp, context)

    def sort(self) -> str:
        """Which windows it makes, in the plural: only an assigner of the same sort closes them."""
        return "global windows" if self.constant is not None else f"windows of {type(self).__name__}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(getattr(self, name)) for name in self.shown)})"


class MergingWindowAssigner(WindowAssigner[T, X], Generic[T, X]):
    """Base of the assigners whose windows merge. One of a program's own overrides ``merge_windows`` too."""

    MergeCallback = MergeCallback

    merging = True

    def merge_windows(self, windows: Iterable[X], callback: MergeCallback[X], /) -> None:
        """Say which of the live windows of a key become one, by ``callback.merge(windows, result)`` for each group.
        They are in the order in which they came to be, the new one last."""
        raise NotImplementedError(f"{type(self).__name__}.merge_windows")


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

    shown = ("size",)

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


class TumblingEventTimeWindows(_TumblingWindows):
    """Windows of one length, one after the other, by timestamps."""


class TumblingProcessingTimeWindows(_TumblingWindows):
    """Windows of one length, one after the other, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _SlidingWindows(_TimeWindows[object]):
    """Windows of one length that begin at equal distances; none holds what falls between them."""

    shown = "size", "slide"

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


class SlidingEventTimeWindows(_SlidingWindows):
    """Overlapping windows, by timestamps."""


class SlidingProcessingTimeWindows(_SlidingWindows):
    """Overlapping windows, by the clock."""

    event_time = False


@dataclass(frozen=True)
class _SessionWindows(MergingTimeWindows[object]):
    """Windows that grow together while elements come within a gap, in milliseconds."""

    shown = ("session_gap",)

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


class _CountWindows(WindowAssigner[object, CountWindow]):
    """Windows that begin with a certain element of a key and hold the next ones. Unlike a :class:`CountTrigger` on the
    global window, they tell every window from the others, and a window fires only when it is full."""

    event_time = False
    counter: ClassVar[str]

    window_size: int

    def default_trigger(self) -> Trigger[object, CountWindow]:
        return PurgingTrigger(CountTrigger(self.window_size))

    def get_window_serializer(self) -> CountWindowSerializer:
        return CountWindowSerializer()

    def assign_windows(self, element: object, timestamp: int, context: AssignerContext) -> Collection[CountWindow]:
        return self.bind(context)(element, timestamp)

    def bind(self, context: AssignerContext) -> Assign:
        counter = ValueStateDescriptor[int](self.counter, Types.LONG())
        seen, windows_of = context.get_runtime_context().get_state(counter), self.windows_of

        def assign(value: object, timestamp: int | None) -> Collection[CountWindow]:
            place = seen.value() or 0
            seen.update(place + 1)
            return windows_of(place)

        return assign

    def windows_of(self, place: int) -> Collection[CountWindow]:
        """The windows of the element at a place among those of its key, from 0."""
        raise NotImplementedError


def _at_least_one(value: int, call: str, what: str) -> int:
    if checks.integer(value, call, what) < 1:
        checks.illegal_argument(f"{call}() was given {value} as {what}. Give 1 or more elements.")
    return value


@dataclass(frozen=True)
class CountTumblingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key, one after the other."""

    counter: ClassVar[str] = "tumble-count-assigner"
    shown = ("window_size",)

    window_size: int

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        return CountTumblingWindowAssigner(_at_least_one(window_size, "CountTumblingWindowAssigner.of", "size"))

    def windows_of(self, place: int) -> Collection[CountWindow]:
        return (CountWindow(place // self.window_size),)


@dataclass(frozen=True)
class CountSlidingWindowAssigner(_CountWindows):
    """Windows of so many elements of a key that begin at equal distances, in elements; none holds what falls between
    them."""

    counter: ClassVar[str] = "slide-count-assigner"
    shown = "window_size", "window_slide"

    window_size: int
    window_slide: int

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Windows of ``window_size`` elements that begin every ``window_slide`` elements."""
        call = "CountSlidingWindowAssigner.of"
        return CountSlidingWindowAssigner(
            _at_least_one(window_size, call, "size"), _at_least_one(window_slide, call, "slide")
        )

    def windows_of(self, place: int) -> Collection[CountWindow]:
        size, slide = self.window_size, self.window_slide
        last = place // slide
        first = max(0, -(-(place - size + 1) // slide))  # the first that reaches so far
        return [CountWindow(number) for number in range(last, first - 1, -1)]

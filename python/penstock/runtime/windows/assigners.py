"""Assigners: which windows an element belongs to.

Sources of the semantics: ``TumblingEventTimeWindows``, ``SlidingEventTimeWindows``, ``EventTimeSessionWindows``, their
siblings by the clock, and ``GlobalWindows`` (Flink 1.11), but for window starts below the offset: see
:meth:`TimeWindow.get_window_start_with_offset`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.errors import InvalidProgramError
from penstock.runtime.state.timers import Clock
from penstock.runtime.usercode.binding import bind
from penstock.runtime.windows.time_window import GLOBAL, TimeWindow

Assign = Callable[[Any, "int | None"], Collection[Any]]
"""The windows of (element, timestamp)."""


class AssignerContext:
    """What a WindowAssigner of a program's own knows besides the element.

    Args:
        clock: of the task.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self._clock.now()


@dataclass(frozen=True)
class WindowAssigner:
    """Base of the assigners.

    Attributes:
        event_time: whether timestamps decide, and lateness counts.
        merging: whether windows that touch become one.
        constant: the windows of every element, where they are the same for all.
    """

    event_time: bool = True
    merging: ClassVar[bool] = False
    constant: ClassVar[Collection[Any] | None] = None

    def bind(self, clock: Clock) -> Assign:
        """The function that assigns, in one subtask."""
        spread = self.spread()
        if self.event_time:

            def by_timestamp(value: Any, timestamp: int | None) -> Collection[TimeWindow]:
                if timestamp is None:
                    raise _no_timestamp()
                return spread(value, timestamp)

            return by_timestamp
        return lambda value, timestamp: spread(value, clock.now())

    def spread(self) -> Callable[[Any, int], Collection[TimeWindow]]:
        """The function from an element and its time to its windows."""
        raise NotImplementedError


def _no_timestamp() -> InvalidProgramError:
    """The text is Flink's but for the names of Python's methods, as programs look for it."""
    return InvalidProgramError(
        "Record has Long.MIN_VALUE timestamp (= no timestamp marker). Is the time characteristic set to "
        "'ProcessingTime', or did you forget to call 'DataStream.assignTimestampsAndWatermarks(...)'?",
        flink_class="java.lang.RuntimeException",
    )


@dataclass(frozen=True, kw_only=True)
class TumblingWindows(WindowAssigner):
    """Windows of one size, one after the other.

    Attributes:
        size: in milliseconds.
        offset: of the first window's start from the epoch.
    """

    size: int
    offset: int = 0

    def spread(self) -> Callable[[Any, int], Collection[TimeWindow]]:
        size, offset, start_of = self.size, self.offset, TimeWindow.get_window_start_with_offset
        last = (TimeWindow(offset, offset + size),)

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            nonlocal last
            start = start_of(time, offset, size)
            if start != last[0][0]:
                last = (TimeWindow(start, start + size),)
            return last

        return assign


@dataclass(frozen=True, kw_only=True)
class SlidingWindows(WindowAssigner):
    """Windows of one size that begin at equal distances; none holds what falls between them.

    Attributes:
        size: in milliseconds.
        slide: distance of their starts.
        offset: of the first window's start from the epoch.
    """

    size: int
    slide: int
    offset: int = 0

    def spread(self) -> Callable[[Any, int], Collection[TimeWindow]]:
        size, slide, offset = self.size, self.slide, self.offset

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            last = TimeWindow.get_window_start_with_offset(time, offset, slide)
            return [TimeWindow(start, start + size) for start in range(last, time - size, -slide)]

        return assign


@dataclass(frozen=True, kw_only=True)
class SessionWindows(WindowAssigner):
    """Windows that grow together while elements come within a gap.

    Attributes:
        gap: in milliseconds.
    """

    gap: int
    merging: ClassVar[bool] = True

    def spread(self) -> Callable[[Any, int], Collection[TimeWindow]]:
        gap = self.gap
        return lambda value, time: (TimeWindow(time, time + gap),)


@dataclass(frozen=True, kw_only=True)
class DynamicSessionWindows(WindowAssigner):
    """Sessions with a gap that each element says.

    Attributes:
        gap_of: a callable from element to milliseconds, or an object with ``extract``.
    """

    gap_of: Any
    merging: ClassVar[bool] = True

    def spread(self) -> Callable[[Any, int], Collection[TimeWindow]]:
        gap_of = bind(self.gap_of, "extract")

        def assign(value: Any, time: int) -> Collection[TimeWindow]:
            gap = gap_of(value)
            if gap <= 0:
                raise InvalidProgramError(
                    f"Dynamic session time gap must satisfy 0 < gap, but it is {gap} for the element {value!r}.",
                    flink_class="java.lang.IllegalArgumentException",
                )
            return (TimeWindow(time, time + gap),)

        return assign


@dataclass(frozen=True)
class GlobalWindows(WindowAssigner):
    """Assigns every element to the same, never ending window. Nothing is ever late in it."""

    event_time: bool = False
    constant: ClassVar[Collection[Any] | None] = GLOBAL

    def bind(self, clock: Clock) -> Assign:
        return lambda value, timestamp: GLOBAL


@dataclass(frozen=True, kw_only=True)
class UserWindows(WindowAssigner):
    """A program's own assigner.

    Attributes:
        assigner: an object with ``assign_windows(element, timestamp, context)``.
    """

    assigner: Any

    def bind(self, clock: Clock) -> Assign:
        assign, context = self.assigner.assign_windows, AssignerContext(clock)
        return lambda value, timestamp: assign(value, timestamp, context)

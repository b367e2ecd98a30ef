"""Evictors: which elements stay in a window when it fires (Flink 1.11: ``CountEvictor``, ``TimeEvictor``,
``DeltaEvictor``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from penstock.common import checks
from penstock.common.time import Span, milliseconds_of
from penstock.metrics.group import MetricGroup, Metrics
from penstock.runtime.state.operator_time import OperatorTime
from penstock.runtime.usercode.functions import bind, java_object, simple_name
from penstock.runtime.windows.time_window import Window
from penstock.runtime.windows.triggers import DeltaFunction

T = TypeVar("T", contravariant=True)
V = TypeVar("V")
X = TypeVar("X")


@dataclass(frozen=True, slots=True)
class TimestampedValue(Generic[X]):
    """An element of a window, as evictors see it, with its timestamp in milliseconds or None (Flink:
    ``TimestampedValue``)."""

    value: X
    timestamp: int | None


class EvictorContext:
    """The context of an evictor of a program's own."""

    def __init__(self, time: OperatorTime, metrics: Metrics) -> None:
        self._time, self._metrics = time, metrics

    def get_current_processing_time(self) -> int:
        """Milliseconds since the epoch."""
        return self._time.clock.now()

    def get_current_watermark(self) -> int:
        return self._time.watermark

    def get_metric_group(self) -> MetricGroup:
        return MetricGroup(self._metrics)


class Evictor(Generic[T]):
    """Base of the evictors. One of a program's own overrides ``evict_before`` or ``evict_after``, and takes elements
    out of the list that it is given: ``del elements[0]``, ``elements[:] = …``. They are then gone from the window."""

    EvictorContext = EvictorContext

    def evict_before(
        self, elements: list[TimestampedValue[T]], size: int, window: Window, evictor_context: EvictorContext, /
    ) -> None:
        """Called when a window fires, before its function, with its ``size`` elements in order."""

    def evict_after(
        self, elements: list[TimestampedValue[T]], size: int, window: Window, evictor_context: EvictorContext, /
    ) -> None:
        """Called when a window fires, after its function."""


class KeepingEvictor(Evictor[T]):
    """Base of the evictors of Flink, which know only the elements."""

    after: bool  # evict after the function instead of before it
    timed: ClassVar[bool] = False  # whether it is given (element, timestamp) pairs instead of elements

    def evict(self, elements: list[Any]) -> list[Any]:
        """The elements that stay: the list itself or a new one."""
        raise NotImplementedError

    def evict_before(
        self, elements: list[TimestampedValue[T]], size: int, window: Window, evictor_context: EvictorContext
    ) -> None:
        if not self.after:
            self._evict_from(elements)

    def evict_after(
        self, elements: list[TimestampedValue[T]], size: int, window: Window, evictor_context: EvictorContext
    ) -> None:
        if self.after:
            self._evict_from(elements)

    def _evict_from(self, elements: list[TimestampedValue[T]]) -> None:
        """:meth:`evict`, for an evictor of a program's own that asks this one."""
        raise NotImplementedError


@dataclass(frozen=True)
class CountEvictor(KeepingEvictor[object]):
    """Keeps the last ``count`` elements; 0 or less keeps none."""

    count: int
    after: bool = False

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        return CountEvictor(checks.integer(max_count, "CountEvictor.of", "count"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        surplus = len(elements) - max(self.count, 0)
        return elements[surplus:] if surplus > 0 else elements

    def _evict_from(self, elements: list[TimestampedValue[object]]) -> None:
        elements[:] = self.evict(elements)

    def __str__(self) -> str:
        return java_object("org.apache.flink.streaming.api.windowing.evictors.CountEvictor")


@dataclass(frozen=True)
class TimeEvictor(KeepingEvictor[object]):
    """Keeps what is younger than the youngest element less a span; all elements, if the first has no timestamp."""

    timed: ClassVar[bool] = True

    size_ms: int
    after: bool = False

    @staticmethod
    def of(window_size: Span, do_evict_after: bool = False) -> TimeEvictor:
        return TimeEvictor(milliseconds_of(window_size, "TimeEvictor.of", "size"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements or elements[0][1] is None:
            return elements
        limit = max(time for _, time in elements if time is not None) - self.size_ms
        return [element for element in elements if element[1] is not None and element[1] > limit]

    def _evict_from(self, elements: list[TimestampedValue[object]]) -> None:
        stay = self.evict([(element.value, element.timestamp) for element in elements])
        elements[:] = [TimestampedValue(*pair) for pair in stay]

    def __str__(self) -> str:
        return f"TimeEvictor({self.size_ms})"


@dataclass(frozen=True)
class DeltaEvictor(KeepingEvictor[T]):
    """Removes elements that differ from the last one by a threshold or more. ``delta`` is a callable of (element,
    last element), or an object with ``get_delta``."""

    threshold: float
    delta: Callable[[T, T], float] | DeltaFunction[T]
    after: bool = False

    @staticmethod
    def of(
        threshold: float, delta: Callable[[V, V], float] | DeltaFunction[V], do_evict_after: bool = False
    ) -> DeltaEvictor[V]:
        return DeltaEvictor(threshold, checks.function(delta, "DeltaEvictor.of", "get_delta"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements:
            return elements
        delta, last = bind(self.delta, "get_delta"), elements[-1]
        return [element for element in elements if delta(element, last) < self.threshold]

    def _evict_from(self, elements: list[TimestampedValue[T]]) -> None:
        delta, last = bind(self.delta, "get_delta"), elements[-1] if elements else None
        elements[:] = [e for e in elements if last and delta(e.value, last.value) < self.threshold]

    def __str__(self) -> str:
        return f"DeltaEvictor({java_object(simple_name(self.delta))}, {self.threshold})"

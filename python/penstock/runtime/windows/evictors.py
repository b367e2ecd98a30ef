"""Evictors: which elements stay in a window when it fires. Plain frozen data that travels with a program.

Sources of names and semantics: ``CountEvictor``, ``TimeEvictor``, ``DeltaEvictor`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from penstock.common import checks
from penstock.common.time import Span, milliseconds_of
from penstock.runtime.usercode.binding import bind
from penstock.runtime.usercode.naming import java_object, simple_name
from penstock.runtime.windows.trigger import DeltaFunction

T = TypeVar("T", contravariant=True)
V = TypeVar("V")


class Evictor(Generic[T]):
    """Base of the evictors.

    Attributes:
        after: evict after the function instead of before it.
        timed: whether it is given (element, timestamp) pairs instead of elements.
    """

    after: bool
    timed: ClassVar[bool] = False

    def evict(self, elements: list[Any]) -> list[Any]:
        """The elements that stay: the list itself or a new one.

        Args:
            elements: all of them, in order.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class CountEvictor(Evictor[object]):
    """Keeps the last n elements.

    Attributes:
        count: n; 0 or less keeps none.
        after: evict after the function instead of before it.
    """

    count: int
    after: bool = False

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """The evictor."""
        return CountEvictor(checks.integer(max_count, "CountEvictor.of", "count"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        surplus = len(elements) - max(self.count, 0)
        return elements[surplus:] if surplus > 0 else elements

    def __str__(self) -> str:
        return java_object("org.apache.flink.streaming.api.windowing.evictors.CountEvictor")


@dataclass(frozen=True)
class TimeEvictor(Evictor[object]):
    """Keeps what is younger than the youngest element less a span; all elements, if the first has no timestamp.

    Attributes:
        size_ms: the span.
        after: evict after the function instead of before it.
    """

    timed: ClassVar[bool] = True

    size_ms: int
    after: bool = False

    @staticmethod
    def of(window_size: Span, do_evict_after: bool = False) -> TimeEvictor:
        """The evictor."""
        return TimeEvictor(milliseconds_of(window_size, "TimeEvictor.of", "size"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements or elements[0][1] is None:
            return elements
        limit = max(time for _, time in elements if time is not None) - self.size_ms
        return [element for element in elements if element[1] is not None and element[1] > limit]

    def __str__(self) -> str:
        return f"TimeEvictor({self.size_ms})"


@dataclass(frozen=True)
class DeltaEvictor(Evictor[T]):
    """Removes elements that differ from the last one by a threshold or more.

    Attributes:
        threshold: the difference that is too much.
        delta: a callable of (element, last element), or an object with ``get_delta``.
        after: evict after the function instead of before it.
    """

    threshold: float
    delta: Callable[[T, T], float] | DeltaFunction[T]
    after: bool = False

    @staticmethod
    def of(
        threshold: float, delta: Callable[[V, V], float] | DeltaFunction[V], do_evict_after: bool = False
    ) -> DeltaEvictor[V]:
        """The evictor."""
        return DeltaEvictor(threshold, checks.function(delta, "DeltaEvictor.of", "get_delta"), do_evict_after)

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements:
            return elements
        delta, last = bind(self.delta, "get_delta"), elements[-1]
        return [element for element in elements if delta(element, last) < self.threshold]

    def __str__(self) -> str:
        return f"DeltaEvictor({java_object(simple_name(self.delta))}, {self.threshold})"

"""Evictors: which elements stay in a window when it fires.

Sources of the semantics: ``CountEvictor``, ``TimeEvictor``, ``DeltaEvictor`` (Flink 1.11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.runtime.usercode.binding import bind


class Evictor:
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
class CountEvictor(Evictor):
    """Keeps the last n elements.

    Attributes:
        count: n; 0 or less keeps none.
        after: evict after the function instead of before it.
    """

    count: int
    after: bool = False

    def evict(self, elements: list[Any]) -> list[Any]:
        surplus = len(elements) - max(self.count, 0)
        return elements[surplus:] if surplus > 0 else elements


@dataclass(frozen=True)
class TimeEvictor(Evictor):
    """Keeps what is younger than the youngest element less a span; all elements, if the first has no timestamp.

    Attributes:
        size: the span in milliseconds.
        after: evict after the function instead of before it.
    """

    timed: ClassVar[bool] = True

    size: int
    after: bool = False

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements or elements[0][1] is None:
            return elements
        limit = max(time for _, time in elements if time is not None) - self.size
        return [element for element in elements if element[1] is not None and element[1] > limit]


@dataclass(frozen=True)
class DeltaEvictor(Evictor):
    """Removes elements that differ from the last one by a threshold or more.

    Attributes:
        threshold: the difference that is too much.
        delta: a callable of (element, last element), or an object with ``get_delta``.
        after: evict after the function instead of before it.
    """

    threshold: float
    delta: Any
    after: bool = False

    def evict(self, elements: list[Any]) -> list[Any]:
        if not elements:
            return elements
        delta, last = bind(self.delta, "get_delta"), elements[-1]
        return [element for element in elements if delta(element, last) < self.threshold]

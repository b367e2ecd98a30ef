"""Evictors: which records stay in a window when it fires. Plain frozen data.

Source: Flink 1.11 ``org.apache.flink.streaming.api.windowing.evictors``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common import checks
from penstock.common.time import milliseconds_of
from penstock.datastream.window import Span
from penstock.runtime import windows
from penstock.runtime.usercode.naming import java_object, simple_name


class Evictor:
    """Base of the evictors."""

    def runtime(self) -> windows.Evictor:
        """What the runtime runs."""
        raise NotImplementedError


@dataclass(frozen=True)
class CountEvictor(Evictor):
    """Keeps the last ``count`` records.

    Attributes:
        count: how many stay.
        after: evict after the function instead of before.
    """

    count: int
    after: bool = False

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """The evictor."""
        return CountEvictor(checks.integer(max_count, "CountEvictor.of", "count"), do_evict_after)

    def runtime(self) -> windows.Evictor:
        return windows.CountEvictor(self.count, self.after)

    def __str__(self) -> str:
        return java_object("org.apache.flink.streaming.api.windowing.evictors.CountEvictor")


@dataclass(frozen=True)
class TimeEvictor(Evictor):
    """Keeps the records of the last while before the newest.

    Attributes:
        size_ms: how long back.
        after: evict after the function instead of before.
    """

    size_ms: int
    after: bool = False

    @staticmethod
    def of(window_size: Span, do_evict_after: bool = False) -> TimeEvictor:
        """The evictor."""
        return TimeEvictor(milliseconds_of(window_size, "TimeEvictor.of", "size"), do_evict_after)

    def runtime(self) -> windows.Evictor:
        return windows.TimeEvictor(self.size_ms, self.after)

    def __str__(self) -> str:
        return f"TimeEvictor({self.size_ms})"


@dataclass(frozen=True)
class DeltaEvictor(Evictor):
    """Removes records that differ from the newest by a threshold or more.

    Attributes:
        threshold: the difference that is too much.
        delta: (record, newest record) → difference.
        after: evict after the function instead of before.
    """

    threshold: float
    delta: Callable[[Any, Any], float]
    after: bool = False

    @staticmethod
    def of(threshold: float, delta: Callable[[Any, Any], float], do_evict_after: bool = False) -> DeltaEvictor:
        """The evictor."""
        return DeltaEvictor(threshold, checks.function(delta, "DeltaEvictor.of", "get_delta"), do_evict_after)

    def runtime(self) -> windows.Evictor:
        return windows.DeltaEvictor(self.threshold, self.delta, self.after)

    def __str__(self) -> str:
        return f"DeltaEvictor({java_object(simple_name(self.delta))}, {self.threshold})"

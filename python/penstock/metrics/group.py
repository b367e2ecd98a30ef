"""Metrics of a user function, and the groups that name them. Source of the names: ``pyflink.metrics``. All groups of an
operator in a subtask share one :class:`Metrics`; a metric's identifier is its group's names and its own, joined by
dots. Asking for a metric again gives the same one."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
import operator
import time
from collections import deque
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

from penstock.errors import InvalidProgramError
from penstock.metrics.results import CounterValue, DistributionValue, GaugeValue, MeterValue


class Metric:
    """Base of metrics."""

    def value(self) -> object:
        """The value to report; a TypeError if it is not a number."""
        raise NotImplementedError


M = TypeVar("M", bound=Metric)


class Counter(Metric):
    """A whole number that goes up and down."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Add ``n``."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Subtract ``n``."""
        self._count -= n

    def get_count(self) -> int:
        """The count so far, of this subtask."""
        return self._count

    def __repr__(self) -> str:
        return f"<Counter {self._count}>"

    def value(self) -> CounterValue:
        return CounterValue(operator.index(self._count))


class Distribution(Metric):
    """Count, sum, minimum and maximum of numbers."""

    __slots__ = ("_count", "_max", "_min", "_sum")

    def __init__(self) -> None:
        self._count, self._sum = 0, 0
        self._min: Any = None
        self._max: Any = None

    def update(self, value: float) -> None:
        """Take one more number."""
        self._count += 1
        self._sum += value  # type: ignore[assignment]
        if self._min is None:
            self._min = self._max = value
        elif value < self._min:
            self._min = value
        elif value > self._max:
            self._max = value

    def __repr__(self) -> str:
        return f"<Distribution count={self._count} sum={self._sum} min={self._min} max={self._max}>"

    def value(self) -> DistributionValue:
        if not self._count:
            return DistributionValue()
        return DistributionValue(self._count, *map(_number, (self._sum, self._min, self._max)))


class Meter(Metric):
    """Events, and how many per second over a time span, which takes O(seconds) memory; ``now`` is the clock."""

    __slots__ = ("_count", "_now", "_recent", "_started", "time_span_in_seconds")

    def __init__(self, time_span_in_seconds: int = 60, now: Callable[[], float] = time.monotonic) -> None:
        self.time_span_in_seconds: int = time_span_in_seconds
        self._count = 0
        self._now = now
        self._started = now()
        self._recent: deque[list[int]] = deque()  # [second, events] of the time span

    def mark_event(self, value: int = 1) -> None:
        """``value`` events have happened."""
        self._count += value
        second = int(self._now())
        if not self._recent or self._recent[-1][0] != second:
            self._forget(second)
            self._recent.append([second, 0])
        self._recent[-1][1] += value

    def get_count(self) -> int:
        """Events so far, of this subtask."""
        return self._count

    def rate(self) -> float:
        """Events per second over the last time span, or the meter's life (at least a second) if that is shorter."""
        now = self._now()
        self._forget(int(now))
        span = min(self.time_span_in_seconds, max(math.ceil(now - self._started), 1))
        return sum(events for _, events in self._recent) / span

    def _forget(self, second: int) -> None:
        while self._recent and self._recent[0][0] <= second - self.time_span_in_seconds:
            self._recent.popleft()

    def __repr__(self) -> str:
        return f"<Meter count={self._count} rate={self.rate()}>"

    def value(self) -> MeterValue:
        return MeterValue(operator.index(self._count), self.rate())


class Gauge(Metric):
    """A value that a function returns."""

    __slots__ = ("_read", "_value")

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read = read
        self._value: Any = None

    def sample(self) -> None:
        """Read the value."""
        self._value = self._read()

    def value(self) -> GaugeValue:
        plain = self._value is None or isinstance(self._value, str)
        return GaugeValue(self._value if plain else _number(self._value))


def _number(value: Any) -> Any:
    """A number as Python's own; NumPy's, say, would need NumPy wherever the report is read."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{value!r} is not a number")


class Metrics:
    """All metrics of a user function in one subtask, by identifier."""

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}

    def register(self, identifier: str, kind: type[M], make: Callable[[], M], *, replace: bool = False) -> M:
        """The metric with an identifier, made on first use; an InvalidProgramError if it is of another kind."""
        metric = self._metrics.get(identifier)
        if metric is None or (replace and type(metric) is kind):
            metric = self._metrics[identifier] = make()
        if not isinstance(metric, kind):
            raise InvalidProgramError(
                f"The metric {identifier!r} is a {type(metric).__name__.lower()} already and cannot be a "
                f"{kind.__name__.lower()} too. Give one of them another name, or put it into a group."
            )
        return metric

    def sample(self) -> None:
        """Read all gauges. Errors of their functions are raised."""
        for metric in self._metrics.values():
            if isinstance(metric, Gauge):
                metric.sample()

    def values(self) -> dict[str, Any]:
        """The values to report, in order of registration."""
        return {identifier: _value(identifier, metric) for identifier, metric in self._metrics.items()}


def _value(identifier: str, metric: Metric) -> Any:
    try:
        return metric.value()
    except TypeError as error:
        kind = type(metric).__name__.lower()
        wanted = {"counter": "whole numbers", "meter": "whole numbers", "gauge": "a number or a text"}
        raise InvalidProgramError(
            f"The {kind} {identifier!r} takes {wanted.get(kind, 'numbers')}, but {error}. Convert the value first."
        ) from error


class MetricGroup:
    """Names metrics (PyFlink: ``MetricGroup``). ``scope``: names of the groups around, each followed by a dot."""

    def __init__(self, metrics: Metrics, scope: str = "") -> None:
        self._metrics = metrics
        self._scope = scope

    def __repr__(self) -> str:
        return f"<MetricGroup {self._scope[:-1]!r}>"

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group inside this one; with ``extra``, ``name`` is a key and ``extra`` its value: ``name.extra``."""
        inner = MetricGroup(self._metrics, f"{self._identifier(name)}.")
        return inner if extra is None else inner.add_group(extra)

    def counter(self, name: str) -> Counter:
        """The counter of that name; summed over subtasks.

        Raises:
            InvalidProgramError: the name is not a text, or belongs to another kind of metric. So do the others."""
        return self._metrics.register(self._identifier(name), Counter, Counter)

    def gauge(self, name: str, obj: Callable[[], object]) -> None:
        """A value of each subtask, asked for once, when the subtask's input has ended and before ``close``.

        ``obj`` gives it: a number, a text or None. A gauge of that name is replaced."""
        if not callable(obj):
            raise InvalidProgramError(f"The gauge {name!r} needs a function without arguments, not {obj!r}.")
        self._metrics.register(self._identifier(name), Gauge, lambda: Gauge(obj), replace=True)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """The meter of that name (time span: 1 or more); its count is summed over subtasks, its rate is not."""
        identifier, span = self._identifier(name), time_span_in_seconds
        if not isinstance(span, int) or span < 1:
            raise InvalidProgramError(f"The time span of the meter {identifier!r} is {span!r}, not 1 second or more.")
        meter = self._metrics.register(identifier, Meter, lambda: Meter(span))
        if meter.time_span_in_seconds != span:
            raise InvalidProgramError(
                f"The meter {identifier!r} has a time span of {meter.time_span_in_seconds} seconds already, and cannot "
                f"have one of {span} too. Give one of them another name."
            )
        return meter

    def distribution(self, name: str) -> Distribution:
        """The distribution of that name."""
        return self._metrics.register(self._identifier(name), Distribution, Distribution)

    def _identifier(self, name: str) -> str:
        if not isinstance(name, str) or not name:
            raise InvalidProgramError(f"Metrics and their groups are named by texts, not {name!r}.")
        return self._scope + name

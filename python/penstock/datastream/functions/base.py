"""Base classes of user functions, with PyFlink's names.

Wherever the API takes a function, a plain callable does as well; a class adds ``open`` and ``close``. The runtime
calls, per subtask: ``open(runtime_context)`` once, the method for every record, ``close()`` once. Functions travel to
the executors by cloudpickle, so open files and connections belong into ``open``.

Source of the names: ``pyflink.datastream.functions``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Protocol

from penstock.metrics.group import MetricGroup


class RuntimeContext(Protocol):
    """What ``open`` receives: where this instance of the function runs."""

    def get_task_name(self) -> str:
        """Name of the task's chain, such as ``Map -> Filter``."""
        ...

    def get_number_of_parallel_subtasks(self) -> int:
        """Parallelism of the operator."""
        ...

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Max parallelism of the operator."""
        ...

    def get_index_of_this_subtask(self) -> int:
        """Index of this subtask, from 0."""
        ...

    def get_attempt_number(self) -> int:
        """Attempt, from 0; it grows when the task is retried."""
        ...

    def get_task_name_with_subtasks(self) -> str:
        """Such as ``Map -> Filter (2/7)``."""
        ...

    def get_metrics_group(self) -> MetricGroup:
        """Where counters, gauges, distributions and meters of this function are made, in ``open``."""
        ...


class Function(ABC):
    """Base of all user functions: ``open`` and ``close`` do nothing unless overridden."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called once per subtask before the first record."""

    def close(self) -> None:
        """Called once per subtask after the last record, also after a failure."""


class MapFunction(Function):
    """One record in, one record out."""

    @abstractmethod
    def map(self, value: Any) -> Any:
        """The record to emit for ``value``."""


class FlatMapFunction(Function):
    """One record in, any number out."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any]:
        """The records to emit for ``value``: an iterable, or a generator with ``yield``."""


class FilterFunction(Function):
    """Keeps or drops a record."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Whether ``value`` stays in the stream."""


class ReduceFunction(Function):
    """Combines two records of a key into one of the same type."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """The combination; ``value1`` is the result so far."""


class AggregateFunction(Function):
    """Folds the records of a window into an accumulator of another type."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of nothing."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """The accumulator with ``value`` added."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """The record to emit for an accumulator."""

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Two accumulators as one; needed by session windows only."""
        raise NotImplementedError(f"{type(self).__name__}.merge is needed for merging windows")


class KeySelector(Function):
    """Extracts the key of a record."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """The key: deterministic, and never None."""


class Partitioner(Function):
    """Chooses the subtask for a key."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Index of the receiving subtask, 0 to ``num_partitions`` − 1."""


class ProcessFunction(Function):
    """Record in, any number of records out, with access to timestamp and side outputs.

    To emit, ``yield value``; to emit to a side output, ``yield tag, value``.
    """

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record; ``ctx`` has ``timestamp()`` and ``timer_service()``."""


class KeyedProcessFunction(Function):
    """A ProcessFunction on a keyed stream, with state per key; ``ctx`` also has ``get_current_key()``."""

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record."""

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key fires."""


class SourceFunction(Function):
    """A source written in Python. It has one instance, whatever the parallelism of the job.

    ``run`` emits everything and returns; a program ends when all its sources have returned.
    """

    @abstractmethod
    def run(self, ctx: Any) -> None:
        """Emit with ``ctx.collect(value)`` or ``ctx.collect_with_timestamp(value, timestamp)``."""

    def cancel(self) -> None:
        """Asks ``run`` to return early."""


class ParallelSourceFunction(SourceFunction):
    """A source with as many instances as its parallelism says; ``open`` tells each which one it is."""


class SinkFunction(Function):
    """A sink written in Python."""

    @abstractmethod
    def invoke(self, value: Any, context: Any = None) -> None:
        """Take one record."""


def is_rich(function: Any) -> bool:
    """Whether a function object has an ``open`` or ``close`` of its own (Flink: RichFunction)."""
    cls = type(function)
    if isinstance(function, Function):
        return cls.open is not Function.open or cls.close is not Function.close
    return hasattr(function, "open") or hasattr(function, "close")

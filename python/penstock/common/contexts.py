"""The contexts of functions: where they run, their state, time and timers. The runtime implements
these interfaces; users meet them under PyFlink's names, such as ``KeyedProcessFunction.Context``. Source of the names:
``pyflink.datastream.functions``, ``pyflink.datastream.timerservice``. Times are milliseconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from penstock.common.functions import state as states
from penstock.common.functions import state_descriptor as descriptors
from penstock.common.watermark_strategy import Watermark
from penstock.metrics.group import MetricGroup

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY_co = TypeVar("KEY_co", covariant=True)
W_co = TypeVar("W_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class KeyedStateStore(ABC):
    """Gives the states of the current key by descriptor. Names are unique per operator."""

    @overload
    @abstractmethod
    def get_state(self, state_descriptor: descriptors.ValueStateDescriptor[T]) -> states.ValueState[T]: ...

    @overload
    @abstractmethod
    def get_state(self, state_descriptor: str) -> states.ValueState[Any]: ...

    @abstractmethod
    def get_state(self, state_descriptor: descriptors.ValueStateDescriptor[Any] | str) -> states.ValueState[Any]:
        """A value per key, by its descriptor or by a name alone, which says nothing of the type."""

    @abstractmethod
    def get_list_state(self, state_descriptor: descriptors.ListStateDescriptor[T]) -> states.ListState[T]:
        """A list per key."""

    @abstractmethod
    def get_map_state(self, state_descriptor: descriptors.MapStateDescriptor[K, V]) -> states.MapState[K, V]:
        """A map per key."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: descriptors.ReducingStateDescriptor[T]) -> states.ReducingState[T]:
        """A running reduction per key."""

    @abstractmethod
    def get_aggregating_state(
        self, state_descriptor: descriptors.AggregatingStateDescriptor[IN, OUT]
    ) -> states.AggregatingState[IN, OUT]:
        """A running aggregation per key."""


class DistributedCache(ABC):
    """The files that a program has registered, on the machine of a task."""

    @abstractmethod
    def get_file(self, name: str) -> str:
        """The path of the file or folder that ``register_cached_file`` has named so, or UnknownNameError."""


class RuntimeContext(KeyedStateStore):
    """The argument of ``open``: where this instance of the function runs, and on a keyed stream its state."""

    @abstractmethod
    def get_task_name(self) -> str:
        """Name of the task's chain, such as ``Map -> Filter``."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Name of the chain and the subtask, such as ``Map -> Filter (2/7)``."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Parallelism of the operator."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Max parallelism of the operator."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Index of this subtask, from 0."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Attempt, from 0; it grows when the task is retried."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A setting of the program's configuration, or the default."""

    @abstractmethod
    def get_distributed_cache(self) -> DistributedCache:
        """The files that were registered by ``register_cached_file`` (Java)."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Where counters, gauges, distributions and meters of this function are made, in ``open``."""


class TimerService(ABC):
    """Watermark, clock, and on a keyed stream the timers of the current key."""

    __slots__ = ()

    @abstractmethod
    def current_watermark(self) -> int:
        """The operator's watermark, Long.MIN_VALUE at first."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The machine's clock, since the epoch."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Have ``on_timer`` called for the current key when the watermark reaches a time. Without a key, this and the
        other three raise an InvalidProgramError."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have ``on_timer`` called for the current key when the clock reaches a time."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Forget a timer of the current key, if there is one."""

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Forget a timer of the current key by the clock, if there is one."""


class BaseContext(ABC):
    """The time, as every function with a context sees it."""

    __slots__ = ()

    @abstractmethod
    def timestamp(self) -> int | None:
        """Timestamp of the current record, None if it has none."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The operator's watermark, Long.MIN_VALUE at first."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The machine's clock, since the epoch."""


class Context(BaseContext):
    """The ``ctx`` of a process function."""

    __slots__ = ()

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Watermark, clock and timers."""


class KeyedContext(Context, Generic[KEY_co]):
    """The ``ctx`` of a process function on a keyed stream."""

    __slots__ = ()

    @abstractmethod
    def get_current_key(self) -> KEY_co:
        """The key of the current record or timer."""


class OnTimerContext(KeyedContext[KEY_co]):
    """The ``ctx`` of ``on_timer``."""

    __slots__ = ()

    @abstractmethod
    def timestamp(self) -> int:
        """The time of the timer."""

    @abstractmethod
    def time_domain(self) -> states.TimeDomain:
        """Whether the timer is one of event time or of the clock."""


class ReadOnlyBroadcastContext(BaseContext):
    """The ``ctx`` of the elements' side beside a broadcast stream."""

    __slots__ = ()

    @abstractmethod
    def get_broadcast_state(
        self, state_descriptor: descriptors.MapStateDescriptor[K, V]
    ) -> states.ReadOnlyBroadcastState[K, V]:
        """A broadcast state, to read; InvalidProgramError if the stream was not broadcast with it."""


class BroadcastContext(BaseContext):
    """The ``ctx`` of the broadcast side."""

    __slots__ = ()

    @abstractmethod
    def get_broadcast_state(
        self, state_descriptor: descriptors.MapStateDescriptor[K, V]
    ) -> states.BroadcastState[K, V]:
        """A broadcast state, to read and to change; InvalidProgramError if the stream was not broadcast with it."""


class KeyedReadOnlyBroadcastContext(ReadOnlyBroadcastContext, KeyedContext[KEY_co]):
    """The ``ctx`` of the elements' side of a keyed stream beside a broadcast stream."""

    __slots__ = ()


class OnTimerBroadcastContext(OnTimerContext[KEY_co], KeyedReadOnlyBroadcastContext[KEY_co]):
    """The ``ctx`` of ``on_timer`` beside a broadcast stream."""

    __slots__ = ()


class KeyedBroadcastContext(BroadcastContext, Generic[KEY_co]):
    """The ``ctx`` of the broadcast side beside a keyed stream."""

    __slots__ = ()

    @abstractmethod
    def apply_to_keyed_state(
        self, state_descriptor: descriptors.StateDescriptor[S], function: Callable[[KEY_co, S], None]
    ) -> None:
        """Call ``function(key, state)`` for every key that has the state. O(keys)."""


class WindowContext(ABC, Generic[W_co]):
    """The ``context`` of a function that sees whole windows."""

    @abstractmethod
    def window(self) -> W_co:
        """The window."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The operator's watermark."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The machine's clock, since the epoch."""

    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """State of this key and window, for the function's ``clear`` to clear; InvalidProgramError of sessions."""

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """State of this key, over all windows."""


class JoinContext(ABC):
    """The ``ctx`` of a ProcessJoinFunction."""

    __slots__ = ()

    @abstractmethod
    def get_left_timestamp(self) -> int:
        """Timestamp of the left record."""

    @abstractmethod
    def get_right_timestamp(self) -> int:
        """Timestamp of the right record."""

    @abstractmethod
    def get_timestamp(self) -> int:
        """Timestamp of the result: the larger one."""


class SourceContext(ABC, Generic[T_contra]):
    """The ``ctx`` of a source function's ``run``."""

    __slots__ = ()

    @abstractmethod
    def collect(self, value: T_contra) -> None:
        """Emit a record without a timestamp."""

    @abstractmethod
    def collect_with_timestamp(self, value: T_contra, timestamp: int | None) -> None:
        """Emit a record with a timestamp."""

    @abstractmethod
    def emit_watermark(self, watermark: Watermark | int) -> None:
        """Promise that no record with this timestamp or a smaller one is to come."""

    @abstractmethod
    def mark_as_temporarily_idle(self) -> None:
        """Hold nobody's watermark back until the next record or watermark."""

    @abstractmethod
    def end_round(self) -> None:
        """Everything that all sources have emitted before their n-th call of this is processed before anything they
        emit after it. (Penstock's own: what aligned barriers are to Flink, and a micro-batch to Spark.)"""


class SinkContext(ABC):
    """The ``context`` of a sink function's ``invoke``."""

    __slots__ = ()

    @abstractmethod
    def timestamp(self) -> int | None:
        """Timestamp of the current record, None if it has none."""

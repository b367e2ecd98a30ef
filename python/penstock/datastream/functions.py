"""Base classes of user functions, with PyFlink's names.

Wherever the API takes a function, a plain callable does as well; a class adds ``open`` and ``close``, called once per
subtask, before and after its records. Functions travel to the executors by cloudpickle, so open files and connections
belong into ``open``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common import checks, contexts
from penstock.common.async_retry import AsyncRetryPredicate as AsyncRetryPredicate
from penstock.common.async_retry import AsyncRetryStrategy as AsyncRetryStrategy
from penstock.common.callables import hook
from penstock.common.contexts import KeyedStateStore as KeyedStateStore  # PyFlink has these here
from penstock.common.contexts import RuntimeContext as RuntimeContext
from penstock.common.functions.output_tag import OutputTag

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AsyncBatchFunction",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "Function",
    "JoinFunction",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateStore",
    "MapFunction",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "WindowFunction",
]

T = TypeVar("T")
IN = TypeVar("IN", contravariant=True)
IN1 = TypeVar("IN1", contravariant=True)
IN2 = TypeVar("IN2", contravariant=True)
ACC = TypeVar("ACC")
OUT = TypeVar("OUT", covariant=True)
KEY = TypeVar("KEY", contravariant=True)
KEY_co = TypeVar("KEY_co", covariant=True)
W = TypeVar("W", contravariant=True)

SideOutput = tuple[OutputTag[object], object]
"""A record for a side output: ``yield tag, value``."""
Results = Iterable[OUT | SideOutput] | None
"""The results of a process function: a generator, or an iterable; None is nothing."""


class Function(ABC):
    """Base of all user functions: ``open`` and ``close`` do nothing unless overridden."""

    @hook
    def open(self, runtime_context: RuntimeContext, /) -> None:
        """Called once per subtask before the first record."""

    @hook
    def close(self) -> None:
        """Called once per subtask after the last record, also after a failure."""


class MapFunction(Function, Generic[IN, OUT]):
    """One record in, one record out."""

    @abstractmethod
    def map(self, value: IN, /) -> OUT:
        """The record to emit for ``value``."""


class FlatMapFunction(Function, Generic[IN, OUT]):
    """One record in, any number out."""

    @abstractmethod
    def flat_map(self, value: IN, /) -> Iterable[OUT]:
        """The records to emit for ``value``: an iterable, or a generator with ``yield``."""


class FilterFunction(Function, Generic[IN]):
    """Keeps or drops a record."""

    @abstractmethod
    def filter(self, value: IN, /) -> bool:
        """Whether ``value`` stays in the stream."""


class ReduceFunction(Function, Generic[T]):
    """Combines two records of a key into one of the same type. On a keyed stream it may have ``open``, ``close`` and
    state; inside a window or a reducing state it has none, as in Flink, and a function with them is refused there."""

    @abstractmethod
    def reduce(self, value1: T, value2: T, /) -> T:
        """The combination; ``value1`` is the result so far."""


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """Folds the records of a window, or the values of an aggregating state, into an accumulator of another type. Inside
    either it has no ``open`` and no state, as in Flink; a function with them is refused there."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """The accumulator of nothing."""

    @abstractmethod
    def add(self, value: IN, accumulator: ACC, /) -> ACC:
        """The accumulator with ``value`` added."""

    @abstractmethod
    def get_result(self, accumulator: ACC, /) -> OUT:
        """The record to emit for an accumulator."""

    def merge(self, acc_a: ACC, acc_b: ACC, /) -> ACC:
        """Two accumulators as one; needed by session windows only."""
        raise NotImplementedError(f"{type(self).__name__}.merge is needed for merging windows")


class KeySelector(Function, Generic[IN, KEY_co]):
    """Extracts the key of a record. It is opened and closed, with the operator before the exchange and with the one
    behind it, and has no state."""

    @abstractmethod
    def get_key(self, value: IN, /) -> KEY_co:
        """The key: deterministic, and never None."""


class Partitioner(Function, Generic[KEY]):
    """Chooses the subtask for a key. It is opened and closed with the operator before it, and has no state."""

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int, /) -> int:
        """Index of the receiving subtask, 0 to ``num_partitions`` − 1."""


class ProcessFunction(Function, Generic[IN, OUT]):
    """Record in, any number of records out, with access to timestamp and side outputs.

    To emit, ``yield value``; to emit to a side output, ``yield tag, value``.
    """

    Context = contexts.Context

    @abstractmethod
    def process_element(self, value: IN, ctx: contexts.Context, /) -> Results[OUT]:
        """Called for each record; ``ctx`` has ``timestamp()`` and ``timer_service()``."""


class KeyedProcessFunction(Function, Generic[KEY, IN, OUT]):
    """A ProcessFunction on a keyed stream, with state per key; ``ctx`` also has ``get_current_key()``."""

    Context = contexts.KeyedContext
    OnTimerContext = contexts.OnTimerContext

    @abstractmethod
    def process_element(self, value: IN, ctx: contexts.KeyedContext[KEY], /) -> Results[OUT]:
        """Called for each record."""

    def on_timer(self, timestamp: int, ctx: contexts.OnTimerContext[KEY], /) -> Results[OUT]:
        """Called when a timer of the current key fires."""


class SourceFunction(Function, Generic[OUT]):
    """A source written in Python. It has one instance, whatever the parallelism of the job.

    ``run`` emits everything and returns; a program ends when all its sources have returned. One whose ``run`` goes on
    until it is cancelled has the attribute ``bounded = False``: AUTOMATIC mode is then STREAMING.
    """

    SourceContext = contexts.SourceContext
    bounded: bool = True

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        """A source of a class derived from this one."""
        instead = "Derive a class with run(ctx), or read by a connector: from_source(KafkaSource…), say."
        checks.no_java_class(cls, SourceFunction, arguments, instead)
        return super().__new__(cls)

    @abstractmethod
    def run(self, ctx: contexts.SourceContext[OUT], /) -> None:
        """Emit with ``ctx.collect(value)`` or ``ctx.collect_with_timestamp(value, timestamp)``."""

    def cancel(self) -> None:
        """Asks ``run`` to return early."""


class ParallelSourceFunction(SourceFunction[OUT]):
    """A source with as many instances as its parallelism says; ``open`` tells each which one it is."""


class SinkFunction(Function, Generic[IN]):
    """A sink written in Python."""

    Context = contexts.SinkContext

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        """A sink of a class derived from this one."""
        instead = "Derive a class with invoke(value, context), or write by a connector: sink_to(FileSink…), say."
        checks.no_java_class(cls, SinkFunction, arguments, instead)
        return super().__new__(cls)

    @abstractmethod
    def invoke(self, value: IN, /, *arguments: Any, **_: Any) -> None:
        """Take one record: ``invoke(value)``, or ``invoke(value, context)`` for its timestamp. To a type checker the
        base has whatever parameters may follow, so that both can be derived from it."""


class CoMapFunction(Function, Generic[IN1, IN2, OUT]):
    """One record out for each record of either input."""

    @abstractmethod
    def map1(self, value: IN1, /) -> OUT:
        """The record to emit for a record of the first input."""

    @abstractmethod
    def map2(self, value: IN2, /) -> OUT:
        """The record to emit for a record of the second input."""


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """Any number of records out for each record of either input."""

    @abstractmethod
    def flat_map1(self, value: IN1, /) -> Iterable[OUT]:
        """The records to emit for a record of the first input."""

    @abstractmethod
    def flat_map2(self, value: IN2, /) -> Iterable[OUT]:
        """The records to emit for a record of the second input."""


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """A ProcessFunction of two inputs."""

    Context = contexts.Context

    @abstractmethod
    def process_element1(self, value: IN1, ctx: contexts.Context, /) -> Results[OUT]:
        """Called for each record of the first input."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: contexts.Context, /) -> Results[OUT]:
        """Called for each record of the second input."""


class KeyedCoProcessFunction(Function, Generic[KEY, IN1, IN2, OUT]):
    """A KeyedProcessFunction of two inputs with one type of key."""

    Context = contexts.KeyedContext
    OnTimerContext = contexts.OnTimerContext

    @abstractmethod
    def process_element1(self, value: IN1, ctx: contexts.KeyedContext[KEY], /) -> Results[OUT]:
        """Called for each record of the first input."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: contexts.KeyedContext[KEY], /) -> Results[OUT]:
        """Called for each record of the second input."""

    def on_timer(self, timestamp: int, ctx: contexts.OnTimerContext[KEY], /) -> Results[OUT]:
        """Called when a timer of the current key fires."""


class BaseBroadcastProcessFunction(Function):
    """Base of the functions with broadcast state."""

    Context = contexts.BroadcastContext
    ReadOnlyContext = contexts.ReadOnlyBroadcastContext


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """A stream and broadcast state beside it."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: contexts.ReadOnlyBroadcastContext, /) -> Results[OUT]:
        """Called for each record; broadcast state is read-only here."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: contexts.BroadcastContext, /) -> Results[OUT]:
        """Called for each broadcast record, in every subtask."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """A keyed stream and broadcast state beside it."""

    Context = contexts.KeyedBroadcastContext
    ReadOnlyContext = contexts.KeyedReadOnlyBroadcastContext
    OnTimerContext = contexts.OnTimerBroadcastContext

    @abstractmethod
    def process_element(self, value: IN1, ctx: contexts.KeyedReadOnlyBroadcastContext[KEY], /) -> Results[OUT]:
        """Called for each record of the keyed stream; broadcast state is read-only here."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: contexts.KeyedBroadcastContext[KEY], /) -> Results[OUT]:
        """Called for each broadcast record, in every subtask."""

    def on_timer(self, timestamp: int, ctx: contexts.OnTimerBroadcastContext[KEY], /) -> Results[OUT]:
        """Called when a timer of the current key fires."""


class AsyncFunction(Function, Generic[IN, OUT]):
    """Calls something slow, many at a time."""

    @abstractmethod
    async def async_invoke(self, value: IN, /) -> list[OUT]:
        """The records to emit for ``value``."""

    def timeout(self, value: IN, /) -> list[OUT]:
        """The records to emit when ``async_invoke`` took too long."""
        raise TimeoutError("Async function call has timed out.")


class AsyncBatchFunction(Function, Generic[IN, OUT]):
    """Calls something slow with many records at a time."""

    @abstractmethod
    async def async_invoke_batch(self, values: list[IN], /) -> list[OUT]:
        """The records to emit for ``values``: one for each, in their order, which get their timestamps. Any other
        number gets the largest of these."""

    def timeout_batch(self, values: list[IN], /) -> list[OUT]:
        """The records to emit when ``async_invoke_batch`` took too long."""
        raise TimeoutError("Async function call has timed out.")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Sees a whole window of a key."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN], /) -> Iterable[OUT]:
        """The records to emit for a window."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """A WindowFunction with a context: state, watermark, side outputs."""

    Context = contexts.WindowContext

    @abstractmethod
    def process(self, key: KEY, context: contexts.WindowContext[W], elements: Iterable[IN], /) -> Results[OUT]:
        """The records to emit for a window."""

    @hook
    def clear(self, context: contexts.WindowContext[W], /) -> None:
        """Called when a window is over, to clear its state."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Sees a whole window of a stream without key."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN], /) -> Iterable[OUT]:
        """The records to emit for a window."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """An AllWindowFunction with a context: state, watermark, side outputs."""

    Context = contexts.WindowContext

    @abstractmethod
    def process(self, context: contexts.WindowContext[W], elements: Iterable[IN], /) -> Results[OUT]:
        """The records to emit for a window."""

    @hook
    def clear(self, context: contexts.WindowContext[W], /) -> None:
        """Called when a window is over, to clear its state."""


class JoinFunction(Function, Generic[IN1, IN2, OUT]):
    """One record out for each pair."""

    @abstractmethod
    def join(self, first: IN1, second: IN2, /) -> OUT:
        """The record to emit for a pair."""


class FlatJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Any number of records out for each pair."""

    @abstractmethod
    def join(self, first: IN1, second: IN2, /) -> Iterable[OUT]:
        """The records to emit for a pair."""


class CoGroupFunction(Function, Generic[IN1, IN2, OUT]):
    """Sees both groups of a key and window."""

    @abstractmethod
    def co_group(self, first: list[IN1], second: list[IN2], /) -> Iterable[OUT]:
        """The records to emit for two groups; one may be empty."""


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Sees each pair of an interval join."""

    Context = contexts.JoinContext

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: contexts.JoinContext, /) -> Results[OUT]:
        """Called for each pair."""

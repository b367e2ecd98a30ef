"""Functions on two connected streams, on windows and joins, and asynchronous ones.

Source of the names: ``pyflink.datastream.functions``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from penstock.common import contexts
from penstock.datastream.functions.base import Function, Results

IN = TypeVar("IN", contravariant=True)
IN1 = TypeVar("IN1", contravariant=True)
IN2 = TypeVar("IN2", contravariant=True)
OUT = TypeVar("OUT", covariant=True)
KEY = TypeVar("KEY", contravariant=True)
W = TypeVar("W", contravariant=True)


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
        """The records to emit for two groups, of which one may be empty."""


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Sees each pair of an interval join."""

    Context = contexts.JoinContext

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: contexts.JoinContext, /) -> Results[OUT]:
        """Called for each pair."""

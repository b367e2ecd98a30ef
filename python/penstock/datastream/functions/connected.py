"""Functions on two connected streams, on windows and joins, and asynchronous ones.

Source of the names: ``pyflink.datastream.functions``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from penstock.datastream.functions.base import Function


class CoMapFunction(Function):
    """One record out for each record of either input."""

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """The record to emit for a record of the first input."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """The record to emit for a record of the second input."""


class CoFlatMapFunction(Function):
    """Any number of records out for each record of either input."""

    @abstractmethod
    def flat_map1(self, value: Any) -> Iterable[Any]:
        """The records to emit for a record of the first input."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Iterable[Any]:
        """The records to emit for a record of the second input."""


class CoProcessFunction(Function):
    """A ProcessFunction of two inputs."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record of the first input."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record of the second input."""


class KeyedCoProcessFunction(Function):
    """A KeyedProcessFunction of two inputs with one type of key."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record of the first input."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record of the second input."""

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key fires."""


class BroadcastProcessFunction(Function):
    """A stream and broadcast state beside it."""

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record; broadcast state is read-only here."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each broadcast record, in every subtask."""


class KeyedBroadcastProcessFunction(Function):
    """A keyed stream and broadcast state beside it."""

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each record of the keyed stream; broadcast state is read-only here."""

    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each broadcast record, in every subtask."""

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key fires."""


class AsyncFunction(Function):
    """Calls something slow, many at a time."""

    @abstractmethod
    async def async_invoke(self, value: Any) -> list[Any]:
        """The records to emit for ``value``."""

    def timeout(self, value: Any) -> list[Any]:
        """The records to emit when ``async_invoke`` took too long."""
        raise TimeoutError("Async function call has timed out.")


class WindowFunction(Function):
    """Sees a whole window of a key."""

    @abstractmethod
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        """The records to emit for a window."""


class ProcessWindowFunction(Function):
    """A WindowFunction with a context: state, watermark, side outputs."""

    @abstractmethod
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        """The records to emit for a window."""

    def clear(self, context: Any) -> None:
        """Called when a window is over, to clear its state."""


class AllWindowFunction(Function):
    """Sees a whole window of a stream without key."""

    @abstractmethod
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        """The records to emit for a window."""


class ProcessAllWindowFunction(Function):
    """An AllWindowFunction with a context: state, watermark, side outputs."""

    @abstractmethod
    def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        """The records to emit for a window."""

    def clear(self, context: Any) -> None:
        """Called when a window is over, to clear its state."""


class JoinFunction(Function):
    """One record out for each pair."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Any:
        """The record to emit for a pair."""


class FlatJoinFunction(Function):
    """Any number of records out for each pair."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Iterable[Any]:
        """The records to emit for a pair."""


class CoGroupFunction(Function):
    """Sees both groups of a key and window."""

    @abstractmethod
    def co_group(self, first: Iterable[Any], second: Iterable[Any]) -> Iterable[Any]:
        """The records to emit for two groups, of which one may be empty."""


class ProcessJoinFunction(Function):
    """Sees each pair of an interval join."""

    @abstractmethod
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterable[Any] | None:
        """Called for each pair."""

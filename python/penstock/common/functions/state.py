"""State as a function holds it: a value, a list, a map, a running reduction or aggregation per key, a broadcast map.

A state always shows what belongs to the key of the current record or timer. Access is O(1). Source of the names:
``pyflink.datastream.state``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Generic, TypeVar


class TimeDomain(Enum):
    """The time of a timer (PyFlink: ``TimeDomain``)."""

    EVENT_TIME = 0
    """Watermarks fire it."""
    PROCESSING_TIME = 1
    """The clock fires it."""


T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class State(ABC):
    """Base of all states."""

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Forget the state of the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | None:
        """The value of the current key; a copy of the descriptor's default where there is none, None unless set."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value of the current key; None clears it."""


class AppendingState(State, Generic[IN, OUT]):
    """Takes one value after the other, and shows what they have become."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> OUT | None:
        """The result of the values that were added for the current key; None without any, except of a list."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add a value for the current key."""


class MergingState(AppendingState[IN, OUT]):
    """Can be merged, as the state of sessions is when they merge."""

    __slots__ = ()


class ListState(MergingState[T, Iterable[T]]):
    """A list per key."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> Iterator[T]:
        """The elements of the current key, in order of addition."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Append elements."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace all elements; an empty list clears."""

    @abstractmethod
    def __iter__(self) -> Iterator[T]: ...


class ReducingState(MergingState[T, T]):
    """The running reduction per key."""

    __slots__ = ()


class AggregatingState(MergingState[IN, OUT]):
    """The running aggregation per key."""

    __slots__ = ()


class ReadableMap(ABC, Generic[K, V]):
    """The reading half of a map."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | None:
        """The value of a key of the map, None where there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Whether the map has the key."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the map has no key."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """The keys of the map, in order of insertion."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """The values of the map."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """(key, value) pairs of the map."""

    def __getitem__(self, key: K) -> V:
        """The value of a key of the map, None where there is none, as in PyFlink, though the type does not say so."""
        return self.get(key)  # type: ignore[return-value]

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class WritableMap(ReadableMap[K, V]):
    """A map that can be changed."""

    __slots__ = ()

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key of the map."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key of the map, if it is there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(WritableMap[K, V], State):
    """A map per key; without its last key the state is gone."""

    __slots__ = ()

    def get_internal_state(self) -> MapState[K, V]:
        """The map behind the state, which PyFlink keeps apart from it: the state itself."""
        return self


class ReadOnlyBroadcastState(ReadableMap[K, V]):
    """A broadcast state as the elements' side sees it, so that it stays equal in all subtasks."""

    __slots__ = ()


class BroadcastState(ReadOnlyBroadcastState[K, V], WritableMap[K, V], State):
    """A broadcast state as the broadcast side sees it."""

    __slots__ = ()

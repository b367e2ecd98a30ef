"""Handles that record reads of mutable values, which a function could change in place: subclasses made on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from penstock.runtime.state.handles import (
    MISSING,
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    State,
    ValueState,
)
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.tracked_tables import frozen


class _Read(State):
    def _shown(self) -> None:
        table: Table | None = self._table
        if table is None:
            table = self._keyed.find(self.name, self._namespace)
        if table is not None:
            table.touch(self._keyed.slot)  # type: ignore[attr-defined] # a TrackedTable, or one beyond memory

    def _whole(self, get: Callable[[], Any]) -> Any:
        result = get()
        stored = self._read()
        if stored is not MISSING and not frozen(stored):
            self._shown()
        return result

    def _parts(self, parts: list[Any]) -> list[Any]:
        if not all(map(frozen, parts)):
            self._shown()
        return parts


class _ReadValue(_Read, ValueState):
    def value(self) -> Any:
        return self._whole(super().value)


class _ReadResult(_Read):
    def get(self) -> Any:
        return self._whole(super().get)  # type: ignore[misc] # of the class that this one is mixed into


class _ReadList(_Read, ListState):
    def get(self) -> Iterator[Any]:
        return iter(self._parts(list(super().get())))


class _ReadMap(_Read, MapState):
    def get(self, key: Any) -> Any:
        return self._parts([super().get(key)])[0]

    def __getitem__(self, key: Any) -> Any:
        return self._parts([super().__getitem__(key)])[0]

    def values(self) -> Iterable[Any]:
        return self._parts(list(super().values()))

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._parts(list(super().items()))


_READING: dict[type[State], type[_Read]] = {
    ValueState: _ReadValue,
    ReducingState: _ReadResult,
    AggregatingState: _ReadResult,
    ListState: _ReadList,
    MapState: _ReadMap,
}


@cache
def tracked_class(cls: type[State]) -> type[State]:
    """The tracking subclass of a class of handles."""
    reading = next(reading for base, reading in _READING.items() if issubclass(cls, base))
    return type(f"Tracked{cls.__name__}", (reading, cls), {"__module__": __name__})

"""Contents of windows: one value per window, all its elements, or those that an evictor leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.runtime.state.keyed import Table
from penstock.runtime.usercode.failure import state_error
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import Accumulation, WindowFunction

STATE = "window-contents"
"""Flink's name of the state that holds what is in the windows."""

See = Callable[[list[Any]], None]
"""Takes what the window's function is to see."""

_MISSING = object()


class Contents:
    """What is kept of a window, in a table by key."""

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        """Add an element."""
        raise NotImplementedError

    def fire(self, table: Table, slot: Any, see: See) -> None:
        """Show the contents; nothing is shown of an empty window."""
        raise NotImplementedError

    def merge(self, one: Any, other: Any) -> Any:
        """The contents of two windows as one; ``one`` was there first."""
        return one + other


def contents_of(function: WindowFunction, evictor: Evictor[Any] | None) -> Contents:
    """How a window with this function and evictor keeps its elements."""
    if evictor is not None:
        return (_TimedEvicted if evictor.timed else _Evicted)(function, evictor)
    accumulation = function.kept()
    return _Elements() if accumulation is None else _Accumulated(accumulation)


class _Accumulated(Contents):
    """One value."""

    def __init__(self, accumulation: Accumulation) -> None:
        self._first, self._add, self._result = accumulation.first, accumulation.add, accumulation.result
        self.merge = accumulation.merge  # type: ignore[method-assign]
        self._named = accumulation.function, accumulation.state

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        current = table.get(slot, _MISSING)
        try:
            table[slot] = self._first(value) if current is _MISSING else self._add(current, value)
        except Exception as error:
            raise state_error(*self._named) from error

    def fire(self, table: Table, slot: Any, see: See) -> None:
        current = table.get(slot, _MISSING)
        if current is not _MISSING:
            see([self._result(current)])


class _Elements(Contents):
    """The elements in order."""

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        elements = table.get(slot)
        if elements is None:
            table[slot] = [value]
        else:
            elements.append(value)

    def fire(self, table: Table, slot: Any, see: See) -> None:
        elements = table.get(slot)
        if elements:
            see(list(elements))


class _Evicted(_Elements):
    """The elements in order; those that an evictor removes are gone for good."""

    def __init__(self, function: WindowFunction, evictor: Evictor[Any]) -> None:
        self._reduced = function.reduced
        self._evictor = evictor

    def fire(self, table: Table, slot: Any, see: See) -> None:
        elements, evictor = table.get(slot), self._evictor
        if not elements:
            return
        if not evictor.after:
            elements = evictor.evict(elements)
        elements = self._show(elements, see)
        if evictor.after:
            elements = evictor.evict(elements)
        if elements:
            table[slot] = elements
        else:
            del table[slot]

    def _show(self, elements: list[Any], see: See) -> list[Any]:
        """Show the elements that are left, and return them: min and max put another first one there."""
        shown = self._reduced(elements)
        see(list(elements) if shown is elements else shown)
        return elements


class _TimedEvicted(_Evicted):
    """The elements with their timestamps, as pairs in order, for an evictor that looks at these."""

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        super().add(table, slot, (value, timestamp), timestamp)

    def _show(self, elements: list[Any], see: See) -> list[Any]:
        values = super()._show([value for value, _ in elements], see)
        return [(value, element[1]) for value, element in zip(values, elements, strict=True)]

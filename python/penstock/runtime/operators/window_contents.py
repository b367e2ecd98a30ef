"""Contents of windows: one value per window, all its elements, or those that an evictor leaves."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

from penstock.common.row import Row
from penstock.errors import InvalidProgramError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.state.evolution import ACCUMULATORS, ELEMENTS, HELD, REDUCTIONS, TIMED
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.tracked_tables import frozen
from penstock.runtime.usercode.failure import state_error
from penstock.runtime.windows.evictors import Evictor, EvictorContext, KeepingEvictor, TimestampedValue
from penstock.runtime.windows.functions import Accumulation, WindowFunction

STATE = "window-contents"  # flink's name of the state that holds what is in the windows

See = Callable[[list[Any]], None]  # takes what the window's function is to see

_MISSING = object()


def is_apart(result: Any) -> bool:
    """Whether a result has nothing in it that could be changed, and so be a part of an accumulator. Recursive in its
    nesting."""
    if type(result) in (tuple, Row):
        return all(map(is_apart, result))
    return frozen(result)


class Contents:
    """What is kept of a window, in a table by key. ``kind`` is what that is, as state files name it."""

    kind: str = ELEMENTS

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        raise NotImplementedError

    def show(self, table: Table, slot: Any, see: See) -> None:
        """Show the contents; nothing is shown of an empty window."""
        raise NotImplementedError

    def merge(self, one: Any, other: Any) -> Any:
        """The contents of two windows as one; ``one`` was there first."""
        return one + other


def contents_of(
    function: WindowFunction, evictor: Evictor[Any] | None, context: OperatorContext, window: Callable[[], Any]
) -> Contents:
    """How a window with this function and evictor keeps its elements; ``window`` gives the one that fires."""
    contents: Contents
    if isinstance(evictor, KeepingEvictor):
        contents = (_TimedEvicted if evictor.timed else _Evicted)(function, evictor)
    elif evictor is not None:
        contents = _EvictedBySomeone(function, evictor, EvictorContext(context.time, context.metrics), window)
    else:
        accumulation = function.kept()
        contents = _Elements() if accumulation is None else _Accumulated(accumulation)
    return contents if context.state is None or context.state.changes is None else _Tracked(contents)


def kind_of(function: WindowFunction, evictor: Evictor[Any] | None) -> str:
    """What is kept of a window with this function and evictor, as state files name it."""
    if isinstance(evictor, KeepingEvictor):
        return TIMED if evictor.timed else ELEMENTS
    if evictor is not None:
        return HELD
    accumulation = function.kept()
    return ELEMENTS if accumulation is None else _kind_of(accumulation)


def _kind_of(accumulation: Accumulation) -> str:
    return REDUCTIONS if accumulation.state == "reducing" else ACCUMULATORS


class _Tracked(Contents):
    """Contents whose changes are noted (:mod:`penstock.runtime.state.tracked_tables`)."""

    def __init__(self, inner: Contents) -> None:
        self._add, self._show, self._is_one = inner.add, inner.show, isinstance(inner, _Accumulated)
        self.merge = inner.merge  # type: ignore[method-assign]
        self.kind = inner.kind

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        self._add(table, slot, value, timestamp)
        table.touch(slot)  # type: ignore[attr-defined]

    def show(self, table: Table, slot: Any, see: See) -> None:
        """Whoever sees what can change may change it."""
        seen = table.get(slot)
        if not all(map(frozen, (seen,) if self._is_one else seen or ())):
            table.touch(slot)  # type: ignore[attr-defined]
        self._show(table, slot, see)


class _Accumulated(Contents):
    """One value."""

    def __init__(self, accumulation: Accumulation) -> None:
        self._first, self._add, self._result = accumulation.first, accumulation.add, accumulation.result
        self.merge = accumulation.merge  # type: ignore[method-assign]
        self._named = accumulation.function, accumulation.state
        self.kind = _kind_of(accumulation)

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        current = table.get(slot, _MISSING)
        try:
            table[slot] = self._first(value) if current is _MISSING else self._add(current, value)
        except Exception as error:
            raise state_error(*self._named) from error

    def show(self, table: Table, slot: Any, see: See) -> None:
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

    def show(self, table: Table, slot: Any, see: See) -> None:
        elements = table.get(slot)
        if elements:
            see(list(elements))


class _Evicted(_Elements):
    """The elements in order; those that an evictor removes are gone for good."""

    def __init__(self, function: WindowFunction, evictor: KeepingEvictor[Any]) -> None:
        self._reduced = function.reduced
        self._evictor = evictor

    def show(self, table: Table, slot: Any, see: See) -> None:
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

    kind = TIMED

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        super().add(table, slot, (value, timestamp), timestamp)

    def _show(self, elements: list[Any], see: See) -> list[Any]:
        values = super()._show([value for value, _ in elements], see)
        return [(value, element[1]) for value, element in zip(values, elements, strict=True)]


class _EvictedBySomeone(_Elements):
    """The elements with their timestamps, for an evictor of the program's own, which changes the list of them."""

    kind = HELD

    def __init__(
        self, function: WindowFunction, evictor: Evictor[Any], context: EvictorContext, window: Callable[[], Any]
    ) -> None:
        self._reduced = function.reduced
        self._evictor, self._context, self._window = evictor, context, window

    def add(self, table: Table, slot: Any, value: Any, timestamp: int | None) -> None:
        super().add(table, slot, TimestampedValue(value, timestamp), timestamp)

    def show(self, table: Table, slot: Any, see: See) -> None:
        elements: list[TimestampedValue[Any]] | None = table.get(slot)
        if not elements:
            return
        self._evict("evict_before", elements)
        values = [element.value for element in elements]
        shown = self._reduced(values)
        see(list(values) if shown is values else shown)
        elements[:] = [TimestampedValue(value, e.timestamp) for value, e in zip(values, elements, strict=True)]
        self._evict("evict_after", elements)
        if not elements:
            del table[slot]

    def _evict(self, method: str, elements: list[TimestampedValue[Any]]) -> None:
        returned = getattr(self._evictor, method)(elements, len(elements), self._window(), self._context)
        if returned is not None:
            raise InvalidProgramError(
                f"{type(self._evictor).__name__}.{method}() returned {reprlib.repr(returned)}, which is ignored. "
                "Change the list that it is given, and return nothing: elements[:] = [those that stay]."
            )

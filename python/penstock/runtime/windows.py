"""Windows by count: the global window, its triggers and evictors, and the functions a window applies.

A trigger is asked after each element and answers with a :class:`TriggerResult`; an evictor removes elements before the
function sees them. Both see the current key's state only. Time windows join the same interfaces later.

Sources of the semantics: ``GlobalWindows``, ``CountTrigger``, ``PurgingTrigger``, ``CountEvictor``, ``WindowOperator``
and ``EvictingWindowOperator`` of Flink 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.runtime.binding import bind
from penstock.runtime.state import KeyedState, Table

MAX_TIMESTAMP = 0x7FFFFFFFFFFFFFFF
"""Long.MAX_VALUE: the timestamp of what a global window emits."""


class TriggerResult(Enum):
    """What to do with a window now: (fire, purge)."""

    CONTINUE = (False, False)
    FIRE = (True, False)
    PURGE = (False, True)
    FIRE_AND_PURGE = (True, True)

    def __init__(self, fire: bool, purge: bool) -> None:
        self.fire = fire
        self.purge = purge


class GlobalWindow:
    """The one window of GlobalWindows; there is a single object of it in a process, so it compares by identity."""

    __slots__ = ()

    def max_timestamp(self) -> int:
        """Long.MAX_VALUE."""
        return MAX_TIMESTAMP

    def __reduce__(self):
        return _global_window, ()

    def __repr__(self) -> str:
        return "GlobalWindow"


_GLOBAL = (GlobalWindow(),)


def _global_window() -> GlobalWindow:
    return _GLOBAL[0]


@dataclass(frozen=True)
class GlobalWindows:
    """Assigns every element to the same, never ending window."""

    constant = _GLOBAL
    """The windows of every element, for assigners that need not look at it."""

    def assign_windows(self, value: Any, timestamp: int | None) -> Collection[GlobalWindow]:
        """The windows of an element."""
        return _GLOBAL


class TriggerContext:
    """A trigger's access to the state of the current key and window."""

    __slots__ = ("_tables", "keyed", "window")

    def __init__(self, keyed: KeyedState) -> None:
        self.keyed = keyed
        self.window: Any = None
        self._tables: dict[str, Table] = {}

    def enter(self, window: Any) -> None:
        """Make a window the current one."""
        self.window = window
        self._tables.clear()

    def table(self, name: str) -> Table:
        """The trigger's state of that name, by canonical key, for the current window."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self.keyed.table(f"trigger:{name}", self.window)
        return table


class Trigger:
    """Decides when a window fires. Subclasses are plain frozen data; what they remember is in the context."""

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        """Called after each element was added to the window."""
        raise NotImplementedError

    def clear(self, window: Any, context: TriggerContext) -> None:
        """Forget the state of the current key in a window that is over."""


@dataclass(frozen=True)
class NeverTrigger(Trigger):
    """Never fires: the default of GlobalWindows."""

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        """CONTINUE."""
        return TriggerResult.CONTINUE


@dataclass(frozen=True)
class CountTrigger(Trigger):
    """Fires at every n-th element of a key.

    Attributes:
        count: n, at least 1.
    """

    count: int

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        """FIRE when n elements came since the last time."""
        table, slot = context.table("count"), context.keyed.slot
        seen = table.get(slot, 0) + 1
        if seen < self.count:
            table[slot] = seen
            return TriggerResult.CONTINUE
        table.pop(slot, None)
        return TriggerResult.FIRE

    def clear(self, window: Any, context: TriggerContext) -> None:
        """Forget the count."""
        context.table("count").pop(context.keyed.slot, None)


@dataclass(frozen=True)
class PurgingTrigger(Trigger):
    """Purges the window whenever the trigger inside fires. The inner trigger's own state stays."""

    trigger: Trigger

    def on_element(self, value: Any, timestamp: int | None, window: Any, context: TriggerContext) -> TriggerResult:
        """FIRE becomes FIRE_AND_PURGE."""
        result = self.trigger.on_element(value, timestamp, window, context)
        return TriggerResult.FIRE_AND_PURGE if result.fire else result

    def clear(self, window: Any, context: TriggerContext) -> None:
        """Clear the trigger inside."""
        self.trigger.clear(window, context)


@dataclass(frozen=True)
class CountEvictor:
    """Keeps the last n elements.

    Attributes:
        count: n; 0 or less keeps none.
        after: evict after the function instead of before it.
    """

    count: int
    after: bool = False

    def evict(self, elements: list[Any]) -> list[Any]:
        """The elements that stay: the list itself or a new one."""
        surplus = len(elements) - max(self.count, 0)
        return elements[surplus:] if surplus > 0 else elements


class WindowFunction:
    """Base of what a window applies to its contents."""

    reducer: Any = None
    """When set, contents are reduced element by element and only the reduction is kept (without an evictor)."""

    def bind(self) -> Callable[[list[Any]], list[Any]]:
        """A function from the elements of a window, in order, to the records to emit.

        There are no elements when an evictor has removed them all; the function is called then too.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ReduceWindow(WindowFunction):
    """Reduces a window to one record.

    Attributes:
        reducer: a user reduce function, or one of the aggregators of :mod:`.aggregators`.
    """

    reducer: Any

    def bind(self) -> Callable[[list[Any]], list[Any]]:
        """Elements reduced from the first to the last; no elements give None, as in Flink.

        Flink's min and max write the extreme into the object of the first element, which an evicting window keeps: the
        next firing sees it there. So the first element is replaced here (``changes_first``).
        """
        fold = getattr(self.reducer, "fold", None)
        if fold is not None:
            return lambda elements: [fold(elements) if elements else None]
        reduce = bind(self.reducer, "reduce")
        changes_first = getattr(self.reducer, "changes_first", False)

        def apply(elements: list[Any]) -> list[Any]:
            if not elements:
                return [None]
            result = elements[0]
            for element in elements[1:]:
                result = reduce(result, element)
            if changes_first:
                elements[0] = result
            return [result]

        return apply

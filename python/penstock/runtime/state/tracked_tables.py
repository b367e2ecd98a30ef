"""Records which keyed state has changed since the last file: by state, namespace and key. From
:meth:`~penstock.runtime.state.keyed.KeyedState.track` on, tables record every key that is set or removed. A value that
is changed in place must be set again, or *touched*, as handles do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None), Decimal, date, time, timedelta})
_DEEPEST = 4  # depth to which nested tuples are checked
Place = tuple[str, Any]  # state name and namespace


def frozen(value: Any) -> bool:
    """Whether a value is immutable: plain data, and tuples of it."""
    kind = type(value)
    if kind in ATOMS:
        return True
    return isinstance(value, tuple) and _frozen_fields(value, _DEEPEST)


def _frozen_fields(fields: tuple[Any, ...], depth: int) -> bool:
    for field in fields:
        if type(field) in ATOMS:
            continue
        if not (isinstance(field, tuple) and depth and _frozen_fields(field, depth - 1)):
            return False
    return True


class TrackedTable(dict[Any, Any]):
    """A table that records the keys whose value was set or removed."""

    __slots__ = ("_dirty", "_place", "changed")

    def __init__(self, place: Place, dirty: dict[Place, TrackedTable]) -> None:
        self._place, self._dirty = place, dirty
        self.changed: set[Any] = set()

    def __setitem__(self, slot: Any, value: Any) -> None:
        changed = self.changed
        if not changed:
            self._dirty[self._place] = self
        changed.add(slot)
        dict.__setitem__(self, slot, value)

    def __delitem__(self, slot: Any) -> None:
        dict.__delitem__(self, slot)
        self.mark((slot,))

    def pop(self, slot: Any, *default: Any) -> Any:
        self.touch(slot)
        return dict.pop(self, slot, *default)

    def setdefault(self, slot: Any, default: Any = None) -> Any:
        if slot not in self:
            self[slot] = default
            return default
        value = self[slot]
        if not frozen(value):
            self.mark((slot,))
        return value

    def clear(self) -> None:
        if self:
            self.mark(self)
            dict.clear(self)

    def touch(self, slot: Any) -> None:
        if slot in self:
            self.mark((slot,))

    def mark(self, slots: Iterable[Any]) -> None:
        self._dirty[self._place] = self
        self.changed.update(slots)

    def unmark(self) -> None:
        """Record no key as changed any more."""
        self.changed = set()
        self._dirty.pop(self._place, None)


class Changes:
    """The changes in all tables of an operator."""

    def __init__(self) -> None:
        self.dirty: dict[Place, TrackedTable] = {}

    def __len__(self) -> int:
        return sum(len(table.changed) for table in self.dirty.values())

    def __iter__(self) -> Iterator[tuple[Place, set[Any]]]:
        return ((place, table.changed) for place, table in self.dirty.items())

    def table(self, place: Place) -> TrackedTable:
        """An empty table for a place, reusing one that was emptied since the last file."""
        dropped = self.dirty.get(place)
        if dropped is not None and not dropped:
            return dropped
        table = TrackedTable(place, self.dirty)
        if dropped is not None:  # the dropped table is still in use somewhere
            table.changed = dropped.changed
            self.dirty[place] = table
        return table

    def forget(self) -> None:
        for table in self.dirty.values():
            table.changed = set()
        self.dirty.clear()

"""Which keyed state has changed since it was last written down, precisely: by state, namespace and key.

Off until :meth:`~penstock.runtime.state.keyed.KeyedState.track` switches it on; then tables are of the class here,
which note every key that is set or removed. What changes in place must be put back into its table, or be *touched*:
handles do so where they change a list or a map, and where they hand out a value that its reader could change
(:func:`frozen`).

Cost: O(1) per change, and memory for the keys that have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None), Decimal, date, time, timedelta})
_DEEPEST = 4
"""Tuples within tuples that are looked into."""

Place = tuple[str, Any]
"""Name of a state, and a namespace."""


def frozen(value: Any) -> bool:
    """Whether nobody can change a value in place: plain data, and tuples of it."""
    kind = type(value)
    if kind in _ATOMS:
        return True
    return isinstance(value, tuple) and _frozen_fields(value, _DEEPEST)


def _frozen_fields(fields: tuple[Any, ...], depth: int) -> bool:
    for field in fields:
        if type(field) in _ATOMS:
            continue
        if not (isinstance(field, tuple) and depth and _frozen_fields(field, depth - 1)):
            return False
    return True


class TrackedTable(dict[Any, Any]):
    """A table that notes which keys have got another value, or none any more.

    Args:
        place: of the table.
        dirty: takes the table as soon as something in it has changed.

    Attributes:
        changed: canonical forms of these keys.
    """

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
        """As a dict does; a key that is not there has not changed."""
        self.touch(slot)
        return dict.pop(self, slot, *default)

    def setdefault(self, slot: Any, default: Any = None) -> Any:
        """As a dict does. A value that can change in place counts as changed, also one that was there."""
        if slot not in self:
            self[slot] = default
            return default
        value = self[slot]
        if not frozen(value):
            self.mark((slot,))
        return value

    def clear(self) -> None:
        """As a dict does."""
        if self:
            self.mark(self)
            dict.clear(self)

    def touch(self, slot: Any) -> None:
        """The value of a key, if it has one, may have changed in place."""
        if slot in self:
            self.mark((slot,))

    def mark(self, slots: Iterable[Any]) -> None:
        """These keys have changed: one at least."""
        self._dirty[self._place] = self
        self.changed.update(slots)


class Changes:
    """What has changed in the tables of an operator.

    Attributes:
        dirty: by place, the tables in which something has.
    """

    def __init__(self) -> None:
        self.dirty: dict[Place, TrackedTable] = {}

    def __len__(self) -> int:
        """How many values have changed."""
        return sum(len(table.changed) for table in self.dirty.values())

    def __iter__(self) -> Iterator[tuple[Place, set[Any]]]:
        """The places, and the canonical forms of the keys that have changed there."""
        return ((place, table.changed) for place, table in self.dirty.items())

    def table(self, place: Place) -> TrackedTable:
        """An empty table: a new one, or the one that has been there since what has changed was last forgotten."""
        found = self.dirty.get(place)
        if found is not None and not found:
            return found
        table = TrackedTable(place, self.dirty)
        if found is not None:  # somebody has gone on with a table that was dropped
            table.changed = found.changed
            self.dirty[place] = table
        return table

    def forget(self) -> None:
        """All of it has been written down."""
        for table in self.dirty.values():
            table.changed = set()
        self.dirty.clear()

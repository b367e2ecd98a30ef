"""The table of a state without namespaces in native code, in place of the dict of :class:`~.keyed.KeyedState`.

Either has all of the state. The dict has it while Python code of the operator takes records: at first, and where native
code cannot vouch for one. :class:`~.python_turn.PythonTurn` says when it moves here again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import ModuleType
from typing import Any

from penstock.runtime.state.python_turn import PythonTurn
from penstock.runtime.state.tracked_tables import TrackedTable

_TOGETHER = 1 << 16  # entries that are moved together


class NativeTable:
    """A table in native code. ``name`` is the state's, ``values`` its dict, which is empty while ``here``."""

    def __init__(self, functions: ModuleType, name: str, values: dict[Any, Any]) -> None:
        self.name, self.here = name, False
        self.table = functions.KeyedTable()
        self._values = values
        self._turn = PythonTurn()

    def __len__(self) -> int:
        """How many values are here."""
        return len(self.table) if self.here else 0

    @property
    def changes(self) -> int:
        """How many of them have changed since the last file."""
        return self.table.changes if self.here else 0

    def leave(self, most: int) -> int:
        """How many of the next records Python is to take, at the most so many."""
        if not self.here and not self._turn:
            self.take_over()
        return self._turn.take(most)

    def run(self, reductions: Any, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take records, as a stage's ``run`` does."""
        return reductions.run(batch, start, end) if self.take_over() else (None, [0], start, True)

    def take_over(self) -> bool:
        """Move the state here; whether it fits. O(keys) where it is not here."""
        if self.here:
            return True
        values = self._values
        tracked = isinstance(values, TrackedTable)
        self.here = all(self.table.load(*part) for part in _parts(values)) and (
            not tracked or not values.changed or self.table.touch(list(values.changed))
        )
        self._turn.note_fit(self.here)
        if not self.here:
            self.table.clear()
            return False
        dict.clear(values)
        if tracked:
            values.unmark()
        return True

    def fill(self, keys: list[Any], values: list[Any]) -> bool:
        """Set the values of many keys, without counting them as changed, if the state is here, or empty; whether that
        could be done."""
        if not self.here and self._values:
            return False
        self.here = True
        if self.table.load(keys, values):
            return True
        self.flush()
        return False

    def flush(self) -> None:
        """Move the state into the dict. O(keys)."""
        if not self.here:
            return
        values, size = self._values, len(self.table)
        for start in range(0, size, _TOGETHER):
            dict.update(values, zip(*self.table.items(start, min(start + _TOGETHER, size)), strict=True))
        if self.table.changes and isinstance(values, TrackedTable):
            values.mark(self.table.changed_keys())
        self.table.clear()
        self.here = False
        self._turn.begin(size)

    def changed_keys(self) -> list[Any]:
        """The keys of values that have changed since the last file."""
        return self.table.changed_keys() if self.here else []


def _parts(values: dict[Any, Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    keys, rest = iter(values.keys()), iter(values.values())
    while some := list(islice(keys, _TOGETHER)):
        yield some, list(islice(rest, len(some)))

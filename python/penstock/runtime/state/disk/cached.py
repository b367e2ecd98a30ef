"""The entries of a table beyond memory that were used lately, in native code, in front of :class:`.table.DiskTable`.

Native code takes records in turns (:mod:`.turns`). Before a turn those of its keys that are not here come out of the
file in one query; after it, if too much memory is taken, the keys that were used longest ago go there in one
transaction. While Python has the state, as where native code cannot vouch for a record, nothing is here."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from penstock.runtime.state.disk.table import DiskTable
from penstock.runtime.state.disk.turns import Turns
from penstock.runtime.state.python_turn import PythonTurn

_WRITTEN = 10_000  # entries that are objects at a time while they are written


class CachedTable:
    """A table in native code with some of the entries of a table in a file. ``limit`` gives the bytes it may take."""

    def __init__(self, functions: ModuleType, entries: DiskTable, limit: Callable[[], int]) -> None:
        self.here = False
        self.table = functions.KeyedTable(True)
        self._entries, self._limit = entries, limit
        self._turn, self._turns = PythonTurn(), Turns()

    @property
    def fresh(self) -> int:
        """How many values are here alone."""
        return self.table.fresh

    def leave(self, most: int) -> int:
        """How many of the next records Python is to take, at the most so many."""
        return self._turn.take(most)

    def run(self, reductions: Any, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take some of the records, as a stage's ``run`` does."""
        if not self.here:
            self._entries.leave_memory()
            self.here = True
        keys, end = reductions.begin(batch, start, min(end, start + self._turns.most))
        if end == start or not self._bring(keys):
            return None, [0], start, True
        done = reductions.run(batch, start, end)
        self._turns.adapt(self.table.memory // max(len(self.table), 1), self._limit())
        while self.table.memory > self._limit():
            self._shrink()
        return done

    def _bring(self, keys: list[Any]) -> bool:
        """Bring entries of the file here; whether they fit."""
        try:
            rows = self._entries.look(keys)
        except (TypeError, ValueError, OverflowError):  # a key is not as declared: Python says whose record it was
            return False
        fits = self.table.load(*rows)
        if not fits:
            self.flush()
        self._turn.note_fit(fits)
        return fits

    def _shrink(self) -> None:
        idle = self.table.idle(self._limit())
        self._write(self.table.changed(idle))
        self.table.forget(idle)

    def _write(self, changed: Any) -> None:
        table = self.table
        for start in range(0, len(changed), _WRITTEN):
            end = min(start + _WRITTEN, len(changed))
            keys, values = table.part(changed, start, end)
            self._entries.take_over(keys, values, table.stored(changed, start, end))

    def settle(self) -> None:
        """Write what the file does not know. O(changes)."""
        self._write(self.table.changed())
        self.table.written()

    def flush(self) -> None:
        """Give the state up: from now on Python has it."""
        if not self.here:
            return
        self.settle()
        self._turn.begin(len(self.table))
        self.table.clear()
        self.here = False

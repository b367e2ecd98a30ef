"""Process functions in native code whose state is beyond memory: what :mod:`.native_process` does, with the keys that
were used lately in native code, and all of them in a file.

Before a turn of records, or of timers that are due, what the file has of its keys that are not in native code is read
in one query for each state. After it, if too much memory is taken, what the file does not know is written in one
transaction, and the keys that were used longest ago are forgotten. Timers are in memory as long as all of them fit."""

from __future__ import annotations

from itertools import chain
from typing import Any, ClassVar

from penstock.runtime.operators.native_process import NativeProcess, dict_of
from penstock.runtime.operators.native_stage import rows_of
from penstock.runtime.state.disk.cells import GONE
from penstock.runtime.state.disk.keyed import LEAST_TIMERS, DiskKeyedState
from penstock.runtime.state.disk.table import DiskTable
from penstock.runtime.state.disk.turns import Turns

_TIMER = 1_024  # one part in so many of the memory is one timer


class NativeProcessOnDisk(NativeProcess):
    """The function of an operator, with a part of its state."""

    whole: ClassVar[bool] = False
    _state: DiskKeyedState

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._turns = Turns()

    def _named(self) -> list[str] | None:
        """The names of the states; None also where each access looks at values of other keys."""
        names = super()._named()
        return None if any(life is not None and life.size > 0 for life in self._lives) else names

    def _build_of(self, *arguments: Any) -> Any:
        return self._functions.KeyedProcess(*arguments, partly=True)

    # --- turns ---

    def run_input(self, number: int, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take some of the records of an input, as a stage's ``run`` does."""
        if not self._here and not self._take_over():
            return None, [0], start, True
        keys, end = self._windows.begin(number, batch, start, min(end, start + self._turns.most))
        if end == start or not self._bring(keys):
            return None, [0], start, True
        return super().run_input(number, batch, start, end)

    def _make_due(self, limit: int, event_time: bool) -> bool:
        """Bring the keys of the timers that are due next; whether they fit."""
        return self._bring(self._windows.due(event_time, limit, self._turns.most))

    def _bring(self, keys: list[Any]) -> bool:
        """Bring what the file has of some keys; whether it fits."""
        with self._blamed():
            tables = zip(self._kinds, self._tables(), strict=True)
            batches = [self._batch_of(kind, table, keys) for kind, table in tables]
        fits = None not in batches and self._windows.bring([[batch] for batch in batches])
        if not fits:
            self.flush()
        self._turn.note_fit(fits)
        return fits

    def _batch_of(self, kind: str, table: DiskTable, keys: list[Any]) -> Any:
        """A batch of the values that the file has for some keys in a state; None where they cannot be one."""
        try:
            slots, values = table.look(keys)
        except (TypeError, ValueError, OverflowError):  # a key is not as declared: Python says whose record it was
            return None
        rows = self._rows_of(kind, dict(zip(slots, values, strict=True)))
        return None if rows is None else self._functions.Batch.of(rows)

    def _shrink(self, number: int) -> None:
        state = self._state
        self._turns.adapt(self._windows.mean(), state.native_memory())
        if self._windows.is_over(state.native_memory()):
            with self._blamed():
                self.settle()
            self._windows.forget_idle(state.native_memory())
        if not self._timers_fit(max(self._windows.waiting())):
            self.flush()
            self._turn.note_fit(False)

    def _timers_fit(self, number: int) -> bool:
        return number <= max(self._state.native_memory() // _TIMER, LEAST_TIMERS)

    # --- state ---

    def _take_over(self) -> bool:
        """Have the native process take the timers; whether they fit."""
        state = self._state
        fits = all(self._timers_fit(len(queue)) for queue in self._queues)
        rows = self._rows() if fits else None
        self._here = rows is not None and self._windows.load(*rows)
        if self._here:
            state.ahead = self
        else:
            self._turn.note_fit(False)
        return self._here

    def _rows_of_states(self) -> list[Any]:
        """Nothing: it is brought when it is needed."""
        return [self._functions.Batch.of([]) for _ in self._kinds]

    def _place_of(self, life: Any) -> tuple[int, Any]:
        return 0, self._functions.Batch.of([])

    def _more(self) -> int:
        return self._windows.fresh() if self._here else 0

    def _settle_state(self, kind: str, table: Any, removed: Any, dropped: Any, values: Any, known: Any) -> None:
        """Write what is new of a state."""
        gone = [key for (key,) in rows_of(removed)]
        table.take_over(gone, [GONE] * len(gone), [True] * len(gone))
        if kind != "map":
            rows = list(rows_of(values))
            new = [dict_of(row[1], row[2]) if len(row) > 2 else row[1] for row in rows]
            table.take_over([row[0] for row in rows], new, known)
            return
        news = list(rows_of(values))
        changed = list(dict.fromkeys(row[0] for row in chain(rows_of(dropped), news)))
        maps = dict(zip(*table.look(changed), strict=True))
        stored = [key in maps for key in changed]
        for key, entry in rows_of(dropped):
            maps[key].pop(entry, None)
        for key, entry, value in news:
            maps.setdefault(key, {})[entry] = value
        table.take_over(changed, [maps[key] for key in changed], stored)

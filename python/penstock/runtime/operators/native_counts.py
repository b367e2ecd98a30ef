"""Windows by the number of records in native code, on columns: what :mod:`.window` does on the global window with a
``CountTrigger``, that purges or not, and with a ``CountEvictor`` or without.

As :mod:`.native_windows` it is in front of the state in Python, which is what windows contain, and how many records
came since they fired."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.native_stage import NativeStage, rows_of
from penstock.runtime.operators.native_windows import (
    Operator,
    apart,
    contents_of,
    counted_by,
    is_known,
    seeing_program,
    shows_windows,
    with_contents,
)
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.state.keyed import Table
from penstock.runtime.state.store import TRIGGERS
from penstock.runtime.windows.evictors import Evictor
from penstock.runtime.windows.functions import AggregateWindow, ReduceWindow, WindowFunction
from penstock.runtime.windows.time_window import GLOBAL_WINDOW
from penstock.runtime.windows.triggers import Trigger

_COUNTS = f"{TRIGGERS}count"  # the state of a CountTrigger


def native_counts(
    functions: ModuleType,
    keyed: KeyPartition,
    trigger: Trigger[Any, Any],
    evictor: Evictor[Any] | None,
    function: WindowFunction,
) -> Any:
    """Windows by key and number in native code, empty; None where they cannot do what these do."""
    key, counted = keyed.key_program(functions), counted_by(trigger, evictor)
    if key is None or counted is None or not is_known(function):
        return None
    contents = contents_of(functions, function)
    if contents is None:
        return None
    seeing = seeing_program(functions, function)
    shows = seeing is None and shows_windows(function)
    return functions.KeyedCounts(key, *counted, *contents, shows=shows, seeing=seeing)


class NativeCounts(NativeStage):
    """The windows of an operator. ``windows`` is what :func:`native_counts` gives."""

    def __init__(self, functions: ModuleType, windows: Any, operator: Operator, function: WindowFunction) -> None:
        state = operator.context.state
        assert state is not None
        super().__init__(windows, state)
        self._functions, self._operator = functions, operator
        self._shows = shows_windows(function) and seeing_program(functions, function) is None
        self._all = not isinstance(function, (ReduceWindow, AggregateWindow))
        self._in_place: bool = windows.has_objects()

    # --- records ---

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        if not self._here and not self._take_over():
            return None, [0], start, True
        out, done, in_doubt = self._windows.run(batch, start, end)
        if out is not None and self._shows:
            self._show(out)
            out = None
        self._keep_within(done - start)
        return out, [0 if out is None else len(out)], done, in_doubt

    def _show(self, fired: Any) -> None:
        try:
            for key, _, _, _, _, value in fired.objects():
                self._operator.show(key, GLOBAL_WINDOW, value if self._all else [value])
        except Exception as error:
            raise self._operator.context.fail(error) from error

    # --- state ---

    def _more(self) -> int:
        """How many more windows and numbers there are than entries in the tables."""
        if not self._here:
            return 0
        known = map(self._state.number_of, (STATE, _COUNTS))
        return len(self._windows) + int(self._windows.counting()) - sum(known)

    def _rows(self) -> tuple[list[Any], list[Any], list[Any]] | None:
        """The state in Python: contents, numbers of records, and contents that are changed in place."""
        if self._operator.shares or any(len(queue) for _, queue in self._state.queues()):
            return None
        contents, counts = (self._only(self._state.windows_of(name)) for name in (STATE, _COUNTS))
        if contents is None or counts is None:
            return None
        values, objects = apart([(key, 0, 0, value) for key, value in contents.items()], self._in_place)
        batches = [self._functions.Batch.of(rows) for rows in (values, list(counts.items()))]
        if any(batch is None for batch in batches):
            return None
        return [batches[0]], [batches[1]], objects

    def _only(self, namespaces: Mapping[Any, Table]) -> Table | None:
        """The table of the global window; None if another window has something."""
        if any(table for window, table in namespaces.items() if window is not GLOBAL_WINDOW):
            return None
        return namespaces.get(GLOBAL_WINDOW, {})

    def settle(self) -> None:
        """Bring the state in Python up to date. O(changes)."""
        if not self._here:
            return
        removed, values, numbers, objects, known = self._windows.news()
        gone = [(GLOBAL_WINDOW, key) for key, _, _ in rows_of(removed)]
        here = with_contents(values, objects, self._in_place)
        self._state.replace(STATE, gone, [((GLOBAL_WINDOW, key), value) for key, _, _, value in here], known)
        counts = self._state.table(_COUNTS, GLOBAL_WINDOW)
        for _, key in gone:
            counts.pop(key, None)
        for key, number in rows_of(numbers):
            if number:
                counts[key] = number
            else:
                counts.pop(key, None)

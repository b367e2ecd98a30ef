"""Interval joins in native code, on columns: what :mod:`.interval_join` does.

Both buffers and the timers are in front of those in Python, as with :mod:`.native_process`. A function that is not
compiled is called for the objects of each pair, which are new ones: so there native code takes only records that nobody
can change, and only where they do not have very many partners."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from penstock.runtime import native
from penstock.runtime.constants import filled_by
from penstock.runtime.operators.native_process import NativeProcess, ProcessPrograms, window_at
from penstock.runtime.operators.native_stage import rows_of

_TRIAL = 1_000  # records before Python may find that they have too many partners
_MOST_PARTNERS = 12  # on average, where the function is called in Python
_PAIR = [["around", "key"], ["local", 0], ["local", 1], ["around", "left"], ["around", "right"]]
_FUNCTION = {"params": 2, "locals": 2, "body": [["yield", ["tuple", *_PAIR]]]}
PAIRS = ProcessPrograms({"process_element": json.dumps({"v": 1, "functions": [_FUNCTION]})}, ())
"""In place of a function that is not compiled: key, both records, and their timestamps."""


class NativeJoin(NativeProcess):
    """The buffers of an operator, and its function. ``bounds`` say how far a right record's time may be from a left
    one's, ``sides`` are the names of the two states, and ``make`` makes an empty buffer. ``join`` takes an input and
    the pairs that its records make, where the programs are :data:`PAIRS`."""

    def __init__(
        self,
        bounds: tuple[int, int],
        sides: tuple[str, str],
        make: Callable[[], Any],
        join: Callable[[int, Iterable[Any]], None],
        *others: Any,
    ) -> None:
        super().__init__(*others)
        self._bounds, self._sides, self._make = bounds, sides, make
        self._join = join if self._programs is PAIRS else None
        self._kinds = 2 * ["frozen" if self._join else "buffer"]
        self._lives, self._defaults = [None, None], [None, None]
        self._records = self._pairs = 0

    def _named(self) -> list[str]:
        return list(self._sides)

    def _build(self) -> Any:
        function, (text, _) = self._operator.function, self._programs.of_input(0)
        program = native.program(self._functions, filled_by(text, function))
        if program is None or any(not -(1 << 62) < bound < 1 << 62 for bound in self._bounds):
            return None
        inputs = [(selector, program) for selector in self._selectors]
        return self._functions.KeyedProcess(inputs, None, self._kinds, self._lives, self._defaults, self._bounds)

    # --- records ---

    def leave(self, most: int) -> int:
        if self._join and self._records > _TRIAL and self._pairs > _MOST_PARTNERS * self._records:
            self.flush()
            return most
        return super().leave(most)

    def run_input(self, number: int, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        out, counts, done, in_doubt = super().run_input(number, batch, start, end)
        if self._join:
            self._records += done - start
            if out is not None:
                self._pairs += len(out)
                self._join(number, out.objects())
            out, counts = None, [0]
        return out, counts, done, in_doubt

    # --- state ---

    def _window_of(self, time: int, namespace: Any) -> tuple[int, int] | None:
        if namespace not in self._sides:
            return None
        start, end = window_at(time)
        return (start if namespace == self._sides[0] else ~start), end

    def _namespace_of(self, start: int, end: int) -> str:
        return self._sides[0 if (end - start) % (1 << 64) == 1 else 1]

    def _rows_of(self, kind: str, table: dict[Any, Any]) -> list[Any]:
        """The records of a state, each with key, number of buckets and time."""
        return [
            (key, buffer.buckets, time, record)
            for key, buffer in table.items()
            for time, records in buffer.times.items()
            for record in records
        ]

    def _settle_table(self, kind: str, table: dict[Any, Any], dropped: list[Any], values: list[Any]) -> None:
        """Replace the buffers that have changed. O(their records)."""
        for (key, buckets), rows in groupby(rows_of(values), itemgetter(0, 1)):
            buffer = self._make()
            for _, _, time, record in rows:
                buffer.times.setdefault(time, []).append(record)
            buffer.buckets = buckets
            table[key] = buffer

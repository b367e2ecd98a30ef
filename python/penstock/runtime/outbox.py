"""Rows on their way out of a task.

Rows leave between two records, so what one record leads to, all of it, has to wait: a function may make millions of
records of one, or, a generator that does not end, ever more. So many bytes wait in memory and the rest in a temporary
file; and as nobody can know whether a generator ends, the log says how much there is so far.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from typing import IO

from penstock.runtime.exchange import Row

MEMORY = 64 << 20
"""Bytes that wait in memory."""
_ROWS = 32
"""Rows that may wait while a source function or a buffer of input runs on."""
_BYTES = 4 << 20
"""Bytes of them."""
_LOG = logging.getLogger("penstock")


class Outbox:
    """Takes rows and gives them back in their order. O(memory + rows) of memory.

    Args:
        task: its name, for the log.
        memory: bytes to hold.

    Attributes:
        held: bytes in memory.
        spilled: bytes in the file.
    """

    def __init__(self, task: str, memory: int = MEMORY) -> None:
        self._task = task
        self._memory = memory
        self._reported = memory
        self._rows: list[Row] = []
        self._places: list[tuple[Row, int]] = []  # rows without their bytes, and how many those are
        self._file: IO[bytes] | None = None
        self.held = self.spilled = 0

    def append(self, row: Row) -> None:
        """Take a row."""
        size = len(row[5])
        if self._file is None and (self.held + size <= self._memory or not self._rows):
            self.held += size
            self._rows.append(row)
        else:
            self._spill(row, size)

    def _spill(self, row: Row, size: int) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="penstock-")  # noqa: SIM115 - lives until it is taken
        self._file.write(row[5])
        self._places.append(((*row[:5], b""), size))
        self.spilled += size
        if self.spilled >= self._reported:
            self._reported *= 2
            _LOG.warning(
                "Task %s: one record or timer has led to %d MB of output so far, which waits in a temporary file in "
                "%s. Does the function make an end?",
                self._task,
                (self.held + self.spilled) >> 20,
                tempfile.gettempdir(),
            )

    def crowded(self) -> bool:
        """Whether so much waits that it should leave before anything more is made."""
        return len(self._rows) > _ROWS or self.held > _BYTES

    def take(self) -> Iterator[Row]:
        """All rows so far; what comes meanwhile is for the next time."""
        rows, places, file = self._rows, self._places, self._file
        self._rows, self._places, self._file = [], [], None
        self.held, self.spilled, self._reported = 0, 0, self._memory
        return iter(rows) if file is None else _with_spilled(rows, places, file)


def _with_spilled(rows: list[Row], places: list[tuple[Row, int]], file: IO[bytes]) -> Iterator[Row]:
    with file:
        rows.reverse()
        while rows:  # what has left takes no memory any more
            yield rows.pop()
        file.seek(0)
        for row, size in places:
            yield (*row[:5], file.read(size))

"""The messages of a task: its rows, and what user code prints. All rows that one record leads to have to wait: a
function may make millions of records of one, or a generator may never end. Some bytes wait in memory and the rest in a
temporary file, and the log says how much there is so far."""

from __future__ import annotations

import io
import logging
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stdout

from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import MEMORY, Rows, Store

_ROWS = 32  # rows that may wait while a source function or a buffer of input runs on
_BYTES = 4 << 20  # bytes of them
_LOG = logging.getLogger("penstock")


class Outbox:
    """Takes rows and gives them back in their order. O(memory + rows) of memory."""

    def __init__(self, task: str, memory: int = MEMORY) -> None:
        self._task = task
        self._memory = memory
        self._reported = memory
        self._most = _ROWS
        self._store = Store(memory)
        self._rows = Rows(self._store)

    def append(self, row: Row) -> None:
        self._rows.append(row)
        if self._store.spilled >= self._reported:
            self._reported *= 2
            _LOG.warning(
                "Task %s: one record or timer has led to %d MB of output so far, which waits in a temporary file in "
                "%s. Does the function ever return?",
                self._task,
                (self._store.held + self._store.spilled) >> 20,
                tempfile.gettempdir(),
            )

    def crowded(self) -> bool:
        """Whether so much waits that it should leave before anything more is made."""
        return len(self._rows) > self._most or self._store.held + self._store.spilled > _BYTES

    def hurry(self) -> None:
        """Be crowded from now on, so that the task looks what is the matter. Any thread may call it."""
        self._most = -1

    def take(self) -> Iterator[Row]:
        self._reported = self._memory
        return self._rows.take()

    def close(self) -> None:
        self._store.close()


_CHARACTERS = 1 << 16


class Spoken(io.TextIOBase):
    """A standard output that hands texts over to ``send``, some at a time. Memory: 64 Ki characters, or the longest
    text."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._texts: list[str] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _CHARACTERS:
            self.hand_over()
        return len(text)

    def hand_over(self) -> None:
        text = "".join(self._texts)
        self._texts, self._size = [], 0
        if text:
            self._send(text)

    @contextmanager
    def listening(self) -> Generator[None, None, None]:
        """Within the block this is the standard output of the process. If the block fails, what has not been sent goes
        to standard error, as nobody takes the task's rows."""
        try:
            with redirect_stdout(self):
                yield
        except BaseException:
            self._send = sys.stderr.write
            self.hand_over()
            raise

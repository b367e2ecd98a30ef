"""What user code prints in a task, on its way to the driver's standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout

_CHARACTERS = 1 << 16


class Spoken(io.TextIOBase):
    """A standard output that hands texts over, some at a time. Memory: 64 Ki characters, or the longest text.

    Args:
        send: takes a text.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._texts: list[str] = []
        self._size = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Take a text."""
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _CHARACTERS:
            self.hand_over()
        return len(text)

    def hand_over(self) -> None:
        """Send what has come since the last time."""
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

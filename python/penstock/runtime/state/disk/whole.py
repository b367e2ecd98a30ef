"""Whether native code may have all state of an operator, where what does not fit into memory is in a file."""

from __future__ import annotations

from collections.abc import Callable

_GUESS = 256  # bytes of an entry that was never measured
_LEAST = 256  # records between two looks at the memory


class WholeState:
    """State that native code has as a whole, or not at all. ``limit`` gives the bytes that it may take."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._mean = _GUESS
        self._left = 0  # records until the next look

    def may_fit(self, entries: int) -> bool:
        """Whether so many entries would leave room for some more."""
        self._left = 0
        return entries * self._mean <= self._limit() * 3 // 4

    def is_over(self, records: int, entries: int, memory: Callable[[], int]) -> bool:
        """Whether the entries take too much, after so many records or timers. ``memory``, which may be O(entries), is
        asked now and then: O(1) per record."""
        self._left -= records
        if self._left > 0:
            return False
        taken, limit = memory(), self._limit()
        self._mean = max(taken // max(entries, 1), 1)
        self._left = max(_LEAST, min(entries // 4, (limit - taken) // (2 * self._mean)))
        return taken > limit

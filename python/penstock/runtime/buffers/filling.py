"""How much waits: buffers are full at so many records or about so many bytes, and looks at a few records now and then
tell how large they are. Whatever gathers records asks here: the writers of the exchange, the sinks."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from penstock.runtime.buffers.codec import text_size

TARGET_BYTES = 1 << 20
"""What is gathered is full near this size."""
FIRST_RECORDS = 64
"""Records of a first buffer that fits itself to its records, before the size of a record is known."""
GATHERED = 512
"""Records that may be gathered for a batch, while they are small."""
_LOOK = 128
"""Records between two looks at how large they are; each look takes a few of them."""
EVERY = _LOOK // 4 - 1
"""Of so many records a look takes one."""

Size = Callable[[list[Any]], int]
"""About how many bytes some records take together."""


def sizes(functions: ModuleType | None = None) -> Size:
    """What estimates the bytes of some records.

    Args:
        functions: the native functions, if they shall be used; with them or without, estimates are the same.
    """
    quick: Callable[[list[Any]], int | None] = getattr(functions, "text_size", lambda values: None)

    def size(values: list[Any]) -> int:
        found = quick(values)
        return sum(map(text_size, values)) if found is None else found

    return size


def room(size: int, before: int) -> int:
    """How many records may be gathered before they are handed over: about a mebibyte, and not many more than before,
    as nobody has seen their like.

    Args:
        size: bytes of a record, in the mean.
        before: how many there were room for.
    """
    return max(1, min(GATHERED, 8 * before, TARGET_BYTES // (size + 1)))


class Estimate:
    """About how many bytes the records take that wait somewhere.

    Args:
        size: of some of them.

    Attributes:
        size: as above.
        count: records that looks have covered.
        bytes: of these.
        mean: bytes of a record, by the last look.
    """

    __slots__ = ("bytes", "count", "mean", "size")

    def __init__(self, size: Size) -> None:
        self.size = size
        self.count = self.bytes = self.mean = 0

    def look(self, new: int, some: list[Any]) -> None:
        """Estimate the records since the last look.

        Args:
            new: how many there are.
            some: one or more of them.
        """
        size = self.size(some)
        self.mean = size // len(some)
        self.count += new
        self.bytes += size * new // len(some)

    def forget(self) -> None:
        """They wait no more; the next ones are probably as large."""
        self.count = self.bytes = 0


class Filling(Estimate):
    """Records that wait in a list until they are enough. Whoever appends one looks when there are ``mark`` of them::

        filling.values.append(value)
        if len(filling.values) >= filling.mark and filling.full():
            …take the values and leave an empty list

    Args:
        size: of some records.
        most: records at the most.
        most_bytes: of records, about.
        first: records of the first list; the limit of the next ones follows the mean size of a record.

    Attributes:
        values: the records; whoever takes them leaves an empty list, and calls :meth:`adapt`.
        mark: the number of records at which to look next.
    """

    __slots__ = ("_limit", "_most", "_most_bytes", "mark", "values")

    def __init__(self, size: Size, most: int, most_bytes: int = TARGET_BYTES, first: int = FIRST_RECORDS) -> None:
        super().__init__(size)
        self.values: list[Any] = []
        self.mark = 1
        self._most, self._most_bytes = most, most_bytes
        self._limit = min(first, most)

    def full(self) -> bool:
        """Look: whether there are enough records, or bytes, as some of those since the last look tell."""
        count = len(self.values)
        self.look(count - self.count, self.values[self.count :: EVERY])
        large = self.bytes >= self._most_bytes
        if not large and count < self._limit:
            self.mark = min(2 * count, count + _LOOK, self._limit)
            return False
        self.adapt()
        self.mark = 1 if large else min(_LOOK, self._limit)  # where they are small, the next ones probably are, too
        return True

    def adapt(self) -> None:
        """Fit the next list to the records of this one. Not by its bytes, which depend on the codec: with native
        functions or without, buffers are the same."""
        if self.count:
            mean = max(self.bytes // self.count, 1)
            self._limit = max(1, min(self._most, self._most_bytes // mean, self._limit * 8))
        self.forget()

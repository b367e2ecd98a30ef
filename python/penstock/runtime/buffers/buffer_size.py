"""Decides when a buffer is full: at a number of records, or at about a number of bytes, estimated from samples."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from penstock.runtime.buffers.codec import text_size

TARGET_BYTES = 1 << 20  # target size of buffers
MOST_RECORDS = 2_000  # of a buffer: objects are better sent while they are in the processor's cache
MOST_COLUMNS = 8_000  # of a buffer of a type that can be columns
FIRST_RECORDS = 64  # records of the first buffer, while the size of a record is unknown
GATHERED = 512  # most records that are gathered for a batch
_LOOK = 128  # records between two estimates
EVERY = _LOOK // 4 - 1  # an estimate samples one record in so many
Size = Callable[[list[Any]], int]  # estimates the bytes of records


def sizes(functions: ModuleType | None = None) -> Size:
    """A function that estimates the bytes of some records."""
    quick: Callable[[list[Any]], int | None] = getattr(functions, "text_size", lambda values: None)

    def size(values: list[Any]) -> int:
        native_size = quick(values)
        return sum(map(text_size, values)) if native_size is None else native_size

    return size


def room(size: int, before: int) -> int:
    """How many records to gather before they are handed over: about a mebibyte, fewer while their kind is new."""
    return max(1, min(GATHERED, 8 * before, TARGET_BYTES // (size + 1)))


class Estimate:
    """An estimate of the bytes of waiting records."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.count = self.bytes = self.mean = 0

    def look(self, new: int, some: list[Any]) -> None:
        self.add(new, self.size(some), len(some))

    def add(self, new: int, size: int, samples: int) -> None:
        self.mean = size // samples
        self.count += new
        self.bytes += size * new // samples

    def forget(self) -> None:
        self.count = self.bytes = 0


class Filling(Estimate):
    """A list that is filled until it is large enough: append to ``values``; from ``mark`` of them on ask ``full()``."""

    def __init__(self, size: Size, most: int, most_bytes: int = TARGET_BYTES, first: int = FIRST_RECORDS) -> None:
        super().__init__(size)
        self.values: list[Any] = []
        self.mark = 1
        self._most, self._most_bytes = most, most_bytes
        self._limit = min(first, most)

    def full(self) -> bool:
        count = len(self.values)
        self.add(count - self.count, *self.sampled())
        large = self.bytes >= self._most_bytes
        if not large and count < self._limit:
            self._look_after(count)
            return False
        self.adapt()
        self.mark = 1 if large else min(_LOOK, self._limit)  # small records are probably followed by small ones
        return True

    def look_into(self, batch: Any, first: int) -> None:
        """Look at the records of a native batch as ``full()`` would: to its end, or to before the look that finds
        enough. ``first`` others wait in front of it, and were all looked at."""
        limits = self._limit, self._most_bytes, _LOOK, EVERY
        looks = batch.look(first, (self.mark, self.count, self.bytes), limits)
        self.mark, self.count, self.bytes, self.mean = *looks[:3], looks[3] or self.mean

    def _look_after(self, count: int) -> None:
        """Set the mark where so many records wait and are not enough."""
        self.mark = min(2 * count, count + _LOOK, self._limit)

    def sampled(self) -> tuple[int, int]:
        """The bytes of a sample of the records since the last look, and their number."""
        some = self.values[self.count :: EVERY]
        return self.size(some), len(some)

    def adapt(self) -> None:
        """Set the next length by the size of these records, not by encoded bytes, which native functions change."""
        if self.count:
            mean = max(self.bytes // self.count, 1)
            self._limit = max(1, min(self._most, self._most_bytes // mean, self._limit * 8))
        self.forget()

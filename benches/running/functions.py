"""The user's functions of the programs that are measured; every peer calls these very ones.

Plain Python without imports of any peer, so that it loads in every peer's virtual environment.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Pair = tuple[str, int]
MASK = (1 << 64) - 1


def split(line: str) -> list[str]:
    """The words of a line."""
    return line.split()


def pair(word: str) -> Pair:
    """A word that was seen once."""
    return (word, 1)


def word_of(pair: Pair) -> str:
    """The key."""
    return pair[0]


def add_one(number: int) -> int:
    """First of five maps."""
    return number + 1


def triple(number: int) -> int:
    """Second."""
    return number * 3


def flip(number: int) -> int:
    """Third."""
    return number ^ 0x55


def halve(number: int) -> int:
    """Fourth."""
    return number >> 1


def minus_seven(number: int) -> int:
    """Fifth."""
    return number - 7


def keep(number: int) -> bool:
    """The filter: lets three of four through."""
    return number & 3 != 0


MAPS = (add_one, triple, flip, halve, minus_seven)


class Sink:
    """Counts numbers and adds them up, whatever their order: below 0.1 µs per record, so that it does not dominate.
    When it closes it leaves a file with both."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.count = 0
        self.total = 0

    def invoke(self, value: Any) -> None:
        """Take a record."""
        self.count += 1
        self.total += value

    def close(self) -> None:
        """Leave the file; once."""
        if self.count:
            name = Path(self.folder, f"{uuid.uuid4()}.part")
            name.write_text(f"{self.count} {self.total & MASK}")
            os.rename(name, name.with_suffix(".sum"))
        self.count = self.total = 0


def weight(pair: Pair) -> int:
    """What a pair adds to a sum of sums."""
    word, number = pair
    return 31 * len(word) + number


class PairSink(Sink):
    """The same of the weights of pairs."""

    def invoke(self, value: Pair) -> None:
        """Take a record."""
        self.count += 1
        self.total += weight(value)


class FirstSink(PairSink):
    """Also leaves a file that says when the first record came."""

    def invoke(self, value: Pair) -> None:
        """Take a record."""
        if not self.count:
            Path(self.folder, f"{uuid.uuid4()}.first").write_text(str(time.time()))
        super().invoke(value)


SINKS = {"sum": PairSink, "first": FirstSink}


def first_record(folder: str) -> float | None:
    """When the first record came to a :class:`FirstSink` of this folder, in seconds since 1970."""
    return min((float(path.read_text()) for path in Path(folder).glob("*.first")), default=None)


def collected(folder: str) -> tuple[int, int]:
    """Number and checksum of all records that sinks have left in a folder."""
    parts = [path.read_text().split() for path in Path(folder).glob("*.sum")]
    return sum(int(count) for count, _ in parts), sum(int(total) for _, total in parts) & MASK


def running_sums(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Every pair with the sum of its word so far: what the program means."""
    sums: dict[str, int] = {}
    for word, number in pairs:
        sums[word] = total = sums.get(word, 0) + number
        yield word, total

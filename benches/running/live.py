"""Programs that never end: their user functions, the sink that tells how far they are, and what they mean.

Plain Python without imports of any peer, as :mod:`functions`.
"""

from __future__ import annotations

import mmap
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from functions import weight as weight_of_pair

MASK = (1 << 64) - 1
WINDOW = 1_000
"""Milliseconds of event time after which a key's timer fires."""

Pair = tuple[str, int]
Fired = tuple[str, int, int]
T = TypeVar("T")


def keyed(line: str) -> Pair:
    """Key and number of a line ``key,number``."""
    key, _, number = line.partition(",")
    return key, int(number)


def written(pair: Pair) -> str:
    """A key and its sum as a line."""
    return f"{pair[0]},{pair[1]}"


def key_of(pair: Pair) -> str:
    """The key."""
    return pair[0]


def time_of(pair: Pair) -> int:
    """The event time of a pair whose number is one."""
    return pair[1]


def end_of(time: int) -> int:
    """When the timer of a key fires that was first seen at a time: at the end of its window."""
    return time - time % WINDOW + WINDOW - 1


class LiveSink:
    """Counts what it is given and adds up weights; ``flush`` puts both into a file that others may read at any moment.

    It need not be closed: what is measured never ends, and some engines drop their functions between two steps. Each
    object has a file of its own.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.count = self.total = 0
        self.cells: memoryview | None = None

    def __reduce__(self) -> tuple[type[LiveSink], tuple[str]]:
        return type(self), (self.folder,)

    def flush(self) -> None:
        """Tell how many records have come so far."""
        if self.cells is None:
            self.cells = cells_of(Path(self.folder, f"{uuid.uuid4()}.live"))
        self.cells[0], self.cells[1] = self.count, self.total

    def close(self) -> None:
        """Nothing is left to do."""


class SumSink(LiveSink):
    """Takes sums with their keys."""

    def invoke(self, value: Pair) -> None:
        """Take a record."""
        self.count += 1
        self.total += weight_of_pair(value)


class FiredSink(LiveSink):
    """Takes what timers give."""

    def invoke(self, value: Fired) -> None:
        """Take a record."""
        self.count += 1
        self.total += weight_of_fired(value)


def weight_of_fired(fired: Fired) -> int:
    """What :class:`FiredSink` adds for a record."""
    key, time, count = fired
    return 31 * len(key) * count + time


def cells_of(path: Path) -> memoryview:
    """Two numbers that stand in a file: how many records, and the sum of their hashes."""
    making = path.with_suffix(".part")
    making.write_bytes(bytes(16))
    os.rename(making, path)
    with open(path, "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 16)).cast("Q")


def taken(folder: str) -> tuple[int, int]:
    """Number and checksum of all records that sinks have been given so far."""
    count = total = 0
    for path in Path(folder).glob("*.live"):
        data = path.read_bytes()
        count += int.from_bytes(data[:8], "little")
        total += int.from_bytes(data[8:], "little")
    return count, total & MASK


# --- what the programs mean -------------------------------------------------------------------------------------------


def sums(rounds: Iterable[Iterable[str]]) -> Iterator[tuple[int, int]]:
    """Number and checksum of all running sums after each round of lines."""
    return _checked(_sums(rounds), weight_of_pair)


def sum_lines(rounds: Iterable[Iterable[str]]) -> Iterator[tuple[int, int]]:
    """The same of the running sums as lines."""
    return _checked((map(written, pairs) for pairs in _sums(rounds)), hash)


def _sums(rounds: Iterable[Iterable[str]]) -> Iterator[list[Pair]]:
    totals: dict[str, int] = {}
    for lines in rounds:
        pairs = []
        for key, number in map(keyed, lines):
            totals[key] = total = totals.get(key, 0) + number
            pairs.append((key, total))
        yield pairs


def final_sums(rounds: Iterable[Iterable[str]]) -> tuple[int, int]:
    """Number and checksum of the last sum of each key."""
    last = dict(pair for pairs in _sums(rounds) for pair in pairs)
    return len(last), sum(map(weight_of_pair, last.items())) & MASK


def timers(rounds: Iterable[Iterable[str]], delay: int) -> Iterator[tuple[int, int]]:
    """Number and checksum of ``(key, when the timer fired, records until then)`` after each round of timed lines.

    Whatever an engine's rule at the very moment, the input leaves no timer within ``delay`` of a round's end.
    """
    return _checked(_timers(rounds, delay), weight_of_fired)


def _timers(rounds: Iterable[Iterable[str]], delay: int) -> Iterator[list[Fired]]:
    counts: dict[Pair, int] = {}
    for lines in rounds:
        latest = 0
        for key, time in map(keyed, lines):
            latest = max(latest, time)
            slot = key, end_of(time)
            counts[slot] = counts.get(slot, 0) + 1
        done = [slot for slot in counts if slot[1] < latest - delay]
        yield [(*slot, counts.pop(slot)) for slot in done]


def _checked(rounds: Iterable[Iterable[T]], weigh: Callable[[T], int]) -> Iterator[tuple[int, int]]:
    count = total = 0
    for records in rounds:
        for record in records:
            count += 1
            total += weigh(record)
        yield count, total & MASK

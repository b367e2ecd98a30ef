"""Distributes operator state when the parallelism changes. The lists of all old subtasks are joined and cut into one
block per new subtask. Which subtask gets the first block of a list depends on the lists before it, and their order on
the hash tables in which Flink keeps state names. Source: ``RoundRobinOperatorStateRepartitioner``,
``StateAssignmentOperation`` (Flink 1.11, 2.3), measured on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from penstock.common.java.java_hash import hash_string

SPLIT, UNION, BROADCAST = "split", "union", "broadcast"
Place = tuple[str, str]  # kind and name of a state
Counts = Mapping[Place, int]
"""The number of elements of each state of a subtask, in the order of writing. A broadcast map counts as one element."""

_WIDTH = 16  # initial width of a Java map


class Share(NamedTuple):
    """A range of elements of an old subtask's state."""

    subtask: int
    place: Place
    elements: range


def shares(old: Sequence[Counts], parallelism: int, subtask: int, *, flink: str = "1.11") -> list[Share]:
    """The parts that a new subtask starts with, by old subtask."""
    parts: list[Share]
    if len(old) == parallelism:
        counts_of_subtask = old[subtask].items()
        parts = [Share(subtask, place, range(count)) for place, count in counts_of_subtask if place[0] != UNION]
        if flink != "1.11":
            parts += [copy for copy in _copies(old, subtask, partial=True) if copy not in parts]
    else:
        parts = [*_blocks(old, parallelism, subtask), *_copies(old, subtask)]
    parts += [
        Share(number, place, range(count))
        for number, counts in enumerate(old)
        for place, count in counts.items()
        if place[0] == UNION
    ]
    return sorted(parts, key=lambda share: share.subtask)


def _blocks(old: Sequence[Counts], parallelism: int, subtask: int) -> Iterator[Share]:
    start = 0
    for place in in_order(old, SPLIT):
        counts = [counts.get(place) for counts in old]
        length, longer = divmod(sum(filter(None, counts)), parallelism)
        block = (subtask - start) % parallelism
        first = block * length + min(block, longer)
        start = (start + longer) % parallelism
        yield from _cut(counts, place, range(first, first + length + (block < longer)))


def _cut(counts: Sequence[int | None], place: Place, block: range) -> Iterator[Share]:
    """The parts of consecutive lists that are in a block. An empty list goes with the element after it."""
    ends = accumulate(count or 0 for count in counts)
    for number, (count, end) in enumerate(zip(counts, ends, strict=True)):
        begin = end - (count or 0)
        part = range(max(begin, block.start) - begin, min(end, block.stop) - begin)
        if part or (count == 0 and begin in block):
            yield Share(number, place, part)


def _copies(old: Sequence[Counts], subtask: int, *, partial: bool = False) -> Iterator[Share]:
    for place in in_order(old, BROADCAST):
        owners = [number for number, counts in enumerate(old) if place in counts]
        if not partial or len(owners) < len(old):
            yield Share(owners[subtask % len(owners)], place, range(1))


def in_order(old: Sequence[Counts], kind: str) -> list[Place]:
    """The states of a kind in the order in which they are distributed: the iteration order of Java hash maps."""
    table: dict[Place, None] = {}
    width = _WIDTH
    for counts in old:
        for place in _as_read(counts):
            if place[0] == kind:
                if 4 * len(table) > 3 * width:
                    width *= 2
                table[place] = None
    return _walk(reversed(table), width)


def _as_read(counts: Counts) -> list[Place]:
    """The states of one subtask in the order they are read: the map is just wide enough."""
    width = 1
    while 4 * len(counts) > 3 * width:
        width *= 2
    return _walk(counts, width)


def _walk(places: Iterable[Place], width: int) -> list[Place]:
    def index(place: Place) -> int:
        unsigned = hash_string(place[1]) & 0xFFFFFFFF
        return (unsigned ^ unsigned >> 16) & (width - 1)

    return sorted(places, key=index)

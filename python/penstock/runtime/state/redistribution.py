"""Which subtask gets which operator state when a job goes on with another number of subtasks.

Lists are strung together by old subtask and cut into as many blocks as there are subtasks now; at which subtask the
first block of a list goes depends on the lists before it, and their order on the hash tables that Flink keeps state
names in. Each kind of state of each operator stands for itself.

Source of the semantics: ``RoundRobinOperatorStateRepartitioner`` and ``StateAssignmentOperation`` (Flink 1.11, 2.3),
measured on them. Cost: O(old subtasks · states) for a subtask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from penstock.common.java_hash import hash_string

SPLIT, UNION, BROADCAST = "split", "union", "broadcast"

Place = tuple[str, str]
"""Kind and name of a state."""
Counts = Mapping[Place, int]
"""What a subtask had: the number of elements of each state, in the order in which it is written down. A broadcast map
counts as one element."""

_WIDTH = 16
"""Of a table that grows."""


class Share(NamedTuple):
    """A part of a state of an old subtask.

    Attributes:
        subtask: the old one.
        place: of the state.
        elements: which; none of a list that was empty and is handed on as such.
    """

    subtask: int
    place: Place
    elements: range


def shares(old: Sequence[Counts], parallelism: int, subtask: int, *, flink: str = "1.11") -> list[Share]:
    """What a subtask begins with, by old subtask.

    Args:
        old: what each subtask had then, in order; nothing for those without state.
        parallelism: number of subtasks now.
        subtask: this one.
        flink: ``"1.11"`` or ``"2.3"``, which differ where some subtasks have a broadcast state and others none.
    """
    found: list[Share]
    if len(old) == parallelism:
        own = old[subtask].items()
        found = [Share(subtask, place, range(count)) for place, count in own if place[0] != UNION]
        if flink != "1.11":
            found += [copy for copy in _copies(old, subtask, partial=True) if copy not in found]
    else:
        found = [*_blocks(old, parallelism, subtask), *_copies(old, subtask)]
    found += [
        Share(number, place, range(count))
        for number, counts in enumerate(old)
        for place, count in counts.items()
        if place[0] == UNION
    ]
    return sorted(found, key=lambda share: share.subtask)


def _blocks(old: Sequence[Counts], parallelism: int, subtask: int) -> Iterator[Share]:
    """A subtask's blocks of all split lists."""
    start = 0
    for place in in_order(old, SPLIT):
        counts = [counts.get(place) for counts in old]
        length, longer = divmod(sum(filter(None, counts)), parallelism)
        block = (subtask - start) % parallelism
        first = block * length + min(block, longer)
        start = (start + longer) % parallelism
        yield from _cut(counts, place, range(first, first + length + (block < longer)))


def _cut(counts: Sequence[int | None], place: Place, block: range) -> Iterator[Share]:
    """The parts of lists, one after the other, that lie in a block. An empty one goes with the element behind it."""
    ends = accumulate(count or 0 for count in counts)
    for number, (count, end) in enumerate(zip(counts, ends, strict=True)):
        begin = end - (count or 0)
        part = range(max(begin, block.start) - begin, min(end, block.stop) - begin)
        if part or (count == 0 and begin in block):
            yield Share(number, place, part)


def _copies(old: Sequence[Counts], subtask: int, *, partial: bool = False) -> Iterator[Share]:
    """A subtask's copy of each broadcast state.

    Args:
        old: what each subtask had.
        subtask: the one.
        partial: only of those that some old subtask lacks.
    """
    for place in in_order(old, BROADCAST):
        there = [number for number, counts in enumerate(old) if place in counts]
        if not partial or len(there) < len(old):
            yield Share(there[subtask % len(there)], place, range(1))


def in_order(old: Sequence[Counts], kind: str) -> list[Place]:
    """The states of a kind in the order in which they are dealt out.

    A state's place in a table hangs on the hash of its name; that of the table with all states of a kind puts a new
    name before others of the same place, and grows only when it is asked for the next name.

    Args:
        old: what each subtask had.
        kind: of the states.
    """
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
    """The states of one subtask in the order in which they are read: the table is as wide as it must be."""
    width = 1
    while 4 * len(counts) > 3 * width:
        width *= 2
    return _walk(counts, width)


def _walk(places: Iterable[Place], width: int) -> list[Place]:
    """Places by index in a table; those with the same one stay in order."""

    def index(place: Place) -> int:
        unsigned = hash_string(place[1]) & 0xFFFFFFFF
        return (unsigned ^ unsigned >> 16) & (width - 1)

    return sorted(places, key=index)

"""The entries of a key group as state on the heap is written: savepoints of 1.11, native ones and checkpoints of 2.x.

After the key group's number comes for every state its number, the number of its entries, and these, one after the
other without lengths. Source of the semantics: Flink's ``HeapSnapshotStrategy`` and ``HeapRestoreOperation``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.flink.entries.pieces import Piece
from penstock.flink.entries.states import KeyedState, Whole

_STATE = struct.Struct(">hi")


def heap_entries(
    piece: Piece,
    states: list[KeyedState],
    wanted: set[str] | None,
    refuse: Callable[[KeyedState, Sequence[str]], None],
) -> Iterator[tuple[KeyedState, Any, Any, Any]]:
    """The entries of a key group: state, key, namespace, value.

    Args:
        piece: the bytes of the group, after its number.
        states: by number.
        wanted: the names of states to yield entries of; None for all.
        refuse: called for a state that has entries and cannot be read, with the names of the states that cannot be
            found behind it.

    Raises:
        FlinkSavepointError: it is damaged.

    Cost: linear; as much memory as the longest entry takes.
    """
    left = set(range(len(states)))
    while left:
        piece.need(_STATE.size)
        number: int
        count: int
        number, count = _STATE.unpack_from(piece.data, piece.at)
        if number not in left or count < 0:
            piece.fail(piece.at, f"{count:,} entries of state {number} follow, which cannot be")
        piece.at += _STATE.size
        left.remove(number)
        state = states[number]
        if not count:
            continue
        if state.whole is None:
            lost = [states[other].name for other in sorted(left)]
            if wanted is None or not wanted.isdisjoint((state.name, *lost)):
                refuse(state, lost)
            return
        for key, namespace, value in _entries(piece, state.name, state.whole, count):
            if wanted is None or state.name in wanted:
                yield state, key, namespace, value


def _entries(piece: Piece, name: str, read: Whole, count: int) -> Iterator[tuple[Any, Any, Any]]:
    """An entry that is not yet all in memory is read once more when there is more of it."""
    for _ in range(count):
        while True:
            data, at = piece.data, piece.at
            try:
                key, namespace, value, piece.at = read(data, at)
                break
            except (IndexError, struct.error):
                if not piece.grow(at):
                    piece.fail(0, "an entry goes beyond the end of the key group", name)
            except (ValueError, RecursionError) as error:
                piece.fail(at, str(error), name)
        yield key, namespace, value

"""The entries of a key group in the canonical format, which RocksDB's full checkpoints have too.

A group is the number of a state, and pairs of bytes, each after its length. A pair's first bytes begin with the key
group; their first bit says that another number of a state follows the pair, or that the group ends. All pairs of a map
of one key and namespace are one after the other, and become one entry. Source of the semantics: Flink's
``FullSnapshotAsyncWriter``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.flink.entries.pieces import Piece
from penstock.flink.entries.states import KeyedState, MapPairs, Pair

_INT = struct.Struct(">i").unpack_from
_END, _LAST = 0xFFFF, 0x80
_ONE_BYTE = 128  # key groups that fit into one byte


def canonical_entries(
    piece: Piece,
    group: int,
    groups: int,
    states: Sequence[KeyedState | None],
    refuse: Callable[[KeyedState, Sequence[str]], None],
) -> Iterator[tuple[KeyedState, Any, Any, Any]]:
    """The entries of a key group: state, key, namespace, value.

    Args:
        piece: the bytes of the group.
        group: its number.
        groups: the number of all key groups.
        states: by number; None for those that are not wanted, whose pairs are passed over.
        refuse: called for a state that has entries and cannot be read, which are passed over, too.

    Raises:
        FlinkSavepointError: it is damaged.

    Cost: linear; as much memory as the longest pair takes, and the longest map.
    """
    if not 0 <= group < groups:
        piece.fail(piece.at, f"it is key group {group}, and the operator has {groups}")
    prefix = group.to_bytes(1 if groups <= _ONE_BYTE else 2, "big")
    while True:
        piece.need(2)
        number = int.from_bytes(piece.data[piece.at : piece.at + 2], "big")
        piece.at += 2
        if number == _END:
            return
        if number >= len(states):
            piece.fail(piece.at - 2, f"state {number} follows, and the file has {len(states)}")
        state = states[number]
        if state is None or state.refusal is not None:
            if state is not None:
                refuse(state, ())
            for _ in _pairs(piece, prefix):
                pass
        elif state.map is not None:
            for key, namespace, value in _map_entries(piece, prefix, state, state.map):
                yield state, key, namespace, value
        elif state.pair is not None:
            for key, namespace, value in _entries(piece, prefix, state, state.pair):
                yield state, key, namespace, value


def _pairs(piece: Piece, prefix: bytes) -> Iterator[tuple[bytes, int, int, int]]:
    """The pairs until the next number of a state: bytes, where the key begins and ends, and where the value ends."""
    size, first, rest = len(prefix), prefix[0], prefix[1:]
    while True:
        data, at = piece.data, piece.at
        try:
            key = at + 4
            key_end = key + _INT(data, at)[0]
            end = key_end + 4 + _INT(data, key_end)[0]
            if key_end < key + size or end < key_end + 4:
                piece.fail(at, "the length of a key or value is too small")
            if end > len(data):
                raise IndexError
        except (struct.error, IndexError):
            if not piece.grow(at):
                piece.fail(0, "a key or value goes beyond the end of the key group")
            continue
        flags = data[key]
        if flags & ~_LAST != first or (rest and not data.startswith(rest, key + 1)):
            piece.fail(key, f"a key belongs to another key group than {int.from_bytes(prefix, 'big')}")
        piece.at = end
        yield data, key + size, key_end, end
        if flags & _LAST:
            return


def _entries(piece: Piece, prefix: bytes, state: KeyedState, read: Pair) -> Iterator[tuple[Any, Any, Any]]:
    for data, key, key_end, end in _pairs(piece, prefix):
        try:
            yield read(data, key, key_end, end)
        except (IndexError, struct.error):
            piece.fail(key, "a value goes beyond its end", state.name)
        except (ValueError, RecursionError) as error:
            piece.fail(key, str(error), state.name)


def _map_entries(piece: Piece, prefix: bytes, state: KeyedState, pairs: MapPairs) -> Iterator[tuple[Any, Any, Any]]:
    start: bytes | None = None  # the bytes of key and namespace, which no others begin with
    owner: Any = None
    window: Any = None
    gathered: list[tuple[Any, Any]] = []
    for data, key, key_end, end in _pairs(piece, prefix):
        try:
            if start is None or not data.startswith(start, key):
                if start is not None:
                    yield owner, window, pairs.whole(gathered)
                owner, window, at = pairs.start(data, key)
                start, gathered = data[key:at], []
            gathered.append(pairs.pair(data, key + len(start), key_end, end))
        except (IndexError, struct.error):
            piece.fail(key, "a value goes beyond its end", state.name)
        except (ValueError, RecursionError) as error:
            piece.fail(key, str(error), state.name)
    yield owner, window, pairs.whole(gathered)

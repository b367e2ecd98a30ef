"""Rows of an exchange whose receiver wants its input sorted by key (BATCH mode).

Such a row holds records of keys with different hashes, in the order of these, and within a key by timestamp. Its
place among all rows is written into it so that whoever moves the rows can sort them by bytes: its sequence number is
the hash of its first key, above all numbers of unsorted rows, and its data begin with the first timestamp, the edge,
the sender, and a running number per (edge, sender, target). Sorted by (sequence number, data), rows are in order of
(hash, timestamp, edge, sender, number): that is the order of the records too, and it does not depend on which attempt
sent them.

A record without a timestamp comes before all others of its key, as in Flink, where it has the smallest one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from penstock.runtime.codec import Encoder, decode
from penstock.runtime.exchange import Row
from penstock.runtime.signals import MAX_WATERMARK, MIN_WATERMARK

SORTED = 1 << 62
"""Sequence numbers of sorted rows are this and more, those of others less."""
NO_TIME = MIN_WATERMARK - 1
"""Stands for no timestamp among timestamps."""

_HASH_BITS = 0xFFFFFFFF
_HEADER = struct.Struct(">QIIQ")
_START = _HEADER.size
_TIMES = 3
"""Kind of the only signal in a row: the timestamps of its records."""

Position = tuple[int, int, int, int, int]
"""(hash, timestamp, edge, sender, number): where records stand among all of their receiver."""

Piece = tuple[Sequence[int], Sequence[int], list[Any], "list[int] | None"]
"""What a row holds: the hash of each key, how many records each has, the records, and their timestamps if any has
one."""


def order(hash_code: int) -> int:
    """The rank of a key's hash code: sorted rows are in this order, which is that of unsigned numbers."""
    return hash_code & _HASH_BITS


def rank(time: int) -> int:
    """The place of a timestamp among 64-bit numbers."""
    return min(max(time, MIN_WATERMARK), MAX_WATERMARK)


def sequence_of(hash_order: int) -> int:
    """The sequence number of a row that begins with this hash."""
    return SORTED | hash_order


def pack(piece: Piece, encoder: Encoder) -> bytes:
    """Bytes of what a row holds, written as a buffer of these records is.

    Raises:
        Exception: whatever pickle raises when a record cannot be pickled at all.
    """
    hashes, counts, values, times = piece
    return encoder.encode(values, list(zip(hashes, counts, strict=True)), [] if times is None else [(0, _TIMES, times)])


def with_header(time: int, edge: int, sender: int, number: int, packed: bytes) -> bytes:
    """The data of a row.

    Args:
        time: of its first record.
        edge, sender, number: of the row.
        packed: what it holds.
    """
    return _HEADER.pack(rank(time) - MIN_WATERMARK, edge, sender, number) + packed


def position(row: Row) -> Position:
    """Where a row stands."""
    time, edge, sender, number = _HEADER.unpack_from(row[5])
    return row[4] & _HASH_BITS, time + MIN_WATERMARK, edge, sender, number


def sort_key(row: Row) -> tuple[int, bytes]:
    """What rows are sorted by, with little of their bytes."""
    return row[4], row[5][:_START]


def unpack(data: bytes, functions: ModuleType | None = None) -> Piece:
    """What a row holds.

    Args:
        data: of the row.
        functions: the native functions, if they shall be used.
    """
    buffer = decode(data[_START:], functions)
    hashes, counts = zip(*buffer.stamps, strict=True)
    return hashes, counts, buffer.values, buffer.signals[0][2] if buffer.signals else None

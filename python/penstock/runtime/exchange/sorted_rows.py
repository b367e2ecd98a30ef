"""Rows of an exchange whose receiver wants its input sorted by key (BATCH mode).

Keys are in the order of their *rank*, a hash. A row holds records of keys with different ranks, in the order of these,
and within a key by timestamp. A record without a timestamp comes before all others of its key, as in Flink. The place
of a row among all is written into it so that whoever moves rows can sort them by bytes: its sequence number is the rank
of its first key, above all numbers of unsorted rows, and its data begin with the first timestamp, the edge, the sender,
and a running number per (edge, sender, target). So the order does not depend on which attempt sent the rows.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from types import ModuleType
from typing import Any
from zlib import crc32

from penstock.runtime.buffers.codec import Encoder, decode
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.keys.key_types import KeyHash

SORTED = 1 << 62  # sequence numbers of sorted rows are this and the rank of their first key, those of others less
NO_TIME = MIN_WATERMARK - 1  # stands for no timestamp among timestamps

_RANK_BITS = 0xFFFFFFFF
_HEADER = struct.Struct(">QIIQ")
_START = _HEADER.size
_NUMBERS = 3  # kind of the only signal in a row: ranks, counts, and timestamps

Position = tuple[int, int, int, int, int]
"""(rank, timestamp, edge, sender, number): where records stand among all of their receiver."""

Piece = tuple[Sequence[int], "Sequence[int] | None", list[Any], "list[int] | None"]
"""The contents of a row: the rank of each key, how many records each has (None: one each), the records, and their
timestamps if any has one."""


def key_ranks(keys: list[Any], key_hash: KeyHash) -> list[int]:
    """Where keys stand among all, from 0 to 2³² - 1: texts by their CRC-32, which is computed in no time, others by
    their Java hash. Equal keys have equal ranks."""
    if set(map(type, keys)) == {str}:
        try:
            return list(map(crc32, map(str.encode, keys)))
        except UnicodeEncodeError:
            return [crc32(key.encode("utf-8", "surrogatepass")) for key in keys]
    return [key_ranks([key], key_hash)[0] if type(key) is str else key_hash.hash(key) & _RANK_BITS for key in keys]


def clamped(time: int) -> int:
    """A timestamp as one of 64 bits."""
    return min(max(time, MIN_WATERMARK), MAX_WATERMARK)


def pack(piece: Piece, encoder: Encoder) -> bytes:
    """Bytes of what a row holds, written as a buffer of these records is. Raises whatever pickle does when a record
    cannot be pickled."""
    ranks, counts, values, times = piece
    numbers = array("I", ranks), None if counts is None else array("I", counts), times
    return encoder.encode(values, [], [(0, _NUMBERS, numbers)])


def with_header(time: int, edge: int, sender: int, number: int, packed: bytes) -> bytes:
    """The data of a row, by the time of its first record."""
    return _HEADER.pack(clamped(time) - MIN_WATERMARK, edge, sender, number) + packed


def position(row: Row) -> Position:
    """Where a row stands."""
    time, edge, sender, number = _HEADER.unpack_from(row.data)
    return row.sequence & _RANK_BITS, time + MIN_WATERMARK, edge, sender, number


def sort_key(row: Row) -> tuple[int, bytes]:
    """The key that rows are sorted by, with little of their bytes."""
    return row.sequence, row.data[:_START]


def unpack(data: bytes, functions: ModuleType | None = None) -> Piece:
    """The contents of a row."""
    buffer = decode(data[_START:], functions)
    ranks, counts, times = buffer.signals[0][2]
    return ranks, counts, buffer.values, times

"""Plain records as they travel with a program: pieces in bytes. Each becomes objects, or columns, when its turn comes,
so that a task never has all of them as objects, and no record is looked for among those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from types import ModuleType
from typing import Any

from penstock.runtime import native
from penstock.runtime.buffers import columns
from penstock.runtime.buffers.codec import ATOMS, decode, encode
from penstock.runtime.native import ColumnarRecords

PIECE = 2_000  # records of a piece


class PackedRecords:
    """Records in pieces of :data:`PIECE`; the last one may have fewer."""

    def __init__(self, pieces: Sequence[bytes], count: int) -> None:
        self._pieces, self._count = pieces, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.batches())

    def batches(self) -> Iterator[Sequence[Any]]:
        """The records, piece by piece."""
        for number, piece in enumerate(self._pieces):
            if piece[0] == columns.TAG:
                yield _Columns(piece, min(PIECE, self._count - number * PIECE))
            else:
                yield decode(piece).values


class _Columns(ColumnarRecords[Any]):
    """A piece that is a buffer of columns."""

    def __init__(self, data: bytes, count: int) -> None:
        self._data, self._count = data, count

    def __len__(self) -> int:
        return self._count

    @cached_property
    def objects(self) -> list[Any]:
        return decode(self._data, native.functions()).values

    def columns(self, functions: ModuleType) -> Any:
        return functions.Batch.of_buffer(self._data)[0]


def packed(records: Sequence[Any], functions: ModuleType | None) -> PackedRecords | None:
    """Records as pieces; None if one is not plain data: then it matters which of them are the same object."""
    pack: Callable[[list[Any]], bytes | None] = _pickled if functions is None else _encoder(functions)
    pieces: list[bytes] = []
    for start in range(0, len(records), PIECE):
        piece = pack(list(records[start : start + PIECE]))
        if piece is None:
            return None
        pieces.append(piece)
    return PackedRecords(pieces, len(records))


def _encoder(functions: ModuleType) -> Callable[[list[Any]], bytes | None]:
    encode_columns = functions.encode_columns
    return lambda records: encode_columns(records, columns.UNKNOWN, b"")


def _pickled(records: list[Any]) -> bytes | None:
    """Texts and numbers, or tuples of them, as a pickle."""
    kinds = set(map(type, records))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(records)))
    return encode(records, []) if kinds <= ATOMS else None

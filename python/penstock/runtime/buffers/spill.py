"""Rows that wait: some bytes in memory, and the rest in a temporary file. What is in a file already stays there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from penstock.runtime.buffers.buffer_files import Place
from penstock.runtime.buffers.row import Row

MEMORY = 64 << 20  # bytes that are kept in memory
Slip = Any  # a ticket for stored bytes: the bytes, (offset, length) in the file, or where else they wait


@dataclass(slots=True)
class Memory:
    """A budget of bytes that stores can share."""

    left: int = MEMORY


class Waiting(NamedTuple):
    """Bytes in a store, which forgets them when they are read."""

    store: Store
    slip: Slip

    def read(self) -> bytes:
        return self.store.take(self.slip)


class Store:
    """Bytes in memory while there is room, else in a temporary file. O(1) calls per piece."""

    def __init__(self, memory: int | Memory = MEMORY) -> None:
        self._memory = Memory(memory) if isinstance(memory, int) else memory
        self._file: IO[bytes] | None = None
        self._end = 0
        self.held = self.spilled = 0

    def put(self, data: bytes | Place | Waiting) -> Slip:
        if not isinstance(data, bytes):  # they wait elsewhere already
            return data
        size = len(data)
        if size <= self._memory.left:
            self._memory.left -= size
            self.held += size
            return data
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="penstock-")  # noqa: SIM115 - lives until close
        self._file.seek(self._end)
        self._file.write(data)
        place = self._end, size
        self._end += size
        self.spilled += size
        return place

    def look(self, slip: Slip) -> bytes:
        """The bytes, which stay."""
        if isinstance(slip, bytes):
            return slip
        if isinstance(slip, Place | Waiting):
            return slip.read()
        offset, size = slip
        assert self._file is not None
        self._file.seek(offset)
        return self._file.read(size)

    def take(self, slip: Slip) -> bytes:
        """The bytes, which the store forgets."""
        data = self.look(slip)
        if isinstance(slip, bytes):
            self._memory.left += len(slip)
            self.held -= len(slip)
        elif not isinstance(slip, Place | Waiting):
            self.spilled -= len(data)
            if not self.spilled:
                self._close_file()
        return data

    def close(self) -> None:
        self._close_file()
        self._memory.left += self.held
        self.held = self.spilled = 0

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._end = None, 0


class Rows:
    """Rows whose bytes are in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: list[Row] = []  # with slips instead of bytes

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, row: Row) -> None:
        self._rows.append(row._replace(data=self._store.put(row.data)))

    def take(
        self, key: Callable[[Row], Any] | None = None, where: Callable[[Row], bool] | None = None
    ) -> Iterator[Row]:
        """Remove and return the rows so far, lazily; rows that are added meanwhile are kept for the next call."""
        rows, self._rows = self._rows, []
        if where is not None:
            self._rows = [row for row in rows if not where(row)]
            rows = list(filter(where, rows))
        if key is not None:
            rows.sort(key=key)
        rows.reverse()
        return self._give(rows)

    def lend(self) -> Iterator[Row]:
        """Remove and return the rows so far, lazily; their bytes stay in the store until whoever takes the row reads
        them, so they are not written to a file twice."""
        rows, self._rows = self._rows, []
        rows.reverse()
        while rows:
            row = rows.pop()
            yield row._replace(data=Waiting(self._store, row.data)) if row.data else row

    def close(self) -> None:
        self._rows = []
        self._store.close()

    def _give(self, rows: list[Row]) -> Iterator[Row]:
        while rows:
            # a local name would keep the row alive until the next one
            yield rows[-1]._replace(data=self._store.take(rows.pop().data))

"""Data that a subtask passes on from step to step until a checkpoint finishes the files it is for.

The next step may run in another object on another machine, so files cannot stay open; and as attempts may run twice,
none may append to another's file. So each step writes its data to a file of its own, a *pack*, and names it in its
report. The step of the checkpoint combines the packs. Small data is part of the report itself. Packs are kept in the
checkpoint directory, as they may hold pickled records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from penstock.connectors.two_phase import prepared_file
from penstock.runtime.buffers.codec import decode_value, dumps
from penstock.runtime.chain.context import OperatorContext
from penstock.storage.storage import naming
from penstock.storage.stores import abandoned, storage_of

_INLINE_BYTES = 16 << 10  # most bytes within a report
_LENGTH = 8  # the length before each block of a pack

Piece = tuple[str, int, bytes]  # A bucket, the counter of its part, and the data


class Packs:
    """The pieces of a subtask since the last checkpoint, in order."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._files: list[tuple[str, int]] = []  # with their sizes; the last one is open if `_out` is
        self._held: list[Piece] = []  # after those of the files
        self._bytes = 0
        self._out: IO[bytes] | None = None

    def __bool__(self) -> bool:
        return bool(self._files or self._held)

    def add(self, piece: Piece) -> None:
        self._held.append(piece)
        self._bytes += len(piece[0]) + len(piece[2])
        if self._bytes > _INLINE_BYTES:
            self._write()

    def _write(self) -> None:
        if self._out is None:
            path, self._out = prepared_file(self._context)
            self._files.append((path, 0))
        path, size = self._files[-1]
        block = dumps(self._held)
        with naming(path):
            self._out.write(len(block).to_bytes(_LENGTH, "big"))
            self._out.write(block)
        self._files[-1] = path, size + _LENGTH + len(block)
        self._held, self._bytes = [], 0

    def end_step(self) -> None:
        if self._out is not None:
            out, self._out = self._out, None
            with naming(self._files[-1][0]):
                out.close()

    def take(self) -> Iterator[Piece]:
        """Remove and return all pieces. The files stay, as another attempt may read them too."""
        self.end_step()
        for path, size in self._files:
            with naming(path), storage_of(path).read(path) as file:
                while file.tell() < size:
                    length = int.from_bytes(file.read(_LENGTH), "big")
                    block = file.read(length)
                    if len(block) < length or not length:
                        raise OSError(
                            f"{path} is shorter than when it was written: records that waited there for a checkpoint "
                            "are lost, and the job returns to the last one. Only the job may write to that directory."
                        )
                    yield from decode_value(block)
        yield from self._held
        self._files, self._held, self._bytes = [], [], 0

    def volatile(self) -> Any:
        """Small picklable data for the next step."""
        return self._files, self._held

    def resume(self, volatile: Any) -> None:
        self._files, self._held = map(list, volatile)
        self._bytes = sum(len(bucket) + len(data) for bucket, _, data in self._held)

    def discard(self) -> None:
        if self._out is not None:
            abandoned(self._out)
            self._out = None

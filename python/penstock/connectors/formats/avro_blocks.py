"""The blocks of an Avro file, or of a piece of it, as they are in the file.

Source of the layout: the specification of Avro 1.11, *Object Container Files*.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

from penstock.runtime.io.files import ends_before
from penstock.runtime.io.splits import Split

MARKER = 16
"""Bytes of the marker behind the header and behind each block."""
_MAGIC = b"Obj\x01"
_LOOKED_AT = 1 << 16


class Damaged(Exception):
    """The file does not have the layout of an Avro file."""


class Blocks:
    """Reads header and blocks of a file that is open at its beginning. ``header`` ends with the marker.

    Raises:
        Damaged: there is no header.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._taken: list[bytes] = []
        self._at = 0
        self._next = b""  # read already, to see whether there is more
        if self._read(len(_MAGIC)) != _MAGIC:
            raise Damaged("it does not begin as an Avro file does")
        while count := self._long():
            if count < 0:
                self._long()
            for _ in range(2 * abs(count)):
                self._read(self._long())
        self._read(MARKER)
        self.header = self._took()
        self._marker = self.header[-MARKER:]

    def _took(self) -> bytes:
        taken, self._taken = self._taken, []
        return b"".join(taken)

    def _read(self, size: int) -> bytes:
        data = self._next + self._file.read(size - len(self._next)) if size >= len(self._next) else b""
        self._next = b""
        if len(data) != size:
            raise Damaged(f"it ends at byte {self._at + len(data)}, in the middle of what it holds")
        self._at += size
        self._taken.append(data)
        return data

    def _long(self) -> int:
        """A number in zigzag coding, of up to ten bytes."""
        value = shift = 0
        while True:
            byte = self._read(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7
            if shift > 63:
                raise Damaged(f"there is no number at byte {self._at}")

    def of(self, split: Split) -> Iterator[tuple[bytes, int]]:
        """The blocks whose marker before them begins in a split, and the position behind each: that of the marker
        before the next.

        Raises:
            Damaged: a block is not whole, or no marker follows it.
            FileFormatError: the file ends before the split, or has no marker where an earlier reader has stopped.
        """
        if split.start is not None and split.start > self._at - MARKER:
            start, (path, _, begins) = split.start, split.id.rpartition(":")
            begun = split.end is None or start != int(begins)  # then a marker was seen there
            found = self._sought(start)
            if (begun and self._at != start + MARKER) or (not found and self._file.seek(0, os.SEEK_END) < start):
                raise ends_before(split.id if split.end is None else path, start)
            if not found:
                return
        while split.end is None or self._at - MARKER < split.end:
            self._next = self._file.read(1)
            if not self._next:
                if split.end is not None and self._at < split.end:
                    raise ends_before(split.id.rpartition(":")[0], split.end)
                return
            yield self._block(), self._at - MARKER

    def _block(self) -> bytes:
        start = self._at
        self._long()
        self._read(self._long())
        if self._read(MARKER) != self._marker:
            raise Damaged(f"the block at byte {start} does not end where it should")
        return self._took()

    def _sought(self, start: int) -> bool:
        """Seek behind the first marker that begins at a position or later; False if there is none."""
        seen, self._at = b"", start
        self._file.seek(start)
        while more := self._file.read(_LOOKED_AT):
            seen += more
            found = seen.find(self._marker)
            if found >= 0:
                self._at += found + MARKER
                self._file.seek(self._at)
                return True
            kept = seen[-MARKER + 1 :]
            self._at += len(seen) - len(kept)
            seen = kept
        return False

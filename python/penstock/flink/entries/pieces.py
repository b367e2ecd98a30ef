"""Pieces of state files: a part of a file, read as far as it is needed, and unpacked where Flink packed it with Snappy.

Flink packs in Snappy's framing format, in frames of at most 64 KiB, and checks no checksums; neither is done here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import IO, Any, NoReturn

from penstock.errors import FlinkSavepointError
from penstock.flink.cursor import plain

Read = Callable[[int], bytes]
"""Reads the next bytes: about as many as asked for, and none only at the end."""

_CHUNK = 1 << 18
_LONGEST_FRAME = 1 << 16
_PACKED, _UNPACKED, _FIRST_SKIPPED = 0x00, 0x01, 0x80


class Piece:
    """The bytes of a piece that are in memory, and a position in them."""

    __slots__ = ("_base", "_exact", "_file", "_read", "at", "data", "what")

    def __init__(self, read: Read, file: str, start: int, what: str, *, packed: bool = False) -> None:
        self.data = b""
        self.at = 0
        self.what = what  # the piece, for messages: an operator and a key group
        self._read = unpacked(read) if packed else read
        self._file = file
        self._base = start
        self._exact = not packed  # whether a position is one in the file

    @property
    def position(self) -> int:
        """The position in the file, if the piece is not packed."""
        return self._base + self.at

    def grow(self, at: int) -> bool:
        """Forget the bytes before a position, which becomes 0, and read more. Each time at least as many are read as
        are left, so that something long is not read from its beginning too often.

        Returns:
            Whether there were any.
        """
        rest = self.data[at:]
        try:
            more = self._read(max(_CHUNK, len(rest)))
        except ValueError as error:
            self.fail(at, str(error))
        self.data, self.at = rest + more, 0
        self._base += at if self._exact else 0
        return bool(more)

    def need(self, count: int) -> None:
        """See that so many bytes are in memory."""
        while len(self.data) - self.at < count:
            if not self.grow(self.at):
                self.fail(self.at, "it ends too early")

    def fail(self, at: int, problem: str, state: str | None = None) -> NoReturn:
        """Refuse the piece at a position.

        Raises:
            FlinkSavepointError: always.
        """
        of = "" if state is None else f", state {plain(state)!r}"
        near = f"at byte {self._base + at:,}" if self._exact else f"in what is packed at byte {self._base:,}"
        raise FlinkSavepointError(
            f"{self.what}{of} cannot be read: {near} of {plain(self._file)}, {problem}. If the file is damaged, copy "
            "it again from where Flink wrote it, or use another savepoint.",
            file=self._file,
            position=self._base + (at if self._exact else 0),
        )


def part(file: IO[bytes], start: int, end: int) -> Read:
    """A function that reads a file from one position to another, whatever else reads it."""

    def read(count: int) -> bytes:
        nonlocal start
        file.seek(start)
        data = file.read(max(0, min(count, end - start)))
        start += len(data)
        return data

    return read


def unpacked(read: Read) -> Read:
    """A function that reads the content of the Snappy frames that another one reads; a ValueError: they are damaged."""
    waiting = b""

    def exactly(count: int) -> bytes:
        nonlocal waiting
        while len(waiting) < count:
            more = read(max(_CHUNK, count))
            if not more:
                raise ValueError("packed data ends within a frame")
            waiting += more
        data, waiting = waiting[:count], waiting[count:]
        return data

    def content(count: int) -> bytes:
        nonlocal waiting
        frames: list[bytes] = []
        size = 0
        while size < count:
            waiting = waiting or read(_CHUNK)
            if not waiting:
                break
            head = exactly(4)
            kind, length = head[0], int.from_bytes(head[1:], "little")
            data = exactly(length)
            if kind in (_PACKED, _UNPACKED):
                frame = _frame(data[4:], packed=kind == _PACKED)  # after the checksum
                frames.append(frame)
                size += len(frame)
            elif kind < _FIRST_SKIPPED:
                raise ValueError(f"a frame of packed data has the kind {kind:#04x}")
        return b"".join(frames)

    return content


def _frame(data: bytes, *, packed: bool) -> bytes:
    if not packed:
        return data
    size = shift = 0
    for byte in data[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > _LONGEST_FRAME:
        raise ValueError(f"a frame of packed data claims to have {size:,} bytes")
    pa: Any = import_module("pyarrow")  # not where nothing is packed
    try:
        return pa.Codec("snappy").decompress(data, decompressed_size=size, asbytes=True)
    except (OSError, ValueError) as error:  # which Arrow's own derive from
        raise ValueError(f"a frame cannot be unpacked: {error}") from error

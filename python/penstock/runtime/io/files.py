"""The lines of text files, whole or from a byte on: every line is read exactly once, however a file is cut.

A line belongs to the piece in which its first byte lies. Lines end at ``\n`` or ``\r\n``, and come without their end.
Bytes that are not text in the charset become U+FFFD, as in Java. Source of the semantics: ``TextInputFormat`` (Flink
1.11), ``TextLineInputFormat`` (Flink 1.20)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from penstock.errors import FileFormatError

BLOCK_BYTES = 1 << 18  # with larger ones lines and columns do not stay in a core's cache
END_OF_FILE = 1 << 62  # behind the end of every file


def cuts_at_bytes(charset: str) -> bool:
    """Whether files in the charset can be cut behind each byte 10."""
    return "\n".encode(charset) == b"\n"


def ends_before(path: str, position: object) -> FileFormatError:
    """The error for a file that ends before the position from which, or up to which, it is to be read."""
    return FileFormatError(
        f"{path} ends before position {position!r}, which it had when it was found: it was cut, or replaced by a "
        "shorter file, before it was read to its end. Bring back what was there."
    )


def blocks(file: IO[bytes], start: int, end: int, path: str = "the file") -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines that begin in a piece of a file, about 256 KiB each, and the position behind each.
    The file is open at its beginning; ``end`` is :data:`END_OF_FILE` for a piece that goes as far as its file.
    FileFormatError if the file ends before the piece, or in it."""
    position = start
    if position > 0:
        if file.seekable():
            file.seek(position - 1)
        else:
            left = position - 1
            while left > 0 and (skipped := file.read(min(left, BLOCK_BYTES))):
                left -= len(skipped)
        line = file.readline()  # to the first line that begins here: just the line end, if one does
        if not line:
            raise ends_before(path, start)
        position += len(line) - 1
    while position < end:
        block = file.read(min(BLOCK_BYTES, end - position))
        if not block:
            if end < END_OF_FILE:
                raise ends_before(path, end)
            return
        if not block.endswith(b"\n"):
            block += file.readline()
        position += len(block)
        yield block, position


def text_lines(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines

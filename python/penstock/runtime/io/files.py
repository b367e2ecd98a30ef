"""The lines of text files, whole or from a byte on: every line is read exactly once, however a file is cut.

A line belongs to the piece in which its first byte lies. Lines end at ``\\n`` or ``\\r\\n``, and come without their
end. Bytes that are no text in the charset become U+FFFD, as in Java.

Source of the semantics: ``TextInputFormat`` (Flink 1.11), ``TextLineInputFormat`` (Flink 1.20).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO

from penstock.errors import ConfigurationError

BLOCK_BYTES = 1 << 20


def check_charset(charset: str) -> str:
    """The charset's Python name.

    Raises:
        ConfigurationError: Python does not know it.
    """
    try:
        "\n".encode(charset)  # some codecs, such as base64, are not for text
        return codecs.lookup(charset).name
    except LookupError:
        raise ConfigurationError(
            f"The charset {charset!r} is unknown. Use a name such as 'UTF-8' or 'ISO-8859-1'.",
            flink_class="java.nio.charset.UnsupportedCharsetException",
        ) from None


def cuts_at_bytes(charset: str) -> bool:
    """Whether files in the charset can be cut behind each byte 10."""
    return "\n".encode(charset) == b"\n"


def blocks(file: IO[bytes], start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines that begin in a piece of a file, about a mebibyte each, and the position behind each.

    Args:
        file: open, at its beginning.
        start: the first byte of the piece.
        end: the byte behind it, or any behind the file.
    """
    position = start
    if position > 0:
        _forward(file, position - 1)
        position += len(file.readline()) - 1  # to the first line that begins here: just the line end, if one does
    while position < end:
        block = file.read(min(BLOCK_BYTES, end - position))
        if not block:
            return
        if not block.endswith(b"\n"):
            block += file.readline()
        position += len(block)
        yield block, position


def _forward(file: IO[bytes], position: int) -> None:
    """Go from the beginning of a file to a position."""
    if file.seekable():
        file.seek(position)
        return
    while position > 0 and (skipped := file.read(min(position, BLOCK_BYTES))):
        position -= len(skipped)


def text_lines(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines

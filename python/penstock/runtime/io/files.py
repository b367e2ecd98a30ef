"""Reading text files in splits: every line is read exactly once, whatever the splits.

A line belongs to the split in which its first byte lies. Lines end at ``\\n`` or ``\\r\\n``, and come without their
end. Bytes that are no text in the charset become U+FFFD, as in Java.

Source of the semantics: ``TextInputFormat`` and ``FileInputFormat`` (Flink 1.11): a folder means its files in order of
name, without those that begin with ``.`` or ``_``; folders inside it are not entered.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from penstock.errors import ConfigurationError, UnsupportedError

SPLIT_BYTES = 32 << 20
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class FileSplit:
    """A piece of a file.

    Attributes:
        path: of the file.
        start: first byte.
        length: number of bytes.
    """

    path: str
    start: int
    length: int


def local_path(path: str) -> Path:
    """The local path behind a path or a ``file:`` URI.

    Raises:
        UnsupportedError: another scheme.
    """
    if path.startswith("file:"):
        host_and_path = path.removeprefix("file:")  # not urlsplit, which would take # and ? out of names
        if host_and_path.startswith("//"):
            host_and_path = "/" + host_and_path[2:].partition("/")[2]
        return Path(unquote(host_and_path))
    scheme, _, rest = path.partition("://")
    if not rest:
        return Path(path)
    raise UnsupportedError(
        f"The path {path!r} has the scheme {scheme!r}; files are read and written on local or mounted file systems "
        "only. Give a path, or a file:// URI."
    )


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


def not_there(path: str) -> ConfigurationError:
    """The error for an input path that stands for nothing."""
    looked_for = str(local_path(path).absolute())
    return ConfigurationError(
        f"The input {path!r} does not exist (looked for {looked_for!r}). Check the path; on a cluster it must be "
        "visible to every machine.",
        flink_class="java.io.FileNotFoundException",
    )


def input_files(path: str) -> list[Path]:
    """The files that a path stands for.

    Raises:
        ConfigurationError: there is nothing.
    """
    root = local_path(path)
    if root.is_dir():
        return sorted((p for p in root.iterdir() if p.is_file() and p.name[0] not in "._"), key=lambda p: p.name)
    if root.exists():
        return [root]
    raise not_there(path)


def file_splits(path: str, charset: str, split_bytes: int = SPLIT_BYTES) -> Iterator[FileSplit]:
    """The splits of a file or folder, in order. An empty file has none.

    Charsets in which ``\\n`` is not the byte 10 (UTF-16, say) cannot be cut at bytes: there a file is one split.
    """
    whole = not cuts_at_bytes(charset)
    for file in input_files(path):
        size = file.stat().st_size
        step = max(size, 1) if whole else split_bytes
        for start in range(0, size, step):
            yield FileSplit(str(file), start, min(step, size - start))


def cuts_at_bytes(charset: str) -> bool:
    """Whether files in the charset can be cut behind each byte 10."""
    return "\n".encode(charset) == b"\n"


def read_lines(split: FileSplit, charset: str) -> Iterator[list[str]]:
    """The lines of a split, about a mebibyte at a time."""
    if not cuts_at_bytes(charset):
        text = Path(split.path).read_bytes().decode(charset, errors="replace")
        yield text_lines(text)
        return
    with open(split.path, "rb") as file:
        for block, _ in blocks(file, split):
            yield text_lines(block.decode(charset, errors="replace"))


def blocks(file: IO[bytes], split: FileSplit) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines that begin in the split, and the position behind each.

    Args:
        file: open, at its beginning.
        split: from which byte to which.
    """
    position, end = split.start, split.start + split.length
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

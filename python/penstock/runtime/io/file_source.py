"""Files as splits of a source: how they are cut, and how they are read, compressed or not (Flink 1.20:
``BlockSplittingRecursiveEnumerator``, ``TextLineInputFormat``, ``StandardDeCompressors``)."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import IO, Any

from penstock.runtime.io.files import BLOCK_BYTES, END_OF_FILE, blocks, cuts_at_bytes, text_lines
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.native import ColumnarRecords
from penstock.storage.storage import Dated
from penstock.storage.stores import storage_of

SPLIT_BYTES = 32 << 20


class _Inflating(io.RawIOBase):
    """The contents of a file in zlib's format."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data and not self._inflate.eof:
            more = self._inflate.unconsumed_tail or self._file.read(BLOCK_BYTES)
            if not more:
                name = getattr(self._file, "name", None) or getattr(self._file, "path", "the file")
                raise EOFError(f"{name} ends in the middle of what it holds")
            data = self._inflate.decompress(more, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _zstandard(file: IO[bytes]) -> IO[bytes]:
    import pyarrow

    return io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd"))


def _bzip2(file: IO[bytes]) -> IO[bytes]:
    import bz2  # as lzma, it is lacking where Python was built without the library

    return bz2.open(file)


def _xz(file: IO[bytes]) -> IO[bytes]:
    import lzma

    return lzma.open(file)


def damages() -> tuple[type[Exception], ...]:
    """The errors of what reads compressed files if one is damaged."""
    lzma = sys.modules.get("lzma")
    return (EOFError, zlib.error, gzip.BadGzipFile, *([] if lzma is None else [lzma.LZMAError]))


OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".deflate": lambda file: io.BufferedReader(_Inflating(file)),
    ".zst": _zstandard,
    ".zstd": _zstandard,
}
"""How files are read that are compressed, by how their names end."""


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The contents of a file on any storage, uncompressed, from its beginning; any position of one that is not
    compressed can be sought. OSError if it cannot be read."""
    with storage_of(path).read(path) as file:
        opener = OPENERS.get(_ending(path))
        with contextlib.nullcontext(file) if opener is None else opener(file) as content:
            yield content


def _ending(path: str) -> str:
    return os.path.splitext(path)[1]


def is_utf8(charset: str) -> bool:
    """Whether texts are in the only charset that native code reads."""
    return codecs.lookup(charset).name == "utf-8"


def why_decoded(charset: str) -> str:
    """Why lines in a charset become objects; "" where they need not."""
    return "" if is_utf8(charset) else f"its charset is {charset}, and native code reads UTF-8"


def path_of(split: Split) -> str:
    """The file that a split is of, or is."""
    return split.id if split.end is None else split.id.rpartition(":")[0]


def pieces_of(file: Dated, charset: str, splittable: bool) -> list[Split]:
    """The splits of a file: itself, or, with ``splittable``, about 32 MiB each of one that is not compressed and
    whose charset lets it be cut at bytes. What has been added to the file since is in none of several pieces."""
    path, size, _ = file
    if not splittable or _ending(path) in OPENERS or not cuts_at_bytes(charset) or size <= SPLIT_BYTES:
        return [Split(path, weight=size)]
    starts = range(0, size, SPLIT_BYTES)
    ends = (min(start + SPLIT_BYTES, size) for start in starts)
    return [Split(f"{path}:{start}", start, end, end - start) for start, end in zip(starts, ends, strict=True)]


def read_text(split: Split, charset: str) -> Iterator[Records[str]]:
    """The lines of a split, some 256 KiB at a time. FileFormatError if the file ends before the split; OSError
    if it cannot be read; one of :func:`damages` if its compression is damaged."""
    if cuts_at_bytes(charset):
        for block, position in read_blocks(split):
            yield Records(Lines(block, charset), position)
        return
    with opened(path_of(split)) as file:
        text = file.read().decode(charset, errors="replace")
        if not split.start:
            yield Records(text_lines(text), len(text))


def read_blocks(split: Split) -> Iterator[tuple[bytes, int]]:
    """The same as bytes, with the position behind them. The charset lets files be cut at bytes."""
    path = path_of(split)
    with opened(path) as file:
        yield from blocks(file, split.start or 0, END_OF_FILE if split.end is None else split.end, path)


class Lines(ColumnarRecords[str]):
    """The lines of a block of a file, as bytes; the block begins and ends with a line."""

    def __init__(self, block: bytes, charset: str) -> None:
        self._block, self._charset = block, charset
        self._count: int | None = None

    def __len__(self) -> int:
        return len(self.objects) if self._count is None else self._count

    @cached_property
    def objects(self) -> list[str]:
        return text_lines(self._block.decode(self._charset, errors="replace"))

    def columns(self, functions: ModuleType) -> Any:
        batch = functions.Batch.of_lines(self._block) if is_utf8(self._charset) else None
        self._count = None if batch is None else len(batch)
        return batch

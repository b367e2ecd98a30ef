"""Files as splits of a source: which files there are, and how they are read, compressed or not.

Sources of the semantics: ``NonSplittingRecursiveEnumerator``, ``DefaultFileFilter``, ``TextLineInputFormat``,
``StandardDeCompressors`` (Flink 1.20).
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from penstock.runtime.io.files import (
    BLOCK_BYTES,
    SPLIT_BYTES,
    FileSplit,
    blocks,
    cuts_at_bytes,
    local_path,
    not_there,
    text_lines,
)
from penstock.runtime.io.splits import Records, Split

_GLOB = frozenset("*?[")


class _Inflating(io.RawIOBase):
    """What a file in zlib's format holds."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - close() closes it
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data and not self._inflate.eof:
            data = self._inflate.decompress(self._inflate.unconsumed_tail or self._more(), len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _more(self) -> bytes:
        more = self._file.read(BLOCK_BYTES)
        if not more:
            raise EOFError(f"{self._file.name} ends in the middle of what it holds")
        return more

    def close(self) -> None:
        self._file.close()
        super().close()


def _inflating(path: Path) -> IO[bytes]:
    return io.BufferedReader(_Inflating(path))


def _zstandard(path: Path) -> IO[bytes]:
    import pyarrow

    return io.BufferedReader(pyarrow.CompressedInputStream(str(path), "zstd"))


OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".deflate": _inflating,
    ".zst": _zstandard,
    ".zstd": _zstandard,
}
"""How files are opened that are compressed, by how their names end."""


def found_files(paths: tuple[str, ...]) -> list[Path]:
    """The files that paths stand for, in order of name within each path: files themselves; of folders all files in them
    and in folders below, without those that begin with ``.`` or ``_``; a path with ``*``, ``?``, ``[…]`` or ``**`` that
    is no file for whatever fits it.

    Raises:
        ConfigurationError: a path stands for nothing.
        UnsupportedError: it is on another file system.
    """
    files: dict[Path, None] = {}
    for path in paths:
        root = local_path(path)
        roots = [root] if root.exists() or not _GLOB.intersection(path) else _fitting(root)
        if not roots or not roots[0].exists():
            raise not_there(path)
        for each in roots:
            files.update(dict.fromkeys(file.absolute() for file in _files_in(each)))
    return list(files)


def _fitting(pattern: Path) -> list[Path]:
    found = sorted(map(Path, glob.glob(str(pattern), recursive=True)))
    return [path for path in found if not _hidden(path.name)]


def _files_in(root: Path) -> Iterator[Path]:
    """Iterative, however deep the folders are."""
    if not root.is_dir():
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _hidden(name))
        yield from (Path(folder, name) for name in sorted(names) if not _hidden(name))


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def file_splits(paths: tuple[str, ...], charset: str, splittable: bool) -> list[Split]:
    """Splits of text files. Each is a file, or, with ``splittable``, about 32 MiB of one that is not compressed and
    whose charset lets it be cut at bytes. Positions are bytes of the text, uncompressed.

    Args:
        paths: files, folders, patterns.
        charset: encoding.
        splittable: whether files may be cut; then parts of a file are read in several subtasks.
    """
    splits: list[Split] = []
    for file in found_files(paths):
        size = file.stat().st_size
        if not splittable or file.suffix in OPENERS or not cuts_at_bytes(charset) or size <= SPLIT_BYTES:
            splits.append(Split(str(file), weight=size))
            continue
        starts = range(0, size, SPLIT_BYTES)
        ends = (min(start + SPLIT_BYTES, size) for start in starts)
        splits += [Split(f"{file}:{start}", start, end, end - start) for start, end in zip(starts, ends, strict=True)]
    return splits


def read_text(split: Split, charset: str) -> Iterator[Records[str]]:
    """The lines of a split, about a mebibyte at a time.

    Args:
        split: one of :func:`file_splits`, or what is left of one.
        charset: encoding.

    Raises:
        OSError: the file cannot be read; EOFError, zlib.error, lzma.LZMAError: its compression is damaged.
    """
    path = split.id if split.end is None else split.id.rpartition(":")[0]
    start = split.start or 0
    if not cuts_at_bytes(charset):
        with _opened(path) as file:
            text = file.read().decode(charset, errors="replace")
        if not start:
            yield Records(text_lines(text), len(text))
        return
    with _opened(path) as file:
        end = split.end if split.end is not None else _END
        for block, position in blocks(file, FileSplit(path, start, end - start)):
            yield Records(text_lines(block.decode(charset, errors="replace")), position)


_END = 1 << 62
"""Behind the end of every file."""


def _opened(path: str) -> IO[bytes]:
    file = Path(path)
    return OPENERS[file.suffix](file) if file.suffix in OPENERS else open(file, "rb")

"""The place of a Flink savepoint: its ``_metadata``, and the files beside it. Paths, ``file:`` URIs, URLs of stores.

A savepoint may come from a stranger, and name any file. Files are looked up inside its own folders first, by the end of
their paths, as it may have been moved. Elsewhere only regular files are read, and beyond their beginning only those
that have the header of a state file there.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from penstock.errors import FlinkSavepointError
from penstock.flink.handles import StreamHandle
from penstock.storage.storage import is_local, join, local_path, located
from penstock.storage.stores import storage_of

NAME = "_metadata"
_MISSING = "java.io.FileNotFoundException"
_HEADER_BYTES = 1 << 20  # bytes to read of a state file; headers are shorter


@dataclass(frozen=True)
class Place:
    """The place of a savepoint."""

    folder: str
    metadata: str

    @property
    def path(self) -> str:
        """The folder without the scheme of local files."""
        return self.folder.removeprefix("file:")

    def read(self) -> bytes:
        """The bytes of the metadata."""
        try:
            with storage_of(self.metadata).read(self.metadata) as file:
                return file.read()
        except OSError as error:
            raise FlinkSavepointError(
                f"{self.metadata} cannot be read: {error}.", flink_class="java.io.IOException", file=self.metadata
            ) from error

    def first_bytes(self, handle: StreamHandle) -> bytes | None:
        """The beginning of the file of a handle; None if it is missing."""
        if handle.data is not None:
            return handle.data
        for path in self._paths(handle):
            data = _beginning(path, handle.start or 0, handle.size)
            if data is not None:
                return data
        return None

    @contextmanager
    def opened(self, handle: StreamHandle, *, inside: bool = False) -> Generator[IO[bytes] | None]:
        """The file of a handle, or its bytes as a file; None if it is missing. It begins at ``handle.start``.
        ``inside``: only in the savepoint's own folders."""
        if handle.data is not None:
            yield io.BytesIO(handle.data)
            return
        for path in self._paths(handle, inside):
            if _beginning(path, handle.start or 0, min(handle.size, 1)) is not None:
                with storage_of(located(path)).read(located(path)) as file:
                    yield file
                return
        yield None

    def _paths(self, handle: StreamHandle, inside: bool = False) -> Iterator[str]:
        if handle.file is not None:
            if not handle.file.startswith("/") and ".." not in handle.file.split("/"):
                yield join(self.path, handle.file)
            return
        path = handle.path or ""
        parts = [part for part in path.removeprefix("file:").split("/") if part][-8:]
        above = self.path.rpartition("/")[0]
        if ".." not in parts:
            for first in range(len(parts)):
                yield join(self.path, *parts[first:])
                if above:
                    yield join(above, *parts[first:])
        if path and not inside:
            yield path


def find(place: str) -> Place:
    """Find a savepoint as Flink does: a folder with a file ``_metadata``, or that file itself, under any name."""
    path = located(place)
    metadata = join(path, NAME)
    if is_local(path):
        shown = f"file:{path}"
        if os.path.exists(path) and not os.path.isdir(path):
            return Place(shown.rpartition("/")[0] or "file:/", path)
        exists, complete = os.path.exists(path), os.path.isfile(metadata)
    else:
        shown = path
        if path.rpartition("/")[2].startswith(NAME):
            return Place(path.rpartition("/")[0], path)
        names = [entry.path for entry in storage_of(path).list(path)]
        exists, complete = bool(names), metadata in names
    if not exists:
        raise FlinkSavepointError(
            f"There is no savepoint at {shown}: neither a file nor a folder is there. Give the folder that has "
            "_metadata.",
            flink_class=_MISSING,
            flink_message=f"Cannot find checkpoint or savepoint file/directory '{shown}' on file system "
            f"'{shown.partition(':')[0]}'.",
        )
    if not complete:
        raise FlinkSavepointError(
            f"There is no savepoint at {shown}: the folder has no file _metadata. Give the folder that has it; of a "
            "checkpoint that is the one named chk- and a number.",
            flink_class=_MISSING,
            flink_message=f"Cannot find meta data file '_metadata' in directory '{shown}'. Please try to load the "
            "checkpoint/savepoint directly from the metadata file instead of the directory.",
        )
    return Place(shown, metadata)


def newest(place: str) -> str:
    """The newest checkpoint in a job's folder of checkpoints; the place itself if it is something else."""
    if not is_local(place) or (local_path(place) / NAME).exists():
        return place
    names = (path.parent.name.removeprefix("chk-") for path in local_path(place).glob(f"chk-*/{NAME}"))
    newest_number = max((int(name) for name in names if name.isdigit()), default=None)
    return place if newest_number is None else join(located(place), f"chk-{newest_number}")


def is_flinks(place: str) -> bool:
    """Whether a place has a Flink savepoint: a folder with ``_metadata``, or such a file."""
    if is_local(place):
        path = local_path(place)
        return path.is_file() or (local_path(newest(place)) / NAME).is_file()
    if place.rstrip("/").rpartition("/")[2].startswith(NAME):
        return True
    if place.rstrip("/").rpartition("@")[2].isdigit():
        return False
    path = located(place)
    return any(entry.path == join(path, NAME) for entry in storage_of(path).list(path))


def _beginning(path: str, start: int, size: int) -> bytes | None:
    """The first bytes of a part of a file; None if it is not a regular file."""
    wanted = min(max(size, 0), _HEADER_BYTES)
    try:
        place = located(path)
        if is_local(place) and not stat.S_ISREG(os.stat(place).st_mode):
            return None
        with storage_of(place).read(place) as file:
            file.seek(max(start, 0), io.SEEK_SET)
            return file.read(wanted)
    except Exception:  # a stranger's path may raise anything: treat it as missing
        return None

"""Files on local or mounted file systems, and on *stores* (S3, Google Cloud Storage, Azure, HDFS), by few calls.

A path is that of a local file, a ``file:`` URI, or the URL of a store, such as ``s3://bucket/folder/file``. Stores are
fsspec's, which is imported when a path needs it (:mod:`penstock.storage.stores`); they have folders in name only.

What a :class:`Storage` promises, whatever it is: a file that :meth:`~Storage.writing` makes has its name when it is
closed or later, or never, and of several that :meth:`~Storage.create` one name exactly one does.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote

from penstock.errors import ConfigurationError, UnsupportedError

SCHEMES = {
    "s3": ("s3", "s3"),
    "s3a": ("s3", "s3"),
    "s3n": ("s3", "s3"),
    "gs": ("gs", "gcs"),
    "gcs": ("gs", "gcs"),
    "abfs": ("abfs", "azure"),
    "abfss": ("abfs", "azure"),
    "az": ("abfs", "azure"),
    "hdfs": ("hdfs", "hdfs"),
    "memory": ("memory", "s3"),
}
"""The schemes of stores: the name that we know each by, and the extra of the package that brings what it needs."""

_DRIVE = re.compile(r"/[A-Za-z]:")
"""How a ``file:`` URI of Windows begins behind its host, as that of ``C:\\data`` does."""
_URL = re.compile(r"[A-Za-z][-+.A-Za-z0-9]*://")


class Entry(NamedTuple):
    """A file in a listing."""

    path: str  # as :func:`located` writes it
    size: int


class Dated(NamedTuple):
    """A file in a listing, with its time."""

    path: str  # as :func:`located` writes it
    size: int
    modified: int = 0  # in nanoseconds since the epoch by the clock of its storage; 0 if that does not say


def is_local(path: str) -> bool:
    """Whether a path is that of a file of this machine, mounted ones included: no URL, or one with ``file:``."""
    return path.startswith("file:") or _URL.match(path) is None


def local_path(path: str) -> Path:
    """The local path behind a path or a ``file:`` URI."""
    if path.startswith("file:"):
        host_and_path = path.removeprefix("file:")  # not urlsplit, which would take # and ? out of names
        if host_and_path.startswith("//"):
            host_and_path = "/" + host_and_path[2:].partition("/")[2]
        if os.name == "nt" and _DRIVE.match(host_and_path):
            host_and_path = host_and_path[1:]
        return Path(unquote(host_and_path))
    if is_local(path):
        return Path(path)
    raise UnsupportedError(f"The path {path!r} must be a local one here. Give a path, or a file:// URI.")


def located(path: str) -> str:
    """A path as everybody writes it: absolute, or the URL of a store by its first name, without a slash at its end."""
    if is_local(path):
        return str(local_path(path).absolute())
    scheme, _, rest = path.partition("://")
    if scheme.lower() not in SCHEMES:
        raise UnsupportedError(
            f"The path {path!r} has the scheme {scheme!r}; files are read and written on local or mounted file "
            f"systems and on {', '.join(f'{name}:' for name in SCHEMES)}. Give a path, or such a URL."
        )
    if not rest.strip("/"):
        raise ConfigurationError(f"The path {path!r} names nothing on its store. Give a bucket and a folder in it.")
    return f"{SCHEMES[scheme.lower()][0]}://{rest.rstrip('/')}"


def real_place(path: str) -> str:
    """Where an output goes: as :func:`located` says, and local links are followed."""
    return os.path.realpath(local_path(path)) if is_local(path) else located(path)


def parents(place: str) -> Iterator[str]:
    """The folders above a place, from below. A bucket is the last one."""
    if is_local(place):
        yield from map(str, Path(place).parents)
        return
    scheme, _, rest = place.partition("://")
    while "/" in rest.strip("/"):
        rest = rest.rpartition("/")[0]
        yield f"{scheme}://{rest}"


def join(folder: str, *names: str) -> str:
    """The path of a name in a folder, or in one below it."""
    return "/".join([folder.rstrip("/"), *(name for name in names if name not in ("", "."))])


class Storage(ABC):
    """The calls by which files are read and written. Paths are those of :func:`located`."""

    @abstractmethod
    def read(self, path: str) -> IO[bytes]:
        """A file, open at its beginning; it can be read from any position."""

    @abstractmethod
    def writing(self, path: str) -> IO[bytes]:
        """A new file of a name that nobody else writes; folders above are made. To be closed, or :func:`abandoned`."""

    @abstractmethod
    def create(self, path: str, data: bytes) -> bool:
        """Write a small file, whole and durably, unless there is one. Returns whether this call wrote it."""

    @abstractmethod
    def list(self, folder: str, *, deep: bool = False) -> list[Entry]:
        """The files in a folder by path, or those below it; a folder is an entry of the size -1."""

    @abstractmethod
    def delete(self, paths: Iterable[str]) -> None:
        """Remove files. Those that are not there are fine."""

    def put(self, path: str, data: bytes) -> None:
        """Write a small file, of a name that nobody else writes."""
        with naming(path), self.writing(path) as file:
            file.write(data)

    def get(self, path: str) -> bytes:
        with self.read(path) as file:
            return file.read()

    def part(self, path: str, start: int, length: int) -> bytes:
        """Some bytes of a file: at least one, and all of them are there. A store sends no others."""
        with self.read(path) as file:
            file.seek(start)
            return file.read(length)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty and nobody uses it, where there are folders."""

    def settle(self, paths: Iterable[str]) -> None:
        """See to it that files which were closed outlive a power cut, by their names too. Those of stores do anyway."""

    def size(self, path: str) -> int | None:
        """Bytes of a file; None if there is none, as for a folder."""
        return next((entry.size for entry in self.list(path) if entry.path == path), None)


class LocalStorage(Storage):
    """Files of this machine, and what is mounted. If ``durable``, what is created outlives a power cut."""

    def __init__(self, *, durable: bool = True) -> None:
        self._durable = durable

    def read(self, path: str) -> IO[bytes]:
        return open(path, "rb")

    def writing(self, path: str) -> IO[bytes]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return open(path, "wb")

    def create(self, path: str, data: bytes) -> bool:
        temporary = Path(f"{path}.{uuid.uuid4().hex}.tmp")
        try:
            with naming(path), open(temporary, "wb") as file:
                file.write(data)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
            created = _name_once(temporary, Path(path))
        finally:
            temporary.unlink(missing_ok=True)
        if self._durable:
            sync_folder(os.path.dirname(path))
        return created

    def list(self, folder: str, *, deep: bool = False) -> list[Entry]:
        if os.path.isfile(folder):
            return [Entry(folder, os.path.getsize(folder))]
        entries: list[Entry] = []
        for root, folders, names in os.walk(folder):
            for path in (os.path.join(root, name) for name in names):
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    entries.append(Entry(path, os.path.getsize(path)))
            if not deep:
                entries += (Entry(os.path.join(root, name), -1) for name in folders)
                break
        return sorted(entries)

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            Path(path).unlink(missing_ok=True)

    def remove_folder(self, path: str) -> None:
        with contextlib.suppress(OSError):  # something is in it, or somebody else has removed it
            os.rmdir(path)

    def settle(self, paths: Iterable[str]) -> None:
        """Several at a time, as the disk can take them together."""
        files = list(paths) if self._durable else []
        with ThreadPoolExecutor(_TOGETHER) as threads:
            list((threads.map if len(files) >= _TOGETHER else map)(_sync, files))
        for folder in {os.path.dirname(path) for path in files}:
            sync_folder(folder)


_TOGETHER = 4  # files that are written out at a time


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Within the block, an error of the system that names no file, as that of a full disk does not, names this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = path
        raise


def _name_once(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # no hard links here; the lock of the job makes sure that nobody else is between these two lines
        if path.exists():
            return False
        os.replace(temporary, path)
    return True


def sync_folder(folder: str | Path) -> None:
    """Make names in a local folder durable, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some mounted file systems have no such call for folders
        pass
    finally:
        os.close(descriptor)

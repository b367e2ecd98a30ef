"""Stores by fsspec: S3, Google Cloud Storage, Azure, HDFS, and memory for tests; which storage a path is on.

A file has its name when it is closed, or grows under it (HDFS, memory). So no output is written under its last name:
:meth:`Store.give` has the store copy it there, as most stores rename nothing.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from penstock.common.extras import lacking
from penstock.errors import ConfigurationError
from penstock.storage.storage import SCHEMES, Dated, Entry, LocalStorage, Storage, is_local, join

PART_BYTES = 16 << 20  # what waits in memory of a file that is written, until it is sent: S3 takes ten thousand parts
_READ_AHEAD = 4 << 20
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")

_LOCAL = LocalStorage()


class _Options(threading.local):
    """Those of the job that this thread works for. A thread without its own has those that were set last."""

    last: Mapping[str, Mapping[str, Any]] = {}
    of_thread: Mapping[str, Mapping[str, Any]] | None = None


_OPTIONS = _Options()


def configure(options: Mapping[str, Mapping[str, Any]]) -> None:
    """From now on this thread works for a job with these options."""
    _OPTIONS.of_thread = _Options.last = options


def options_now() -> Mapping[str, Mapping[str, Any]]:
    """The options that this thread works with, to be handed on to others."""
    return _OPTIONS.last if _OPTIONS.of_thread is None else _OPTIONS.of_thread


@dataclass
class configured:
    """A context manager: :func:`configure` within its block."""

    options: Mapping[str, Mapping[str, Any]]

    def __enter__(self) -> None:
        self._before = _OPTIONS.of_thread, _Options.last
        configure(self.options)

    def __exit__(self, *_: object) -> None:
        _OPTIONS.of_thread, _Options.last = self._before


def storage_of(path: str) -> Storage:
    """The storage that a path is on."""
    return _LOCAL if is_local(path) else Store(path)


class Store(Storage):
    """A store, as fsspec has it."""

    def __init__(self, path: str) -> None:
        scheme = path.partition("://")[0]
        options: dict[str, Any] = {}
        for name, values in options_now().items():
            if SCHEMES[name][0] == scheme:
                options.update(values)
        try:
            self._fs, place = _file_system(scheme, path, options)
        except ImportError as error:
            raise lacking(f"{path!r} cannot be reached", SCHEMES[scheme][1], error) from error
        except Exception as error:
            raise _unreachable(path, error) from error
        self._scheme = scheme
        self.has_folders = scheme in ("hdfs", "memory")
        self._root, self._cut = _root(path, place.strip("/"))

    def _place(self, path: str) -> str:
        return self._fs._strip_protocol(path)

    def _path(self, place: str) -> str:
        return self._root + place.strip("/")[self._cut :]

    def read(self, path: str) -> IO[bytes]:
        """What is read in order is fetched some MiB at a time."""
        with _reaching(path):
            return self._fs.open(self._place(path), "rb", block_size=_READ_AHEAD, cache_type="readahead")

    def part(self, path: str, start: int, length: int) -> bytes:
        """One request."""
        with _reaching(path):
            return self._fs.cat_file(self._place(path), start=start, end=start + length)

    def writing(self, path: str) -> IO[bytes]:
        with _reaching(path):
            place = self._place(path)
            if self.has_folders:
                self._fs.makedirs(self._fs._parent(place), exist_ok=True)
            return self._fs.open(place, "wb", block_size=PART_BYTES)

    def create(self, path: str, data: bytes) -> bool:
        """By a conditional request, or on HDFS a rename, which fails if there is such a file."""
        with _reaching(path):
            try:
                if self._scheme == "hdfs":
                    return self._create_by_rename(path, data)
                if self._scheme == "memory":
                    self._fs.makedirs(self._fs._parent(self._place(path)), exist_ok=True)
                self._fs.pipe_file(self._place(path), data, mode="create")
            except FileExistsError:
                return False
        return True

    def _create_by_rename(self, path: str, data: bytes) -> bool:
        temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        self.put(temporary, data)
        try:
            self._fs.mv(self._place(temporary), self._place(path))
        except FileExistsError:
            return False
        except FileNotFoundError:  # the answer to a first rename was lost, and it was asked for again
            if self.size(path) is None or self.get(path) != data:
                raise
        finally:
            self.delete([temporary])
        return True

    def list(self, folder: str, *, deep: bool = False) -> list[Entry]:
        """A request per thousand files."""
        return [Entry(path, size) for path, size, _ in self.dated(folder, deep=deep)]

    def dated(self, folder: str, *, deep: bool = False) -> list[Dated]:
        with _reaching(folder):
            self._fs.invalidate_cache()
            place = self._place(folder)
            try:
                infos = self._fs.find(place, detail=True).values() if deep else self._fs.ls(place, detail=True)
            except FileNotFoundError:
                return []
        sizes = [(info, int(info["size"] or 0) if info["type"] == "file" else -1) for info in infos]
        entries = (Dated(self._path(info["name"]), size, _modified(info)) for info, size in sizes)
        return sorted(entry for entry in entries if entry.path != folder or entry.size >= 0)

    def fitting(self, pattern: str) -> list[str]:
        """The files and folders that fit a pattern with ``*``, ``?``, ``[…]`` or ``**``, in order."""
        with _reaching(pattern):
            self._fs.invalidate_cache()
            return sorted(self._path(place) for place in self._fs.glob(self._place(pattern)))

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            with _reaching(path), contextlib.suppress(FileNotFoundError):
                self._fs.rm_file(self._place(path))

    def size(self, path: str) -> int | None:
        file = self.file(path)
        return None if file is None else file.size

    def file(self, path: str) -> Dated | None:
        """A file with its size and time; None if there is none, as for a folder."""
        with _reaching(path):
            self._fs.invalidate_cache()
            try:
                info = self._fs.info(self._place(path))
            except FileNotFoundError:
                return None
        return Dated(path, int(info["size"]), _modified(info)) if info["type"] == "file" else None

    def give(self, files: Sequence[tuple[str, str]]) -> None:
        """Give files their last names: copied by the store itself, renamed on HDFS. What is there is replaced."""
        if self._scheme != "hdfs":
            self._copy(files)
            return
        with _reaching(files[0][1]):
            for old, new in (map(self._place, pair) for pair in files):
                self._fs.makedirs(self._fs._parent(new), exist_ok=True)
                self._fs.mv(old, new, overwrite=True)

    def _copy(self, files: Sequence[tuple[str, str]]) -> None:
        old, new = ([self._place(pair[i]) for pair in files] for i in (0, 1))
        with _reaching(files[0][1]):
            if self._scheme != "memory":
                self._fs.copy(old, new)
                if self._scheme == "abfs":
                    _wait_for_azure(self._fs, new)
                return
            for source, target in zip(old, new, strict=True):
                self._fs.makedirs(self._fs._parent(target), exist_ok=True)
                self._fs.cp_file(source, target)

    def copied(self, files: Sequence[tuple[str, str]]) -> bool:
        """Copy files within the store, and replace what is there. Returns whether it did: HDFS copies nothing."""
        scheme = files[0][0].partition("://")[0]
        roots = {path.split("/")[2] for path in files[0]}  # of Azure, container and account
        if scheme != self._scheme or scheme == "hdfs" or (scheme == "abfs" and len(roots) > 1):
            return False
        self._copy(files)
        return True

    def remove_folder(self, path: str) -> None:
        if self.has_folders and not self.list(path):  # memory would remove all that is in it
            with _reaching(path), contextlib.suppress(FileNotFoundError):
                self._fs.rmdir(self._place(path))

    def modified(self, path: str) -> datetime:
        with _reaching(path):
            self._fs.invalidate_cache()
            return self._fs.modified(self._place(path))

    def now(self, folder: str) -> datetime:
        """The store's own clock, by a file that is written and removed."""
        probe = join(folder, f"clock-{uuid.uuid4().hex}")
        self.put(probe, b"")
        try:
            return self.modified(probe)
        finally:
            self.delete([probe])


def _modified(info: Mapping[str, Any]) -> int:
    """When a file was written, in nanoseconds, as each of fsspec's stores calls it; 0 if none of them."""
    moment = next((info[key] for key in _TIMES if info.get(key) is not None), 0)
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return int((moment.timestamp() if isinstance(moment, datetime) else moment) * 1e9)


def _file_system(scheme: str, path: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system that fsspec has for a scheme, and the path as it writes it."""
    if scheme == "hdfs":
        from penstock.storage.hdfs import Hdfs  # its library is an extra's

        return Hdfs(f"hdfs://{path[len('hdfs://') :].partition('/')[0]}", **options), Hdfs._strip_protocol(path)
    from fsspec.core import url_to_fs

    return url_to_fs(path, **options)


def _root(path: str, place: str) -> tuple[str, int]:
    """The front of a path that fsspec leaves out, such as scheme and host, and how much of a place is in there, as the
    container of ``abfs://container@account/folder``."""
    end = place
    while end and not path.endswith(f"/{end}"):
        end = end.partition("/")[2]
    return (path[: len(path) - len(end)], len(place) - len(end)) if end else (f"{path}/", len(place) + 1)


def _wait_for_azure(fs: Any, places: Iterable[str]) -> None:
    """Azure has only begun to copy when it answers, and would stop if what is copied were removed."""
    from fsspec.asyn import sync

    async def status(place: str) -> str:
        container, blob, _ = fs.split_path(place)
        async with fs.service_client.get_blob_client(container=container, blob=blob) as client:
            return (await client.get_blob_properties()).copy.status

    for place in places:
        while (state := sync(fs.loop, status, place)) == "pending":
            time.sleep(0.05)
        if state != "success":
            raise OSError(f"{place!r} was not copied to: {state}")


def abandoned(file: IO[bytes]) -> None:
    """Give up a file that is being written: it is not to get its name."""
    with contextlib.suppress(Exception):
        file.discard()  # type: ignore[attr-defined]
        file.closed = True  # type: ignore[misc]
    with contextlib.suppress(Exception):
        file.close()


@contextlib.contextmanager
def _reaching(path: str) -> Iterator[None]:
    """Errors of stores' libraries in the user's terms; missing and existing files stay what they are."""
    try:
        yield
    except (FileNotFoundError, FileExistsError, ConfigurationError):
        raise
    except Exception as error:
        raise _unreachable(path, error) from error


def _unreachable(path: str, error: Exception) -> ConfigurationError:
    """In the user's terms, without the stack of HDFS's NameNode."""
    text = re.split(r"(?:\\n|\n)(?:\\t|\t)at ", f"{type(error).__name__}: {error}", maxsplit=1)[0]
    login = "variables such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL, on executors too, or penstock.storage.options"
    if path.startswith("hdfs:"):
        login = "HADOOP_CONF_DIR, with core-site.xml and hdfs-site.xml, and HADOOP_USER_NAME, or a ticket of Kerberos"
    return ConfigurationError(
        f"{path!r} cannot be reached: {text}. Check the name, and the login to the store: {login}."
    )

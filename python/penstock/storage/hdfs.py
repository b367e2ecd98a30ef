"""HDFS for fsspec, by hdfs-native: a client in Rust that needs neither Java nor Hadoop, on the driver and in tasks.

A rename is one decision of its NameNode: it fails if there is such a name, or replaces what has it; of several who
rename to one name exactly one succeeds.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from fsspec import AbstractFileSystem
from hdfs_native import Client, WriteOptions

from penstock.errors import ConfigurationError

_ATTEMPTS = "dfs.client.failover.max.attempts"
_ANSWER_SECONDS = 20
_BUFFER = 1 << 20  # bytes of small writes that go to the client in one call


class Hdfs(AbstractFileSystem):
    """The files of one HDFS. Not the class that hdfs-native has: that one takes names apart as URLs, so that none may
    have ``#``, ``?`` or ``;``, and cannot read ahead.

    Args:
        url: with its host or name service, as ``hdfs://host:8020``; ``hdfs://`` is that of ``fs.defaultFS``.
        options: keys of Hadoop's configuration, before those of ``core-site.xml`` and ``hdfs-site.xml`` in
            ``$HADOOP_CONF_DIR`` or ``$HADOOP_HOME/etc/hadoop``; also ``kerberos_principal``, ``kerberos_keytab`` and
            ``kerberos_cache``.
    """

    protocol = "hdfs"
    root_marker = "/"

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self._login = url, tuple(sorted((key, str(value)) for key, value in options.items()))

    @property
    def _client(self) -> Client:
        return _CLIENTS.get(self._login) or _CLIENTS.setdefault(self._login, _new_client(*self._login))

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        if path.startswith("hdfs://"):
            path = "/" + path[len("hdfs://") :].partition("/")[2]
        return path.rstrip("/") or "/"

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return _info(self._client.get_file_info(self._strip_protocol(path)))

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        statuses = self._client.list_status(self._strip_protocol(path))
        return [_info(status) if detail else status.path for status in statuses]

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self.info(path)["mtime"])

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:
        self._client.mkdirs(self._strip_protocol(path), create_parent=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """A folder that exists is always fine."""
        self.mkdir(path)

    def mv(self, path1: str, path2: str, overwrite: bool = False, **_: Any) -> None:
        """Give a file another name, or raise FileExistsError if there is one, unless it is to be replaced."""
        self._client.rename(self._strip_protocol(path1), self._strip_protocol(path2), overwrite)

    def rm_file(self, path: str) -> None:
        self._client.delete(self._strip_protocol(path))

    def rmdir(self, path: str) -> None:
        """Remove a folder if it is empty."""
        try:
            self.rm_file(path)
        except RuntimeError as error:
            if "PathIsNotEmptyDirectoryException" not in str(error):
                raise

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        """Of a part nothing beside it is read."""
        file = self._client.read(self._strip_protocol(path))
        first = start or 0
        return file.read_range(first, (len(file) if end is None else end) - first)

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **_: Any) -> Any:
        """``block_size`` is how much is read ahead; the blocks of HDFS are as long as the cluster has them."""
        if mode == "rb":
            return io.BufferedReader(_Reading(self._client.read(path)), block_size or _BUFFER)
        return _Writing(self._client, path)


_CLIENTS: dict[tuple[str, tuple[tuple[str, str], ...]], Client] = {}
"""One for all threads of this process, as each has threads of its own."""


def _new_client(url: str, options: tuple[tuple[str, str], ...]) -> Client:
    login = {key: value for key, value in options if key.startswith("kerberos_")}
    config = {key: value for key, value in options if key not in login}
    address = None if url == "hdfs://" else url
    _check_answer(url, lambda: Client(address, {_ATTEMPTS: "3", **config}, **login).get_file_info("/"))
    return Client(address, config, **login)


def _check_answer(url: str, ask: Callable[[], object]) -> None:
    """A ConfigurationError if the NameNode does not answer in some seconds. A client tries again for three minutes, as
    it should where another NameNode is about to take over, but not where a name is wrong."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            ask()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)  # where nobody refuses a connection, it takes minutes
    thread.start()
    thread.join(_ANSWER_SECONDS)
    error = TimeoutError(f"no answer in {_ANSWER_SECONDS} seconds") if thread.is_alive() else next(iter(errors), None)
    if isinstance(error, OSError) and not isinstance(error, (PermissionError, FileNotFoundError)):
        raise ConfigurationError(
            f"The NameNode of {url!r} cannot be reached: {error}. Give its host and port, or its name service, as "
            "fs.defaultFS in core-site.xml has them; HADOOP_CONF_DIR names the folder of that file. If they are "
            "right, see that it runs, and that this machine may connect to it."
        ) from error


def _forget_clients() -> None:
    """A forked process lacks the threads of these clients. To use one, or to free it, would wait for them for ever."""
    for client in _CLIENTS.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))
    _CLIENTS.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_clients)


def _info(status: Any) -> dict[str, Any]:
    return {
        "name": status.path,
        "size": status.length,
        "type": "directory" if status.isdir else "file",
        "mtime": status.modification_time / 1000,
    }


class _Reading(io.RawIOBase):
    """A file that is read, for :class:`io.BufferedReader`."""

    def __init__(self, file: Any) -> None:
        self._file, self._size = file, len(file)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Behind the end, too, where the client's own files panic."""
        position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if position < 0:
            raise ValueError(f"negative seek position {position}")
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        count = min(len(buffer), self._size - self._position)
        if count <= 0:
            return 0
        data = self._file.read_range(self._position, count)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


class _Writing(io.BufferedIOBase):
    """A file that is written; its name is there from the beginning, all its bytes when it is closed."""

    def __init__(self, client: Client, path: str) -> None:
        self._client, self._path = client, path
        self._file = client.create(path, WriteOptions(overwrite=True))
        self._waiting = bytearray()
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        """Small pieces wait: each call of the client takes some microseconds, and bytes are what it takes fastest."""
        view = memoryview(data).cast("B")
        self._position += len(view)
        if len(view) < _BUFFER:
            self._waiting += view
        else:
            self._send()
            self._file.write(bytes(view))
        if len(self._waiting) >= _BUFFER:
            self._send()
        return len(view)

    def _send(self) -> None:
        if self._waiting:
            self._file.write(bytes(self._waiting))
            self._waiting.clear()

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._send()
            self._file.close()

    def discard(self) -> None:
        """Give the file up, and remove it."""
        super().close()
        with contextlib.suppress(Exception):
            self._file.close()
        self._client.delete(self._path, False)

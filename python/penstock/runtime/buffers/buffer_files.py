"""Files of buffers: where all tasks of a job are on one machine, large buffers wait in files of their senders, and rows
carry only their places. The files are in a folder of the job, and go with it."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from typing import IO, NamedTuple

from penstock.storage.storage import naming

LEAST = 8 << 10  # bytes of a buffer from which on a file is cheaper than to carry it


class Place(NamedTuple):
    """Where a buffer is."""

    path: str
    offset: int
    size: int

    def read(self) -> bytes:
        """The bytes of the buffer. OSError if they are not there."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset)
            data = file.read(self.size)
        if len(data) != self.size:
            raise OSError(
                f"{self.path} has {len(data):,} bytes at {self.offset:,}, where a task has written {self.size:,}. Was "
                "the file cut off? It is in the folder spark.local.dir."
            )
        return data


class BufferFile:
    """The file of one attempt at a task, made with its first buffer. A buffer that is put again, for another receiver,
    is written once."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, uuid.uuid4().hex)
        self._file: IO[bytes] | None = None
        self._last: tuple[bytes, Place] | None = None
        self._end = 0

    def put(self, data: bytes) -> Place:
        """Write a buffer; any process can read it from now on."""
        if self._last is not None and self._last[0] is data:
            return self._last[1]
        if self._file is None:
            self._file = open(self._path, "wb")  # noqa: SIM115 - open until close
        with naming(self._path):
            self._file.write(data)
            self._file.flush()
        place = Place(self._path, self._end, len(data))
        self._end += len(data)
        self._last = data, place
        return place

    def close(self) -> None:
        """Nothing more is put."""
        self._last = None
        if self._file is not None:
            self._file.close()


def forget_all(folder: str) -> None:
    """Delete the files in a folder, when all their buffers have been read."""
    with suppress(OSError), os.scandir(folder) as files:
        for file in files:
            with suppress(OSError):
                os.unlink(file.path)

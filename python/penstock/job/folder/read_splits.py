"""The splits of a source that have been read to their end, which can be very many.

They wait in the manifest until there are :data:`LAST` of them; then they become a file, and :data:`MERGED` files of
about one size become one. So each id is written a number of times that grows with the logarithm of all.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.errors import CheckpointDirectoryError
from penstock.storage.storage import Storage, join

LAST = 500  # ids in a manifest before they become a file
MERGED = 8  # files of about one size before they become one


@dataclass(frozen=True)
class EndedFile:
    """A file with ids of splits, never changed."""

    name: str  # in the folder of state files
    count: int  # of its ids
    checksum: str  # SHA-256 of what is in it


@dataclass(frozen=True)
class EndedSplits:
    """Splits that have been read to their end."""

    files: tuple[EndedFile, ...] = ()  # with most of them, in order
    last: tuple[str, ...] = ()  # those that have ended last

    @property
    def count(self) -> int:
        return sum(file.count for file in self.files) + len(self.last)


def with_ended(storage: Storage, folder: str, ended: EndedSplits, more: Iterable[str]) -> EndedSplits:
    """The splits that have ended, and more. Files that were merged are still there: manifests name them."""
    last = (*ended.last, *more)
    if len(last) < LAST:
        return EndedSplits(ended.files, last)
    files, ids = list(ended.files), list(last)
    while len(files) >= MERGED - 1 and max(file.count for file in files[1 - MERGED :]) <= 2 * len(ids):
        merged = files[1 - MERGED :]
        del files[1 - MERGED :]
        ids = [split for file in merged for split in _read(storage, folder, file)] + ids
    data = json.dumps(ids, separators=(",", ":")).encode("ascii")
    name = f"ended-{uuid.uuid4().hex}"
    if not storage.create(join(folder, name), data):  # durable, as a put need not be
        raise FileExistsError(join(folder, name))
    files.append(EndedFile(name, len(ids), hashlib.sha256(data).hexdigest()))
    return EndedSplits(tuple(files))


def read_ended(storage: Storage, folder: str, ended: EndedSplits) -> set[str]:
    """The ids of all splits that have ended. Linear in them."""
    ids = set(ended.last)
    for file in ended.files:
        ids.update(_read(storage, folder, file))
    return ids


def _read(storage: Storage, folder: str, file: EndedFile) -> list[str]:
    path = join(folder, file.name)
    try:
        data = storage.get(path)
    except FileNotFoundError as error:
        raise CheckpointDirectoryError(f"{path!r} is not there; it says {_SAYS}") from error
    if hashlib.sha256(data).hexdigest() != file.checksum:
        raise CheckpointDirectoryError(
            f"{path!r} is damaged: its checksum is not that of the manifest. It says {_SAYS}"
        )
    return json.loads(data)


_SAYS = (
    "which splits of a source have been read to their end. Bring it back from a copy, or begin with a new checkpoint "
    "directory: then the source is read from its beginning."
)

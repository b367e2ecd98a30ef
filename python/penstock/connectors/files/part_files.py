"""Where unfinished parts are kept: on a local file system in their pending files; for an object store, which cannot
append, in local files that are uploaded when they are finished."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile

from penstock.storage.storage import is_local
from penstock.storage.stores import abandoned, storage_of


class PartFiles:
    """Parts on a local or mounted file system."""

    durable = True

    def local(self, pending: str) -> str:
        """The local file of a part."""
        return pending

    def finish(self, pending: str) -> None:
        """Bring a finished part to its pending path."""

    def discard(self, pending: str) -> None:
        """Remove a part if it exists; errors are ignored."""
        with contextlib.suppress(OSError):
            os.unlink(pending)

    def close(self) -> None:
        """Remove all local files."""


class _UploadedPartFiles(PartFiles):
    """Parts for an object store, in a temporary folder."""

    durable = False

    def __init__(self) -> None:
        self._folder: str | None = None

    def local(self, pending: str) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="penstock-parts-")
        return os.path.join(self._folder, hashlib.sha1(pending.encode()).hexdigest())

    def finish(self, pending: str) -> None:
        local = self.local(pending)
        out = storage_of(pending).writing(pending)
        try:
            with open(local, "rb") as part:
                shutil.copyfileobj(part, out, 1 << 20)
        except BaseException:
            abandoned(out)
            raise
        out.close()
        os.unlink(local)

    def discard(self, pending: str) -> None:
        with contextlib.suppress(Exception):
            storage_of(pending).delete([pending])

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def part_files(base: str) -> PartFiles:
    """The part files for a sink's folder."""
    return PartFiles() if is_local(base) else _UploadedPartFiles()

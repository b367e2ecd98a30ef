"""Where parts that are written little by little are until they are whole: pending files themselves on a local file
system; on a store, which takes no additions, files of this machine, sent when they are finished."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile

from penstock.runtime.io.storage import is_local
from penstock.runtime.io.stores import abandoned, storage_of


class PartFiles:
    """Parts on a local or mounted file system.

    Attributes:
        durable: whether what is written here must outlive the machine's power.
    """

    durable = True

    def local(self, pending: str) -> str:
        """The file of this machine to which a part is written.

        Args:
            pending: where the part will wait.
        """
        return pending

    def finish(self, pending: str) -> None:
        """A part is whole: bring it to where it waits.

        Raises:
            OSError: the store refuses.
        """

    def discard(self, pending: str) -> None:
        """Remove a part, as far as it is there; errors do not matter."""
        with contextlib.suppress(OSError):
            os.unlink(pending)

    def close(self) -> None:
        """Leave nothing on this machine."""


class _Sent(PartFiles):
    """Parts for a store, in a temporary folder."""

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
    """For a sink that adds parts to a folder.

    Args:
        base: of the sink, as it travels.
    """
    return PartFiles() if is_local(base) else _Sent()

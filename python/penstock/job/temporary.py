"""Local folders that a run needs while it continues. They go with it; those of a process that was killed go when the
next one is made."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from penstock.job.folder.owners import check_locks, lock

_ALIVE = "alive"
"""A file that is locked as long as the process lives. It is there before the folder has anything else in it."""


class TemporaryFolder:
    """An empty folder, and a lock by which others see that it is needed; dead ones with its prefix go."""

    def __init__(self, prefix: str) -> None:
        check_locks(tempfile.gettempdir())
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):  # left by processes that were killed
            with contextlib.suppress(OSError), open(folder / _ALIVE, "r+b") as alive:
                if os.stat(folder).st_uid == os.getuid() and lock(alive) is None:
                    shutil.rmtree(folder, ignore_errors=True)
        self._whole = Path(tempfile.mkdtemp(prefix=prefix))
        self._alive: IO[bytes] = open(self._whole / f"{_ALIVE}.new", "wb")  # noqa: SIM115 - the lock lasts as long
        lock(self._alive)
        os.rename(self._alive.name, self._whole / _ALIVE)  # nobody sees it unlocked
        self.path = self._whole / "folder"
        self.path.mkdir()

    def remove(self) -> None:
        shutil.rmtree(self._whole, ignore_errors=True)
        self._alive.close()

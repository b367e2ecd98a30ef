"""The ways from one run of a program that is edited to the next."""

from __future__ import annotations

from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from penstock.storage.stores import storage_of

WAYS = ("restart", "savepoint", "job")
"""From what a program resumes: its checkpoint directory, a savepoint of it, or that directory with one of its own."""


class Jobs:
    """The folders of a job, and of those that begin where it is."""

    def __init__(self, root: str) -> None:
        self._root, self._number = root, 0
        self.folder = self._before = f"{root}/job 0"

    def settings(self, way: str) -> dict[str, str]:
        """What to set for a program that goes on from here."""
        old = self._before = self.folder
        if way == "restart":
            return {"execution__checkpointing__dir": old}
        self._number += 1
        place = old
        if way == "savepoint":
            place = f"{self._root}/savepoint {self._number}"
            newest = JobFolder(old).newest(unpickle=False)
            assert newest is not None
            write_savepoint(Files(old, storage_of(old)), newest, place)
        self.folder = f"{self._root}/job {self._number}"
        return {"execution__checkpointing__dir": self.folder, "execution__savepoint__path": place}

    def refused(self, before: str) -> None:
        """The program that :meth:`settings` were for was refused: all is as it was."""
        self.folder = self._before
        assert self.state() == before

    def state(self) -> str:
        newest = JobFolder(self.folder).newest(unpickle=False)
        return repr(newest and (newest.operators, newest.sources))

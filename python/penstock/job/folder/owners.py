"""The owner of a checkpoint directory: one driver at a time, each with an *epoch* higher than that of all before it.

In the folder ``lease``:

- ``owner-EPOCH.json``: a driver has opened the folder; who it is. Created, so two never have one epoch. The owner is
  the one with the highest.
- ``beat-EPOCH``: written again and again while the owner lives.
- ``left-EPOCH``: it has left in good order.
- ``lock``: on local file systems, locked by the owner's process, so that its end is known at once.

All this only keeps drivers apart that behave; the lease of a paused one can run out. That it cannot commit rests
on nothing but epochs and on files that are created once (:mod:`penstock.job.folder.writer`).
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import importlib.util
import json
import os
import re
import socket
import time
import weakref
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from penstock.errors import CheckpointDirectoryError, DirectoryHeldError, FencedError, UnsupportedError
from penstock.storage.storage import Storage, is_local, join
from penstock.storage.stores import Store

BEAT_SECONDS, LEASE_SECONDS = 10.0, 60.0
"""How often an owner says that it lives; how long it may be silent, where no lock tells."""

_OWNER = re.compile(r"owner-(\d+)\.json")
_OWN = re.compile(r"(?:owner|beat|left|ask|answer)-(\d+)(?:-[0-9a-f]{32})?(?:\.json)?(?:\.[0-9a-f]{32}\.tmp)?")
_CONTAINER = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_(\d+)_\d+")  # application, attempt
PUBLISHED = b"left, all published"
"""The mark of a driver that leaves, if no output of the newest checkpoint waits any more."""


def _user() -> str:
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # a container's user may have no name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "a user without a name"


@dataclass(frozen=True)
class Owner:
    """A driver that opens a checkpoint directory."""

    job: str  # name of the job
    host: str = field(default_factory=socket.gethostname)  # where it runs
    pid: int = field(default_factory=os.getpid)  # of its process
    user: str = field(default_factory=_user)  # whose process it is
    since: int = field(default_factory=lambda: time.time_ns() // 1_000_000)  # wall time in milliseconds since 1970
    container: str = field(default_factory=lambda: os.environ.get("CONTAINER_ID", ""))  # of YARN, that it runs in

    def follows(self, other: Owner) -> bool:
        """Whether YARN has started this driver as a later attempt of one application, when the other had ended."""
        mine, before = (_CONTAINER.fullmatch(owner.container) for owner in (self, other))
        return bool(mine and before and mine[1] == before[1] and int(mine[2]) > int(before[2]))

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since / 1000))
        return f"the job {self.job!r} of {self.user} on {self.host}, process {self.pid}, since {since}"


class Owners:
    """The owners of one checkpoint directory."""

    def __init__(self, storage: Storage, place: str) -> None:
        self._storage, self._place = storage, place
        self.folder = join(place, "lease")

    def names(self) -> list[str]:
        return [entry.path.rpartition("/")[2] for entry in self._storage.list(self.folder)]

    def highest(self, names: Iterable[str] | None = None) -> int:
        """The epoch of the owner; 0 if there has been none."""
        matches = map(_OWNER.fullmatch, self.names() if names is None else names)
        return max((int(match[1]) for match in matches if match), default=0)

    def read(self, epoch: int) -> Owner | None:
        """The owner of an epoch; None if its file is gone."""
        try:
            return Owner(**json.loads(self._storage.get(join(self.folder, f"owner-{epoch}.json"))))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise CheckpointDirectoryError(
                f"{join(self.folder, f'owner-{epoch}.json')!r} is not what a job writes: {error!r}. If you know that "
                "no job runs with this directory, remove that file."
            ) from error

    def claim(self, owner: Owner, epoch: int) -> None:
        if not self._storage.create(join(self.folder, f"owner-{epoch}.json"), json.dumps(asdict(owner)).encode()):
            raise self.held(epoch)

    def check(self, epoch: int) -> None:
        highest = self.highest()
        if highest != epoch:
            raise self.fenced(highest)

    def fenced(self, by: int) -> FencedError:
        return FencedError(
            f"The checkpoint directory {self._place!r} was taken over by {self.read(by) or 'another driver'}: this "
            "driver was silent for too long. What it has committed stands. Let the other run, or start this one again."
        )

    def held(self, epoch: int, silent: float | None = None) -> DirectoryHeldError:
        heard, wait, free_in = "", "", None
        if silent is not None:
            free_in = max(LEASE_SECONDS - silent, 0)
            heard = f", last heard of {silent:.0f} seconds ago"
            wait = f" If it is dead, the directory is free in {free_in:.0f} seconds."
        error = DirectoryHeldError(
            f"The checkpoint directory {self._place!r} is held by {self.read(epoch) or 'another driver'}{heard}. Stop "
            f"that one, or give this job one of its own by execution.checkpointing.dir.{wait}"
        )
        error.free_in = free_in
        return error

    def beat(self, epoch: int) -> None:
        self._storage.put(join(self.folder, f"beat-{epoch}"), b"alive")

    def leave(self, epoch: int, *, published: bool = False) -> None:
        self._storage.create(join(self.folder, f"left-{epoch}"), PUBLISHED if published else b"left")

    def left_published(self, epoch: int) -> bool:
        try:
            return self._storage.get(join(self.folder, f"left-{epoch}")) == PUBLISHED
        except FileNotFoundError:
            return False

    def living(self) -> tuple[int, Owner] | None:
        """The driver that has the directory, with its epoch, as far as others can tell without a lock; else None."""
        names = self.names()
        epoch = self.highest(names)
        owner = self.read(epoch) if epoch and f"left-{epoch}" not in names else None
        if owner is None or (is_local(self._place) and owner.host == socket.gethostname() and _gone(owner.pid)):
            return None
        paths = (join(self.folder, name) for name in names if name in (f"owner-{epoch}.json", f"beat-{epoch}"))
        try:
            silent = min(map(_age, paths))
        except OSError:  # nothing can be written there, so nobody can be asked either
            return None
        return (epoch, owner) if silent < LEASE_SECONDS else None

    def outdated(self, epoch: int, names: Iterable[str]) -> list[str]:
        """Among some names, files of owners before an epoch, and of those that failed to take it."""
        matches = (match for match in map(_OWN.fullmatch, names) if match)
        tried = f"owner-{epoch}.json."
        return [join(self.folder, match[0]) for match in matches if int(match[1]) < epoch or match[0].startswith(tried)]


def _gone(pid: int) -> bool:
    if os.name == "nt":  # this is a signal there; and the process is one of WSL, as those of Windows have no locks
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:  # or it is another user's
        return isinstance(error, ProcessLookupError)
    return False


class Lock:
    """The lock of a local checkpoint directory; on stores, and where the file system has no locks, there is none."""

    def __init__(self, folder: str) -> None:
        self.taken = self.refused = False
        self._file: IO[bytes] | None = None
        if is_local(folder):
            check_locks(folder)
            os.makedirs(folder, exist_ok=True)
            self._path = join(folder, "lock")
            self._file = open(self._path, "ab")  # noqa: SIM115 - open as long as the lock is held
            self._lock(self._file)
            _LOCKS.add(self)

    def _lock(self, file: IO[bytes]) -> None:
        error = lock(file)
        self.taken, self.refused = error is None, error in (errno.EWOULDBLOCK, errno.EACCES)

    def stands(self) -> bool:
        """Whether others would lock the same file, and not a newer one in its place."""
        if self._file is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
        self.taken = False


def check_locks(folder: str) -> None:
    """An UnsupportedError if this system is one on which no process could hold a local folder: Windows."""
    if importlib.util.find_spec("fcntl") is None:
        raise UnsupportedError(
            f"Files and checkpoints in a local folder, here {folder!r}, are written on Linux and macOS only: on "
            "Windows jobs could not be kept from writing the same ones. Run the program there, under WSL say. Windows "
            "plans all programs, and runs bounded ones without local outputs."
        )


def lock(file: IO[bytes]) -> int | None:
    """Lock a file while it is open. Returns the errno if another process has it, or there are no locks."""
    import fcntl  # POSIX only

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno
    return None


_LOCKS: weakref.WeakSet[Lock] = weakref.WeakSet()


def _forked() -> None:
    """A process that a driver has forked may outlive it, and holds nothing."""
    for lock in list(_LOCKS):
        lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forked)


def check_free(owners: Owners, epoch: int, lock: Lock) -> None:
    """The owner of an epoch has left, or is dead."""
    if lock.refused:
        raise owners.held(epoch, None)
    names = owners.names()
    if epoch == 0 or f"left-{epoch}" in names:
        return
    owner = owners.read(epoch)
    if lock.taken and owner is not None and owner.host == socket.gethostname():
        return  # its lock has ended with it
    if owner is not None and Owner("").follows(owner):
        return  # if it does live, cut off from YARN, it cannot commit any more
    silent = min(_age(join(owners.folder, name)) for name in names if name in (f"owner-{epoch}.json", f"beat-{epoch}"))
    if silent < LEASE_SECONDS:
        raise owners.held(epoch, silent)


def _age(path: str) -> float:
    """Seconds since a file was written, by the clock of where it lies."""
    folder = path.rpartition("/")[0]
    with contextlib.suppress(FileNotFoundError):
        if not is_local(path):
            store = Store(path)
            return (store.now(folder) - store.modified(path)).total_seconds()
        probe = Path(folder) / f"clock-{os.getpid()}"  # a mounted file system has a clock of its own
        probe.write_bytes(b"")
        try:
            return probe.stat().st_mtime - os.stat(path).st_mtime
        finally:
            probe.unlink(missing_ok=True)
    return float("inf")

"""A checkpoint directory as a driver has it open: what it found, commits, clean-ups, a regular sign of life."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from penstock.errors import CheckpointDirectoryError, ConfigurationError, PenstockError
from penstock.job.folder.cleaner import Cleaner
from penstock.job.folder.files import About, Files
from penstock.job.folder.manifest import StepManifest
from penstock.job.folder.owners import BEAT_SECONDS, Lock, Owner, Owners, check_free, check_locks
from penstock.job.folder.writer import Writer
from penstock.storage.storage import LocalStorage, is_local, join, real_place
from penstock.storage.stores import configured

RETAINED = 2  # versions that are kept: the newest one, and one for the case that it gets damaged


class JobFolder:
    """A checkpoint directory, to be looked into or opened. ``durable``: its manifests outlive a power cut."""

    def __init__(self, place: str, *, durable: bool = True) -> None:
        self._path, self._durable = place, durable

    @cached_property
    def files(self) -> Files:
        fast = not self._durable and is_local(self._path)
        return Files(real_place(self._path), LocalStorage(durable=False) if fast else None)

    @property
    def place(self) -> str:
        """As all of Penstock writes it: links are followed."""
        return self.files.place

    def newest(self, *, unpickle: bool = True) -> StepManifest | None:
        return self.files.newest(unpickle=unpickle)

    def versions(self) -> tuple[int, ...]:
        """The checkpoints that can be read, in order: the newest one and those that it retains."""
        newest = self.newest(unpickle=False)
        if newest is None:
            return ()
        existing = set(self.files.versions())
        return tuple(version for version in (*newest.retained, newest.version) if version in existing)

    def read(self, version: int, *, unpickle: bool = True) -> StepManifest:
        if version in self.versions():
            with contextlib.suppress(FileNotFoundError):  # gone meanwhile
                return self.files.load(version, unpickle=unpickle)
        raise CheckpointDirectoryError(
            f"The checkpoint directory {self.place!r} has no checkpoint {version}. It has: "
            f"{', '.join(map(str, self.versions())) or 'none'}; penstock.job.retained-manifests says how many are kept."
        )

    def open(
        self,
        job: str,
        owner: Owner | None = None,
        *,
        retained: int = RETAINED,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Lease:
        """Take the directory, which is made if it is not there. ``options`` are those of its store."""
        try:
            return Lease(self.files, owner or Owner(job), retained, options or {})
        except OSError as error:
            raise ConfigurationError(
                f"The checkpoint directory {self.place!r} cannot be used: {error}. Set execution.checkpointing.dir to "
                "a directory that the driver can create and write, and that all tasks can read."
            ) from error


class Lease:
    """A checkpoint directory that this driver has; a context manager that leaves it. See :meth:`JobFolder.open`."""

    closed = False  # whether the directory has been left
    published = False  # whether no output of the newest checkpoint waits any more, as whoever has it open says
    _marked = False  # whether the directory is known to say that a manifest has been written
    _pulse: Pulse | None = None

    def __init__(self, files: Files, owner: Owner, retained: int, options: Mapping[str, Mapping[str, Any]]) -> None:
        if is_local(files.place):
            check_locks(files.place)
            for folder in (files.state, files.manifests, join(files.place, "pins")):
                os.makedirs(folder, exist_ok=True)
        self.files, self.place, self.state = files, files.place, files.state
        self.about: About = files.make(owner.job)
        self._writer = Writer(files, owner, retained)
        self.cleaner = Cleaner(files, self._writer)
        self._lock = Lock(files.owners.folder)
        self._one = threading.RLock()
        try:
            after = files.owners.highest()
            check_free(files.owners, after, self._lock)
            newest = self._newest_manifest()
            published = newest is not None and (not newest.outputs or files.owners.left_published(newest.epoch))
            self._writer.take(max(after, newest.epoch if newest else 0))  # somebody may have removed the leases
            taken = self._writer.newest  # of another step if one that had lost the folder has written meanwhile
            unchanged = taken is not None and newest is not None and taken.last_step == newest.last_step
            self.published = published and unchanged
            if taken is not None and not taken.is_nothing:  # the folder may be older than the mark
                files.mark()
                self._marked = True
            self.epoch = self._writer.epoch
            self._pulse = Pulse(files.owners, self.epoch, options)
        except BaseException:
            self.close()
            raise

    def _newest_manifest(self) -> StepManifest | None:
        files = self.files
        newest = files.newest()
        if newest is None and files.marked():
            newest = files.newest()  # a paused driver may have written the first one between the two questions
            if newest is None:
                raise CheckpointDirectoryError(
                    f"The checkpoint directory {files.place!r} has no manifest left in {files.manifests!r}, though "
                    "steps were committed there; a new beginning would repeat what sinks have written. Bring the "
                    "manifests back from a copy; or start from a savepoint (--from-savepoint) with another "
                    "execution.checkpointing.dir. To begin from nothing, remove the directory and the job's outputs."
                )
        return newest

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the directory, for the next driver to take at once. It can be repeated."""
        if self._pulse is not None:
            self._pulse.stop()
        if self._writer.epoch and not self.closed:
            with contextlib.suppress(OSError, PenstockError):  # then the next one waits until the lease is over
                self.files.owners.leave(self._writer.epoch, published=self.published)
        self._lock.release()
        self.closed = True

    @property
    def version(self) -> int:
        """Of the newest state; the next commit is of the one after it. Not 0 if only a seal is there."""
        return self._writer.version

    @property
    def lost(self) -> bool:
        """Whether it is known that another driver has taken the directory over; the next commit says so, too."""
        return self._pulse is not None and self._pulse.lost

    def newest(self) -> StepManifest | None:
        """The checkpoint to resume from; None, or one that :attr:`~StepManifest.is_nothing`, at the beginning."""
        with self._one:
            return self._writer.settled()

    def commit(self, manifest: StepManifest) -> StepManifest:
        with self._open() as writer:
            self.published = not manifest.outputs
            written = writer.commit(manifest)
            if not self._marked:  # behind the manifest: a driver that dies in between has the next one write it
                self.files.mark()
                self._marked = True
            return written

    def check(self) -> None:
        with self._open() as writer:
            writer.check()

    def clean(self, passed: Iterable[str] = ()) -> int:
        """Remove what is not needed any more. Behind a checkpoint, after publishing. Returns how many files."""
        with self._open():
            self.cleaner.passed.update(passed)
            return self.cleaner.clean()

    def pin(self, version: int, savepoint: str = "") -> None:
        with self._open() as writer:
            writer.pin(version, savepoint)

    def unpin(self, version: int) -> None:
        with self._open() as writer:
            writer.unpin(version)

    def hold(self, version: int) -> None:
        with self._open() as writer:
            writer.hold(version)

    def release(self, version: int) -> None:
        with self._one:
            self._writer.release(version)

    def opening_notice(self) -> str:
        newest = self._writer.newest
        if newest is None or newest.is_nothing:
            return f"Starting with the new checkpoint directory {self.place!r}."
        files = list(newest.state_files())
        operators = len({file.operator_id for file in files})
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(newest.time / 1000))
        return (
            f"Resuming from checkpoint {newest.version} of {self.place!r}, {when}, {operators} "
            f"operator{'s' * (operators != 1)} with state, {_size(sum(file.bytes for file in files))}."
        )

    @contextlib.contextmanager
    def _open(self) -> Iterator[Writer]:
        """One thread at a time: who pins may be another one than who commits."""
        with self._one:
            if self.closed:
                raise CheckpointDirectoryError(f"This run has left the directory {self.place!r}; open it again.")
            yield self._writer


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


class Pulse:
    """Says that a driver lives, and notices when it is not the owner any more."""

    def __init__(self, owners: Owners, epoch: int, options: Mapping[str, Mapping[str, Any]]) -> None:
        self._owners, self._epoch, self._options = owners, epoch, options
        self.lost = False
        self._over = threading.Event()
        owners.beat(epoch)
        self._thread = threading.Thread(target=self._beat, name="penstock-checkpoint-directory", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        with configured(self._options) if self._options else contextlib.nullcontext():
            while not self.lost and not self._over.wait(BEAT_SECONDS):
                with contextlib.suppress(Exception):  # the next time may do
                    self._owners.beat(self._epoch)
                    self.lost = self._owners.highest() != self._epoch

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

"""The checkpoint directory of a job that commits once: hidden in a pending folder (``.OUTPUT.pending-JOB/commit``), and
gone when the outputs are published. It has the same lease and manifest as any other, but no state.

Who finds such a directory whose driver is dead finishes the job if there is a manifest, and removes it if not. On a
local file system the lock shows that the driver is dead. On a store, and without locks, it may only have been slow: the
directory is sealed first, as by the next driver of any other, so that the slow one cannot commit any more.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.errors import ConfigurationError, FencedError, JobExecutionError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import Pulse
from penstock.job.folder.manifest import StepManifest, TaskState
from penstock.job.folder.owners import LEASE_SECONDS, Lock, Owner, Owners, check_free
from penstock.job.folder.writer import Writer
from penstock.storage.storage import LocalStorage, is_local
from penstock.storage.stores import options_now

_TRIES = 20


class SingleCommit:
    """The lease and the manifest of one run that commits once."""

    def __init__(self, place: str, job: str) -> None:
        self.place, self._job = place, job
        self._files = Files(place)
        self._files.manifests = place  # a folder of its own would be one more to make, and to write out
        if is_local(place):  # the lease is worth nothing after a power cut
            self._files.owners = Owners(LocalStorage(durable=False), place)
        self._lock: Lock | None = None
        self._writer: Writer | None = None
        self._pulse: Pulse | None = None

    def exists(self) -> bool:
        home = self.place.rpartition("/")[0]
        return any(entry.path == self.place for entry in self._files.storage.list(home))

    def begin(self, options: Mapping[str, Mapping[str, Any]]) -> None:
        self._lock = self._locked()
        owner = Owner(self._job)
        self._writer = Writer(self._files, owner, retained=1)
        self._writer.epoch = 1
        self._files.owners.claim(owner, 1)
        if not self._lock.taken:  # else the end of the process is known at once, without a thread
            self._pulse = Pulse(self._files.owners, 1, options)

    def _locked(self) -> Lock:
        """The lock, which a clean-up may have for a moment that has found the folder before it was locked."""
        for _ in range(_TRIES):
            with contextlib.suppress(FileNotFoundError):
                lock = Lock(self._files.owners.folder)
                if not lock.refused and lock.stands():
                    return lock
                lock.release()
            time.sleep(0.01)
        raise OSError(f"{self.place!r} is removed as soon as it is created")

    def commit(self, manifest: StepManifest) -> None:
        """Commit the job by its outputs: of the rest of the manifest only the counters stay."""
        assert self._writer is not None
        try:
            try:
                self._writer.commit(_lean(manifest))
            except (OSError, ConfigurationError):
                if not _counts(self._writer.settled()):
                    raise
        except FencedError as error:
            raise JobExecutionError(
                f"The job {self._job!r} was given up by another one, or by `penstock clean`: its driver was not heard "
                f"of for {LEASE_SECONDS:.0f} seconds. Nothing was published; run it again."
            ) from error

    def committed(self) -> bool:
        """Whether the manifest stands, or somebody else has to say so; a write left in doubt is settled."""
        try:
            return self._writer is not None and _counts(self._writer.settled())
        except FencedError:  # if nobody is the owner, another one has removed all but what this one wrote since
            return self._files.owners.highest() > 0

    @contextlib.contextmanager
    def taken_over(self, *, dead: bool) -> Iterator[StepManifest | None]:
        """The manifest of a directory that a dead driver has left; None if it did not commit."""
        self._lock = lock = Lock(self._files.owners.folder)
        try:
            epoch = self._files.owners.highest()
            if lock.refused or not dead:
                check_free(self._files.owners, epoch, lock)
            manifest = self._files.newest(unpickle=False)
            yield manifest if _counts(manifest) else None
        finally:
            self.close()

    def give_up(self) -> StepManifest | None:
        """Within :meth:`taken_over`: shut the driver out. Returns the manifest that stands, if any."""
        assert self._lock is not None
        if self._lock.taken:
            manifest = self._files.newest(unpickle=False)
        else:
            epoch = self._files.owners.highest()
            self._writer = Writer(self._files, Owner(self._job), retained=1)
            self._writer.take(max(epoch, 1))
            self._pulse = Pulse(self._files.owners, self._writer.epoch, options_now())
            manifest = self._writer.newest
        return manifest if _counts(manifest) else None

    def close(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()
        if self._lock is not None:
            self._lock.release()

    def remove(self) -> None:
        """Remove the directory, and the folder it is in if that is empty; the lock last."""
        if self._pulse is not None:
            self._pulse.stop()
        storage, lease = self._files.storage, self._files.owners.folder
        for folder in (self.place, lease):
            paths = [entry.path for entry in storage.list(folder) if entry.size >= 0]
            storage.delete(sorted(paths, key=lambda path: path.endswith("/lock")))
        for folder in (lease, self.place, self.place.rpartition("/")[0]):
            storage.remove_folder(folder)  # a late task may have written there: without a marker, it counts for nobody


def _counts(manifest: StepManifest | None) -> bool:
    return manifest is not None and not manifest.is_nothing


def _lean(manifest: StepManifest) -> StepManifest:
    """Without what would be resumed, and what others cannot publish, as nobody could commit it but the run itself."""
    return StepManifest(
        1,
        manifest.job,
        manifest.job_id,
        manifest.time,
        tasks={"": (TaskState(finished=True),)},
        outputs=tuple(output for output in manifest.outputs if output.committable is None),
        counters=manifest.counters,
    )

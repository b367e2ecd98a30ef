"""The results of a step, or of a whole job: its manifest in the checkpoint directory, and what that makes visible."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.common.jobs.job_control import JobControl
from penstock.errors import ConfigurationError, DirectoryHeldError, PenstockError
from penstock.job.commit.folders import COMMIT, MARKER, writable
from penstock.job.deployment import Deployment
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import Output, StepManifest
from penstock.job.folder.owners import BEAT_SECONDS
from penstock.job.folder.read_splits import EndedSplits, read_ended, with_ended
from penstock.job.folder.single import SingleCommit
from penstock.job.restore.carried import begun
from penstock.job.steps.outputs import Outputs, WriteTable
from penstock.job.temporary import TemporaryFolder
from penstock.runtime.config.tasks import TaskReport
from penstock.storage.storage import join
from penstock.storage.stores import Store, storage_of

_KEEP = 3600.0  # seconds without a step after which sinks are asked to keep what they know


class Commits:
    """The checkpoint directory (``lease``) of a run and the outputs of its sinks, a context around its steps."""

    lease: Lease
    notice: str | None = None  # a line for the user about what was in the checkpoint directory
    recovered = begun = False

    def __init__(self, deployment: Deployment, control: JobControl, write_table: WriteTable | None = None) -> None:
        self.deployment, self._control, self._write_table = deployment, control, write_table
        self._open = contextlib.ExitStack()
        self._kept = time.monotonic()

    def __enter__(self) -> Commits:
        settings = self.deployment.job.settings
        with self._open:
            self.lease = lease = self._open.enter_context(_opened(self.deployment, self._control))
            line = begun(lease, lease.files, settings, self.deployment.savepoint)
            self.notice = line or (lease.opening_notice() if settings.checkpoint_directory is not None else None)
            self.deployment = self.deployment.in_folder(lease.about.id, lease.place)
            newest = self.newest
            resumed = newest is not None and not newest.is_nothing and newest.last_step > 0
            outputs = Outputs(self.deployment, resumed=resumed, write_table=self._write_table, check=lease.check)
            self._outputs = self._open.enter_context(outputs)
            self._open = self._open.pop_all()
        return self

    def recover(self) -> None:
        """Before the first step, publish what an earlier run has committed, and remove what it has left."""
        newest = self.newest
        if newest is None or newest.is_nothing:
            self._outputs.recover((), 0)
        else:
            self._outputs.recover(newest.outputs, newest.last_step, published=self.lease.published)
        self.lease.published = self.recovered = True
        self.lease.clean()  # what a dead driver has left: there may be no step any more after which it goes

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    @property
    def newest(self) -> StepManifest | None:
        return self.lease.newest()

    @property
    def state(self) -> str:
        return self.lease.files.state

    def read_ended(self, ended: EndedSplits) -> set[str]:
        return read_ended(self.lease.files.storage, self.state, ended)

    def with_ended(self, ended: EndedSplits, more: Sequence[str]) -> EndedSplits:
        return with_ended(self.lease.files.storage, self.state, ended, more)

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        return self._outputs.put_together(reports)

    def commit(self, manifest: StepManifest) -> None:
        """Write the manifest; after a FencedError it does not count."""
        self.lease.commit(manifest)

    def publish(self, manifest: StepManifest, passed: Iterable[str] = ()) -> None:
        """Make visible what the manifest names, and remove what is no longer needed, as ``passed`` on state files."""
        self._outputs.publish(manifest.outputs, manifest.version)
        self.lease.published = True
        self._kept = time.monotonic()
        self.lease.clean(passed)

    def clear_passed_on(self) -> None:
        self._outputs.clear_passed_on()

    def rest(self) -> None:
        """There is nothing to do now. Every hour sinks see to it that what they have sent is not forgotten."""
        self.check_if_lost()
        newest = self.newest
        if newest is not None and time.monotonic() > self._kept + _KEEP:
            self._outputs.keep(newest.version)
            self._kept = time.monotonic()

    def check(self) -> None:
        """A FencedError if another driver has the checkpoint directory. One request."""
        self.lease.check()

    def check_if_lost(self) -> None:
        """As :meth:`check`, but without a request unless the lease has found another driver."""
        if self.lease.lost:
            self.check()

    def failed(self) -> None:
        """A step was given up: remove what it has left, and resume from the newest checkpoint."""
        self.check()
        self.lease.cleaner.failed()
        self.recover()


@contextlib.contextmanager
def _opened(deployment: Deployment, control: JobControl | None = None) -> Iterator[Lease]:
    """The checkpoint directory of a run, or a folder in its place that goes with the run."""
    settings, place = deployment.job.settings, deployment.place
    with contextlib.ExitStack() as removing:
        if place is None:  # nobody resumes from it
            temporary = TemporaryFolder("penstock-job-")
            removing.callback(temporary.remove)
            place = str(temporary.path)
        elif settings.checkpoint_directory is None:
            removing.callback(_remove, Store(place), place)
        folder = JobFolder(place, durable=settings.checkpoint_directory is not None)
        with _taken(folder, deployment, control) as lease:
            yield lease


def _taken(folder: JobFolder, deployment: Deployment, control: JobControl | None) -> Lease:
    """Open a checkpoint directory. The lease of a driver that may be dead is waited for: until it is over, that driver
    is heard of again, or this job is to end. Without ``control``, as for a folder of this run alone, it is an error."""
    settings, expected = deployment.job.settings, None
    while True:
        try:
            return folder.open(deployment.job.name, retained=settings.retained, options=settings.storage_options)
        except DirectoryHeldError as error:
            if error.free_in is None or control is None or control.stopping:
                raise
            free = time.monotonic() + error.free_in
            if expected is None:
                print(f"{error} Waiting for that.", file=sys.stderr)
            elif free > expected + 1:  # it lives
                raise
            expected = free
            left = error.free_in
        control.pause(int(1000 * min(left + 0.1, BEAT_SECONDS / 2)))


def _remove(store: Store, folder: str) -> None:
    with contextlib.suppress(OSError, PenstockError):  # the job counts, and what stays is in nobody's way
        store.delete([entry.path for entry in store.list(folder, deep=True)])


class SingleRun:
    """The counterpart of :class:`Commits` for a job that commits once, when all its tasks have ended.

    Nobody resumes such a job. Its checkpoint directory is hidden in its first pending folder, if it has any. ``write``
    writes what others commit. ``lease`` is of a folder for its state, if savepoints are to be taken of that.
    """

    lease: Lease | None = None

    newest: StepManifest | None = None
    state: str | None = None
    notice: str | None = None
    begun = False  # whether the commit has begun, and the job cannot be cancelled any more
    _published = False

    def __init__(self, deployment: Deployment, write: Callable[[], None] = lambda: None) -> None:
        self.deployment, self._write = deployment, write
        self._kept = contextlib.ExitStack()
        self._outputs = Outputs(deployment)
        self._folders = self._outputs.folders
        job = deployment.job.name
        self._commit = SingleCommit(join(self._folders[0], COMMIT), job) if self._folders else None

    def __enter__(self) -> SingleRun:
        try:
            if self._commit is not None:  # before its folder has a marker, so nobody takes the driver for dead
                with writable(self._folders[0]):
                    self._commit.begin(self.deployment.job.settings.storage_options)
            self._outputs.__enter__()
            if self.deployment.keeps:
                self.lease = self._kept.enter_context(_opened(self.deployment))
                self.state = self.lease.state
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()
        if self._commit is None:
            return
        with contextlib.closing(self._commit), contextlib.suppress(OSError, PenstockError):
            if (self._published or not self._commit.committed()) and self._outputs.remove():
                self._commit.remove()  # what stays is finished or removed by a later run
                if not self._published:
                    self._outputs.remove_parents()

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        return self._outputs.put_together(reports)

    def commit(self, manifest: StepManifest) -> None:
        """Write the manifest."""
        if self.lease is not None:
            self.lease.commit(replace(manifest, outputs=()))
        self._write()
        if self._commit is not None:
            for folder in self._folders:
                storage_of(folder).settle([join(folder, MARKER)])
            self._commit.commit(manifest)

    def publish(self, manifest: StepManifest, passed: Iterable[str] = ()) -> None:
        """Make visible what the manifest names, then have two-phase sinks commit, which nobody repeats."""
        files = [output for output in manifest.outputs if output.committable is None]
        prepared = [output for output in manifest.outputs if output.committable is not None]
        try:
            self._outputs.publish(files, 1)
        except (OSError, PenstockError) as error:
            raise ConfigurationError(
                f"The job has succeeded, but not all its outputs could be published: {error} They wait in "
                f"{self._folders}; remove the obstacle, and `penstock clean` publishes them."
            ) from error
        self._published = True
        self._outputs.publish(prepared, 1)

    def with_ended(self, ended: EndedSplits, more: Sequence[str]) -> EndedSplits:
        return ended if self.lease is None else with_ended(self.lease.files.storage, self.lease.state, ended, more)

    def check(self) -> None:
        """Nothing is lost before the commit, which says so itself."""

    check_if_lost = rest = failed = clear_passed_on = check

"""What a step leaves: its manifest in the job folder, and what that makes visible."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence
from typing import Any

from penstock.job.commit.manifest import Output
from penstock.job.deployment import Deployment
from penstock.job.folder.ended import EndedSplits
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest
from penstock.job.restore.carried import begun
from penstock.job.steps.outputs import StepOutputs, WriteTable
from penstock.job.temporary import TemporaryFolder
from penstock.runtime.config.tasks import TaskReport

_KEEP = 3600.0
"""Seconds without a step after which sinks are asked to keep what they know."""


class Commits:
    """The job folder of a run and the outputs of its sinks, a context manager around its steps.

    Args:
        deployment: the job.
        write_table: writes the rows of a table, where an executor can.

    Attributes:
        deployment: the same, with its folder.
    """

    def __init__(self, deployment: Deployment, write_table: WriteTable | None = None) -> None:
        self.deployment, self._write_table = deployment, write_table
        self._open = contextlib.ExitStack()
        self._kept = time.monotonic()

    def __enter__(self) -> Commits:
        settings = self.deployment.job.settings
        with self._open:
            place = settings.job_folder
            if place is None:
                temporary = TemporaryFolder("penstock-job-")
                self._open.callback(temporary.remove)
                place = str(temporary.path)
            folder = JobFolder(place, durable=settings.job_folder is not None)  # nobody resumes one of a single run
            lease = folder.open(self.deployment.job.name, retained=settings.retained, options=settings.storage_options)
            self._lease: Lease = self._open.enter_context(lease)
            self._begun = begun(self._lease, folder.files, settings)
            self.deployment = self.deployment.in_folder(lease.about.id, lease.place)
            self._outputs = self._open.enter_context(self._recovered())
            self._open = self._open.pop_all()
        return self

    @contextlib.contextmanager
    def _recovered(self) -> Generator[StepOutputs, None, None]:
        """The outputs, with all visible that an earlier run has committed."""
        newest = self.newest
        version = 0 if newest is None or newest.is_nothing else newest.made
        outputs = StepOutputs(
            self.deployment, resumed=version > 0, write_table=self._write_table, check=self._lease.check
        )
        with outputs:
            published = self._lease.published  # as who had the folder before has said
            outputs.recover(() if newest is None else newest.outputs, version, published=published)
            self._lease.published = True
            self._lease.clean()  # what a driver has left that died: there may be no step any more after which it goes
            yield outputs

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    @property
    def newest(self) -> StepManifest | None:
        """The newest version, None at the beginning."""
        return self._lease.newest()

    @property
    def lease(self) -> Lease:
        """The job folder as this driver has it."""
        return self._lease

    @property
    def place(self) -> str:
        """The job folder."""
        return self._lease.place

    @property
    def state(self) -> str:
        """Where state lies."""
        return self._lease.state

    def found(self) -> str | None:
        """What there is to say of what was found; None in a folder for this run alone."""
        if self._begun is not None:
            return self._begun
        return None if self.deployment.job.settings.job_folder is None else self._lease.found()

    def read_ended(self, ended: EndedSplits) -> set[str]:
        """The splits that have been read to their end."""
        return self._lease.read_ended(ended)

    def with_ended(self, ended: EndedSplits, more: Sequence[str]) -> EndedSplits:
        """They, and more."""
        return self._lease.with_ended(ended, more)

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        """What sinks have made, which becomes visible with the step."""
        return self._outputs.put_together(reports)

    def commit(self, manifest: StepManifest) -> None:
        """Write the manifest.

        Raises:
            FencedError: another driver has taken the job folder over.
            ConfigurationError, OSError: the storage refuses.
        """
        self._lease.commit(manifest)

    def publish(self, manifest: StepManifest) -> None:
        """Make visible what a manifest names, and remove what nobody needs any more.

        Raises:
            ConfigurationError, OSError: the storage refuses; whoever goes on does it.
        """
        self._outputs.publish(manifest.outputs, manifest.version)
        self._lease.published = True
        self._kept = time.monotonic()
        self._lease.clean()

    def rest(self) -> None:
        """Nothing is to be done now. Every hour sinks see to it that what they have sent is not forgotten.

        Raises:
            ConfigurationError: a sink cannot.
        """
        newest = self.newest
        if newest is not None and time.monotonic() > self._kept + _KEEP:
            self._outputs.keep(newest.version)
            self._kept = time.monotonic()

    def check(self) -> None:
        """This driver still has the job folder. One request.

        Raises:
            FencedError: another one has.
            ConfigurationError, OSError: it cannot be said.
        """
        self._lease.check()

    def failed(self) -> None:
        """A step was given up: remove what it has left, and go on from what stands.

        Raises:
            FencedError: another driver has taken the job folder over, and what there is to remove is its own.
            ConfigurationError, OSError: the storage refuses.
        """
        self.check()
        self._lease.failed()
        newest = self.newest
        if newest is None or newest.is_nothing:
            self._outputs.recover((), 0)
        else:
            self._outputs.recover(newest.outputs, newest.made, published=self._lease.published)
        self._lease.published = True

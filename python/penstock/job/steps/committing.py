"""What a step leaves: its manifest in the job folder, and what that makes visible."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Sequence

from penstock.job.commit.manifest import Output
from penstock.job.deployment import Deployment
from penstock.job.folder.ended import EndedSplits
from penstock.job.folder.lease import JobFolder, Lease
from penstock.job.folder.manifest import StepManifest
from penstock.runtime.config.tasks import TaskReport


class Commits:
    """The job folder of a run, a context manager around it.

    Args:
        deployment: the job.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Commits:
        job = self._deployment.job
        place = job.settings.job_folder
        if place is None:
            place = tempfile.mkdtemp(prefix="penstock-job-")
            self._open.callback(shutil.rmtree, place, ignore_errors=True)
        with self._open:
            folder, settings = JobFolder(place), job.settings
            lease = folder.open(job.name, retained=settings.retained, options=settings.storage_options)
            self._lease: Lease = self._open.enter_context(lease)
            self._open = self._open.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def newest(self) -> StepManifest | None:
        """The newest version, None at the beginning."""
        return self._lease.newest()

    def found(self) -> str | None:
        """What there is to say of what was found; None in a folder for this run alone."""
        return None if self._deployment.job.settings.job_folder is None else self._lease.found()

    @property
    def state(self) -> str:
        """Where state lies."""
        return self._lease.state

    def read_ended(self, ended: EndedSplits) -> set[str]:
        """The splits that have been read to their end."""
        return self._lease.read_ended(ended)

    def with_ended(self, ended: EndedSplits, more: Sequence[str]) -> EndedSplits:
        """They, and more."""
        return self._lease.with_ended(ended, more)

    def put_together(self, reports: Sequence[TaskReport]) -> tuple[Output, ...]:
        """The files of sinks that become visible with the step."""
        return ()

    def commit(self, manifest: StepManifest) -> StepManifest:
        """Write the manifest, and make visible what it names."""
        committed = self._lease.commit(manifest)
        self._lease.clean()
        return committed

    def failed(self) -> None:
        """A step was given up."""
        self._lease.failed()

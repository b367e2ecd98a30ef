"""What a step leaves: its manifest in the job folder, and what that makes visible."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

from penstock.job.commit.manifest import Output
from penstock.job.deployment import Deployment
from penstock.job.folder import JobFolder
from penstock.job.folder.ended import EndedSplits
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
        self._lease: Any = self._open.enter_context(JobFolder(place).open(job.name, retained=job.settings.retained))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def newest(self) -> StepManifest | None:
        """The newest version."""
        return self._lease.newest

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
        return self._lease.commit(manifest)

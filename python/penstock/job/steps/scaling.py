"""A run at the parallelism that is offered: at its start, when it begins again after a failure, and between two steps
when there have been more or fewer cores for a while.

Between, the job leaves its folder and comes back with other tasks, as if it had been stopped and run again. So it does
only with a job folder of its own: each time all state is read, and written anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.common.cores import cores
from penstock.common.job_control import JobControl
from penstock.errors import ConfigurationError, InvalidProgramError, PlanError, UnsupportedError
from penstock.job.deployment import Deployment, deploy
from penstock.job.restore.carried import carried
from penstock.job.restore.scaling import scaled, unsteady
from penstock.runtime.io.stores import configured

if TYPE_CHECKING:
    from penstock.plan import Pipeline

LOG = logging.getLogger("penstock")
REFUSALS = (ConfigurationError, InvalidProgramError, PlanError, UnsupportedError)
"""By which a job cannot be at a parallelism; what else goes wrong is no matter of that."""
LOOK = 10.0
"""Seconds between two looks at the cores; an offer counts that is the same in two of them."""


class Scaling:
    """The parallelism of a run, as its executor offers it.

    Args:
        pipeline: the program, which may be planned anew.
        control: of the run.
        loops: whether the executor runs iterations of bounded programs.

    Attributes:
        width: the parallelism that was offered last and taken; 0 before.
    """

    def __init__(self, pipeline: Pipeline, control: JobControl, *, loops: bool) -> None:
        self._pipeline, self._control, self._loops = pipeline, control, loops
        self._offer: Callable[[], int] = cores
        self._times = self.width = 0
        self._before: int | None = None  # of the run, which has worked
        self._refused: set[int] = set()
        self._seen = 0  # in the last look
        self._looked = time.monotonic()

    def looked_at(self) -> Deployment:
        """The job as it would be at its own parallelism and without any state: all that can be seen before there is an
        offer.

        Raises:
            PenstockError: the program cannot run, whatever the parallelism.
        """
        pipeline = scaled(self._pipeline, max(self._pipeline.settings.parallelism, 1), None)
        return deploy(pipeline, self._control.job_id.text, loops=self._loops, begins=True)

    def begun(self, offer: Callable[[], int]) -> Deployment:
        """The job with as many subtasks as are offered now.

        Args:
            offer: how many subtasks there is room for.

        Raises:
            PenstockError: it cannot run so.
        """
        self._offer = offer
        if names := unsteady(self._pipeline):
            LOG.warning(
                "The operators %s have no uid, and their IDs hang on the parallelism: at another number of cores their "
                "state is not found, and the job is refused or stays as it is. Give them uids.",
                ", ".join(map(repr, names)),
            )
        return self._at(self._offer())

    def outgrown(self, *, failed: bool = False) -> bool:
        """Whether the job is to go on at another parallelism. Between two steps; now and then the executor is asked.

        Args:
            failed: it begins again anyway.
        """
        if self._pipeline.settings.job_folder is None:
            return False
        now = time.monotonic()
        if now < self._looked + LOOK and not failed:
            return False
        self._looked, before = now, self._seen
        self._seen = self._offer()
        if self._seen == self.width or self._seen in self._refused:
            return False
        return failed or self._seen == before

    def again(self) -> Deployment:
        """The job as :meth:`outgrown` wants it; or as it is, if it cannot be so."""
        self._before = self.width
        LOG.info("There are cores for %d subtasks now, not %d: the job goes on with these.", self._seen, self.width)
        try:
            return self._at(self._seen)
        except REFUSALS as error:
            back = self.taken_back(error)
            assert back is not None
            return back

    def taken_back(self, error: Exception) -> Deployment | None:
        """The job as it was, after it could not begin at another parallelism; None: it has not been otherwise.

        Args:
            error: why it could not.
        """
        if self._before is None:
            return None
        width, self._before = self._before, None
        self._refused.add(self._seen)
        LOG.warning("The job stays at %d subtasks, as it cannot have %d: %s", width, self._seen, error)
        return self._at(width)

    def _at(self, width: int) -> Deployment:
        settings = self._pipeline.settings
        with configured(settings.storage_options):
            manifest = carried(settings) if settings.job_folder or settings.savepoint else None
        pipeline = scaled(self._pipeline, width, manifest)
        self._times += 1
        self.width = self._seen = width
        return deploy(pipeline, self._control.job_id.text, loops=self._loops, times=self._times)

"""A run at the parallelism that is offered: at its start, after a failure, and when the cores have changed for a while.

Then the job leaves its checkpoint directory, and comes back with other tasks: all state is read and written again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from penstock.common.settings.cores import cores
from penstock.errors import ConfigurationError, InvalidProgramError, PlanError, UnsupportedError
from penstock.job.deployment import Deployment

LOG = logging.getLogger("penstock")
REFUSALS = (ConfigurationError, InvalidProgramError, PlanError, UnsupportedError)
"""By which a job cannot be at a parallelism; other errors do not count."""
LOOK = 10.0  # seconds between two looks at the cores; an offer counts that is the same in two of them


class Scaling:
    """The parallelism of a run, as its executor offers it; ``deploy`` is also told how often it did so before."""

    def __init__(self, deploy: Callable[[int, int], Deployment]) -> None:
        self._deploy = deploy
        self._offer: Callable[[], int] = cores
        self._times = self.width = 0
        self._before: int | None = None  # the parallelism before, at which the job worked
        self._refused: set[int] = set()
        self._seen = 0  # in the last look
        self._looked = time.monotonic()

    def begin(self, offer: Callable[[], int]) -> Deployment:
        self._offer = offer
        return self._at(self._offer())

    def outgrown(self, *, failed: bool = False) -> bool:
        """Whether the job should continue at another parallelism. Every few seconds it asks the executor."""
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
        LOG.info("There are cores for %d subtasks now, not %d: the job continues with these.", self._seen, self.width)
        try:
            return self._at(self._seen)
        except REFUSALS as error:
            back = self.taken_back(error)
            assert back is not None
            return back

    def taken_back(self, error: Exception) -> Deployment | None:
        """The job as it was before it failed to begin at another parallelism; None if it did not change."""
        if self._before is None:
            return None
        width, self._before = self._before, None
        self._refused.add(self._seen)
        LOG.warning("The job stays at %d subtasks, as it cannot have %d: %s", width, self._seen, error)
        return self._at(width)

    def _at(self, width: int) -> Deployment:
        self._times += 1
        self.width = self._seen = width
        return self._deploy(width, self._times)

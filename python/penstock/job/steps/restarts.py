"""How often a step that has failed is run again, and after how long."""

from __future__ import annotations

import time

from penstock.common.settings import Settings
from penstock.errors import StepLostError

LOST = 5
"""Steps in a row that may fail by no fault of the program."""
IN_PLACE = 5
"""Failures in a row, without a version between them, after which a job gives up that would try for ever."""
PAUSE = 1000
"""Milliseconds between two tries of such a job."""


class Restarts:
    """Counts the failures of a job, and decides on each.

    What is the program's fault is tried again as its restart strategy says. Where none is set, and checkpoints are
    enabled, Flink tries for ever, a second apart. So does this, as long as there are new versions between the failures:
    an error that comes whenever the same records are read would come for ever.

    Args:
        settings: of the program.
    """

    def __init__(self, settings: Settings) -> None:
        self._strategy = settings.restart
        self._patient = settings.restart_strategy is None and settings.checkpoint_interval is not None
        self._failures: list[float] = []
        self._lost = self._in_place = 0  # in a row

    @property
    def count(self) -> int:
        """Failures so far that were the program's fault."""
        return len(self._failures)

    def delay_after(self, error: Exception) -> int | None:
        """A step has failed.

        Args:
            error: by this.

        Returns:
            How long to wait before it is run again, in milliseconds; None: the job has failed.
        """
        if isinstance(error, StepLostError):
            self._lost += 1
            return 100 * self._lost if self._lost < LOST else None
        self._failures.append(time.monotonic())
        self._in_place += 1
        if self._patient:
            return PAUSE if self._in_place < IN_PLACE else None
        return self._strategy.delay_after(self._failures)

    def stepped(self) -> None:
        """A step has been committed."""
        self._lost = self._in_place = 0

"""What the loop of a job in steps asks of others: to run the tasks of a step; whether to go on with other tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Place
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import Assignment


class Runner(Protocol):
    """Who runs the tasks of a step."""

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """Run the tasks, each as its assignment says.

        Args:
            version: to begin from.
            assignments: of all tasks that have not ended.
            watch: is told which task works, where that is seen.

        Returns:
            The rows for the driver, and those for heads of loops.

        Raises:
            JobExecutionError: a task has failed; nothing of the step counts. StepLostError: by no fault of the program.
        """
        ...

    def cancel(self) -> None:
        """Have the step that runs end by a JobCancelledError. Any thread may call it."""
        ...

    def forget(self, attempt: int) -> None:
        """The step has failed: the next one begins with other tasks.

        Args:
            attempt: how often the job has been run again.
        """
        ...

    def close(self) -> None:
        """No step follows."""
        ...


class Outgrown(Protocol):
    """Who knows whether there are more or fewer cores than the job uses."""

    def __call__(self, *, failed: bool = False) -> bool:
        """Whether the job is to go on with other tasks. Between two steps.

        Args:
            failed: it begins again anyway.
        """
        ...


def never(*, failed: bool = False) -> bool:
    """Of a job whose program says its parallelism: no."""
    return False

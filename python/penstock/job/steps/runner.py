"""What the loop of a job in steps asks of others: to run the tasks of a step; whether to continue with other tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Place
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import Assignment


class Runner(Protocol):
    """Who runs the tasks of a step. ``keeps_tasks`` is whether the object that has run a subtask runs it in the next
    step too, so that between two checkpoints its state and the files of its sinks can stay as they are."""

    keeps_tasks: bool

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """Run the tasks, each as its assignment says. Returns the rows for the driver, and those for heads of loops."""
        ...

    def write_tables(self) -> None:
        """Write the tables of a job that commits once: all its tasks have succeeded."""
        ...

    def cancel(self) -> None:
        """Have the step that runs end by a JobCancelledError. Any thread may call it."""
        ...

    def forget(self, attempt: int) -> None:
        """The step has failed: the next one begins with other tasks."""
        ...

    def close(self) -> None:
        """No step follows."""
        ...


class Outgrown(Protocol):
    """Who knows whether there are more or fewer cores than the job uses."""

    def __call__(self, *, failed: bool = False) -> bool:
        """Whether the job is to continue with other tasks. Between two steps."""
        ...


def never(*, failed: bool = False) -> bool:
    """Of a job whose program says its parallelism: no."""
    return False

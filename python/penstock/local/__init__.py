"""Runs programs in this process, without Spark: for tests, first tries and small jobs.

The tasks that Spark would run go one after the other, level by level. User functions are pickled and unpickled for
every subtask here too, so what a function captures is a copy, as it is on a cluster.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.common.jobs.job import JobExecutionResult
from penstock.common.jobs.job_control import JobControl
from penstock.errors import UnsupportedError
from penstock.job.run import JobRun
from penstock.job.shipped_files import same_python
from penstock.job.steps.loop import StepLoop
from penstock.local.steps import LocalSteps
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.usercode.interpreter import fewer_collections
from penstock.runtime.usercode.shipped import shipped

if TYPE_CHECKING:
    from penstock.plan import Pipeline


class LocalExecutor:
    """Executes pipelines in this process. Needs neither Java nor Spark nor pyarrow."""

    reports: tuple[TaskReport, ...] = ()  # of the subtasks of the last job

    def __repr__(self) -> str:
        return "LocalExecutor()"

    def execute(self, pipeline: Pipeline) -> JobExecutionResult:
        """Run a program to its end.

        Raises:
            JobExecutionError: user code failed; its exception is the cause. Nothing was printed or published.
            PenstockError: the program cannot run."""
        return self.prepare(pipeline, JobControl(pipeline.name))()

    def prepare(self, pipeline: Pipeline, control: JobControl) -> Callable[[], JobExecutionResult]:
        """Look at a program, and return what runs it to its end, in any thread; ``control`` can cancel it.

        Raises:
            PenstockError: the program cannot run."""
        python = pipeline.settings.python_executable
        if python is not None and not same_python(python, sys.executable):
            raise UnsupportedError(
                f"set_python_executable() was given {python!r}, and the local executor runs in this process, whose "
                f"Python is {sys.executable!r}. Run the program with the other Python, or on Spark."
            )
        job = JobRun(pipeline, control, loops=True)
        frames = [job.deployment.vertices[index].operators[0].name for index in job.deployment.frames]
        names = frames + [table.name for table in job.deployment.tables]
        if names:  # all rows would pass this process, and those of a DataFrame are where Spark is
            raise UnsupportedError(
                f"The operators {names} read or write DataFrames of Spark, and the local executor runs without Spark. "
                "Run the program on Spark, or put from_collection([…]) and print() in their place."
            )

        def run() -> JobExecutionResult:
            if pipeline.settings.python_archives and threading.current_thread() is not threading.main_thread():
                raise UnsupportedError(  # archives are found in the current folder, which all threads share
                    "A program with add_python_archive() cannot run on the local executor while others do in this "
                    "process. Use execute() in the main thread, or Spark."
                )
            archive = job.deployment.archive
            with fewer_collections(), shipped(None if archive is None else str(archive)):
                result = job.go(lambda: StepLoop(job.deployment, control, LocalSteps, job.progress))
            self.reports = job.reports
            return result

        return run

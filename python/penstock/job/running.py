"""The frame of a run, whoever runs the tasks: it is seen, goes in steps or at once, and is committed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.common.cores import cores
from penstock.common.job import JobExecutionResult
from penstock.common.job_control import JobControl
from penstock.common.job_status import JobStatus
from penstock.job.deployment import Deployment, deploy
from penstock.job.results import JobOutput
from penstock.job.steps.loop import StepLoop
from penstock.job.steps.progress import Progress
from penstock.job.steps.scaling import REFUSALS, Scaling
from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.watching import watched
from penstock.runtime.config.tasks import TaskReport

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline

LOG = logging.getLogger("penstock")


class JobRun:
    """A program that is about to run.

    Args:
        pipeline: the program.
        control: by which the run can be cancelled.
        loops: whether the executor runs iterations of bounded programs.

    Attributes:
        deployment: the job.
        control: as given.
        progress: is told how far the job is.
        reports: of the subtasks, when all is over.

    Raises:
        PenstockError: the program cannot run.
    """

    def __init__(self, pipeline: Pipeline, control: JobControl, *, loops: bool = False) -> None:
        self._settings = pipeline.settings
        self.control = control
        self._scaling = Scaling(pipeline, control, loops=loops) if pipeline.planned_at is not None else None
        if self._scaling is None:
            self.deployment: Deployment = deploy(pipeline, control.job_id.text, loops=loops)
        else:
            self.deployment = self._scaling.looked_at()
        self.progress = Progress(self.deployment, control, self._plan, endless=self.deployment.steps)
        self.reports: tuple[TaskReport, ...] = ()
        if self._settings.job_folder is not None and not self.deployment.steps:
            LOG.warning(
                "The program %r runs in BATCH mode, as one step: its job folder %r is not used, and a run that fails "
                "begins anew. Leave penstock.job.folder out, or set RuntimeExecutionMode.STREAMING.",
                pipeline.name,
                self._settings.job_folder,
            )

    def _plan(self) -> JobGraph:
        assert self.deployment.planned is not None
        return self.deployment.planned()

    def begin(self) -> Stopwatch:
        """The tasks of a job that is one step begin, for the first time or once more: what measures them."""
        self.control.enter(JobStatus.RUNNING)
        self.progress.planned(1, sum(map(self.deployment.slots, range(len(self.deployment.levels)))))
        return Stopwatch(self.progress)

    def go(
        self,
        once: Callable[[JobOutput], Stopwatch],
        steps: Callable[[], StepLoop],
        equip: Callable[[], None] = lambda: None,
        offer: Callable[[], int] = cores,
    ) -> JobExecutionResult:
        """Run it to its end.

        Args:
            once: runs the tasks of a job that is one step, each time after :meth:`begin`, and commits it; returns what
                has measured them.
            steps: makes the loop of any other job.
            equip: is called before; the time that it takes is not the job's.
            offer: how many subtasks there is room for; asked after that.

        Raises:
            JobExecutionError: user code failed; its exception is the cause.
            PenstockError: it cannot run.
        """
        with watched(self.progress, self._settings):
            equip()
            if self._scaling is not None:
                self._become(self._scaling.begun(offer))
            if self.deployment.steps:
                return self._in_steps(steps)
            started = time.perf_counter()
            with JobOutput(self.deployment, self.control) as output:
                watch = once(output)
            self.progress.step(watch.summary(1, output.reports))
            self.reports = output.reports
            return output.result(started)

    def _become(self, deployment: Deployment) -> None:
        """From here on the job has other tasks."""
        self.deployment = deployment
        self.progress.replanned(deployment, self._plan)

    def _in_steps(self, steps: Callable[[], StepLoop]) -> JobExecutionResult:
        """Step by step, at another parallelism whenever it has to be."""
        loop, scaling = steps(), self._scaling
        while True:
            try:
                result = loop.run() if scaling is None else loop.run(scaling.outgrown)
            except REFUSALS as error:
                back = None if scaling is None or loop.opened else scaling.taken_back(error)
                if back is None:
                    raise
                self._become(back)
            else:
                self.reports = loop.reports
                if result is not None:
                    return result
                assert scaling is not None, "it has said so"
                self.control.enter(JobStatus.RESTARTING)
                self._become(scaling.again())
            loop = steps().after(loop)

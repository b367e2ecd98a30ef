"""The run of a job from its program to its result, whichever executor runs its steps."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.common.jobs.job import JobExecutionResult, JobStatus
from penstock.common.jobs.job_control import JobControl
from penstock.common.settings.cores import cores
from penstock.common.settings.settings import Settings
from penstock.job.deployment import Deployment, deploy
from penstock.job.restore.carried import restored
from penstock.job.restore.parallelism import scale, warn_of_unsteady_ids
from penstock.job.restore.taking_over import fit_to_state
from penstock.job.steps.loop import StepLoop
from penstock.job.steps.progress import Progress
from penstock.job.steps.rescale import REFUSALS, Scaling
from penstock.runtime.config.tasks import TaskReport

if TYPE_CHECKING:
    from penstock.plan import JobGraph, Pipeline


@contextlib.contextmanager
def watched(progress: Progress, settings: Settings) -> Generator[None, None, None]:
    """Within the block the job runs: it is seen where the settings say, and in the end so is how it has ended."""
    with contextlib.ExitStack() as open_until_the_end:
        if settings.prometheus_ports is not None:
            from penstock.job.steps.prometheus import exposed

            open_until_the_end.enter_context(exposed(progress, settings.prometheus_ports, settings.prometheus_address))
        try:
            yield
        except BaseException as error:
            progress.ended(error)
            raise
        progress.ended()


LOG = logging.getLogger("penstock")


def deploy_restored(
    pipeline: Pipeline,
    job_id: str | None = None,
    width: int = 0,
    times: int = 0,
    *,
    loops: bool = False,
    preview: bool = False,
) -> Deployment:
    """The job of a program, with the state that it resumes from; at ``width`` subtasks where that is open."""
    state = None if preview else restored(pipeline)
    manifest = None if state is None else state.manifest
    if times == 1:
        warn_of_unsteady_ids(pipeline)
    program = scale(pipeline, width, manifest) if width else pipeline
    if manifest is not None:
        program = fit_to_state(program, manifest, allow=pipeline.settings.ignore_unclaimed)
    deployment = deploy(program, job_id, loops=loops, times=times, resumed=preview or manifest is not None)
    return deployment if state is None else replace(deployment, savepoint=state.savepoint)


class JobRun:
    """A program that is about to run."""

    def __init__(self, pipeline: Pipeline, control: JobControl, *, loops: bool = False) -> None:
        self._pipeline = pipeline
        self._settings = pipeline.settings
        self.control, self._loops = control, loops
        self._scaling = None if pipeline.planned_at is None else Scaling(self._deployed)
        self.deployment = self._deployed(preview=self._scaling is not None)
        self.progress = Progress(self.deployment, control, self._plan, endless=self.deployment.steps)
        self.reports: tuple[TaskReport, ...] = ()
        control.keeps_state = self.deployment.keeps

    def _deployed(self, width: int = 0, times: int = 0, *, preview: bool = False) -> Deployment:
        """The job at a parallelism, from its newest state; a preview, at its own, is without state."""
        job_id, loops = self.control.job_id.text, self._loops
        width = max(self._settings.parallelism, 1) if preview else width
        return deploy_restored(self._pipeline, job_id, width, times, loops=loops, preview=preview)

    def _plan(self) -> JobGraph:
        assert self.deployment.planned is not None
        return self.deployment.planned()

    def go(
        self, steps: Callable[[], StepLoop], equip: Callable[[], None] = lambda: None, offer: Callable[[], int] = cores
    ) -> JobExecutionResult:
        with watched(self.progress, self._settings):
            equip()
            if self._scaling is not None:
                self._become(self._scaling.begin(offer))
            return _with_late_records_logged(self._in_steps(steps))

    def _become(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.progress.replanned(deployment, self._plan)

    def _in_steps(self, steps: Callable[[], StepLoop]) -> JobExecutionResult:
        loop, scaling = steps(), self._scaling
        moves = self._settings.checkpoint_directory is not None
        while True:
            try:
                result = loop.run(scaling.outgrown) if scaling is not None and moves else loop.run()
            except REFUSALS as error:
                back = None if scaling is None or loop.opened else scaling.taken_back(error)
                if back is None:
                    raise
                self._become(back)
            else:
                self.reports = loop.reports
                if result is not None:
                    return result
                assert scaling is not None, "it ended to be scaled"
                self.control.enter(JobStatus.RESTARTING)
                self._become(scaling.again())
            loop = steps().after(loop)


def _with_late_records_logged(result: JobExecutionResult) -> JobExecutionResult:
    """The result, once the log says which operators have dropped records, as nothing else would show it."""
    for operator in result.metrics.values():
        if operator.late_dropped:
            LOG.warning(
                "The operator %r has dropped %s of its %s records as late (numLateRecordsDropped): their windows were "
                "over when they came. Allow for more disorder in the watermark strategy, or give allowed_lateness() or "
                "side_output_late_data(). A DataFrame is read in order of time by from_spark(…, order_by=COLUMN).",
                operator.name,
                f"{operator.late_dropped:,}",
                f"{operator.records_in:,}",
            )
    return result

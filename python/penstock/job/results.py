"""The driver's end of a job: its rows arrive, then it is committed.

Until the job has succeeded, rows wait as bytes, beyond 64 MiB in a temporary file. Each goes when it is read, so what a
program collects is in memory once; the lines it prints are all there for a moment.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable

from penstock.common.job import JobExecutionResult
from penstock.common.job_control import JobControl
from penstock.common.job_id import JobID
from penstock.errors import JobExecutionError
from penstock.job.commit.prepared import commit_prepared
from penstock.job.deployment import Deployment
from penstock.job.outputs import pending_outputs
from penstock.job.rows import JobRows
from penstock.metrics.results import JobMetrics, OperatorMetrics, SubtaskMetrics
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.io.stores import configured
from penstock.runtime.io.two_phase import TwoPhaseOutput


class JobOutput:
    """What the tasks of a job send to the driver; a context manager around their run, which makes the pending folders
    of its outputs and removes them. If the block fails, nothing has been printed or published::

        with JobOutput(deployment) as output:
            output.commit(rows_of_the_tasks)
        result = output.result(started)

    Args:
        deployment: the job.
        control: of the run; None if nobody can cancel it.

    Attributes:
        reports: of the subtasks, in order of vertex and subtask, after :meth:`commit`.
    """

    def __init__(self, deployment: Deployment, control: JobControl | None = None) -> None:
        self._deployment = deployment
        self._control = control
        self._outputs = pending_outputs(deployment.job, deployment.sinks)
        self._open = contextlib.ExitStack()
        self._rows: Rows | None = None
        self.reports: tuple[TaskReport, ...] = ()

    def __enter__(self) -> JobOutput:
        self._open.enter_context(configured(self._deployment.job.settings.storage_options))
        with self._open:
            self._open.enter_context(self._outputs)
            self._open = self._open.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._rows is not None:
            self._rows.close()
        self._open.close()

    def commit(self, rows: Rows, write: Callable[[], None] | None = None) -> None:
        """Commit the job by the reports of its subtasks, and publish its files.

        Args:
            rows: what the tasks have sent to the driver.
            write: writes what others commit, after the last point where the job can be cancelled; if it fails, no file
                becomes visible.

        Raises:
            JobExecutionError: a subtask has not reported, or has twice.
            JobCancelledError: the job is to be cancelled. After this it cannot be.
            ConfigurationError: meanwhile a file has appeared where one was to be written.
        """
        self._rows = rows
        self.reports = tuple(JobRows(rows, self._deployment).reports())
        self._check_reports()
        if self._control is not None:
            self._control.seal()
        if write is not None:
            write()
        self._outputs.commit(self.reports)
        self._commit_prepared()

    def _commit_prepared(self) -> None:
        """Have two-phase sinks commit; there is no manifest that could say so again."""
        for end in self._deployment.ends:
            if isinstance(end.sink, TwoPhaseOutput):
                all_of_them = (each for report in self.reports for each in report.committables)
                own = [each for each in all_of_them if each.operator_id == end.operator_id]
                commit_prepared(end.sink, end.name, own, 1)

    def result(self, started: float) -> JobExecutionResult:
        """After the block, once: print what the job prints; what it has collected and measured.

        Args:
            started: when the job began, by :func:`time.perf_counter`.
        """
        assert self._rows is not None, "the job has not been committed"
        with contextlib.closing(self._rows) as rows:
            sent = JobRows(rows, self._deployment)
            sent.show()
            collected = sent.collected()
        elapsed = int((time.perf_counter() - started) * 1000)
        job = self._deployment.job
        return JobExecutionResult(
            job.name, elapsed, collected, job_metrics(self._deployment, self.reports), JobID(job.job_id)
        )

    def _check_reports(self) -> None:
        expected = [(v.index, i) for v in self._deployment.vertices for i in range(v.parallelism)]
        found = [(report.vertex, report.subtask) for report in self.reports]
        if found != expected:
            raise JobExecutionError(
                f"The job has {len(expected)} subtasks, but the reports are those of {len(found)}: "
                f"{sorted(set(expected) ^ set(found))[:5]} differ. This is a defect of Penstock; nothing was published."
            )


def job_metrics(deployment: Deployment, reports: Iterable[TaskReport]) -> JobMetrics:
    """What the operators have measured. Sources first. O(operators times subtasks).

    Args:
        deployment: the job.
        reports: of its subtasks, in order of vertex and subtask.
    """
    measured: dict[int, list[tuple[SubtaskMetrics, ...]]] = {}
    for report in reports:
        measured.setdefault(report.vertex, []).append(report.counters)
    return JobMetrics(
        [
            OperatorMetrics(config.operator_id, config.name, config.uid, subtasks)
            for level in deployment.levels
            for vertex in level
            for config, subtasks in zip(vertex.operators, zip(*measured[vertex.index], strict=True), strict=True)
        ]
    )

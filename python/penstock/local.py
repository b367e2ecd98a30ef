"""Runs a bounded program in this process, without Spark: for unit tests and first tries.

The same tasks as on Spark, one after the other, level by level, with buffers in memory between them. User functions are
pickled and unpickled for every subtask here too, so what a function captures is a copy, as it is on a cluster.
"""

from __future__ import annotations

import time
from typing import Any

from penstock.common.job import JobExecutionResult
from penstock.deployment import deploy, sinks
from penstock.runtime.config import Deployment, TaskReport
from penstock.runtime.exchange import DRIVER, Row
from penstock.runtime.results import JobOutput
from penstock.runtime.steps import fewer_collections
from penstock.runtime.task import Task


class LocalExecutor:
    """Executes pipelines in this process. Needs neither Java nor Spark nor pyarrow; all exchanged records are held in
    memory.

    Attributes:
        reports: of the subtasks of the last job.
    """

    def __init__(self) -> None:
        self.reports: tuple[TaskReport, ...] = ()

    def execute(self, pipeline: Any) -> JobExecutionResult:
        """Run a program to its end.

        Args:
            pipeline: a :class:`penstock.plan.Pipeline`.

        Raises:
            JobExecutionError: user code failed; its exception is the cause. Nothing was printed or published.
            PenstockError: the program cannot run.
        """
        started = time.perf_counter()
        deployment = deploy(pipeline)
        output = JobOutput(deployment, sinks(pipeline))
        collected = output.take(lambda: _run(deployment))
        self.reports = output.reports
        elapsed = int((time.perf_counter() - started) * 1000)
        return JobExecutionResult(pipeline.name, elapsed, collected)


def _run(deployment: Deployment) -> list[Row]:
    """Run the job; the rows for the driver."""
    for_driver: list[Row] = []
    inboxes: list[dict[int, list[Row]]] = [{} for _ in deployment.levels]
    with fewer_collections():
        for level in range(len(deployment.levels)):
            for slot in range(deployment.slots(level)):
                vertex, subtask = deployment.slot(level, slot)
                task = Task(vertex, subtask, 0, deployment.job)
                for row in task.receive(inboxes[level].pop(slot, [])):
                    _deliver(row, inboxes, for_driver)
                for row in task.finish():
                    _deliver(row, inboxes, for_driver)
    return for_driver


def _deliver(row: Row, inboxes: list[dict[int, list[Row]]], for_driver: list[Row]) -> None:
    if row[0] == DRIVER:
        for_driver.append(row)
    else:
        inboxes[row[0]].setdefault(row[1], []).append(row)

"""Runs a bounded program in this process, without Spark: for unit tests and first tries.

The same tasks as on Spark, one after the other, level by level and round by round, with buffers in memory between
them. User functions are pickled and unpickled for every subtask here too, so what a function captures is a copy, as it
is on a cluster.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from penstock.common.job import JobExecutionResult
from penstock.deployment import deploy, sinks
from penstock.runtime.config import Deployment, TaskReport
from penstock.runtime.exchange import DRIVER, Channel, Row
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
    with fewer_collections():
        return _Job(deployment).run()


class _Job:
    """All tasks of a job. Each round goes through them level by level: the sources run until they end the round or
    themselves, then the others work off what has come, and end when all their channels have ended."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._for_driver: list[Row] = []
        self._inboxes: list[dict[int, list[Row]]] = [{} for _ in deployment.levels]
        self._ended: set[Channel] = set()
        self._sources: dict[int, Iterator[Row | None]] = {}
        self._others: dict[tuple[int, int], Task] = {}

    def run(self) -> list[Row]:
        """Run the job to its end; the rows for the driver."""
        running = [
            (level, slot) for level in range(len(self._inboxes)) for slot in range(self._deployment.slots(level))
        ]
        try:
            while running:
                running = [place for place in running if not self._round(*place)]
        finally:
            for rows in self._sources.values():
                rows.close()  # type: ignore[attr-defined]
        return self._for_driver

    def _round(self, level: int, slot: int) -> bool:
        """Let a task work for a round; whether it has ended."""
        done = self._source(slot) if level == 0 else self._other(level, slot)
        if done:
            vertex, subtask = self._deployment.slot(level, slot)
            outputs = (output for operator in vertex.operators for output in operator.network)
            self._ended.update((to.edge, subtask) for output in outputs for to in output.destinations)
        return done

    def _task(self, level: int, slot: int) -> Task:
        vertex, subtask = self._deployment.slot(level, slot)
        return Task(vertex, subtask, 0, self._deployment.job)

    def _source(self, slot: int) -> bool:
        if slot not in self._sources:
            self._sources[slot] = self._task(0, slot).rounds()
        for row in self._sources[slot]:
            if row is None:
                return False
            self._deliver(row)
        return True

    def _other(self, level: int, slot: int) -> bool:
        task = self._others.pop((level, slot), None) or self._task(level, slot)
        done = self._ended.issuperset(task.channels)
        for row in task.receive(self._inboxes[level].pop(slot, [])):
            self._deliver(row)
        for row in task.finish() if done else task.work_off(self._ended):
            self._deliver(row)
        if not done:
            self._others[level, slot] = task
        return done

    def _deliver(self, row: Row) -> None:
        if row[0] == DRIVER:
            self._for_driver.append(row)
        else:
            self._inboxes[row[0]].setdefault(row[1], []).append(row)

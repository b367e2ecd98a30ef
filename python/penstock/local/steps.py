"""The tasks of a job, in this process: in each step one after the other, level by level. They live on until one fails.

Between them buffers wait: 256 MiB in memory, the rest in temporary files, one per level.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

from penstock.job.deployment import Deployment
from penstock.job.steps.stopwatch import Stopwatch
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import MEMORY, Memory, Rows, Store
from penstock.runtime.config.steps import Assignment
from penstock.runtime.exchange.gate import DRIVER
from penstock.runtime.task.batch_task import task_of
from penstock.runtime.task.task import Task

BETWEEN_TASKS = 256 << 20  # bytes of buffers that wait in memory: no other process is to have them


class LocalSteps:
    """Runs the tasks of steps, level by level; ``memory`` bytes wait between the tasks."""

    keeps_tasks = True

    def __init__(self, deployment: Deployment, memory: int = BETWEEN_TASKS) -> None:
        self._deployment, self._memory = deployment, memory
        self._tasks: dict[tuple[int, int], Task] = {}
        self._attempt = 0
        self._working: Task | None = None
        self._cancelled = False

    def step(self, version: int, assignments: Mapping[tuple[int, int], Assignment], watch: Stopwatch) -> Rows:
        shared, for_driver = Memory(self._memory), Rows(Store(min(MEMORY, self._memory)))
        stores = [Store(shared) for _ in self._deployment.levels]
        inboxes = [defaultdict[int, Rows](partial(Rows, store)) for store in stores]
        try:
            for level in range(len(stores)):
                for slot in range(self._deployment.slots(level)):
                    vertex, subtask = self._deployment.slot(level, slot)
                    place = vertex.index, subtask
                    if place in assignments:
                        inbox = inboxes[level].pop(slot, None)
                        rows = inbox.lend() if inbox is not None else ()
                        sent = self._run(place, assignments[place], rows, watch)
                        self._deliver(sent, level, inboxes, for_driver, watch)
                        watch.end(done=True)
        except BaseException:
            for_driver.close()
            raise
        finally:
            for store in stores:
                store.close()
        return for_driver

    def _run(
        self, place: tuple[int, int], assignment: Assignment, rows: Iterable[Row], watch: Stopwatch
    ) -> Iterable[Row]:
        index, subtask = place
        task = self._tasks.get(place)
        if task is None:
            vertex = self._deployment.vertices[index]
            task = self._tasks[place] = task_of(vertex, subtask, self._attempt, self._deployment.job)
        self._working = task
        if self._cancelled:
            task.cancel()
        watch.begin(index, subtask, task)
        task.begin(assignment)
        yield from task.receive(rows)
        yield from task.finish()
        if task.finished:
            del self._tasks[place]

    def _deliver(
        self, rows: Iterable[Row], level: int, inboxes: list[defaultdict[int, Rows]], for_driver: Rows, watch: Stopwatch
    ) -> None:
        """Rows for later levels wait there; what goes back waits for the next step."""
        for row in rows:
            watch.beat()
            if row.level == DRIVER or row.level <= level:
                for_driver.append(row)
            else:
                inboxes[row.level][row.slot].append(row)

    def write_tables(self) -> None: ...

    def cancel(self) -> None:
        self._cancelled = True
        if self._working is not None:
            self._working.cancel()

    def forget(self, attempt: int) -> None:
        self.close()
        self._attempt = attempt

    def close(self) -> None:
        for task in self._tasks.values():
            with contextlib.suppress(Exception):  # they may be those that have failed
                task.close()
        self._tasks.clear()

"""The tasks of a bounded job, one after the other: level by level and round by round.

Between them buffers wait: 64 MiB in memory, the rest in temporary files, one per level, each gone when the level has
read what was in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain

from penstock.errors import JobExecutionError
from penstock.job.deployment import Deployment
from penstock.job.steps.stopwatch import Stopwatch
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import MEMORY, Memory, Rows, Store
from penstock.runtime.exchange.gate import DRIVER, Channel
from penstock.runtime.task.batch_task import task_of
from penstock.runtime.task.task import Task

MAX_ROUNDS = 100_000
"""How often a loop may go round."""


class RoundsJob:
    """All tasks of a job. Each round goes through them level by level: the sources run until they end the round or
    themselves, then the others work off what has come, and end when all their channels have ended.

    What the tail of an iteration has got, its head emits in the next round; the heads end when all sources have ended
    and a round has led nothing back. (Flink waits for so many milliseconds instead.)

    Args:
        attempt: number from 0.
        watch: is told which task works; None if nobody looks.
        memory: bytes that wait in memory between the tasks, and as many for the driver.
    """

    def __init__(
        self, deployment: Deployment, attempt: int, watch: Stopwatch | None = None, memory: int = MEMORY
    ) -> None:
        self._deployment = deployment
        self._attempt = attempt
        self._watch = watch or Stopwatch(None)
        shared = Memory(memory)
        self._for_driver = Rows(Store(memory))
        self._stores = [Store(shared) for _ in deployment.levels]
        self._inboxes = [defaultdict[int, Rows](partial(Rows, store)) for store in self._stores]  # by slot
        self._ended: set[Channel] = set()
        self._sources: dict[int, tuple[Task, Iterator[Row | None]]] = {}
        self._others: dict[tuple[int, int], Task] = {}
        self._quiet = False
        self._cancelled = False
        self._working: Task | None = None

    def run(self) -> Rows:
        """Run the job to its end; the rows for the driver."""
        running = [
            (level, slot) for level in range(len(self._inboxes)) for slot in range(self._deployment.slots(level))
        ]
        rounds = 0
        try:
            while running:
                self._quiet = not self._inboxes[0] and all(level or self._head(slot) for level, slot in running)
                running = [place for place in running if not self._round(*place)]
                rounds += 1
                if rounds > MAX_ROUNDS and any(level == 0 and self._head(slot) for level, slot in running):
                    raise JobExecutionError(
                        f"An iteration has gone round {MAX_ROUNDS} times and still leads records back. It probably "
                        "never ends; let fewer records through to close_with()."
                    )
        finally:
            for _, rows in self._sources.values():
                rows.close()  # type: ignore[attr-defined]
            for store in self._stores:
                store.close()
            if running:
                self._for_driver.close()
        return self._for_driver

    def cancel(self) -> None:
        """Have the job end by a JobCancelledError. Any thread may call it."""
        self._cancelled = True
        if self._working is not None:
            self._working.cancel()

    def _work(self, level: int, slot: int, task: Task) -> None:
        """A task begins to work."""
        self._working = task
        vertex, subtask = self._deployment.slot(level, slot)
        self._watch.begin(vertex.index, subtask, task)
        if self._cancelled:
            task.cancel()

    def _round(self, level: int, slot: int) -> bool:
        """Let a task work for a round; whether it has ended."""
        is_source = level == 0 and not self._head(slot)
        done = self._source(slot) if is_source else self._other(level, slot)
        self._watch.end(done=done)
        if done:
            vertex, subtask = self._deployment.slot(level, slot)
            outputs = (output for operator in vertex.operators for output in operator.network)
            self._ended.update((to.edge, subtask) for output in outputs for to in output.destinations)
        return done

    def _head(self, slot: int) -> bool:
        """Whether a task of the first level is the head of an iteration."""
        return bool(self._deployment.slot(0, slot)[0].inputs)

    def _task(self, level: int, slot: int) -> Task:
        vertex, subtask = self._deployment.slot(level, slot)
        return task_of(vertex, subtask, self._attempt, self._deployment.job)

    def _source(self, slot: int) -> bool:
        if slot not in self._sources:
            task = self._task(0, slot)
            self._sources[slot] = task, task.rounds()
        task, rows = self._sources[slot]
        self._work(0, slot, task)
        for row in rows:
            if row is None:
                return False
            self._deliver(row)
        return True

    def _other(self, level: int, slot: int) -> bool:
        task = self._others.pop((level, slot), None) or self._task(level, slot)
        self._work(level, slot, task)
        done = self._quiet if level == 0 else self._ended.issuperset(task.channels)
        inbox = self._inboxes[level].pop(slot, None)
        early = task.receive(inbox.take() if inbox is not None else ())
        for row in chain(early, task.finish() if done else task.work_off(self._ended)):
            self._deliver(row)
        if not done:
            self._others[level, slot] = task
        return done

    def _deliver(self, row: Row) -> None:
        self._watch.beat()
        if row.level == DRIVER:
            self._for_driver.append(row)
        else:
            self._inboxes[row.level][row.slot].append(row)

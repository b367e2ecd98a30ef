"""Subtasks that a worker process keeps between steps. One that has run the last step of its subtask goes on. One
that has run an earlier one passes its state on, to which the logs since are added. One that has run a step which
did not count is of no use: nothing of it is in the manifest. One whose subtask other workers have run since is kept
for its state, and only for much of it: of a thousand subtasks each worker would end with nearly all, and each of these
has the buffers of as many channels."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from penstock.runtime.config.steps import Assignment
from penstock.runtime.task.task import Task

MEMORY = 1 << 30  # bytes of state that a process keeps, about
WORTH = 1 << 20  # bytes of state that are worth keeping while others run the subtask: less is read in no time

Name = tuple[str, int, int]  # a checkpoint directory, a vertex, a subtask


class LivingTasks:
    """Subtasks by name; the least recently used go first. ``limit`` is for their state in bytes, by the size of its
    files."""

    def __init__(self, limit: int = MEMORY) -> None:
        self._limit = limit
        self._tasks: OrderedDict[Name, Task] = OrderedDict()
        self._sizes: dict[Name, int] = {}
        self._total = 0
        self._lock = threading.Lock()
        self.kept = self.repaired = self.built = 0

    def take(self, name: Name, assignment: Assignment, make: Callable[[], Task]) -> Task:
        """A task that can run a step, a new one if need be; the caller has it for itself until :meth:`put`."""
        with self._lock:
            task = self._remove(name)
        if task is not None and task.volatile == assignment.volatile:
            self.kept += 1
            return task
        new = make()
        if task is None:
            self.built += 1
        else:
            self.repaired += 1
            new.inherit(task)
        return new

    def put(self, name: Name, task: Task) -> None:
        """Keep a task that has run a step to its end, and that nobody else uses."""
        with self._lock:
            gone = [self._remove(name)]
            self._tasks[name] = task
            self._sizes[name] = size = task.bytes()
            self._total += size
            gone += [self._remove(other) for other in self._left_behind(name[0], task.version)]
            while len(self._tasks) > 1 and self._total > self._limit:
                gone.append(self._remove(next(iter(self._tasks))))
        for kept in gone:
            if kept is not None:
                kept.close()

    def _left_behind(self, folder: str, version: int) -> list[Name]:
        """Those with little state whose subtask has run a step elsewhere. Before the last step it was nobody's turn."""
        names = []
        for name, task in self._tasks.items():
            if name[0] == folder and task.version >= version - 1:
                break
            if name[0] == folder and self._sizes[name] < WORTH:
                names.append(name)
        return names

    def _remove(self, name: Name) -> Task | None:
        self._total -= self._sizes.pop(name, 0)
        return self._tasks.pop(name, None)

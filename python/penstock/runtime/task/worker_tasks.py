"""Subtasks that a worker process keeps between steps. One that has run the last step of its subtask goes on. One
that has run an earlier one passes its state on, to which the logs since are added. One that has run a step which
did not count is of no use: nothing of it is in the manifest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from penstock.runtime.config.steps import Assignment
from penstock.runtime.task.task import Task

MEMORY = 1 << 30  # bytes of state that a process keeps, about

Name = tuple[str, int, int]  # a checkpoint directory, a vertex, a subtask


class LivingTasks:
    """Subtasks by name; the least recently used go first. ``limit`` is for their state in bytes, by the size of its
    files."""

    def __init__(self, limit: int = MEMORY) -> None:
        self._limit = limit
        self._tasks: OrderedDict[Name, Task] = OrderedDict()
        self._lock = threading.Lock()
        self.kept = self.repaired = self.built = 0

    def take(self, name: Name, assignment: Assignment, make: Callable[[], Task]) -> Task:
        """A task that can run a step, a new one if need be; the caller has it for itself until :meth:`put`."""
        with self._lock:
            task = self._tasks.pop(name, None)
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
            gone = [self._tasks.pop(name)] if name in self._tasks else []
            self._tasks[name] = task
            while len(self._tasks) > 1 and sum(kept.bytes() for kept in self._tasks.values()) > self._limit:
                gone.append(self._tasks.popitem(last=False)[1])
        for kept in gone:
            kept.close()

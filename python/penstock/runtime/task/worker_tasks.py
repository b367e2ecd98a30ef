"""Subtasks that a worker process keeps between steps, whichever it is given.

One that has run the last step of its subtask goes on. One that has run an earlier one hands over its state, to which
the logs since are added. One that has run a step which did not count is of no use: nothing of it is in the manifest.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from penstock.runtime.config.steps import Assignment
from penstock.runtime.task.step_task import StepTask

MEMORY = 1 << 30
"""Bytes of state that a process keeps, about."""

Name = tuple[str, int, int]
"""A checkpoint directory, a vertex, a subtask."""


class LivingTasks:
    """Subtasks by name; the least recently used go first.

    Args:
        limit: bytes of memory for their state, by the size of its files.

    Attributes:
        kept, mended, made: how many went on; how many took over older state; how many began with files.
    """

    def __init__(self, limit: int = MEMORY) -> None:
        self._limit = limit
        self._tasks: OrderedDict[Name, StepTask] = OrderedDict()
        self._lock = threading.Lock()
        self.kept = self.mended = self.made = 0

    def take(self, name: Name, assignment: Assignment, make: Callable[[], StepTask]) -> StepTask:
        """A task that can run a step; the caller has it for itself until :meth:`put`.

        Args:
            name: of the subtask.
            assignment: of the step.
            make: a new one.
        """
        with self._lock:
            task = self._tasks.pop(name, None)
        if task is not None and task.volatile == assignment.volatile:
            self.kept += 1
            return task
        new = make()
        if task is None:
            self.made += 1
        else:
            self.mended += 1
            new.inherit(task)
        return new

    def put(self, name: Name, task: StepTask) -> None:
        """Keep a task that has run a step to its end.

        Args:
            name: of the subtask.
            task: which nobody else uses.
        """
        gone: list[StepTask] = []
        with self._lock:
            before = self._tasks.pop(name, None)
            self._tasks[name] = task
            gone += [before] if before is not None else []
            while len(self._tasks) > 1 and sum(each.bytes() for each in self._tasks.values()) > self._limit:
                gone.append(self._tasks.popitem(last=False)[1])
        for each in gone:
            each.close()

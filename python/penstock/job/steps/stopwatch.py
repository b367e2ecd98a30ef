"""How long the parts of a step take, and each of its tasks; and the summary of the step out of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator

from penstock.job.steps.counts import Place, StepSummary
from penstock.job.steps.progress import Progress
from penstock.runtime.task.task import Task

_BEAT = 0.25  # seconds between two looks at what a task has counted
_STRIDE = 0.1
"""Seconds that a task may work between two moments in which it can be looked at; if it does longer, there are more of
them."""


class Stopwatch:
    """Measures one step of a job, whose tasks run in this thread, and tells ``progress``, or elsewhere."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._began = time.time()
        self._started = time.perf_counter()
        self._parts: dict[str, float] = {}
        self._busy: dict[Place, float] = {}
        self._known: set[Place] = set()
        self._looked = self._started
        self._place: Place = (0, 0)
        self._task: Task | None = None
        self._since = self._started
        self._paused = self._started

    @contextlib.contextmanager
    def part(self, name: str) -> Generator[None, None, None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._parts[name] = self._parts.get(name, 0) + (time.perf_counter() - started) * 1000

    def begin(self, vertex: int, subtask: int, task: Task) -> None:
        self._place, self._task, self._since = (vertex, subtask), task, time.perf_counter()
        self._paused = self._since
        if self._progress is not None:
            task.look = self._pause
            self._progress.working(vertex, subtask)
        if self._place not in self._known and self._progress is not None:
            self._known.add(self._place)
            self._progress.execution(vertex, subtask, 0, "RUNNING")

    def _pause(self) -> bool:
        """A moment between two records of the task that works; whether it was long in coming."""
        now = time.perf_counter()
        long, self._paused = now - self._paused > _STRIDE, now
        if now - self._looked >= _BEAT:
            self._look()
        return long

    def beat(self) -> None:
        if time.perf_counter() - self._looked >= _BEAT:
            self._look()

    def _look(self) -> None:
        self._looked = now = time.perf_counter()
        worked = self._busy.get(self._place, 0) + (now - self._since) * 1000
        if self._task is not None and self._progress is not None:
            with contextlib.suppress(Exception):  # a gauge of the user's that fails shows at the task's end
                self._progress.sample(*self._place, self._task.counters(), worked)

    def end(self, *, done: bool) -> None:
        self._look() if done else self.beat()
        worked = (time.perf_counter() - self._since) * 1000
        self._busy[self._place] = self._busy.get(self._place, 0) + worked
        if self._task is not None:
            self._task.look = None
        self._task = None
        if done and self._progress is not None:
            self._progress.execution(*self._place, 0, "FINISHED")

    def summary(self, version: int) -> StepSummary:
        ended = self._began + time.perf_counter() - self._started
        return StepSummary(version, self._began, ended, self._parts, self._busy)

"""The executions of a job's ExecutionGraph, moved on as its tasks are seen.

Whoever watches tasks sees some of their states only: a task may have ended between two looks. The states between are
passed through, so that each execution goes Flink's way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.common.jobs.job_executions import JobExecutions, VertexExecutions

if TYPE_CHECKING:
    from penstock.plan import Execution, ExecutionGraph, Executions
    from penstock.plan.types import ExecutionState

_WAY: tuple[ExecutionState, ...] = ("CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED")
ENDED = frozenset(("FINISHED", "CANCELED", "FAILED"))
"""States that an execution does not leave."""


class Attempts:
    """The attempts of all subtasks. Any thread may tell and ask."""

    def __init__(self, graph: Callable[[], ExecutionGraph]) -> None:
        self._make = graph
        self._lock = threading.Lock()
        self._graph: ExecutionGraph | None = None
        self._live: Executions
        self._index: dict[int, int] = {}  # of the execution vertex, by job vertex
        self._sizes: dict[int, int] = {}
        self._base: dict[tuple[int, int], int] = {}  # attempts before this run of the tasks

    def _executions(self) -> Executions:
        if self._graph is None:
            graph = self._make()
            self._index = {vertex.job_vertex: vertex.index for vertex in graph.vertices}
            self._sizes = {vertex.job_vertex: vertex.parallelism for vertex in graph.vertices}
            self._live = graph.executions()
            self._graph = graph
        return self._live

    def seen(self, vertex: int, subtask: int, attempt: int, state: ExecutionState) -> None:
        """A task was seen. What is older than what is known already changes nothing."""
        with self._lock:
            live = self._executions()
            at = self._index[vertex]
            number = attempt + self._base.get((vertex, subtask), 0)
            current = live.current(at, subtask)
            if number < current.attempt:
                return
            while current.attempt < number:
                _end(live, at, subtask, "FAILED")
                current = live.reset(at, subtask)
            _lead(live, at, subtask, state)

    def again(self, failed: tuple[int, int] | None) -> None:
        """All tasks run again: the one that failed is FAILED, the others are CANCELED, as when Flink restarts."""
        with self._lock:
            live = self._executions()
            for vertex, size in self._sizes.items():
                for subtask in range(size):
                    at, place = self._index[vertex], (vertex, subtask)
                    _end(live, at, subtask, "FAILED" if place == failed else "CANCELED")
                    self._base[place] = live.reset(at, subtask).attempt

    def finish(self, state: ExecutionState, failed: tuple[int, int] | None = None) -> None:
        """The job has ended: so have all executions. O(subtasks)."""
        with self._lock:
            live = self._executions()
            for vertex, size in self._sizes.items():
                for subtask in range(size):
                    _lead(live, self._index[vertex], subtask, "FAILED" if failed == (vertex, subtask) else state)

    def now(self) -> JobExecutions:
        """All executions as they are. O(subtasks)."""
        with self._lock:
            live = self._executions()
            assert self._graph is not None
            return JobExecutions(
                self._graph,
                tuple(
                    VertexExecutions(
                        vertex.job_vertex,
                        vertex.name,
                        tuple(live.current(vertex.index, subtask) for subtask in range(vertex.parallelism)),
                        tuple(tuple(live.prior(vertex.index, subtask)) for subtask in range(vertex.parallelism)),
                    )
                    for vertex in self._graph.vertices
                ),
            )

    def current(self, vertex: int, subtask: int) -> Execution:
        """The current execution of a subtask."""
        with self._lock:
            live = self._executions()
            return live.current(self._index[vertex], subtask)


def _lead(live: Executions, at: int, subtask: int, state: ExecutionState) -> None:
    """Lead an execution to a state by Flink's way, if it leads there."""
    if state not in _WAY:
        _end(live, at, subtask, state)
        return
    current = live.current(at, subtask).state
    if current in _WAY:
        for following in _WAY[_WAY.index(current) + 1 : _WAY.index(state) + 1]:
            live.transition(at, subtask, following)


def _end(live: Executions, at: int, subtask: int, state: ExecutionState) -> None:
    """End an execution that has not ended; CANCELING is led there too, and a cancelled one does not fail."""
    current = live.current(at, subtask).state
    if current in ENDED:
        return
    cancelled = state in ("CANCELING", "CANCELED")
    if cancelled and current in ("DEPLOYING", "RUNNING"):
        live.transition(at, subtask, "CANCELING")
        current = "CANCELING"
    if state == "CANCELING":
        return
    live.transition(at, subtask, "CANCELED" if cancelled or current == "CANCELING" else state)

"""Progress: what is known of a job while it runs. Whoever runs the job tells, anybody asks."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

from penstock.common.jobs.job_control import JobControl
from penstock.common.jobs.job_executions import JobExecutions, VertexExecutions
from penstock.job.deployment import Deployment
from penstock.job.steps.counts import BUSY, PARTS, READ, WRITTEN, Counts, Place, StepSummary
from penstock.metrics.results import OperatorMetrics, SubtaskMetrics
from penstock.metrics.running_job import (
    RunningMetrics,
    RunningOperator,
    RunningTask,
    RunningVertex,
    SourceProgress,
    StateSize,
    StepTimes,
)
from penstock.runtime.config.tasks import OperatorConfig, VertexConfig

if TYPE_CHECKING:
    from penstock.plan import Execution, ExecutionGraph, Executions, JobGraph
    from penstock.plan.types import ExecutionState

_REMEMBERED = 100  # steps whose times are remembered
_LONG = 1  # seconds in which a task should have done something, or it is said that the job waits for it


class Progress:
    """All that is seen of one run of a job. Any thread may tell and ask. ``endless``: tasks run on after a step."""

    def __init__(
        self,
        deployment: Deployment,
        control: JobControl,
        job_graph: Callable[[], JobGraph],
        *,
        endless: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._control, self._endless, self._clock = control, endless, clock
        self._lock = threading.Lock()
        self._began = clock()
        self.replanned(deployment, job_graph)
        self._times: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=_REMEMBERED)
        self._sources: dict[str, SourceProgress] = {}
        self._version = self._failed = self._since = 0
        self._last = 0.0
        self._started = self._began
        self._stopped: float | None = None
        self._waits_for = ""
        self._working: tuple[str, float] | None = None
        control.observed = self

    @property
    def job_id(self) -> str:
        return self._control.job_id.text

    def planned(self, version: int, tasks: int) -> None:
        with self._lock:
            self._started = self._clock()

    def execution(self, vertex: int, subtask: int, attempt: int, state: ExecutionState) -> None:
        """A task is seen in one of Flink's states; in an endless job a FINISHED one has ended the step only."""
        self._attempts.seen(vertex, subtask, attempt, "RUNNING" if self._endless and state == "FINISHED" else state)

    def sample(
        self, vertex: int, subtask: int, counters: tuple[SubtaskMetrics, ...], busy_ms: float | None = None
    ) -> None:
        """The counts of a task in the step that runs, and for how long it has worked in it."""
        with self._lock:
            now = self._clock()
            place, over = (vertex, subtask), now - self._started
            if self._working is not None:
                self._working = self._working[0], now
            self._counts.sample(place, counters, over)
            if busy_ms is not None:
                self._counts.busy(place, busy_ms, over)

    def replanned(self, deployment: Deployment, job_graph: Callable[[], JobGraph]) -> None:
        """The job continues at another parallelism: with other tasks, whose executions and counts start over."""
        with self._lock:
            self._deployment = deployment
            self._attempts = Attempts(lambda: job_graph().execution_graph())
            self._counts = Counts(self._clock)
            self._states: dict[tuple[str, int], StateSize] = {}

    def working(self, vertex: int, subtask: int) -> None:
        """A task of this process works, one at a time: it is in a call of the user's until its next sample."""
        with self._lock:
            self._working = self._deployment.vertices[vertex].task_name(subtask), self._clock()

    def waiting(self, what: str) -> None:
        """The job waits for something, a noun; "" for nothing any more."""
        with self._lock:
            self._waits_for = what

    def busy(self, vertex: int, subtask: int, busy_ms: float) -> None:
        with self._lock:
            self._counts.busy((vertex, subtask), busy_ms, self._clock() - self._started)

    def step(self, summary: StepSummary) -> None:
        with self._lock:
            self._version = summary.version
            self._since = 0 if summary.durable else self._since + 1
            self._times.append((summary.milliseconds, summary.parts))
            self._last = summary.milliseconds if summary.durable else self._last
            self._states.update(summary.states)
            self._sources.update(summary.sources)
            seconds = summary.milliseconds / 1000
            self._counts.step(summary.counters, summary.busy, seconds, durable=summary.durable)

    def discarded(self, error: BaseException | None = None) -> None:
        """A step has failed (``error`` may name the task), and all tasks run again. O(subtasks)."""
        with self._lock:
            self._failed += 1
            self._since = 0
            self._counts.back()
        self._attempts.again(self._failed_task(error))

    def ended(self, error: BaseException | None = None) -> None:
        """The job has ended, and with it all its tasks; by an error, unless it has finished. O(subtasks)."""
        with self._lock:
            self._stopped = self._clock()
        self._attempts.finish("FINISHED" if error is None else "CANCELED", self._failed_task(error))

    def _failed_task(self, error: BaseException | None) -> Place | None:
        task, subtask = getattr(error, "task", None), getattr(error, "subtask", None)
        if task is None or subtask is None:
            return None
        tasks = ((vertex.index, vertex.task_name(subtask)) for vertex in self._deployment.vertices)
        return next(((vertex, subtask) for vertex, name in tasks if name == task), None)

    def executions(self) -> JobExecutions:
        return self._attempts.now()

    def metrics(self) -> RunningMetrics:
        with self._lock:
            chains, rates = self._counts.chains(), self._counts.rates()
            now = int(time.time() * 1000)
            levels = [vertex for level in self._deployment.levels for vertex in level]
            operators = {
                config.operator_id: self._operator(config, vertex, position, chains, rates, now)
                for vertex in levels
                for position, config in enumerate(vertex.operators)
            }
            times = self._step_times()
            version, failed, since = self._version, self._failed, self._since
            waits_for = self._waited_for()
            seconds = (self._clock() if self._stopped is None else self._stopped) - self._began
        return RunningMetrics(
            self._deployment.job.name,
            self._control.status.name,
            seconds,
            version,
            failed,
            times,
            tuple(self._vertex(vertex, rates) for vertex in levels),
            operators,
            tuple(vertex.operators[0].operator_id for vertex in levels if not vertex.inputs),
            tuple(op.operator_id for v in levels for op in v.operators if not op.chained and not op.network),
            waits_for,
            since,
        )

    def _waited_for(self) -> str:
        if self._stopped is not None or self._working is None:
            return "" if self._stopped is not None else self._waits_for
        task, since = self._working
        seconds = int(self._clock() - since)
        return f"{task}: its function has taken {seconds} s, for one record or to open" if seconds >= _LONG else ""

    def _operator(
        self,
        config: OperatorConfig,
        vertex: VertexConfig,
        position: int,
        chains: Mapping[Place, tuple[SubtaskMetrics, ...]],
        rates: Mapping[Hashable, float],
        now: int,
    ) -> RunningOperator:
        places = ((vertex.index, subtask) for subtask in range(vertex.parallelism))
        subtasks = tuple(chains[place][position] for place in places if place in chains)
        sizes = (self._states.get((config.operator_id, subtask)) for subtask in range(vertex.parallelism))
        return RunningOperator(
            OperatorMetrics(config.operator_id, config.name, config.uid, subtasks),
            rates.get((READ, config.operator_id), 0),
            rates.get((WRITTEN, config.operator_id), 0),
            sum((size for size in sizes if size is not None), StateSize()),
            self._sources.get(config.operator_id),
            now,
        )

    def _vertex(self, vertex: VertexConfig, rates: Mapping[Hashable, float]) -> RunningVertex:
        tasks = []
        for subtask in range(vertex.parallelism):
            current = self._attempts.current(vertex.index, subtask)
            busy = min(rates.get((BUSY, vertex.index, subtask), 0) / 1000, 1)
            tasks.append(RunningTask(current.state, current.attempt, busy))
        return RunningVertex(vertex.name, tuple(operator.operator_id for operator in vertex.operators), tuple(tasks))

    def _step_times(self) -> StepTimes:
        if not self._times:
            return StepTimes()
        lengths = sorted(length for length, _ in self._times)
        named = {name for _, parts in self._times for name in parts}
        parts = {name: median(times.get(name, 0) for _, times in self._times) for name in PARTS if name in named}
        return StepTimes(median(lengths), lengths[(len(lengths) * 99 - 1) // 100], parts, self._last)


_WAY: tuple[ExecutionState, ...] = ("CREATED", "SCHEDULED", "DEPLOYING", "RUNNING", "FINISHED")
ENDED = frozenset(("FINISHED", "CANCELED", "FAILED"))  # states that an execution does not leave


class Attempts:
    """The attempts of all subtasks. Any thread may tell and ask."""

    def __init__(self, graph: Callable[[], ExecutionGraph]) -> None:
        self._make = graph
        self._lock = threading.Lock()
        self._base: dict[Place, int] = {}  # attempts before this run of the tasks

    @cached_property
    def _graph(self) -> ExecutionGraph:
        return self._make()

    @cached_property
    def _live(self) -> Executions:
        return self._graph.executions()

    @cached_property
    def _index(self) -> dict[int, int]:
        return {vertex.job_vertex: vertex.index for vertex in self._graph.vertices}

    def _subtasks(self) -> Iterator[tuple[int, Place]]:
        for vertex in self._graph.vertices:
            yield from ((vertex.index, (vertex.job_vertex, subtask)) for subtask in range(vertex.parallelism))

    def seen(self, vertex: int, subtask: int, attempt: int, state: ExecutionState) -> None:
        """A task was seen. What is older than what is known already changes nothing."""
        with self._lock:
            live, at = self._live, self._index[vertex]
            number = attempt + self._base.get((vertex, subtask), 0)
            current = live.current(at, subtask)
            if number < current.attempt:
                return
            while current.attempt < number:
                _end(live, at, subtask, "FAILED")
                current = live.reset(at, subtask)
            _lead(live, at, subtask, state)

    def again(self, failed: Place | None) -> None:
        """All tasks run again: the one that failed is FAILED, the others are CANCELED, as when Flink restarts."""
        with self._lock:
            for at, place in self._subtasks():
                _end(self._live, at, place[1], "FAILED" if place == failed else "CANCELED")
                self._base[place] = self._live.reset(at, place[1]).attempt

    def finish(self, state: ExecutionState, failed: Place | None = None) -> None:
        with self._lock:
            for at, place in self._subtasks():
                _lead(self._live, at, place[1], "FAILED" if place == failed else state)

    def now(self) -> JobExecutions:
        with self._lock:
            live = self._live
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
        with self._lock:
            return self._live.current(self._index[vertex], subtask)


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

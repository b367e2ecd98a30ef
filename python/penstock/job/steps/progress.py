"""Progress: what is known of a job while it runs. Whoever runs the job tells, anybody asks::

    progress = Progress(deployment, control, pipeline.job_graph)
    progress.planned(version=1, tasks=12)
    progress.execution(vertex, subtask, attempt, "RUNNING")
    progress.sample(vertex, subtask, counters, busy_ms)      # now and then, if it is known
    progress.step(StepSummary(…))                            # or progress.discarded(error), and the step again
    progress.ended()                                         # or progress.ended(error)

A bounded job is the one step from version 0 to version 1.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from statistics import median
from typing import TYPE_CHECKING

from penstock.common.job_control import JobControl
from penstock.common.job_executions import JobExecutions
from penstock.job.deployment import Deployment
from penstock.job.steps.attempts import Attempts
from penstock.job.steps.counts import BUSY, READ, WRITTEN, Counts
from penstock.job.steps.events import PARTS, Place, StepSummary
from penstock.metrics.results import OperatorMetrics, SubtaskMetrics
from penstock.metrics.running import (
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
    from penstock.plan import JobGraph
    from penstock.plan.types import ExecutionState

_REMEMBERED = 100
"""Steps whose times are remembered."""


class Progress:
    """All that is seen of one run of a job. Any thread may tell and ask; telling costs O(operators of the tasks told
    of), asking O(operators times subtasks).

    Args:
        deployment: the job.
        control: of the run; its client finds this there.
        job_graph: makes the plan, when somebody asks for executions first.
        endless: the job goes on after a step, so a task that has ended a step runs on.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        deployment: Deployment,
        control: JobControl,
        job_graph: Callable[[], JobGraph],
        *,
        endless: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deployment = deployment
        self._control = control
        self._endless = endless
        self._clock = clock
        self._attempts = Attempts(lambda: job_graph().execution_graph())
        self._lock = threading.Lock()
        self._began = clock()
        self._counts = Counts(clock)
        self._times: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=_REMEMBERED)
        self._states: dict[tuple[str, int], StateSize] = {}
        self._sources: dict[str, SourceProgress] = {}
        self._version = self._failed = 0
        self._started = self._began
        self._stopped: float | None = None
        control.observed = self

    @property
    def job_id(self) -> str:
        """Of the run, 32 hex digits."""
        return self._control.job_id.text

    # --- telling ---

    def planned(self, version: int, tasks: int) -> None:
        """A step begins.

        Args:
            version: that it is to make.
            tasks: that run in it.
        """
        with self._lock:
            self._started = self._clock()

    def execution(self, vertex: int, subtask: int, attempt: int, state: ExecutionState) -> None:
        """A task has come into a state, or is seen in it.

        Args:
            vertex: index of its JobVertex.
            subtask: from 0.
            attempt: since the step began, from 0.
            state: in Flink's words. In an endless job a task that is FINISHED has ended the step, and runs on.
        """
        self._attempts.seen(vertex, subtask, attempt, "RUNNING" if self._endless and state == "FINISHED" else state)

    def sample(
        self, vertex: int, subtask: int, counters: tuple[SubtaskMetrics, ...], busy_ms: float | None = None
    ) -> None:
        """What a task has counted so far in the step that runs, and for how long it has worked in it.

        Args:
            vertex: index of its JobVertex.
            subtask: from 0.
            counters: by operator of the chain, in pre-order.
            busy_ms: milliseconds; None if that is told otherwise.
        """
        with self._lock:
            place, over = (vertex, subtask), self._clock() - self._started
            self._counts.sample(place, counters, over)
            if busy_ms is not None:
                self._counts.busy(place, busy_ms, over)

    def replanned(self, deployment: Deployment, job_graph: Callable[[], JobGraph]) -> None:
        """The job goes on at another parallelism: with other tasks, whose executions and counts begin anew.

        Args:
            deployment, job_graph: as they are from now on.
        """
        with self._lock:
            self._deployment = deployment
            self._attempts = Attempts(lambda: job_graph().execution_graph())
            self._counts = Counts(self._clock)
            self._states = {}

    def busy(self, vertex: int, subtask: int, busy_ms: float) -> None:
        """For how long a task has worked so far in the step that runs, where nobody sees its counters."""
        with self._lock:
            self._counts.busy((vertex, subtask), busy_ms, self._clock() - self._started)

    def step(self, summary: StepSummary) -> None:
        """A step has its manifest. O(operators times subtasks)."""
        with self._lock:
            self._version = summary.version
            self._times.append((summary.milliseconds, summary.parts))
            self._states.update(summary.states)
            self._sources.update(summary.sources)
            self._counts.step(summary.counters, summary.busy, summary.milliseconds / 1000)

    def discarded(self, error: BaseException | None = None) -> None:
        """A step has failed, and all tasks run again from the newest version. O(subtasks).

        Args:
            error: why; if it names the task that failed, that is FAILED and the others are CANCELED.
        """
        with self._lock:
            self._failed += 1
            self._counts.discard()
        self._attempts.again(self._failed_task(error))

    def ended(self, error: BaseException | None = None) -> None:
        """The job has ended, and with it all its tasks. O(subtasks).

        Args:
            error: why it has failed or was cancelled; None if it has finished.
        """
        with self._lock:
            self._stopped = self._clock()
        self._attempts.finish("FINISHED" if error is None else "CANCELED", self._failed_task(error))

    def _failed_task(self, error: BaseException | None) -> Place | None:
        task, subtask = getattr(error, "task", None), getattr(error, "subtask", None)
        if task is None or subtask is None:
            return None
        tasks = ((each.index, each.task_name(subtask)) for each in self._deployment.vertices)
        return next(((vertex, subtask) for vertex, name in tasks if name == task), None)

    # --- asking ---

    def executions(self) -> JobExecutions:
        """The execution graph with its attempts, as they are now."""
        return self._attempts.now()

    def metrics(self) -> RunningMetrics:
        """Operators, chains, steps, as they are now."""
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
            version, failed = self._version, self._failed
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
            tuple(each.operator_id for v in levels for each in v.operators if not each.chained and not each.network),
        )

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
        return RunningVertex(vertex.name, tuple(each.operator_id for each in vertex.operators), tuple(tasks))

    def _step_times(self) -> StepTimes:
        if not self._times:
            return StepTimes()
        lengths = sorted(length for length, _ in self._times)
        named = {name for _, parts in self._times for name in parts}
        parts = {name: median(each.get(name, 0) for _, each in self._times) for name in PARTS if name in named}
        return StepTimes(median(lengths), lengths[(len(lengths) * 99 - 1) // 100], parts, self._times[-1][0])

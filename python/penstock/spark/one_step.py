"""Runs a bounded job on Spark as one step. Workers load this too.

An accumulator brings the counters of finished tasks to whoever watches the job. The final counts come from the reports
among the rows, of exactly the attempts whose rows were used.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from penstock.common.jobs.job_control import JobControl
from penstock.job.deployment import Deployment
from penstock.job.steps.progress import Progress
from penstock.job.steps.stopwatch import Stopwatch
from penstock.job.steps.versions import Place
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import Assignment
from penstock.runtime.exchange.gate import TABLE
from penstock.spark.frames import waiting, write_tables
from penstock.spark.job_tags import context_of
from penstock.spark.shipped_code import check_places
from penstock.spark.spark_job import driver_rows

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

Counted = tuple[str, int, int, tuple[Any, ...]]
"""Job, vertex, subtask, counters by operator."""

_lock = threading.Lock()
_accumulators: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by SparkContext: it never forgets one
_jobs: dict[str, Progress] = {}


@contextlib.contextmanager
def counting(session: Any, progress: Progress) -> Iterator[Accumulator[list[Counted]] | None]:
    """Within the block ``progress`` gets what tasks add to the accumulator; None over Spark Connect, which has none."""
    spark = context_of(session)
    if spark is None:
        yield None
        return
    _jobs[progress.job_id] = progress
    try:
        with _lock:
            if spark not in _accumulators:
                _accumulators[spark] = spark.accumulator([], Tellers())
        yield _accumulators[spark]
    finally:
        del _jobs[progress.job_id]


class Tellers:
    """Joins lists in tasks, and tells of them on the driver. The names are those of pyspark's ``AccumulatorParam``."""

    def zero(self, value: list[Counted]) -> list[Counted]:
        return []

    def addInPlace(self, value1: list[Counted], value2: list[Counted]) -> list[Counted]:
        for counted in value2:
            job, vertex, subtask, counters = counted
            if job not in _jobs:  # in a task, or too late
                value1.append(counted)
            else:
                with contextlib.suppress(Exception):  # an error would end what serves all accumulators
                    _jobs[job].sample(vertex, subtask, counters)
        return value1


class SparkOneStep:
    """A ``Runner`` of a job that commits once."""

    keeps_tasks = False

    def __init__(
        self, session: Any, own: Any, deployment: Deployment, control: JobControl, seen: Progress, *, line: bool | None
    ) -> None:
        self._session, self._own, self._deployment = session, own, deployment
        self._control, self._seen, self._line = control, seen, line
        self._frame: Any = None
        self._kept = contextlib.ExitStack()  # the rows of tables, until they are written

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """The tasks read all that there is, whatever the assignments."""
        from penstock.spark.lowering import lower

        session, deployment = self._session, self._deployment
        with counting(session, self._seen) as counts:
            self._frame = frame = lower(session, deployment, counts=counts)
            if deployment.tables:
                self._kept.enter_context(waiting(frame))
                frame = frame.where(f"edge > {TABLE}")
            rows = driver_rows(session, frame, deployment, self._control, self._seen, line=self._line)
        if context_of(session) is not None:  # while it ran, executors may have come on other hosts
            with contextlib.ExitStack() as refused:
                refused.callback(rows.close)
                check_places(session, deployment)
                refused.pop_all()
        return rows

    def write_tables(self) -> None:
        if self._deployment.tables:
            write_tables(self._frame, self._deployment, self._own)

    def cancel(self) -> None:
        """Spark's own tasks are interrupted by their tag."""

    def forget(self, attempt: int) -> None:
        self.close()

    def close(self) -> None:
        self._kept.close()

"""Runs the tasks of a job on Spark: of a bounded one as one step, of others by a job of Spark for each step.

Of one step an accumulator brings the counters of finished tasks to whoever watches the job. The final counts come from
the reports among the rows, of exactly the attempts whose rows were used.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import uuid
from collections.abc import Generator, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from penstock.common.jobs.job_control import JobControl
from penstock.errors import JobCancelledError, JobExecutionError, StepLostError, UnsupportedError
from penstock.job.deployment import Deployment
from penstock.job.steps.progress import Progress
from penstock.job.steps.stopwatch import Stopwatch
from penstock.runtime.buffers.buffer_files import forget_all
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.steps import Assignment
from penstock.runtime.exchange.gate import TABLE
from penstock.spark.failures import advice, is_sparks
from penstock.spark.frames import write_tables
from penstock.spark.inside_pyspark import lost, lost_tasks, one_machine, ran_again
from penstock.spark.shipped_code import check_places
from penstock.spark.spark_job import context_of, driver_rows
from penstock.spark.step_level import PROPERTY, Place, encoded
from penstock.spark.streams import FramePlans
from penstock.storage.storage import join
from penstock.storage.stores import storage_of

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

_lock = threading.Lock()
_accumulators: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by SparkContext: it never forgets one


@contextlib.contextmanager
def counting(session: Any, progress: Progress) -> Iterator[Accumulator[list[Any]] | None]:
    """Within the block ``progress`` gets what tasks add to the accumulator; None over Spark Connect, which has none."""
    from penstock.spark.lowering import FOLLOWED, Tellers

    spark = context_of(session)
    if spark is None:
        yield None
        return
    FOLLOWED[progress.job_id] = progress
    try:
        with _lock:
            if spark not in _accumulators:
                _accumulators[spark] = spark.accumulator([], Tellers())
        yield _accumulators[spark]
    finally:
        del FOLLOWED[progress.job_id]


@contextlib.contextmanager
def _buffer_folder(session: Any) -> Iterator[str | None]:
    """A folder for the files of buffers, until the end of the block; None if tasks may run on several machines."""
    from pyspark import SparkFiles

    spark = context_of(session)
    if spark is None or not one_machine(spark.master):
        yield None
        return
    folder = os.path.join(SparkFiles.getRootDirectory(), f"penstock-{uuid.uuid4().hex}")
    os.mkdir(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a task that was cancelled may write still


class SparkOneStep:
    """A ``Runner`` of a job that commits once."""

    keeps_tasks = False

    def __init__(
        self, session: Any, base: Any, deployment: Deployment, control: JobControl, seen: Progress, *, line: bool | None
    ) -> None:
        self._session, self._base, self._deployment = session, base, deployment
        self._control, self._seen, self._line = control, seen, line
        self._frame: Any = None
        self._attempt = 0
        self._kept = contextlib.ExitStack()  # the rows of tables, until they are written, and files of buffers

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """The tasks read all that there is; what else they are to do, all have in common."""
        from pyspark import StorageLevel

        from penstock.spark.lowering import lower

        session, deployment = self._session, self._deployment
        with counting(session, self._seen) as counts:
            only = next(iter(assignments.values()))
            folder = self._kept.enter_context(_buffer_folder(session))
            facts = {"only": only, "attempt": self._attempt, "folder": folder}
            self._frame = frame = lower(session, deployment, counts=counts, **facts)
            if deployment.tables and deployment.job.folder_id is None:
                frame.persist(StorageLevel.MEMORY_AND_DISK)  # until they are written, rows wait on the executors
                self._kept.callback(frame.unpersist)
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
            write_tables(self._frame, self._deployment, self._base)

    def cancel(self) -> None:
        """Spark's own tasks are interrupted by their tag."""

    def forget(self, attempt: int) -> None:
        self.close()
        self._attempt = attempt

    def close(self) -> None:
        self._kept.close()


class SparkSteps:
    """A ``Runner`` of steps. Spark chooses which worker runs a subtask, so each step leaves files for the next."""

    keeps_tasks = False

    def __init__(
        self,
        session: Any,
        deployment: Deployment,
        control: JobControl,
        seen: Progress,
        *,
        line: bool | None,
        frames: FramePlans,
    ) -> None:
        from penstock.spark.lowering import lower

        spark = context_of(session)
        if spark is None:
            raise UnsupportedError(
                "The program runs in steps, and over Spark Connect a task cannot know which step it is in. Run it "
                "in a session of its own, by a master, or on the local executor."
            )
        self._spark, self._session, self._deployment = spark, session, deployment
        self._control, self._seen, self._line, self._frames = control, seen, line, frames
        self._kept = contextlib.ExitStack()
        self._folder = self._kept.enter_context(_buffer_folder(session))
        self._lower = partial(lower, session, deployment, folder=self._folder)
        self.forget(0)

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        try:
            check_places(self._session, self._deployment)
            return self._step(version, assignments)
        except ConnectionError as error:
            raise JobExecutionError(
                "The JVM of Spark's driver no longer answers: it was killed, or ran out of memory. What is committed "
                "stands. Run the program again to resume from the same checkpoint directory."
            ) from error

    def _step(self, version: int, assignments: Mapping[Place, Assignment]) -> Rows:
        tag = f"penstock-step-{uuid.uuid4().hex}"
        with contextlib.ExitStack() as around:
            if self._folder is not None:
                around.callback(forget_all, self._folder)
            around.enter_context(self._assigning(version, assignments, tag))
            rows = self._run(version + 1, tag)
            if ran_again(self._spark, tag):  # others may have read what was sent the first time
                rows.close()
                raise StepLostError("Spark has lost what tasks had sent, and ran them again.")
        return rows

    def _run(self, step: int, tag: str) -> Rows:
        try:
            taken = self._frames.taken()
            frame = self._lower(frames=taken, attempt=self._attempt) if taken else self._frame
            arguments = self._session, frame, self._deployment, self._control, self._seen
            return driver_rows(*arguments, step=step, tag=tag, line=self._line)
        except JobCancelledError:
            raise
        except JobExecutionError as error:
            text = str(error)  # of Spark itself: no text of a record says what was lost
            if is_sparks(error.__cause__) and lost_tasks(text) and not advice(text):
                raise StepLostError(lost(text)) from error
            raise

    @contextlib.contextmanager
    def _assigning(
        self, version: int, assignments: Mapping[Place, Assignment], tag: str
    ) -> Generator[None, None, None]:
        folder = next(iter(assignments.values())).folder
        assert folder is not None, "a job on Spark keeps its state in a folder"
        text, data = encoded(assignments, join(folder, f"step-{version}-{uuid.uuid4().hex[:8]}"))
        if data is not None:
            storage_of(text).put(text, data)
        self._spark.setLocalProperty(PROPERTY, text)
        self._spark.addJobTag(tag)
        try:
            yield
        finally:
            self._spark.removeJobTag(tag)
            self._spark.setLocalProperty(PROPERTY, None)
            if data is not None:
                with contextlib.suppress(OSError):  # the cleaner finds it
                    storage_of(text).delete([text])

    def write_tables(self) -> None:
        """There is none here."""

    def cancel(self) -> None:
        """Spark's own tasks are interrupted by their tag."""

    def forget(self, attempt: int) -> None:
        """Workers keep their tasks by what the manifest says."""
        self._attempt = attempt
        self._frame = self._lower(frames={}, attempt=attempt)  # of steps that read none

    def close(self) -> None:
        self._kept.close()
        self._frames.close()

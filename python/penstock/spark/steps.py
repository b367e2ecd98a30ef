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
from penstock.spark.failures import advice, is_sparks, local_failure
from penstock.spark.frames import text_of, write_tables
from penstock.spark.inside_pyspark import is_stopped, lost, lost_tasks, one_machine
from penstock.spark.job_sessions import JobSession
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
        self, session: JobSession, deployment: Deployment, control: JobControl, seen: Progress, *, line: bool | None
    ) -> None:
        self._session, self._deployment = session, deployment
        self._control, self._seen, self._line = control, seen, line
        self._frame: Any = None
        self._attempt = 0
        self._kept = contextlib.ExitStack()  # the rows of tables, until they are written, and files of buffers

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        """The tasks read all that there is; what else they are to do, all have in common."""
        from penstock.spark.lowering import lower

        session, deployment = self._session.get(), self._deployment
        with counting(session, self._seen) as counts:
            only = next(iter(assignments.values()))
            folder = self._kept.enter_context(_buffer_folder(session))
            facts = {"only": only, "attempt": self._attempt, "folder": folder}
            self._frame = frame = lower(session, deployment, counts=counts, **facts)
            if deployment.tables and deployment.job.folder_id is None:
                _persist(frame)  # until they are written, rows wait on the executors
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
            write_tables(self._frame, self._deployment, self._session.base)

    def cancel(self) -> None:
        """Spark's own tasks are interrupted by their tag."""

    def forget(self, attempt: int) -> None:
        self.close()
        self._session.doubt()
        self._attempt = attempt

    def close(self) -> None:
        self._kept.close()


def _persist(frame: Any) -> None:
    from pyspark import StorageLevel

    try:
        frame.persist(StorageLevel.MEMORY_AND_DISK)
    except Exception as error:
        raise UnsupportedError(
            "The program writes tables, and this Spark cannot keep their rows until all tasks have succeeded: "
            f"{text_of(error)}. Set execution.checkpointing.dir (--checkpoint-directory): they wait in files there."
        ) from error


class SparkSteps:
    """A ``Runner`` of steps. Spark chooses which worker runs a subtask, so each step leaves files for the next."""

    keeps_tasks = False

    def __init__(
        self,
        session: JobSession,
        deployment: Deployment,
        control: JobControl,
        seen: Progress,
        *,
        line: bool | None,
        frames: FramePlans,
    ) -> None:
        self._session, self._deployment = session, deployment
        self._control, self._seen, self._line, self._frames = control, seen, line, frames
        self._kept = contextlib.ExitStack()
        self._folder = self._kept.enter_context(_buffer_folder(session.get()))
        self._frame: Any = None  # of steps that read no DataFrame, for all of them
        self._attempt = 0

    def step(self, version: int, assignments: Mapping[Place, Assignment], watch: Stopwatch) -> Rows:
        try:
            session = self._session.get()
            check_places(session, self._deployment, self._session.workers)
            return self._step(session, version, assignments)
        except ConnectionError as error:
            raise JobExecutionError(
                "The JVM of Spark's driver no longer answers: it was killed, or ran out of memory. What is committed "
                "stands. Run the program again to resume from the same checkpoint directory."
            ) from error

    def _step(self, session: Any, version: int, assignments: Mapping[Place, Assignment]) -> Rows:
        tag = f"penstock-step-{uuid.uuid4().hex}"
        with contextlib.ExitStack() as around:
            if self._folder is not None:
                around.callback(forget_all, self._folder)
            assigned = around.enter_context(_assigning(version, assignments))
            spark = context_of(session)
            if spark is not None:
                around.enter_context(_passing(spark, assigned, tag))
            return self._run(session, assigned if spark is None else None, version + 1, tag)

    def _lowered(self, session: Any, assigned: str | None) -> Any:
        """The DataFrame of a step. One that reads no DataFrame, and does not say what tasks are to do, is made once."""
        from penstock.spark.lowering import lower

        facts = {"attempt": self._attempt, "folder": self._folder, "assigned": assigned}
        taken = self._frames.taken()
        if taken or assigned is not None:
            return lower(session, self._deployment, frames=taken, **facts)
        if self._frame is None:
            self._frame = lower(session, self._deployment, frames={}, **facts)
        return self._frame

    def _run(self, session: Any, assigned: str | None, step: int, tag: str) -> Rows:
        try:
            frame = self._lowered(session, assigned)
            arguments = session, frame, self._deployment, self._control, self._seen
            return driver_rows(*arguments, step=step, tag=tag, line=self._line)
        except JobCancelledError:
            raise
        except Exception as error:
            failure = local_failure(error, self._deployment.mark) if is_sparks(error) else error
            text = str(failure)  # of Spark itself: no text of a record says what was lost
            is_lost = lost_tasks(text) or (context_of(session) is None and is_stopped(text))
            if is_sparks(failure.__cause__) and is_lost and not advice(text):
                raise StepLostError(lost(text)) from error
            raise failure from failure.__cause__

    def write_tables(self) -> None:
        """There is none here."""

    def cancel(self) -> None:
        """Spark's own tasks are interrupted by their tag."""

    def forget(self, attempt: int) -> None:
        """Workers keep their tasks by what the manifest says."""
        self._session.doubt()
        self._attempt = attempt
        self._frame = None

    def close(self) -> None:
        self._kept.close()
        self._frames.close()


@contextlib.contextmanager
def _assigning(version: int, assignments: Mapping[Place, Assignment]) -> Generator[str, None, None]:
    """Within the block tasks can read what they are to do, by this text."""
    folder = next(iter(assignments.values())).folder
    assert folder is not None, "a job on Spark keeps its state in a folder"
    path = join(folder, f"step-{version}-{uuid.uuid4().hex[:8]}")
    text, data = encoded(assignments, path)
    if data is not None:
        storage_of(path).put(path, data)
    try:
        yield text
    finally:
        if data is not None:
            with contextlib.suppress(OSError):  # the cleaner finds it
                storage_of(path).delete([path])


@contextlib.contextmanager
def _passing(spark: Any, text: str, tag: str) -> Generator[None, None, None]:
    """Within the block jobs of Spark have a tag, and pass a text on to their tasks."""
    spark.setLocalProperty(PROPERTY, text)
    spark.addJobTag(tag)
    try:
        yield
    finally:
        spark.removeJobTag(tag)
        spark.setLocalProperty(PROPERTY, None)

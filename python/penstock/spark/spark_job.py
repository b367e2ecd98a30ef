"""Runs a job of Spark for its rows; a thread tells :class:`~penstock.job.steps.progress.Progress` what its tasks do.

The last stages of the job are the levels, in order, and the number of a partition is that of a slot. Over Connect there
is no status store, and nothing is seen before the end.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from penstock.common.jobs.job_control import JobControl
from penstock.errors import StepLostError
from penstock.job.deployment import Deployment
from penstock.job.steps.progress import Progress
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows, Store
from penstock.spark.attempts import imbalance, wrapped
from penstock.spark.inside_pyspark import batches_of, jobs_of, stages_of, tasks_of

if TYPE_CHECKING:
    from penstock.plan.types import ExecutionState

_AGAIN = 0.1  # seconds between two interruptions: a stage that was just about to start has not seen the first
_INTERVAL = 0.25
_SHARE = 20  # a look may take a twentieth of the time: with very many tasks there are fewer looks
_LONG = 1  # seconds after which progress names the stage that is waited for; most steps are over by then
_WIDTH = 78
_STATES: Mapping[str, ExecutionState] = {
    "PENDING": "SCHEDULED",
    "RUNNING": "RUNNING",
    "SUCCESS": "FINISHED",
    "FAILED": "FAILED",
    "KILLED": "CANCELED",
}


def tag_of(control: JobControl) -> str:
    """The tag of every job of Spark that belongs to this run."""
    return f"penstock-{control.job_id}"


def context_of(session: Any) -> Any:
    """The session's SparkContext; None over Spark Connect, which has none."""
    try:
        return session.sparkContext
    except Exception:
        return None


@contextlib.contextmanager
def cancellable(session: Any, control: JobControl) -> Iterator[None]:
    """Within the block, what this thread starts in a session is interrupted when the job should be cancelled."""
    tag, ended = tag_of(control), threading.Event()
    spark = context_of(session)
    if spark is None:
        add, remove, cancel = session.addTag, session.removeTag, session.interruptTag
    else:  # a classic session's own tags are each thread's, so that no other could interrupt by them
        add, remove, cancel = spark.addJobTag, spark.removeJobTag, spark.cancelJobsWithTag

    def interrupt() -> None:
        while not ended.is_set():
            with contextlib.suppress(Exception):  # it has ended, or Spark has: both show where the job waits
                cancel(tag)
            ended.wait(_AGAIN)

    def act() -> None:
        threading.Thread(target=interrupt, daemon=True, name="penstock-cancel").start()

    with control.on_cancel(act):
        add(tag)
        try:
            yield
        finally:
            ended.set()
            remove(tag)


@contextlib.contextmanager
def _followed(
    spark: Any, deployment: Deployment, control: JobControl, progress: Progress, tag: str | None, line: bool | None
) -> Iterator[None]:
    """Within the block a job of Spark runs, whose tasks ``progress`` follows. The line disappears at the end; there is
    none where the job is shown already."""
    # other jobs of Spark may have the tag of the run
    old = set(jobs_of(spark, tag_of(control))) if tag is None else set[int]()
    stages = _Stages(spark, deployment, tag or tag_of(control), progress, old)
    shown = not control.shown and (sys.stderr.isatty() if line is None else line)
    ended = threading.Event()
    thread = threading.Thread(target=_watch, args=(stages, ended, shown), daemon=True, name="penstock-progress")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        progress.waiting("")


class _Stages:
    """The stages of the newest job with a tag that is not an old one."""

    def __init__(self, spark: Any, deployment: Deployment, tag: str, progress: Progress, old: set[int]) -> None:
        self._spark = spark
        self._deployment = deployment
        self._tag = tag
        self._progress = progress
        self._old = old
        self._ended: set[int] = set()
        self._tries: dict[tuple[int, int], list[tuple[int, int]]] = {}  # attempts by level and slot, of stage and task
        self.line = ""
        self._began = time.monotonic()

    def look(self) -> None:
        """Tell what the tasks of the job do now."""
        jobs = set(jobs_of(self._spark, self._tag)) - self._old
        if not jobs:
            return
        stages = stages_of(self._spark, max(jobs))[-len(self._deployment.levels) :]
        for level, stage in enumerate(stages):
            if stage in self._ended:
                continue
            status, tries, tasks = tasks_of(self._spark, stage)
            if status == "PENDING":
                return
            self._report_stage(level, tries, tasks)
            if status == "COMPLETE":
                self._ended.add(stage)

    def _report_stage(self, level: int, tries: int, tasks: list[dict[str, Any]]) -> None:
        done = sum(task["status"] == "SUCCESS" for task in tasks)
        levels, slots = self._deployment.levels, self._deployment.slots(level)
        names = ", ".join(vertex.name for vertex in levels[level])
        text = f"stage {level + 1}/{len(levels)}, {done}/{slots} tasks: {names}"
        self.line = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
        if time.monotonic() - self._began >= _LONG:
            self._progress.waiting(f"tasks, which Spark counts as they end: {self.line}")
        worked: dict[tuple[int, int], float] = {}
        for task in sorted(tasks, key=lambda task: task["attempt"]):
            state = _STATES.get(task["status"], "RUNNING")
            if task["speculative"] and state != "FINISHED":
                continue  # the one beside it counts until this one is done
            vertex, subtask = self._deployment.slot(level, task["partitionId"])
            known = self._tries.setdefault((level, task["partitionId"]), [])
            if (tries, task["attempt"]) not in known:
                known.append((tries, task["attempt"]))
            self._progress.execution(vertex.index, subtask, known.index((tries, task["attempt"])), state)
            place = vertex.index, subtask
            worked[place] = worked.get(place, 0) + (task.get("duration") or 0)
        for place, milliseconds in worked.items():
            self._progress.busy(*place, milliseconds)


def _watch(stages: _Stages, ended: threading.Event, shown: bool) -> None:
    pause, looked, over = _INTERVAL, False, False
    while not over:
        over = ended.wait(pause)
        if over and not looked:  # it was too short to be seen
            break
        began = time.perf_counter()
        with contextlib.suppress(Exception):  # to see less is better than to have a job less
            stages.look()
            looked = True
        pause = max(_INTERVAL, _SHARE * (time.perf_counter() - began))
        if shown and stages.line:
            sys.stderr.write(f"\r\x1b[K{'' if over else stages.line}")
            sys.stderr.flush()


def driver_rows(
    session: Any,
    frame: Any,
    deployment: Deployment,
    control: JobControl,
    seen: Progress,
    *,
    step: int | None = None,
    tag: str | None = None,
    line: bool | None = None,
) -> Rows:
    """Run the job; the rows that arrive at the driver. ``step`` is the number of the step; None if there is one only,
    which may read several attempts of a task. ``tag`` is one that no other job of Spark has; None: that of the run.
    ``line`` is whether to show a line on standard error; None: if that is a terminal.

    Raises:
        StepLostError: the rows of a step come from several attempts of a task.
        PenstockError: the job has failed.
    """
    from penstock.spark.failures import is_sparks, local_failure

    # a plan of its own, as Spark would give what the last one has shuffled again; to select costs twice the time
    frame, spark = frame.alias("rows"), context_of(session)
    try:
        with contextlib.ExitStack() as around:
            around.enter_context(cancellable(session, control))
            if spark is not None:
                around.enter_context(_described(spark, deployment, step))
                around.enter_context(_followed(spark, deployment, control, seen, tag, line))
            batches = batches_of(frame)
    except Exception as error:
        control.check()  # nobody asks how a cancelled job has ended
        if not is_sparks(error):
            raise
        failure = local_failure(error, deployment.mark)
        raise failure from failure.__cause__
    rows, off = Rows(Store()), 0
    while batches:  # these go as they are read; whoever reads the rows sorts them
        batch = batches.pop()
        numbers = batch.column("attempt").to_pylist()
        for row, number in zip(
            map(Row, *(batch.column(name).to_pylist() for name in Row._fields)), numbers, strict=True
        ):
            off += imbalance(row, number)
            rows.append(row)
    if step is not None and wrapped(off):
        rows.close()
        raise StepLostError("Spark has lost what tasks had sent, and ran them again with other results.")
    return rows


@contextlib.contextmanager
def _described(spark: Any, deployment: Deployment, step: int | None) -> Iterator[None]:
    """Within the block Spark's pages show the name of the job, the step and the levels."""
    from penstock.spark.lowering import shortened

    levels = " ⇒ ".join(shortened([vertex.name for vertex in level]) for level in deployment.levels)
    number = "" if step is None else f", step {step:,}"
    before = spark.getLocalProperty("spark.job.description")
    spark.setJobDescription(f"{deployment.job.name}{number}: {levels}")
    try:
        yield
    finally:
        spark.setLocalProperty("spark.job.description", before)

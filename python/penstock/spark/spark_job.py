"""What a job of Spark does, for :class:`~penstock.job.steps.progress.Progress`: a thread looks at the tasks of
its stages now and then. Also the line on standard error.

A level is a stage, a task is a slot of it: so the last stages of the job are the levels, in order, and the number of a
partition is that of a slot. Spark's status store knows all tasks, with its pages switched off too, and gives them as
JSON by one call; over Connect there is none, and nothing is seen before the end.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.common.jobs.job_control import JobControl
from penstock.job.deployment import Deployment
from penstock.job.steps.progress import Progress
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows, Store
from penstock.spark.inside_pyspark import jobs_of, stages_of, tasks_of
from penstock.spark.job_tags import cancellable, tag_of
from penstock.spark.names import described, description

if TYPE_CHECKING:
    from penstock.plan.types import ExecutionState

_INTERVAL = 0.25
_SHARE = 20
"""A look may take a twentieth of the time: with very many tasks there are fewer looks."""
_LONG = 1
"""Seconds from which on it is said what a stage waits for."""
_WIDTH = 78
_STATES: Mapping[str, ExecutionState] = {
    "PENDING": "SCHEDULED",
    "RUNNING": "RUNNING",
    "SUCCESS": "FINISHED",
    "FAILED": "FAILED",
    "KILLED": "CANCELED",
}


@contextlib.contextmanager
def followed(
    session: Any,
    deployment: Deployment,
    control: JobControl,
    progress: Progress,
    *,
    tag: str | None = None,
    line: bool | None = None,
) -> Iterator[None]:
    """Within the block, one job of Spark runs a step; what its tasks do is told to ``progress``. ``tag`` is one that
    no other job of Spark has; None: one that has run before may have the tag of the run. ``line`` is whether to show
    a line on standard error, which disappears at the end; None: if that is a terminal. Where the job is shown already
    there is none."""
    stages = _stages(session, deployment, control, progress, tag)
    if stages is None:
        yield
        return
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


def _stages(
    session: Any, deployment: Deployment, control: JobControl, progress: Progress, tag: str | None
) -> _Stages | None:
    try:
        spark = session.sparkContext
    except Exception:  # Spark Connect has no SparkContext
        return None
    if tag is not None:
        return _Stages(spark, deployment, tag, progress, set())
    tag = tag_of(control)
    return _Stages(spark, deployment, tag, progress, set(jobs_of(spark, tag)))


class _Stages:
    """The stages of the newest job with a tag that is none of the old ones."""

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
            self._told(level, tries, tasks)
            if status == "COMPLETE":
                self._ended.add(stage)

    def _told(self, level: int, tries: int, tasks: list[dict[str, Any]]) -> None:
        done = sum(task["status"] == "SUCCESS" for task in tasks)
        self.line = _line(level, done, self._deployment)
        if time.monotonic() - self._began >= _LONG:  # most steps are over by then
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
            _write("" if over else stages.line)


def _line(level: int, done: int, deployment: Deployment) -> str:
    names = [vertex.name for vertex in deployment.levels[level]]
    tasks = f"{done}/{deployment.slots(level)} tasks"
    text = f"stage {level + 1}/{len(deployment.levels)}, {tasks}: {', '.join(names)}"
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _write(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
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
    """Run the job; the rows that arrive at the driver. ``tag`` is the one that the caller has given to this run alone,
    in a job of several."""
    frame = frame.select(*Row._fields)
    with (
        _failures_told(control, deployment.mark),
        cancellable(session, control),
        described(session, description(deployment, step)),
        followed(session, deployment, control, seen, tag=tag, line=line),
    ):
        batches = frame.toArrow().to_batches()
    return _rows_of(batches)


@contextmanager
def _failures_told(control: JobControl, mark: str) -> Iterator[None]:
    """Make of what Spark raises the error of the user's."""
    from penstock.spark.failures import is_sparks, local_failure

    try:
        yield
    except Exception as error:
        control.check()  # what a cancelled job ends with is nobody's business
        if not is_sparks(error):
            raise
        failure = local_failure(error, mark)
        raise failure from failure.__cause__


def _rows_of(batches: list[Any]) -> Rows:
    """The rows of Arrow batches, which go as they are read."""
    rows = Rows(Store())
    while batches:  # rows are sorted by whoever reads them
        for row in map(Row, *(column.to_pylist() for column in batches.pop().columns)):
            rows.append(row)
    return rows

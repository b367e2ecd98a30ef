"""The driver's end of a job: reports, prints and collected records arrive as rows; then the job is committed.

Prints are shown in the order of sink (as the program made them), subtask, and emission, whatever order the rows arrive
in; before them what user code has printed on executors, if that comes here. Until the job has succeeded, rows wait as
bytes, beyond 64 MiB in a temporary file. Each goes when it is read, so what a program collects is in memory once; the
lines it prints are all there for a moment.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from penstock.common.job import JobExecutionResult
from penstock.common.job_control import JobControl
from penstock.common.job_id import JobID
from penstock.errors import JobExecutionError
from penstock.job.deployment import Deployment
from penstock.job.outputs import pending_outputs
from penstock.metrics.results import JobMetrics, OperatorMetrics, SubtaskMetrics
from penstock.runtime.buffers.codec import decode, decode_value
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.exchange.gate import COLLECT, PRINT, REPORT, SPOKEN
from penstock.runtime.io.sinks import CollectSink
from penstock.runtime.io.stores import configured


class JobOutput:
    """What the tasks of a job send to the driver; a context manager around their run, which makes the pending folders
    of its outputs and removes them. If the block fails, nothing has been printed or published::

        with JobOutput(deployment) as output:
            output.commit(rows_of_the_tasks)
        result = output.result(started)

    Args:
        deployment: the job.
        control: of the run; None if nobody can cancel it.

    Attributes:
        reports: of the subtasks, in order of vertex and subtask, after :meth:`commit`.
    """

    def __init__(self, deployment: Deployment, control: JobControl | None = None) -> None:
        self._deployment = deployment
        self._control = control
        self._outputs = pending_outputs(deployment.job, deployment.sinks)
        self._open = contextlib.ExitStack()
        self._rows: Rows | None = None
        self.reports: tuple[TaskReport, ...] = ()

    def __enter__(self) -> JobOutput:
        self._open.enter_context(configured(self._deployment.job.settings.storage_options))
        with self._open:
            self._open.enter_context(self._outputs)
            self._open = self._open.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._rows is not None:
            self._rows.close()
        self._open.close()

    def commit(self, rows: Rows, write: Callable[[], None] | None = None) -> None:
        """Commit the job by the reports of its subtasks, and publish its files.

        Args:
            rows: what the tasks have sent to the driver.
            write: writes what others commit, after the last point where the job can be cancelled; if it fails, no file
                becomes visible.

        Raises:
            JobExecutionError: a subtask has not reported, or has twice.
            JobCancelledError: the job is to be cancelled. After this it cannot be.
            ConfigurationError: meanwhile a file has appeared where one was to be written.
        """
        self._rows = rows
        self.reports = tuple(decode_value(row.data) for row in _of(REPORT, rows))
        self._check_reports()
        if self._control is not None:
            self._control.seal()
        if write is not None:
            write()
        self._outputs.commit(self.reports)

    def result(self, started: float) -> JobExecutionResult:
        """After the block, once: print what the job prints; what it has collected and measured.

        Args:
            started: when the job began, by :func:`time.perf_counter`.
        """
        assert self._rows is not None, "the job has not been committed"
        with contextlib.closing(self._rows) as rows:
            for text in self._spoken(rows):
                _write(sys.stdout, text)
            _show(_of(PRINT, rows))
            collected = self._collected(_of(COLLECT, rows))
        elapsed = int((time.perf_counter() - started) * 1000)
        job = self._deployment.job
        return JobExecutionResult(job.name, elapsed, collected, self._metrics(), JobID(job.job_id))

    def _spoken(self, rows: Rows) -> Iterator[str]:
        """What user code has printed, in the order in which the local executor runs the tasks."""
        level = [vertex.level for vertex in self._deployment.vertices]
        order = rows.take(
            lambda row: (level[row.vertex], row.vertex, row.sender, row.sequence), lambda row: row.kind == SPOKEN
        )
        return (decode_value(row.data) for row in order)

    def _metrics(self) -> JobMetrics:
        """What the operators have measured. Sources first. O(operators times subtasks)."""
        measured: dict[int, list[tuple[SubtaskMetrics, ...]]] = {}
        for report in self.reports:
            measured.setdefault(report.vertex, []).append(report.counters)
        return JobMetrics(
            [
                OperatorMetrics(config.operator_id, config.name, config.uid, subtasks)
                for level in self._deployment.levels
                for vertex in level
                for config, subtasks in zip(vertex.operators, zip(*measured[vertex.index], strict=True), strict=True)
            ]
        )

    def _check_reports(self) -> None:
        expected = [(v.index, i) for v in self._deployment.vertices for i in range(v.parallelism)]
        found = [(report.vertex, report.subtask) for report in self.reports]
        if found != expected:
            raise JobExecutionError(
                f"The job has {len(expected)} subtasks, but the reports are those of {len(found)}: "
                f"{sorted(set(expected) ^ set(found))[:5]} differ. This is a defect of Penstock; nothing was published."
            )

    def _collected(self, rows: Iterable[Row]) -> dict[str, list[Any]]:
        sinks = (sink for sink in self._deployment.sinks if isinstance(sink, CollectSink))
        result: dict[str, list[Any]] = {sink.id: [] for sink in sinks}
        for row in rows:
            sink_id, data = decode_value(row.data)
            result[sink_id].extend(decode(data)[0])
        return result


def _of(kind: int, rows: Rows) -> Iterator[Row]:
    """The rows of a kind by vertex, subtask and sequence."""
    return rows.take(lambda row: (row.vertex, row.sender, row.sequence), lambda row: row.kind == kind)


def _show(rows: Iterable[Row]) -> None:
    """Print lines by sink; rows come by subtask and sequence within a vertex, and the stable sort keeps that order."""
    items = [decode_value(row.data) for row in rows]
    for _, std_err, lines in sorted(items, key=lambda item: item[0]):
        stream = sys.stderr if std_err else sys.stdout
        _write(stream, "\n".join(lines) + "\n")


def _write(stream: TextIO, text: str) -> None:
    """Write a text; characters that the stream cannot show become escapes, as the job is done already."""
    try:
        stream.write(text)
    except UnicodeEncodeError as error:
        stream.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))
    stream.flush()

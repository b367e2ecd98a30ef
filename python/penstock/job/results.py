"""The driver's end of a job: reports, prints and collected records arrive as rows; then the job is committed.

Prints are shown in the order of sink (as the program made them), subtask, and emission, whatever order the rows arrive
in. Until the job has succeeded, rows wait as bytes, beyond 64 MiB in a temporary file. Each goes when it is read, so
what a program collects is in memory once; the lines it prints are all there for a moment.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.errors import JobExecutionError
from penstock.job.commit.publish import PendingOutputs, Target
from penstock.metrics.results import JobMetrics, OperatorMetrics, SubtaskMetrics
from penstock.runtime.buffers.codec import decode, decode_value
from penstock.runtime.buffers.spill import Row, Rows
from penstock.runtime.config.tasks import TaskReport
from penstock.runtime.exchange.gate import COLLECT, PRINT, REPORT
from penstock.runtime.io.sinks import CollectSink, TextSink
from penstock.runtime.operators.sink import StreamSink

if TYPE_CHECKING:
    from penstock.job.deployment import Deployment


class JobOutput:
    """What the tasks of a job send to the driver.

    Args:
        deployment: the job.
        sinks: its sinks by stream node.

    Attributes:
        reports: of the subtasks, in order of vertex and subtask, after :meth:`take`.
    """

    def __init__(self, deployment: Deployment, sinks: dict[int, StreamSink]) -> None:
        self._deployment = deployment
        self._sinks = sinks
        files = (s.function for s in sinks.values() if isinstance(s.function, TextSink))
        self._targets = [Target.of(sink) for sink in files]  # with absolute paths, should a function change the folder
        self.reports: tuple[TaskReport, ...] = ()

    def take(self, run: Callable[[], Rows]) -> dict[str, list[Any]]:
        """Run the job; then commit it, publish files, print, and return the collected records by sink id. If the run
        fails, none of this happens, and no pending file is left.

        Args:
            run: runs the tasks and gives the rows they send to the driver.

        Raises:
            JobExecutionError: a subtask has not reported, or has twice; and whatever ``run`` raises.
            ConfigurationError: meanwhile a file has appeared where one was to be written.
        """
        with contextlib.ExitStack() as stack:
            with PendingOutputs(self._deployment.job, self._targets) as outputs:
                rows = stack.enter_context(contextlib.closing(run()))
                self.reports = tuple(decode_value(row[5]) for row in _of(REPORT, rows))
                self._check_reports()
                outputs.commit(self.reports)
            _show(_of(PRINT, rows))
            return self._collected(_of(COLLECT, rows))

    def metrics(self) -> JobMetrics:
        """What the operators have measured, after :meth:`take`. Sources first. O(operators times subtasks)."""
        measured: dict[int, list[tuple[SubtaskMetrics, ...]]] = {}
        for report in self.reports:
            measured.setdefault(report.vertex, []).append(report.counters)
        return JobMetrics(
            [
                OperatorMetrics(config.operator_id, config.name, config.uid, subtasks)
                for level in range(len(self._deployment.levels))
                for vertex in self._deployment.level(level)
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
        result: dict[str, list[Any]] = {
            s.function.id: [] for s in self._sinks.values() if isinstance(s.function, CollectSink)
        }
        for row in rows:
            sink_id, data = decode_value(row[5])
            result[sink_id].extend(decode(data)[0])
        return result


def _of(kind: int, rows: Rows) -> Iterator[Row]:
    """The rows of a kind by vertex, subtask and sequence."""
    return rows.take(lambda row: (row[1], row[3], row[4]), lambda row: row[2] == kind)


def _show(rows: Iterable[Row]) -> None:
    """Print lines by sink; rows come by subtask and sequence within a vertex, and the stable sort keeps that order."""
    items = [decode_value(row[5]) for row in rows]
    for _, std_err, lines in sorted(items, key=lambda item: item[0]):
        stream = sys.stderr if std_err else sys.stdout
        _write(stream, "\n".join(lines) + "\n")


def _write(stream: Any, text: str) -> None:
    """Write a text; characters that the stream cannot show become escapes, as the job is done already."""
    try:
        stream.write(text)
    except UnicodeEncodeError as error:
        stream.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))
    stream.flush()

"""The rows that tasks send to the driver, by what they are: reports, prints, what user code has said, collected
records, and records for the heads of loops.

Prints are shown in the order of sink (as the program made them), subtask, and emission, whatever order the rows arrive
in; before them what user code has printed on executors, if that comes here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from penstock.job.deployment import Deployment
from penstock.runtime.buffers.codec import decode, decode_value
from penstock.runtime.buffers.row import Row
from penstock.runtime.buffers.spill import Rows
from penstock.runtime.exchange.gate import COLLECT, DRIVER, ENDED, PRINT, REPORT, SPOKEN
from penstock.runtime.io.sinks import CollectSink


class JobRows:
    """The rows of a job, or of a step of it. Each goes when it is read."""

    def __init__(self, rows: Rows, deployment: Deployment) -> None:
        self._rows, self._deployment = rows, deployment

    def reports(self) -> Iterator[Any]:
        """Of the subtasks, in order of vertex and subtask."""
        return (decode_value(row.data) for row in self._of(REPORT))

    def back(self) -> Iterator[Row]:
        rows = self._rows.take(None, lambda row: row.level != DRIVER)
        return (row for row in rows if row.data != ENDED)

    def show(self) -> None:
        for text in self._spoken():
            _write(sys.stdout, text)
        _show(self._of(PRINT))

    def collected(self) -> dict[str, list[Any]]:
        sinks = (sink for sink in self._deployment.sinks if isinstance(sink, CollectSink))
        result: dict[str, list[Any]] = {sink.id: [] for sink in sinks}
        for row in self._of(COLLECT):
            sink_id, data = decode_value(row.data)
            result[sink_id].extend(decode(data)[0])
        return result

    def _of(self, kind: int) -> Iterator[Row]:
        """The rows of a kind by vertex, subtask and sequence."""
        return self._rows.take(
            lambda row: (row.vertex, row.sender, row.sequence), lambda row: row.level == DRIVER and row.kind == kind
        )

    def _spoken(self) -> Iterator[str]:
        """What user code has printed, in the order in which the local executor runs the tasks."""
        level = [vertex.level for vertex in self._deployment.vertices]
        order = self._rows.take(
            lambda row: (level[row.vertex], row.vertex, row.sender, row.sequence),
            lambda row: row.level == DRIVER and row.kind == SPOKEN,
        )
        return (decode_value(row.data) for row in order)


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

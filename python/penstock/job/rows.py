"""The rows that tasks send to the driver: reports, prints, user output, collected and led-back records.

Prints are shown in the order of sink (as the program made them), subtask, and emission, behind what user code printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
        level = [vertex.level for vertex in self._deployment.vertices]
        spoken = self._rows.take(  # in the order in which the local executor runs the tasks
            lambda row: (level[row.vertex], row.vertex, row.sender, row.sequence),
            lambda row: row.level == DRIVER and row.kind == SPOKEN,
        )
        for row in spoken:
            _write(sys.stdout, decode_value(row.data))
        printed = [decode_value(row.data) for row in self._of(PRINT)]
        for _, std_err, lines in sorted(printed, key=lambda item: item[0]):  # by sink; the sort is stable
            _write(sys.stderr if std_err else sys.stdout, "\n".join(lines) + "\n")

    def collected(self) -> dict[str, list[Any]]:
        sinks = (sink for sink in self._deployment.sinks if isinstance(sink, CollectSink))
        result: dict[str, list[Any]] = {sink.id: [] for sink in sinks}
        for row in self._of(COLLECT):
            sink_id, data = decode_value(row.data)
            result[sink_id].extend(decode(data)[0])
        return result

    def _of(self, kind: int) -> Iterator[Row]:
        return self._rows.take(
            lambda row: (row.vertex, row.sender, row.sequence), lambda row: row.level == DRIVER and row.kind == kind
        )


def _write(stream: TextIO, text: str) -> None:
    """Write a text; characters that the stream cannot show become escapes, as the job is done already."""
    try:
        stream.write(text)
    except UnicodeEncodeError as error:
        stream.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))
    stream.flush()

"""Files of a format by monitor and reader, as ``create_input`` plans them: splits in one operator, their records in the
next.

Source of the semantics: ``ContinuousFileMonitoringFunction``, ``ContinuousFileReaderOperator`` (Flink 1.11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.io.file_source import file_splits
from penstock.runtime.io.formats.base import FileFormat
from penstock.runtime.io.sources import BatchSource
from penstock.runtime.io.splits import Split
from penstock.runtime.io.storage import Dated
from penstock.runtime.usercode.steps import STRIDE


@dataclass(frozen=True)
class FormatMonitor(BatchSource):
    """Finds files and emits their splits, in one subtask.

    Attributes:
        path: of a file, of a folder, or a pattern.
        found: their splits.
    """

    path: str
    found: tuple[Split, ...] = ()

    def prepare(self, parallelism: int) -> FormatMonitor:
        """With the splits that are there: executors may have another working folder. Folders below are not entered, as
        by other formats of Flink's older interface."""
        return FormatMonitor(self.path, tuple(file_splits((self.path,), "UTF-8", splittable=True, deep=False)))

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Split]]:
        """One split at a time."""
        return ([split] for split in self.found)


@dataclass(frozen=True)
class FormatPieces:
    """Cuts files of a format.

    Attributes:
        format: of the files.
    """

    format: FileFormat[Any]

    def __call__(self, file: Dated) -> list[Split]:
        """The pieces of a file."""
        return self.format.pieces(file, splittable=True)


@dataclass(frozen=True, eq=False)
class FormatReader(StreamOperator):
    """Splits of files in, their records out (Flink's node "Split Reader").

    Attributes:
        format: of the files.
    """

    format: FileFormat[Any]

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        """The operator in a subtask."""
        return _FormatReader(context, output, self.format)


class _FormatReader(LiveOperator):
    emitted: int = 0

    def __init__(self, context: OperatorContext, output: CountingOutput, file_format: FileFormat[Any]) -> None:
        super().__init__(context, output)
        self._format = file_format

    def input(self, number: int) -> Collector:
        feed, fail, file_format = self.output.feed, self.context.fail, self._format

        def process(split: Split, timestamp: int | None) -> None:
            try:
                for some in file_format.read(split):
                    records = list(some.values)
                    for start in range(0, len(records), STRIDE):
                        feed(records[start : start + STRIDE], timestamp)
                    self.emitted += len(records)
            except Exception as error:
                raise fail(error) from error

        return process

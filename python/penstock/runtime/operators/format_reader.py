"""Files of a format by monitor and reader, as ``create_input`` plans them: splits in one operator, their records in the
next.

Source of the semantics: ``ContinuousFileMonitoringFunction``, ``ContinuousFileReaderOperator`` (Flink 1.11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import LiveOperator, StreamOperator
from penstock.runtime.chain.outputs import Collector, CountingOutput
from penstock.runtime.io.file_format import FileFormat
from penstock.runtime.io.splits import Split
from penstock.runtime.operators.source import feed_in_strides
from penstock.storage.storage import Dated


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
            stride = 1
            try:
                for some in file_format.read(split):
                    stride = feed_in_strides(self, feed, list(some.values), timestamp, stride)
            except Exception as error:
                raise fail(error) from error

        return process

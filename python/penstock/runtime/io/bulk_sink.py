"""Writing files of bulk formats into buckets: one per bucket and subtask, under pending names.

Records of a bucket are gathered and handed to the bucket's writer in batches; what writers keep is written when all of
them keep much, or when all buckets have gathered much. So memory is bounded whatever the number of buckets, but for
what a format needs to know until a file ends.

Source of the semantics: ``FileSink.forBulkFormat``, ``BulkPartWriter`` (Flink 1.20).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import IO, Any, cast

from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.conversions import same
from penstock.common.row import Row, names_of
from penstock.common.time import Instant
from penstock.errors import FileFormatError
from penstock.runtime.buffers.codec import copier, copy_record
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.io.file_sink import Bucket, FileOutput, FileWriter
from penstock.runtime.io.sinks import SinkWriter

_BATCH, _MOST_RECORDS = 1_000, 50_000
"""Records that a bucket gathers, and that all of them do."""
_MOST_BYTES = 64 << 20
"""What all writers of a subtask keep."""


@dataclass(frozen=True, eq=False)
class BulkOutput(FileOutput):
    """Adds files of a bulk format to the folders below a base, as :class:`FileOutput` does; ``encoder`` is the factory
    of their writers."""

    encoder: BulkWriterFactory[Any]  # type: ignore[assignment]

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Pending files, one for each bucket."""
        return _BulkFileWriter(self, context)


_ATOMS = frozenset({str, int, float, bool, bytes, type(None), date, time, datetime, Decimal, Instant})
"""Classes whose objects nobody can change."""


def _kept(record: Any) -> Any:
    """A record that nobody else can change."""
    if type(record) is Row and _ATOMS.issuperset(map(type, record)):
        return Row.of_values(tuple(record), names_of(record), record.get_row_kind())
    return copy_record(record)


class _Stream(io.RawIOBase):
    """The end of a bucket's file, which waits in memory.

    Args:
        bucket: whose stream is another one each time it has been saved.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._bucket.stream.write(data)

    def tell(self) -> int:
        return self._bucket.written + self._bucket.stream.tell()


class _Part:
    """What a bucket has gathered, and its writer."""

    __slots__ = ("records", "waiting", "writer")

    def __init__(self, writer: BulkWriter[Any]) -> None:
        self.records: list[Any] = []
        self.writer = writer
        self.waiting = 0


class _BulkFileWriter(FileWriter):
    """The part files of one subtask."""

    def __init__(self, sink: BulkOutput, context: OperatorContext) -> None:
        super().__init__(sink, context)
        self._factory = sink.encoder
        self._open_parts: dict[str, _Part] = {}  # by path of the bucket
        self._gathered = self._kept = 0
        self._keep = same if copier(context.config.input_type) is None else _kept

    def write(self, value: Any) -> None:  # type: ignore[override]
        bucket = self.bucket_of(value)
        part = self._open_parts.get(bucket.path) or self._begin(bucket)
        part.records.append(self._keep(value))
        self._gathered += 1
        if len(part.records) >= _BATCH:
            self._hand_over(part, bucket)
        elif self._gathered >= _MOST_RECORDS:
            self._hand_over_all()

    def write_all(self, values: Sequence[Any]) -> None:
        for value in values:
            self.write(value)
        self.room = _BATCH

    def _begin(self, bucket: Bucket) -> _Part:
        part = self._open_parts[bucket.path] = _Part(self._factory.create(cast("IO[bytes]", _Stream(bucket))))
        return part

    def _hand_over(self, part: _Part, bucket: Bucket) -> None:
        """Give the writer what the bucket has gathered."""
        records, part.records = part.records, []
        self._gathered -= len(records)
        self._written_by(bucket, part.writer.add_all, records)
        self._count(part)

    def _hand_over_all(self) -> None:
        for bucket in self.all_buckets():
            part = self._open_parts[bucket.path]
            if part.records:
                self._hand_over(part, bucket)

    def _count(self, part: _Part) -> None:
        """What the writer keeps now; all write, if all keep much."""
        self._kept += part.writer.waiting - part.waiting
        part.waiting = part.writer.waiting
        if self._kept < _MOST_BYTES:
            return
        for bucket in self.all_buckets():
            each = self._open_parts[bucket.path]
            self._written_by(bucket, each.writer.flush)
            each.waiting = each.writer.waiting
        self._kept = sum(each.waiting for each in self._open_parts.values())

    def _written_by(self, bucket: Bucket, write: Any, *arguments: Any) -> None:
        before = bucket.stream.tell()
        try:
            write(*arguments)
        except FileFormatError as error:
            message = f"{bucket.names.final}: {error}"
            raise FileFormatError(message, flink_class=error.flink_class) from error.__cause__
        self.saved_if_much(bucket.stream.tell() - before)

    def _finish_all(self) -> None:
        self._hand_over_all()
        for bucket in self.all_buckets():
            part = self._open_parts.pop(bucket.path)
            self._written_by(bucket, part.writer.finish)
        self._kept = 0
        super()._finish_all()

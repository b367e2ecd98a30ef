"""Writes files of bulk formats into buckets.

Records are gathered per bucket, for the writer of its part; all writers flush when together they buffer many bytes, or
all buckets many records. So memory is bounded for any number of buckets, except for what a format must keep until the
file ends. Source of the semantics: ``BulkPartWriter`` (Flink 1.20)."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from types import ModuleType
from typing import IO, Any, cast

from penstock.common.bulk_writer import BulkWriter, BulkWriterFactory
from penstock.common.row import Row, names_of
from penstock.common.settings.settings import Settings
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation
from penstock.common.typesystem.conversions import same
from penstock.connectors.files.file_sink import Bucket, FileOutput, FileWriter
from penstock.connectors.files.packs import Packs
from penstock.connectors.files.row_layouts import why_added, why_asked
from penstock.errors import FileFormatError
from penstock.runtime.buffers.codec import copier, copy_record, decode_value, dumps
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.columns.layouts import ColumnsWriter
from penstock.runtime.io.sinks import SinkWriter

_BATCH, _MOST_RECORDS = 1_000, 50_000  # most records gathered in one bucket, and in all buckets
_MOST_BYTES = 64 << 20  # most bytes that the writers of a subtask buffer


@dataclass(frozen=True, eq=False)
class BulkOutput(FileOutput):
    """Adds files of a bulk format to the folders below a base; ``encoder`` creates their writers."""

    encoder: BulkWriterFactory[Any]  # type: ignore[assignment]

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        return why_asked(self.assigner) or why_added(self.encoder)

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _BulkFileWriter(self, context)


_ATOMS = frozenset({str, int, float, bool, bytes, type(None), date, time, datetime, Decimal, Instant})
"""Immutable classes."""


def _kept(record: Any) -> Any:
    """The record, copied unless it is immutable."""
    if type(record) is Row and _ATOMS.issuperset(map(type, record)):
        return Row.of_values(tuple(record), names_of(record), record.get_row_kind())
    return copy_record(record)


class _Stream(io.RawIOBase):
    """The end of a bucket's file that is still in memory. The bucket replaces its stream at each save."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._bucket.stream.write(data)

    def tell(self) -> int:
        return self._bucket.written + self._bucket.stream.tell()


class _Passing(BulkWriter[Any]):
    def __init__(self, bucket: Bucket, packs: Packs) -> None:
        self._bucket, self._packs = bucket, packs

    def add_element(self, element: Any, /) -> None:
        self.add_all([element])

    def add_all(self, elements: Sequence[Any], /) -> None:
        self._packs.add((self._bucket.path, self._bucket.counter, dumps(elements)))

    def flush(self) -> None:
        """Nothing is buffered."""

    def finish(self) -> None:
        """The file ends with a checkpoint."""


def objects_of(batches: list[Any]) -> list[Any]:
    """The records of native batches."""
    return [value for batch in batches for value in batch.objects()]


class _Part:
    __slots__ = ("batches", "count", "records", "waiting", "writer")

    def __init__(self, writer: BulkWriter[Any]) -> None:
        self.records: list[Any] = []
        self.batches: list[Any] = []  # native ones that wait, while no objects do
        self.count = 0  # of what waits
        self.writer = writer
        self.waiting = 0

    def add(self, record: Any) -> None:
        if self.batches:
            self.records, self.batches = objects_of(self.batches), []
        self.records.append(record)
        self.count += 1

    def add_columns(self, batch: Any) -> None:
        if self.records:
            self.records += batch.objects()
        else:
            self.batches.append(batch)
        self.count += len(batch)


def _joined(batches: list[Any]) -> Any:
    """Native batches as one; None if there are none, or they are of different types."""
    return type(batches[0]).concat(batches) if len(batches) > 1 else batches[0] if batches else None


class _BulkFileWriter(FileWriter):
    def __init__(self, sink: BulkOutput, context: OperatorContext) -> None:
        super().__init__(sink, context)
        self._factory = sink.encoder
        self._open_parts: dict[str, _Part] = {}  # by path of the bucket
        self._gathered = self._kept = 0
        self._functions: Any = None
        self._keep = same if copier(context.config.input_type) is None else _kept

    def write(self, value: Any) -> None:  # type: ignore[override]
        bucket = self.bucket_of(value)
        part = self._open_parts.get(bucket.path) or self._begin(bucket)
        part.add(self._keep(value))
        self._gathered += 1
        self._hand_over_much(part, bucket)

    def _hand_over_much(self, part: _Part, bucket: Bucket) -> None:
        if part.count >= _BATCH:
            self._hand_over(part, bucket)
        elif self._gathered >= _MOST_RECORDS:
            self._hand_over_all()

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        self._functions = functions
        return self._take_columns

    def _take_columns(self, batch: Any) -> None:
        """Take a batch, in the portions in which records would be handed over."""
        start = 0
        while start < len(batch):
            bucket = self.bucket_of(None)
            part = self._open_parts.get(bucket.path) or self._begin(bucket)
            end = min(len(batch), start + _BATCH - part.count)
            part.add_columns(batch.slice(start, end))
            self._gathered += end - start
            start = end
            self._hand_over_much(part, bucket)

    def write_all(self, values: Sequence[Any]) -> None:
        for value in values:
            self.write(value)
        self.room = _BATCH

    def _begin(self, bucket: Bucket) -> _Part:
        writer: BulkWriter[Any] = (
            _Passing(bucket, self._packs)
            if self._passes_on
            else self._factory.create(cast("IO[bytes]", _Stream(bucket)))
        )
        part = self._open_parts[bucket.path] = _Part(writer)
        return part

    def _add(self, bucket: Bucket, data: bytes) -> None:
        part = self._open_parts.get(bucket.path) or self._begin(bucket)
        self._written_by(bucket, part.writer.add_all, decode_value(data))
        self._count(part)

    def _pass_on(self, bucket: Bucket) -> None:
        part = self._open_parts.pop(bucket.path)
        if part.count:
            self._hand_over(part, bucket)

    def _hand_over(self, part: _Part, bucket: Bucket) -> None:
        records, batches, count = part.records, part.batches, part.count
        part.records, part.batches, part.count = [], [], 0
        self._gathered -= count
        writer, whole = part.writer, _joined(batches)
        if whole is not None and isinstance(writer, ColumnsWriter):
            self._written_by(bucket, writer.add_columns, whole, self._functions)
        else:
            self._written_by(bucket, writer.add_all, records or objects_of(batches))
        self._count(part)

    def _hand_over_all(self) -> None:
        for bucket in self.all_buckets():
            part = self._open_parts[bucket.path]
            if part.count:
                self._hand_over(part, bucket)

    def _count(self, part: _Part) -> None:
        """Count the bytes that the writer buffers; if all buffer too much, flush them."""
        self._kept += part.writer.waiting - part.waiting
        part.waiting = part.writer.waiting
        if self._kept < _MOST_BYTES:
            return
        for bucket in self.all_buckets():
            part = self._open_parts[bucket.path]
            self._written_by(bucket, part.writer.flush)
            part.waiting = part.writer.waiting
        self._kept = sum(part.waiting for part in self._open_parts.values())

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
            self._written_by(bucket, self._open_parts.pop(bucket.path).writer.finish)
        self._kept = 0
        super()._finish_all()

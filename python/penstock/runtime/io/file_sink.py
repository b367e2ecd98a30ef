"""Writing files into buckets: part files that are rolled when they are large, under pending names.

Each subtask gathers what belongs to a part and adds it to the part's file now and then, so a sink can have any number
of buckets and no more than one file open.

Source of the semantics: ``FileSink``, ``FileWriterBucket``, ``DefaultRollingPolicy`` (Flink 1.20).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, ClassVar

from penstock.common.callables import shown
from penstock.common.serialization import Encoder, SimpleStringEncoder
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.filling import room
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.io.buckets import BucketAssigner, BucketContext
from penstock.runtime.io.part_files import part_files
from penstock.runtime.io.pending import attempt_name, waiting_place
from penstock.runtime.io.sinks import PublishedSink, SinkWriter
from penstock.runtime.io.storage import join, naming, real_place
from penstock.runtime.io.text import file_text

_WAITING_BYTES = 4 << 20
"""What all parts of a subtask gather before it goes to their files."""
_LONGEST_NAME, _LONGEST_PATH = 255, 2048
"""Bytes of the name of a folder, and of the path of a bucket."""


@dataclass(frozen=True, eq=False)
class FileOutput(PublishedSink):
    """Adds files to the folders below a base: ``BASE/BUCKET/PREFIX-UID-SUBTASK-COUNTER``, then a suffix. The UID is
    another one for each job, sink and bucket; the counter begins at 0 in each bucket, and in later steps behind all
    counters that the subtask has used.

    Attributes:
        base: path of the folder.
        encoder: writes a record.
        assigner: says in which bucket.
        part_size: bytes; a file that has more gets no further record. None for no limit.
        prefix: how names of files begin.
        suffix: how they end.
        rollover: milliseconds that a part is written at the most, in a job of many steps; None for no limit.
        inactivity: milliseconds without a record after which the next one begins another part, in such a job.
    """

    base: str
    encoder: Encoder[Any]
    assigner: BucketAssigner[Any]
    part_size: int | None
    prefix: str = "part"
    suffix: str = ""
    rollover: int | None = None
    inactivity: int | None = None
    adds: ClassVar[bool] = True

    def place(self) -> str:
        """The base; see :class:`PublishedSink`."""
        return real_place(self.base)

    def prepare(self, parallelism: int) -> FileOutput:
        """With an absolute path, should the current folder be another one on the executors."""
        return replace(self, base=self.place())

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Pending files, as many as there are parts."""
        encoder = self.encoder
        if isinstance(encoder, SimpleStringEncoder):
            encoder = replace(encoder, text=file_text(context.config.input_type))
        return FileWriter(replace(self, encoder=encoder), context)


@dataclass(slots=True)
class Bucket:
    """A bucket, and the part that is being written in it.

    Attributes:
        path: of its folder, from the base.
        names: where the part waits, and where it goes.
        counter: number of the part.
        stream: what of it is not in the file yet.
        written: bytes that are.
        began: when its part did, by the clock; in a job of many steps.
        touched: when the last record came.
    """

    path: str
    names: PendingFile
    counter: int = 0
    stream: BytesIO = field(default_factory=BytesIO)
    written: int = 0
    began: int = 0
    touched: int = 0


class _Context(BucketContext):
    __slots__ = ("_context", "_writer")

    def __init__(self, context: OperatorContext, writer: FileWriter) -> None:
        self._context, self._writer = context, writer

    def current_processing_time(self) -> int:
        return self._context.clock.now()

    def current_watermark(self) -> int:
        return self._context.time.watermark

    def timestamp(self) -> int | None:
        return self._writer.timestamp


class FileWriter(SinkWriter):
    """The part files of one subtask."""

    timed = True

    def __init__(self, sink: FileOutput, context: OperatorContext) -> None:
        self._sink, self._task = sink, context
        self._context = _Context(context, self)
        self._buckets: dict[str, Bucket] = {}  # by what the assigner says
        self._by_path: dict[str, Bucket] = {}
        self._finished: list[PendingFile] = []
        self._parts = part_files(sink.base)
        self._folder = waiting_place(sink.base, context.job, adds=True)
        self._first = 0  # counter of a bucket's first part
        steps = context.job.folder_id is not None
        self._ages = steps and (sink.rollover is not None or sink.inactivity is not None)
        self._most = float("inf") if sink.part_size is None else sink.part_size
        self._bytes = self._saved = 0

    def write(self, value: Any) -> None:  # type: ignore[override]
        bucket = self.bucket_of(value)
        if bucket.written + bucket.stream.tell() > self._most or (self._ages and self._aged(bucket)):
            self._roll(bucket)
        stream = bucket.stream
        before = stream.tell()
        self._sink.encoder.encode(value, stream)
        self.saved_if_much(stream.tell() - before)

    def write_all(self, values: Sequence[Any]) -> None:
        before = self._bytes
        for value in values:
            self.write(value)
        self.room = room((self._bytes - before) // max(len(values), 1), self.room)

    def _aged(self, bucket: Bucket) -> bool:
        """Whether a part has been written for long enough, or has had no record for long."""
        now, sink = self._context.current_processing_time(), self._sink
        old = sink.rollover is not None and now - bucket.began >= sink.rollover
        quiet = sink.inactivity is not None and now - bucket.touched >= sink.inactivity
        aged = bucket.began > 0 and (old or quiet)
        bucket.began, bucket.touched = now if aged or not bucket.began else bucket.began, now
        return aged

    def bucket_of(self, value: Any) -> Bucket:
        """The bucket of a record."""
        bucket_id = self._sink.assigner.get_bucket_id(value, self._context)
        known = isinstance(bucket_id, str) and self._buckets.get(bucket_id)
        return known or self._bucket(bucket_id)

    def all_buckets(self) -> list[Bucket]:
        """Those that have had records."""
        return list(self._by_path.values())

    def saved_if_much(self, more: int) -> None:
        """Bring what waits to the files, if it is much.

        Args:
            more: bytes that have come into the stream of a bucket.
        """
        self._bytes += more
        if self._bytes - self._saved >= _WAITING_BYTES:
            self._save_all()

    def _bucket(self, bucket_id: Any) -> Bucket:
        """The bucket that the assigner calls so, for the first time."""
        path = _checked(bucket_id)
        if path not in self._by_path:
            self._by_path[path] = Bucket(path, self._names(path, self._first), self._first)
        bucket = self._buckets[bucket_id] = self._by_path[path]
        return bucket

    def _names(self, bucket: str, counter: int) -> PendingFile:
        sink, task = self._sink, self._task
        operator_id = task.config.operator_id
        uid = uuid.uuid5(uuid.UUID(task.job.job_id), f"{operator_id}/{bucket}")
        name = f"{sink.prefix}-{uid}-{task.subtask}-{counter}{sink.suffix}"
        waits = attempt_name(operator_id, task.subtask)
        return PendingFile(operator_id, join(self._folder, waits), join(sink.base, bucket, name))

    def _roll(self, bucket: Bucket) -> None:
        """Finish the part of a bucket, and begin the next."""
        self._finish(bucket)
        bucket.counter += 1
        bucket.names = self._names(bucket.path, bucket.counter)
        bucket.written = 0

    def _save_all(self) -> None:
        for bucket in self._by_path.values():
            if bucket.stream.tell():
                self._save(bucket)

    def _save(self, bucket: Bucket, *, sync: bool = False) -> None:
        """Bring what waits to the part's file."""
        data, bucket.stream = bucket.stream.getvalue(), BytesIO()
        path = self._parts.local(bucket.names.pending)
        with naming(path), open(path, "ab") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        bucket.written += len(data)
        self._saved += len(data)

    def _finish(self, bucket: Bucket) -> None:
        self._save(bucket, sync=self._parts.durable)
        self._parts.finish(bucket.names.pending)
        self._finished.append(bucket.names)

    def finish(self) -> None:
        self.end_step()
        self._parts.close()

    def end_step(self) -> None:
        self._finish_all()
        self._task.files.extend(self._finished)
        self._first = max((bucket.counter + 1 for bucket in self._by_path.values()), default=self._first)
        self._finished.clear()
        self._buckets.clear()
        self._by_path.clear()

    def _finish_all(self) -> None:
        """Finish the parts of all buckets."""
        for bucket in self._by_path.values():
            self._finish(bucket)

    def volatile(self) -> int:
        return self._first

    def resume(self, volatile: int) -> None:
        self._first = volatile

    def discard(self) -> None:
        for names in (*self._finished, *(bucket.names for bucket in self._by_path.values())):
            self._parts.discard(names.pending)
        self._parts.close()


def _checked(bucket: Any) -> str:
    """The path of a bucket from the base, one for all ways to write it: ``a/b`` for ``a//./b/``.

    Raises:
        InvalidProgramError: it is none, or leads out of the base.
    """
    if not isinstance(bucket, str):
        raise InvalidProgramError(
            f"get_bucket_id() of the bucket assigner has returned {shown(bucket)}; a text is needed. Return the path "
            "of a folder, as seen from the base path of the sink."
        )
    path = PurePosixPath(bucket)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidProgramError(
            f"get_bucket_id() of the bucket assigner has returned {bucket!r}, which does not lie below the base path "
            "of the sink. Return the path of a folder, as seen from the base path."
        )
    if not _can_be_made(path):
        raise InvalidProgramError(
            f"get_bucket_id() of the bucket assigner has returned {shown(bucket)}, and there can be no folder of that "
            "name: it is too long, or has characters that no file system takes. Return a short and plain text."
        )
    return str(path)


def _can_be_made(path: PurePosixPath) -> bool:
    """Whether folders of these names can be made: it must be known before the job is committed."""
    try:
        whole, *names = [len(os.fsencode(each)) for each in (path, *path.parts)]
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return "\0" not in str(path) and max(names, default=0) <= _LONGEST_NAME and whole <= _LONGEST_PATH

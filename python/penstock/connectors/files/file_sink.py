"""Writes files into buckets: part files under pending names, rolled when they are large.

Each subtask buffers the data of a part and appends it to the part's file now and then. So a sink can have any number of
buckets with only one file open, in bounded memory. Source of the semantics: ``FileSink``, ``FileWriterBucket``,
``DefaultRollingPolicy`` (Flink 1.20)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, ClassVar

from penstock.common.callables import shown
from penstock.common.serialization import Encoder, SimpleStringEncoder
from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.files.buckets import BucketAssigner, BucketContext
from penstock.connectors.files.packs import Packs
from penstock.connectors.files.row_layouts import row_layout, why_asked, why_encoded
from penstock.errors import InvalidProgramError
from penstock.runtime.buffers.buffer_size import room
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.columns.layouts import compiled
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.io.pending_paths import attempt_name, waiting_place
from penstock.runtime.io.sinks import PublishedSink, SinkWriter
from penstock.runtime.io.text import file_text
from penstock.storage.storage import is_local, join, naming, real_place
from penstock.storage.stores import abandoned, storage_of

_WAITING_BYTES = 4 << 20  # bytes that all parts of a subtask buffer before they are written
_LONGEST_NAME, _LONGEST_PATH = 255, 2048  # bytes of a folder's name, and of a bucket's path


@dataclass(frozen=True, eq=False)
class FileOutput(PublishedSink):
    """Adds files to the folders below a base: ``BASE/BUCKET/PREFIX-UID-SUBTASK-COUNTER``, then a suffix. The UID
    differs for each job, sink and bucket; a counter is used once."""

    base: str
    encoder: Encoder[Any]
    assigner: BucketAssigner[Any]
    part_size: int | None
    prefix: str = "part"
    suffix: str = ""
    rollover: int | None = None
    inactivity: int | None = None
    adds: ClassVar[bool] = True
    passes_on: ClassVar[bool] = True

    def place(self) -> str:
        return real_place(self.base)

    def prepare(self, parallelism: int) -> FileOutput:
        """Make the path absolute, as executors may have another working directory."""
        return replace(self, base=self.place())

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        return why_asked(self.assigner) or why_encoded(functions, self.encoder, record_type)

    def writer(self, context: OperatorContext) -> SinkWriter:
        encoder = self.encoder
        if isinstance(encoder, SimpleStringEncoder):
            encoder = replace(encoder, text=file_text(context.config.input_type))
        return FileWriter(replace(self, encoder=encoder), context)


@dataclass(slots=True)
class Bucket:
    """A bucket and its current part."""

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


class PartFiles:
    """Parts on a local or mounted file system."""

    durable = True

    def local(self, pending: str) -> str:
        return pending

    def finish(self, pending: str) -> None:
        """Bring a finished part to its pending path."""

    def discard(self, pending: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(pending)

    def close(self) -> None:
        """Remove all local files."""


class _UploadedPartFiles(PartFiles):
    durable = False

    def __init__(self) -> None:
        self._folder: str | None = None

    def local(self, pending: str) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="penstock-parts-")
        return os.path.join(self._folder, hashlib.sha1(pending.encode()).hexdigest())

    def finish(self, pending: str) -> None:
        out = storage_of(pending).writing(pending)
        try:
            with open(self.local(pending), "rb") as part:
                shutil.copyfileobj(part, out, 1 << 20)
        except BaseException:
            abandoned(out)
            raise
        out.close()
        os.unlink(self.local(pending))

    def discard(self, pending: str) -> None:
        with contextlib.suppress(Exception):
            storage_of(pending).delete([pending])

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class FileWriter(SinkWriter):
    """The part files of one subtask. Between checkpoints they grow, or their data is passed on in packs."""

    timed = True

    def __init__(self, sink: FileOutput, context: OperatorContext) -> None:
        self._sink, self._task = sink, context
        self._context = _Context(context, self)
        self._buckets: dict[str, Bucket] = {}  # by bucket id
        self._by_path: dict[str, Bucket] = {}
        self._finished: list[PendingFile] = []
        self._parts = PartFiles() if is_local(sink.base) else _UploadedPartFiles()
        self._folder = waiting_place(sink.base, context.job, adds=True)
        self._first = 0  # counter of a bucket's first part
        self._packs = Packs(context)
        self._passed_on: dict[str, Bucket] = {}  # by path: buckets of the packs without a record in this step
        self._passes_on = False  # this step writes into a pack
        self._ages = sink.rollover is not None or sink.inactivity is not None
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

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        layout = compiled(functions, row_layout(self._sink.encoder, self._task.config.input_type))
        return self.taker(partial(self._write_columns, layout))

    def _write_columns(self, layout: Any, batch: Any, start: int) -> tuple[int, bool]:
        """Write records from a place on into the bucket's part, as far as it goes."""
        bucket = self.bucket_of(None)
        written = bucket.written + bucket.stream.tell()
        if written > self._most or (self._ages and self._aged(bucket)):
            self._roll(bucket)
            written = 0
        size = self._sink.part_size
        data, end, doubtful = layout.write(batch, start, len(batch), None if size is None else size - written)
        bucket.stream.write(data)
        self.saved_if_much(len(data))
        return end, doubtful

    def _aged(self, bucket: Bucket) -> bool:
        """Whether a part has been open, or without new records, for the time of the rolling policy."""
        now, sink = self._context.current_processing_time(), self._sink
        old = sink.rollover is not None and now - bucket.began >= sink.rollover
        quiet = sink.inactivity is not None and now - bucket.touched >= sink.inactivity
        aged = bucket.began > 0 and (old or quiet)
        bucket.began, bucket.touched = now if aged or not bucket.began else bucket.began, now
        return aged

    def bucket_of(self, value: Any) -> Bucket:
        bucket_id = self._sink.assigner.get_bucket_id(value, self._context)
        bucket = isinstance(bucket_id, str) and self._buckets.get(bucket_id)
        return bucket or self._bucket(bucket_id)

    def all_buckets(self) -> list[Bucket]:
        return list(self._by_path.values())

    def saved_if_much(self, more: int) -> None:
        self._bytes += more
        if self._bytes - self._saved < _WAITING_BYTES:
            return
        save = self._pass_on if self._passes_on else self._save
        for bucket in self._by_path.values():
            if bucket.stream.tell():
                save(bucket)

    def _bucket(self, bucket_id: Any) -> Bucket:
        path = _checked(bucket_id)
        if not self._by_path:  # the first record of the step
            self._passes_on = self._task.saves and not self._task.commits
            if not self._passes_on:
                self._take_packs()
        bucket = self._by_path.get(path) or self._passed_on.pop(path, None)
        bucket = bucket or Bucket(path, self._names(path, self._first), self._first)
        self._by_path[path] = self._buckets[bucket_id] = bucket
        return bucket

    def _take_packs(self) -> None:
        """Write the data that steps since the last checkpoint have passed on."""
        ages = {path: (bucket.began, bucket.touched) for path, bucket in self._passed_on.items()}
        for bucket in self._passed_on.values():
            bucket.written = 0
        for path, counter, data in self._packs.take():
            bucket = self._by_path.get(path)
            if bucket is None:
                bucket = self._by_path[path] = Bucket(path, self._names(path, counter), counter)
            if bucket.counter < counter:
                self._roll(bucket)
            self._add(bucket, data)
        for path, age in ages.items():
            self._by_path[path].began, self._by_path[path].touched = age
        self._passed_on.clear()

    def _add(self, bucket: Bucket, data: bytes) -> None:
        bucket.stream.write(data)
        self.saved_if_much(len(data))

    def _pass_on(self, bucket: Bucket) -> None:
        data, bucket.stream = bucket.stream.getvalue(), BytesIO()
        self._packs.add((bucket.path, bucket.counter, data))
        bucket.written += len(data)
        self._saved += len(data)

    def _names(self, bucket: str, counter: int) -> PendingFile:
        sink, task = self._sink, self._task
        operator_id = task.config.operator_id
        uid = uuid.uuid5(uuid.UUID(task.job.job_id), f"{operator_id}/{bucket}")
        name = f"{sink.prefix}-{uid}-{task.subtask}-{counter}{sink.suffix}"
        waits = attempt_name(operator_id, task.subtask)
        return PendingFile(operator_id, join(self._folder, waits), join(sink.base, bucket, name))

    def _roll(self, bucket: Bucket) -> None:
        """Finish the part of a bucket; the next record begins a new one."""
        (self._pass_on if self._passes_on else self._finish)(bucket)
        bucket.counter += 1
        bucket.names = self._names(bucket.path, bucket.counter)
        bucket.written = 0

    def _save(self, bucket: Bucket, *, sync: bool = False) -> None:
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

    def flush(self) -> None:
        """Parts grow until they can be committed."""

    def pass_on(self) -> None:
        for bucket in self._by_path.values():
            self._pass_on(bucket)
        self._packs.end_step()
        self._passed_on.update(self._by_path)
        self._buckets, self._by_path = {}, {}

    def end_step(self) -> None:
        if self._passes_on:  # the subtask ends with a step that is not a checkpoint
            self.pass_on()
            self._passes_on = False
        if self._packs:
            self._take_packs()
        self._finish_all()
        self._task.files.extend(self._finished)
        self._first = max((bucket.counter + 1 for bucket in self._by_path.values()), default=self._first)
        self._finished, self._buckets, self._by_path = [], {}, {}

    def _finish_all(self) -> None:
        for bucket in self._by_path.values():
            self._finish(bucket)

    def volatile(self) -> Any:
        if not self._passed_on:
            return self._first
        buckets = [(b.path, b.counter, b.written, b.began, b.touched) for b in self._passed_on.values()]
        return self._first, buckets, self._packs.volatile()

    def resume(self, volatile: Any) -> None:
        if isinstance(volatile, int):
            self._first = volatile
            return
        self._first, buckets, packs = volatile
        self._packs.resume(packs)
        for path, counter, *numbers in buckets:
            self._passed_on[path] = Bucket(path, self._names(path, counter), counter, BytesIO(), *numbers)

    def discard(self) -> None:
        self._packs.discard()
        for names in (*self._finished, *(bucket.names for bucket in self._by_path.values())):
            self._parts.discard(names.pending)
        self._parts.close()


def _checked(bucket: Any) -> str:
    """The normalized path of a bucket, so that each has one spelling: ``a/b`` for ``a//./b/``."""
    path = PurePosixPath(bucket) if isinstance(bucket, str) else None
    if path is None:
        why = "which is not a text. Return the path of a folder, relative to the base path of the sink."
    elif path.is_absolute() or ".." in path.parts:
        why = "which is not below the base path of the sink. Return the path of a folder, relative to the base path."
    elif not _can_be_made(path):
        why = (
            "and no folder can have that name: it is too long, or has characters that file systems refuse. Return a "
            "short and plain text."
        )
    else:
        return str(path)
    raise InvalidProgramError(f"get_bucket_id() of the bucket assigner has returned {shown(bucket)}, {why}")


def _can_be_made(path: PurePosixPath) -> bool:
    """Check that folders with these names can be created, before the job is committed."""
    try:
        whole, *names = [len(os.fsencode(name)) for name in (path, *path.parts)]
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return "\0" not in str(path) and max(names, default=0) <= _LONGEST_NAME and whole <= _LONGEST_PATH

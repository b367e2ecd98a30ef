"""Writes to Kafka: at once, or through files that are sent when the job or step has succeeded. Sources of the
semantics: ``KafkaWriter``, ``ExactlyOnceKafkaWriter`` (Flink's Kafka connector 3.3)."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import IO, Any, ClassVar, cast
from urllib.parse import quote

from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.kafka import client, records
from penstock.connectors.kafka import properties as names
from penstock.connectors.kafka.messages import layout_of
from penstock.connectors.kafka.records import (
    PooledProducer,
    RecordSerializer,
    Row,
    produce,
    produce_values,
    rows_of,
    take_producer,
    undelivered,
)
from penstock.connectors.kafka.transactions import SENDERS, Sender, begin, check, transactional
from penstock.errors import ConfigurationError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.columns.layouts import write_columns
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.io.pending_paths import attempt_file, waiting_place
from penstock.runtime.io.sinks import BuiltinSink, Check, PublishedSink, SinkWriter
from penstock.storage.storage import local_path, naming

FOLDER = "penstock.folder"  # our only property of our own: the folder of the files that wait
_ROOM = 200  # records that are gathered for the writer
_LONGEST_NAME = 100
_BUFFER = 1 << 20
_TICK = 0.5
_IDLE = {"enable_idempotence": False}
"""Settings of a producer that sends nothing: it need not request a producer id, which takes half a second."""


@dataclass(frozen=True, eq=False)
class KafkaOutput(BuiltinSink):
    """Sends records while the task runs. The task succeeds when the brokers have acknowledged all of them."""

    properties: dict[str, str]
    serializer: RecordSerializer
    timestamps: bool = True
    log_only: bool = False

    def prepare(self, parallelism: int) -> KafkaOutput:
        """Check that brokers answer, and that the topic exists if all records have the same one."""
        _check_topic(self.properties, self.serializer)
        return self

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        return _why_objects(functions, self.serializer)

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _SendingWriter(self, context)


@dataclass(frozen=True, eq=False)
class TransactionalKafkaOutput(PublishedSink):
    """Keeps records in files until the job has succeeded; then the driver sends them in transactions."""

    properties: dict[str, str]
    serializer: RecordSerializer
    prefix: str
    timestamps: bool = True
    adds: ClassVar[bool] = True
    sends: ClassVar[bool] = True

    def place(self) -> str:
        """The real, absolute folder of the files that wait under this prefix, local or mounted."""
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        folder = self.properties.get(FOLDER)
        root = local_path(folder) if folder else Path(state, "penstock", "kafka")
        name = quote(self.prefix, safe="")
        if len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(self.prefix.encode()).hexdigest()[:16]}"
        return os.path.realpath(Path(root, f"sink-{name}"))

    def prepare(self, parallelism: int) -> TransactionalKafkaOutput:
        """Make the path absolute; check that brokers answer, accept transactions, and have the topic."""
        transactional(self.properties, self.prefix)  # fails now if the properties are wrong
        _check_topic(self.properties, self.serializer)
        check(self.properties, self.prefix)
        begin(self.prefix)
        return replace(self, properties={**self.properties, FOLDER: str(self.target().parent)})

    def why_objects(self, functions: ModuleType, record_type: TypeInformation[Any] | None, settings: Settings) -> str:
        return _why_objects(functions, self.serializer)

    def writer(self, context: OperatorContext) -> SinkWriter:
        return _FileWriter(self, context)

    def send(
        self, files: Sequence[str], owner: str, version: int, before: int, check: Check = None, *, last: bool = False
    ) -> None:
        key = (frozenset(self.properties.items()), self.prefix, owner)
        sender = SENDERS.take(lambda pooled: pooled.key == key) or self.sender(owner)
        sender.check = check
        try:
            sender.send(files, version, before)
        finally:
            if last:
                sender.close()
        if not last:
            SENDERS.put(sender)

    def sender(self, job_id: str) -> Sender:
        return Sender(self.properties, self.prefix, job_id)


def _why_objects(functions: ModuleType, serializer: RecordSerializer) -> str:
    """Why records are serialized one by one; "" where native code makes messages of a batch."""
    schema = serializer.value
    unknown = layout_of(functions, schema) is None
    reason = f"native code does not write what its {type(schema).__name__} does" if unknown else ""
    return serializer.why_not_only_values or reason


def _check_topic(properties: Mapping[str, str], serializer: RecordSerializer) -> None:
    producer, topic = client.producer(properties, **_IDLE), serializer.fixed_topic
    if topic is None:
        client.topics(producer, properties, "producer")
    else:
        client.partitions_of(producer, properties, topic)


class _Writer(SinkWriter):
    room = _ROOM
    shows = True

    def __init__(self, output: KafkaOutput | TransactionalKafkaOutput, context: OperatorContext) -> None:
        self._output = output
        self._partitions: dict[str, list[int]] = {}
        self.timed = output.timestamps
        self._serialize = output.serializer.opened(context.subtask, self._partitions_of)

    def write(self, value: Any) -> None:  # type: ignore[override]
        self.write_all((value,))

    def write_all(self, values: Sequence[Any]) -> None:
        self.take(self._serialize(values, self.timestamp))

    def take(self, rows: list[Row]) -> None:
        raise NotImplementedError

    def columns(self, functions: ModuleType) -> Callable[[Any], None] | None:
        topic, schema = self._output.serializer.only_values
        layout = layout_of(functions, schema)
        if topic is None or layout is None:
            return None

        def take(batch: Any) -> None:
            times = self._times(batch)

            def step(at: int) -> tuple[int, bool]:
                values, end, doubtful = layout.messages(batch, at, len(batch))
                self.take_values(topic, values, times[at:end])
                return end, doubtful

            def write(at: int, end: int) -> None:
                for value, time in zip(batch.objects(at, end), times[at:end], strict=True):
                    self.timestamp = time
                    self.write(value)

            write_columns(batch, step, write)

        return take

    def take_values(self, topic: str, values: list[bytes], times: Sequence[int]) -> None:
        """Take records of a topic that are values only."""
        self.take(list(rows_of(topic, values, times)))

    def _times(self, batch: Any) -> Sequence[int]:
        """The timestamps of the records, as Kafka has them."""
        times: list[int | None] | None = batch.times if self.timed else None
        if times is None:
            return [0] * len(batch)
        if None in times or min(cast("list[int]", times), default=0) < 0:
            return [max(time or 0, 0) for time in times]
        return cast("list[int]", times)

    def _partitions_of(self, topic: str) -> list[int]:
        if topic not in self._partitions:
            properties = self._output.properties
            self._partitions[topic] = client.partitions_of(client.producer(properties, **_IDLE), properties, topic)
        return self._partitions[topic]


class _SendingWriter(_Writer):
    """Sends each record, and waits for acknowledgements at the end of each step and of the task."""

    def __init__(self, output: KafkaOutput, context: OperatorContext) -> None:
        super().__init__(output, context)
        self._log_only = output.log_only
        self._pooled: PooledProducer | None = None
        self._failure: ConfigurationError | None = None

    def open(self) -> None:
        self._pooled = take_producer(self._output.properties)
        self._pooled.failed = self._failed

    def take(self, rows: list[Row]) -> None:
        assert self._pooled is not None
        produce(self._pooled.producer, rows)
        self._pooled.producer.poll(0)
        self._check()

    def take_values(self, topic: str, values: list[bytes], times: Sequence[int]) -> None:
        assert self._pooled is not None
        produce_values(self._pooled.producer, topic, values, times)
        self._pooled.producer.poll(0)
        self._check()

    def _failed(self, error: Any, message: Any) -> None:
        if self._failure is not None:
            return
        why = f"{error.str()}, at {names.servers(self._output.properties)!r}"
        failure = undelivered(message.topic(), message.key(), why)
        if self._log_only:
            client.LOGGER.error(str(failure))
        else:
            self._failure = failure

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def finish(self) -> None:
        assert self._pooled is not None
        while self._pooled.producer.flush(_TICK):
            self._check()
        self._check()
        self._pooled.put()
        self._pooled = None

    def discard(self) -> None:
        if self._pooled is not None:
            self._pooled.close()
            self._pooled = None


class _FileWriter(_Writer):
    """Writes records to pending files, one for each step with records."""

    def __init__(self, output: TransactionalKafkaOutput, context: OperatorContext) -> None:
        super().__init__(output, context)
        self._target, self._context = output.target(), context
        self._folder = Path(waiting_place(str(self._target), context.job, adds=True))
        self._rows: list[Row] = []
        self._bytes = 0
        self._names: PendingFile | None = None
        self._file: IO[bytes] | None = None

    def take(self, rows: list[Row]) -> None:
        self._add(rows, sum([len(row[4] or b"") + len(row[3] or b"") for row in rows]))

    def take_values(self, topic: str, values: list[bytes], times: Sequence[int]) -> None:
        self._add(rows_of(topic, values, times), sum(map(len, values)))

    def _add(self, rows: Iterable[Row], size: int) -> None:
        self._rows += rows
        self._bytes += size
        if len(self._rows) >= records.RECORDS or self._bytes >= records.BYTES:
            self._write()

    def _write(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        if self._file is None:
            operator_id, subtask = self._context.config.operator_id, self._context.subtask
            pending = str(attempt_file(self._folder, operator_id, subtask))
            self._names = PendingFile(operator_id, pending, str(self._target / str(subtask)))
            self._file = open(pending, "wb", _BUFFER)  # noqa: SIM115 - until finish or discard
        with naming(self._file.name):
            for start in range(0, len(rows), records.RECORDS):
                self._file.write(records.packed(rows[start : start + records.RECORDS]))

    def flush(self) -> None:
        """The file grows until its records can be sent."""

    def finish(self) -> None:
        if self._rows:
            self._write()
        if self._file is None or self._names is None:
            return
        with naming(self._file.name):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self._context.files.append(self._names)
        self._file = self._names = None

    def discard(self) -> None:
        if self._file is not None and self._names is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            with contextlib.suppress(OSError):
                os.unlink(self._names.pending)

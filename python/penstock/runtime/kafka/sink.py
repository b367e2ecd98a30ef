"""Writing to topics of Kafka: at once, or by files that are sent when the job has succeeded.

Sources of the semantics: ``KafkaWriter``, ``ExactlyOnceKafkaWriter`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, ClassVar
from urllib.parse import quote

from penstock.errors import ConfigurationError
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.config.tasks import PendingFile
from penstock.runtime.io.pending import attempt_file, waiting_place
from penstock.runtime.io.sinks import BuiltinSink, PublishedSink, SinkWriter
from penstock.runtime.io.storage import local_path
from penstock.runtime.kafka import client, records
from penstock.runtime.kafka.producing import Kept, kept, produce, undelivered
from penstock.runtime.kafka.publishing import SENDERS, Sender, begin, check
from penstock.runtime.kafka.records import Row
from penstock.runtime.kafka.serializing import RecordSerializer
from penstock.runtime.kafka.transactions import transactional

FOLDER = "penstock.folder"
"""The one property that is ours: where files wait."""
_ROOM = 200
"""Records that are gathered for the writer."""
_LONGEST_NAME = 100
_BUFFER = 1 << 20
_TICK = 0.5
_ASKING = {"enable_idempotence": False}
"""Of a producer that sends nothing: otherwise it would ask for an id of its own first, which takes half a second."""


@dataclass(frozen=True, eq=False)
class KafkaOutput(BuiltinSink):
    """Sends records while the task runs; it has succeeded when brokers have acknowledged them all.

    Attributes:
        properties: of Kafka's producer.
        serializer: makes Kafka's records.
        timestamps: whether records keep theirs.
        log_only: whether a record that cannot be written is logged, and nothing else.
    """

    properties: dict[str, str]
    serializer: RecordSerializer
    timestamps: bool = True
    log_only: bool = False

    @property
    def shown(self) -> str:
        """Where it writes to, for people."""
        return _shown(self.serializer)

    def prepare(self, parallelism: int) -> KafkaOutput:
        """The brokers answer, and the topic is there, if it is the same for all records."""
        _look(self.properties, self.serializer)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        """A producer of the subtask's own."""
        return _Producing(self, context)


@dataclass(frozen=True, eq=False)
class TransactionalKafkaOutput(PublishedSink):
    """Keeps records in files until the job has succeeded; then the driver sends them in transactions.

    Attributes:
        properties: of Kafka's producer; ``penstock.folder`` says where the files wait.
        serializer: makes Kafka's records.
        prefix: what the ids of transactions begin with.
        timestamps: whether records keep theirs.
    """

    properties: dict[str, str]
    serializer: RecordSerializer
    prefix: str
    timestamps: bool = True
    adds: ClassVar[bool] = True
    sends: ClassVar[bool] = True

    @property
    def shown(self) -> str:
        """Where it writes to, for people."""
        return _shown(self.serializer)

    def place(self) -> str:
        """The folder of all files that wait under this prefix, real and absolute; a local or mounted one."""
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        given = self.properties.get(FOLDER)
        root = local_path(given) if given else Path(state, "penstock", "kafka")
        return os.path.realpath(Path(root, _folder_name(self.prefix)))

    def prepare(self, parallelism: int) -> TransactionalKafkaOutput:
        """With an absolute path, should the current folder be another one on the executors. The brokers answer, take
        transactions, and have the topic, if it is the same for all records."""
        transactional(self.properties, self.prefix)  # what the client or brokers would refuse, they refuse now
        _look(self.properties, self.serializer)
        check(self.properties, self.prefix)
        begin(self.prefix)
        return replace(self, properties={**self.properties, FOLDER: str(self.target().parent)})

    def writer(self, context: OperatorContext) -> SinkWriter:
        """A pending file."""
        return _Waiting(self, context)

    def send(self, files: Sequence[str], job_id: str) -> None:
        """Send what the files of a bounded job hold, each record once, whatever has been sent of them before.

        Args:
            files: in their order; all that a job has for this sink.
            job_id: of the job.

        Raises:
            ConfigurationError: the brokers do not answer, or refuse.
        """
        sender = self.sender(job_id)
        try:
            sender.send(files)
        finally:
            sender.close()

    def send_step(self, files: Sequence[str], owner: str, version: int, before: int) -> None:
        """See :class:`PublishedSink`; the process keeps the sender for the next version."""
        key = (frozenset(self.properties.items()), self.prefix, owner)
        sender = SENDERS.take(lambda each: each.key == key) or self.sender(owner)
        sender.send(files, version, before)
        SENDERS.put(sender)

    def sender(self, job_id: str) -> Sender:
        """Sends the files of one version after the other.

        Args:
            job_id: the same in all runs that go on with one another.
        """
        return Sender(self.properties, self.prefix, job_id)


def _shown(serializer: RecordSerializer) -> str:
    topic = serializer.fixed_topic
    return "topics by a selector" if topic is None else repr(topic)


def _folder_name(prefix: str) -> str:
    quoted = quote(prefix, safe="")
    if len(quoted) <= _LONGEST_NAME:
        return f"sink-{quoted}"
    return f"sink-{quoted[:_LONGEST_NAME]}-{hashlib.sha256(prefix.encode()).hexdigest()[:16]}"


def _look(properties: Mapping[str, str], serializer: RecordSerializer) -> None:
    """Look whether brokers answer, and have the topic.

    Raises:
        ConfigurationError: they do not.
    """
    producer, topic = client.producer(properties, **_ASKING), serializer.fixed_topic
    if topic is None:
        client.topics(producer, properties, "producer")
    else:
        client.partitions_of(producer, properties, topic)


class _Writer(SinkWriter):
    """Makes Kafka's records; what becomes of them is to be said in ``take``.

    Args:
        output: the sink, of either kind.
        context: of the subtask.
    """

    room = _ROOM

    def __init__(self, output: KafkaOutput | TransactionalKafkaOutput, context: OperatorContext) -> None:
        self._output = output
        self._partitions: dict[str, list[int]] = {}
        self.timed = output.timestamps
        self._made = output.serializer.opened(context.subtask, self._partitions_of)

    def write(self, value: Any) -> None:  # type: ignore[override]
        self.write_all((value,))

    def write_all(self, values: Sequence[Any]) -> None:
        self.take(self._made(values, self.timestamp))

    def take(self, rows: list[Row]) -> None:
        """What becomes of records."""
        raise NotImplementedError

    def _partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic, looked up once."""
        if topic not in self._partitions:
            properties = self._output.properties
            asking = client.producer(properties, **_ASKING)
            self._partitions[topic] = client.partitions_of(asking, properties, topic)
        return self._partitions[topic]


class _Producing(_Writer):
    """Sends each record, and waits for the answers at the end of the task, and of each step of one that goes on."""

    def __init__(self, output: KafkaOutput, context: OperatorContext) -> None:
        super().__init__(output, context)
        self._log_only = output.log_only
        self._kept: Kept | None = None
        self._failure: ConfigurationError | None = None

    def open(self) -> None:
        self._kept = kept(self._output.properties)
        self._kept.failed = self._failed

    def take(self, rows: list[Row]) -> None:
        assert self._kept is not None
        produce(self._kept.producer, rows)
        self._kept.producer.poll(0)
        self._check()

    def _failed(self, error: Any, message: Any) -> None:
        if self._failure is not None:
            return
        failure = undelivered(error, message, self._output.properties)
        if self._log_only:
            client.LOGGER.error(str(failure))
        else:
            self._failure = failure

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def finish(self) -> None:
        assert self._kept is not None
        while self._kept.producer.flush(_TICK):
            self._check()
        self._check()
        self._kept.put()
        self._kept = None

    def discard(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None


class _Waiting(_Writer):
    """Writes records to pending files: one for each step, if it has records."""

    def __init__(self, output: TransactionalKafkaOutput, context: OperatorContext) -> None:
        super().__init__(output, context)
        self._target, self._context = output.target(), context
        self._folder = Path(waiting_place(str(self._target), context.job, adds=True))
        self._rows: list[Row] = []
        self._bytes = 0
        self._names: PendingFile | None = None
        self._file: IO[bytes] | None = None

    def take(self, rows: list[Row]) -> None:
        self._rows += rows
        for _, _, _, key, value, _ in rows:
            self._bytes += (len(value) if value else 0) + (len(key) if key else 0)
        if len(self._rows) >= records.RECORDS or self._bytes >= records.BYTES:
            self._write()

    def _write(self) -> None:
        rows, self._rows, self._bytes = self._rows, [], 0
        if self._file is None:
            context, operator_id = self._context, self._context.config.operator_id
            pending = str(attempt_file(self._folder, operator_id, context.subtask))
            self._names = PendingFile(operator_id, pending, str(self._target / str(context.subtask)))
            self._file = open(pending, "wb", _BUFFER)  # noqa: SIM115 - until finish or discard
        for start in range(0, len(rows), records.RECORDS):
            self._file.write(records.packed(rows[start : start + records.RECORDS]))

    def finish(self) -> None:
        if self._rows:
            self._write()
        if self._file is None or self._names is None:
            return
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

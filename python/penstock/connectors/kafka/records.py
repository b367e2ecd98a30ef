"""Kafka records: how they are made of those of a stream, wait in files, and are produced.

Tasks write the files, and the driver sends them once the job has succeeded or a manifest names them. A file is a
sequence of blocks, each with a header and some records. A reader can start at any block. Source of the semantics:
``KafkaRecordSerializationSchemaBuilder``, ``FlinkFixedPartitioner`` (Kafka connector 3.3)."""

from __future__ import annotations

import marshal
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import IO, Any, cast

from penstock.common.callables import shown
from penstock.common.serialization import SerializationSchema
from penstock.connectors.kafka import client
from penstock.connectors.kafka.client import Pool
from penstock.errors import ConfigurationError, InvalidProgramError, PenstockError
from penstock.runtime.usercode.failure import failure_of

Row = tuple[str, int, int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]] | None]
"""Topic, partition or −1, timestamp or 0, key, value, headers."""

RECORDS = 1_000  # most records in a block
BYTES = 1 << 18  # bytes of values that make a block full
_HEAD = struct.Struct("<4sII")
_MAGIC = b"pkr2"
_MARSHAL = 4


def packed(rows: Sequence[Row]) -> bytes:
    """A block of records."""
    try:
        data = marshal.dumps(cast("list[Any]", rows), _MARSHAL)
    except ValueError:  # classes derived from str or bytes
        data = marshal.dumps(cast("list[Any]", [_plain(row) for row in rows]), _MARSHAL)
    return _HEAD.pack(_MAGIC, len(data), zlib.crc32(data)) + data


def read_blocks(file: IO[bytes]) -> Iterator[list[Row]]:
    """The blocks of a file from its position on. After each one the file is positioned behind it."""
    while head := file.read(_HEAD.size):
        magic, length, checksum = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0, 0)
        data = file.read(length)
        if magic != _MAGIC or len(data) != length or zlib.crc32(data) != checksum:
            raise ConfigurationError(
                f"The file {getattr(file, 'name', '')!r} of records that wait for Kafka is damaged before its byte "
                f"{file.tell()}: it is incomplete, was changed, or was written by another version of Penstock. Restore "
                "it from a copy; records before that place have been sent."
            )
        yield marshal.loads(data)


def _plain(row: Row) -> Row:
    topic, partition, timestamp, key, value, headers = row
    pairs = None if headers is None else [(_text(name), _data(data)) for name, data in headers]
    return _text(topic), partition, timestamp, _data(key), _data(value), pairs


def _text(text: Any) -> str:
    return "".join((text,))


def _data(data: Any) -> bytes | None:
    return None if data is None else b"".join((data,))


_TICK = 0.1
_MOST, _SECONDS = 8, 60.0
_DELIVERY = {"delivery.timeout.ms", "message.timeout.ms"}


def produce(producer: Any, rows: Iterable[Row]) -> None:
    """Hand records to Kafka's client; waits while its queue is full."""
    send, module = producer.produce, client.kafka()
    for row in rows:
        topic, partition, timestamp, key, value, headers = row
        while True:
            try:
                send(topic, value, key, partition, None, None, timestamp, headers)
                break
            except BufferError:
                producer.poll(_TICK)
            except module.KafkaException as error:
                raise undelivered(topic, key, client.reason(error)) from error


def produce_values(producer: Any, topic: str, values: Sequence[bytes], times: Sequence[int]) -> None:
    """The same for records of a topic that are values only."""
    send, done = producer.produce, 0
    try:
        for value, time in zip(values, times, strict=True):
            send(topic, value, None, -1, None, None, time)
            done += 1
    except (BufferError, client.kafka().KafkaException):
        produce(producer, rows_of(topic, values[done:], times[done:]))


def rows_of(topic: str, values: Sequence[bytes], times: Sequence[int]) -> Iterable[Row]:
    """Records of a topic that are values only."""
    return zip(repeat(topic), repeat(-1), times, repeat(None), values, repeat(None), strict=False)


def undelivered(topic: str, key: bytes | None, why: str) -> ConfigurationError:
    """The error for a record that Kafka did not accept."""
    with_key = "without a key" if key is None else f"with the key {key[:100]!r}"
    return ConfigurationError(
        f"Kafka did not accept a record {with_key} for the topic {topic!r}: {why}. Check that the topic exists, can be "
        "written, and accepts records of that size; 'delivery.timeout.ms' sets how long to try."
    )


class PooledProducer:
    """A producer that is kept for the next step."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.failed: Callable[[Any, Any], None] = _ignore
        more: dict[str, Any] = {"on_delivery": self._delivered, "delivery_report_only_error": True}
        if not properties.keys() & _DELIVERY:
            more["delivery_timeout_ms"] = 120_000  # as Java's
        self.producer: Any = client.create("producer", properties, more)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed(error, message)

    def put(self) -> None:
        """Return it to the pool, once all its records are acknowledged."""
        self.failed = _ignore
        PRODUCERS.put(self)

    def close(self) -> None:
        """Close it and drop records that were not sent."""
        self.failed = _ignore
        self.producer.purge()
        self.producer.poll(0)


PRODUCERS: Pool[PooledProducer] = Pool(_MOST, _SECONDS)


def take_producer(properties: Mapping[str, str]) -> PooledProducer:
    """A producer from the pool, or a new one."""
    key = frozenset(properties.items())
    return PRODUCERS.take(lambda producer: producer.key == key) or PooledProducer(properties)


def _ignore(error: Any, message: Any) -> None:
    """Delivery report of a producer that is being closed."""


Headers = Sequence[tuple[str, "bytes | None"]]
Partitions = Callable[[str], Sequence[int]]  # looks up the partitions of a topic


@dataclass(frozen=True, eq=False)
class RecordSerializer:
    """Makes a Kafka record of a record of the stream."""

    topic: str | Callable[[Any], str]
    value: SerializationSchema[Any]
    key: SerializationSchema[Any] | None = None
    partitioner: Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int] | None = None
    headers: Callable[[Any], Any] | None = None

    @property
    def fixed_topic(self) -> str | None:
        return self.topic if isinstance(self.topic, str) else None

    @property
    def only_values(self) -> tuple[str | None, SerializationSchema[Any]]:
        """The topic, if it is one, and a record is a value only; and the schema of values."""
        return (None if self.why_not_only_values else self.fixed_topic), self.value

    @property
    def why_not_only_values(self) -> str:
        """The part of a record beside its value, as a reason; "" where it has none."""
        if self.key is not None:
            return "its records have keys"
        if self.headers is not None:
            return "its records have headers"
        if self.partitioner is not None:
            return "a partitioner chooses the partition of each record"
        return "" if self.fixed_topic is not None else "its topic depends on the record"

    @property
    def shown(self) -> str:
        return "topics by a selector" if self.fixed_topic is None else repr(self.fixed_topic)

    def opened(self, subtask: int, partitions: Partitions) -> Callable[[Sequence[Any], int | None], list[Row]]:
        """A function that serializes records with one timestamp, for one subtask."""
        topic, _ = self.only_values
        if topic is not None:
            return self._values(topic)
        row_of = self._record(subtask, partitions)

        def rows_of(elements: Sequence[Any], timestamp: int | None) -> list[Row]:
            time, element = max(timestamp or 0, 0), None
            rows: list[Row] = []
            try:
                for element in elements:
                    rows.append(row_of(element, time))
            except PenstockError:
                raise
            except Exception as error:
                raise _failed(element, error) from error
            return rows

        return rows_of

    def _values(self, topic: str) -> Callable[[Sequence[Any], int | None], list[Row]]:
        """Fast path: values only, one topic, and no function but the schema."""
        schema, value_of = self.value, self.value.serialize

        def rows_of(elements: Sequence[Any], timestamp: int | None) -> list[Row]:
            time, element = max(timestamp or 0, 0), None
            rows: list[Row] = []
            try:
                for element in elements:
                    value: Any = value_of(element)
                    if type(value) is not bytes:
                        value = _bytes(value, "value", schema)
                    rows.append((topic, -1, time, None, value, None))
            except PenstockError:
                raise
            except Exception as error:
                raise _failed(element, error) from error
            return rows

        return rows_of

    def _record(self, subtask: int, partitions: Partitions) -> Callable[[Any, int], Row]:
        topic_of, value_of, headers_of = self._topic(), self.value.serialize, self.headers
        key_of = (lambda element: None) if self.key is None else self.key.serialize
        chosen = _fixed(subtask) if self.partitioner is FIXED else self.partitioner

        def row(element: Any, time: int) -> Row:
            topic, partition = topic_of(element), -1
            key, value = _bytes(key_of(element), "key", self.key), _bytes(value_of(element), "value", self.value)
            if chosen is not None:
                partition = _partition(chosen(element, key, value, topic, known := partitions(topic)), known, topic)
            headers = None if headers_of is None else _headers(headers_of(element)) or None
            return topic, partition, time, key, value, headers

        return row

    def _topic(self) -> Callable[[Any], str]:
        topic = self.topic
        if isinstance(topic, str):
            return lambda element: topic

        def selected(element: Any) -> str:
            name = topic(element)
            if not isinstance(name, str) or not name:
                raise InvalidProgramError(
                    f"The topic selector has returned {shown(name)} for the record {shown(element)}. Return the name "
                    "of a topic."
                )
            return name

        return selected


def _failed(element: Any, error: Exception) -> Exception:
    return failure_of(f"record serializer of a KafkaSink, given {shown(element)}", "in", error)


def FIXED(*_: Any) -> int:
    """Stands for the partition of a subtask until that is known (Flink: ``FlinkFixedPartitioner``)."""
    raise AssertionError("FIXED is replaced when a task starts")


def _fixed(subtask: int) -> Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int]:
    return lambda record, key, value, topic, partitions: partitions[subtask % len(partitions)]


def _bytes(data: Any, what: str, schema: Any) -> bytes | None:
    if data is None or isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise InvalidProgramError(
        f"{type(schema).__name__}.serialize() has returned {shown(data)} as the {what} of a Kafka record; bytes are "
        "needed. Encode texts: text.encode()."
    )


def _partition(partition: Any, partitions: Sequence[int], topic: str) -> int:
    if type(partition) is int and partition in partitions:
        return partition
    raise InvalidProgramError(
        f"The partitioner has returned {shown(partition)}, and the topic {topic!r} has the partitions "
        f"{list(partitions)}. Return one of them."
    )


def _headers(headers: Any) -> Headers:
    pairs: Any = headers.items() if isinstance(headers, Mapping) else headers or ()
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes):
        tuples = [tuple(pair) for pair in pairs]
        if all(len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], bytes | None) for pair in tuples):
            return tuples  # type: ignore[return-value]
    raise InvalidProgramError(
        f"The header provider has returned {shown(headers)}. Return pairs of a text and bytes: [('trace', b'17')]."
    )

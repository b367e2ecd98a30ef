"""Reads partitions of Kafka's topics as splits, whose offsets the driver fixes.

A split has the offset of its first record and the one after its last. Offsets have gaps at transaction markers, aborted
transactions and in compacted topics, so they cannot be counted. Reading stops at a record behind the end of the split,
or when the broker reports the end of the partition. Source of the semantics: ``KafkaSourceEnumerator``,
``KafkaPartitionSplitReader`` (Flink's Kafka connector 3.3)."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import is_not
from typing import Any

from penstock.connectors.kafka import client
from penstock.connectors.kafka import properties as names
from penstock.connectors.kafka.client import Pool
from penstock.connectors.kafka.cluster import Cluster, resolved
from penstock.connectors.kafka.deserializer import KafkaRecord, KafkaRecordDeserializationSchema, ValueOnly
from penstock.connectors.kafka.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
)
from penstock.errors import ConfigurationError
from penstock.runtime.columns.layouts import MOST_DOUBTS
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.native import BatchRecords
from penstock.runtime.usercode.failure import failure_of

_RECORDS = 2_000
_TICK = 0.5


def splits(
    properties: Mapping[str, str],
    subscription: Subscription,
    starting: KafkaOffsetsInitializer,
    stopping: KafkaOffsetsInitializer,
) -> list[Split]:
    """The partitions with something to read. A few requests, whatever the number of partitions."""
    with client.consumer(properties) as consumer:
        cluster = Cluster(consumer, properties)
        partitions = cluster.partitions(subscription)
        last = cluster.ends(partitions)
        starts, ends = first_offsets(cluster, partitions, starting, last), resolved(stopping, partitions, cluster)
    unread: list[Split] = []
    for partition in partitions:
        start, end = starts[partition], ends[partition]
        if end > last[partition]:
            raise ConfigurationError(
                f"Reading of {partition} should end at the offset {end}, but its records end at {last[partition]}. A "
                "bounded job does not wait for more: use KafkaOffsetsInitializer.latest()."
            )
        if start < end:
            unread.append(Split(str(partition), start, end, end - start))
    return unread


def first_offsets(
    cluster: Cluster,
    partitions: Sequence[KafkaTopicPartition],
    starting: KafkaOffsetsInitializer,
    last: Mapping[KafkaTopicPartition, int],
) -> dict[KafkaTopicPartition, int]:
    """The starting offsets of partitions."""
    first, starts = cluster.beginnings(partitions), resolved(starting, partitions, cluster)
    return {
        partition: _in_range(starts[partition], partition, first[partition], last[partition], starting.reset)
        for partition in partitions
    }


def _in_range(
    start: int, partition: KafkaTopicPartition, first: int, last: int, reset: KafkaOffsetResetStrategy
) -> int:
    if first <= start <= last:
        return start
    if reset is KafkaOffsetResetStrategy.NONE:
        raise ConfigurationError(
            f"Reading of {partition} should begin at the offset {start}, but its offsets are {first} to {last}. Give "
            "another offset, or an offset reset strategy other than NONE.",
            flink_class="org.apache.kafka.clients.consumer.OffsetOutOfRangeException",
        )
    return first if reset is KafkaOffsetResetStrategy.EARLIEST else last


def partition_of(split_id: str) -> KafkaTopicPartition:
    """The partition of a split."""
    topic, _, number = split_id.rpartition("-")
    return KafkaTopicPartition(topic, int(number))


def read(
    properties: Mapping[str, str],
    split: Split,
    schema: KafkaRecordDeserializationSchema[Any],
    keep: bool = False,
    reading: Any = None,
) -> Iterator[Records[Any]]:
    """The records of a split in order, some at a time. The last position is the end of the split. With a native
    ``reading`` they are columns, but for those in doubt, which the schema reads."""
    position: int = split.start
    if position >= split.end:
        yield Records((), position, ())
        return
    make = _values if isinstance(schema, ValueOnly) else _records
    reader = open_reader(properties, partition_of(split.id), position, keep)
    try:
        for messages in reader.messages(split.end):
            for part, values, timestamps in _parts(messages, schema, make, reading):
                position = part[-1].offset() + 1
                yield Records(values, position, timestamps)
    except GeneratorExit:  # the step takes no more; the next one continues here
        if sys.is_finalizing():
            reader.close()
        else:
            reader.done()
        raise
    except BaseException:
        reader.close()
        raise
    reader.done()
    if position < split.end:
        yield Records((), split.end, ())


_Make = Callable[[Sequence[Any], Any], "tuple[Sequence[Any], list[int | None]]"]


def _parts(
    messages: list[Any], schema: Any, make: _Make, reading: Any
) -> Iterator[tuple[list[Any], Sequence[Any], list[int | None]]]:
    """The records of messages, with these, in parts. An error of one comes before any of them."""
    if reading is None:
        return iter([(messages, *make(messages, schema))])
    values: list[Any] = list(map(type(messages[0]).value, messages))
    parts: list[tuple[list[Any], Sequence[Any], list[int | None]]] = []
    at = doubts = 0
    while at < len(messages):
        batch, end = reading.read(values, at)
        if end > at:
            part = messages[at:end]
            parts.append((part, BatchRecords(batch), _timestamps(part)))
        at = end
        if at < len(messages):
            doubts += 1
            part = messages[at:] if doubts > MOST_DOUBTS else messages[at : at + 1]
            parts.append((part, *make(part, schema)))
            at += len(part)
    return iter(parts)


def _timestamps(messages: Sequence[Any]) -> list[int | None]:
    read = type(messages[0]).timestamp  # a method of a class is called in half the time
    return [timestamp if kind else None for kind, timestamp in map(read, messages)]


def _values(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    deserialize = schema.schema.deserialize
    try:
        values: list[Any] = [deserialize(message.value()) for message in messages]
    except Exception:
        for message in messages:  # find the culprit
            try:
                deserialize(message.value())
            except Exception as error:
                raise _unreadable(message, schema.schema, error) from error
        raise
    timestamps = _timestamps(messages)
    present = [value is not None for value in values]
    if not all(present):  # the schema drops these records
        timestamps = [timestamp for timestamp, keep in zip(timestamps, present, strict=True) if keep]
        values = [value for value, keep in zip(values, present, strict=True) if keep]
    return values, timestamps


def _records(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    values: list[Any] = []
    for message, timestamp in zip(messages, _timestamps(messages), strict=True):
        place = message.topic(), message.partition(), message.offset()
        record = KafkaRecord(*place, timestamp, message.key(), message.value(), message.headers() or [])
        try:
            values += [(value, timestamp) for value in schema.deserialize(record)]
        except Exception as error:
            raise _unreadable(message, schema, error) from error
    return [value for value, _ in values], [timestamp for _, timestamp in values]


def _unreadable(message: Any, schema: Any, error: Exception) -> Exception:
    without = ", a record without value" if message.value() is None else ""
    return failure_of(
        f"deserialization schema {type(schema).__name__}, given topic {message.topic()!r}, partition "
        f"{message.partition()}, offset {message.offset()}{without}",
        "in",
        error,
    )


_MOST, _SECONDS = 16, 30.0
_KEPT: dict[str, str | int | bool] = {"enable_partition_eof": True, "queued_max_messages_kbytes": 4_096}

Key = frozenset[tuple[str, str]]


class Reader:
    """A consumer of one partition at a time."""

    def __init__(self, properties: Mapping[str, str], keep: bool) -> None:
        self.key: Key = frozenset(properties.items())
        self._properties, self._keep = properties, keep
        more = _KEPT if keep else {"enable_partition_eof": True}
        if "queued.max.messages.kbytes" in properties:
            more = {name: value for name, value in more.items() if name != "queued_max_messages_kbytes"}
        self.consumer: Any = client.create("consumer", properties, more)
        self.partition: KafkaTopicPartition | None = None
        self.position = -1
        self.rest: list[Any] = []

    def at(self, partition: KafkaTopicPartition, position: int) -> bool:
        return self.partition == partition and self.position == position

    def seek(self, partition: KafkaTopicPartition, position: int) -> None:
        if not self.at(partition, position):
            self.rest = []
            self.consumer.assign([client.kafka().TopicPartition(partition.topic, partition.partition, position)])
            self.partition, self.position = partition, position

    def messages(self, end: int) -> Iterator[list[Any]]:
        """The messages up to an offset."""
        seconds, heard = names.seconds(self._properties, "consumer"), time.monotonic()
        while self.position < end:
            messages = self._next(end)
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > seconds:
                self._check_there()
                where = f"reading {self.partition} at the offset {self.position}"
                raise client.unreachable(self._properties, "consumer", where)
            if messages and (messages[-1].offset() >= end or _has_errors(messages)):
                messages = self._before_end(messages, end)
            if messages:
                self.position = max(self.position, messages[-1].offset() + 1)
                yield messages
        self.position = end

    def _next(self, end: int) -> list[Any]:
        """The next messages; empty after a timeout."""
        if self.rest:
            rest, self.rest = self.rest, []
            return rest
        first = self.consumer.poll(_TICK)
        if first is None:
            return []
        more = min(_RECORDS, end - self.position) - 1
        return [first, *self.consumer.consume(more, 0)] if more > 0 else [first]

    def _before_end(self, received: list[Any], end: int) -> list[Any]:
        """The messages before the end. Events of the partition are handled; messages beyond the end are kept."""
        ended, messages = client.kafka().KafkaError._PARTITION_EOF, []
        for at, message in enumerate(received):
            error, offset = message.error(), message.offset()
            if error is None and offset < end:
                messages.append(message)
            elif error is None or (error.code() == ended and offset > end):
                self.rest, self.position = received[at:], end
                break
            elif error.code() == ended:
                self.position = max(self.position, offset)
            elif not client.is_transient(error):
                self._check_there()
                assert self.partition is not None
                raise ConfigurationError(
                    f"The Kafka topic {self.partition.topic!r}, partition {self.partition.partition}, cannot be read "
                    f"at the offset {self.position}, at {names.servers(self._properties)!r}: {error.str()}. Perhaps "
                    "records were removed before they were read, or the program may not read the topic. To begin with "
                    "the first record, state for one run: set_starting_offsets(KafkaOffsetsInitializer.offsets({}, "
                    "KafkaOffsetResetStrategy.EARLIEST))."
                )
        return messages

    def _check_there(self) -> None:
        client.check_exists(self.consumer, self._properties, [self.partition])

    def done(self) -> None:
        """Return the reader to the pool."""
        if not self._keep:
            self.close()
            return
        if self.partition is not None and not self.rest and self._ended(self.partition):
            self.consumer.unassign()
            self.partition = None
        READERS.put(self)

    def _ended(self, partition: KafkaTopicPartition) -> bool:
        topic_partition = client.kafka().TopicPartition(partition.topic, partition.partition)
        with contextlib.suppress(client.kafka().KafkaException):
            offsets = self.consumer.get_watermark_offsets(topic_partition, cached=True)
            return offsets is None or offsets[1] <= self.position
        return True

    def close(self) -> None:
        self.consumer.close()


def _has_errors(messages: list[Any]) -> bool:
    """Whether there is an event of the partition among messages."""
    errors = map(type(messages[0]).error, messages)
    return any(map(is_not, errors, repeat(None)))  # to compare an error with None by == fails


READERS: Pool[Reader] = Pool(_MOST, _SECONDS)


def open_reader(properties: Mapping[str, str], partition: KafkaTopicPartition, position: int, keep: bool) -> Reader:
    """A reader at a position, from the pool if possible. Return it with ``done``; close it after a failure."""
    pooled: Reader | None = None
    if keep:
        key: Key = frozenset(properties.items())
        pooled = READERS.take(
            lambda idle: idle.key == key and idle.at(partition, position),
            lambda idle: idle.key == key and idle.partition in (None, partition),
            *([lambda idle: idle.key == key] if len(READERS) >= _MOST else []),
        )
    result = pooled or Reader(properties, keep)
    result.seek(partition, position)
    return result

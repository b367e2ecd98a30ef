"""Reading topics of Kafka: partitions as splits, whose offsets the driver fixes, and their records.

A split is a partition with the offset of its first record and the one behind its last. Offsets have gaps where
transactions ended or were aborted and where a topic is compacted, so nothing is counted by them: reading ends when a
record has come whose offset lies behind the end, or the broker says that the partition has ended there.

Source of the semantics: ``KafkaSourceEnumerator``, ``KafkaPartitionSplitReader`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.deserializing import KafkaRecord, KafkaRecordDeserializationSchema, ValueOnly
from penstock.runtime.kafka.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    resolved,
)
from penstock.runtime.kafka.subscription import INTERNAL, Subscription, in_order
from penstock.runtime.usercode.failure import failure_of

_RECORDS = 2_000
_TICK = 0.5
_BEGINNING, _END = -2, -1
"""What stands for a time where an offset is asked for."""

Offsets = dict[KafkaTopicPartition, int]


class Cluster:
    """A Kafka cluster as the driver asks it (:class:`~penstock.runtime.kafka.offsets.Broker`).

    Args:
        consumer: asks.
        properties: of the source.
    """

    def __init__(self, consumer: Any, properties: Mapping[str, str]) -> None:
        self._consumer, self._properties = consumer, properties
        self._seconds = names.seconds(properties, "consumer")

    def partitions(self, wanted: Subscription) -> tuple[KafkaTopicPartition, ...]:
        """The partitions that are to be read, in order.

        Raises:
            ConfigurationError: a topic or partition is not there.
        """
        topics = client.topics(self._consumer, self._properties, "consumer")
        pattern = wanted.pattern
        named = wanted.named if pattern is None else [topic for topic in topics if _fits(topic, pattern)]
        for topic in named:
            if topic not in topics:
                raise client.missing_topic(topic, self._properties, [each for each in topics if each not in INTERNAL])
        there = {KafkaTopicPartition(topic, number) for topic in named for number in topics[topic].partitions}
        for partition in wanted.partitions:
            if partition not in there:
                raise ConfigurationError(
                    f"The Kafka topic {partition.topic!r} has {len(topics[partition.topic].partitions)} partitions, "
                    f"and set_partitions() names {partition.partition}. They are counted from 0."
                )
        return wanted.partitions or in_order(there)

    def beginnings(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        """The first offset there is."""
        return self._at(partitions, _BEGINNING)

    def ends(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        """The offset behind the last record; with ``read_committed``, before the first open transaction."""
        return self._at(partitions, _END)

    def at_time(self, partitions: Sequence[KafkaTopicPartition], time: int) -> Offsets:
        """The first offset with that timestamp or a later one, for partitions that have one."""
        return {partition: offset for partition, offset in self._at(partitions, time).items() if offset >= 0}

    def committed(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        """What the group has committed, for partitions where it has; nothing without a group."""
        if "group.id" not in self._properties or not partitions:
            return {}
        found = self._asked(self._consumer.committed, [_kafkas(each) for each in partitions])
        return {partition: offset for partition, offset in found.items() if offset >= 0}

    def _at(self, partitions: Sequence[KafkaTopicPartition], time: int) -> Offsets:
        if not partitions:
            return {}
        return self._asked(self._consumer.offsets_for_times, [_kafkas(each, time) for each in partitions])

    def _asked(self, question: Callable[..., Any], partitions: list[Any]) -> Offsets:
        kafka_exception = client.kafka().KafkaException

        def ask() -> Offsets:
            found = question(partitions, timeout=self._seconds)
            for each in found:
                if each.error is not None:
                    raise kafka_exception(each.error)
            return {KafkaTopicPartition(each.topic, each.partition): each.offset for each in found}

        try:
            return client.patiently(ask, self._seconds)
        except kafka_exception as error:
            if error.args[0].name().startswith("_"):  # the client's own: it has no answer
                raise client.unreachable(self._properties, "consumer", client.reason(error)) from error
            raise ConfigurationError(
                f"Kafka at {names.servers(self._properties)!r} does not say the offsets of "
                f"{', '.join(dict.fromkeys(repr(each.topic) for each in partitions))}: {client.reason(error)}. It may "
                "be that they, or the consumer group, may not be read."
            ) from error


def _fits(topic: str, pattern: str) -> bool:
    return topic not in INTERNAL and re.fullmatch(pattern, topic) is not None


def _kafkas(partition: KafkaTopicPartition, offset: int = 0) -> Any:
    return client.kafka().TopicPartition(partition.topic, partition.partition, offset)


def splits(
    properties: Mapping[str, str],
    subscription: Subscription,
    starting: KafkaOffsetsInitializer,
    stopping: KafkaOffsetsInitializer,
) -> list[Split]:
    """The partitions that have something to read. A few questions to the brokers, however many partitions there are.

    Args:
        properties: of the source.
        subscription: what is read.
        starting: where reading begins.
        stopping: where it ends.

    Raises:
        ConfigurationError: no broker answers; a topic, partition or offset is not there.
    """
    with client.consumer(properties) as consumer:
        cluster = Cluster(consumer, properties)
        partitions = cluster.partitions(subscription)
        first, last = cluster.beginnings(partitions), cluster.ends(partitions)
        starts, ends = resolved(starting, partitions, cluster), resolved(stopping, partitions, cluster)
    found: list[Split] = []
    for partition in partitions:
        start = _in_range(starts[partition], partition, first[partition], last[partition], starting.reset)
        end = _there(ends[partition], partition, last[partition])
        if start < end:
            found.append(Split(str(partition), start, end, end - start))
    return found


def _in_range(
    start: int, partition: KafkaTopicPartition, first: int, last: int, reset: KafkaOffsetResetStrategy
) -> int:
    if first <= start <= last:
        return start
    if reset is KafkaOffsetResetStrategy.NONE:
        raise ConfigurationError(
            f"Reading of {partition} is to begin at the offset {start}, and there are {first} to {last}. Give another "
            "offset, or an offset reset strategy other than NONE.",
            flink_class="org.apache.kafka.clients.consumer.OffsetOutOfRangeException",
        )
    return first if reset is KafkaOffsetResetStrategy.EARLIEST else last


def _there(end: int, partition: KafkaTopicPartition, last: int) -> int:
    if end <= last:
        return end
    raise ConfigurationError(
        f"Reading of {partition} is to end at the offset {end}, and its records end at {last}. A bounded job does not "
        "wait for more: use KafkaOffsetsInitializer.latest()."
    )


def read(
    properties: Mapping[str, str], split: Split, schema: KafkaRecordDeserializationSchema[Any]
) -> Iterator[Records[Any]]:
    """The records of a partition, in order, up to two thousand at a time, with Kafka's timestamps.

    Args:
        properties: of the source.
        split: one of :func:`splits`, or what is left of one.
        schema: makes records.

    Raises:
        ConfigurationError: the brokers have fallen silent, or the offset is not there any more.
    """
    topic, _, number = split.id.rpartition("-")
    partition, make = KafkaTopicPartition(topic, int(number)), _values if isinstance(schema, ValueOnly) else _records
    with client.consumer(properties, enable_partition_eof=True) as consumer:
        consumer.assign([_kafkas(partition, split.start)])
        for messages in _messages(consumer, properties, partition, split.start, split.end):
            values, timestamps = make(messages, schema)
            yield Records(values, messages[-1].offset() + 1, timestamps)


def _messages(
    consumer: Any, properties: Mapping[str, str], partition: KafkaTopicPartition, start: int, end: int
) -> Iterator[list[Any]]:
    """The messages up to an offset."""
    seconds, position = names.seconds(properties, "consumer"), start
    heard = time.monotonic()
    while position < end:
        first = consumer.poll(_TICK)
        if first is None:
            if time.monotonic() - heard > seconds:
                raise client.unreachable(properties, "consumer", f"reading {partition} at the offset {position}")
            continue
        heard = time.monotonic()
        found = [first, *consumer.consume(min(_RECORDS, end - position) - 1, 0)] if end - position > 1 else [first]
        messages = [message for message in found if message.error() is None and message.offset() < end]
        if messages:
            position = messages[-1].offset() + 1
            yield messages
        position = max([position, *(_behind(message, partition, properties, position) for message in found)])


def _behind(message: Any, partition: KafkaTopicPartition, properties: Mapping[str, str], position: int) -> int:
    """The offset up to which everything has been seen, as a message says."""
    error = message.error()
    if error is None or error.code() == client.kafka().KafkaError._PARTITION_EOF:
        return message.offset()
    raise ConfigurationError(
        f"The Kafka topic {partition.topic!r}, partition {partition.partition}, cannot be read at the offset "
        f"{position}, at {names.servers(properties)!r}: {error.str()}. It may be that its records were removed since "
        "the job started, or that it may not be read."
    )


def _timestamp(message: Any) -> int | None:
    kind, timestamp = message.timestamp()
    return timestamp if kind else None


def _values(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    """Records of values alone."""
    deserialize = schema.schema.deserialize
    values: list[Any] = []
    timestamps: list[int | None] = []
    for message in messages:
        try:
            value = deserialize(message.value())
        except Exception as error:
            raise _unreadable(message, schema.schema, error) from error
        if value is not None:
            values.append(value)
            timestamps.append(_timestamp(message))
    return values, timestamps


def _records(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    """What a schema makes of whole records."""
    values: list[Any] = []
    for message in messages:
        timestamp = _timestamp(message)
        record = KafkaRecord(
            message.topic(), message.partition(), message.offset(), timestamp, message.key(), message.value(),
            message.headers() or [],
        )  # fmt: skip
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

"""Reading topics of Kafka: partitions as splits, whose offsets the driver fixes, and their records.

A split is a partition with the offset of its first record and the one behind its last. Offsets have gaps where
transactions ended or were aborted and where a topic is compacted, so nothing is counted by them: reading ends when a
record has come whose offset lies behind the end, or the broker says that the partition has ended there.

Source of the semantics: ``KafkaSourceEnumerator``, ``KafkaPartitionSplitReader`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.io.splits import Records, Split
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.cluster import Cluster
from penstock.runtime.kafka.consumers import Reader, reader
from penstock.runtime.kafka.deserializing import KafkaRecord, KafkaRecordDeserializationSchema, ValueOnly
from penstock.runtime.kafka.offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    resolved,
)
from penstock.runtime.kafka.subscription import Subscription
from penstock.runtime.usercode.failure import failure_of

_RECORDS = 2_000
_TICK = 0.5


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
        last = cluster.ends(partitions)
        starts, ends = first_offsets(cluster, partitions, starting, last), resolved(stopping, partitions, cluster)
    found: list[Split] = []
    for partition in partitions:
        start, end = starts[partition], _there(ends[partition], partition, last[partition])
        if start < end:
            found.append(Split(str(partition), start, end, end - start))
    return found


def first_offsets(
    cluster: Cluster,
    partitions: Sequence[KafkaTopicPartition],
    starting: KafkaOffsetsInitializer,
    last: Mapping[KafkaTopicPartition, int],
) -> dict[KafkaTopicPartition, int]:
    """Where the reading of partitions begins.

    Args:
        cluster: knows them.
        partitions: which.
        starting: as the program says.
        last: the offsets behind their last records.

    Raises:
        ConfigurationError: an offset is not there.
    """
    first, wanted = cluster.beginnings(partitions), resolved(starting, partitions, cluster)
    return {each: _in_range(wanted[each], each, first[each], last[each], starting.reset) for each in partitions}


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


def partition_of(split_id: str) -> KafkaTopicPartition:
    """The partition that a split is of."""
    topic, _, number = split_id.rpartition("-")
    return KafkaTopicPartition(topic, int(number))


def read(
    properties: Mapping[str, str], split: Split, schema: KafkaRecordDeserializationSchema[Any], keep: bool = False
) -> Iterator[Records[Any]]:
    """The records of a partition, in order, up to two thousand at a time, with Kafka's timestamps. The last position is
    the end of the split, also where no record stands before it.

    Args:
        properties: of the source.
        split: one of :func:`splits`, or what is left of one.
        schema: makes records.
        keep: whether ranges will follow, for which the process keeps the consumer.

    Raises:
        ConfigurationError: the brokers have fallen silent, or the offset is not there any more.
    """
    position: int = split.start
    if position >= split.end:
        yield Records((), position, ())
        return
    make = _values if isinstance(schema, ValueOnly) else _records
    found = reader(properties, partition_of(split.id), position, keep)
    range_ = _Range(found, properties, split.end)
    try:
        for messages in range_.messages():
            values, timestamps = make(messages, schema)
            position = messages[-1].offset() + 1
            yield Records(values, position, timestamps)
    except GeneratorExit:  # the step has enough of it, perhaps all; the next one goes on behind that
        if sys.is_finalizing():
            found.close()
        else:
            found.done(range_.position, range_.rest)
        raise
    except BaseException:
        found.close()
        raise
    found.done(range_.position, range_.rest)
    if position < split.end:
        yield Records((), split.end, ())


class _Range:
    """What a consumer gives up to an offset.

    Args:
        found: stands at the beginning.
        properties: of the source.
        end: that offset.

    Attributes:
        position: up to where all has been seen.
        rest: what the consumer has given beyond the end.
    """

    def __init__(self, found: Reader, properties: Mapping[str, str], end: int) -> None:
        assert found.partition is not None
        self._partition, self._consumer, self.rest = found.partition, found.consumer, found.rest
        self._properties, self._end = properties, end
        self.position = found.position

    def messages(self) -> Iterator[list[Any]]:
        """The records, many at a time."""
        seconds, heard = names.seconds(self._properties, "consumer"), time.monotonic()
        while self.position < self._end:
            found = self._next()
            if found:
                heard = time.monotonic()
            elif time.monotonic() - heard > seconds:
                where = f"reading {self._partition} at the offset {self.position}"
                raise client.unreachable(self._properties, "consumer", where)
            messages = found
            if found and (found[-1].offset() >= self._end or any(each.error() is not None for each in found)):
                messages = self._sorted_out(found)
            if messages:
                self.position = max(self.position, messages[-1].offset() + 1)
                yield messages
        self.position = self._end

    def _next(self) -> list[Any]:
        """What there is next; nothing after a while."""
        if self.rest:
            found, self.rest = self.rest, []
            return found
        first = self._consumer.poll(_TICK)
        if first is None:
            return []
        more = min(_RECORDS, self._end - self.position) - 1
        return [first, *self._consumer.consume(more, 0)] if more > 0 else [first]

    def _sorted_out(self, found: list[Any]) -> list[Any]:
        """The records before the end. What is said of the partition is heeded; what lies beyond is kept.

        Raises:
            ConfigurationError: the partition cannot be read.
        """
        ended, messages = client.kafka().KafkaError._PARTITION_EOF, []
        for at, message in enumerate(found):
            error, offset = message.error(), message.offset()
            if error is None and offset < self._end:
                messages.append(message)
            elif error is None or (error.code() == ended and offset > self._end):
                self.rest, self.position = found[at:], self._end
                break
            elif error.code() == ended:
                self.position = max(self.position, offset)
            elif not client.passing(error):
                raise self._unreadable(error)
        return messages

    def _unreadable(self, error: Any) -> ConfigurationError:
        return ConfigurationError(
            f"The Kafka topic {self._partition.topic!r}, partition {self._partition.partition}, cannot be read at the "
            f"offset {self.position}, at {names.servers(self._properties)!r}: {error.str()}. It may be that its "
            "records were removed before they were read, or that it may not be read."
        )


def _timestamps(messages: Sequence[Any]) -> list[int | None]:
    return [timestamp if kind else None for kind, timestamp in [message.timestamp() for message in messages]]


def _values(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    """Records of values alone."""
    deserialize = schema.schema.deserialize
    try:
        values: list[Any] = [deserialize(message.value()) for message in messages]
    except Exception:
        _find_unreadable(messages, schema.schema)
        raise
    timestamps = _timestamps(messages)
    there = [value is not None for value in values]
    if not all(there):  # what a schema makes None of is left out
        timestamps = [timestamp for timestamp, given in zip(timestamps, there, strict=True) if given]
        values = [value for value, given in zip(values, there, strict=True) if given]
    return values, timestamps


def _find_unreadable(messages: Sequence[Any], schema: Any) -> None:
    """Say of which record a schema has failed."""
    for message in messages:
        try:
            schema.deserialize(message.value())
        except Exception as error:
            raise _unreadable(message, schema, error) from error


def _records(messages: Sequence[Any], schema: Any) -> tuple[list[Any], list[int | None]]:
    """What a schema makes of whole records."""
    values: list[Any] = []
    for message, timestamp in zip(messages, _timestamps(messages), strict=True):
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

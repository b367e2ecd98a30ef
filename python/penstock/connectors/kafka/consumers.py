"""Consumers that a worker process keeps from step to step.

If the new range follows the last one, the consumer continues there, and records that it has prefetched are available at
once. Otherwise it seeks, which takes about a millisecond as long as no fetch request waits at the broker. So a consumer
at the end of its partition is paused, and fetches nothing, until it is needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from penstock.connectors.kafka import client
from penstock.connectors.kafka.offsets import KafkaTopicPartition
from penstock.connectors.kafka.pool import Pool

_MOST, _SECONDS = 16, 30.0
_KEPT: dict[str, str | int | bool] = {"enable_partition_eof": True, "queued_max_messages_kbytes": 4_096}

Key = frozenset[tuple[str, str]]


class Reader:
    """A consumer of one partition at a time."""

    def __init__(self, properties: Mapping[str, str], keep: bool) -> None:
        self.key: Key = frozenset(properties.items())
        self._keep = keep
        more = _KEPT if keep else {"enable_partition_eof": True}
        if "queued.max.messages.kbytes" in properties:
            more = {name: value for name, value in more.items() if name != "queued_max_messages_kbytes"}
        self.consumer: Any = client.create("Consumer", properties, "consumer", more)
        self.partition: KafkaTopicPartition | None = None
        self.position = -1
        self.rest: list[Any] = []

    def at(self, partition: KafkaTopicPartition, position: int) -> bool:
        """Whether the reader is at this position."""
        return self.partition == partition and self.position == position

    def seek(self, partition: KafkaTopicPartition, position: int) -> None:
        """Seek to a position."""
        if not self.at(partition, position):
            self.rest = []
            self.consumer.assign([client.kafka().TopicPartition(partition.topic, partition.partition, position)])
            self.partition, self.position = partition, position

    def done(self, position: int, rest: list[Any]) -> None:
        """Return the reader to the pool after a range."""
        if not self._keep:
            self.close()
            return
        self.position, self.rest = position, rest
        if self.partition is not None and not rest and self._ended(self.partition):
            self.consumer.unassign()
            self.partition = None
        READERS.put(self)

    def _ended(self, partition: KafkaTopicPartition) -> bool:
        """Whether the partition is known to end here."""
        topic_partition = client.kafka().TopicPartition(partition.topic, partition.partition)
        with contextlib.suppress(client.kafka().KafkaException):
            offsets = self.consumer.get_watermark_offsets(topic_partition, cached=True)
            return offsets is None or offsets[1] <= self.position
        return True

    def close(self) -> None:
        self.consumer.close()


READERS: Pool[Reader] = Pool(_MOST, _SECONDS)


def open_reader(properties: Mapping[str, str], partition: KafkaTopicPartition, position: int, keep: bool) -> Reader:
    """A reader at a position: from the pool if possible, else a new one. Return it with :meth:`Reader.done`; close it
    after a failure."""
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

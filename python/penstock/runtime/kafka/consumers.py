"""Consumers that a worker process keeps from step to step.

A reader begins where its consumer stands if it read that partition last and the range follows on: what was fetched
meanwhile is there at once. Else the consumer is sent elsewhere, which takes about a millisecond as long as no request
waits at the broker; so one that has come to the end of its partition is sent nowhere, and asks for nothing, until it is
needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from penstock.runtime.kafka import client
from penstock.runtime.kafka.offsets import KafkaTopicPartition
from penstock.runtime.kafka.pool import Pool

_MOST, _SECONDS = 16, 30.0
_KEPT: dict[str, str | int | bool] = {"enable_partition_eof": True, "queued_max_messages_kbytes": 4_096}

Key = frozenset[tuple[str, str]]


class Reader:
    """A consumer of one partition at a time.

    Args:
        properties: of the source.
        keep: whether it is kept for other ranges.

    Attributes:
        key: the properties.
        consumer: the client.
        partition: which it is assigned; None for none.
        position: behind what has been taken from it.
        rest: taken from the client already, and not read: of the range that follows.
    """

    def __init__(self, properties: Mapping[str, str], keep: bool) -> None:
        self.key: Key = frozenset(properties.items())
        self._keep = keep
        more = _KEPT if keep else {"enable_partition_eof": True}
        if "queued.max.messages.kbytes" in properties:
            more = {name: value for name, value in more.items() if name != "queued_max_messages_kbytes"}
        self.consumer: Any = client.made("Consumer", properties, "consumer", more)
        self.partition: KafkaTopicPartition | None = None
        self.position = -1
        self.rest: list[Any] = []

    def at(self, partition: KafkaTopicPartition, position: int) -> bool:
        """Whether it stands there."""
        return self.partition == partition and self.position == position

    def go(self, partition: KafkaTopicPartition, position: int) -> None:
        """Stand there."""
        if not self.at(partition, position):
            self.rest = []
            self.consumer.assign([client.kafka().TopicPartition(partition.topic, partition.partition, position)])
            self.partition, self.position = partition, position

    def done(self, position: int, rest: list[Any]) -> None:
        """A range has been read.

        Args:
            position: its end.
            rest: what has been taken beyond it.
        """
        if not self._keep:
            self.close()
            return
        self.position, self.rest = position, rest
        if self.partition is not None and not rest and self._ended(self.partition):
            self.consumer.unassign()
            self.partition = None
        READERS.put(self)

    def _ended(self, partition: KafkaTopicPartition) -> bool:
        """Whether nothing follows, as far as is known without asking."""
        asked = client.kafka().TopicPartition(partition.topic, partition.partition)
        with contextlib.suppress(client.kafka().KafkaException):
            known = self.consumer.get_watermark_offsets(asked, cached=True)
            return known is None or known[1] <= self.position
        return True

    def close(self) -> None:
        """End it."""
        self.consumer.close()


READERS: Pool[Reader] = Pool(_MOST, _SECONDS)


def reader(properties: Mapping[str, str], partition: KafkaTopicPartition, position: int, keep: bool) -> Reader:
    """A reader that stands at a position: one that does so already, or another, or a new one. To be given
    :meth:`Reader.done`, or closed after a failure.

    Args:
        properties: of the source.
        partition: what is to be read.
        position: from where.
        keep: whether it is kept for other ranges.
    """
    found: Reader | None = None
    if keep:
        key: Key = frozenset(properties.items())
        found = READERS.take(
            lambda each: each.key == key and each.at(partition, position),
            lambda each: each.key == key and each.partition in (None, partition),
            *([lambda each: each.key == key] if len(READERS) >= _MOST else []),
        )
    made = found or Reader(properties, keep)
    made.go(partition, position)
    return made

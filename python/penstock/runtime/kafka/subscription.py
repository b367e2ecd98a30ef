"""Which partitions a Kafka source reads: plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.runtime.kafka.offsets import KafkaTopicPartition

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's own topics, which no pattern means."""


@dataclass(frozen=True)
class Subscription:
    """Topics, or a pattern of their names, or partitions.

    Attributes:
        topics: all partitions of these.
        pattern: all partitions of topics whose whole name it matches.
        partitions: these.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[KafkaTopicPartition, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The topics that must be there."""
        return self.topics or tuple(dict.fromkeys(each.topic for each in self.partitions))

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"topics that match {self.pattern!r}"
        return ", ".join(map(repr, self.named))


def in_order(partitions: Iterable[KafkaTopicPartition]) -> tuple[KafkaTopicPartition, ...]:
    """Partitions by topic and number."""
    return tuple(sorted(partitions, key=lambda each: (each.topic, each.partition)))

"""Partitions of a Kafka source, and where reading begins and ends: plain data. Source of names and semantics:
``OffsetsInitializer``, ``SpecifiedOffsetsInitializer``, ``TimestampOffsetsInitializer`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from penstock.common import checks


@dataclass(frozen=True)
class KafkaTopicPartition:
    """A partition of a topic; its number counts from 0."""

    topic: str
    partition: int

    def __post_init__(self) -> None:
        """Raises InvalidProgramError if the topic is not a text, or the partition not a number from 0 on."""
        checks.name(self.topic, "KafkaTopicPartition", "topic")
        if checks.integer(self.partition, "KafkaTopicPartition", "partition", bits=32) < 0:
            checks.illegal_argument(f"KafkaTopicPartition({self.topic!r}, {self.partition}): Give a number from 0.")

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Kafka's own topics, which a pattern never matches."""


@dataclass(frozen=True)
class Subscription:
    """Topics, or a pattern of topic names, or partitions."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[KafkaTopicPartition, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The topics that must exist."""
        return self.topics or tuple(dict.fromkeys(partition.topic for partition in self.partitions))

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"topics that match {self.pattern!r}"
        return ", ".join(map(repr, self.named))


def in_order(partitions: Iterable[KafkaTopicPartition]) -> tuple[KafkaTopicPartition, ...]:
    """Partitions by topic and number."""
    return tuple(sorted(partitions, key=lambda partition: (partition.topic, partition.partition)))


class KafkaOffsetResetStrategy(Enum):
    """Which offset to use if one is missing or out of range."""

    LATEST = 0  # the end of the partition
    EARLIEST = 1  # the first existing record
    NONE = 2  # nothing: it is an error


_HINT = "Use one of its methods, such as KafkaOffsetsInitializer.latest()."


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """Where reading begins, or ends. Made by its static methods."""

    kind: str  # earliest, latest, committed, timestamp or offsets
    time: int = 0
    positions: Mapping[KafkaTopicPartition, int] = field(default_factory=dict)
    reset: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST
    stated: bool = False  # the program has chosen `reset`: it counts for lost positions of an earlier step, too

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """The first record of each partition that is still there."""
        return KafkaOffsetsInitializer("earliest")

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Behind the last record of each partition at the time when the job starts."""
        return KafkaOffsetsInitializer("latest", reset=KafkaOffsetResetStrategy.LATEST)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """The offsets that the consumer group has committed; the source needs a group id. The strategy is for
        partitions without committed offset, where the job does not start with NONE; another one also counts where the
        position of an earlier step is not in the partition any more."""
        checks.member(offset_reset_strategy, "committed_offsets", KafkaOffsetResetStrategy)
        stated = offset_reset_strategy is not KafkaOffsetResetStrategy.NONE
        return KafkaOffsetsInitializer("committed", reset=offset_reset_strategy, stated=stated)

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """The first record with that timestamp in milliseconds or a later one, or behind the last."""
        if checks.integer(timestamp, "timestamp", "timestamp in milliseconds") < 0:
            checks.illegal_argument(f"timestamp({timestamp}): Give milliseconds since 1970, at least 0.")
        return KafkaOffsetsInitializer("timestamp", timestamp, reset=KafkaOffsetResetStrategy.LATEST)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """The given offsets; of other partitions what the consumer group has committed, if there is a group. The
        strategy is for partitions without an offset, or with one out of range, which the position of an earlier step
        may be, too; with NONE the job does not start."""
        hint = "Give a dict: {KafkaTopicPartition('orders', 0): 17}."
        checks.instance(offsets, "offsets", Mapping, hint)
        checks.member(offset_reset_strategy, "offsets", KafkaOffsetResetStrategy)
        for partition, offset in offsets.items():
            checks.instance(partition, "offsets", KafkaTopicPartition, hint, " as a key")
            if checks.integer(offset, "offsets", f"offset of {partition}") < 0:
                checks.illegal_argument(
                    f"offsets() was given {offset} as offset of {partition}. Offsets are counted from 0; for the first "
                    "or last record use earliest() or latest()."
                )
        stated = offset_reset_strategy is not KafkaOffsetResetStrategy.NONE
        return KafkaOffsetsInitializer("offsets", positions=dict(offsets), reset=offset_reset_strategy, stated=stated)

    def __repr__(self) -> str:
        return f"<KafkaOffsetsInitializer {self.kind}>"


def initializer(value: Any, call: str) -> KafkaOffsetsInitializer:
    """``value`` itself if it says where reading begins or ends."""
    return checks.instance(value, call, KafkaOffsetsInitializer, _HINT, ", which is not a KafkaOffsetsInitializer")

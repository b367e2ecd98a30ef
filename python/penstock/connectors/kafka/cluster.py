"""Asks a Kafka cluster for topics and offsets, on the driver. Source of the semantics: ``KafkaSourceEnumerator``
(Flink's Kafka connector 3.3)."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.connectors.kafka import client
from penstock.connectors.kafka import properties as names
from penstock.connectors.kafka.client import Pool, close
from penstock.connectors.kafka.offsets import (
    INTERNAL,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
    in_order,
)
from penstock.errors import ConfigurationError

_BEGINNING, _END = -2, -1  # special times in a request for offsets
_MOST, _SECONDS = 8, 600.0
_LEADERLESS = "LEADER_NOT_AVAILABLE"
_STALE = frozenset({"FENCED_LEADER_EPOCH", _LEADERLESS, "UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION"})
"""Errors of a client that has outdated metadata."""

Offsets = dict[KafkaTopicPartition, int]


class MetadataClient:
    """A consumer without assigned partitions, so that no answer queues behind records."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.consumer: Any = client.create("consumer", properties, {"on_commit": _log_failed_commit})

    def close(self) -> None:
        self.consumer.close()

    def leave(self) -> None:
        """Close in the background: without a broker, closing waits for the commit of offsets for up to a minute."""
        threading.Thread(target=close, args=(self,), name="penstock-kafka-leaving", daemon=True).start()


METADATA_CLIENTS: Pool[MetadataClient] = Pool(_MOST, _SECONDS)


@contextlib.contextmanager
def open_cluster(properties: Mapping[str, str]) -> Iterator[Cluster]:
    """A cluster to ask. Its consumer is kept for later requests unless one fails."""
    key = frozenset(properties.items())
    idle = METADATA_CLIENTS.take(lambda idle: idle.key == key) or MetadataClient(properties)
    try:
        yield Cluster(idle.consumer, properties)
    except BaseException:
        idle.leave()
        raise
    METADATA_CLIENTS.put(idle)


def _log_failed_commit(error: Any, partitions: Sequence[Any]) -> None:
    if error is not None:
        shown = ", ".join(f"{partition.topic}-{partition.partition}" for partition in partitions)
        client.LOGGER.warning("the offsets of %s could not be committed for the group: %s", shown, error.str())


class Cluster:
    """Answers the driver's questions about a Kafka cluster, about all partitions at once, as far as Kafka can."""

    def __init__(self, consumer: Any, properties: Mapping[str, str]) -> None:
        self._consumer, self._properties = consumer, properties
        self._seconds = names.seconds(properties, "consumer")

    def partitions(self, subscription: Subscription) -> tuple[KafkaTopicPartition, ...]:
        topics = client.topics(self._consumer, self._properties, "consumer")
        pattern = subscription.pattern
        named: Iterable[str] = subscription.named
        if pattern is not None:
            named = [topic for topic in topics if topic not in INTERNAL and re.fullmatch(pattern, topic)]
        for topic in named:
            if topic not in topics:
                raise client.missing_topic(topic, self._properties, [name for name in topics if name not in INTERNAL])
        existing = {KafkaTopicPartition(topic, number) for topic in named for number in topics[topic].partitions}
        for partition in subscription.partitions:
            if partition not in existing:
                raise ConfigurationError(
                    f"The Kafka topic {partition.topic!r} has {len(topics[partition.topic].partitions)} partitions, "
                    f"but set_partitions() names the partition {partition.partition}. Partitions are counted from 0."
                )
        return subscription.partitions or in_order(existing)

    def beginnings(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        return self._at(partitions, _BEGINNING)

    def ends(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        """The offset after the last record; with ``read_committed``, the one before the first open transaction."""
        return self._at(partitions, _END)

    def at_time(self, partitions: Sequence[KafkaTopicPartition], time: int) -> Offsets:
        return {partition: offset for partition, offset in self._at(partitions, time).items() if offset >= 0}

    def committed_offsets(self, partitions: Sequence[KafkaTopicPartition]) -> Offsets:
        if "group.id" not in self._properties or not partitions:
            return {}
        offsets = self._request(self._consumer.committed, [_kafkas(partition) for partition in partitions])
        return {partition: offset for partition, offset in offsets.items() if offset >= 0}

    def commit_offsets(self, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """Commit offsets for monitoring tools. A failure is logged, and nothing waits for it."""
        try:
            self._consumer.poll(0)  # reports earlier failures
            positions = [_kafkas(partition, offset) for partition, offset in offsets.items()]
            self._consumer.commit(offsets=positions, asynchronous=True)
        except client.kafka().KafkaException as error:
            _log_failed_commit(error.args[0], [_kafkas(partition) for partition in offsets])

    def _at(self, partitions: Sequence[KafkaTopicPartition], time: int) -> Offsets:
        if not partitions:
            return {}
        return self._request(self._consumer.offsets_for_times, [_kafkas(partition, time) for partition in partitions])

    def _request(self, request: Callable[..., Any], partitions: list[Any]) -> Offsets:
        kafka_exception = client.kafka().KafkaException

        def attempt(seconds: float) -> Offsets:
            try:
                answers = request(partitions, timeout=seconds)
                failure = next((answer.error for answer in answers if answer.error is not None), None)
            except kafka_exception as error:
                failure = error.args[0]
            if failure is None:
                return {KafkaTopicPartition(answer.topic, answer.partition): answer.offset for answer in answers}
            raise kafka_exception(self._refreshed(failure, partitions, seconds))

        try:
            return client.with_retries(attempt, self._seconds)
        except kafka_exception as error:
            client.check_exists(self._consumer, self._properties, partitions)
            if error.args[0].name().startswith(("_", _LEADERLESS)):  # an error of the client, which got no answer
                raise client.unreachable(self._properties, "consumer", client.reason(error)) from error
            raise ConfigurationError(
                f"Kafka at {names.servers(self._properties)!r} refused to give the offsets of "
                f"{', '.join(dict.fromkeys(repr(partition.topic) for partition in partitions))}: "
                f"{client.reason(error)}. Check that the topics and the consumer group may be read."
            ) from error

    def _refreshed(self, failure: Any, partitions: list[Any], seconds: float) -> Any:
        """The error for a failed request. A broker that shuts down may report a partition without a leader, and the
        client keeps believing that, even of a partition that does not exist: so this makes it ask for the leaders
        again."""
        if failure.name() not in _STALE:
            return failure
        topics = self._consumer.list_topics(timeout=seconds).topics
        for partition in partitions:
            if partition.topic not in topics or partition.partition not in topics[partition.topic].partitions:
                return failure
        return client.kafka().KafkaError(client.kafka().KafkaError.LEADER_NOT_AVAILABLE)


def _kafkas(partition: KafkaTopicPartition, offset: int = 0) -> Any:
    return client.kafka().TopicPartition(partition.topic, partition.partition, offset)


def resolved(
    initializer: KafkaOffsetsInitializer, partitions: Sequence[KafkaTopicPartition], cluster: Cluster
) -> Offsets:
    """The offset of each partition; an error if it has none and the reset strategy is NONE."""
    known: Offsets = {}
    if initializer.kind == "timestamp":
        known = cluster.at_time(partitions, initializer.time)
    elif initializer.kind in ("committed", "offsets"):
        positions = initializer.positions
        known = {partition: positions[partition] for partition in partitions if partition in positions}
        known |= cluster.committed_offsets([partition for partition in partitions if partition not in known])
    missing = [partition for partition in partitions if partition not in known]
    if not missing:
        return known
    if initializer.reset is KafkaOffsetResetStrategy.NONE:
        raise ConfigurationError(
            f"There is no offset for {', '.join(map(str, missing))}: the consumer group has committed none, and the "
            "offset reset strategy is NONE. Give EARLIEST or LATEST, or set_group_id() of a group that has read them.",
            flink_class="org.apache.kafka.clients.consumer.NoOffsetForPartitionException",
        )
    request = cluster.beginnings if initializer.reset is KafkaOffsetResetStrategy.EARLIEST else cluster.ends
    return known | request(missing)

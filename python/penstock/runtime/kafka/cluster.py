"""What a Kafka cluster says of topics and offsets, asked on the driver.

Source of the semantics: ``KafkaSourceEnumerator`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigurationError
from penstock.runtime.kafka import client
from penstock.runtime.kafka import properties as names
from penstock.runtime.kafka.offsets import KafkaTopicPartition
from penstock.runtime.kafka.pool import Pool, close
from penstock.runtime.kafka.subscription import INTERNAL, Subscription, in_order

_BEGINNING, _END = -2, -1
"""What stands for a time where an offset is asked for."""
_MOST, _SECONDS = 8, 600.0
_LEADERLESS = "LEADER_NOT_AVAILABLE"
_STALE = frozenset({"FENCED_LEADER_EPOCH", _LEADERLESS, "UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION"})
"""What a client says that has not heard of new leaders."""

Offsets = dict[KafkaTopicPartition, int]


class Asker:
    """A consumer that is assigned nothing, so that no answer waits behind records.

    Args:
        properties: of the source.

    Attributes:
        key: the properties.
        consumer: the client.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.consumer: Any = client.made("Consumer", properties, "consumer", {"on_commit": _committed})

    def close(self) -> None:
        """End it; offsets that are being committed are waited for."""
        self.consumer.close()

    def leave(self) -> None:
        """End it some time. Without a broker it would be waited for, up to a minute, for the offsets' sake."""
        threading.Thread(target=close, args=(self,), name="penstock-kafka-leaving", daemon=True).start()


ASKERS: Pool[Asker] = Pool(_MOST, _SECONDS)


@contextlib.contextmanager
def asking(properties: Mapping[str, str]) -> Iterator[Cluster]:
    """A cluster to ask, by a consumer that is kept for the next questions unless one fails.

    Args:
        properties: of the source.
    """
    key = frozenset(properties.items())
    asker = ASKERS.take(lambda each: each.key == key) or Asker(properties)
    try:
        yield Cluster(asker.consumer, properties)
    except BaseException:
        asker.leave()
        raise
    ASKERS.put(asker)


def _committed(error: Any, partitions: Sequence[Any]) -> None:
    """Called by Kafka's client: offsets have been committed, or not."""
    if error is not None:
        shown = ", ".join(f"{each.topic}-{each.partition}" for each in partitions)
        client.LOGGER.warning("the offsets of %s could not be committed for the group: %s", shown, error.str())


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

    def commit(self, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """Let lag tools know how far reading has come; a failure is logged, and nothing waits for it.

        Args:
            offsets: of the next records.
        """
        try:
            self._consumer.poll(0)  # tells of earlier failures
            positions = [_kafkas(partition, offset) for partition, offset in offsets.items()]
            self._consumer.commit(offsets=positions, asynchronous=True)
        except client.kafka().KafkaException as error:
            _committed(error.args[0], [_kafkas(partition) for partition in offsets])

    def _at(self, partitions: Sequence[KafkaTopicPartition], time: int) -> Offsets:
        if not partitions:
            return {}
        return self._asked(self._consumer.offsets_for_times, [_kafkas(each, time) for each in partitions])

    def _asked(self, question: Callable[..., Any], partitions: list[Any]) -> Offsets:
        kafka_exception = client.kafka().KafkaException

        def ask(left: float) -> Offsets:
            try:
                found = question(partitions, timeout=left)
                failure = next((each.error for each in found if each.error is not None), None)
            except kafka_exception as error:
                failure = error.args[0]
            if failure is None:
                return {KafkaTopicPartition(each.topic, each.partition): each.offset for each in found}
            raise kafka_exception(self._judged(failure, partitions, left))

        try:
            return client.patiently(ask, self._seconds)
        except kafka_exception as error:
            if error.args[0].name().startswith(("_", _LEADERLESS)):  # the client's own: it has no answer
                raise client.unreachable(self._properties, "consumer", client.reason(error)) from error
            raise ConfigurationError(
                f"Kafka at {names.servers(self._properties)!r} does not say the offsets of "
                f"{', '.join(dict.fromkeys(repr(each.topic) for each in partitions))}: {client.reason(error)}. It may "
                "be that they, or the consumer group, may not be read."
            ) from error

    def _judged(self, failure: Any, partitions: list[Any], seconds: float) -> Any:
        """What the answer to a question is that has failed.

        A client that was told once that a partition has no leader, as a broker says that is being stopped, takes this
        for the last word, and even for a partition that is not there. So it is made to ask for the leaders.
        """
        if failure.name() not in _STALE:
            return failure
        topics = self._consumer.list_topics(timeout=seconds).topics
        for each in partitions:
            if each.topic not in topics or each.partition not in topics[each.topic].partitions:
                return failure
        return client.kafka().KafkaError(client.kafka().KafkaError.LEADER_NOT_AVAILABLE)


def _fits(topic: str, pattern: str) -> bool:
    return topic not in INTERNAL and re.fullmatch(pattern, topic) is not None


def _kafkas(partition: KafkaTopicPartition, offset: int = 0) -> Any:
    return client.kafka().TopicPartition(partition.topic, partition.partition, offset)

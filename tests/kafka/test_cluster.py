"""Questions to brokers that are away for a while, of a client that has been told that partitions have no leader."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from penstock.connectors.kafka import client
from penstock.connectors.kafka.cluster import Cluster
from penstock.connectors.kafka.offsets import KafkaTopicPartition
from penstock.errors import ConfigurationError

PARTITIONS = [KafkaTopicPartition("t", number) for number in range(2)]


class Stale:
    """A consumer that knows of no leader until it has asked for leaders as often as that."""

    def __init__(self, looks: int, partitions: int = 2, of_one: int | None = None) -> None:
        self.looks, self._partitions, self._of_one = looks, partitions, of_one

    def offsets_for_times(self, partitions: list[TopicPartition], timeout: float) -> list[Any]:
        if self.looks > 0 and self._of_one is None:
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
        errors = [None, None if self._of_one is None or self.looks <= 0 else KafkaError(self._of_one)]
        pairs = zip(partitions, errors, strict=True)
        return [SimpleNamespace(topic=p.topic, partition=p.partition, offset=7, error=error) for p, error in pairs]

    def list_topics(self, timeout: float) -> Any:
        self.looks -= 1
        if self.looks == 1:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions=dict.fromkeys(range(self._partitions)))})


def ends(consumer: Any, milliseconds: int = 10_000) -> dict[KafkaTopicPartition, int]:
    properties = {"bootstrap.servers": "there:9092", "default.api.timeout.ms": str(milliseconds)}
    return Cluster(consumer, properties).ends(PARTITIONS)


@pytest.mark.parametrize("of_one", [None, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.FENCED_LEADER_EPOCH])
@pytest.mark.parametrize("looks", [0, 1, 3])
def test_leaders_are_asked_for_until_there_are_some(looks, of_one) -> None:
    assert ends(Stale(looks, of_one=of_one)) == dict.fromkeys(PARTITIONS, 7)


def test_a_partition_that_is_gone_is_not_waited_for() -> None:
    consumer = Stale(9, partitions=1)
    with pytest.raises(ConfigurationError, match="'t' at 'there:9092' has 1 partitions, and partition 1 is gone"):
        ends(consumer, 1_000_000)
    assert consumer.looks == 7


def test_a_topic_that_is_gone_is_not_taken_for_a_broker_that_is_away() -> None:
    consumer = Stale(9)
    consumer.list_topics = lambda timeout: SimpleNamespace(topics={})
    with pytest.raises(ConfigurationError, match="'t' does not exist any more, at 'there:9092': it was deleted"):
        ends(consumer, 1_000_000)


def test_a_partition_without_a_leader_is_waited_for_as_long_as_the_program_says() -> None:
    with pytest.raises(ConfigurationError, match=r"'there:9092' within 0\.5 s .*[Ll]eader not available"):
        ends(Stale(999), 500)


def test_clients_begin_anew_without_brokers_where_they_can(monkeypatch) -> None:
    name, properties = "metadata.recovery.rebootstrap.trigger.ms", {"bootstrap.servers": "there"}
    for kind in ("consumer", "producer"):
        assert client.settings(properties, kind)[name] == 1_000
        assert client.settings({**properties, name: "7"}, kind)[name] == "7"
        with monkeypatch.context() as patch:
            patch.setattr("confluent_kafka.libversion", lambda: ("2.10.1", 0x020A01FF))
            assert name not in client.settings(properties, kind)


def test_what_may_pass_is_not_what_ends_a_transaction() -> None:
    assert client.is_transient(KafkaError(KafkaError._TRANSPORT))
    assert not client.is_transient(KafkaError(KafkaError._TIMED_OUT, txn_requires_abort=True))
    assert not client.is_transient(KafkaError(KafkaError._TIMED_OUT, fatal=True))
    assert not client.is_transient(KafkaError(KafkaError._UNKNOWN_PARTITION))

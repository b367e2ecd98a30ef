"""Topics of a cluster as tests need them: made, filled, read."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterable
from typing import Any

from penstock.common import WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaSource,
    KafkaSourceBuilder,
)

NONE = WatermarkStrategy.no_watermarks()
_NUMBERS = itertools.count()
PATIENCE = 120.0
"""Seconds that a broker gets for an answer, on a machine that is busy."""


class Topics:
    def __init__(self, servers: str, cluster: Any = None) -> None:
        self.servers = servers
        self.cluster = cluster

    def name(self) -> str:
        """A topic that nobody has named before."""
        return f"topic-{next(_NUMBERS)}"

    def new_topic(self, partitions: int = 1) -> str:
        """A new topic of a real broker."""
        name = self.name()
        self.make(name, partitions)
        return name

    def make(self, name: str, partitions: int) -> None:
        """Have a real broker have a topic."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(PATIENCE)
        self._wait_for_partitions(admin, name, partitions)

    def grow(self, topic: str, partitions: int) -> None:
        """Have a topic of a real broker have more partitions."""
        from confluent_kafka.admin import AdminClient, NewPartitions

        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(PATIENCE)
        self._wait_for_partitions(admin, topic, partitions)

    def _wait_for_partitions(self, admin: Any, topic: str, partitions: int) -> None:
        """Wait until the broker lists them, after it has said that they are made."""
        until = time.monotonic() + PATIENCE
        while len(admin.list_topics(topic, timeout=PATIENCE).topics[topic].partitions) < partitions:
            assert time.monotonic() < until, f"{topic} has not got {partitions} partitions"
            time.sleep(0.02)

    def fill(self, topic: str, records: Iterable[Any], **more: Any) -> None:
        """Write records once each and in order, also while a broker is restarted: dicts of a producer's ``produce``, or
        values. The rest are settings of the producer."""
        producer, errors = self.producer(enable_idempotence=True, **more), []
        producer.list_topics(topic, timeout=PATIENCE)  # a mock cluster makes it now
        for value in records:
            record = value if isinstance(value, dict) else {"value": value}
            producer.produce(topic, **record, on_delivery=lambda error, _: error and errors.append(error))
        assert producer.flush(PATIENCE) == 0
        assert not errors, errors

    def producer(self, **more: Any) -> Any:
        """A producer; settings with ``_`` for ``.``."""
        from confluent_kafka import Producer

        return Producer({"bootstrap.servers": self.servers, **{k.replace("_", "."): v for k, v in more.items()}})

    def messages(self, topic: str, isolation: str = "read_committed", settled: bool = True) -> list[Any]:
        """All that a topic holds, by partition and offset; when no transaction is open any more, if that is asked."""
        from confluent_kafka import Consumer, KafkaError, TopicPartition

        settings = {
            "group.id": "tests",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 5,
        }
        consumer = Consumer({"bootstrap.servers": self.servers, "auto.offset.reset": "earliest", **settings})
        partitions = consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
        if isolation == "read_committed" and settled:
            self._wait_for_markers(topic, partitions)
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        messages: list[Any] = []
        left = set(partitions)
        while left:
            message = consumer.poll(PATIENCE)
            assert message is not None
            if message.error() is None:
                messages.append(message)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                left.discard(message.partition())
        consumer.close()
        return sorted(messages, key=lambda message: (message.partition(), message.offset()))

    def _wait_for_markers(self, topic: str, partitions: Iterable[int]) -> None:
        """Wait for the ends of transactions, which a broker writes after it has said that they are committed. It ends
        those of the dead, too, when they have taken too long."""
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
        from confluent_kafka.admin import AdminClient, OffsetSpec

        admin = AdminClient({"bootstrap.servers": self.servers})
        wanted = {TopicPartition(topic, number): OffsetSpec.latest() for number in partitions}

        def ends(isolation: Any) -> list[int]:
            offsets = admin.list_offsets(wanted, isolation_level=isolation, request_timeout=PATIENCE)
            return [offsets[partition].result(PATIENCE).offset for partition in wanted]

        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(KafkaException):
                if ends(IsolationLevel.READ_COMMITTED) == ends(IsolationLevel.READ_UNCOMMITTED):
                    return
            time.sleep(0.02)
        raise AssertionError(f"a transaction on {topic} does not end")

    def values(self, topic: str, isolation: str = "read_committed", settled: bool = True) -> list[str]:
        return sorted(message.value().decode() for message in self.messages(topic, isolation, settled))

    def source(self, *topics: str) -> KafkaSourceBuilder[str]:
        """From the first records to the last ones there are."""
        builder = KafkaSource.builder().set_bootstrap_servers(self.servers)
        if topics:
            builder.set_topics(*topics)
        return builder.set_value_only_deserializer(SimpleStringSchema()).set_bounded(KafkaOffsetsInitializer.latest())

    def sink(self, topic: str, guarantee: DeliveryGuarantee = DeliveryGuarantee.AT_LEAST_ONCE) -> KafkaSinkBuilder[str]:
        transactions = str(guarantee is DeliveryGuarantee.EXACTLY_ONCE).lower()
        builder = self.sink_of(texts(topic)).set_property("enable.idempotence", transactions)
        return builder.set_delivery_guarantee(guarantee)

    def sink_of(self, schema: KafkaRecordSerializationSchemaBuilder[str]) -> KafkaSinkBuilder[str]:
        """Texts by a schema. Idempotence is off, which costs half a second for each producer."""
        builder = KafkaSink.builder().set_bootstrap_servers(self.servers).set_record_serializer(schema.build())
        return builder.set_property("enable.idempotence", "false")


def texts(topic: str) -> KafkaRecordSerializationSchemaBuilder[str]:
    return (
        KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema(SimpleStringSchema())
    )

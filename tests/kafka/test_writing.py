"""A KafkaSink in tasks, on librdkafka's mock cluster: keys, partitions, timestamps, headers, topics, faults."""

from __future__ import annotations

import logging

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import SerializationSchema, SimpleStringSchema
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaTopicSelector,
)
from penstock.errors import ConfigurationError, JobExecutionError
from tests.kafka.topics import Topics, texts
from tests.running import environment

BY_VALUE = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: 1_000 + int(value))
QUICK = {"enable.idempotence": "false"}
GUARANTEES = [DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE]


def numbers(count: int, parallelism: int = 1, key: bool = False):
    env = environment(parallelism)
    return env, env.from_collection(list(map(str, range(count))), Types.STRING()).rebalance()


def to(cluster: Topics, schema) -> KafkaSink:
    return cluster.sink_of(schema).build()


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_record_is_written(mock_cluster, guarantee, parallelism) -> None:
    topic = mock_cluster.name()
    env, stream = numbers(5_000, parallelism)
    stream.sink_to(mock_cluster.sink(topic, guarantee).build())
    env.execute()
    assert mock_cluster.values(topic) == sorted(map(str, range(5_000)))


class Key(SerializationSchema[str]):
    def serialize(self, element, /):
        return None if element == "0" else bytearray(f"key-{element}".encode())


def test_key_headers_and_timestamp(mock_cluster) -> None:
    topic = mock_cluster.name()
    env, stream = numbers(3)
    schema = texts(topic).set_key_serialization_schema(Key()).set_header_provider(lambda value: {"n": value.encode()})
    stream.assign_timestamps_and_watermarks(BY_VALUE).sink_to(to(mock_cluster, schema))
    env.execute()
    by_value = {
        message.value(): (message.key(), message.headers(), message.timestamp()[1])
        for message in mock_cluster.messages(topic)
    }
    assert by_value == {
        b"0": (None, [("n", b"0")], 1_000),
        b"1": (b"key-1", [("n", b"1")], 1_001),
        b"2": (b"key-2", [("n", b"2")], 1_002),
    }


def test_a_key_has_the_partition_that_javas_client_gives_it(mock_cluster) -> None:
    """What ``DefaultPartitioner`` of Kafka 3.9 says for these keys and four partitions."""
    topic = mock_cluster.name()
    env, stream = numbers(6)
    stream.filter(lambda value: value != "0").sink_to(
        to(mock_cluster, texts(topic).set_key_serialization_schema(Key()))
    )
    env.execute()
    partitions = {message.value().decode(): message.partition() for message in mock_cluster.messages(topic)}
    assert partitions == {str(n): murmur2(f"key-{n}".encode()) % 4 for n in range(1, 6)}


def murmur2(data: bytes) -> int:
    """``Utils.toPositive(Utils.murmur2(data))`` of Kafka, written down from its definition."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


class BySize(KafkaTopicSelector[str]):
    def __init__(self, topics) -> None:
        self.topics = topics

    def apply(self, data, /):
        return self.topics[len(data) - 1]


def test_a_topic_for_each_record(mock_cluster) -> None:
    topics = mock_cluster.name(), mock_cluster.name()
    env, stream = numbers(20, 2)
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector(BySize(topics))
    stream.sink_to(to(mock_cluster, schema.set_value_serialization_schema(SimpleStringSchema())))
    env.execute()
    assert [len(mock_cluster.messages(topic)) for topic in topics] == [10, 10]


def test_a_partition_for_each_record(mock_cluster) -> None:
    topic = mock_cluster.name()
    env, stream = numbers(20, 2)

    def last_digit(record, key, value, topic, partitions):
        return partitions[int(value[-1:]) % len(partitions)]

    stream.sink_to(to(mock_cluster, texts(topic).set_partitioner(last_digit)))
    env.execute()
    assert all(int(message.value()[-1:]) % 4 == message.partition() for message in mock_cluster.messages(topic))


def test_the_old_producer_writes_a_partition_for_each_subtask_and_no_timestamps(mock_cluster) -> None:
    topic = mock_cluster.name()
    env, stream = numbers(20, 2)
    timed = stream.assign_timestamps_and_watermarks(BY_VALUE)
    timed.add_sink(
        FlinkKafkaProducer(topic, SimpleStringSchema(), {**QUICK, "bootstrap.servers": mock_cluster.servers})
    )
    env.execute()
    messages = mock_cluster.messages(topic)
    assert {message.partition() for message in messages} == {0, 1}
    assert min(message.timestamp()[1] for message in messages) > 1_000_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.set_partitioner(lambda *_: 7), r"has returned 7, and the topic '.*' has the partitions \[0, 1, 2"),
        (lambda s: s.set_header_provider(lambda _: "x"), "header provider has returned 'x'. Return pairs of a text"),
        (lambda s: s.set_key_serialization_schema(Wrong()), "Wrong.serialize.. has returned 'text' as the key"),
        (
            lambda s: s.set_key_serialization_schema(Broken()),
            r"record serializer of a KafkaSink, given '0' \(line \d+ of test_writing.py\) in operator",
        ),
    ],
)
def test_what_functions_return_is_looked_at(mock_cluster, change, message) -> None:
    env, stream = numbers(1)
    stream.sink_to(to(mock_cluster, change(texts(mock_cluster.name())))).name("orders")
    with pytest.raises(JobExecutionError, match=message):
        env.execute()


class Wrong(SerializationSchema[str]):
    def serialize(self, element, /):
        return "text"


class Broken(SerializationSchema[str]):
    def serialize(self, element, /):
        raise KeyError(element)


def test_a_record_that_kafka_does_not_take(mock_cluster, caplog) -> None:
    env, stream = numbers(1)
    large = stream.map(lambda value: "x" * 3_000, Types.STRING())
    topic = mock_cluster.name()
    properties = {**QUICK, "bootstrap.servers": mock_cluster.servers, "max.request.size": "2000"}
    producer = FlinkKafkaProducer(topic, SimpleStringSchema(), properties)
    large.add_sink(producer)
    with pytest.raises(
        JobExecutionError, match=f"did not accept a record without a key for the topic '{topic}': .*too large"
    ):
        env.execute()


def test_failures_may_be_logged_only(mock_cluster, caplog) -> None:
    producer = mock_cluster.producer(delivery_timeout_ms=1)
    output = FlinkKafkaProducer("a", SimpleStringSchema(), {"bootstrap.servers": mock_cluster.servers})
    from penstock.connectors.kafka import sink

    writer = sink._SendingWriter.__new__(sink._SendingWriter)
    writer._output, writer._failure = output.set_log_failures_only(True).runtime(), None
    writer._log_only = True
    errors = []
    producer.produce("a", b"v", b"k", on_delivery=lambda error, message: errors.append((error, message)))
    producer.purge()
    producer.poll(1)
    with caplog.at_level(logging.ERROR, "penstock.kafka"):
        writer._failed(*errors[0])
    writer._check()
    assert "did not accept a record with the key b'k' for the topic 'a'" in caplog.text


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("transaction.timeout.ms", "5 min", "'transaction.timeout.ms' is '5 min'; it takes milliseconds"),
        ("acks", "1", "Kafka's producer cannot be created: .*acks.*must be set to `all`"),
        ("max.block.ms", "soon", "'max.block.ms' is 'soon'; it takes milliseconds"),
    ],
)
def test_properties_of_transactions_are_looked_at_before_anything_starts(mock_cluster, key, value, message) -> None:
    env, stream = numbers(1)
    sink = mock_cluster.sink("a", DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("p")
    stream.sink_to(sink.set_property(key, value).build())
    with pytest.raises(ConfigurationError, match=message):
        env.execute()


def test_where_no_broker_answers() -> None:
    env, stream = numbers(1)
    stream.sink_to(Topics("127.0.0.1:1").sink("a").set_property("max.block.ms", "300").build())
    with pytest.raises(ConfigurationError, match=r"No Kafka broker has answered at '127\.0\.0\.1:1' within 0\.3 s"):
        env.execute()

"""Reading from a real broker: transactions, offsets by time and of groups, records that are gone, topics that are not;
and on Spark, where tasks are killed."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.serialization import DeserializationSchema
from penstock.connectors.kafka import reader
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.runtime.io.splits import Split
from penstock.spark import SparkExecutor
from tests.kafka.topics import NONE, PATIENCE, Topics
from tests.running import collected, environment
from tests.spark.hostile import hostile_texts

pytestmark = pytest.mark.spark


def read(source, parallelism=1, executor="local") -> list[str]:
    return sorted(collected(environment(parallelism, executor).from_source(source.build(), NONE, "in")))


def committing(broker: Topics, number: int):
    producer = broker.producer(transactional_id=f"tests-{number}")
    producer.init_transactions(PATIENCE)
    return producer


def write(producer, topic: str, values: str, partition: int = 0) -> None:
    for value in values:
        producer.produce(topic, value.encode(), partition=partition)
    producer.flush(PATIENCE)


def test_transactions_are_respected_where_the_program_says_so(broker) -> None:
    topic = broker.new_topic(2)
    producer, late = committing(broker, 1), committing(broker, 2)
    for values, commits in (("ab", True), ("xy", False), ("c", True)):
        producer.begin_transaction()
        write(producer, topic, values)
        producer.commit_transaction() if commits else producer.abort_transaction()
    late.begin_transaction()
    write(late, topic, "z")
    producer.begin_transaction()
    write(producer, topic, "w")
    producer.commit_transaction()
    committed = broker.source(topic).set_property("isolation.level", "read_committed")
    assert read(committed) == ["a", "b", "c"]  # what follows an open transaction is not visible
    assert read(broker.source(topic)) == ["a", "b", "c", "w", "x", "y", "z"]
    late.abort_transaction()
    assert read(committed, 2) == ["a", "b", "c", "w"]
    [split] = committed.build().splits(1)
    assert split.end == 12  # seven records and five ends of transactions


def test_from_a_time_to_a_time(broker) -> None:
    topic = broker.new_topic(2)
    broker.fill(topic, ({"value": b"%d" % n, "timestamp": 1_000 * n, "partition": n % 2} for n in range(1, 10)))
    at = KafkaOffsetsInitializer.timestamp
    assert read(broker.source(topic).set_starting_offsets(at(4_500)).set_bounded(at(8_000))) == ["5", "6", "7"]
    assert read(broker.source(topic).set_starting_offsets(at(99_000))) == []


def test_from_what_a_group_has_committed(broker) -> None:
    from confluent_kafka import Consumer, TopicPartition

    topic = broker.new_topic(2)
    broker.fill(topic, ({"value": b"%d" % n, "partition": n % 2} for n in range(6)))
    consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": "readers"})
    consumer.commit(offsets=[TopicPartition(topic, 0, 2)], asynchronous=False)
    consumer.close()
    group = broker.source(topic).set_group_id("readers")
    earliest = KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST)
    assert read(group.set_starting_offsets(earliest)) == ["1", "3", "4", "5"]
    given_one = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 1): 1})
    assert read(group.set_starting_offsets(given_one)) == ["3", "4", "5"]
    with pytest.raises(ConfigurationError, match=f"no offset for {topic}-1"):
        read(group.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()))


def test_records_that_have_gone_meanwhile(broker) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic = broker.new_topic()
    broker.fill(topic, map(str.encode, "abcd"))
    [split] = broker.source(topic).build().splits(1)
    admin, position = AdminClient({"bootstrap.servers": broker.servers}), TopicPartition(topic, 0, 2)
    admin.delete_records([position])[position].result(PATIENCE)
    assert read(broker.source(topic)) == ["c", "d"]
    source = broker.source(topic).build()
    with pytest.raises(ConfigurationError, match=f"'{topic}', partition 0, cannot be read at the offset 0.*removed"):
        list(reader.read(source.properties, split, source.deserializer))
    left = Split(split.id, 3, split.end)
    assert [records.values for records in reader.read(source.properties, left, source.deserializer)] == [["d"]]


def test_a_topic_that_is_not_there(broker) -> None:
    broker.new_topic()
    with pytest.raises(ConfigurationError, match=r"topic .nowhere. does not exist, at .* Existing topics: topic-"):
        read(broker.source("nowhere"))
    for guarantee in (DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE):
        env = environment()
        sink = broker.sink("nowhere", guarantee).set_transactional_id_prefix("p").set_property("max.block.ms", "900")
        env.from_collection(["1"], Types.STRING()).sink_to(sink.build())
        with pytest.raises(ConfigurationError, match="The Kafka topic 'nowhere' does not exist"):
            env.execute()


VALUES = st.lists(st.lists(st.integers(0, 99), max_size=30), min_size=3, max_size=3)


@given(VALUES, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=5)
def test_what_is_written_is_read(broker, values, writers, readers) -> None:
    topic = broker.new_topic(3)
    broker.fill(topic, ({"value": b"%d" % v, "partition": n} for n, numbers in enumerate(values) for v in numbers))
    assert read(broker.source(topic), readers) == sorted(str(v) for numbers in values for v in numbers)
    copy, env = broker.new_topic(3), environment(writers)
    env.from_source(broker.source(topic).build(), NONE, "in").sink_to(broker.sink(copy).build())
    env.execute()
    assert broker.values(copy) == broker.values(topic)


@pytest.fixture
def executor(spark) -> SparkExecutor:
    return SparkExecutor(spark, progress=False)


def test_on_spark_a_killed_task_leaves_nothing_and_is_run_again(broker, tmp_path, executor) -> None:
    topic, copy = broker.new_topic(3), broker.new_topic(2)
    broker.fill(topic, ({"value": b"%d" % n, "partition": n % 3} for n in range(3_000)))
    env, died = environment(2, executor), tmp_path / "died"

    def fragile(value: str) -> str:
        if value == "1500" and not died.exists():
            died.touch()
            os._exit(9)
        return value

    sink = broker.sink(copy, DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("spark")
    sink.set_property("penstock.folder", str(tmp_path / "waiting"))
    stream = env.from_source(broker.source(topic).build(), NONE, "in").map(fragile, Types.STRING())
    stream.sink_to(sink.build())
    env.execute()
    assert died.exists()
    assert broker.values(copy, "read_uncommitted") == sorted(map(str, range(3_000)))
    assert read(broker.source(copy), 3, executor) == sorted(map(str, range(3_000)))


class Whole(DeserializationSchema):
    def deserialize(self, message, /):
        return int(message)

    def get_produced_type(self):
        return Types.LONG()


def test_on_spark_what_cannot_be_read_is_named(broker, executor) -> None:
    topic = broker.new_topic()
    broker.fill(topic, [b"1", b"x"])
    source = broker.source(topic).set_value_only_deserializer(Whole())
    message = f"schema Whole, given topic '{topic}', partition 0, offset 1"
    with pytest.raises(JobExecutionError, match=rf"{message} \(line \d+ of test_broker.py\) in operator"):
        read(source, 1, executor)


@pytest.mark.parametrize("what", ["an old mark", "a guessed mark", "half a megabyte"])
def test_on_spark_a_message_of_a_stranger_runs_nothing(mock_cluster, executor, tmp_path, what) -> None:
    texts = hostile_texts(tmp_path / "owned")
    texts["half a megabyte"] = texts["a megabyte of marks"][: 1 << 19]
    topic = mock_cluster.name()
    mock_cluster.fill(topic, [{"value": texts[what].encode(), "partition": 0}])
    env = environment(1, executor)
    stream = env.from_source(mock_cluster.source(topic).build(), NONE, "in")
    stream.map(int, Types.LONG()).name("number").uid("n").print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    assert (caught.value.uid, type(caught.value.__cause__)) == ("n", ValueError)
    assert not (tmp_path / "owned").exists()

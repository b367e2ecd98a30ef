"""Programs with Kafka in them are built, planned and explained where there is no broker and no client library."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.connectors.kafka.offsets import Subscription
from penstock.connectors.kafka.sink import KafkaOutput, TransactionalKafkaOutput
from penstock.connectors.kafka.split_source import PartitionTracker, commits, discovery_interval
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    Semantic,
)
from penstock.errors import ConfigurationError, InvalidProgramError, UnsupportedError
from penstock.runtime.io.splits import Split

NONE = WatermarkStrategy.no_watermarks()
SERVERS = {"bootstrap.servers": "localhost:9092"}

PROGRAM = """
import sys

sys.modules["confluent_kafka"] = None  # as if it were not installed
import penstock.pyflink.install
from pyflink.common import SimpleStringSchema, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    FlinkKafkaConsumer, FlinkKafkaProducer, KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink,
    KafkaSource,
)

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
source = (
    KafkaSource.builder().set_bootstrap_servers("b:9092").set_topics("a", "b").set_group_id("g")
    .set_starting_offsets(KafkaOffsetsInitializer.earliest())
    .set_value_only_deserializer(SimpleStringSchema()).build()
)
schema = KafkaRecordSerializationSchema.builder().set_topic("c").set_value_serialization_schema(SimpleStringSchema())
sink = (
    KafkaSink.builder().set_bootstrap_servers("b:9092").set_record_serializer(schema.build())
    .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE).build()
)
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "kafka")
stream.sink_to(sink)
consumer = FlinkKafkaConsumer("old", SimpleStringSchema(), {"bootstrap.servers": "b:9092", "group.id": "g"})
consumer.set_start_from_earliest()
env.add_source(consumer).add_sink(FlinkKafkaProducer("new", SimpleStringSchema(), {"bootstrap.servers": "b:9092"}))
print([node["type"] for node in __import__("json").loads(env.get_execution_plan())["nodes"]])
try:
    env.execute()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_program_is_planned_without_a_client_and_says_what_it_lacks_to_run() -> None:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    plan, refusal = run.stdout.splitlines()
    assert plan == "['Source: kafka', 'Source: Custom Source', 'Sink: Unnamed', 'Sink: Unnamed']"
    assert refusal.startswith("ConfigurationError Kafka needs the library confluent_kafka")
    assert refusal.endswith("pip install 'penstock[kafka]'.")


def source() -> KafkaSource:
    builder = KafkaSource.builder().set_bootstrap_servers("localhost:9092").set_topics("orders")
    return builder.set_value_only_deserializer(SimpleStringSchema()).build()


def test_what_a_builder_was_told_is_in_the_source() -> None:
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers("localhost:9092")
        .set_partitions({KafkaTopicPartition("b", 1), KafkaTopicPartition("a", 0)})
        .set_group_id("g")
        .set_client_id_prefix("mine")
        .set_property("isolation.level", "read_committed")
        .set_properties({"fetch.min.bytes": "1"})
        .set_starting_offsets(KafkaOffsetsInitializer.timestamp(5))
        .set_unbounded(KafkaOffsetsInitializer.offsets({KafkaTopicPartition("a", 0): 7}))
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    assert source.properties == {
        "bootstrap.servers": "localhost:9092",
        "group.id": "g",
        "client.id.prefix": "mine",
        "isolation.level": "read_committed",
        "fetch.min.bytes": "1",
    }
    assert list(map(str, source.subscription.partitions)) == ["a-0", "b-1"]
    assert (source.starting_offsets.kind, source.starting_offsets.time) == ("timestamp", 5)
    assert source.stopping_offsets is not None
    assert dict(source.stopping_offsets.positions) == {KafkaTopicPartition("a", 0): 7}
    assert (source.bounded, source.produced_type) == (False, Types.STRING())
    assert repr(source) == "<KafkaSource of 'b', 'a'>" or repr(source) == "<KafkaSource of 'a', 'b'>"


def test_offsets_are_data() -> None:
    committed = KafkaOffsetsInitializer.committed_offsets()
    assert committed.reset is KafkaOffsetResetStrategy.NONE
    assert pickle.loads(pickle.dumps(committed)) == committed
    assert KafkaOffsetsInitializer.offsets({}).reset is KafkaOffsetResetStrategy.EARLIEST
    assert len({KafkaTopicPartition("a", 0), KafkaTopicPartition("a", 0), KafkaTopicPartition("a", 1)}) == 2


@pytest.mark.parametrize(
    ("start", "kind", "reset"),
    [
        (lambda consumer: consumer.set_start_from_earliest(), "earliest", "EARLIEST"),
        (lambda consumer: consumer.set_start_from_latest(), "latest", "LATEST"),
        (lambda consumer: consumer.set_start_from_timestamp(5), "timestamp", "LATEST"),
        (lambda consumer: consumer.set_start_from_group_offsets(), "committed", "LATEST"),
        (lambda consumer: consumer, "committed", "LATEST"),
    ],
)
def test_the_old_consumer_is_a_source_without_an_end(start, kind, reset) -> None:
    consumer = start(FlinkKafkaConsumer(["a", "b"], SimpleStringSchema(), SERVERS))
    source = consumer.set_commit_offsets_on_checkpoints(True).source()
    consumer.disable_filter_restored_partitions_with_subscribed_topics()
    assert (source.subscription.topics, source.bounded) == (("a", "b"), False)
    assert (source.starting_offsets.kind, source.starting_offsets.reset.name) == (kind, reset)
    assert consumer.get_produced_type() == Types.STRING()
    with pytest.raises(UnsupportedError, match="add_source"):
        consumer.run(None)


def test_what_the_old_consumer_says_of_discovery_and_commits() -> None:
    properties = {**SERVERS, "group.id": "g", "flink.partition-discovery.interval-millis": "500"}
    source = FlinkKafkaConsumer("a", SimpleStringSchema(), properties).set_commit_offsets_on_checkpoints(False).source()
    assert source.properties["partition.discovery.interval.ms"] == "500"
    assert source.properties["commit.offsets.on.checkpoint"] == "false"
    source = FlinkKafkaConsumer("a", SimpleStringSchema(), SERVERS).set_commit_offsets_on_checkpoints(True).source()
    assert (discovery_interval(source.properties), commits(source.properties)) == (None, False)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("partition.discovery.interval.ms", "often", "it takes milliseconds, or -1 for never"),
        ("commit.offsets.on.checkpoint", "yes", "Give 'true' or 'false'"),
        ("commit.offsets.on.checkpoint", "true", r"set_group_id\('mine'\)"),
    ],
)
def test_properties_of_topics_without_an_end_are_looked_at(name, value, message) -> None:
    with pytest.raises(ConfigurationError, match=message):
        PartitionTracker({**SERVERS, name: value}, Subscription(("a",)), KafkaOffsetsInitializer.earliest(), None)


@pytest.mark.parametrize(
    ("start", "end", "limited_end"),
    [(5, 9, 7), (5, 7, 7), (5, 5, 5), ([5, 20], [9, 20], [7, 20]), ([5, 6], [6, 6], [6, 6])],
)
def test_a_step_reads_a_number_of_offsets(start, end, limited_end) -> None:
    assert source().limited(Split("a-0", start, end), 2) == Split("a-0", start, limited_end)


def test_the_old_consumer_has_the_schemas_type() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    consumer = FlinkKafkaConsumer("a", SimpleStringSchema(), {**SERVERS, "auto.offset.reset": "earliest"})
    assert consumer.source().starting_offsets.reset is KafkaOffsetResetStrategy.EARLIEST
    assert env.set_parallelism(3).add_source(consumer).get_type() == Types.STRING()


def test_a_guarantee_decides_what_runs() -> None:
    schema = KafkaRecordSerializationSchema.builder().set_topic("a")
    serializer = schema.set_value_serialization_schema(SimpleStringSchema()).build()
    builder = KafkaSink.builder().set_bootstrap_servers("b:1").set_record_serializer(serializer)
    for guarantee in (DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE):
        assert isinstance(builder.set_delivery_guarantee(guarantee).build().runtime(), KafkaOutput)
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(InvalidProgramError, match="set_transactional_id_prefix"):
        builder.build()
    sink = builder.set_transactional_id_prefix("mine").set_property("linger.ms", "1").build()
    assert isinstance(sink.runtime(), TransactionalKafkaOutput)
    assert sink.get_transformer() is None
    assert repr(sink) == "<KafkaSink to 'a'>"


def test_the_old_producer_has_the_guarantee_of_its_semantic() -> None:
    producer = FlinkKafkaProducer("a", SimpleStringSchema(), SERVERS)
    output = producer.set_flush_on_checkpoint(False).set_log_failures_only(True).runtime()
    assert isinstance(output, KafkaOutput)
    assert (output.timestamps, output.log_only) == (False, True)
    assert producer.set_write_timestamp_to_kafka(True).runtime().timestamps  # type: ignore[attr-defined]
    properties = {**SERVERS, "transactional.id": "mine"}
    exact = FlinkKafkaProducer("a", SimpleStringSchema(), properties, semantic=Semantic.EXACTLY_ONCE)
    output = exact.ignore_failures_after_transaction_timeout().runtime()
    assert isinstance(output, TransactionalKafkaOutput)
    assert (output.prefix, output.timestamps) == ("mine", False)
    with pytest.raises(InvalidProgramError, match="no record may be missing"):
        exact.set_log_failures_only(True)
    with pytest.raises(UnsupportedError, match="add_sink"):
        exact.invoke(1, None)

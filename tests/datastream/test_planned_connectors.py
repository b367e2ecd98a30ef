"""Connectors that cannot run here: programs that import, build or plan them work, and are refused before they run."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream import StreamExecutionEnvironment, connectors
from penstock.datastream.connectors import NumberSequenceSource
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.pyflink.datastream.connectors import (
    cassandra,
    dynamic_kafka,
    elasticsearch,
    hybrid_source,
    jdbc,
    kinesis,
    pulsar,
    rabbitmq,
)
from penstock.pyflink.names import read
from tests.docs.pyflink_page import THERE, status
from tests.running import environment


def test_every_name_of_pyflinks_is_there_with_its_parameters() -> None:
    modules = {f"pyflink.datastream.connectors.{name}" for name in (
        "cassandra", "dynamic_kafka", "elasticsearch", "hybrid_source", "jdbc", "kinesis", "pulsar", "rabbitmq"
    )}  # fmt: skip
    names = [name for name in read() if name.module in modules and name.kind != "import"]
    assert len(names) > 200
    assert [name.path for name in names if status(name) != THERE] == []


def elasticsearch_sink(stream: Any) -> Any:
    emitter = elasticsearch.ElasticsearchEmitter.static_index("orders", "id")
    builder = elasticsearch.Elasticsearch7SinkBuilder().set_emitter(emitter).set_hosts(["es:9200"])
    backoff = elasticsearch.FlushBackoffType.EXPONENTIAL
    return stream.sink_to(builder.set_bulk_flush_backoff_strategy(backoff, 3, 100).build()).name("Orders")


def pulsar_sink(stream: Any) -> Any:
    builder = pulsar.PulsarSink.builder().set_service_url("pulsar://p:6650").set_topics(["a"])
    return stream.sink_to(builder.set_serialization_schema(SimpleStringSchema()).build()).name("Orders")


def kinesis_sink(stream: Any) -> Any:
    builder = kinesis.KinesisStreamsSink.builder().set_stream_name("s").set_fail_on_error(False)
    builder.set_partition_key_generator(kinesis.PartitionKeyGenerator.fixed())
    return stream.sink_to(builder.set_serialization_schema(SimpleStringSchema()).build()).name("Orders")


def rabbitmq_sink(stream: Any) -> Any:
    config = rabbitmq.RMQConnectionConfig.Builder().set_host("r").set_port(5672).set_virtual_host("/").build()
    assert (config.get_host(), config.get_port(), config.get_uri()) == ("r", 5672, None)
    return stream.add_sink(rabbitmq.RMQSink(config, "queue", SimpleStringSchema())).name("Orders")


def cassandra_sink(stream: Any) -> Any:
    builder = cassandra.CassandraSink.add_sink(stream).set_query("insert into orders (a, b) values (?, ?)")
    return builder.set_host("c", 9042).enable_ignore_null_fields().build().name("Orders")


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        (elasticsearch_sink, r"sink_to\(\) of ElasticsearchSink"),
        (pulsar_sink, r"sink_to\(\) of PulsarSink.*KafkaSink"),
        (kinesis_sink, r"sink_to\(\) of KinesisStreamsSink.*boto3"),
        (rabbitmq_sink, r"add_sink\(\) of RMQSink.*pika"),
        (cassandra_sink, r"add_sink\(\) of CassandraWriter"),
    ],
)
def test_sinks_are_planned_and_refused_when_the_program_is_executed(sink: Callable[[Any], Any], message: str) -> None:
    env = environment()
    seen: list[int] = []
    sink(env.from_collection([1]).map(seen.append))
    assert "Sink: Orders" in env.get_execution_plan()
    with pytest.raises(UnsupportedError, match=message):
        env.execute()
    assert seen == []


def pulsar_source(env: StreamExecutionEnvironment) -> Any:
    builder = pulsar.PulsarSource.builder().set_service_url("pulsar://p:6650").set_subscription_name("s")
    builder.set_start_cursor(pulsar.StartCursor.earliest()).set_topics("a")
    source = builder.set_deserialization_schema(SimpleStringSchema()).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")


def kinesis_source(env: StreamExecutionEnvironment) -> Any:
    return env.add_source(kinesis.FlinkKinesisConsumer("stream", SimpleStringSchema(), {}), "orders")


def rabbitmq_source(env: StreamExecutionEnvironment) -> Any:
    config = rabbitmq.RMQConnectionConfig.Builder().set_uri("amqp://r").build()
    return env.add_source(rabbitmq.RMQSource(config, "queue", True, SimpleStringSchema()), "orders")


@pytest.mark.parametrize("source", [pulsar_source, kinesis_source, rabbitmq_source])
def test_sources_are_planned_and_refused_when_the_program_is_executed(source: Callable[[Any], Any]) -> None:
    env = environment()
    source(env).map(str).print()
    assert "Source: orders" in env.get_execution_plan()
    with pytest.raises(
        UnsupportedError, match=r"operator 'Source: orders': use .*from_source\(\) with a source of your"
    ):
        env.execute()


def test_wrong_arguments_are_refused() -> None:
    for call, message in (
        (
            lambda: jdbc.JdbcConnectionOptions.JdbcConnectionOptionsBuilder().build(),
            r"the URL is missing. Call with_url\(…\)",
        ),
        (lambda: jdbc.JdbcExecutionOptions.builder().with_batch_size("many"), "with_batch_size"),
        (lambda: pulsar.PulsarSource.builder().set_config("key"), r"set_config\(\) takes \(key, value\).*'value'"),
        (
            lambda: kinesis.FlinkKinesisConsumer("a", config={}),
            r"FlinkKinesisConsumer\(\) takes \(streams, .*'deserializer'",
        ),
        (lambda: cassandra.CassandraSink.add_sink([1]), "Give a stream"),
        (lambda: hybrid_source.HybridSource.builder([1]), "Give a source"),
    ):
        with pytest.raises(InvalidProgramError, match=message):
            call()


def test_sources_are_read_one_after_the_other() -> None:
    env = environment()
    env.set_parallelism(1)
    source = (
        hybrid_source.HybridSource.builder(NumberSequenceSource(8, 9)).add_source(NumberSequenceSource(1, 3)).build()
    )
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    assert list(numbers.execute_and_collect()) == [8, 9, 1, 2, 3]
    assert repr(source).startswith("<HybridSource of ")


def test_a_source_that_never_ends_is_the_last_of_a_hybrid_one() -> None:
    env = environment()
    endless = pulsar.PulsarSource.builder().set_service_url("p").set_subscription_name("s")
    endless = endless.set_deserialization_schema(SimpleStringSchema()).build()
    endless.bounded = False
    with pytest.raises(InvalidProgramError, match="never ends"):
        hybrid_source.HybridSource.builder(endless).add_source(NumberSequenceSource(1, 3)).build()
    both = hybrid_source.HybridSource.builder(NumberSequenceSource(1, 3)).add_source(endless).build()
    env.from_source(both, WatermarkStrategy.no_watermarks(), "orders").print()
    with pytest.raises(UnsupportedError, match="operator 'Source: orders'"):
        env.execute()


def test_a_dynamic_source_of_kafka_is_planned() -> None:
    clusters = dynamic_kafka.SingleClusterTopicMetadataService("one", {"bootstrap.servers": "broker:9092"})
    source = (
        dynamic_kafka.DynamicKafkaSource.builder()
        .set_stream_ids({"orders"})
        .set_kafka_metadata_service(clusters)
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    env = environment()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "Orders").print()
    assert "Source: Orders" in env.get_execution_plan()
    with pytest.raises(UnsupportedError, match=r"operator 'Source: Orders': use a KafkaSource for each cluster"):
        env.execute()


def test_what_was_given_is_kept_and_secrets_are_not_shown() -> None:
    builder = rabbitmq.RMQConnectionConfig.Builder().set_virtual_host(vhost="v").set_port(1).set_password("secret")
    config = builder.set_topology_recovery_enabled(True).build()
    assert (config.get_virtual_host(), config.get_port(), config.is_topology_recovery()) == ("v", 1, True)
    assert (config.get_password(), config.get_uri()) == ("secret", None)
    assert repr(config) == (
        "<RMQConnectionConfig virtual_host='v', port=1, password=…, topology_recovery_enabled=True>"
    )
    sink = pulsar.PulsarSink.builder().set_config("a", 1).set_authentication("plugin", "secret").build()
    assert repr(sink) == "<PulsarSink config=('a', 1), authentication=…>"
    options = cassandra.MapperOptions().ttl(1).if_not_exists(True)
    assert repr(options) == "<MapperOptions ttl=1, if_not_exists=True>"
    assert repr(cassandra.ClusterBuilder()) == "<ClusterBuilder>"
    copied = pickle.loads(pickle.dumps(sink))
    assert (type(copied), copied.arguments) == (pulsar.PulsarSink, sink.arguments)


def test_a_native_program_is_told_where_such_connectors_are() -> None:
    with pytest.raises(UnsupportedError, match=r"PulsarSink of penstock\.datastream\.connectors has moved.*pyflink"):
        from penstock.datastream.connectors import PulsarSink  # noqa: F401
    assert not hasattr(connectors, "MongoSink")

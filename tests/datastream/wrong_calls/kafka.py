"""Kafka's sources and sinks: builders, offsets, schemas, where they are put."""

from __future__ import annotations

from typing import Any

from penstock.common import WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
)
from penstock.errors import ConfigurationError as C
from penstock.errors import InvalidProgramError as P
from penstock.errors import UnsupportedError as U
from tests.datastream.wrong_calls.world import World

NONE = WatermarkStrategy.no_watermarks()
STRINGS = SimpleStringSchema()
SERVERS = {"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "50", "max.block.ms": "50"}
OFFSETS, RESET = KafkaOffsetsInitializer, KafkaOffsetResetStrategy
source, sink, schema = KafkaSource.builder, KafkaSink.builder, KafkaRecordSerializationSchema.builder


def whole_source(**properties: str) -> Any:
    builder = source().set_properties({**SERVERS, **{k.replace("_", "."): v for k, v in properties.items()}})
    return builder.set_topics("orders").set_value_only_deserializer(STRINGS)


def whole_sink(**properties: str) -> Any:
    builder = sink().set_record_serializer(schema().set_topic("a").set_value_serialization_schema(STRINGS).build())
    for key, value in {**SERVERS, **properties}.items():
        builder.set_property(key.replace("_", "."), value)
    return builder


def read(w: World, builder: Any) -> Any:
    return w.run(w.env.from_source(builder.build(), NONE, "in"))


def write(w: World, builder: Any) -> Any:
    w.pairs.sink_to(builder.build())
    return w.env.execute()


ROWS = [
    ("kafka source: servers list", lambda w: source().set_bootstrap_servers(["b:1"]), P, "set_bootstrap_servers"),
    ("kafka source: blank servers", lambda w: source().set_bootstrap_servers(" "), P, "blank"),
    ("kafka source: no topic", lambda w: source().set_topics(), P, "no topic"),
    ("kafka source: topics list", lambda w: source().set_topics(["a", "b"]), P, r"set_topics\(\*topics\)"),
    ("kafka source: blank topic", lambda w: source().set_topics(""), P, "blank"),
    ("kafka source: pattern", lambda w: source().set_topic_pattern("a("), P, "regular expression"),
    ("kafka source: pattern object", lambda w: source().set_topic_pattern(5), P, "set_topic_pattern"),
    ("kafka source: partition pair", lambda w: source().set_partitions({("a", 0)}), P, "KafkaTopicPartition"),
    ("kafka source: no partition", lambda w: source().set_partitions(set()), P, "no partition"),
    ("kafka source: twice", lambda w: source().set_topics("a").set_topic_pattern("a"), P, r"after set_topics\(\)"),
    ("kafka source: offsets", lambda w: source().set_starting_offsets("earliest"), P, "KafkaOffsetsInitializer"),
    ("kafka source: bounded", lambda w: source().set_bounded(100), P, "set_bounded"),
    ("kafka source: deserializer", lambda w: source().set_value_only_deserializer(str), P, "DeserializationSchema"),
    ("kafka source: whole records", lambda w: source().set_deserializer(STRINGS), P, "set_value_only_deserializer"),
    ("kafka source: group", lambda w: source().set_group_id(5), P, "set_group_id"),
    ("kafka source: prefix", lambda w: source().set_client_id_prefix(None), P, "set_client_id_prefix"),
    ("kafka source: number", lambda w: source().set_property("fetch.min.bytes", 5), P, "Give '5'"),
    ("kafka source: boolean", lambda w: source().set_property("enable.auto.commit", False), P, "Give 'false'"),
    ("kafka source: properties", lambda w: source().set_properties([("a", "b")]), P, "dict"),
    ("kafka source: nothing", lambda w: source().build(), P, "set_bootstrap_servers"),
    ("kafka source: nothing to read", lambda w: source().set_bootstrap_servers("b:1").build(), P, "set_topics"),
    ("kafka source: no group", lambda w: whole_source().set_bounded(OFFSETS.committed_offsets()).build(), P, "group"),
    ("kafka source: not built", lambda w: w.env.from_source(whole_source(), NONE, "in"), P, r"build\(\)"),
    ("kafka source: no end", lambda w: read(w, whole_source()), C, "127.0.0.1:1"),
    ("kafka source: no broker", lambda w: read(w, whole_source().set_bounded(OFFSETS.latest())), C, "127.0.0.1:1"),
    ("kafka source: property", lambda w: read(w, whole_source(group_ido="x").set_bounded(OFFSETS.latest())), C, "ido"),
    (
        "kafka source: timeout",
        lambda w: read(w, whole_source(default_api_timeout_ms="long").set_bounded(OFFSETS.latest())),
        C,
        "milliseconds",
    ),
    (
        "kafka source: trust store",
        lambda w: read(w, whole_source(ssl_truststore_location="a.jks").set_bounded(OFFSETS.latest())),
        U,
        "PEM",
    ),
    (
        "kafka source: login",
        lambda w: read(w, whole_source(sasl_jaas_config="x.Krb5LoginModule required;").set_bounded(OFFSETS.latest())),
        U,
        "sasl.username",
    ),
    ("kafka value_only: function", lambda w: KafkaRecordDeserializationSchema.value_only(str), P, "value_only"),
    ("kafka offsets: timestamp", lambda w: OFFSETS.timestamp("2024-01-01"), P, "timestamp"),
    ("kafka offsets: negative", lambda w: OFFSETS.timestamp(-1), P, "at least 0"),
    ("kafka offsets: strategy", lambda w: OFFSETS.committed_offsets("earliest"), P, "KafkaOffsetResetStrategy"),
    ("kafka offsets: pairs", lambda w: OFFSETS.offsets({("a", 0): 1}), P, "KafkaTopicPartition"),
    ("kafka offsets: below zero", lambda w: OFFSETS.offsets({KafkaTopicPartition("a", 0): -2}), P, r"earliest\(\)"),
    ("kafka partition: negative", lambda w: KafkaTopicPartition("a", -1), P, "from 0"),
    ("kafka partition: text", lambda w: KafkaTopicPartition("a", "1"), P, "partition"),
    ("kafka sink: guarantee", lambda w: sink().set_delivery_guarantee("EXACTLY_ONCE"), P, "DeliveryGuarantee"),
    ("kafka sink: blank prefix", lambda w: sink().set_transactional_id_prefix(""), P, "0 bytes"),
    ("kafka sink: schema of values", lambda w: sink().set_record_serializer(STRINGS), P, "builder"),
    ("kafka sink: schema not built", lambda w: sink().set_record_serializer(schema()), P, r"build\(\)"),
    ("kafka sink: nothing", lambda w: sink().build(), P, "set_bootstrap_servers"),
    ("kafka sink: no schema", lambda w: sink().set_bootstrap_servers("b:1").build(), P, "set_record_serializer"),
    (
        "kafka sink: no prefix",
        lambda w: whole_sink().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build(),
        P,
        "set_transactional_id_prefix",
    ),
    ("kafka sink: not built", lambda w: w.pairs.sink_to(whole_sink()), P, r"build\(\)"),
    ("kafka sink: added", lambda w: w.pairs.add_sink(whole_sink().build()), P, r"sink_to\(\)"),
    ("kafka sink: no broker", lambda w: write(w, whole_sink()), C, "127.0.0.1:1"),
    ("kafka sink: class of Java", lambda w: write(w, whole_sink(partitioner_class="x.Y")), U, "set_partitioner"),
    ("kafka schema: topics", lambda w: schema().set_topic(["a"]), P, "set_topic"),
    ("kafka schema: topic twice", lambda w: schema().set_topic("a").set_topic_selector(str), P, "given before"),
    ("kafka schema: selector", lambda w: schema().set_topic_selector("a"), P, "callable"),
    ("kafka schema: key", lambda w: schema().set_key_serialization_schema(str.encode), P, "SerializationSchema"),
    ("kafka schema: partitioner", lambda w: schema().set_partitioner(3), P, "set_partitioner"),
    ("kafka schema: headers", lambda w: schema().set_header_provider({"a": b""}), P, "set_header_provider"),
    ("kafka schema: nothing", lambda w: schema().build(), P, "set_value_serialization_schema"),
    ("kafka consumer: no topic", lambda w: FlinkKafkaConsumer([], STRINGS, SERVERS), P, "no topic"),
    ("kafka consumer: schema", lambda w: FlinkKafkaConsumer("a", None, SERVERS), P, "DeserializationSchema"),
    ("kafka consumer: no servers", lambda w: FlinkKafkaConsumer("a", STRINGS, {}), P, "bootstrap.servers"),
    ("kafka consumer: no broker", lambda w: w.run(w.env.add_source(old())), C, "127.0.0.1:1"),
    ("kafka producer: semantic", lambda w: FlinkKafkaProducer("a", STRINGS, SERVERS, semantic=0), P, "Semantic"),
    ("kafka producer: sink_to", lambda w: w.pairs.sink_to(FlinkKafkaProducer("a", STRINGS, SERVERS)), P, "add_sink"),
]


def old() -> FlinkKafkaConsumer:
    return FlinkKafkaConsumer("a", STRINGS, SERVERS)

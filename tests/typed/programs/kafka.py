"""What Kafka's sources and sinks give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typing_extensions import assert_type

from penstock.common import TypeInformation, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream import DataStreamSink, DataStreamSource, StreamExecutionEnvironment
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetsInitializer,
    KafkaRecord,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    KafkaTopicSelector,
)

env = StreamExecutionEnvironment.get_execution_environment(executor="local")
builder = (
    KafkaSource.builder()
    .set_bootstrap_servers("localhost:9092")
    .set_partitions({KafkaTopicPartition("orders", 0)})
    .set_starting_offsets(KafkaOffsetsInitializer.offsets({KafkaTopicPartition("orders", 0): 5}))
    .set_bounded(KafkaOffsetsInitializer.latest())
)
strings = builder.set_value_only_deserializer(SimpleStringSchema()).build()
assert_type(strings, KafkaSource[str])
orders = env.from_source(strings, WatermarkStrategy.no_watermarks(), "orders")
assert_type(orders, DataStreamSource[str])


class Sizes(KafkaRecordDeserializationSchema[int]):
    def deserialize(self, record: KafkaRecord) -> Iterator[int]:
        assert_type(record.key, bytes | None)
        yield len(record.value or b"")

    def get_produced_type(self) -> TypeInformation[Any]:
        return Types.LONG()


assert_type(builder.set_deserializer(Sizes()).build(), KafkaSource[int])
builder.set_starting_offsets("earliest")  # error: reportArgumentType


class ByCountry(KafkaTopicSelector[str]):
    def apply(self, data: str) -> str:
        return data[:2]


schema = KafkaRecordSerializationSchema.builder().set_topic_selector(ByCountry())
sink = (
    KafkaSink.builder()
    .set_bootstrap_servers("localhost:9092")
    .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
    .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    .build()
)
assert_type(sink, KafkaSink[Any])
assert_type(orders.sink_to(sink), DataStreamSink[str])

servers = {"bootstrap.servers": "localhost:9092"}
consumer = FlinkKafkaConsumer("orders", SimpleStringSchema(), servers)
assert_type(consumer.set_start_from_earliest(), FlinkKafkaConsumer)
orders.add_sink(FlinkKafkaProducer("copies", SimpleStringSchema(), servers).set_write_timestamp_to_kafka(True))

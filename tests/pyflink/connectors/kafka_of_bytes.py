"""Bytes to a topic as they are, and back."""

import sys

from pyflink.common import ByteArraySchema, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)

BROKER = {"bootstrap.servers": "broker:9092", "group.id": "stations"}
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def write(env):
    stream = env.from_collection([(b"harbour",), (b"mill",)], type_info=Types.ROW([BYTES]))
    stream = stream.map(lambda row: row[0], output_type=BYTES)
    records = (
        KafkaRecordSerializationSchema.builder().set_topic("names").set_value_serialization_schema(ByteArraySchema())
    )
    sink = KafkaSink.builder().set_bootstrap_servers("broker:9092").set_record_serializer(records.build())
    stream.sink_to(sink.set_property("linger.ms", "50").build()).name("To names")
    env.execute("write")


def read(env):
    source = (
        KafkaSource.builder()
        .set_topics("names")
        .set_properties(BROKER)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(ByteArraySchema())
        .build()
    )
    env.from_source(source, WatermarkStrategy.no_watermarks(), "From names").map(lambda data: data.decode()).print()
    env.execute("read")


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_jars("file:///opt/flink/flink-sql-connector-kafka.jar")
    {"write": write, "read": read}[sys.argv[1]](env)

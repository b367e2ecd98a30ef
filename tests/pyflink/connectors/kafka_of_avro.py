"""Rows to a topic as records of Avro, and back."""

import sys

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema

BROKER = {"bootstrap.servers": "broker:9092", "group.id": "stations"}
STATION = Types.ROW([Types.INT(), Types.STRING()])
SCHEMA = (
    '{"type": "record", "name": "Station", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}'
)


def write(env):
    stream = env.from_collection([(7, "harbour"), (9, "mill")], type_info=STATION)
    records = (
        KafkaRecordSerializationSchema.builder()
        .set_topic("stations")
        .set_value_serialization_schema(AvroRowSerializationSchema(avro_schema_string=SCHEMA))
    )
    sink = KafkaSink.builder().set_bootstrap_servers("broker:9092").set_record_serializer(records.build())
    stream.sink_to(sink.set_property("linger.ms", "50").build()).name("To stations")
    env.execute("write")


def read(env):
    source = (
        KafkaSource.builder()
        .set_topics("stations")
        .set_properties(BROKER)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(AvroRowDeserializationSchema(avro_schema_string=SCHEMA))
        .build()
    )
    env.from_source(source, WatermarkStrategy.no_watermarks(), "From stations").print()
    env.execute("read")


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_jars("file:///opt/flink/flink-sql-connector-kafka.jar")
    {"write": write, "read": read}[sys.argv[1]](env)

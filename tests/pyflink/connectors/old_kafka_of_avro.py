"""Rows to a topic as records of Avro, and back, by the classes of Flink before 1.15."""

import sys

from pyflink.common import AvroRowDeserializationSchema, AvroRowSerializationSchema, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors import FlinkKafkaConsumer, FlinkKafkaProducer

BROKER = {"bootstrap.servers": "broker:9092", "group.id": "stations"}
SCHEMA = """{"type": "record", "name": "Station", "fields": [
    {"name": "number", "type": "int"}, {"name": "name", "type": "string"}
]}"""


def write(env):
    stream = env.from_collection([(7, "harbour"), (9, "mill")], type_info=Types.ROW([Types.INT(), Types.STRING()]))
    stream.add_sink(
        FlinkKafkaProducer(
            topic="stations",
            serialization_schema=AvroRowSerializationSchema(avro_schema_string=SCHEMA),
            producer_config=BROKER,
        )
    ).name("To stations")
    env.execute("write")


def read(env):
    consumer = FlinkKafkaConsumer(
        topics="stations",
        deserialization_schema=AvroRowDeserializationSchema(avro_schema_string=SCHEMA),
        properties=BROKER,
    )
    consumer.set_start_from_earliest()
    env.add_source(consumer, "From stations").print()
    env.execute("read")


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_jars("file:///opt/flink/flink-sql-avro.jar", "file:///opt/flink/flink-sql-connector-kafka.jar")
    {"write": write, "read": read}[sys.argv[1]](env)

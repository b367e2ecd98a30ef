"""Rows to a topic: one field of bytes is the key, another the value."""

import json

from pyflink.common import Row, Types
from pyflink.common.serialization import RowFieldExtractorSchema
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import DeliveryGuarantee, KafkaRecordSerializationSchema, KafkaSink

BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
FIELDS = Types.ROW([BYTES, BYTES])


def seen(row):
    print(row[0].decode(), json.loads(row[1].decode())["level"])
    return row


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    rows = [Row(name.encode(), json.dumps({"level": level}).encode()) for name, level in (("mill", 3), ("quay", 5))]
    records = (
        KafkaRecordSerializationSchema.builder()
        .set_topic("levels")
        .set_key_serialization_schema(RowFieldExtractorSchema(0))
        .set_value_serialization_schema(RowFieldExtractorSchema(1))
        .build()
    )
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers("broker:9092")
        .set_record_serializer(records)
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .build()
    )
    env.from_collection(rows, type_info=FIELDS).map(seen, output_type=FIELDS).sink_to(sink).name("Levels")
    env.execute("levels")

"""Kafka to Kafka, exactly once: orders in, the running total of each item out.

A program that never ends, if the setting ``penstock.step.available-now`` is left out; with it, it ends when it has read
what is there, and goes on where it was when it is started again with the same checkpoint directory. Killed at any
moment, it loses and repeats nothing for readers with ``isolation.level=read_committed``.

    penstock run --local examples/kafka_to_kafka.py

The environment variable KAFKA is the address of a broker, ``localhost:9092`` say. Without it the program runs against
the small Kafka that librdkafka has inside for tests. It needs ``pip install 'penstock[kafka]'``.

Prints::

    pens 2
    pens 5
    rulers 1
    rulers 5
"""

from __future__ import annotations

import os
import tempfile

from confluent_kafka import Producer

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import (
    DeliveryGuarantee,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)

NONE = WatermarkStrategy.no_watermarks()
ORDERS = ["pens 2", "rulers 1", "pens 3", "rulers 4"]


def topic(servers: str, name: str) -> KafkaSourceBuilder[str]:
    """The texts of a topic, from the first one on."""
    builder = KafkaSource.builder().set_bootstrap_servers(servers).set_topics(name).set_group_id("totals")
    return builder.set_value_only_deserializer(SimpleStringSchema())


def parsed(order: str) -> tuple[str, int]:
    """Item and number."""
    item, number = order.split()
    return item, int(number)


def run(servers: str, folder: str) -> None:
    """Read the orders, write the totals."""
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", folder)
    configuration.set_string("penstock.step.available-now", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    orders = env.from_source(topic(servers, "orders").build(), NONE, "orders").uid("orders")
    totals = (
        orders.map(parsed, Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda order: order[0], Types.STRING())
        .sum(1)
        .uid("totals")
        .map(lambda total: f"{total[0]} {total[1]}", Types.STRING())
    )
    schema = KafkaRecordSerializationSchema.builder().set_topic("totals")
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("totals")
        .set_property("penstock.folder", folder)
        .build()
    )
    totals.sink_to(sink).uid("written")
    env.execute("totals")


def main() -> None:
    """Write orders, run the program, and show what it has written."""
    address = os.environ.get("KAFKA")
    producer = Producer({"bootstrap.servers": address} if address else {"test.mock.num.brokers": 1, "log_level": 0})
    brokers = producer.list_topics(timeout=10).brokers.values()
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    for order in ORDERS:
        producer.produce("orders", order.encode(), key=order.split()[0].encode())
    producer.flush()
    with tempfile.TemporaryDirectory() as folder:
        run(servers, folder)
    env = StreamExecutionEnvironment.get_execution_environment()
    written = topic(servers, "totals").set_property("isolation.level", "read_committed")
    source = written.set_bounded(KafkaOffsetsInitializer.latest()).build()
    with env.from_source(source, NONE, "written").execute_and_collect() as totals:
        print(*sorted(totals), sep="\n")


if __name__ == "__main__":
    main()

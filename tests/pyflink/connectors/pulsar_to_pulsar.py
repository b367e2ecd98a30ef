"""Texts from one topic of Pulsar to another."""

from pyflink.common import SimpleStringSchema, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.pulsar import (
    DeliveryGuarantee,
    PulsarSink,
    PulsarSource,
    StartCursor,
    StopCursor,
    TopicRoutingMode,
)

SERVICE, ADMIN = "pulsar://pulsar:6650", "http://pulsar:8080"

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_jars("file:///opt/flink/flink-sql-connector-pulsar.jar")
    source = (
        PulsarSource.builder()
        .set_service_url(SERVICE)
        .set_admin_url(ADMIN)
        .set_topics("tides")
        .set_start_cursor(StartCursor.latest())
        .set_unbounded_stop_cursor(StopCursor.never())
        .set_subscription_name("levels")
        .set_deserialization_schema(SimpleStringSchema())
        .set_config("pulsar.source.enableAutoAcknowledgeMessage", True)
        .set_properties({"pulsar.source.autoCommitCursorInterval": "500"})
        .build()
    )
    sink = (
        PulsarSink.builder()
        .set_service_url(SERVICE)
        .set_admin_url(ADMIN)
        .set_producer_name("levels")
        .set_topics("levels")
        .set_serialization_schema(SimpleStringSchema())
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_topic_routing_mode(TopicRoutingMode.ROUND_ROBIN)
        .set_config("pulsar.producer.maxPendingMessages", 500)
        .set_properties({"pulsar.producer.batchingMaxMessages": "50"})
        .build()
    )
    tides = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "Tides")
    tides.sink_to(sink).name("Levels")
    env.execute("tides")

"""Kafka sources and sinks as tasks and the driver run them, through confluent-kafka. The builders that a program calls
are in ``penstock.datastream.connectors.kafka``."""

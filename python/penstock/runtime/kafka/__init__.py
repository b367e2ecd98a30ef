"""Kafka as tasks and the driver read and write it, by confluent-kafka, which is loaded where it is used. What a program
calls is in ``penstock.datastream.connectors.kafka``."""

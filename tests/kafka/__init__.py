"""Kafka: names and plans without a broker, tasks on librdkafka's mock cluster, and everything else on a real broker."""

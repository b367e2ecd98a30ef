"""The connectors: what tasks and the driver do to read and write files, Kafka, databases, sockets and Spark's data."""

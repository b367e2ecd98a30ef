"""A savepoint of Apache Flink as the beginning of a job: its state as state of ours, and what does not come over."""

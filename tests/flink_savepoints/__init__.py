"""Savepoints of the real Flink: read, restored in thought, and broken on purpose."""
